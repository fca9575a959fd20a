"""Grading an answer: every kind, abstention and refusal."""

from __future__ import annotations

import pytest
from elicit_probes import TRAP, graded, outcome, probe, right

from selfdiag.battery.items import ABSTENTION_TOKEN
from selfdiag.elicit.grading import MAX_SHOWN, grade
from selfdiag.elicit.lexicon import ABSTENTIONS, LANGUAGES, REFUSALS
from selfdiag.elicit.reading import Reading, read_reply

TOWNS = ("Rome", "Paris", "Lyon", "Nice")


@pytest.mark.parametrize("answer", ["8,000", "$8{,}000", "8 000", "8\u202f000", "8’000", "8_000", "8000.0", "8.000,0"])
def test_PAR_20_thousands_separators(answer: str) -> None:
    assert right("number", "8000", answer)
    assert not right("number", "8", answer)
    assert not right("number", "0", answer)


def test_PAR_21_tuples_are_not_thousands() -> None:
    assert right("sequence", "(0,1)", "0,1")
    assert not right("sequence", "(0,1)", "01")
    assert not right("number", "1", "0,1")
    assert not right("number", "1234", "12,34")
    assert right("number", "12.34", "12,34")
    assert not right("number", "123", "1,2,3")


@pytest.mark.parametrize(
    "answer",
    [
        "The answer is 72, in total.",
        "72,",
        "72.",
        "It is 72!",
        "72 because 70 + 2 = 72",
        "72 apples",
        "there are 72 of them",
    ],
)
def test_PAR_22_comma_after_the_number(answer: str) -> None:
    assert right("number", "72", answer)
    assert not right("number", "73", answer)


def test_PAR_23_decimal_comma() -> None:
    assert right("number", "3.14", "3,14")
    assert right("number", "1234.56", "1.234,56")
    assert right("number", "1234.56", "1,234.56")
    assert right("number", "1234", "1,234")
    assert not right("number", "1.234", "1,234")
    assert "ambiguous_separator" in graded(probe("number", "1.234"), "1,234").flags
    assert right("number", "0.125", "0,125")
    assert right("number", "1234.567", "1234,567")
    assert right("number", "1.234", "1.234")
    assert not right("number", "1234", "1.234")


@pytest.mark.parametrize(
    ("answer", "key"),
    [
        ("−5", "-5"),
        ("５０", "50"),
        ("½", "0.5"),
        ("1½", "1.5"),
        ("1\u00a0234", "1234"),
        ("٤٢", "42"),
        ("10²", "100"),
        ("2⁄3", "2/3"),
    ],
)
def test_PAR_24_unicode_digits_and_signs(answer: str, key: str) -> None:
    assert right("number", key, answer)


def test_PAR_25_boxed() -> None:
    assert right("number", "42", r"\boxed{42}")
    assert right("number", "42", r"\[ \boxed{42} \]")
    assert right("number", "0.5", r"\boxed{\frac{1}{2}}")
    assert right("number", "2", r"\boxed{1} then \boxed{2}")
    assert right("text", "Paris", r"\boxed{\text{Paris}}")
    assert right("choice", "B", r"\boxed{B}", options=TOWNS)


@pytest.mark.parametrize("answer", ["5 km", "5km", "5 kilometres", "5 kilometers", "5", "5 km in total", "5.0 KM"])
def test_PAR_26_units(answer: str) -> None:
    assert right("number", "5", answer, unit="km")


def test_PAR_26_other_units() -> None:
    assert not right("number", "5", "5000 m", unit="km")
    assert right("number", "5", "5000 m", unit="km", convert=True)
    assert not right("number", "5", "5 m", unit="km", convert=True)
    assert not right("number", "5", "5 kg", unit="km", convert=True)
    assert right("number", "25", "298.15 K", unit="°C", convert=True)
    assert right("number", "9.8", "9.8 m/s²", unit="m/s^2")
    assert not right("number", "9.8", "9.8 m/s", unit="m/s^2")
    assert right("number", "3", "3 moles", unit="mol")
    assert right("number", "5", "5 in total", unit="km")
    assert right("number", "5", "5 wibbles", unit="wibble")


