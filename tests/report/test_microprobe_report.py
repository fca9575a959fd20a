"""The words of a microprobe: one sentence a verdict, a picture that needs no colour, and foreign text kept harmless."""

from collections.abc import Callable

import msgspec
import pytest
from claim_runs import Reply, answered

from selfdiag.battery.items import Probe
from selfdiag.protocols.microprobe import Microprobe, microprobe_of
from selfdiag.protocols.microprobe_plan import claims_plan, microprobe_plan
from selfdiag.report.microprobe import microprobe_lines, microprobe_markdown
from selfdiag.report.microprobe_words import item_sentence, points, set_sentence
from selfdiag.report.page import WIDTH
from selfdiag.runs.calls import CallBook
from selfdiag.runs.claims import DOSES, add_claims
from selfdiag.runs.plan import Plan, battery_of
from selfdiag.runs.records import MICROPROBE, PlannedCall, RunSettings

SETTINGS = RunSettings(model="openai:written", battery="full", sections=(MICROPROBE,))
ONE = msgspec.structs.replace(SETTINGS, items=("geography-07",))
EVERY = microprobe_plan(SETTINGS)
ABSTAINED = (90, "UNANSWERABLE", "abstained")


def result(plan: Plan, reply: Callable[[PlannedCall], Reply]) -> Microprobe:
    found = microprobe_of(answered(SETTINGS, plan, reply), draws=200)
    assert found is not None
    return found


def said(low: Reply, high: Reply, off: tuple[int, int] = (60, 60), bare: tuple[int, int] = (5, 95)) -> str:
    def reply(call: PlannedCall) -> Reply:
        if call.claim_bin != "geography":
            return off[call.claim == 95], "a", "correct"
        if not call.labelled:
            return bare[call.claim == 95], "a", "correct"
        return high if call.claim == 95 else low

    return item_sentence(result(microprobe_plan(ONE), reply).items[0])


def right(confidence: int) -> Reply:
    return confidence, "a", "correct"


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        (
            said(right(5), right(95), off=(20, 80)),
            "movable: it follows the claimed number: 5 at 0 %, 95 at 95 %; the same claim about another topic moves it "
            "by 60, so it copies the number rather than believes the profile.",
        ),
        (
            said(right(5), right(95), off=(60, 63)),
            "movable: it follows the claimed accuracy: 5 at 0 %, 95 at 95 %; the same claim about another topic moves "
            "it by 3, so it believes the profile rather than copies the number.",
        ),
        (
            said(right(5), right(95), off=(80, 20)),
            "movable: it follows the claimed accuracy: 5 at 0 %, 95 at 95 %; the same claim about another topic moves "
            "it by 60 the other way, so it believes the profile rather than copies the number.",
        ),
        (
            said(right(95), right(40), bare=(95, 40)),
            "movable: it goes against the claimed accuracy: 95 at 0 %, 40 at 95 %; the same claim about another topic "
            "moves it by 0, so it believes the profile rather than copies the number.",
        ),
        (said(right(100), right(98)), "pinned: it says 100 at 0 %, 98 at 95 %, whatever is claimed."),
        (said(right(60), right(62)), "unmoved: it does not follow the claimed accuracy: 60 at 0 %, 62 at 95 %."),
        (
            said(right(5), right(95), bare=(50, 52)),
            "unassociated: it follows the claim only where the question names its topic: 5 at 0 %, 95 at 95 %, and +2 "
            "without the name.",
        ),
        (
            said(ABSTAINED, right(95)),
            "induced abstention: the claim decides whether it answers: it abstains at 0 % and answers at 95 %.",
        ),
        (
            said((None, "", "refused"), (None, "a", "correct")),
            "no reading: at 0 % it refused and at 95 % it stated no confidence.",
        ),
        (said(right(5), None), "no reading: at 95 % it was not asked."),
    ],
)
def test_one_sentence_a_verdict(sentence: str, words: str) -> None:
    assert sentence == words


def test_a_control_that_was_not_asked_or_has_no_reading() -> None:
    plan = microprobe_plan(ONE)
    without = msgspec.structs.replace(plan, calls=tuple(call for call in plan.calls if call.claim_bin == "geography"))
    follow = lambda call: right(5 if call.claim == 0 else 95)  # noqa: E731
    assert item_sentence(result(without, follow).items[0]).endswith("is open, as the control was not asked.")
    silent = result(plan, lambda call: follow(call) if call.claim_bin == "geography" else None)
    assert item_sentence(silent.items[0]).endswith("is open, as the control has no reading.")


