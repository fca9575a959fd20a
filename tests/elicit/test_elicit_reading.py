"""Finding the answer and the confidence in a reply."""

from __future__ import annotations

import time

import pytest
from elicit_probes import TRAP, graded, pair, probe

from selfdiag.elicit.grading import grade
from selfdiag.elicit.jsonobject import object_starts
from selfdiag.elicit.reading import MAX_ANSWER, MAX_REPLY, read_reply

A = '{"answer":"8","confidence":70}'


def test_PAR_01_code_fence() -> None:
    raw = 'Sure!\n```json\n{"answer":"5","confidence":80}\n```\nHope it helps'
    assert pair(raw) == ("5", 80)
    assert read_reply(raw).parse == "strict"


def test_PAR_02_braces_in_prose_first() -> None:
    assert pair('The set {2, 3} gives: {"answer":"5","confidence":80}') == ("5", 80)
    assert pair('In { 2" } we see: {"answer":"5","confidence":80}') == ("5", 80)


@pytest.mark.parametrize(
    "example", ["<text>", "<your answer>", "...", "your answer here", "<short answer to the question>"]
)
def test_PAR_03_prompt_example_echoed(example: str) -> None:
    echoed = f'{{"answer":"{example}","confidence":0}}'
    assert pair(f'Format: {echoed}\n{{"answer":"5","confidence":80}}') == ("5", 80)
    assert pair(f'{{"answer":"5","confidence":80}}\n{echoed}') == ("5", 80)
    alone = read_reply(echoed)
    assert (alone.answer, alone.confidence, alone.parse) == (None, None, "none")
    assert "placeholder" in alone.flags


def test_PAR_03_schema_echoed() -> None:
    schema = '{"type":"object","properties":{"answer":{"type":"string"},"confidence":{"type":"integer"}}}'
    assert read_reply(schema).parse == "none"
    assert pair(f"{schema}\n{A}") == ("8", 70)
    assert pair('{"answer":"string","confidence":"integer"}') == (None, None)


@pytest.mark.parametrize("answer", ["<div>", "text editor", "<a>", "the string theory", "string", "str"])
def test_PAR_03_real_answers_that_look_like_placeholders(answer: str) -> None:
    assert pair(f'{{"answer":"{answer}","confidence":80}}') == (answer, 80)


def test_PAR_04_two_answers() -> None:
    reading = read_reply('{"answer":"4","confidence":60} Wait, no. {"answer":"5","confidence":80}')
    assert (reading.answer, reading.confidence) == ("5", 80)
    assert "multiple_answers" in reading.flags
    assert "multiple_answers" not in read_reply(f"{A} I repeat: {A}").flags


def test_PAR_05_braces_and_quotes_inside_strings() -> None:
    assert pair(r'{"answer":"use {x} and \"y\"","confidence":80} done }') == ('use {x} and "y"', 80)


@pytest.mark.parametrize(
    "raw",
    [
        '{"answer":"5","confidence":80,}',
        '{"answer":"5", // sure\n "confidence":80}',
        '{"answer":"5", /* sure */ "confidence":80}',
        '{"answer":"5", # sure\n "confidence":80}',
    ],
)
def test_PAR_06_trailing_comma_and_comments(raw: str) -> None:
    reading = read_reply(raw)
    assert (reading.answer, reading.confidence, reading.parse) == ("5", 80, "repaired")
    assert "repaired" in reading.flags


def test_PAR_06_strings_are_untouched_by_repair() -> None:
    assert pair('{"answer":"a,}","confidence":80,}') == ("a,}", 80)
    assert pair('{"answer":"http://x","confidence":80,}') == ("http://x", 80)


def test_PAR_07_python_literals() -> None:
    reading = read_reply("{'answer': '5', 'confidence': 80, 'note': None}")
    assert (reading.answer, reading.confidence, reading.parse) == ("5", 80, "repaired")
    assert pair("{'answer': 'It\\'s here', 'confidence': 80}") == ("It's here", 80)
    assert pair("{'answer': 'say \"hi\"', 'confidence': 80}") == ('say "hi"', 80)
    assert pair("{'answer': True, 'confidence': 80}") == ("true", 80)


