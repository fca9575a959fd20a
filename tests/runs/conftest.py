"""Runs against a provider whose replies a test writes."""

from pathlib import Path

import pytest
from scripted import Scripted

from selfdiag.models import registry
from selfdiag.runs.records import RunSettings
from selfdiag.runs.session import Session


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def begin(provider: Scripted, *, resume: Path | None = None, **settings: object) -> Session:
        monkeypatch.setattr(registry, "build", lambda model, options: provider)
        chosen = RunSettings(model="openai:scripted", **{"limit": 6, "max_retries": 0, **settings})
        return Session(chosen, folder=tmp_path / "run", resume=resume)

    return begin