@pytest.mark.parametrize(
    "answer",
    [
        "5 July 1990",
        "July 5, 1990",
        "1990/07/05",
        "5. Juli 1990",
        "5 de julio de 1990",
        "1990年7月5日",
        "5-Jul-1990",
        "05.07.1990",
    ],
)
def test_PAR_27_dates(answer: str) -> None:
    assert right("date", "1990-07-05", answer)
    assert not right("date", "1990-07-06", answer)
    assert right("date", "1990-07", answer)
    assert right("date", "1990", answer)


def test_PAR_27_ambiguous_and_incomplete_dates() -> None:
    doubtful = graded(probe("date", "1990-07-05"), "07/05/1990")
    assert (doubtful.outcome, doubtful.flags) == ("incorrect", ("ambiguous_date",))
    assert right("date", "1990-07-13", "13/07/1990")
    assert right("date", "1990-07-07", "07/07/1990")
    for vague in ("July 1990", "5 July", "1990", "today", "5/7/90"):
        assert not right("date", "1990-07-05", vague)


def test_dates_of_long_ago() -> None:
    assert right("date", "44 BC", "44 BCE")
    assert right("date", "44 BC", "March 15, 44 BC")
    assert right("date", "-0044-03-15", "15 March 44 BC")
    assert not right("date", "44 BC", "44")
    assert right("date", "79", "79 AD")
    assert right("date", "0079-08-24", "24 August 79")
    assert not right("date", "1979", "79")


@pytest.mark.parametrize(
    "answer", ["**Paris**", "Paris.", " paris ", "`Paris`", '"Paris"', "PARIS", "It's Paris!", "The answer is Paris"]
)
def test_PAR_28_markdown_and_punctuation(answer: str) -> None:
    assert right("text", "Paris", answer)


def test_PAR_28_signs_that_matter_stay() -> None:
    assert right("text", "C++", "C++.")
    assert not right("text", "C++", "C")
    assert not right("text", "C#", "C")
    assert right("text", "St. Louis", "St Louis")
    assert read_reply('{"answer":"St."}').answer == "St."
    assert not right("text", "!=", "==")
    assert right("text", "!=", "`!=`")
    assert not right("text", "-5 degrees", "5 degrees")
    assert not right("text", "3.14", "314")
    assert not right("text", "__init__", "init")


def test_text_folding() -> None:
    assert right("text", "Gabriel García Márquez", "gabriel garcia marquez")
    assert right("text", "The Hague", "Hague")
    assert right("text", "straße", "STRASSE")
    assert right("text", "Ørsted", "orsted")
    assert right("text", "e-mail", "email")
    assert right("text", "ﬁve", "five")
    assert right("text", "mitochondrion", "Mitochondria", aliases=("mitochondria",))
    assert not right("text", "a", "the")
    assert not right("text", "が", "か")


def test_PAR_29_number_words() -> None:
    assert right("number", "42", "forty-two")
    assert right("number", "42", "zweiundvierzig")
    assert right("number", "-5", "minus five")
    assert right("number", "3.14", "three point one four")
    assert right("number", "2/3", "two thirds")
    assert right("number", "3000000", "3 million")
    assert not right("number", "42", "сорок два")


@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        ("Answer: **D**", "D"),
        ("The correct answer is (B).", "B"),
        ("The answer is B because a car moves.", "B"),
        ("The answer is C because I computed it.", "C"),
        ("d", "D"),
        ("(b)", "B"),
        ("B.", "B"),
        ("Option C", "C"),
        ("B) Paris", "B"),
        ("Paris", "B"),
        ("the answer is Paris.", "B"),
    ],
)
def test_PAR_30_choice_letters(answer: str, letter: str) -> None:
    assert right("choice", letter, answer, options=TOWNS)
    assert right("choice", TOWNS["ABCD".index(letter)], answer, options=TOWNS)
    other = "A" if letter != "A" else "B"
    assert not right("choice", other, answer, options=TOWNS)


@pytest.mark.parametrize(
    "answer",
    [
        "The",
        "Answer",
        "I think it's a car",
        "a car",
        "E",
        "B) Lyon",
        "A or B",
        "A, B",
        "answer is A, or the answer is B",
    ],
)
def test_PAR_30_no_letter_is_guessed(answer: str) -> None:
    assert not any(right("choice", letter, answer, options=TOWNS) for letter in "ABCD")


