from pathlib import Path

import pytest

from selfdiag import safety
from selfdiag.safety import SelfdiagError
from selfdiag.settings import (
    api_key,
    cache_dir,
    config_dir,
    config_path,
    data_dir,
    key_variable,
    keys_path,
    paths,
    read_config,
    runs_dir,
    server_key,
)


def test_one_variable_moves_data_and_config_another_the_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SELFDIAG_HOME", str(tmp_path / "h"))
    monkeypatch.setenv("SELFDIAG_CACHE", str(tmp_path / "c"))
    assert data_dir() == tmp_path / "h"
    assert runs_dir() == tmp_path / "h" / "runs"
    assert config_dir().is_relative_to(tmp_path / "h")
    assert cache_dir() == tmp_path / "c"


def test_the_usual_folders_without_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SELFDIAG_HOME")
    monkeypatch.delenv("SELFDIAG_CACHE", raising=False)
    assert all("selfdiag" in str(path) for path in paths().values())


def test_a_services_key_and_a_servers_key_are_never_mistaken(monkeypatch: pytest.MonkeyPatch) -> None:
    assert api_key("openai") is None
    assert server_key("openai") is None
    monkeypatch.setenv("OPENAI_API_KEY", " usual ")
    assert api_key("openai") == "usual"
    assert server_key("openai") is None
    monkeypatch.setenv("SELFDIAG_OPENAI_API_KEY", "own")
    assert api_key("openai") == "usual"
    assert server_key("openai") == "own"


@pytest.mark.parametrize(
    ("provider", "own", "server"),
    [
        ("openai", "OPENAI_API_KEY", "SELFDIAG_OPENAI_API_KEY"),
        ("my-llm.2", "MY_LLM_2_API_KEY", "SELFDIAG_MY_LLM_2_API_KEY"),
        ("naïve", "NA_VE_API_KEY", "SELFDIAG_NA_VE_API_KEY"),
    ],
)
def test_a_keys_name_can_be_set_in_every_shell(provider: str, own: str, server: str) -> None:
    assert key_variable(provider) == own
    assert key_variable(provider, server=True) == server


def test_a_key_comes_from_the_environment_then_from_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    keys_path().parent.mkdir(parents=True)
    keys_path().write_text('OPENAI_API_KEY = " from-the-file "\nEMPTY_API_KEY = ""\n', encoding="utf-8")
    keys_path().chmod(0o600)
    assert api_key("openai") == "from-the-file"
    assert server_key("openai") is None
    assert api_key("empty") is None
    monkeypatch.setenv("OPENAI_API_KEY", "  ")
    assert api_key("openai") == "from-the-file"
    monkeypatch.setenv("OPENAI_API_KEY", "from-the-environment")
    assert api_key("openai") == "from-the-environment"


def test_every_key_that_is_read_is_kept_out_of_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safety, "_known_secrets", set())
    monkeypatch.setenv("SELFDIAG_OPENAI_API_KEY", "canary-one")
    keys_path().parent.mkdir(parents=True)
    keys_path().write_text('OPENAI_API_KEY = "canary-two"\n', encoding="utf-8")
    keys_path().chmod(0o600)
    api_key("openai")
    server_key("openai")
    assert safety.one_line("wrong key canary-one, or canary-two") == "wrong key [key], or [key]"


def test_a_home_that_is_no_folder_holds_no_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SELFDIAG_HOME", str(tmp_path / "file"))
    assert api_key("openai") is None


@pytest.mark.parametrize("text", ["a = ", "a = " + "[" * 100_000, "\x00", "a = 1\na = 2"])
def test_a_config_that_is_no_toml_is_told_in_one_line(text: str) -> None:
    config_dir().mkdir(parents=True)
    config_path().write_text(text)
    with pytest.raises(SelfdiagError, match=r"config\.toml is no TOML: ") as caught:
        read_config()
    assert "\n" not in str(caught.value)
