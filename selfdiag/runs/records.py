"""The two files of a run: what a manifest and a record hold."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from selfdiag.battery.items import Battery, Probe
from selfdiag.elicit.grading import Outcome
from selfdiag.models.base import ModelInfo, Thinking

SCHEMA = "selfdiag.run/1"
RECORD_VERSION = 1
MEASURED_SECTIONS = ("probes", "traps")
POSTHOC = "posthoc"
AGREEMENT = "agreement"
SOURCES = ("stated", "posthoc", "logprob", "agreement")
"""Where a confidence can come from; they are never pooled."""


class RunSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a run is asked with.

    The fields up to ``think`` change what is asked or how it is read: a resumed run must keep them. The
    fields of ``FREE`` may change at any time. ``confidence`` holds the sources to collect, of ``SOURCES``; the
    first is the one the measures speak of.
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
    think: Thinking = "off"
    concurrency: int | Literal["auto"] | None = None
    budget_seconds: float | None = None
    budget_tokens: int | None = None
    timeout: float = 300.0
    max_retries: int = 4
    judge: str = ""
    judge_base_url: str = ""


FREE: frozenset[str] = frozenset(
    {"concurrency", "budget_seconds", "budget_tokens", "timeout", "max_retries", "judge", "judge_base_url"}
)
"""Settings that change neither what is asked nor how it is read."""


class PlannedCall(msgspec.Struct, frozen=True, kw_only=True):
    """One call of the plan. ``prompt`` is the SHA-256 of its prompt, whose text the manifest holds once.

    ``temperature`` is None where the run's own holds.
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
    prompt: str
    temperature: float | None = None


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


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What was planned, with what, and how it went. It is complete before the first call.

    ``drawn`` holds the items of the audit itself, ``check`` the probes of other sections.
    """

    schema: str = SCHEMA
    run_id: str
    selfdiag: str
    settings: RunSettings
    model: ModelInfo
    battery: BatteryInfo
    drawn: Battery
    check: tuple[Probe, ...] = ()
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
    """One reply or fault: one line of ``records.jsonl``."""

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
    outcome: Outcome
    judge: Judgement | None = None
    rule: str = ""
    finish_reason: str = ""
    latency_s: float = 0.0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    attempts: int = 1
    error: Fault | None = None
    at: str = ""