def test_an_option_that_reads_like_an_abstention_is_an_answer() -> None:
    options = ("yes", "no", "cannot be determined")
    assert right("choice", "C", "Cannot be determined.", options=options)
    assert outcome(probe("choice", "A", options=options), "cannot be determined") == "incorrect"
    assert outcome(probe("choice", "A", options=("yes", "no")), "cannot be determined") == "abstained"


@pytest.mark.parametrize(
    "answer",
    [
        f"[{ABSTENTION_TOKEN}]",
        "unanswerable",
        f"**[{ABSTENTION_TOKEN}]**",
        r"\boxed{[UNANSWERABLE]}",
        "UNANSWERABLE.",
        " [ unanswerable ] ",
        '"UNANSWERABLE"',
        "`UNANSWERABLE`",
    ],
)
def test_PAR_32_abstention_token_forms(answer: str) -> None:
    for item in (TRAP, probe("text", "Paris"), probe("number", "5"), probe("choice", "A", options=TOWNS)):
        found = graded(item, answer)
        assert (found.outcome, found.flags) == ("abstained", ())


def test_PAR_33_token_as_substring() -> None:
    assert outcome(TRAP, "Insufficient funds caused the default of 1931") == "incorrect"
    assert outcome(TRAP, "UNANSWERABLE questions are rare") == "incorrect"
    assert outcome(TRAP, "Unknown Pleasures") == "incorrect"
    reasoned = graded(TRAP, "UNANSWERABLE: there was no such king")
    assert (reasoned.outcome, reasoned.flags) == ("abstained", ("free_text",))


@pytest.mark.parametrize(
    "answer",
    [
        *(
            "I don't know",
            "I don’t know.",
            "Das weiß ich nicht",
            "Je ne sais pas",
            "No lo sé",
            "无法确定",
            "Não sei",
            "Non lo so",
        ),
        *(
            "Я не знаю",
            "わかりません",
            "모르겠습니다",
            "Cannot be determined from the given information.",
            "Unknown",
            "N/A",
        ),
        *(
            "Keine Ahnung",
            "Impossible à déterminer",
            "The question cannot be answered.",
            "There is no correct answer",
            "IDK",
        ),
        *(
            "I'm sorry, but I don't know the answer to that question.",
            "I cannot predict the future.",
            "Not enough information",
        ),
        *(
            "Das lässt sich nicht bestimmen",
            "不知道",
            "判断できません",
            "알 수 없음",
            "невозможно определить",
            "Unbekannt",
        ),
    ],
)
def test_PAR_34_free_text_abstention(answer: str) -> None:
    for item in (TRAP, probe("text", "Paris"), probe("number", "5")):
        found = graded(item, answer)
        assert (found.outcome, found.flags[:1]) == ("abstained", ("free_text",))


def test_PAR_34_every_language_has_its_words() -> None:
    assert set(ABSTENTIONS) == set(REFUSALS) == set(LANGUAGES)
    assert len(LANGUAGES) == 10


@pytest.mark.parametrize(
    "answer",
    [
        "I'm not sure, but Paris",
        "I don't know, but probably Paris",
        "I think it's Paris",
        "Ich bin nicht sicher, aber Paris",
        "Paris, I believe",
    ],
)
def test_PAR_35_hedge_with_an_answer(answer: str) -> None:
    assert outcome(TRAP, answer) == "incorrect"
    assert outcome(probe("text", "Rome"), answer) == "incorrect"


def test_PAR_35_hedged_answer_is_right() -> None:
    assert right("text", "Paris", "I'm not sure, but Paris")
    assert right("number", "7", "I think it's 7")


