"""A hostile server, a closed terminal, a full disk, odd names: told in one line, and nothing is lost."""

import json
import os
import signal
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from selfdiag.runs.store import read_run

CANARY = "sk-canary0123456789abcdef"


class Echo(BaseHTTPRequestHandler):
    """Answers with what it was sent, key included, and with escapes."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        said = f"\x1b[2J{self.headers['Authorization']}\u202e"
        content = json.dumps({"answer": said, "confidence": 90})
        choice = {"message": {"content": content}, "finish_reason": said}
        body = json.dumps({"choices": [choice], "model": said * 1000}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def echo():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    server.server_close()


def test_a_key_that_comes_back_is_kept_nowhere(selfdiag, tmp_path: Path, echo: str) -> None:
    words = ("run", "openai:x", "--base-url", echo, "--limit", "2", "--out", "run")
    done = selfdiag(*words, SELFDIAG_OPENAI_API_KEY=CANARY)
    assert done.returncode == 0, done.stderr
    told = done.stdout + done.stderr + selfdiag("report", "run", "--format", "md").stdout
    told += selfdiag("report", "run", "--format", "json").stdout + selfdiag("runs", "show", "run").stdout
    files = "".join(file.read_text() for file in (tmp_path / "run").iterdir())
    assert "canary" not in told + files
    assert "[key]" in files
    assert not {"\x1b", "\u202e"} & set(told)
    assert len((tmp_path / "run" / "manifest.json").read_bytes()) < 30_000


@pytest.mark.parametrize("where", ["stdout", "stderr"])
def test_a_full_or_closed_stream_is_no_crash(tmp_path: Path, where: str) -> None:
    command = [sys.executable, "-m", "selfdiag", "run", "persona:blind", "--limit", "2", "--out", str(tmp_path / "run")]
    with Path("/dev/full").open("w") as full:
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, where: full}
        done = subprocess.run(command, **streams, text=True, check=False)
    assert done.returncode in ({2} if where == "stdout" else {0})
    assert "Traceback" not in (done.stdout or "") + (done.stderr or "")
    assert len(read_run(tmp_path / "run").latest()) == 4


def test_a_reader_of_stderr_that_goes_does_not_end_the_run(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "selfdiag", "run", "persona:slow", "--limit", "8", "--out", str(tmp_path / "run")]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert child.stderr is not None
    child.stderr.close()
    assert child.wait(60) == 0
    assert len(read_run(tmp_path / "run").latest()) == 16


def test_all_streams_closed(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "selfdiag", "run", "persona:blind", "--limit", "2", "--out", str(tmp_path / "run")]
    done = subprocess.run(["/bin/sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *words], check=False)
    assert done.returncode == 0
    assert len(read_run(tmp_path / "run").latest()) == 4


@pytest.mark.parametrize(
    "words",
    [
        ["run", b"openai:\xff", "--base-url", "http://127.0.0.1:9"],
        ["run", "persona:blind", "--out", b"\xff"],
        ["run", "persona:blind", "--timeout", "inf"],
        ["run", "persona:blind", "--timeout", "nan"],
        ["run", "persona:blind", "--budget-seconds", "nan"],
        ["run", "persona:blind", "--example", "\u00b2"],
        ["run", "persona:blind", "--battery", "x" * 5000],
        ["run", "persona:blind", "--battery", "~nosuchuser/x.jsonl"],
        ["runs", "show", "x" * 5000],
        ["runs", "show", "~nosuchuser/x"],
        ["run", "persona:blind", "--base-url", "http://127.0.0.1:9"],
    ],
)
def test_odd_words_are_one_line(tmp_path: Path, words: list[str | bytes]) -> None:
    command = [sys.executable, "-m", "selfdiag", *words]
    done = subprocess.run(command, capture_output=True, cwd=tmp_path, check=False)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith(b"selfdiag: ")
    assert b"a fault in selfdiag itself" not in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_bad_certificates_name_the_variable(selfdiag) -> None:
    words = ("run", "openai:x", "--base-url", "https://example.invalid")
    done = selfdiag(*words, SSL_CERT_FILE="/nonexistent")
    assert done.returncode == 3
    assert "SSL_CERT_FILE" in done.stderr


def test_pipes_are_not_waited_for(selfdiag, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    assert "not a regular file" in selfdiag("run", "persona:blind", "--battery", "pipe.jsonl", timeout=20).stderr
    selfdiag("run", "persona:blind", "--limit", "1", "--out", "run")
    (tmp_path / "run" / "records.jsonl").unlink()
    os.mkfifo(tmp_path / "run" / "records.jsonl")
    assert selfdiag("report", "run", timeout=20).returncode == 2
    (tmp_path / "run" / "manifest.json").unlink()
    os.mkfifo(tmp_path / "run" / "manifest.json")
    assert selfdiag("report", "run", timeout=20).returncode == 2


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"started": "2', '"started": "nope2'),
        ('"item_id": "', '"item_id": "no-such-'),
        ('"prompt": "', '"prompt": "0'),
    ],
)
def test_a_manifest_that_does_not_fit_itself_is_damaged(selfdiag, tmp_path: Path, old: str, new: str) -> None:
    selfdiag("run", "persona:blind", "--limit", "2", "--out", "run")
    file = tmp_path / "run" / "manifest.json"
    file.write_text(file.read_text().replace(old, new))
    for words in (("report", "run"), ("runs", "show", "run"), ("run", "--resume", "run")):
        done = selfdiag(*words)
        assert done.returncode == 2
        assert "manifest.json is damaged" in done.stderr


def test_records_out_of_range_are_left_out_and_named(selfdiag, tmp_path: Path) -> None:
    selfdiag("run", "persona:blind", "--limit", "2", "--out", "run")
    file = tmp_path / "run" / "records.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    lines[0] = lines[0].replace('"confidence":95', '"confidence":950')
    lines[1] = lines[1].replace('"at":"2', '"at":"soon2')
    file.write_text("".join(lines))
    done = selfdiag("report", "run", "--format", "md")
    assert done.returncode == 0, done.stderr
    assert len(read_run(tmp_path / "run").problems) == 2


def test_one_damaged_run_does_not_hide_the_others(selfdiag, own_home: Path) -> None:
    selfdiag("run", "persona:blind", "--limit", "1")
    broken = own_home / "runs" / "20200101-000000-dead"
    broken.mkdir()
    (broken / "manifest.json").write_text("{}")
    listed = selfdiag("runs", "list")
    assert "damaged" in listed.stdout
    assert "persona:blind" in listed.stdout


def test_what_the_caller_ignores_stays_ignored(tmp_path: Path) -> None:
    run = tmp_path / "run"
    command = [sys.executable, "-m", "selfdiag", "run", "persona:slow", "--limit", "8", "--out", str(run)]

    def ignore() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=ignore)
    deadline = time.monotonic() + 30
    while not (run / "manifest.json").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    child.send_signal(signal.SIGHUP)
    assert child.wait(60) == 0
    assert len(read_run(run).latest()) == 16


def test_a_report_follows_links_and_writes_to_devices(selfdiag, tmp_path: Path) -> None:
    selfdiag("run", "persona:blind", "--limit", "1")
    (tmp_path / "real.md").write_text("old")
    (tmp_path / "link.md").symlink_to("real.md")
    assert selfdiag("report", "--format", "md", "-o", "link.md").returncode == 0
    assert (tmp_path / "link.md").is_symlink()
    assert (tmp_path / "real.md").read_text().startswith("# selfdiag")
    assert selfdiag("report", "-o", "/dev/null").returncode == 0
    assert not Path("/dev/null").is_file()


@pytest.mark.parametrize("form", ["text", "md", "json", "csv", "junit"])
def test_a_file_has_the_bytes_of_standard_output(selfdiag, echo: str, tmp_path: Path, form: str) -> None:
    env = {"OPENAI_API_KEY": CANARY}
    asked = selfdiag("run", "openai:x\u202ey", "--base-url", echo, "--out", "run", "--limit", "3", **env)
    assert asked.returncode == 0, asked.stderr
    printed = selfdiag("report", "run", "--format", form).stdout
    assert selfdiag("report", "run", "--format", form, "-o", "file").returncode == 0
    assert (tmp_path / "file").read_bytes() == printed.encode()
    assert "\u202e" not in printed


@pytest.mark.parametrize("name", ["-", "/dev/stdout"])
def test_standard_output_has_a_name(selfdiag, tmp_path: Path, name: str) -> None:
    selfdiag("run", "persona:blind", "--limit", "1", "--out", "run")
    done = selfdiag("report", "run", "--format", "csv", "-o", name)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == selfdiag("report", "run", "--format", "csv").stdout
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == []
    assert not Path("/dev/stdout-columns.csv").exists()
