"""What the lab asks with: one model, kept at hand, asked one call at a time; every reply is remembered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

import selfdiag
from selfdiag.battery.draw import draw
from selfdiag.battery.items import Battery, Probe
from selfdiag.elicit.prompts import PROMPT_VERSION, SLOT_HEADING
from selfdiag.models import registry
from selfdiag.models.base import ModelInfo, Provider, ProviderError, ProviderOptions, Reply
from selfdiag.models.transport import RetryPolicy, ask_patiently
from selfdiag.protocols.claim_replies import ClaimReply, replies_of
from selfdiag.protocols.microprobe import Microprobe, microprobe_of
from selfdiag.protocols.microprobe_plan import claims_plan
from selfdiag.protocols.movable import Pick, pick, spread_of, trial_plan
from selfdiag.runs.calls import CallBook
from selfdiag.runs.claims import DOSES, add_claims, judged_claims
from selfdiag.runs.plan import Plan, battery_of
from selfdiag.runs.records import MICROPROBE, Manifest, PlannedCall, Record, RunSettings
from selfdiag.runs.store import Run
from selfdiag.runs.turns import Turns
from selfdiag.safety import one_line

CLOSING = 1.5
"""Seconds that a provider has to close before it is left to itself."""
DRAWS = 2
"""The set-level intervals of one item are not shown, so no time goes into them."""


class Dose(msgspec.Struct, frozen=True, kw_only=True):
    """One reply on the plot: the ``claim`` and the ``reply`` to it.

    ``own`` says that the claim stood on the line of the question's own topic, ``labelled`` that the question named
    its topic.
    """

    claim: int
    own: bool
    labelled: bool
    reply: ClaimReply


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt in its parts: the ``profile`` line by line, and the place of the one line that changes in it.

    ``label`` is the line that names the question's topic, empty where it is not named.
    """

    question: str
    label: str
    profile: tuple[str, ...]
    changing: int


