"""What the ladder, the topic pass and the swap say, in a terminal and in Markdown."""

import re
from pathlib import Path

import msgspec
import pytest
from made_runs import follower, graded, measured, unmoved, written
from rich.cells import cell_len

from selfdiag.battery.draw import SeededOrder
from selfdiag.battery.items import BINS, Probe
from selfdiag.cli import asking
from selfdiag.measure.estimate import Estimate
from selfdiag.protocols.ladder import Ladder, OwnRecognised, ladder_of, ladder_plan, ladder_sentence
from selfdiag.protocols.own_profile import Given, experiment_settings, given_profile
from selfdiag.protocols.profile_file import profile_of
from selfdiag.protocols.profile_signature import MEASURED_HERE, Gate
from selfdiag.protocols.swap import swap_of, swap_plan
from selfdiag.protocols.topicpass import measured_topicpass, topicpass_of
from selfdiag.report import arms
from selfdiag.report.arms import consumption_sentence, points
from selfdiag.report.ladder import judge_sentence, ladder_lines, ladder_markdown, width_sentence
from selfdiag.report.swap import swap_lines, swap_markdown
from selfdiag.report.topicpass import topicpass_lines, topicpass_markdown
from selfdiag.report.words import p_value
from selfdiag.runs.ladder_plan import OFF, OWN, PLACEBO
from selfdiag.runs.records import LADDER, SWAP, TOPICPASS, PlannedCall
from selfdiag.runs.store import Run

HOSTILE = "<script>x</script> | `a` \x1b[2J"


def patchy(call: PlannedCall, probe: Probe) -> tuple[str, int | None] | None:
    """Follows its profile, and sometimes fails in every way there is."""
    fate = SeededOrder("fate").pick(20, call.call_id)
    endings = ("abstained", "refused", "unparsed", "truncated", "error", "empty", "overflow")
    if fate < len(endings):
        return endings[fate], 50 if fate < 2 else None
    return None if fate == 7 else (graded(probe), None) if fate == 8 else follower(call, probe)


def silent(call: PlannedCall, probe: Probe) -> None:
    """Leaves every call unasked."""


def ladder_run(tmp_path: Path, reply=follower, *, replicates: int = 1, labelled: bool = True, **settings) -> Run:
    run = measured(tmp_path / "measured", **settings)
    chosen = experiment_settings(run, LADDER)
    plan = ladder_plan(chosen, run, replicates=replicates, labelled=labelled)
    return written(plan, chosen, reply, tmp_path / "ladder")


def sections(text: str) -> list[str]:
    return re.findall(r"^## (.*)$", text, re.MULTILINE)


def check(lines: list[str], text: str) -> None:
    """What holds for every text: it fits, it is complete, and no table row is broken."""
    assert max(map(cell_len, lines)) <= 80
    for whole in (*lines, text):
        assert "None" not in whole and "nan" not in whole.lower().split()
    # a command stands in a code block, where HTML means nothing
    prose = "\n".join(line for line in text.splitlines() if not line.startswith("    selfdiag "))
    assert text.endswith("\n") and "\x1b" not in text and "<script>" not in prose
    widths: list[int] = []
    for line in text.splitlines():
        if line.startswith("| "):
            widths.append(len(re.findall(r"(?<!\\)\|", line)))
            assert widths[-1] == widths[0], line
        else:
            widths = []


# Ladder.


def test_the_first_line_says_what_it_can_confirm(tmp_path: Path) -> None:
    run = ladder_run(tmp_path, battery="standard", replicates=2)
    found = ladder_of(run, draws=200)
    lines, text = ladder_lines(found), ladder_markdown(run, found)
    check(lines, text)
    first = " ".join(lines[:2])
    assert first.startswith("Demonstration, it confirms nothing: 126 items at ")
    assert "the smallest AUROC difference expected beforehand to be seen with 80 % power is about 0.1" in first
    assert lines[2] == "  because: 126 probes, not the full 294"
    assert text.splitlines()[2].startswith("**Demonstration, it confirms nothing: 126 items at ")
    assert "- 126 probes, not the full 294" in text
    assert "A difference that is not shown here may well be there" in text