def test_PAR_08_curly_quotes() -> None:
    reading = read_reply("{“answer”: “5”, “confidence”: 80}")
    assert (reading.answer, reading.confidence, reading.parse) == ("5", 80, "repaired")
    assert "curly_quotes" in reading.flags
    assert pair('{"answer":"a “quoted” word","confidence":80}') == ("a “quoted” word", 80)


@pytest.mark.parametrize(
    ("raw", "whole"),
    [
        ('{"answer":"a 5" pipe, steel","confidence":60}', 'a 5" pipe, steel'),
        ('{"answer":"the set {"a", "b"}","confidence":60}', 'the set {"a", "b"}'),
        (
            '{"answer":"film "Strangers: Prey at Night" of 2018","confidence":60}',
            'film "Strangers: Prey at Night" of 2018',
        ),
        ('{"answer":"the "best", they say","confidence":60}', 'the "best", they say'),
        ('{"answer":""Paris"","confidence":60}', '"Paris"'),
    ],
)
def test_PAR_09_unescaped_inner_quotes(raw: str, whole: str) -> None:
    reading = read_reply(raw)
    assert reading.answer in (whole, None)
    assert reading.answer == whole
    assert reading.parse == "repaired"


@pytest.mark.parametrize(
    "latex",
    [
        r"\frac{1}{2}",
        r"\boxed{3}",
        r"\text{cm}",
        r"\nu",
        r"\sqrt{2}",
        r"5 \times 10^3",
        r"\theta",
        r"\rho",
        r"\beta",
        r"\tan x",
        r"\begin{x}",
        r"\neq",
        r"\upsilon",
    ],
)
def test_PAR_10_latex_backslash(latex: str) -> None:
    reading = read_reply(f'{{"answer":"{latex}","confidence":70}}')
    assert (reading.answer, reading.confidence) == (latex, 70)
    assert "latex_backslash" in reading.flags
    assert pair(f"{{'answer': '{latex}', 'confidence': 70}}") == (latex, 70)


EATEN = r"""
    \bar \because \begin \beta \beth \between \bf \bfseries \big \bigcap \Bigg \biggl \biggm \biggr \bigl \bigm
    \bigoplus \bigr \bigskip \bigstar \bigsqcup \bigtriangleup \bigvee \bigwedge \binom \blacklozenge \blacksquare
    \bm \bmod \boldsymbol \bot \bowtie \boxdot \boxed \boxplus \boxtimes \breve \bullet \bumpeq
    \fallingdotseq \fbox \fcolorbox \flat \flushleft \flushright \footnote \footnotesize \forall \frac \frak \frown
    \nabla \natural \ncong \ne \nearrow \neg \neq \newcommand \newline \newpage \nexists \ngeq \ngeqslant \ngtr
    \nleftarrow \nleftrightarrow \nleq \nleqslant \nless \nmid \nobreak \noindent \nolimits \nonumber \normalfont
    \normalsize \not \notag \notin \nprec \npreceq \nrightarrow \nshortmid \nsubseteq \nsucc \nsucceq \nsupseteq
    \ntriangleleft \ntriangleright \nu \nvdash \nVdash \nvDash \nVDash \nwarrow
    \raggedleft \raggedright \raise \raisebox \rangle \rbrace \rbrack \rceil \ref \relax \renewcommand \resizebox
    \rfloor \rgroup \rhd \rho \right \rightarrow \rightarrowtail \rightharpoondown \rightharpoonup \rightleftarrows
    \rightleftharpoons \rightrightarrows \rightsquigarrow \rightthreetimes \risingdotseq \rlap \rm \rmfamily
    \rmoustache \rotatebox \rtimes \rule \rvert \rVert
    \tableofcontents \tag \tan \tanh \tau \tbinom \text \textasciicircum \textasciitilde \textbackslash \textbar
    \textbf \textbullet \textcelsius \textcircled \textcolor \textcopyright \textdagger \textdegree \textdollar
    \textellipsis \textemdash \textendash \texteuro \textgreater \textit \textless \textmd \textmu \textnormal
    \textohm \textonehalf \textperthousand \textpm \textquotedblleft \textquotedblright \textquoteleft
    \textquoteright \textregistered \textrightarrow \textrm \textsc \textsf \textsl \textsterling \textstyle
    \textsubscript \textsuperscript \textthreesuperior \texttimes \texttrademark \texttt \texttwosuperior \textup
    \textunderscore \textvisiblespace \textwidth \tfrac \thanks \therefore \theta \thickapprox \thicksim
    \thickspace \thinspace \tilde \times \tiny \title \to \top \triangle \triangledown \triangleleft
    \trianglelefteq \triangleq \triangleright \trianglerighteq \ttfamily \twoheadleftarrow \twoheadrightarrow
    \ulcorner \unboldmath \underbar \underbrace \underleftarrow \underline \underrightarrow \underset \unlhd \unrhd
    \uparrow \Uparrow \updownarrow \upharpoonleft \upharpoonright \uplus \upsilon \Upsilon \upuparrows \urcorner
"""
"""Commands of LaTeX and amsmath that begin like an escape of JSON."""


