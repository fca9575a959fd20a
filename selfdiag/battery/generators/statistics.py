"""Statistics of small samples: centre, spread and combined groups, exactly."""

from __future__ import annotations

from fractions import Fraction

from selfdiag.battery.generators.source import Source
from selfdiag.battery.generators.templates import Made, Templates
from selfdiag.battery.generators.wording import commas, listed

TEMPLATES = Templates("statistics")

_FORM = "a fraction in lowest terms"


@TEMPLATES.at(1, 2)
def mean(source: Source, level: int) -> Made | None:
    """Find the mean of a few values."""
    count, low, high = {1: (3, 2, 15), 2: (5, 10, 99)}[level]
    values = source.integers(count, low, high)
    if sum(values) % count or len(set(values)) < count:
        return None
    return Made(
        answer=str(sum(values) // count),
        questions=(
            f"What is the mean of {listed(values)}? Answer as a number.",
            f"As a number, give the arithmetic average of the values {commas(values[::-1])}.",
            f"{count} friends own {listed(sorted(values))} euros. They put the money together and share it "
            "equally. How many euros does each of them get? Answer as a number.",
        ),
        derivation=f"sum({values}) // {count}",
        given={"values": values},
    )


@TEMPLATES.at(1, 2)
def median(source: Source, level: int) -> Made | None:
    """Find the median of a few values."""
    count, low, high = {1: (4, 1, 30), 2: (6, 10, 99)}[level]
    values = source.sample(range(low, high + 1), count)
    ordered = sorted(values)
    middle = ordered[count // 2 - 1] + ordered[count // 2]
    if middle % 2:
        return None
    return Made(
        answer=str(middle // 2),
        questions=(
            f"What is the median of {listed(values)}? Answer as a number.",
            f"As a number, find the median of this list: {commas(values[::-1])}.",
            f"A sample consists of {commas(values[2:] + values[:2])}. Give its median as a number.",
        ),
        derivation=f"sum(sorted({values})[{count // 2 - 1}:{count // 2 + 1}]) // 2",
        given={"values": values},
    )


@TEMPLATES.at(1)
def spread(source: Source, level: int) -> Made:  # noqa: ARG001
    """Find the range of a few values."""
    values = source.sample(range(2, 60), 5)
    return Made(
        answer=str(max(values) - min(values)),
        questions=(
            f"What is the range (largest minus smallest value) of {listed(values)}? Answer as a number.",
            f"As a number, by how much does the greatest of the values {commas(values[::-1])} exceed the least?",
            f"Five people are {listed(values)} years old. Give the age difference, in years, of the oldest "
            "and the youngest, as a number.",
        ),
        derivation=f"max({values}) - min({values})",
        given={"values": values},
    )


@TEMPLATES.at(1)
def mode(source: Source, level: int) -> Made:  # noqa: ARG001
    """Find how often the commonest value occurs."""
    values = source.sample(range(2, 30), 4)
    often = source.integer(3, 4)
    row = source.shuffled(values * 2 + [values[0]] * (often - 2))
    return Made(
        answer=str(often),
        questions=(
            f"How often does the mode of these values occur: {commas(row)}? Answer as a number.",
            f"As a number, give the frequency of the commonest value in the list {commas(row[::-1])}.",
            f"Count how many times each value occurs in {commas(row)}. What is the largest of these counts, "
            "as a number?",
        ),
        derivation=f"row = {row}\nanswer = max([row.count(value) for value in row])",
        given={"values": row},
    )


@TEMPLATES.at(2, 3)
def missing_value(source: Source, level: int) -> Made | None:
    """Find a missing value from the mean."""
    count, low, high = {2: (4, 2, 30), 3: (7, 20, 150)}[level]
    values = source.integers(count, low, high)
    if sum(values) % count or len(set(values)) < count:
        return None
    average, known = sum(values) // count, values[1:]
    return Made(
        answer=str(values[0]),
        questions=(
            f"The mean of {count} numbers is {average}. All but one of them are {listed(known)}. What is "
            "the missing number? Answer as a number.",
            f"As a number, what must x be so that {commas(known)} and x, {count} numbers in all, have the "
            f"average {average}?",
            f"A student has scores of {listed(known[::-1])} so far. Which score in the next test makes the "
            f"mean of all {count} scores {average}? Answer as a number.",
        ),
        derivation=f"{average} * {count} - sum({known})",
        given={"average": average, "known": known, "count": count},
    )


@TEMPLATES.at(2, 3)
def combined_mean(source: Source, level: int) -> Made | None:
    """Find the mean of two groups together."""
    sizes = source.integers(2, *{2: (2, 9), 3: (11, 40)}[level])
    means = source.integers(2, *{2: (2, 30), 3: (20, 90)}[level])
    answer = Fraction(sizes[0] * means[0] + sizes[1] * means[1], sum(sizes))
    if sizes[0] == sizes[1] or means[0] == means[1] or (answer.denominator == 1) != (level == 2):
        return None
    form = "a number" if level == 2 else _FORM
    (n, m), (a, b) = sizes, means
    return Made(
        answer=str(answer),
        questions=(
            f"A group of {n} values has the mean {a}, another group of {m} values the mean {b}. What is the "
            f"mean of all the values together? Answer as {form}.",
            f"As {form}, what is the average score of a course in which {m} students have an average of {b} "
            f"and the other {n} students one of {a}?",
            f"Mixing {n} parcels that weigh {a} kg each on average with {m} parcels of {b} kg on average "
            f"gives which average weight in kg, as {form}?",
        ),
        derivation=f"answer = Fraction({n} * {a} + {m} * {b}, {n} + {m})",
        given={"sizes": sizes, "means": means},
    )


@TEMPLATES.at(3)
def frequency_table(source: Source, level: int) -> Made | None:  # noqa: ARG001
    """Find the mean from frequencies."""
    values, counts = sorted(source.sample(range(2, 40), 4)), source.sample(range(2, 16), 4)
    answer = Fraction(sum(v * c for v, c in zip(values, counts, strict=True)), sum(counts))
    if answer.denominator == 1:
        return None
    table = listed(f"{value} ({count} times)" for value, count in zip(values, counts, strict=True))
    ages = listed(f"{count} aged {value}" for value, count in zip(values, counts, strict=True))
    return Made(
        answer=str(answer),
        questions=(
            f"A sample consists of the values {table}. What is its mean? Answer as {_FORM}.",
            f"As {_FORM}, give the average age of a group with {ages}, taking ages as whole years.",
            f"The numbers {commas(values)} have the frequencies {commas(counts)}, in this order. Give the "
            f"mean of all observations as {_FORM}.",
        ),
        derivation=f"values, counts = {values}, {counts}\n"
        "answer = Fraction(sum([v * c for v, c in zip(values, counts)]), sum(counts))",
        given={"values": values, "counts": counts},
    )


@TEMPLATES.at(3)
def population_variance(source: Source, level: int) -> Made | None:  # noqa: ARG001
    """Find a variance with divisor n."""
    # four deviations that are all even or all odd have squares whose sum is a multiple of 4
    odd = source.integer(0, 1)
    deviations = [2 * source.integer(-4, 4) + odd for _ in range(3)]
    deviations.append(-sum(deviations))
    centre = source.integer(10, 40)
    values = [centre + d for d in deviations]
    variance = sum(d * d for d in deviations) // 4
    if min(values) < 1 or len(set(values)) < 4:
        return None
    return Made(
        answer=str(variance),
        questions=(
            f"What is the population variance (divisor n) of {listed(values)}? Answer as a number.",
            f"As a number, find the mean squared deviation of the values {commas(values[::-1])} from their own mean.",
            f"A whole population consists of {commas(sorted(values))}. Give its variance, the sum of "
            "squared deviations from the mean divided by the number of values, as a number.",
        ),
        derivation=f"values = {values}\nm = Fraction(sum(values), len(values))\n"
        "answer = sum([(v - m) ** 2 for v in values]) / len(values)",
        given={"values": values},
    )


@TEMPLATES.at(3, 4)
def mean_deviation(source: Source, level: int) -> Made | None:
    """Find the mean absolute deviation from the mean."""
    count, high = {3: (4, 25), 4: (6, 60)}[level]
    values = source.sample(range(1, high + 1), count)
    centre = Fraction(sum(values), count)
    deviation = sum((abs(v - centre) for v in values), Fraction()) / count
    whole = centre.denominator == 1 and deviation.denominator == 1
    if whole != (level == 3) or (level == 4 and deviation.denominator == 1):
        return None
    form = "a number" if level == 3 else _FORM
    return Made(
        answer=str(deviation),
        questions=(
            f"What is the mean absolute deviation of {listed(values)} from their mean? Answer as {form}.",
            f"As {form}, how far are the values {commas(values[::-1])} from their arithmetic mean, on "
            "average and without regard to sign?",
            f"Take the distance of each of the values {commas(sorted(values))} from the mean of all of "
            f"them, and give the average of these distances as {form}.",
        ),
        derivation=f"values = {values}\nm = Fraction(sum(values), len(values))\n"
        "answer = sum([abs(v - m) for v in values]) / len(values)",
        given={"values": values},
    )


@TEMPLATES.at(4, 5)
def sample_variance(source: Source, level: int) -> Made | None:
    """Find a variance with divisor n - 1."""
    count, high = {4: (5, 40), 5: (9, 400)}[level]
    values = source.sample(range(1, high + 1), count)
    variance = Fraction(count * sum(v * v for v in values) - sum(values) ** 2, count * (count - 1))
    if variance.denominator == 1:
        return None
    return Made(
        answer=str(variance),
        questions=(
            f"What is the sample variance, with divisor n - 1, of {listed(values)}? Answer as {_FORM}.",
            f"As {_FORM}, give the unbiased estimate of the variance (squared deviations added up and "
            f"divided by one less than the count) for the sample {commas(values[::-1])}.",
            f"A sample consists of {commas(sorted(values))}. Compute its variance with n - 1 in the "
            f"denominator and answer as {_FORM}.",
        ),
        derivation=f"values = {values}\nm = Fraction(sum(values), len(values))\n"
        "answer = sum([(v - m) ** 2 for v in values]) / (len(values) - 1)",
        given={"values": values},
    )


@TEMPLATES.at(5)
def pooled_variance(source: Source, level: int) -> Made | None:  # noqa: ARG001
    """Find the pooled variance of two samples."""
    first, second = source.sample(range(1, 60), 4), source.sample(range(1, 60), 6)
    squares = [sum(v * v for v in values) - Fraction(sum(values) ** 2, len(values)) for values in (first, second)]
    pooled = sum(squares, Fraction()) / (len(first) + len(second) - 2)
    if pooled.denominator == 1:
        return None
    return Made(
        answer=str(pooled),
        questions=(
            f"What is the pooled variance (as in the two-sample t test) of the samples {commas(first)} and "
            f"{commas(second)}? Answer as {_FORM}.",
            f"Two samples are given: {commas(second[::-1])}, and {commas(first[::-1])}. Add up the squared "
            "deviations of each sample from its own mean and divide the total by the number of all values "
            f"less two. Give {_FORM}.",
            f"As {_FORM}, estimate the common variance of two groups with different means from the values "
            f"{commas(first)} of one and {commas(second)} of the other, using n + m - 2 degrees of freedom.",
        ),
        derivation=(
            f"total = Fraction(0)\nfor values in [{first}, {second}]:\n"
            "    m = Fraction(sum(values), len(values))\n"
            "    total += sum([(v - m) ** 2 for v in values])\nanswer = total / 8"
        ),
        given={"first": first, "second": second},
    )
