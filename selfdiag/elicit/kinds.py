"""Grading numbers, texts, choices and printed output."""

from __future__ import annotations

import re
from fractions import Fraction

from selfdiag.battery.items import Probe
from selfdiag.elicit.choices import option_texts, pick
from selfdiag.elicit.names import EXONYMS
from selfdiag.elicit.numbers import Numeral, exact_form, read_number
from selfdiag.elicit.phrases import REASON
from selfdiag.elicit.reading import Reading
from selfdiag.elicit.textforms import clean_text, fold_text, last_box, script_of, without_lead
from selfdiag.elicit.units import in_unit
from selfdiag.elicit.verdict import Verdict


def show_number(value: Fraction) -> str:
    """Return a number as a decimal where that is exact and short, else as a fraction."""
    if value.denominator == 1:
        return str(value.numerator)
    rest = value.denominator
    places = 0
    while rest % 10 == 0 or rest % 2 == 0 or rest % 5 == 0:
        rest //= 10 if rest % 10 == 0 else 2 if rest % 2 == 0 else 5
        places += 1
    if rest == 1 and places <= 20:
        whole = abs(value) * 10**places
        digits = str(whole.numerator).rjust(places + 1, "0")
        shown = f"{digits[:-places]}.{digits[-places:]}".rstrip("0")
        return f"-{shown}" if value < 0 else shown
    return f"{value.numerator}/{value.denominator}"


def close(given: Fraction, expected: Fraction, probe: Probe) -> bool:
    """Return whether a number lies within a probe's tolerance, absolute or relative, of the expected one."""
    allowed = max(Fraction(repr(probe.tolerance)), abs(expected) * Fraction(repr(probe.relative_tolerance)))
    return abs(given - expected) <= allowed


def _same_number(given: Numeral, expected: Numeral, probe: Probe) -> tuple[bool, str, Fraction]:
    """Return whether two numbers agree, by which rule, and the given one as it was compared.

    ``50%`` equals a key of ``1/2``; it equals a key of 50 too when the unit is percent, or when the key is above
    1 and so cannot be a share.
    """
    value = given.value
    if probe.unit.strip() in ("%", "percent") or expected.percent:
        if close(value, expected.value, probe):
            return True, given.rule, value
        if not given.percent and not probe.unit and close(value * 100, expected.value, probe):
            return True, "share of a percentage", value * 100
        return False, given.rule, value
    if given.percent:
        if close(value / 100, expected.value, probe):
            return True, "percent", value / 100
        dropped = abs(expected.value) > 1 and close(value, expected.value, probe)
        return dropped, "percent sign dropped" if dropped else "percent", value if dropped else value / 100
    if probe.unit:
        converted, how = in_unit(value, given.rest, probe.unit, convert=probe.convert)
        if converted is None:
            return False, how, value
        return close(converted, expected.value, probe), how, converted
    return close(value, expected.value, probe), given.rule, value


def grade_number(probe: Probe, reading: Reading) -> Verdict:
    """Grade a number: within tolerance of the key or of an alias, in the expected unit.

    ``1,234`` is always 1234 (flag ``ambiguous_separator``) and ``1.234`` always has decimals. An answer that states
    two numbers is wrong, but of "1/3 ≈ 0.333" either form may be the one that was asked for. A unit may be left out.

    Args:
        probe: a probe of kind ``number``.
        reading: a reading with an answer.
    """
    answer = reading.answer or ""
    keys = [numeral for key in (probe.answer, *probe.aliases) if (numeral := read_number(key)) is not None]
    if not keys:
        return grade_text(probe, reading)
    shown = f"{show_number(keys[0].value)}{'%' if keys[0].percent else ''}"
    if probe.unit:
        shown = f"{shown} {probe.unit}"
    given = read_number(answer)
    if given is None or given.rest:
        said = fold_text(answer)
        if said in {fold_text(alias) for alias in probe.aliases}:
            return Verdict(right=True, rule="alias", expected=shown, given=said)
    if given is None:
        return Verdict(right=False, rule="no single number", expected=shown, given=fold_text(answer))
    flags = ("ambiguous_separator",) if given.ambiguous else ()
    exact = exact_form(answer)
    tried = [_same_number(form, key, probe) for form in (given, exact) if form is not None for key in keys]
    right, rule, value = next((found for found in tried if found[0]), tried[0])
    return Verdict(right=right, rule=rule, expected=shown, given=show_number(value), flags=flags)


def _joined(folded: str) -> str:
    return folded.replace(" ", "")


