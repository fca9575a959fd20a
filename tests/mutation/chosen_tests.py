"""A plugin of pytest for mutants: chosen tests in a chosen order, each with a limit of processor time.

With ``--times FILE`` it writes how long every test took instead, and makes functions that remember results for their
arguments forget them before each test, so that coverage says of each test what it runs.
"""

from __future__ import annotations

import functools
import inspect
import json
import resource
import signal
import sys
from collections import defaultdict
from pathlib import Path

import pytest

LOADING = 60.0
"""Seconds of processor time for loading the tests."""
SLOWER = 10.0
"""How many times its usual time a test may take, and the seconds that each may take beside it."""
MEMORY = 4 << 30
"""Bytes: what would ask for ever more fails instead."""


def limit(seconds: float) -> None:
    """Let the signal end this process after so many seconds of processor time; it needs no Python to run for that."""
    signal.setitimer(signal.ITIMER_PROF, seconds)


class Chosen:
    """Runs some of the tests, those first that come first in the file."""

    def __init__(self, tests: dict[str, float]) -> None:
        self.tests = tests
        self.order = {name: number for number, name in enumerate(tests)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted((one for one in items if one.nodeid in self.order), key=lambda one: self.order[one.nodeid])

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        limit(SLOWER + SLOWER * self.tests[item.nodeid])

    def pytest_sessionfinish(self) -> None:
        limit(0)


class Times:
    """Notes how long tests take and which fail."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.seconds: dict[str, float] = defaultdict(float)
        self.failed: set[str] = set()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        for name, module in sys.modules.items():
            if name.startswith("selfdiag."):
                for value in vars(module).values():
                    if isinstance(value, functools._lru_cache_wrapper) and inspect.signature(value).parameters:
                        value.cache_clear()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] += report.duration
        if report.failed:
            self.failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        self.file.write_text(json.dumps({"seconds": self.seconds, "failed": sorted(self.failed)}), encoding="utf-8")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--chosen", type=Path)
    parser.addoption("--times", type=Path)


def pytest_configure(config: pytest.Config) -> None:
    if chosen := config.getoption("--chosen"):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        limit(LOADING)
        config.pluginmanager.register(Chosen(json.loads(chosen.read_text(encoding="utf-8"))))
    if times := config.getoption("--times"):
        config.pluginmanager.register(Times(times))