@pytest.mark.parametrize("command", EATEN.split())
def test_PAR_10_a_command_that_begins_like_an_escape_stays_whole(command: str) -> None:
    for latex in (command, f"x {command}{{y}}", f"{command} {command}_2"):
        reading = read_reply(f'{{"answer":"{latex}","confidence":70}}')
        assert (reading.answer, reading.confidence) == (latex, 70)
        assert pair(f"{{'answer': '{latex}', 'confidence': 70}}") == (latex, 70)


@pytest.mark.parametrize("word", ["i think", "sim", "parallel", "orth", "Paris"])
def test_PAR_10_a_line_that_begins_with_a_word_stays_a_line(word: str) -> None:
    assert pair(f'{{"answer":"a\\n{word}","confidence":70}}') == (f"a\n{word}", 70)


def test_PAR_10_escapes_stay_escapes() -> None:
    assert pair(r'{"answer":"a\nParis","confidence":70}') == ("a\nParis", 70)
    assert pair(r'{"answer":"a\tb \u00e9 \/","confidence":70}') == ("a\tb é /", 70)
    escaped = read_reply(r'{"answer":"\\frac{1}{2}","confidence":70}')
    assert (escaped.answer, escaped.parse) == (r"\frac{1}{2}", "strict")


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_PAR_11_not_finite(value: str) -> None:
    assert pair(f'{{"answer":"5","confidence":{value}}}') == ("5", None)


def test_PAR_12_duplicate_keys() -> None:
    conflict = read_reply('{"confidence":10,"answer":"5","confidence":99}')
    assert (conflict.answer, conflict.confidence) == ("5", None)
    assert "duplicate_confidence" in conflict.flags
    assert pair('{"confidence":80,"answer":"5","confidence":"80%"}') == ("5", 80)
    two = read_reply('{"answer":"5","answer":"6","confidence":80}')
    assert (two.answer, two.confidence) == (None, 80)
    assert "duplicate_answer" in two.flags
    assert pair('{"answer":"5","final_answer":"5","confidence":80}') == ("5", 80)


def test_PAR_15_keys_in_other_case_or_name() -> None:
    assert pair('{"Answer":"5","CONFIDENCE":80}') == ("5", 80)
    assert pair('{"final_answer":"5","confidence_score":80}') == ("5", 80)
    assert pair('{"Final Answer":"5","Confidence Level":80}') == ("5", 80)
    assert pair('{"reply":"5","sureness":80}') == (None, None)