def grade_text(probe: Probe, reading: Reading) -> Verdict:
    """Grade a text: equal to the key or an alias once case, accents, articles, punctuation and space are folded.

    The whole answer is compared, but for an opening such as "The answer is" and a reason ("because ...") at the end.

    A wrong answer in another script than the key, or that is the key's name in another language, is flagged
    ``other_language``, for a person to look at.

    Args:
        probe: a probe of kind ``text``.
        reading: a reading with an answer.
    """
    answer = reading.answer or ""
    keys = [fold_text(key) for key in (probe.answer, *probe.aliases)]
    bare = without_lead(clean_text(answer)[0])
    forms = [fold_text(answer), fold_text(bare)]
    for form in (*forms, fold_text(REASON.sub("", bare))):
        for index, key in enumerate(keys):
            if _joined(form) == _joined(key):
                return Verdict(right=True, rule="alias" if index else "text", expected=key, given=form)
    foreign = EXONYMS.get(forms[-1]) in keys or (
        script_of(answer) != script_of(probe.answer) and script_of(answer) != "" and script_of(probe.answer) != ""
    )
    flags = ("other_language",) if foreign else ()
    return Verdict(right=False, rule="text", expected=keys[0], given=forms[-1], flags=flags)


def _expected_option(probe: Probe) -> int | None:
    texts = option_texts(probe.options)
    folded = fold_text(probe.answer)
    if folded in texts:
        return texts.index(folded)
    return pick(probe.answer, probe.options)[0]


def grade_choice(probe: Probe, reading: Reading) -> Verdict:
    """Grade a choice: the option named by its letter or by its text.

    Text goes before letter: where the options are themselves letters, "O" is the option O. An answer that names two
    options, or a letter and the text of another option, is wrong.

    Args:
        probe: a probe of kind ``choice``; its key is the letter or the text of one of its options.
        reading: a reading with an answer.
    """
    expected = _expected_option(probe)
    if expected is None:
        return grade_text(probe, reading)
    answer = reading.answer or ""
    index, rule = pick(answer, probe.options)
    shown = f"{chr(ord('A') + expected)}: {probe.options[expected]}"
    if index is None:
        folded = fold_text(without_lead(answer))
        known = folded in [fold_text(alias) for alias in probe.aliases]
        return Verdict(right=known, rule="alias" if known else rule, expected=shown, given=folded)
    given = f"{chr(ord('A') + index)}: {probe.options[index]}"
    return Verdict(right=index == expected, rule=rule, expected=shown, given=given, settled=True)


_FENCE = re.compile(r"\s*```[\w+-]{0,20}[ \t]*\n(.*?)\n?[ \t]*```\s*", re.DOTALL)
_OUTPUT_LEAD = re.compile(
    r"(?:(?:the )?(?:printed )?(?:output|answer)(?: is| would be| will be)?\s?[:=]?|(?:it |this |the (?:code"
    r"|program) )?(?:prints|outputs)\s?:?)[ \t]*\n?",
    re.IGNORECASE,
)


def _printed(text: str) -> str:
    lines = clean_text(text)[0].expandtabs(8).split("\n")
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def _printed_forms(reading: Reading) -> list[tuple[str, str]]:
    """Return what an answer may mean as printed output, each with its rule, the most literal first."""
    answer = reading.answer or ""
    forms = [("exact output", answer)]
    fenced = _FENCE.fullmatch(answer)
    if fenced:
        forms.append(("fenced output", fenced[1]))
    bare = answer.strip()
    forms.extend(
        ("quoted output", bare[len(mark) : -len(mark)])
        for mark in ("`", '"', "'", "**")
        if len(bare) > 2 * len(mark)
        and bare.startswith(mark)
        and bare.endswith(mark)
        and mark not in bare[len(mark) : -len(mark)]
    )
    boxed = last_box(bare)
    if boxed is not None:
        forms.append(("boxed output", boxed))
    lead = _OUTPUT_LEAD.match(bare)
    if lead and lead.end() < len(bare):
        forms.append(("output after its name", bare[lead.end() :].strip("`")))
    if "list_answer" in reading.flags:
        forms.extend((("list", f"[{answer}]"), ("list", f"[{answer!r}]")))
    if "whole_decimal" in reading.flags:
        forms.append(("number", f"{answer}.0"))
    if "boolean_answer" in reading.flags:
        forms.append(("boolean", answer.capitalize()))
    if "\\n" in answer:
        forms.append(("newlines written out", answer.replace("\\n", "\n")))
    return forms


def grade_code(probe: Probe, reading: Reading) -> Verdict:
    r"""Grade printed output: the same characters, but for space at line ends and around the whole.

    An answer that may be literal or marked up is right when either reading is the key: in quotes, bold, a fence or a
    box, after "Output:", with ``\n`` written out, or as a JSON list, number or boolean in place of its printed form.

    Args:
        probe: a probe of kind ``code``; its key is what the program prints.
        reading: a reading with an answer.
    """
    keys = [_printed(key) for key in (probe.answer, *probe.aliases)]
    for rule, form in _printed_forms(reading):
        if _printed(form) in keys or _printed(form).strip() in keys:
            return Verdict(right=True, rule=rule, expected=keys[0], given=_printed(form))
    return Verdict(right=False, rule="exact output", expected=keys[0], given=_printed(reading.answer or ""))
