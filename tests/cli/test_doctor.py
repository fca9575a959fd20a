"""What ``selfdiag doctor`` finds, and that it mends nothing and tells no key."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pexpect
import pytest
from http_stub import Answer, Stub, as_json

from selfdiag.cli import doctor
from selfdiag.models import weights

CANARY = "canary-5f1e0c77b2"
NOBODY = "127.0.0.1:9"
HEAVY = ("numpy", "scipy", "textual", "httpx", "ollama", "matplotlib", "rich", "msgspec", "asteval", "stamina")


@pytest.fixture
def found(selfdiag, tmp_path: Path):
    """Run the checks in a process of their own, with no Ollama server and no embedded model unless asked for."""

    def call(code: int = 0, **env: str) -> dict[str, list[dict[str, str]]]:
        given = {"OLLAMA_HOST": NOBODY, "SELFDIAG_CACHE": str(tmp_path / "cache"), **env}
        done = selfdiag("doctor", "--json", **given)
        assert done.returncode == code, done.stderr
        assert done.stderr == ""
        assert CANARY not in done.stdout
        by_topic: dict[str, list[dict[str, str]]] = {}
        for finding in json.loads(done.stdout):
            assert finding.keys() == {"state", "what", "said", "advice"}
            assert finding["state"] in {"ok", "warning", "fault"}
            by_topic.setdefault(finding["what"], []).append(finding)
        return by_topic

    return call


@pytest.mark.parametrize("command", ["keys", "doctor", "models"])
def test_help_loads_nothing_heavy(command: str) -> None:
    program = (
        f"import sys; sys.argv[1:] = [{command!r}, '--help']\n"
        "from selfdiag.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert end.code == 0\n"
        f"print('loaded:', *[name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stderr.strip() == "loaded:"


def test_a_sound_machine(found, own_home: Path) -> None:
    topics = found()
    assert list(topics) == [
        *("selfdiag", "packages", "terminal", "data", "runs", "config", "cache"),
        *("engine", "embedded", "ollama", "keys", "network", "clock"),
    ]
    assert "CPython" in topics["selfdiag"][0]["said"] or "PyPy" in topics["selfdiag"][0]["said"]
    for package in ("numpy ", "httpx ", "textual "):
        assert package in topics["packages"][0]["said"]
    states = {name: findings[0]["state"] for name, findings in topics.items() if name not in {"engine", "packages"}}
    assert {name for name, state in states.items() if state != "ok"} == {"ollama"}
    assert topics["data"][0]["said"].startswith(f"{own_home} (made when needed), ")
    assert topics["embedded"][0]["said"] == "not here (93 MB)"
    assert topics["keys"][0]["said"] == "none set"
    assert not own_home.exists()  # it only looks


def test_without_a_place_for_runs_it_cannot_be_used(found, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    topics = found(2, SELFDIAG_HOME=str(tmp_path / "file"))
    assert topics["data"][0]["state"] == topics["runs"][0]["state"] == "fault"
    assert topics["config"][0]["state"] == "warning"
    assert "no run can be kept" in topics["data"][0]["said"]
    assert "SELFDIAG_HOME" in topics["data"][0]["advice"]
    assert topics["clock"][0]["state"] == "ok"  # the others are checked all the same


def test_a_full_disk_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=5_000_000))
    found = {finding.what: finding for finding in doctor._folders()}
    assert found["cache"].state == "warning"
    assert "SELFDIAG_CACHE" in found["cache"].advice


def test_a_missing_package_is_a_fault_that_ends_it(found, tmp_path: Path) -> None:
    info = tmp_path / "site" / "selfdiag-9.dist-info"
    info.mkdir(parents=True)
    needs = ("no-such-package-anywhere>=2.5", "numpy>=999.1", "click>=8", "also-absent; extra == 'dev'")
    lines = ["Metadata-Version: 2.1", "Name: selfdiag", "Version: 9", *(f"Requires-Dist: {need}" for need in needs)]
    (info / "METADATA").write_text("\n".join(lines), encoding="utf-8")
    path = os.pathsep.join([str(tmp_path / "site"), os.environ.get("PYTHONPATH", "")])
    topics = found(2, PYTHONPATH=path)
    assert list(topics) == ["selfdiag", "packages"]
    missing, old, fine = topics["packages"]
    assert (missing["state"], missing["said"]) == ("fault", "no-such-package-anywhere is missing")
    assert missing["advice"] == 'python -m pip install "no-such-package-anywhere>=2.5"'
    assert old["state"] == "warning"
    assert old["said"].endswith("is older than 999.1")
    assert fine["said"].startswith("click 8")


def test_it_works_without_the_packages_it_checks(tmp_path: Path) -> None:
    for name in ("msgspec", "rich", "httpx", "platformdirs"):
        (tmp_path / f"{name}.py").write_text("raise ImportError\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "selfdiag", "doctor"], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.stderr == ""
    assert "warning  keys" in done.stdout
    assert "cannot be checked" in done.stdout


def test_an_ollama_server_is_named_with_its_version_and_address(found) -> None:
    with Stub(as_json({"version": "0.0.0"})) as server:
        topics = found(OLLAMA_HOST=f"0.0.0.0:{server.port}")
        assert [request.target for request in server.requests] == ["/api/version"]
    assert topics["ollama"][0]["state"] == "ok"
    said = topics["ollama"][0]["said"]
    assert said.startswith(f"version 0.0.0 at http://127.0.0.1:{server.port} (OLLAMA_HOST; 0.0.0.0 is where a server")


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (as_json({"hello": 1}), "what answers there is not Ollama"),
        (Answer(body=b"<html>login</html>"), "login"),
        (Answer(status=502, body=b"<html>Bad Gateway</html>"), "502"),
        (Answer(fault="silent"), "in time"),
        (Answer(fault="drip"), "in time"),
    ],
)
def test_what_is_no_ollama_server_is_a_warning(monkeypatch: pytest.MonkeyPatch, answer: Answer, told: str) -> None:
    if answer.fault:
        monkeypatch.setattr(doctor, "OLLAMA_SECONDS", 0.3)
    with Stub(answer) as server:
        monkeypatch.setenv("OLLAMA_HOST", f"127.0.0.1:{server.port}")
        (finding,) = doctor._ollama()
    assert finding.state == "warning"
    assert told in finding.said
    assert finding.said.isprintable()


def test_an_address_that_is_none_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", f"http://user:{CANARY}@host")
    (finding,) = doctor._ollama()
    assert finding.state == "warning"
    assert "OLLAMA_HOST" in finding.said
    assert CANARY not in finding.said


def test_nobody_else_is_called(found) -> None:
    with Stub(as_json({})) as proxy:
        url = f"http://{CANARY}:secret@127.0.0.1:{proxy.port}"
        topics = found(HTTP_PROXY=url, HTTPS_PROXY=url, ALL_PROXY=url, OPENAI_API_KEY=CANARY, ANTHROPIC_API_KEY=CANARY)
        assert proxy.requests == []
    said = topics["network"][0]["said"]
    assert "HTTP_PROXY, HTTPS_PROXY, ALL_PROXY set" in said
    assert "never to this one" in said  # the values stay unsaid
    assert str(proxy.port) not in said


@pytest.mark.parametrize(
    "proxy", [f"socks9://me:{CANARY}@127.0.0.1:1", f"http://me:{CANARY}@[::1", "http://127.0.0.1:port"]
)
def test_a_proxy_that_cannot_be_used_is_said_without_its_password(monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    (finding,) = doctor._network()
    assert finding.state == "warning"
    assert "ALL_PROXY" in finding.said
    assert CANARY not in finding.said


def test_what_certificate_variables_break_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nonexistent/ca.pem")
    monkeypatch.setenv("SSLKEYLOGFILE", "/dev/null")
    broken, leaking = doctor._network()
    assert broken.state == leaking.state == "warning"
    assert "SSL_CERT_FILE" in broken.said
    assert leaking.said.startswith("SSLKEYLOGFILE")


def test_keys_are_named_with_their_place(found, own_home: Path) -> None:
    file = own_home / "config" / "keys.toml"
    file.parent.mkdir(parents=True)
    file.write_text(f'OPENAI_API_KEY = "{CANARY}"\nSELFDIAG_OPENAI_API_KEY = true\nOTHER_API_KEY = "{CANARY}é"\n')
    file.chmod(0o600)
    topics = found(OPENAI_API_KEY=f"{CANARY}-env")
    assert [(finding["state"], finding["said"]) for finding in topics["keys"]] == [
        ("ok", "OPENAI_API_KEY for openai, environment"),
        ("ok", f"OPENAI_API_KEY for openai, {file} (not used: another comes first)"),
        ("warning", "SELFDIAG_OPENAI_API_KEY for openai with --base-url, system keyring: cannot be read"),
        ("warning", f"OTHER_API_KEY for no provider here, {file}: holds characters that no key has"),
    ]
    file.chmod(0o644)
    (refused,) = doctor._keys()
    assert refused.state == "warning"
    assert f"run chmod 600 {file}" in refused.said


def test_damaged_weights_are_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SELFDIAG_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "cache" / "models" / weights.FILE
    file.parent.mkdir(parents=True)
    file.write_bytes(b"GGUF")
    finding = next(finding for finding in doctor._embedded() if finding.what == "embedded")
    assert finding.state == "warning"
    assert finding.said == f"{file} is damaged: 4 bytes of 98,362,432"
    assert finding.advice == "selfdiag pull embedded"


@pytest.mark.parametrize(
    ("size", "env", "told"),
    [
        ((24, 60), {}, "warning  terminal  60 columns, 24 lines, colour, utf-8"),
        (
            (50, 132),
            {"NO_COLOR": "1", "PYTHONIOENCODING": "latin-1"},
            "warning  terminal  132 columns, 50 lines, no colour, iso8859-1",
        ),
    ],
)
def test_the_terminal_is_described(size: tuple[int, int], env: dict[str, str], told: str) -> None:
    clean = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "COLUMNS", "LINES"}}
    child = pexpect.spawn(
        sys.executable,
        ["-m", "selfdiag", "doctor"],
        dimensions=size,
        env={**clean, "TERM": "xterm", "PYTHONUTF8": "1", "OLLAMA_HOST": NOBODY, **env},
        encoding="latin-1",
        timeout=30,
    )
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    assert told in child.before
    assert max(map(len, child.before.splitlines())) <= size[1]
    assert "warning  ollama    http://127.0.0.1:9 (OLLAMA_HOST): no" in child.before
    assert "-> 'ollama serve' starts one here;" in child.before


def test_a_clock_before_selfdiags_own_files_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 86_400.0)
    (finding,) = doctor._clock()
    assert finding.state == "warning"
    assert finding.said.startswith("1970-01-02 00:00 UTC, earlier than")


def test_a_check_that_fails_does_not_hide_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", NOBODY)
    monkeypatch.setattr("selfdiag.models.weights.ready", lambda: 1 / 0)
    found = {finding.what: finding for finding in doctor.findings()}
    assert found["embedded"].said == "cannot be checked (division by zero)"
    assert found["clock"].state == "ok"
