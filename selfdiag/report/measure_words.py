"""What each measure is called in every report, and what it is for someone who has not met it before."""

from __future__ import annotations

import re

_WORDS = {
    "composite": ("composite", "the plain mean of four parts, in points of 100"),
    "accuracy": ("accuracy", "share of graded answers that are right"),
    "brier": (
        "Brier score",
        "mean squared distance between stated confidence and what came true; 0 is perfect, always saying 50 gives .25",
    ),
    "brier_skill": (
        "Brier skill",
        "how much better than always stating the share right; 0 is no better, 1 perfect, below 0 worse",
    ),
    "reliability": ("Murphy reliability", "the part of the Brier score that comes from miscalibration; low is good"),
    "resolution": ("Murphy resolution", "how far answers stated differently differ in how often they are right"),
    "uncertainty": ("Murphy uncertainty", "how hard the mix is: largest when half of the answers are right"),
    "corp_miscalibration": (
        "CORP miscalibration",
        "miscalibration against the best rising curve through the data, which needs no bins",
    ),
    "corp_discrimination": ("CORP discrimination", "how much of the uncertainty that curve takes away; high is good"),
    "gap": (
        "gap",
        "overconfidence: mean stated confidence minus share right; above 0 it is too sure, below 0 not enough",
    ),
    "gap_size": ("size of the gap", "the gap, whichever its direction; low is good"),
    "ece": (
        "ECE",
        "expected calibration error: mean distance of accuracy and stated confidence over ten bins of the scale; low "
        "is good, and never 0 in a small sample",
    ),
    "ece_equal_mass": ("ECE, bins of equal size", "the ECE with as many answers in each bin"),
    "ece_sweep": ("ECE, sweep", "the ECE with the most bins in which accuracy still rises with confidence"),
    "mce": ("MCE", "maximum calibration error: the distance in the worst bin that holds five answers or more"),
    "smooth_ece": ("smooth ECE", "calibration error with neighbouring answers weighed in, without bins"),
    "spiegelhalter_z": (
        "Spiegelhalter's Z",
        "a test of perfect calibration: beyond 2 either way, chance alone is no good explanation",
    ),
    "calibration_slope": ("calibration slope", "1 when confidence spreads as it should; below 1 it is too extreme"),
    "calibration_intercept": ("calibration intercept", "0 when calibrated; below 0 answers are right less than stated"),
    "discrimination": ("discrimination", "mean confidence of right answers minus that of wrong ones; high is good"),
    "auroc": ("AUROC", "chance that a right answer is stated surer than a wrong one; .5 tells nothing, 1 is perfect"),
    "aurc": ("AURC", "area under risk-coverage: mean error of the surest answers over every number kept; low is good"),
    "e_aurc": ("E-AURC", "the AURC above that of a perfect order of the same answers; low is good"),
    "augrc": ("AUGRC", "generalised risk: mean share of errors let through over all thresholds; low is good"),
    "error_at_coverage": ("wrong of surest {} %", "share wrong among the surest {} % of the answers"),
    "high_confidence_error": ("wrong at {} or more", "share wrong among answers stated at {} or more"),
    "threshold_score": (
        "threshold score {}",
        "a right answer counts 1, a wrong one costs what a threshold of {} % makes fair, silence costs nothing",
    ),
    "trap_abstention": ("trap rate", "share of questions without an answer on which it said so"),
    "trap_abstention_token_only": ("trap rate, agreed word", "the trap rate when only the agreed word counts"),
    "non_answer": ("non-answer rate", "share of answerable questions on which it abstained or refused"),
    "youden": ("Youden index", "trap rate less non-answer rate; 0 when it abstains blindly"),
    "abstention_f1": ("F1 of abstaining", "how well abstaining finds the traps, at this mix of traps and probes"),
    "missed_trap_confidence": ("confidence on missed traps", "mean confidence where it answered what has no answer"),
    "simpleqa_f": ("SimpleQA F", "balance of answering often and answering right; refusing and guessing both cost"),
    "omniscience": ("omniscience", "right minus wrong answers in points of 100; silence costs nothing"),
    "usable_share": ("usable share", "share of replies to probes that could be graded, abstained or refused"),
    "modal_share": ("commonest value", "share of answers with the same confidence; from 80 % it is an echo"),
    "distinct_values": ("distinct values", "how many different confidences it states"),
    "median_confidence": ("median confidence", "half of the answers are stated below it, half above"),
}


def measure_name(name: str) -> str:
    """Return what people call a measure, by its name in a summary; one that is not known keeps its name."""
    return _told(name)[0]


def measure_meaning(name: str) -> str:
    """Return in half a sentence what a measure is, or an empty text for one that is not known."""
    return _told(name)[1]


def _told(name: str) -> tuple[str, str]:
    numbered = re.fullmatch(r"(.+)_(\d+)", name)
    if numbered and numbered[1] in _WORDS:
        label, meaning = _WORDS[numbered[1]]
        return label.format(numbered[2]), meaning.format(numbered[2])
    return _WORDS.get(name, (name.replace("_", " "), ""))