def test_it_reads_like_a_results_section(tmp_path: Path) -> None:
    run = ladder_run(tmp_path, replicates=2)
    found = ladder_of(run, draws=200)
    lines, text = ladder_lines(found), ladder_markdown(run, found)
    check(lines, text)
    assert sections(text) == [
        "Question",
        "Design",
        "Profiles",
        "Results by arm",
        "Contrasts",
        "Ceiling",
        "Was the profile read?",
        "Abstentions",
        "Limitations",
        "How it was asked",
    ]
    assert lines[0].startswith("Confirmatory: 294 items")
    assert "294 items x 2 wordings = 588 rows, each under 4 arms" in text
    assert re.search(rf"mixed within {found.batches} batches of the call order; the question names its topic", text)
    own = found.arms[2]
    assert re.search(rf"\| own \| 588 \| \.\d+ .*\| {own.mean_confidence:.1f} \|", text)
    placebo = found.contrasts[0]
    ends = placebo.by_item.difference.ci
    assert f"| own - placebo | confirmatory | .{1000 * placebo.by_item.first:03.0f} | " in text
    assert f"[+.{1000 * ends[0]:03.0f}, +.{1000 * ends[1]:03.0f}]" in text
    assert f"| {p_value(placebo.by_item.p)} | {p_value(placebo.adjusted_p)} | 294 |" in text
    (row,) = (line for line in lines if line.startswith("shuffled") and "expl." in line)
    assert p_value(found.contrasts[2].by_item.p) in row
    assert text.count("| exploratory |") == 1
    assert "Oracle ceiling: a model that states" in text and "Leave-one-out ceiling, the topic's other items" in text
    assert "biased low" in text and "over 42 injected values" in text
    assert "From the intervals found, 80 % power was there for differences of" in " ".join(lines)
    assert "Its accuracy by topic was measured in run measured (--from takes its id, or its folder)." in text
    assert any(line.startswith("Its accuracy by topic was measured in run measured") for line in lines)
    assert "they are no further items" in text
    # 2,352 calls are more than are made without asking
    assert "\n    selfdiag ladder openai:made-up --battery full --structured off --replicates 2 --yes\n" in text
    assert text.endswith("\n    selfdiag ladder openai:made-up --from measured --replicates 2 --yes\n")
    assert ladder_markdown(run) == ladder_markdown(run)


def test_a_ladder_with_every_kind_of_reply_is_told_whole(tmp_path: Path) -> None:
    run = ladder_run(tmp_path, patchy, battery="standard", labelled=False, bins=BINS[:12], seed=3)
    found = ladder_of(run, draws=200)
    lines, text = ladder_lines(found), ladder_markdown(run, found)
    check(lines, text)
    assert any(line.startswith("! incomplete: ") for line in lines)
    assert "the question does not name its topic" in text
    assert "a model that cannot tell the topic cannot use the profile" in text
    bins = ",".join(BINS[:12])
    assert f"--battery standard --seed 3 --bins {bins} --structured off --replicates 1 --no-label\n" in text
    off = next(line for line in lines if line.startswith("off"))
    arm = found.arms[0]
    assert off.split()[1] == str(arm.accuracy.n) and off.split()[-1] == str(arm.abstained + arm.refused)


def test_nothing_asked_is_no_crash(tmp_path: Path) -> None:
    run = ladder_run(tmp_path, lambda call, probe: None, battery="standard")
    found = ladder_of(run, draws=50)
    check(ladder_lines(found), ladder_markdown(run, found))
    assert "No answer: own against placebo and off is not defined here." in ladder_lines(found)
    assert width_sentence(found) == ""


def test_all_right_says_why_there_is_no_auroc(tmp_path: Path) -> None:
    run = ladder_run(tmp_path, lambda call, probe: ("correct", 70), battery="standard")
    found = ladder_of(run, draws=50)
    lines, text = ladder_lines(found), ladder_markdown(run, found)
    check(lines, text)
    assert "one class" in "\n".join(lines)
    assert "not defined: all answers were right" in text


def test_too_few_wrong_answers_are_told(tmp_path: Path) -> None:
    def nearly_all_right(call: PlannedCall, probe: Probe) -> tuple[str, int]:
        return ("incorrect" if probe.id == "history-01" else "correct"), 30 if call.arm == OWN else 80

    run = ladder_run(tmp_path, nearly_all_right)
    found = ladder_of(run, draws=200)
    lines, text = ladder_lines(found), ladder_markdown(run, found)
    check(lines, text)
    why = "no interval: needs 5 items with a wrong answer in each arm, has 1"
    told = f"No answer: own against placebo and off cannot be tested ({why})."
    assert told in " ".join(lines) and f"**{told}**" in text
    assert text.count(f"| {why} |") == 3


def test_foreign_names_stay_text(tmp_path: Path) -> None:
    run = ladder_run(tmp_path, battery="standard")
    found = ladder_of(run, draws=50)
    named = msgspec.structs.replace(
        found,
        model=msgspec.structs.replace(found.model, name=HOSTILE),
        recognised=OwnRecognised(model=HOSTILE, asked=4, own=3, shuffled=0, unread=1),
        notes=(HOSTILE,),
    )
    lines, text = ladder_lines(named), ladder_markdown(run, named)
    check(lines, text)
    assert "\x1b" not in "".join(lines)
    told = " ".join(lines)
    assert "took the own profile for the measured one in 3 of 4, the shuffled one in 0, 1 opinion not readable" in told
    assert "\n    selfdiag ladder openai:made-up --battery standard --structured off --replicates 1 --judge '<" in text


