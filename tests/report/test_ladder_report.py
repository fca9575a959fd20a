"""What the ladder, the topic pass and the swap say, in a terminal and in Markdown."""

import re
from pathlib import Path

import msgspec
import pytest
from made_runs import follower, graded, measured, unmoved, written
from rich.cells import cell_len

from selfdiag.battery.draw import SeededOrder
from selfdiag.battery.items import BINS, Probe
from selfdiag.measure.estimate import Estimate
from selfdiag.protocols.ladder import Ladder, ladder_of, ladder_plan
from selfdiag.protocols.own_profile import Given, experiment_settings
from selfdiag.protocols.swap import swap_of, swap_plan
from selfdiag.protocols.topicpass import measured_topicpass, topicpass_of
from selfdiag.report.arms import consumption_sentence, p_value, points
from selfdiag.report.ladder import answer_sentence, ladder_lines, ladder_markdown, width_sentence
from selfdiag.report.swap import swap_lines, swap_markdown
from selfdiag.report.topicpass import topicpass_lines, topicpass_markdown
from selfdiag.runs.ladder_plan import OFF, PLACEBO
from selfdiag.runs.profile_judging import OwnRecognised
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
    assert text.endswith("\n") and "\x1b" not in text and "<script>" not in text
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
    assert "smallest AUROC difference seen with 80 % power is about 0.1" in first
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
    assert "biased low" in text and "over 42 injected values" in text
    assert "they are no further items" in text
    assert "selfdiag ladder openai:made-up --battery full --structured off --replicates 2\n" in text
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
    assert "took the own profile for the measured one in 3 of 4, the shuffled one in 0, 1 reply not readable" in told


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
    return answer_sentence(msgspec.structs.replace(found, contrasts=made))


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
        (Estimate(value=None, n=3, note="not defined: needs 4 bins, has 3"), "cannot be said: not defined: needs 4"),
    ],
)
def test_whether_a_profile_was_read(found: Estimate, words: str) -> None:
    assert words in consumption_sentence("x", found)


def test_numbers() -> None:
    assert [p_value(p) for p in (None, 0.0001, 0.0005, 0.085, 1.0)] == ["–", "<.001", ".001", ".085", "1.000"]
    assert [points(value, sign=True) for value in (None, -0.0, 12.34, -3.0)] == ["–", "+0.0", "+12.3", "-3.0"]


# Topic pass and swap.


@pytest.mark.parametrize("reply", [follower, unmoved, patchy, lambda call, probe: None])
def test_a_topic_pass_is_told(tmp_path: Path, reply) -> None:
    run = measured(tmp_path / "measured", battery="standard")
    chosen = experiment_settings(run, TOPICPASS)
    done = written(measured_topicpass(chosen, run, per_topic=3), chosen, reply, tmp_path / "pass")
    found = topicpass_of(done, draws=200)
    lines, text = topicpass_lines(found), topicpass_markdown(done, found)
    check(lines, text)
    assert lines[1].startswith("63 items, each under the true and a false profile")
    assert sections(text) == ["Design", "Profiles", "False minus true", "Arms", "How it was asked"]
    assert "the values of the true one in reverse order" in text
    assert "selfdiag topicpass openai:made-up --battery standard --structured off --items-per-topic 3\n" in text
    if reply is follower:
        shown = points(found.labelled.followed.value, sign=True)
        assert any(line.startswith(f"toward the claim, points  {shown} [+") for line in lines)
        assert f"| toward the claim, points | topic named | {shown} [+" in text


@pytest.mark.parametrize("reply", [follower, unmoved, patchy, lambda call, probe: None])
def test_a_swap_is_told_with_the_state_of_the_signature(tmp_path: Path, reply) -> None:
    run = measured(tmp_path / "measured", battery="standard")
    chosen = experiment_settings(run, SWAP)
    other = Given(
        accuracy={name: 90 - 4 * rank for rank, name in enumerate(BINS)},
        origin=f"measured of {HOSTILE}",
        gate="verified: it is as Ada Example has signed it",
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
