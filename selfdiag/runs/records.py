"""The two files of a run: what a manifest and a record hold."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from selfdiag.battery.items import Battery, Probe
from selfdiag.battery.self_assessment import SelfAssessment
from selfdiag.elicit.citations import LookedUp
from selfdiag.elicit.grading import Outcome
from selfdiag.models.base import ModelInfo, Thinking

SCHEMA = "selfdiag.run/1"
RECORD_VERSION = 1
MEASURED_SECTIONS = ("probes", "traps")
QUESTIONNAIRE = "questionnaire"
SELF_PROFILE = "self-profile"
FRAMING = "framing"
TASKS = "tasks"
SELF_REPORTS = (QUESTIONNAIRE, SELF_PROFILE, FRAMING)
"""Sections in which the model speaks of itself; their replies have a value and are not graded."""
MICROPROBE = "microprobe"
ANCHOR = "anchor"
TOPICPASS = "topicpass"
LADDER = "ladder"
SWAP = "swap"
SELFSELECT = "selfselect"
"""The model picks one of two answers of its own."""
CANDIDATES = "candidates"
"""The answers among which it picks."""
EXPERIMENTS = (MICROPROBE, TOPICPASS, LADDER, SWAP, SELFSELECT)
"""Sections that make a kind of run by themselves."""
ANSWERED: Literal["answered"] = "answered"
"""Outcome of a reply that is read and not graded."""
STATEMENT_VALUES = (0.0, 0.5, 1.0)
"""What a reply to a statement of the questionnaire comes to: No, Partially or Yes."""
POSTHOC = "posthoc"
AGREEMENT = "agreement"
SOURCES = ("stated", "posthoc", "logprob", "agreement")
"""Where a confidence can come from; they are never pooled."""


class RunSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a run is asked with.

    The fields of ``FREE`` may change at any time; a resumed run must keep all others, which change what is asked or how
    it is read. ``confidence`` holds the sources to collect, of ``SOURCES``; the
    first is the one the measures speak of. ``impute`` is a confidence for replies that state none, in the
    attempted-as-wrong figures alone. ``instances`` are passes through the statements of the questionnaire,
    ``ratings`` those through the criteria of the self-profile, and ``tasks`` the scored elements of each criterion
    of the external profile; they count where their section is asked. ``weights`` of the criteria and ``years``, after
    which knowledge is not current at all, belong to the figures of an assessment.
    """

    model: str
    battery: str = "quick"
    sections: tuple[str, ...] = MEASURED_SECTIONS
    seed: int = 0
    fresh: int | None = None
    hardness: int | None = None
    paper_size: bool = False
    bins: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    limit: int | None = None
    example: int | None = None
    paraphrase: str = "one"
    repeat: int = 1
    structured: str = "auto"
    temperature: float = 0.0
    base_url: str = ""
    max_tokens: int | None = None
    num_ctx: int = 2048
    confidence: tuple[str, ...] = ("stated",)
    impute: Annotated[int, msgspec.Meta(ge=0, le=100)] | None = None
    think: Thinking = "off"
    concurrency: int | Literal["auto"] | None = None
    budget_seconds: float | None = None
    budget_tokens: int | None = None
    timeout: float = 300.0
    max_retries: int = 4
    judge: str = ""
    judge_base_url: str = ""
    instances: int = 5
    ratings: int = 30
    tasks: int = 40
    rationale: bool = False
    weights: str = "general"
    years: Annotated[float, msgspec.Meta(gt=0)] = 5.0


FREE: frozenset[str] = frozenset(
    {
        "concurrency",
        "budget_seconds",
        "budget_tokens",
        "timeout",
        "max_retries",
        "judge",
        "judge_base_url",
        "weights",
        "years",
    }
)
"""Settings that change neither what is asked nor how it is read."""


def kind_of(sections: tuple[str, ...]) -> str:
    """Return what kind of run these sections make: an experiment's name, ``assess``, or ``audit``."""
    if len(sections) == 1 and sections[0] in EXPERIMENTS:
        return sections[0]
    return "assess" if TASKS in sections else "audit"


class PlannedCall(msgspec.Struct, frozen=True, kw_only=True):
    """One call of the plan. ``prompt`` is the SHA-256 of its prompt, whose text the manifest holds once.

    ``arm`` is what stands in the profile slot: ``none``, ``claim`` (one line says ``claim`` percent for
    ``claim_bin``), or the arm of a ladder, whose profile the manifest holds and which says ``claim`` percent for the
    item's own topic. In the section ``anchor`` it is ``example`` and ``claim`` the value shown. ``batch`` numbers the
    stretches of a ladder's call order. A call that speaks of earlier answers has a prompt with a place for them; in the
    section ``selfselect`` ``arm`` is the order in which they are shown.
    ``temperature`` is None where the run's own holds, ``top_p`` where the provider's own does.
    """

    call_id: str
    item_id: str
    section: str
    arm: str = "none"
    claim: int | None = None
    claim_bin: str = ""
    labelled: bool = False
    paraphrase: int = 0
    replicate: int = 0
    batch: int = 0
    prompt: str
    temperature: float | None = None
    top_p: float | None = None


