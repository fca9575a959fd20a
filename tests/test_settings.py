from pathlib import Path

import pytest

from selfdiag.settings import api_key, cache_dir, config_dir, data_dir, paths, runs_dir, server_key


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