def test_a_judge_of_whom_nothing_could_be_read_chose_nothing() -> None:
    said = judge_sentence(OwnRecognised(model="m", asked=4, own=0, shuffled=0, unread=4), "m")
    assert said.endswith("both lists unnamed: none of its 4 opinions could be read.")


def test_the_bound_on_calls_is_that_of_the_commands() -> None:
    assert arms.MANY_CALLS == asking.MANY_CALLS


def answered(found: Ladder, placebo: tuple[float, float], off: tuple[float, float]) -> str:
    """The answer where the two confirmatory contrasts have this difference and this corrected p."""
    given = {PLACEBO: placebo, OFF: off}
    made = tuple(
        msgspec.structs.replace(
            one,
            adjusted_p=given[one.against][1],
            by_item=msgspec.structs.replace(
                one.by_item, difference=Estimate(value=given[one.against][0], ci=(-1.0, 1.0), n=294)
            ),
        )
        for one in found.contrasts
        if one.against in given
    )
    return ladder_sentence(made, found.standing)


def test_the_answer_follows_the_corrected_p_values(tmp_path: Path) -> None:
    found = ladder_of(ladder_run(tmp_path), draws=50)
    assert "better than a made-up one, and than none" in answered(found, (0.1, 0.04), (0.1, 0.01))
    # what the study found: neither is below .05 once corrected
    assert answered(found, (0.041, 0.085), (0.061, 0.085)) == (
        "Its own profile is not shown to make its confidence tell right from wrong any better."
    )
    assert "not shown to be better than no values at all" in answered(found, (0.1, 0.01), (0.1, 0.2))
    assert "what it says of the topics need not be the reason" in answered(found, (0.1, 0.2), (0.1, 0.01))
    assert answered(found, (-0.1, 0.01), (0.1, 0.01)).endswith("worse than placebo.")
    demonstration = msgspec.structs.replace(
        found, standing=msgspec.structs.replace(found.standing, label="demonstration")
    )
    assert answered(demonstration, (0.1, 0.04), (0.1, 0.01)).startswith("In this demonstration its own profile")


def test_power_by_the_width_of_the_intervals(tmp_path: Path) -> None:
    found = ladder_of(ladder_run(tmp_path), draws=50)
    made = tuple(
        msgspec.structs.replace(
            one,
            by_item=msgspec.structs.replace(one.by_item, difference=Estimate(value=0.041, ci=(-0.002, 0.086), n=294)),
        )
        for one in found.contrasts
    )
    # half a width of .044 is 1.96 standard errors, and 80 % power needs 2.80 of them
    assert ".063 against placebo and .063 against off" in width_sentence(msgspec.structs.replace(found, contrasts=made))


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (
            Estimate(value=0.5, ci=(0.2, 0.7), n=42),
            "Confidence followed the x profile: r = +.500 [+.200, +.700] over 42",
        ),
        (Estimate(value=-0.5, ci=(-0.7, -0.2), n=42), "Confidence went against the x profile"),
        (Estimate(value=0.1, ci=(-0.2, 0.4), n=42), "It is not shown that confidence followed the x profile"),
        (Estimate(value=None, n=3, note="not defined: its confidence never changed"), "cannot be said: its confidence"),
    ],
)
def test_whether_a_profile_was_read(found: Estimate, words: str) -> None:
    assert words in consumption_sentence("x", found)


def test_numbers() -> None:
    assert [p_value(p) for p in (None, 0.0001, 0.0005, 0.085, 1.0)] == ["–", "<.001", ".001", ".085", "1"]
    assert [points(value, sign=True) for value in (None, -0.0, 12.34, -3.0)] == ["–", "+0.0", "+12.3", "-3.0"]


# Topic pass and swap.


