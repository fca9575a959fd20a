"""The app in tests: messages stay until they have been looked at, however slow the machine."""

import pytest

from selfdiag.tui.app import SelfdiagApp


@pytest.fixture(autouse=True)
def messages_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SelfdiagApp, "message_seconds", 600.0)