def test_PAR_16_wrapped_object() -> None:
    for raw in (f"[{A}]", f'{{"response":{A}}}', f'{{"result":{A},"model":"x"}}'):
        reading = read_reply(raw)
        assert (reading.answer, reading.confidence) == ("8", 70)
        assert "wrapped" in reading.flags
    assert "wrapped" not in read_reply(A).flags
    assert pair(f'{{"a":{{"b":{A}}}}}') == (None, None)
    several = read_reply(f'[{{"answer":"7","confidence":20}},{A}]')
    assert several.answer == "8"
    assert "multiple_answers" in several.flags


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("5", "5"),
        ("5.0", "5"),
        ("0.10", "0.10"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("true", "true"),
        ("null", None),
        ('["Paris"]', "Paris"),
        ('["a", 2]', "['a', 2]"),
        ("[]", None),
        ('{"city":"Paris"}', None),
        ('""', None),
        ('"  "', None),
    ],
)
def test_PAR_17_answer_of_another_type(value: str, text: str | None) -> None:
    reading = read_reply(f'{{"answer":{value},"confidence":80}}')
    assert (reading.answer, reading.confidence) == (text, 80)
    if text is None:
        assert grade(probe("text", "Paris"), reading).outcome == "unparsed"


def test_PAR_17_number_compares_as_number() -> None:
    assert grade(probe("number", "5"), read_reply('{"answer":5.0}')).outcome == "correct"


def test_PAR_18_truncated_json() -> None:
    first = read_reply('{"answer":"Paris","confid')
    assert (first.answer, first.confidence, first.truncated) == ("Paris", None, True)
    assert grade(probe("text", "Paris"), first).outcome == "truncated"
    second = read_reply('{"answer":"Par')
    assert (second.answer, second.truncated) == (None, True)
    number = read_reply('{"answer": 9')
    assert (number.answer, number.truncated) == (None, True)
    revised = read_reply(f'{A} Wait. {{"answer":"9","conf')
    assert (revised.answer, revised.truncated) == ("8", True)


def test_cut_by_the_limit() -> None:
    assert not read_reply(A + "\n  ", cut=True).truncated
    assert read_reply(A + "\nBecause", cut=True).truncated
    assert not read_reply(A + "\nBecause").truncated
    assert read_reply("Let me think", cut=True).truncated
    assert read_reply("", cut=True).truncated
    assert read_reply("Answer: 5", cut=True).truncated


def test_PAR_19_byte_order_mark_and_raw_newline() -> None:
    assert pair("\ufeff" + A) == ("8", 70)
    assert read_reply("\ufeff" + A).parse == "strict"
    assert pair('{"answer":"a\nb","confidence":80}') == ("a\nb", 80)


@pytest.mark.parametrize(
    "raw",
    [
        f"…hm…</think>{A}",
        f"<reasoning>x</reasoning>{A}",
        f"<thinking>x</thinking>{A}",
        f"<THINK>x</THINK>{A}",
        f"[THINK]x[/THINK]{A}",
        f"◁think▷x◁/think▷{A}",
        f"<|begin_of_thought|>x<|end_of_thought|>{A}",
        f"<think></think>\n\n{A}",
        f"<think>a <think>b</think> c</think>{A}",
        f'draft {{"answer":"7","confidence":20}} hm</think>{A}',
    ],
)
def test_PAR_38_tag_variants_of_reasoning(raw: str) -> None:
    reading = read_reply(raw)
    assert (reading.answer, reading.confidence, reading.truncated) == ("8", 70, False)
    assert "8" not in reading.reasoning


def test_PAR_38_unclosed_reasoning() -> None:
    reading = read_reply(f"<think>{A}")
    assert (reading.answer, reading.confidence, reading.truncated) == (None, None, True)
    assert grade(probe("number", "8"), reading).outcome == "truncated"
    assert reading.reasoning == A


def test_OLL_05_object_inside_reasoning() -> None:
    reading = read_reply(f'<think>maybe {{"answer":"7","confidence":20}}</think>\n{A}')
    assert (reading.answer, reading.confidence) == ("8", 70)
    assert reading.reasoning == 'maybe {"answer":"7","confidence":20}'
    assert "multiple_answers" not in reading.flags


@pytest.mark.parametrize(
    "text", ["The <think> tag", "The </think> tag", "<think>x</think>", "<|channel|>final<|message|>"]
)
def test_PAR_39_tag_text_inside_the_answer(text: str) -> None:
    assert pair(f'{{"answer":"{text}","confidence":80}}') == (text, 80)
    assert pair(f'<think>hm</think>{{"answer":"{text}","confidence":80}}')[1] == 80