@pytest.mark.parametrize("reply", [follower, unmoved, patchy, silent])
def test_a_topic_pass_is_told(tmp_path: Path, reply) -> None:
    run = measured(tmp_path / "measured", battery="standard")
    chosen = experiment_settings(run, TOPICPASS)
    done = written(measured_topicpass(chosen, run, per_topic=3), chosen, reply, tmp_path / "pass")
    found = topicpass_of(done, draws=200)
    lines, text = topicpass_lines(found), topicpass_markdown(done, found)
    check(lines, text)
    assert found.too_few is (reply in (patchy, silent))
    assert lines[0].startswith("Too few for a verdict: " if found.too_few else "topic pass · made-up")
    assert " ".join(lines).count(found.sentence) == 1 and text.splitlines()[2] == f"**{found.sentence}**"
    assert any(line.startswith("63 items, each under the true and a false profile") for line in lines)
    assert sections(text) == ["Design", "Profiles", "False minus true", "Arms", "How it was asked"]
    assert "the values of the true one in reverse order" in text
    assert "selfdiag topicpass openai:made-up --battery standard --structured off --items-per-topic 3\n" in text
    assert "selfdiag topicpass openai:made-up --from measured --items-per-topic 3\n" in text
    (association,) = (line for line in lines if line.startswith("toward the claim, named minus not named: "))
    assert association.endswith(f", n {found.association.n}")
    assert sum("no interval: " in line for line in lines) <= 1
    if reply is follower:
        shown = points(found.labelled.followed.value, sign=True)
        assert any(line.startswith(f"toward the claim, points  {shown} [+") for line in lines)
        assert f"| toward the claim, points | topic named | {shown} [+" in text


def test_missing_intervals_are_one_line_after_the_other_notes(tmp_path: Path) -> None:
    def steady_unnamed(call: PlannedCall, probe: Probe) -> tuple[str, int]:
        return follower(call, probe) if call.labelled else (graded(probe), 60)

    run = measured(tmp_path / "measured", battery="quick")
    chosen = experiment_settings(run, TOPICPASS)
    done = written(measured_topicpass(chosen, run, per_topic=3), chosen, steady_unnamed, tmp_path / "pass")
    lines = topicpass_lines(topicpass_of(done, draws=200))
    marked = " ".join(" ".join(lines).partition(" ! ")[2].split())
    assert marked.count("! ") == 1
    assert marked.startswith("the true profile has topics with 2 graded items behind the value")
    assert marked.endswith(
        "! no interval: confidence, topic not named; toward the claim, topic not named; Brier score, topic not named; "
        "accuracy (every draw gives the same value)"
    )


@pytest.mark.parametrize("reply", [follower, unmoved, patchy, silent])
def test_a_swap_is_told_with_the_state_of_the_signature(tmp_path: Path, reply) -> None:
    run = measured(tmp_path / "measured", battery="standard")
    chosen = experiment_settings(run, SWAP)
    other = Given(
        accuracy={name: 90 - 4 * rank for rank, name in enumerate(BINS)},
        origin=f"measured of {HOSTILE}",
        gate=Gate(state="verified", signer="Ada Example", note="it is as Ada Example has signed it"),
    )
    done = written(swap_plan(chosen, run, other), chosen, reply, tmp_path / "swap")
    found = swap_of(done, draws=200)
    lines, text = swap_lines(found), swap_markdown(done, found)
    check(lines, text)
    told = " ".join(lines)
    assert "Its signature: verified: it is as Ada Example has signed it." in told
    assert "signed it |" in text and "Its signature: verified: it is as Ada Example has signed it." in text
    assert "AUROC changed by .04 at most" in told
    assert sections(text)[:4] == ["Design", "Profiles", "Results by arm", "Contrasts"]
    if reply is follower:
        difference = found.contrasts[0].measures["auroc"].difference
        assert difference.value < 0
        assert any(line.startswith("other - own") and f"-.{-1000 * difference.value:03.0f}" in line for line in lines)


def test_a_swap_says_how_to_get_both_profiles_again(tmp_path: Path) -> None:
    run = measured(tmp_path / "measured")
    theirs = profile_of(measured(tmp_path / "theirs", follower))
    chosen = experiment_settings(run, SWAP)
    flags = {
        MEASURED_HERE: "--profile-of theirs",
        Gate(state="verified", signer="Ada", note="it is as Ada has signed it"): "--profile FILE",
        Gate(state="unsigned", note="nobody vouches for it"): "--profile FILE --allow-unsigned",
    }
    for place, (gate, words) in enumerate(flags.items()):
        plan = swap_plan(chosen, run, given_profile(theirs, gate))
        done = written(plan, chosen, follower, tmp_path / f"swap-{place}")
        found = swap_of(done, draws=50)
        text = swap_markdown(done, found)
        # 882 calls, and 294 that measure
        assert f"\n    selfdiag swap openai:made-up --battery full --structured off {words} --yes\n" in text
        assert text.endswith(f"\n    selfdiag swap openai:made-up --from measured {words}\n")
        assert found.sentence in " ".join(swap_lines(found)) and f"**{found.sentence}**" in text
        assert "was measured in run measured (--from takes its id" in " ".join(swap_lines(found))
