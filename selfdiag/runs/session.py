"""One run from its settings to its last record: prepared, asked or resumed, and closed in order."""

from __future__ import annotations

import asyncio
import importlib.metadata
import platform
import shutil
import subprocess
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any

import msgspec

import selfdiag
from selfdiag.elicit.prompts import PROMPT_VERSION
from selfdiag.models import registry
from selfdiag.models.base import ModelInfo, Provider, ProviderOptions
from selfdiag.models.thinking import THINKING_TOKENS
from selfdiag.runs.engine import Engine
from selfdiag.runs.events import Answered, Event, Finished, Structured
from selfdiag.runs.plan import Plan, battery_of, make_plan, open_calls
from selfdiag.runs.records import FREE, Manifest, Record, RunSettings, Stretch
from selfdiag.runs.replies import rule_versions
from selfdiag.runs.shelf import remember_latest
from selfdiag.runs.store import RunWriter, new_run_id, read_manifest, read_run
from selfdiag.runs.turns import now
from selfdiag.safety import SelfdiagError, one_line
from selfdiag.settings import runs_dir

ROOM_BESIDE_THINKING = 2048
"""Tokens of context for prompt and answer beside a budget for thinking."""
_LIBRARIES = ("httpx", "msgspec", "numpy", "scipy", "xllamacpp", "ollama")


class Session:
    """The one way to execute a run, for every front end.

    Args:
        settings: what to ask; of a resumed run, its own settings with the free ones changed at will.
        folder: where a new run goes; a folder under the user's data folder when None.
        resume: the folder of a run to go on with.
        plan: the calls of an experiment; of the settings' own sections when None.
        waiting: told in a plain sentence when something takes long before the first call.
    """

    def __init__(
        self,
        settings: RunSettings,
        *,
        folder: Path | None = None,
        resume: Path | None = None,
        plan: Plan | None = None,
        waiting: Callable[[str], None] | None = None,
    ) -> None:
        self.settings = settings
        self.problems: tuple[str, ...] = ()
        self._resume = resume
        self._waiting = waiting
        self._engine: Engine | None = None
        self._stopped = False
        self._task: asyncio.Task[Any] | None = None
        self._git = ""
        if resume is None:
            self.run_id = new_run_id()
            self.folder = folder or runs_dir() / self.run_id
            self.plan = plan or make_plan(settings)
        else:
            manifest = read_manifest(resume)
            self.run_id = manifest.run_id
            self.folder = resume
            self.plan = plan_of(manifest)
            _same_settings(manifest, settings)

    def provider(self) -> Provider:
        """Build the provider that this run asks; nothing is connected yet."""
        options = ProviderOptions(
            base_url=self.settings.base_url,
            seed=self.settings.seed,
            battery=self.plan.asked(),
            assessed=self.plan.assessed,
            timeout=self.settings.timeout,
            num_ctx=self._num_ctx(),
            waiting=self._waiting,
        )
        return registry.build(self.settings.model, options)

    def _num_ctx(self) -> int:
        """Return the context to ask for: the one set, or more where the model thinks first."""
        if self.settings.think == "off":
            return self.settings.num_ctx
        # a reply that was cut gets twice the budget, and the context must not change within a run
        budget = 2 * max(self.settings.max_tokens or 0, THINKING_TOKENS)
        return max(self.settings.num_ctx, budget + ROOM_BESIDE_THINKING)

    def calls_left(self) -> int:
        """Return how many calls want a reply: all of a new run, of a resumed one those that have none."""
        if self._resume is None:
            return len(self.plan.calls)
        return len(open_calls(self.plan.calls, read_run(self._resume).latest()))

    def stop(self) -> None:
        """Stop cleanly; safe to call at any moment, also while a model loads."""
        self._stopped = True
        if self._engine is not None:
            self._engine.stop()
        elif self._task is not None:
            self._task.cancel()

    def pause(self) -> None:
        """Start no further call until ``go_on``."""
        if self._engine is not None:
            self._engine.pause()

    def go_on(self) -> None:
        """Go on after a pause."""
        if self._engine is not None:
            self._engine.go_on()

    async def events(self) -> AsyncGenerator[Event, None]:
        """Yield what happens, from ``Started`` to ``Finished``.

        Raises:
            SelfdiagError: when the run cannot begin; nothing is written then.
        """
        self._task = asyncio.current_task()
        provider = self.provider()
        try:
            self._git = await asyncio.to_thread(_git_state)
            await provider.__aenter__()
        except asyncio.CancelledError:
            if not self._stopped:
                raise
            if (task := asyncio.current_task()) is not None:
                task.uncancel()
            yield Finished(outcome="stopped")
            return
        try:
            writer, manifest, known = self._open(provider)
            with writer:
                async with aclosing(self._asked(provider, writer, manifest, known)) as events:
                    async for event in events:
                        yield event
        finally:
            await provider.__aexit__(None, None, None)

    async def _asked(
        self, provider: Provider, writer: RunWriter, manifest: Manifest, known: dict[str, Record]
    ) -> AsyncGenerator[Event, None]:
        remember_latest(self.folder)
        self._engine = Engine(
            self.plan,
            provider,
            writer,
            self.settings,
            max_tokens=manifest.max_tokens,
            known=known,
        )
        if self._stopped:
            self._engine.stop()
        outcome = "stopped"
        replies = self._resume is not None
        try:
            async with aclosing(self._engine.events()) as events:
                async for event in events:
                    if isinstance(event, Structured):
                        manifest = msgspec.structs.replace(manifest, structured="on" if event.on else "off")
                        writer.save(manifest)
                    elif isinstance(event, Answered):
                        replies = replies or event.record.error is None
                    elif isinstance(event, Finished):
                        outcome = event.outcome
                        break
                    yield event
        except BaseException:
            with suppress(SelfdiagError):  # what went wrong first is what must be told
                writer.save(_ended(manifest, provider, "stopped"))
            raise
        manifest = msgspec.structs.replace(manifest, max_tokens=self._engine.max_tokens)
        writer.save(_ended(manifest, provider, outcome))
        if outcome == "failed" and not replies:
            writer.discard()  # nothing was learnt: no half-made run stays
        yield Finished(outcome=outcome)

    def _open(self, provider: Provider) -> tuple[RunWriter, Manifest, dict[str, Record]]:
        chosen = self.settings.concurrency
        stretch = Stretch(started=now(), concurrency=str(chosen or provider.concurrency))
        if self._resume is None:
            manifest = self._manifest(provider, stretch)
            return RunWriter.create(self.folder, manifest), manifest, {}
        writer, run = RunWriter.resume(self._resume)
        try:
            self.problems = run.problems
            _same_model(run.manifest.model, provider.info())
            manifest = msgspec.structs.replace(run.manifest, sessions=(*run.manifest.sessions, stretch))
            writer.save(manifest)
        except BaseException:
            writer.close()
            raise
        return writer, manifest, run.latest()

    def _usual_budget(self, provider: Provider) -> int:
        thinks = self.settings.think != "off"
        return max(provider.max_tokens, THINKING_TOKENS) if thinks else provider.max_tokens

    def _manifest(self, provider: Provider, stretch: Stretch) -> Manifest:
        mode = self.settings.structured if provider.takes_schema else "off"
        return Manifest(
            run_id=self.run_id,
            selfdiag=selfdiag.__version__,
            settings=self.settings,
            model=provider.info(),
            battery=self.plan.battery,
            drawn=self.plan.drawn,
            check=self.plan.check,
            assessed=self.plan.assessed,
            injected=self.plan.injected,
            prompt_version=PROMPT_VERSION,
            systems=self.plan.systems,
            prompts=self.plan.prompts,
            plan=self.plan.calls,
            versions=_versions(),
            git=self._git,
            structured="undecided" if mode == "auto" else mode,
            max_tokens=self.settings.max_tokens or self._usual_budget(provider),
            sessions=(stretch,),
        )


