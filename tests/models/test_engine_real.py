"""The real engine with the real embedded model. These run one at a time."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("xllamacpp")

from selfdiag.models import weights
from selfdiag.models.base import Call, ProviderOptions
from selfdiag.models.llamacpp import embedded, gguf
from selfdiag.protocols.assess import SECTIONS
from selfdiag.runs.records import RunSettings
from selfdiag.runs.session import Session
from selfdiag.runs.store import read_run
from selfdiag.safety import SelfdiagError

pytestmark = pytest.mark.engine

SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "string"}, "confidence": {"type": "integer"}},
    "required": ["answer", "confidence"],
}


def engines() -> set[int]:
    """Return the process ids of every engine that runs."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"selfdiag.models.engine_process" in words:
            found.add(int(folder.name))
    return found


@pytest.fixture(scope="module", autouse=True)
def model_is_here() -> Path:
    return weights.obtain(lambda line: print(line, file=sys.stderr))


async def test_the_real_model_answers_in_the_form_asked_for() -> None:
    async with embedded("", ProviderOptions()) as model:
        info = model.info()
        assert info.digest == f"sha256:{weights.SHA256}"
        assert not info.simulated
        call = Call(
            system='Reply with one JSON object with the keys "answer" and "confidence" (0-100).',
            user="What is the capital of France? One word.",
            schema=SCHEMA,
            max_tokens=64,
        )
        reply = await model.ask(call)
        document = json.loads(reply.text)
        assert isinstance(document["confidence"], int)
        assert reply.finish_reason == "stop"
        assert reply.served_name == "smollm2-135m"
        assert reply.completion_tokens
        again = await model.ask(call)
        assert again.text == reply.text
        cut = await model.ask(Call(system="Talk.", user="Tell a long story.", max_tokens=8))
        assert cut.finish_reason == "length"
        long = await model.ask(Call(system="x", user="word " * 5000, max_tokens=8))
        assert long.overflow
    assert not engines()