@pytest.mark.parametrize(
    "raw",
    [
        f"<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>{A}",
        f'<|channel|>analysis<|message|>{{"answer":"7"}}<|end|>'
        f"<|start|>assistant<|channel|>final <|constrain|>json<|message|>{A}<|return|>",
        f"{A}<|im_end|>",
        f"[/INST] {A}",
        f"<|start_header_id|>assistant<|end_header_id|>\n\n{A}<|eot_id|>",
    ],
)
def test_PAR_40_harmony_and_template_tokens(raw: str) -> None:
    assert pair(raw) == ("8", 70)


def test_PAR_40_only_analysis() -> None:
    reading = read_reply(f"<|channel|>analysis<|message|>{A}")
    assert (reading.answer, reading.truncated) == (None, True)


def test_PAR_41_control_characters() -> None:
    reading = read_reply('{"answer":"\\u001b[31mParis\\u001b[0m\\u0007","confidence":80}')
    assert reading.answer == "Paris"
    assert "control_characters" in reading.flags
    assert graded(probe("text", "Paris"), "\x1b[31mParis\x1b[0m\x07").outcome == "correct"
    assert "\x1b" not in graded(TRAP, "\x1b[31mParis\x1b[0m").given


def test_PAR_42_zero_width_and_bidi_characters() -> None:
    key = probe("text", "Paris")
    assert graded(key, "Par\u200bis").outcome == "correct"
    assert graded(key, "\ufeffParis").outcome == "correct"
    assert graded(key, "\u202esiraP").outcome == "incorrect"
    assert "\u202e" not in (read_reply('{"answer":"\u202esiraP"}').answer or "")
    family = "\U0001f468\u200d\U0001f469"
    persian = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
    assert pair(f'{{"answer":"{family} {persian}"}}')[0] == f"{family} {persian}"


def test_lone_surrogates_become_writable() -> None:
    answer = read_reply('{"answer":"\\ud800"}').answer
    assert answer == "\ufffd"
    assert answer.encode()


LONG = {
    "letters": "a" * 1_000_000,
    "braces": "{" * 100_000,
    "fences": "```" * 50_000,
    "keys": '{"a":"' * 150_000,
    "tags": "<think>" * 140_000,
    "quotes": '{"answer":"' + '" ' * 400_000,
    "angles": "<" * 1_000_000,
    "backslashes": '{"answer":"' + r"\rVert" * 150_000,
}
WHOLE = {
    "digits": "1" * 900_000,
    "commas": "1," * 450_000,
    "signs": "+-" * 450_000,
    "brackets": "(" * 900_000,
    "powers": "x^2+" * 220_000,
    "words": "one hundred " * 75_000,
    "commands": r"\\frac{1}{2}" * 75_000,
}
ITEMS = (
    TRAP,
    probe("text", "Paris"),
    probe("number", "5", unit="km", convert=True),
    probe("set", "2, 3, 5"),
    probe("expression", "x^2 + 2x + 1"),
)


@pytest.mark.parametrize("raw", LONG.values(), ids=LONG)
def test_PAR_45_very_long_output(raw: str) -> None:
    before = time.process_time()
    reading = read_reply(raw)
    found = [grade(item, reading).outcome for item in ITEMS]
    # ten times what it may take, for a machine that is slow or busy
    assert time.process_time() - before < 2
    assert reading.answer is None
    assert set(found) <= {"unparsed", "truncated"}


@pytest.mark.parametrize("answer", WHOLE.values(), ids=WHOLE)
def test_PAR_45_very_long_answer(answer: str) -> None:
    before = time.process_time()
    reading = read_reply(f'{{"answer":"{answer}","confidence":80}}')
    found = [grade(item, reading).outcome for item in ITEMS]
    assert time.process_time() - before < 2
    assert len(reading.answer or "") == MAX_ANSWER
    assert "correct" not in found


def test_PAR_45_sizes_are_bounded() -> None:
    long = read_reply(f'{{"answer":"{"x" * 50_000}","confidence":80}}')
    assert len(long.answer or "") == MAX_ANSWER
    assert "answer_cut" in long.flags
    over = read_reply("x" * (MAX_REPLY + 1) + A)
    assert (over.answer, over.truncated) == (None, True)
    assert "oversized" in over.flags
    assert pair("x" * 500_000 + A) == ("8", 70)