class PromptText(msgspec.Struct, frozen=True, kw_only=True):
    """The text of one prompt; ``system`` is a key into the manifest's ``systems``."""

    system: str
    user: str


class BatteryInfo(msgspec.Struct, frozen=True, kw_only=True):
    """Which battery was drawn from: its id, version and SHA-256 as a whole."""

    id: str
    version: str
    sha256: str


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """Why a call brought no reply: the kind of error and one plain line."""

    kind: str
    message: str


class Stretch(msgspec.Struct, frozen=True, kw_only=True):
    """One stretch of asking; a resumed run has several. Times are ISO 8601 in UTC.

    ``concurrency`` is how many calls were made at once, or ``auto``: on some servers it changes answers.
    """

    started: str
    ended: str = ""
    outcome: str = ""
    concurrency: str = ""


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """The run that has measured a profile.

    ``model`` is PROVIDER:NAME and ``digest`` what its server says of it, empty when unknown. ``fewest`` is the number
    of graded items behind the value that has the fewest, 0 when there is no value.
    """

    run_id: str
    model: str
    digest: str = ""
    fewest: int


class InjectedProfile(msgspec.Struct, frozen=True, kw_only=True):
    """A profile as a run put it before the model: claimed accuracy in percent by topic, None for ``n/a``.

    ``half`` is the half of the items it was shown with, None when it was shown with all. ``origin`` says in plain
    words where it comes from, ``gate`` whether its signature was verified, and ``measured`` which run has measured
    it, None for one that was made up.
    """

    arm: str
    half: int | None = None
    values: dict[str, int | None]
    origin: str = ""
    gate: str = ""
    measured: Provenance | None = None


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What was planned, with what, and how it went. It is complete before the first call.

    ``drawn`` holds the items of the audit itself, ``check`` the probes of other sections, ``assessed`` what a
    self-assessment asks, and ``injected`` the profiles put before the model. ``looked_up`` is what a resolver said of
    the DOIs in its replies, by DOI.
    """

    schema: str = SCHEMA
    run_id: str
    selfdiag: str
    settings: RunSettings
    model: ModelInfo
    battery: BatteryInfo
    drawn: Battery
    check: tuple[Probe, ...] = ()
    assessed: SelfAssessment | None = None
    injected: tuple[InjectedProfile, ...] = ()
    looked_up: dict[str, LookedUp] = {}
    prompt_version: str
    systems: dict[str, str]
    prompts: dict[str, PromptText]
    plan: tuple[PlannedCall, ...]
    versions: dict[str, str]
    git: str = ""
    structured: str = "undecided"
    max_tokens: int
    sessions: tuple[Stretch, ...] = ()


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """What a judge says of one answer: ``opinion`` is ``same``, ``different``, or None where it could not be read.

    ``version`` is that of the judge's prompt and rules; the tokens are None when its server counted none.
    """

    model: str
    served_name: str = ""
    version: str
    opinion: Literal["same", "different"] | None
    raw: str = ""
    calls: int = 1
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One reply or fault: one line of ``records.jsonl``.

    ``value`` is what a reply without a single right answer comes to, from 0 to 1: Yes 1, Partially .5 and No 0 of a
    questionnaire, the number of a rating, the share of right elements of a formal task.
    """

    v: int = RECORD_VERSION
    call_id: str
    item_id: str
    bin: str
    difficulty: str | None
    trap: bool
    family: str | None
    section: str
    arm: str = "none"
    claim: int | None = None
    claim_bin: str = ""
    labelled: bool = False
    paraphrase: int = 0
    replicate: int = 0
    structured: bool = False
    prompt_sha256: str
    raw: str = ""
    reasoning: str = ""
    answer: str | None = None
    confidence: Annotated[int, msgspec.Meta(ge=0, le=100)] | None = None
    confidence_source: str = "stated"
    token_confidence: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None
    parse: str = "none"
    flags: tuple[str, ...] = ()
    value: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None
    outcome: Outcome | Literal["answered"]
    judge: Judgement | None = None
    rule: str = ""
    finish_reason: str = ""
    latency_s: float = 0.0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    attempts: int = 1
    error: Fault | None = None
    at: str = ""