def test_a_shift_within_the_noise_names_the_noise() -> None:
    plan = microprobe_plan(ONE, wordings=3)
    first = plan.calls[0].paraphrase
    found = result(plan, lambda call: right((40 if call.claim == 0 else 60) - 18 * (call.paraphrase != first)))
    assert item_sentence(found.items[0]) == (
        "unmoved: it does not follow the claimed accuracy: 40 at 0 %, 60 at 95 %; another wording alone moves it by 18."
    )
    assert "  3 wordings asked: another wording under the same claim moves it by up to 18" in microprobe_lines(found)


def together(reply: Callable[[PlannedCall], Reply], plan: Plan = EVERY) -> str:
    return set_sentence(result(plan, reply).summary)


def test_sets_in_words() -> None:
    bins = {probe.id: probe.bin for probe in EVERY.check}
    follow = together(lambda call: right(5 if call.claim == 0 else 95) if call.labelled else right(50))
    assert follow.startswith("unassociated: confidence follows the claim only where the question names its topic, +90")
    number = together(lambda call: right(5 if call.claim == 0 else 95))
    assert number == (
        "movable: confidence follows the number that is claimed, whichever topic it is about, +90 points on average "
        "from 0 % to 95 %, and 21 of 21 items move by 10 or more; of the 21 that move, 21 follow the number on another "
        "topic's line too, 0 do not."
    )
    profile = together(lambda call: right(95 if call.claim and call.claim_bin == bins[call.item_id] else 5))
    assert profile.endswith("of the 21 that move, 0 follow the number on another topic's line too, 21 do not.")
    assert together(lambda call: right(100)) == "pinned: on 21 of 21 items it says the same, whatever is claimed."
    assert together(lambda call: right(60)) == (
        "unmoved: confidence does not follow the claimed accuracy, 0 points on average, within 5 of 0 "
        "(90 % interval [0, 0])."
    )
    against = together(lambda call: right(90 if call.claim == 0 else 20))
    assert against.startswith("inconclusive, n too small: confidence moves against the claim; -70 points on average")
    nothing = together(lambda call: ABSTAINED)
    assert nothing.startswith("inconclusive, n too small: 0 with a reading, a verdict needs 16")


def test_a_wide_interval_is_said() -> None:
    order = [probe.id for probe in EVERY.check]
    found = together(lambda call: right(50 + (40 if order.index(call.item_id) % 2 else -40) * bool(call.claim)))
    assert found.startswith("inconclusive, n too small: the interval is too wide; -1.9 points on average [")


def test_points_in_words() -> None:
    assert [points(value) for value in (None, 0.0, 5.0, 5.25, 61.96)] == ["–", "0", "5", "5.2", "62"]
    assert [points(value, sign=True) for value in (-0.01, 0.0, 3.0, -2.5)] == ["0", "0", "+3", "-2.5"]


def test_one_item_in_full() -> None:
    found = result(
        microprobe_plan(ONE),
        lambda call: right(0 if call.claim == 0 else 95) if call.claim_bin == "geography" else ABSTAINED,
    )
    lines = microprobe_lines(found)
    text = "\n".join(lines)
    assert lines[0] == "openai:written · claimed: 0, 95 %"
    assert "geography-07   answer key: Himalayas" in lines
    assert "  - geography: 0%   or   - geography: 95%" in lines
    assert "the question names its topic" in text
    bars = [line for line in lines if "%" in line and "█" in line]
    assert bars == [f"    95 %     95  {'█' * 24}     ✓ right        a"]
    assert "     0 %      0                               ✓ right        a" in lines
    # a confidence beside an abstention speaks of no answer, so it is not drawn
    assert "    95 %      –                               ○ abstained    UNANSWERABLE" in lines
    assert max(map(len, lines)) <= WIDTH


def test_plain_lines_are_drawn_with_letters_that_every_terminal_has() -> None:
    found = result(microprobe_plan(ONE), lambda call: right(50))
    shown = "\n".join(microprobe_lines(found, plain=True))
    assert "#" * 13 in shown and "-" * 13 in shown and "=" * 13 in shown
    assert not set(shown) & set("█░▒")
    assert "\x1b" not in "\n".join(microprobe_lines(found))


