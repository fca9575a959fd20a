"""The calls of a plan as they are made: each with its id, and every distinct prompt kept once."""

from __future__ import annotations

import hashlib

from selfdiag.elicit.prompts import PROMPT_VERSION, Prompt
from selfdiag.runs.records import PlannedCall, PromptText, RunSettings


class CallBook:
    """Collects the calls of a plan in order: ``systems`` and ``prompts`` hold each distinct text once."""

    def __init__(self, settings: RunSettings) -> None:
        self.settings = settings
        self.systems: dict[str, str] = {}
        self.prompts: dict[str, PromptText] = {}
        self.calls: list[PlannedCall] = []

    def add(
        self,
        section: str,
        item_id: str,
        prompt: Prompt,
        *,
        arm: str = "none",
        claim: int | None = None,
        claim_bin: str = "",
        labelled: bool = False,
        paraphrase: int = 0,
        replicate: int = 0,
        batch: int = 0,
        temperature: float | None = None,
        top_p: float | None = None,
    ) -> PlannedCall:
        """Plan one call and return it; the fields are those of ``PlannedCall``."""
        varied = (str(claim), claim_bin, str(labelled)) if claim is not None or labelled else ()
        call = PlannedCall(
            call_id=call_id(
                self.settings,
                section,
                item_id,
                arm=arm,
                paraphrase=paraphrase,
                replicate=replicate,
                varied=varied,
            ),
            item_id=item_id,
            section=section,
            arm=arm,
            claim=claim,
            claim_bin=claim_bin,
            labelled=labelled,
            paraphrase=paraphrase,
            replicate=replicate,
            batch=batch,
            prompt=self.note(prompt),
            temperature=temperature,
            top_p=top_p,
        )
        self.calls.append(call)
        return call

    def note(self, prompt: Prompt) -> str:
        """Keep a prompt's two texts, each distinct one once, and return its SHA-256."""
        key = hashlib.sha256(prompt.system.encode()).hexdigest()[:16]
        self.systems[key] = prompt.system
        name = prompt.sha256()
        self.prompts[name] = PromptText(system=key, user=prompt.user)
        return name


def call_id(
    settings: RunSettings,
    section: str,
    item_id: str,
    *,
    arm: str,
    paraphrase: int,
    replicate: int,
    varied: tuple[str, ...] = (),
) -> str:
    """Return the id of a call: the same for the same question in any run, order or schema mode.

    ``varied`` is whatever else tells two calls of one run apart.
    """
    parts = (
        settings.model,
        section,
        item_id,
        arm,
        str(paraphrase),
        str(replicate),
        PROMPT_VERSION,
        str(settings.example),
        *(() if "stated" in settings.confidence else ("answer alone",)),
        *varied,
        *(("rationale",) if settings.rationale else ()),
    )
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:20]