def test_PAR_46_nothing_parseable() -> None:
    reading = read_reply("asdf")
    assert (reading.answer, reading.confidence, reading.parse) == (None, None, "none")
    assert grade(probe("text", "asdf"), reading).outcome == "unparsed"
    assert grade(TRAP, reading).outcome == "unparsed"


def test_OLL_11_endless_white_space() -> None:
    assert pair('{"answer":"4","confidence":80}' + "\n" * 5000) == ("4", 80)
    assert read_reply("{" + "\n" * 5000).truncated


@pytest.mark.parametrize("raw", ["{}", "{} \n", '{"confidence":80}'])
def test_OLL_12_object_without_answer(raw: str) -> None:
    reading = read_reply(raw)
    assert grade(probe("text", "x"), reading).outcome == "unparsed"
    assert reading.confidence == (80 if "80" in raw else None)


def test_OLL_14_schema_limits_not_enforced() -> None:
    assert pair('{"answer":"x","confidence":150}') == ("x", None)


@pytest.mark.parametrize("raw", ["", "  \n\t", "\ufeff", "<think>hm</think>", "<|im_end|>"])
def test_empty_reply(raw: str) -> None:
    assert grade(TRAP, read_reply(raw)).outcome == "empty"


@pytest.mark.parametrize(
    "raw",
    [
        "Answer: Paris / Confidence: 85%",
        "**Answer:** Paris\n**Confidence:** 85%",
        "Answer: Paris. Confidence: 85",
        '"answer": "Paris", "confidence": 85',
        "I thought about it.\nFinal answer: Paris\nConfidence: 85/100",
        "<answer>Paris</answer><confidence>85</confidence>",
    ],
)
def test_salvaged_forms(raw: str) -> None:
    reading = read_reply(raw)
    assert ((reading.answer or "").rstrip("."), reading.confidence, reading.parse) == (
        "Paris",
        85,
        "salvaged",
    )


def test_salvage_never_reads_reasoning_or_placeholders() -> None:
    assert read_reply("<think>Answer: 5</think>I see.").answer is None
    assert read_reply("Answer: <your answer>").answer is None


def test_whole_reply_without_object_may_abstain_or_decline() -> None:
    assert grade(TRAP, read_reply("UNANSWERABLE")).outcome == "abstained"
    assert grade(TRAP, read_reply("I don't know.")).outcome == "abstained"
    assert grade(TRAP, read_reply("I'm sorry, but I can't help with that.")).outcome == "refused"


@pytest.mark.parametrize(
    ("raw", "answer"),
    [
        ('{"answer":"5" "confidence":80}', "5"),
        ("{answer: Paris, confidence: 80}", "Paris"),
        ('{"answer": 81 + 29 = 110, "confidence": 80}', "81 + 29 = 110"),
        ('{"answer" = "5", "confidence": 80}', None),
        ('{"answer": Paris, France, "confidence": 80}', None),
    ],
)
def test_other_repairs_keep_the_whole_answer_or_none(raw: str, answer: str | None) -> None:
    assert read_reply(raw).answer == answer


def test_a_list_and_an_object_within_are_repaired_in_place() -> None:
    reading = read_reply("{'answer': ['a', 'b'], 'more': {'c': [1, 2], 'd': 3}, 'confidence': 80}")
    assert (reading.parse, reading.confidence) == ("repaired", 80)
    assert reading == read_reply("{'answer': ['a', 'b'], 'confidence': 80}")
    assert "a" in (reading.answer or "") and "b" in (reading.answer or "")


@pytest.mark.parametrize("before", ["", " "])
@pytest.mark.parametrize("objects", [59, 60, 61, 300, 303])
def test_of_very_many_objects_the_first_60_and_the_last_240_are_looked_at(before: str, objects: int) -> None:
    one = '{"a":1}'
    everywhere = [len(before) + len(one) * place for place in range(objects)]
    assert object_starts(before + one * objects) == everywhere[:60] + everywhere[60:][-240:]