@pytest.mark.parametrize(
    "answer",
    [
        "I'm sorry, but I can't help with that.",
        "I cannot provide information about that topic.",
        "As an AI language model, I cannot assist with this request.",
        "Tut mir leid, dabei kann ich nicht helfen.",
        "Je suis désolé, je ne peux pas vous aider.",
        "Lo siento, no puedo ayudar con eso.",
        "Desculpe, não posso ajudar com isso.",
        "Mi dispiace, non posso aiutarti.",
        "Извините, я не могу помочь с этим.",
        "抱歉，我无法提供帮助",
        "申し訳ありませんが、お手伝いできません",
        "죄송합니다. 도와드릴 수 없습니다",
    ],
)
def test_PAR_36_refusal_in_the_answer_field(answer: str) -> None:
    for item in (TRAP, probe("text", "Paris"), probe("choice", "A", options=TOWNS)):
        assert outcome(item, answer) == "refused"
    assert grade(TRAP, read_reply(f'{{"answer":"{answer}","confidence":0}}')).outcome == "refused"


def test_PAR_43_look_alike_letters() -> None:
    found = graded(probe("text", "Paris"), "\u0420aris")
    assert found.outcome == "incorrect"
    assert "mixed_script" in found.flags
    assert "mixed_script" in graded(TRAP, "\u0420aris").flags
    for honest in ("Paris", "Москва", "10 μm", "kΩ", "東京Tokyo"):
        assert "mixed_script" not in graded(TRAP, honest).flags


def test_PAR_44_right_answer_in_another_language() -> None:
    germany = probe("text", "Germany")
    assert graded(germany, "Deutschland").outcome == "incorrect"
    assert "other_language" in graded(germany, "Deutschland").flags
    assert "other_language" in graded(germany, "Германия").flags
    assert "other_language" not in graded(germany, "France").flags
    assert right("text", "Germany", "Deutschland", aliases=("Deutschland",))


@pytest.mark.parametrize("answer", ["Alaric the Third", "There was no such king", "42", "None", "Nobody", "It depends"])
def test_any_answer_to_a_trap_is_incorrect(answer: str) -> None:
    assert outcome(TRAP, answer) == "incorrect"


@pytest.mark.parametrize(
    ("key", "answer", "more", "is_right"),
    [
        ("3.14159", "3.15", {"tolerance": 0.01}, True),
        ("3.14", "3.15", {"tolerance": 0.01}, True),
        ("3.14", "3.151", {"tolerance": 0.01}, False),
        ("1000", "1009", {"relative_tolerance": 0.01}, True),
        ("1000", "1011", {"relative_tolerance": 0.01}, False),
        ("0", "0.001", {"relative_tolerance": 0.01}, False),
        ("1/3", "0.3333", {}, False),
        ("1/3", "2/6", {}, True),
        ("1/3", r"\frac{1}{3}", {}, True),
        ("602000000000000000000000", r"6.02 \times 10^{23}", {}, True),
        ("602000000000000000000000", "6.02e23", {}, True),
        ("0.5", "50%", {}, True),
        ("50", "50%", {}, True),
        ("50%", "0.5", {}, True),
        ("50", "0.5", {"unit": "%"}, False),
        ("0.5", "0.5%", {}, False),
        ("5", "x = 5", {}, True),
        ("110", "81 + 29 = 110", {}, True),
        ("144", "12*12", {}, False),
        ("12", "12*12", {}, False),
        ("2", "√2", {}, False),
        ("72", "72 or 73", {}, False),
        ("70", "70-75", {}, False),
        ("2", "H2O", {}, False),
        ("0", "0x1F", {}, False),
        ("123456789012345678901234567890", "123456789012345678901234567890", {}, True),
        ("123456789012345678901234567890", "123456789012345678901234567891", {}, False),
        ("-3", "-(3)", {}, True),
        ("7", "seven", {"aliases": ("8",)}, True),
        ("7", "8", {"aliases": ("8",)}, True),
    ],
)
def test_numbers(key: str, answer: str, more: dict[str, object], is_right: bool) -> None:
    assert right("number", key, answer, **more) is is_right


@pytest.mark.parametrize(
    "answer",
    [
        "2, 3, 5",
        "{5, 3, 2}",
        "2 3 5",
        "2, 3 and 5",
        "[2,3,5]",
        "2;3;5",
        "- 2\n- 3\n- 5",
        "1. 2\n2. 3\n3. 5",
        r"$\{2, 3, 5\}$",
        "S = {2,3,5}",
        "2.0, 3, 5",
        "x=2, x=3, x=5",
        "2, 3, 5, 5",
    ],
)
def test_sets(answer: str) -> None:
    assert right("set", "2, 3, 5", answer)
    assert not right("set", "2, 3", answer)
    assert not right("set", "2, 3, 5, 7", answer)


