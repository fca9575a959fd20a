"""From a model string to a provider, the built-in ones and others."""

import asyncio
import sys
import threading
import types
from collections.abc import Callable
from importlib.metadata import EntryPoint

import pytest

from selfdiag.models import registry
from selfdiag.models.base import FATAL, Listing, Provider, ProviderOptions, clipped
from selfdiag.models.persona import CHARACTERS, Persona
from selfdiag.safety import SelfdiagError, nearest

BUILT_IN = {"embedded", "gguf", "openai", "persona"}


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Pretend that packages with these providers are installed: name to ``module:attribute``."""

    def install(**points: str) -> None:
        built_in = [registry.providers()[name] for name in sorted(BUILT_IN)]
        foreign = [EntryPoint(name, value, registry.GROUP) for name, value in points.items()]
        monkeypatch.setattr(registry, "entry_points", lambda **_: [*foreign, *built_in])

    return install


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """An importable module named ``parrot_plugin``."""
    made = types.ModuleType("parrot_plugin")
    monkeypatch.setitem(sys.modules, "parrot_plugin", made)
    return made


def test_the_built_in_providers_are_found() -> None:
    names = list(registry.providers())
    assert set(names) >= BUILT_IN
    assert names == sorted(names)


@pytest.mark.parametrize(
    ("model", "parts"),
    [
        ("openai:gpt", ("openai", "gpt")),
        ("openai:org/model:7b-q4", ("openai", "org/model:7b-q4")),
        ("gguf:/models/a b.gguf", ("gguf", "/models/a b.gguf")),
        (" persona:blind ", ("persona", "blind")),
        ("embedded", ("embedded", "")),
        ("openai::", ("openai", ":")),
    ],
)
def test_a_name_keeps_its_own_colons(model: str, parts: tuple[str, str]) -> None:
    assert registry.split(model) == parts


@pytest.mark.parametrize(
    ("model", "hint"),
    [
        ("opanai:gpt", " Did you mean 'openai'?"),
        ("embeded", " Did you mean 'embedded'?"),
        ("penai:gpt", " Did you mean 'openai'?"),
        ("zzz:x", ""),
        ("", ""),
        (":x", ""),
        ("C:\\models\\a.gguf", ""),
    ],
)
def test_an_unknown_provider_is_named_with_a_hint(model: str, hint: str) -> None:
    with pytest.raises(SelfdiagError, match=r"a model is PROVIDER:NAME, with a provider of ") as caught:
        registry.split(model)
    message = str(caught.value)
    assert message.startswith(f"unknown model {model!r}: ")
    assert message.endswith(hint or ".")
    assert ("Did you mean" in message) is bool(hint)
    assert caught.value.exit_code == 2


def test_an_unknown_model_is_shown_as_one_harmless_line() -> None:
    with pytest.raises(SelfdiagError) as caught:
        registry.split("\x1b[2J" + "x" * 10_000 + "\n:y")
    assert len(str(caught.value)) < 300
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("model", ["openai", "openai:", "persona", "gguf:"])
def test_a_missing_name_is_asked_for(model: str) -> None:
    provider = model.rstrip(":")
    with pytest.raises(SelfdiagError, match=f"^'{provider}' needs a name: write {provider}:NAME$"):
        registry.split(model)


def test_embedded_needs_no_colon() -> None:
    with pytest.raises(SelfdiagError, match=r"^write 'embedded' without the colon$"):
        registry.split("embedded:")


def test_build_gives_the_provider() -> None:
    built = registry.build("persona:blind", ProviderOptions())
    assert isinstance(built, Provider)
    assert (built.info().provider, built.info().name) == ("persona", "blind")


def test_an_unknown_persona_is_named_with_a_hint() -> None:
    with pytest.raises(SelfdiagError, match=r"no persona 'blnd'.*Did you mean 'blind'\?$"):
        registry.build("persona:blnd", ProviderOptions())


def test_a_provider_of_another_package_is_found(installed: Callable[..., None], module: types.ModuleType) -> None:
    asked = []

    def factory(name: str, options: ProviderOptions) -> Persona:
        asked.append((name, options))
        return registry.build("persona:blind", options)  # type: ignore[return-value]

    module.factory = factory  # type: ignore[attr-defined]
    installed(parrot="parrot_plugin:factory")
    options = ProviderOptions(seed=7)
    assert registry.build("parrot:any:name", options).info().simulated
    assert asked == [("any:name", options)]
    with pytest.raises(SelfdiagError, match="Did you mean 'parrot'"):
        registry.split("parot:x")


@pytest.mark.parametrize(
    "point", ["no_such_module_anywhere:factory", "parrot_plugin:no_such_attribute", "parrot_plugin:__doc__.x"]
)
def test_a_provider_that_cannot_be_loaded_is_one_line(
    installed: Callable[..., None], module: types.ModuleType, point: str
) -> None:
    installed(parrot=point)
    with pytest.raises(SelfdiagError, match=r"^the provider 'parrot' cannot be loaded: .+$"):
        registry.build("parrot:x", ProviderOptions())


def test_an_offer_counts_where_nothing_can_be_looked_for(
    installed: Callable[..., None], module: types.ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    def factory(name: str, options: ProviderOptions) -> None: ...

    factory.__module__ = "parrot_plugin"
    module.factory = factory  # type: ignore[attr-defined]
    installed(parrot="parrot_plugin:factory", ruin="no_such_module_anywhere:factory")
    lines = {line.model: line for name in ("parrot", "ruin", "persona") for line in registry.discovered(name)}
    assert lines["parrot:NAME"] == Listing(model="parrot:NAME", ready=True)
    assert not lines["ruin:…"].ready
    assert "no_such_module_anywhere" in lines["ruin:…"].remark
    assert {f"persona:{name}" for name in CHARACTERS} <= set(lines)

    module.offer = lambda name: [Listing(model=f"{name}:polly", ready=False)]  # type: ignore[attr-defined]
    assert Listing(model="parrot:polly", ready=False) in registry.discovered("parrot")


def test_a_provider_whose_offer_fails_hides_no_other(
    installed: Callable[..., None], module: types.ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    def factory(name: str, options: ProviderOptions) -> None: ...

    def offer(name: str) -> list[Listing]:
        raise SelfdiagError("the file\nof keys \x1b[2J is damaged")

    factory.__module__ = "parrot_plugin"
    module.factory, module.offer = factory, offer  # type: ignore[attr-defined]
    installed(parrot="parrot_plugin:factory")
    lines = {line.model: line for line in registry.discovered()}
    assert lines["parrot:…"].remark == "the file of keys \\x1b[2J is damaged"
    assert lines["persona:blind"].ready


def test_discovery_asks_the_provider_itself(installed: Callable[..., None], module: types.ModuleType) -> None:
    def factory(name: str, options: ProviderOptions) -> None: ...

    async def discover(name: str) -> list[Listing]:
        return [Listing(model=f"{name}:\ud800b", ready=True), Listing(model=f"{name}:a", ready=False)]

    factory.__module__ = "parrot_plugin"
    module.factory, module.discover = factory, discover  # type: ignore[attr-defined]
    installed(parrot="parrot_plugin:factory")
    assert [line.model for line in registry.discovered("parrot")] == ["parrot:?b", "parrot:a"]
    with pytest.raises(SelfdiagError, match=r"^unknown provider 'parot': .* Did you mean 'parrot'\?$"):
        registry.discovered("parot")


def test_work_that_takes_too_long_is_left_behind() -> None:
    async def endless() -> None:
        await asyncio.to_thread(threading.Event().wait)

    async def failing() -> None:
        await asyncio.to_thread(lambda: 1 / 0)

    async def prompt() -> int:
        return await asyncio.to_thread(lambda: 7)

    with pytest.raises(TimeoutError):
        registry.run_briefly(endless(), 0.05)
    with pytest.raises(ZeroDivisionError):
        registry.run_briefly(failing(), 10)
    assert registry.run_briefly(prompt(), 10) == 7


def test_a_long_text_is_cut_and_marked() -> None:
    assert clipped("x" * 1_000_000) == "x" * 1_000_000
    assert clipped("x" * 1_000_001) == "x" * 1_000_000 + "\n[cut: 1 more characters]"


def test_a_hint_needs_likeness() -> None:
    assert nearest("blnd", ["blind", "slow"]) == " Did you mean 'blind'?"
    assert nearest("qqq", ["blind", "slow"]) == ""


def test_kinds_that_stop_a_run() -> None:
    assert sorted(FATAL) == ["config", "model_missing", "quota", "unauthorized"]