class Bench:
    """One model and the questions that can be put to it.

    Args:
        model: PROVIDER:NAME.
        base_url: of its server.
        waiting: told in a plain sentence when something takes long, and when a call is asked again.

    Raises:
        SelfdiagError: for a model that is not known.
    """

    def __init__(self, model: str, base_url: str, waiting: Callable[[str], None]) -> None:
        self.settings = RunSettings(model=model, base_url=base_url, battery="full", sections=(MICROPROBE,))
        self._whole, size = battery_of(self.settings)
        drawn = draw(self._whole, size, seed=self.settings.seed, traps=False)
        self.probes = spread_of(drawn, len(drawn.probes), self.settings.seed)
        self.bins = self._whole.bins()
        self._waiting = waiting
        self._book = CallBook(self.settings)
        self._calls: dict[str, PlannedCall] = {}
        self._latest: dict[str, Record] = {}
        self._kept: list[Record] = []
        self._trial: Plan | None = None
        self._picked = ""
        self._structured: bool | None = None
        self._entered = False
        options = ProviderOptions(
            base_url=base_url,
            seed=self.settings.seed,
            battery=drawn,
            timeout=self.settings.timeout,
            num_ctx=self.settings.num_ctx,
            waiting=waiting,
        )
        self._provider: Provider = registry.build(model, options)

    @property
    def info(self) -> ModelInfo:
        """What is known of the model by now."""
        return self._provider.info()

    @property
    def asked(self) -> int:
        """How many calls have been made, those that brought a fault among them."""
        return len(self._kept)

    async def open(self) -> None:
        """Connect, or load the model; nothing happens when that is done already.

        Raises:
            SelfdiagError, ProviderError: when it cannot be asked.
        """
        if not self._entered:
            await self._provider.__aenter__()
            self._entered = True

    async def close(self) -> None:
        """Close the connection, or leave the engine; a provider that does not close in time is left to itself."""
        if self._entered:
            self._entered = False
            with suppress(TimeoutError, ProviderError, OSError):
                await asyncio.wait_for(self._provider.__aexit__(None, None, None), CLOSING)

    def call(self, probe: Probe, claim: int, *, own: bool, labelled: bool) -> PlannedCall | None:
        """Plan one call; None when there is no other topic for the claim to stand on.

        Args:
            probe: the question, in the wording that a run of the same seed asks.
            claim: claimed accuracy in percent.
            own: on the line of the question's topic, or else on another topic's.
            labelled: name the topic of the question.
        """
        book = self._planned(probe, (claim,), labelled=labelled)
        return next((self._note(book, call) for call in book.calls if (call.claim_bin == probe.bin) == own), None)

    def series(self, probe: Probe, *, labelled: bool) -> list[PlannedCall]:
        """Plan every dose on the question's own line, and the two that are judged on another's, not asked yet."""
        book = self._planned(probe, DOSES, labelled=labelled)
        planned = [self._note(book, call) for call in book.calls]
        return [call for call in planned if self._unread(call)]

    def trial(self, *, labelled: bool) -> list[PlannedCall]:
        """Plan the calls of a trial of many questions, from which ``chosen`` picks one, that were not asked yet."""
        plan = self._trial = trial_plan(self.settings, labelled=labelled)
        self._book.systems.update(plan.systems)
        self._book.prompts.update(plan.prompts)
        self._calls |= {call.call_id: call for call in plan.calls}
        return [call for call in plan.calls if self._unread(call)]

    def chosen(self) -> Pick:
        """Return the question of the trial whose confidence moves most, and how it was chosen."""
        assert self._trial is not None, "there was a trial"  # noqa: S101
        found = pick(self._run(self._trial.calls, self._trial.check))
        self._picked = found.item_id or ""
        return found

    async def ask(self, planned: PlannedCall) -> Record:
        """Ask one call and return its record, which is kept.

        The first reply decides whether a schema is used from then on: where it cannot be read as plain text, it is
        asked for again with one.

        Raises:
            SelfdiagError, ProviderError: when the model cannot be asked.
        """
        await self.open()
        if self._structured is None:
            record = await self._asked(planned, structured=False)
            self._structured = record.parse == "none" and self._provider.takes_schema
            if not self._structured:
                return record
            self._waiting("its plain reply could not be read: asking with a JSON schema from now on")
        return await self._asked(planned, structured=self._structured)

    async def _asked(self, planned: PlannedCall, *, structured: bool) -> Record:
        turns = Turns(self._plan([planned]), self.settings, ())
        call = turns.call(planned, structured=structured, max_tokens=self._provider.max_tokens)
        attempts = 1
        result: Reply | ProviderError
        try:
            policy = RetryPolicy(retries=self.settings.max_retries)
            result, attempts = await ask_patiently(self._provider, call, policy, self._retried)
        except ProviderError as error:
            result = error
        except Exception as error:  # noqa: BLE001 - a fault of any library is told, never a crash
            result = ProviderError("internal", one_line(f"{type(error).__name__}: {error}"))
        record = turns.record(planned, result, attempts=attempts, structured=structured)
        self._kept.append(record)
        if isinstance(result, ProviderError):
            raise result
        self._latest[planned.call_id] = record
        return record

    def doses(self, probe: Probe) -> list[Dose]:
        """Return every reply to a question, by rising claim, confidences on one scale."""
        calls = self._replied(probe)
        if not calls:
            return []
        replies, _ = replies_of(self._run(calls, (probe,)))
        found = [
            Dose(
                claim=call.claim or 0,
                own=call.claim_bin == probe.bin,
                labelled=call.labelled,
                reply=replies[call.call_id],
            )
            for call in calls
        ]
        return sorted(found, key=lambda dose: dose.claim)

    def verdict(self, probe: Probe, *, labelled: bool) -> Microprobe | None:
        """Return what a question shows, None below two claims on its own line.

        Args:
            probe: the question.
            labelled: judge the replies to the question with its topic named, or those without.
        """
        calls = self._replied(probe)
        own = [call for call in calls if call.claim_bin == probe.bin and call.labelled == labelled]
        claims = {call.claim or 0 for call in own}
        if len(claims) < 2:
            return None
        ends = set(judged_claims(sorted(claims)))
        at_ends = [call for call in calls if call.claim in ends]
        off_topic = [call for call in at_ends if call.claim_bin != probe.bin and call.labelled == labelled]
        bare = [call for call in at_ends if call.claim_bin == probe.bin and labelled and not call.labelled]
        # a control speaks of the item only where it was asked under both claims that are judged
        controls = [call for control in (off_topic, bare) if len(control) == len(ends) for call in control]
        # with every question tried beside it, its reader learns of how many it was chosen
        picked = self._trial is not None and probe.id == self._picked
        chosen_from = self._trial.check if self._trial is not None and picked else (probe,)
        return microprobe_of(self._run([*own, *controls], chosen_from), draws=DRAWS)

    def shown(self, planned: PlannedCall) -> Shown:
        """Return the prompt of a planned call in its parts."""
        text = self._book.prompts[planned.prompt]
        profile = self._book.systems[text.system].partition(SLOT_HEADING)[2].strip("\n").split("\n")
        label, question = text.user.split("\n", 1) if planned.labelled else ("", text.user)
        return Shown(
            question=question, label=label, profile=tuple(profile), changing=self.bins.index(planned.claim_bin)
        )

    def lines(self) -> bytes:
        """Return everything asked as JSON lines: each record with the model's name and whether it is simulated."""
        head = {"model": self.settings.model, "simulated": self.info.simulated}
        rows = (head | msgspec.to_builtins(record) for record in self._kept)
        return b"".join(msgspec.json.encode(row) + b"\n" for row in rows)

    def _replied(self, probe: Probe) -> list[PlannedCall]:
        found = [self._calls[call_id] for call_id in list(self._latest)]
        return [call for call in found if call.item_id == probe.id]

    def _planned(self, probe: Probe, claims: Sequence[int], *, labelled: bool) -> CallBook:
        book = CallBook(self.settings)
        add_claims(book, [probe], self.bins, claims=claims, labelled=labelled, unlabelled=False)
        return book

    def _note(self, book: CallBook, call: PlannedCall) -> PlannedCall:
        self._book.systems.update(book.systems)
        self._book.prompts.update(book.prompts)
        self._calls[call.call_id] = call
        return call

    def _unread(self, call: PlannedCall) -> bool:
        return call.call_id not in self._latest

    def _retried(self, attempt: int, error: ProviderError) -> None:
        self._waiting(f"asking again ({attempt}): {one_line(str(error))}")

    def _plan(self, calls: Sequence[PlannedCall]) -> Plan:
        book = CallBook(self.settings)
        book.systems, book.prompts, book.calls = self._book.systems, self._book.prompts, list(calls)
        return claims_plan(book, self._whole, self.probes)

    def _run(self, calls: Sequence[PlannedCall], probes: tuple[Probe, ...]) -> Run:
        """Return replies as the run that they would be, had they been asked as one."""
        plan = self._plan(calls)
        manifest = Manifest(
            run_id="lab",
            selfdiag=selfdiag.__version__,
            settings=self.settings,
            model=self.info,
            battery=plan.battery,
            drawn=Battery(id=self._whole.id, version=self._whole.version, probes=()),
            check=probes,
            prompt_version=PROMPT_VERSION,
            systems=plan.systems,
            prompts=plan.prompts,
            plan=plan.calls,
            versions={},
            max_tokens=self._provider.max_tokens,
        )
        records = [self._latest[call.call_id] for call in calls if call.call_id in self._latest]
        return Run(folder=Path(), manifest=manifest, records=tuple(records))