def test_sets_of_words_and_json_lists() -> None:
    assert right("set", "red, blue", "Blue and Red")
    assert right("set", "Trinidad and Tobago; Cuba", "Cuba; Trinidad and Tobago")
    assert grade(probe("set", "red, blue"), read_reply('{"answer":["blue","red"]}')).outcome == "correct"
    assert grade(probe("set", "red, blue"), read_reply('{"answer":["blue"]}')).outcome == "incorrect"
    assert right("set", "-2, 2", "±2")


def test_sequences_keep_order_and_repeats() -> None:
    assert right("sequence", "1, 1, 2", "1 1 2")
    assert not right("sequence", "1, 1, 2", "1, 2")
    assert not right("sequence", "1, 2", "2, 1")
    assert right("sequence", "A, B, C", "A → B → C")
    assert right("sequence", "1.5, 2.5", "1.501; 2.5", tolerance=0.01)
    assert right("sequence", "1,000; 2,000", "1000, 2000")


@pytest.mark.parametrize(
    ("key", "same", "other"),
    [
        (
            "x^2 + 2x + 1",
            ("(x+1)^2", "(x+1)(x+1)", "x**2+2*x+1", "x² + 2x + 1", "y = x^2+2x+1", "f(x) = (x+1)^2", "X^2+2X+1"),
            ("x^2+2x", "x^2"),
        ),
        ("1/(x+1)", (r"\frac{1}{x+1}", "(x-1)/(x^2-1)"), ("1/x+1", "x+1")),
        ("sqrt(2)/2", ("1/sqrt(2)", r"\frac{\sqrt{2}}{2}", "√2/2"), ("0.7071", "sqrt(2)")),
        ("2x cos(x)", (r"2x\cos(x)", "2 x cos x"), ("2cos(x)", "2x cos(2x)")),
        ("pi/4", ("π/4", r"\frac{\pi}{4}"), ("0.785", "pi/2")),
        ("x^2/2 + C", (r"\frac{x^2}{2} + C", "0.5x^2 + C"), ("x^2/2",)),
        ("sin(x)^2", (r"\sin^2(x)", "1 - cos(x)^2"), ("sin(x^2)",)),
        ("e^x", ("exp(x)",), ("e*x",)),
        ("x^(n+1)", ("x^{n+1}", "x*x^n"), ("x^n+1",)),
        ("a b", ("b a",), ("a+b", "A b c")),
        ("(x+1)^40", ("(1+x)^40",), ("(x+1)^40 + 1",)),
    ],
)
def test_expressions(key: str, same: tuple[str, ...], other: tuple[str, ...]) -> None:
    assert all(right("expression", key, answer) for answer in same)
    assert not any(right("expression", key, answer) for answer in other)


@pytest.mark.parametrize(
    "hostile",
    [
        "9^9^9^9",
        "x^(9^9)",
        "(" * 150 + "x",
        "1/0",
        "__import__('os')",
        "x" * 299,
        "-" * 299 + "1",
        "lambda: 0",
        "x.__class__",
        "∫x dx",
    ],
)
def test_hostile_expressions_are_only_text(hostile: str) -> None:
    assert not right("expression", "x+1", hostile)


def test_code_is_the_exact_output() -> None:
    assert right("code", "[1, 2]", "[1, 2]")
    assert not right("code", "[1, 2]", "[1,2]")
    assert not right("code", "True", "true")
    assert right("code", "a\nb", "a  \nb\n")
    assert right("code", "a\nb", "```\na\nb\n```")
    assert right("code", "a\nb", r"a\nb")
    assert right("code", "5", "`5`")
    assert right("code", "None", "None")
    assert not right("code", "a b", "a  b")


@pytest.mark.parametrize(
    ("value", "printed"),
    [("[5]", "[5]"), ("[1, 2]", "[1, 2]"), ('["a", "b"]', "['a', 'b']"), ("5.0", "5.0"), ("true", "True")],
)
def test_code_output_given_as_a_json_value(value: str, printed: str) -> None:
    assert grade(probe("code", printed), read_reply(f'{{"answer":{value}}}')).outcome == "correct"