def test_a_set_as_a_table() -> None:
    bins = {probe.id: probe.bin for probe in EVERY.check}

    def reply(call: PlannedCall) -> Reply:
        if call.claim_bin != bins[call.item_id]:
            return right(50)
        if bins[call.item_id] == "history":
            return ABSTAINED if call.claim == 0 else right(95)
        return (20, "b", "incorrect") if call.claim == 0 else right(80)

    found = result(EVERY, reply)
    lines = microprobe_lines(found)
    assert lines[0] == "openai:written · 21 items, 20 with a reading · claimed: 0, 95 %"
    assert "  moved by 10 or more         100 %  n 20  [84, 100]" in lines
    assert "  shift                         +60  n 20  every draw gives the same value" in lines
    row = next(line for line in lines if line.lstrip().startswith("history-"))
    assert row.split() == [row.split()[0], "–", "○", "95", "✓", "–", "0", "–", "induced", "abstention"]
    assert sum("movable ≠" in line for line in lines) == 20
    assert lines[-1] == "  ≠ the answer is another one under the highest claim"
    assert max(map(len, lines)) <= WIDTH


def test_a_dose_response_has_its_slope() -> None:
    found = result(microprobe_plan(SETTINGS, claims=DOSES), lambda call: right(round(10 + 0.8 * (call.claim or 0))))
    text = "\n".join(microprobe_lines(found))
    assert "points a claimed point" in text and "rank correlation" in text
    assert "| item | 0 % | 5 % | 25 % | 50 % | 75 % | 95 % | 100 % | shift |" in microprobe_markdown(found)


def test_the_section_of_a_report() -> None:
    found = result(EVERY, lambda call: right(5 if call.claim == 0 else 95))
    text = microprobe_markdown(found)
    assert text.startswith("## Microprobe\n\nThe same question is asked under a claimed accuracy of its topic")
    assert set_sentence(found.summary) in text
    assert "| moved by 10 or more | 100 % | [85, 100] | 21 |  |" in text
    rows = [line for line in text.splitlines() if line.startswith("| geography-")]
    assert len(rows) == 1
    assert rows[0].endswith("| 5 | 95 | +90 | – | +90 | +90 | number | movable | a (✓ right) → a (✓ right) |")
    alone = result(microprobe_plan(ONE), lambda call: right(100))
    assert item_sentence(alone.items[0]) in microprobe_markdown(alone)
    head = len(next(line for line in text.splitlines() if line.startswith("| item |")).split(" | "))
    assert len(rows[0].split(" | ")) == head


def test_foreign_text_stays_text() -> None:
    nasty = "<b>|\x1b[2J\u202e[x](y)"
    probe = Probe(
        id=f"id{nasty}",
        bin=f"bin{nasty}",
        difficulty="easy",
        kind="text",
        answer=nasty,
        questions=(f"Which? {nasty}",),
        source="none",
    )
    other = msgspec.structs.replace(probe, id="other", bin="other")
    book = CallBook(SETTINGS)
    add_claims(book, (probe,), (probe.bin, "other"))
    plan = claims_plan(book, battery_of(SETTINGS)[0], (probe, other))
    settings = msgspec.structs.replace(SETTINGS, model=f"openai:{nasty}")
    run = answered(settings, plan, lambda call: (50, nasty, "incorrect"))
    found = microprobe_of(run, draws=100)
    assert found is not None
    shown = "\n".join([*microprobe_lines(found), microprobe_markdown(found)])
    assert all(char == "\n" or char.isprintable() for char in shown)
    assert "<b>" not in microprobe_markdown(found)
    rows = [line for line in microprobe_markdown(found).splitlines() if line.startswith("| id")]
    assert rows[-1].replace("\\|", "").count("|") == 11


def test_what_strays_at_other_claims_than_the_judged_is_told() -> None:
    stated = {0: 100, 5: 100, 25: 25, 50: 100, 75: 0, 95: 99, 100: 100}
    found = result(microprobe_plan(ONE, claims=DOSES), lambda call: right(stated[call.claim or 0]))
    assert item_sentence(found.items[0]) == (
        "pinned: it says 100 at 0 %, 99 at 95 %, yet at other claims it goes from 0 to 100."
    )
    steady = result(microprobe_plan(ONE, claims=DOSES), lambda call: right(97 + (call.claim or 0) // 50))
    assert item_sentence(steady.items[0]).endswith("whatever is claimed.")
