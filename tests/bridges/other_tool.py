"""Pieces of the checks against other tools: an environment of their own, a scripted server, and the comparison."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import subprocess
import sys
import threading
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from http_stub import Answer, Request, Stub, completion  # noqa: E402

from selfdiag.battery.load import shipped  # noqa: E402
from selfdiag.elicit.prompts import RESPONSE_SCHEMA  # noqa: E402
from selfdiag.models import weights  # noqa: E402
from selfdiag.models.base import Call  # noqa: E402
from selfdiag.models.chat_request import request_of  # noqa: E402
from selfdiag.models.engine_lock import EngineLock  # noqa: E402
from selfdiag.models.persona import Persona  # noqa: E402

PERSONAS = ("overconfident", "underconfident", "abstainer", "refuser", "malformed", "hostile", "blind")
KEY = "no-secret"
OF_THE_SERVER = frozenset({"run_id", "model", "group"})
"""What a summary says of the place and not of the replies."""


@contextmanager
def personas() -> Iterator[Stub]:
    """Serve chat completions on loopback: the model's name is that of a persona, and it answers the whole battery."""
    asked = {name: Persona(name, shipped(), 0) for name in PERSONAS}

    def decide(request: Request) -> Answer:
        body = request.json()
        said = {message["role"]: message["content"] for message in body["messages"]}
        reply = asyncio.run(asked[body["model"]].ask(Call(system=said.get("system", ""), user=said["user"])))
        usage = {"prompt_tokens": reply.prompt_tokens, "completion_tokens": reply.completion_tokens, "total_tokens": 0}
        # half a surrogate pair has no UTF-8 form, and clients differ in what they make of it
        text = reply.text.encode("utf-8", "replace").decode()
        cut = text.startswith("{") and not text.rstrip().endswith("}")
        return completion(
            {"role": "assistant", "content": text},
            finish_reason="length" if cut else "stop",
            model=body["model"],
            usage=usage,
        )

    with Stub(decide=decide) as stub:
        yield stub


@contextmanager
def engine(purpose: str) -> Iterator[tuple[str, str]]:
    """Start the embedded model's server and yield its address and its key."""
    settings = {
        "parent": os.getpid(),
        "path": str(weights.obtain(print)),
        "alias": "embedded",
        "key": secrets.token_hex(16),
        "slots": 1,
        "threads": max((os.cpu_count() or 2) - 1, 1),
        "context": 2048,
    }
    lock = EngineLock()
    asyncio.run(lock.acquire(purpose, print))
    try:
        words = [sys.executable, "-m", "selfdiag.models.engine_process"]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT) as process:
            assert process.stdin is not None and process.stdout is not None
            process.stdin.write(json.dumps(settings).encode() + b"\n")
            process.stdin.flush()
            try:
                yield f"{json.loads(process.stdout.readline())['address']}/v1", settings["key"]
            finally:
                process.stdin.close()  # the engine ends when its input does
    finally:
        lock.release()


@contextmanager
def embedded_model(purpose: str) -> Iterator[Stub]:
    """Serve the embedded model's replies, held to a schema, on loopback; the same prompt gets the reply it got before.

    So two tools are compared on the same replies: asked in another order, the engine words some otherwise, because
    what it still knows of the prompt before changes its sums in the last digits.
    """
    said: dict[str, bytes] = {}
    one_at_a_time = threading.Lock()

    def decide(request: Request) -> Answer:
        body = request.json()
        texts = {message["role"]: message["content"] for message in body["messages"]}
        # a model this small keeps to no form without a schema
        call = Call(system=texts.get("system", ""), user=texts["user"], schema=RESPONSE_SCHEMA, max_tokens=128)
        prompt = json.dumps(texts)
        with one_at_a_time:
            if prompt not in said:
                asked = request_of("embedded", call)
                asked["response_format"] = body.get("response_format", asked["response_format"])
                reply = httpx.post(f"{url}/chat/completions", json=asked, headers=headers, timeout=300)
                said[prompt] = reply.raise_for_status().content
        return Answer(headers={"Content-Type": "application/json"}, body=said[prompt])

    with engine(purpose) as (url, key), Stub(decide=decide) as stub:
        headers = {"Authorization": f"Bearer {key}"}
        yield stub


def environment(folder: Path, *packages: str) -> Path:
    """Return the ``bin`` of a virtual environment with the packages; one that is there already is used as it is."""
    if not (folder / "bin").exists():
        venv.create(folder, with_pip=True)
        print(f"installing {', '.join(packages)} into {folder}")
        pip = [folder / "bin/pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *packages], check=True)
    return folder / "bin"


def command(*words: str | Path, cwd: Path, **env: str) -> str:
    """Run a command in a folder and return its standard output; a failure ends the check with what it said."""
    own = {"PATH": os.environ["PATH"], "HOME": str(cwd / "home"), "SELFDIAG_HOME": str(cwd / "home")}
    line = [str(word) for word in words]
    done = subprocess.run(line, cwd=cwd, env=own | env, capture_output=True, text=True, timeout=1800, check=False)
    if done.returncode:
        raise SystemExit(
            f"{' '.join(line)}\nended with {done.returncode}:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        )
    return done.stdout


def summary_of_run(work: Path, name: str, url: str, *flags: str) -> dict[str, Any]:
    """Return the summary of a run of our own against the same server."""
    words = (sys.executable, "-m", "selfdiag", "run", f"openai:{name}", "--base-url", url)
    text = command(*words, *flags, "--json", cwd=work, PYTHONPATH=str(ROOT), SELFDIAG_OPENAI_API_KEY=KEY)
    return json.loads(text)


def differences(one: Any, other: Any, ignored: frozenset[str] = frozenset(), place: str = "") -> list[str]:
    """Return where two documents differ, apart from what speaks of the place, the clock and the log itself."""
    if isinstance(one, dict) and isinstance(other, dict):
        names = [name for name in sorted({*one, *other}) if f"{place}{name}" not in OF_THE_SERVER | ignored]
        pairs = [(one.get(name), other.get(name), f"{place}{name}/") for name in names]
        return [found for pair in pairs for found in differences(pair[0], pair[1], ignored, pair[2])]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return [
            found
            for index, pair in enumerate(zip(one, other, strict=True))
            for found in differences(*pair, ignored, f"{place}{index}/")
        ]
    return [] if one == other else [f"{place[:-1]}: {str(one)[:150]} | {str(other)[:150]}"]


def tell(what: str, found: list[str]) -> bool:
    """Print whether two summaries are one, and return it."""
    print(f"{'equal' if not found else 'DIFFERENT'}: {what}", *found, sep="\n  ", flush=True)
    return not found