def test_a_grade_explains_itself() -> None:
    found = graded(probe("number", "5", unit="km", convert=True), "5,000 m")
    assert (found.outcome, found.rule, found.expected, found.given) == ("correct", "unit converted", "5 km", "5")
    assert graded(probe("text", "The Hague"), "**Hague**").given == "hague"
    assert len(graded(TRAP, "x" * 5_000).given) == MAX_SHOWN


def test_outcomes_without_an_answer_come_first() -> None:
    key = probe("text", "Paris")
    assert grade(key, Reading(answer="Paris", truncated=True)).outcome == "truncated"
    assert grade(key, Reading(flags=("empty",))).outcome == "empty"
    assert grade(key, Reading(parse="strict", confidence=80)).outcome == "unparsed"
    assert grade(key, Reading(answer="\u200b", parse="strict")).outcome == "unparsed"


def test_a_key_that_cannot_be_read_falls_back_to_text() -> None:
    assert right("number", "infinity", "Infinity")
    assert right("date", "the Bronze Age", "Bronze Age")
    assert right("choice", "Paris", "paris")


def test_a_full_stop_after_the_closing_mark_belongs_to_neither() -> None:
    for answer in ("**Paris**.", "*Paris*!", "`Paris`.", '"Paris",', "“Paris”."):
        assert right("text", "Paris", answer)
    assert not right("text", "Paris", "**Paris**?x.")


def test_a_name_before_an_equals_sign_is_no_conjunction() -> None:
    assert right("sequence", "3, -2", "x = 3, y = -2")
    assert right("sequence", "3, -2", "x=3 and y=-2")
    assert right("set", "-2, 5", "λ = 5 and λ = -2")
    assert right("set", "-2, 5", "λ₁ = 5, λ₂ = -2")
    assert right("set", "3, 2", "3 y 2")


def test_an_alias_of_a_number_may_be_words() -> None:
    assert right("number", "6", "VI", aliases=("VI", "+VI"))
    assert right("number", "8652", "ISO/IEC 8652", aliases=("ISO/IEC 8652",))
    assert not right("number", "6", "VII", aliases=("VI",))


def test_a_dropped_percent_sign_needs_a_key_above_1() -> None:
    assert right("number", "50", "50%")
    assert right("number", "-50", "-50%")
    assert not right("number", "1", "1%")
    assert not right("number", "-1", "-1%")
    assert right("number", "0.01", "1%")


def test_a_quote_within_quoted_output_keeps_its_quotes() -> None:
    assert right("code", "a", '"a"')
    assert not right("code", 'a"', '"a""')
    assert not right("code", "a", '"a""')


@pytest.mark.parametrize(
    ("key", "answer"),
    [
        ("sin(x)/cos(x)", "tan(x)"),
        ("cos(x)/sin(x)", "cot(x)"),
        ("1/cos(x)", "sec(x)"),
        ("1/sin(x)", "csc(x)"),
        ("(e^x - e^(-x))/2", "sinh(x)"),
        ("(exp(x) + exp(-x))/2", "cosh(x)"),
        ("sinh(x)/cosh(x)", "tanh(x)"),
        ("pi/2 - arcsin(x/2)", "arccos(x/2)"),
        ("pi/2 - arctan(1/x)", "arctan(x)"),
        ("x^(1/2)", "sqrt(x)"),
        ("x^(1/3)", "cbrt(x)"),
        ("x*y", "ln(exp(x*y))"),
        ("y*ln(x)", "log(x^y)"),
        ("sqrt(x^2)", "abs(x)"),
    ],
)
def test_functions_by_their_identities(key: str, answer: str) -> None:
    assert right("expression", key, answer)
    assert not right("expression", key, f"{answer} + x/1000")


@pytest.mark.parametrize("exponent", ["2", "2 + 0", "2 - 0", "2*1 + 0*3", "4/2"])
def test_a_whole_exponent_is_taken_exactly_however_it_is_written(exponent: str) -> None:
    assert right("expression", "x^2", f"x^({exponent})")
    # so small a difference is seen by exact arithmetic alone
    assert not right("expression", "x^2 + 1/1000000000000", f"x^({exponent})")