def _ended(manifest: Manifest, provider: Provider, outcome: str) -> Manifest:
    last = msgspec.structs.replace(manifest.sessions[-1], ended=now(), outcome=outcome)
    return msgspec.structs.replace(manifest, model=provider.info(), sessions=(*manifest.sessions[:-1], last))


def plan_of(manifest: Manifest) -> Plan:
    """Return the plan that a manifest has frozen."""
    return Plan(
        battery=manifest.battery,
        drawn=manifest.drawn,
        check=manifest.check,
        assessed=manifest.assessed,
        injected=manifest.injected,
        systems=manifest.systems,
        prompts=manifest.prompts,
        calls=manifest.plan,
    )


def _same_settings(manifest: Manifest, settings: RunSettings) -> None:
    if manifest.selfdiag != selfdiag.__version__:
        raise SelfdiagError(
            f"this run was made with selfdiag {one_line(manifest.selfdiag, 40)}, this is {selfdiag.__version__}: "
            "its prompts and rules may differ, so it cannot be resumed; start a new run"
        )
    changed = [
        f"{field} was {_shown(manifest.settings, field)} and is now {_shown(settings, field)}"
        for field in RunSettings.__struct_fields__
        if field not in FREE and getattr(manifest.settings, field) != getattr(settings, field)
    ]
    if changed:
        raise SelfdiagError(
            f"this run was asked with other settings ({'; '.join(changed)}): "
            "resume it without that flag, or start a new run"
        )
    sha256 = battery_of(settings)[0].sha256()
    if sha256 != manifest.battery.sha256:
        raise SelfdiagError(
            f"the battery {one_line(manifest.battery.id, 80)!r} has changed since this run began (SHA-256 "
            f"{one_line(manifest.battery.sha256[:12])}, now {sha256[:12]}): start a new run"
        )


def _shown(settings: RunSettings, field: str) -> str:
    return one_line(repr(getattr(settings, field)), 200)


def _same_model(before: ModelInfo, today: ModelInfo) -> None:
    if before.digest and today.digest and before.digest != today.digest:
        raise SelfdiagError(
            f"the model {one_line(today.name, 80)!r} is another file now (digest {one_line(before.digest[:19])}, now "
            f"{one_line(today.digest[:19])}): start a new run"
        )


def _versions() -> dict[str, str]:
    versions = rule_versions() | {"python": platform.python_version(), "platform": platform.platform()}
    for library in _LIBRARIES:
        try:
            versions[library] = importlib.metadata.version(library)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


def _git_state() -> str:
    """Return the commit of the checkout selfdiag runs from, with ``+`` when it is changed; else empty."""
    root = Path(selfdiag.__file__).resolve().parent.parent
    git = shutil.which("git")
    if git is None or not (root / ".git").exists():
        return ""
    try:
        words = [git, "-C", str(root)]
        commit = _output([*words, "rev-parse", "--short=12", "HEAD"])
        return f"{commit}+" if commit and _output([*words, "status", "--porcelain"]) else commit
    except (OSError, subprocess.SubprocessError):
        return ""


def _output(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False)  # noqa: S603
    return done.stdout.strip() if done.returncode == 0 else ""