async def test_a_damaged_file_quotes_the_engine(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(b"GGUF" + b"\x03\x00\x00\x00" + b"\xff" * 2000)
    with pytest.raises(SelfdiagError, match="could not be loaded; the engine says: .+") as caught:
        async with gguf(str(damaged), ProviderOptions()):
            pass
    assert caught.value.exit_code == 3
    assert "\n" not in str(caught.value)
    assert not engines()


def _run(tmp_path: Path, *words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "selfdiag", "run", "embedded", "--out", str(tmp_path / "run"), *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _until(condition, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.005)
    return False


def test_the_engine_is_gone_within_two_seconds_of_a_kill(tmp_path: Path) -> None:
    process = _run(tmp_path)
    records = tmp_path / "run" / "records.jsonl"
    assert _until(lambda: records.exists() and records.stat().st_size > 0, 120)
    assert engines()
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert _until(lambda: not engines(), 2)


@pytest.mark.parametrize("pause", [0.0, 0.1, 0.4])
def test_the_engine_is_gone_when_the_kill_comes_while_it_loads(tmp_path: Path, pause: float) -> None:
    process = _run(tmp_path)
    assert _until(engines, 60)
    time.sleep(pause)  # the moment of the kill is what this test varies
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert _until(lambda: not engines(), 2)


def test_ctrl_c_reaches_the_parent_first_and_ends_in_order(tmp_path: Path) -> None:
    process = _run(tmp_path)
    records = tmp_path / "run" / "records.jsonl"
    assert _until(lambda: records.exists() and records.stat().st_size > 0, 120)
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130
    assert not engines()
    run = read_run(tmp_path / "run")
    assert run.problems == ()
    assert run.manifest.sessions[-1].outcome == "stopped"


def test_ctrl_c_while_the_model_loads(tmp_path: Path) -> None:
    process = _run(tmp_path)
    assert _until(engines, 60)
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130
    assert not engines()
    assert not (tmp_path / "run").exists() or not read_run(tmp_path / "run").records


def test_a_run_is_stopped_and_resumed_to_the_same_calls(selfdiag, tmp_path: Path) -> None:
    words = ("run", "embedded", "--limit", "3", "--seed", "2")
    whole = selfdiag(*words, "--out", "whole", "--json", timeout=300)
    assert whole.returncode == 0, whole.stderr
    summary = json.loads(whole.stdout)
    assert summary["model"]["provider"] == "embedded"
    assert summary["model"]["simulated"] is False
    assert summary["asked_with"]["structured"] == "on"
    undisturbed = read_run(tmp_path / "whole")
    copy = tmp_path / "run"
    copy.mkdir()
    (copy / "manifest.json").write_bytes((tmp_path / "whole" / "manifest.json").read_bytes())
    lines = (tmp_path / "whole" / "records.jsonl").read_bytes().splitlines(keepends=True)
    (copy / "records.jsonl").write_bytes(b"".join(lines[:7]) + lines[7][:20])
    resumed = selfdiag("run", "--resume", "run", timeout=300)
    assert resumed.returncode == 0, resumed.stderr
    assert "torn" in resumed.stderr
    run = read_run(copy)
    assert sorted(r.call_id for r in run.records) == sorted(r.call_id for r in undisturbed.records)
    said = {call_id: record.raw for call_id, record in undisturbed.latest().items()}
    assert {call_id: record.raw for call_id, record in run.latest().items()} == said


def test_an_openai_server_that_is_really_there(selfdiag, tmp_path: Path) -> None:
    program = (
        "import asyncio, sys\n"
        "from selfdiag.models.llamacpp import embedded\n"
        "from selfdiag.models.base import ProviderOptions\n"
        "async def serve():\n"
        "    async with embedded('', ProviderOptions()) as model:\n"
        "        server = model._server\n"
        "        print(server._url, server._wire._headers['Authorization'].split()[1], flush=True)\n"
        "        await asyncio.to_thread(sys.stdin.read)\n"
        "asyncio.run(serve())\n"
    )
    server = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        url, key = server.stdout.readline().split()
        words = ("run", "openai:some-name", "--base-url", url, "--limit", "1", "--structured", "on", "--json")
        done = selfdiag(*words, SELFDIAG_OPENAI_API_KEY=key, timeout=120)
        assert done.returncode == 0, done.stderr
        summary = json.loads(done.stdout)
        assert summary["model"]["served_name"] == "smollm2-135m"
        assert any("not 'some-name'" in note for note in summary["notes"])
        refused = selfdiag(*words, SELFDIAG_OPENAI_API_KEY="wrong-key-000", timeout=120)
        assert refused.returncode == 3
        assert "401" in refused.stderr
        assert "wrong-key" not in refused.stderr
        assert refused.stdout == ""
    finally:
        server.communicate("", timeout=30)


async def test_the_real_model_speaks_of_itself_and_is_tried(tmp_path: Path, selfdiag) -> None:
    # the command asks 63 items at least, which say nothing more here
    few = RunSettings(model="embedded", sections=SECTIONS, limit=6, instances=1, ratings=1, tasks=1)
    session = Session(few, folder=tmp_path / "run")
    async for _ in session.events():
        pass
    run = read_run(tmp_path / "run")
    assert len(run.planned()) == len(run.manifest.plan)
    assert all(record.error is None for record in run.planned())
    done = selfdiag("report", str(tmp_path / "run"), "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["schema"] == "selfdiag.assess/1"
    assert not found["model"]["simulated"]
    assert list(found["internal"]) == list(found["external"]) == ["x1", "x2", "x3", "x4", "x5"]
    for claimed, shown in zip(found["internal"].values(), found["external"].values(), strict=True):
        assert claimed["n"] == 1 or claimed["note"]
        assert (shown["value"] is None) == ("cannot say" in shown["note"] or "missing" in shown["note"])
    assert found["external"]["x1"]["denominator"] + found["external"]["x1"]["note"].count("left out") >= 10
    assert found["external"]["x3"]["denominator"] >= 3
    assert found["questionnaire"]["yes_rate"]["n"] <= 15


def test_a_claim_moves_the_real_model_and_only_the_claim_differs(selfdiag) -> None:
    done = selfdiag("microprobe", "embedded", "--item", "geography-01", "--json", "--plain", timeout=300)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    (item,) = found["items"]
    assert set(item["claims"]) == {"0", "95"}
    assert item["claims"]["95"]["confidence"] - item["claims"]["0"]["confidence"] >= 50
