"""No key is in anything that a person or a program sees, wherever it came from and whoever says it back."""

from __future__ import annotations

import asyncio
import base64
import html
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from http_stub import Answer, Request, Stub, as_json

from selfdiag import keys, safety
from selfdiag.cli.run import run as run_command
from selfdiag.models.base import MAX_TEXT, clipped
from selfdiag.runs.records import RunSettings
from selfdiag.runs.store import MANIFEST, RECORDS, read_manifest, read_run
from selfdiag.safety import one_line, redact, remember_secret, without_secrets
from selfdiag.settings import config_path, keys_path
from selfdiag.tui.app import SelfdiagApp

CANARY = "canary-5f1e0c77b2+d/9="
"""Shaped like no usual key, so that only knowing it can hide it; written in percents it looks otherwise."""
BEGINNING = CANARY[:6]
SERVER_KEYS = {
    "openai": "SELFDIAG_OPENAI_API_KEY",
    "anthropic": "SELFDIAG_ANTHROPIC_API_KEY",
    "gemini": "SELFDIAG_GEMINI_API_KEY",
    "ollama": "SELFDIAG_OLLAMA_API_KEY",
}
FORMATS = ("text", "md", "html", "json", "csv", "junit", "every-eval")

Words = Callable[[str], Any]


def of_openai(key: str) -> Any:
    reply = {"content": f'{{"answer": "{key}", "confidence": 90}}', "reasoning_content": f"I was sent {key}"}
    choice = {"finish_reason": key, "message": reply}
    return {"model": key, "system_fingerprint": key, "choices": [choice], "usage": {"completion_tokens": 3}}


def of_anthropic(key: str) -> Any:
    blocks = [{"type": "thinking", "thinking": f"I was sent {key}"}, {"type": "text", "text": f"{key}, 90 % sure"}]
    return {"model": key, "content": blocks, "stop_reason": key, "usage": {"output_tokens": 3}}


def of_gemini(key: str) -> Any:
    parts = [{"text": f"I was sent {key}", "thought": True}, {"text": f'{{"answer": "{key}", "confidence": 90}}'}]
    return {"modelVersion": key, "candidates": [{"content": {"parts": parts}, "finishReason": key}]}


def of_ollama(key: str) -> Any:
    said = {"role": "assistant", "content": f'{{"answer": "{key}", "confidence": 90}}', "thinking": f"I was sent {key}"}
    return {"model": key, "message": said, "done": True, "done_reason": key, "eval_count": 3}


REPLIES: dict[str, Words] = {
    "openai": of_openai,
    "anthropic": of_anthropic,
    "gemini": of_gemini,
    "ollama": of_ollama,
}


def sent_key(request: Request) -> str:
    """Return the key that came with a request, empty when none did."""
    headers = request.headers
    bearer = headers.get("authorization", "").removeprefix("Bearer ")
    return bearer or headers.get("x-api-key", "") or headers.get("x-goog-api-key", "")


class Echo(Stub):
    """A server that says back the key it was sent, in every place it has, and refuses every third question."""

    def __init__(self, provider: str) -> None:
        super().__init__(decide=self._answer)
        self._reply = REPLIES[provider]
        self._count = 0
        self.in_command_lines: list[str] = []

    def _answer(self, request: Request) -> Answer:
        key = sent_key(request)
        self.in_command_lines += command_lines_with(key)
        headers = {"X-Your-Key": key, "Set-Cookie": f"key={key}", "Server": key}
        if request.method == "GET":
            names = [{"name": f"m-{key}", "model": f"m-{key}", "id": key, "digest": key}, {"name": "m", "model": "m"}]
            return as_json({"version": key, "models": names, "data": names}, headers=headers)
        if request.target.endswith("/api/show"):
            told = {"parameter_size": key, "quantization_level": key}
            return as_json({"details": told, "model_info": {}, "capabilities": ["completion", key]}, headers=headers)
        self._count += 1
        if self._count % 6 == 3:
            page = f"<html><script>{key}</script><b title='{key}'>no</b> for Bearer {html.escape(key)}</html>"
            return Answer(status=500, headers={**headers, "Content-Type": "text/html"}, body=page.encode())
        if self._count % 6 == 0:
            return as_json({"error": {"message": f"odd key {key}", "type": key, "code": key}}, 500, headers)
        answer = as_json(self._reply(key), headers=headers)
        # what is a stream at one service is a document at the others, and ends with a line feed at all of them
        return Answer(headers=headers, body=answer.body + b"\n")


def command_lines_with(key: str) -> list[str]:
    """Return the command line of every process on this machine in which a key stands."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline") if key else ():
        try:
            words = file.read_bytes()
        except OSError:  # it has ended
            continue
        if key.encode() in words:
            found.append(words.decode("utf-8", "replace"))
    return found


def files_with(folder: Path, *, but: Path | None = None) -> list[str]:
    """Return the files below a folder that hold the canary, or the greater part of it."""
    there = [path for path in folder.rglob("*") if path.is_file() and path != but]
    assert there
    return [str(path) for path in there if BEGINNING.encode() in path.read_bytes()]


def process(folder: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "selfdiag", *words],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        cwd=folder,
        env={**os.environ, **env},
        check=False,
    )


@pytest.mark.parametrize("source", ["environment", "file", "keyring"])
def test_a_key_of_every_source_stays_hidden(tmp_path: Path, own_home: Path, source: str) -> None:
    env: dict[str, str] = {}
    if source == "environment":
        env["SELFDIAG_OPENAI_API_KEY"] = CANARY
    elif source == "file":
        keys.store(keys_path(), "SELFDIAG_OPENAI_API_KEY", CANARY)
    else:
        site = tmp_path / "site"
        site.mkdir()
        (site / "keyring.py").write_text(f"def get_password(*_):\n    return {CANARY!r}\n", encoding="utf-8")
        env["PYTHONPATH"] = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
        keys_path().parent.mkdir(parents=True)
        keys_path().write_text("SELFDIAG_OPENAI_API_KEY = true\n", encoding="utf-8")
        keys_path().chmod(0o600)
    work = tmp_path / "work"
    work.mkdir()
    with Echo("openai") as server:
        words = ("run", "openai:m", "--base-url", server.url, "--limit", "3", "--max-retries", "0", "--out", "run")
        done = process(work, *words, "--structured", "off", **env)
        assert {sent_key(request) for request in server.requests} == {CANARY}
    assert done.returncode == 4, done.stderr  # some calls were refused
    assert server.in_command_lines == []
    assert BEGINNING not in done.stdout + done.stderr
    assert files_with(work) == []
    assert files_with(own_home, but=keys_path()) == []
    assert "[key]" in (work / "run" / RECORDS).read_text(encoding="utf-8")


@pytest.fixture(params=list(REPLIES))
def echoed(request: pytest.FixtureRequest, selfdiag: Any, tmp_path: Path) -> tuple[str, str]:
    """A run that a server has answered with its key; the provider, and what the command has printed."""
    with Echo(request.param) as server:
        url = server.url.removesuffix("/v1") if request.param in {"ollama", "gemini"} else server.url
        words = ("run", f"{request.param}:m", "--base-url", url, "--limit", "4", "--max-retries", "0", "--out", "run")
        done = selfdiag(*words, "--structured", "off", **{SERVER_KEYS[request.param]: CANARY})
        assert CANARY in {sent_key(each) for each in server.requests}
    assert done.returncode == 4, done.stderr
    # what a report reads of it is then whatever the files hold, in a process that knows no key
    safety._known_secrets.clear()
    return request.param, done.stdout + done.stderr


def test_what_a_server_says_back_is_in_no_output(echoed: tuple[str, str], selfdiag: Any, tmp_path: Path) -> None:
    provider, told = echoed
    assert BEGINNING not in told
    records = read_run(tmp_path / "run").records
    assert sum("[key]" in record.raw for record in records) >= 3
    assert sum("[key]" in record.reasoning for record in records) >= 3
    assert {record.finish_reason for record in records if record.raw} <= {"[key]", "stop"}
    faults = [record.error.message for record in records if record.error is not None]
    assert faults and all("[key]" in message for message in faults)
    assert provider == "ollama" or read_manifest(tmp_path / "run").model.served_name == "[key]"
    for form in FORMATS:
        printed = selfdiag("report", "run", "--format", form)
        assert printed.returncode == 0, printed.stderr
        assert BEGINNING not in printed.stdout + printed.stderr, form
        assert selfdiag("report", "run", "--format", form, "-o", f"file.{form}").returncode == 0
    for words in (
        ("runs", "show", "run"),
        ("runs", "show", "run", "--json"),
        ("runs", "list", "--json"),
        ("analyze", "run", "--json"),
        ("analyze", f"run/{RECORDS}"),
        ("analyze", "run", "--regrade"),
        ("compare", "run", "run", "--format", "html", "-o", "comparison.html"),
        ("compare", "run", "run", "--json"),
    ):
        printed = selfdiag(*words)
        assert printed.returncode == 0, (words, printed.stderr)
        assert BEGINNING not in printed.stdout + printed.stderr, words
    printed = selfdiag("profile", "export", "run")
    assert BEGINNING not in printed.stdout + printed.stderr
    assert files_with(tmp_path) == []


def test_a_model_list_that_holds_the_key(selfdiag: Any) -> None:
    with Echo("ollama") as server:
        env = {"OLLAMA_HOST": f"127.0.0.1:{server.port}", "SELFDIAG_OLLAMA_API_KEY": CANARY}
        for words in (("models",), ("models", "--json"), ("doctor",), ("doctor", "--json"), ("keys", "list", "--json")):
            done = selfdiag(*words, **env)
            assert BEGINNING not in done.stdout + done.stderr, words
        assert {sent_key(request) for request in server.requests} == {CANARY}
        assert "ollama:m " in selfdiag("models", **env).stdout


ADDRESSES = (
    "http://someone:{key}@127.0.0.1:{port}/v1",
    "someone:{key}@127.0.0.1:{port}",
    "http://someone:{key}%40127.0.0.1:{port}",
    "http://127.0.0.1:{port}/v1?key={key}",
    "http://127.0.0.1:{port}/v1?api-version=1&access_token={key}",
    "127.0.0.1:{port}#{key}",
    "ftp://127.0.0.1:{port}/?{key}",
)


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("provider", ["openai", "ollama"])
def test_an_address_with_a_key_is_refused_without_showing_it(
    selfdiag: Any, tmp_path: Path, address: str, provider: str
) -> None:
    with Echo(provider) as server:
        url = address.format(key=CANARY.replace("/", ""), port=server.port)
        told = [selfdiag("run", f"{provider}:m", "--base-url", url)]
        if address == ADDRESSES[0]:
            told += [
                selfdiag("run", f"{provider}:m", "--base-url", url, "--dry-run"),
                selfdiag("assess", f"{provider}:m", "--base-url", url),
                selfdiag("run", "persona:blind", "--judge", f"{provider}:m", "--judge-base-url", url),
            ]
        assert {done.returncode for done in told} == {2}
        if provider == "ollama":
            told += [selfdiag("models", "--provider", "ollama", OLLAMA_HOST=url)]
            told += [selfdiag("doctor", OLLAMA_HOST=url)] if address == ADDRESSES[0] else []
        for done in told:
            assert BEGINNING not in done.stdout + done.stderr
        assert server.requests == []
    assert not list(tmp_path.rglob(MANIFEST))


def test_a_password_of_a_proxy_stays_hidden(selfdiag: Any, tmp_path: Path) -> None:
    spelled = CANARY.replace("/", "").replace("+", "").replace("=", "")
    token = base64.b64encode(f"someone:{spelled}".encode()).decode()

    def refuse(request: Request) -> Answer:
        given = request.headers.get("proxy-authorization", "")
        assert given == f"Basic {token}"
        said = f"no entry for Proxy-Authorization: {given} at http://someone:{spelled}@127.0.0.1"
        return as_json({"error": {"message": said}}, 407)

    with Stub(decide=refuse) as proxy:
        words = ("run", "openai:m", "--max-retries", "0", "--limit", "1", "--out", "run", "--base-url")
        env = {"HTTP_PROXY": f"http://someone:{spelled}@127.0.0.1:{proxy.port}", "SELFDIAG_OPENAI_API_KEY": CANARY}
        done = selfdiag(*words, "http://example.invalid/v1", **env)
        assert proxy.requests
    assert "[key]" in done.stderr
    assert BEGINNING not in done.stdout + done.stderr
    assert token not in done.stdout + done.stderr
    for proxied in (
        "http://someone:{}@127.0.0.1:1",
        "http://someone:{}/x@127.0.0.1:1",
        "http://someone:{}@[::1",
        "socks9://someone:{}@127.0.0.1:1",
    ):
        done = selfdiag(*words, "https://example.invalid", HTTPS_PROXY=proxied.format(spelled))
        assert done.returncode in {2, 3}
        assert BEGINNING not in done.stdout + done.stderr
    assert not (tmp_path / "run").exists()


CONFIGS = (
    f'OPENAI_API_KEY = "{CANARY}\n',
    f"OPENAI_API_KEY = {CANARY}\n",
    f"{CANARY}\n",
    f'[app]\nkey = "{CANARY}"\nkey = "{CANARY}"\n',
    f'[app]\nascii = "{CANARY}"\n',
)
"""A key written where none belongs, in a file that cannot be read for that very reason."""


@pytest.mark.parametrize("text", CONFIGS)
async def test_a_key_in_the_config_file_is_not_told_with_what_is_wrong_there(selfdiag: Any, text: str) -> None:
    config_path().parent.mkdir(parents=True)
    config_path().write_text(text, encoding="utf-8")
    app = SelfdiagApp()
    assert "config.toml" in app.trouble
    assert BEGINNING not in app.trouble
    if text != CONFIGS[0]:
        return
    async with app.run_test(size=(100, 30), notifications=True) as pilot, asyncio.timeout(30):
        while "no TOML" not in shown(app):
            await pilot.pause(0.05)
        assert BEGINNING not in shown(app)
    done = selfdiag("run", "persona:blind", "--dry-run")
    assert BEGINNING not in done.stdout + done.stderr


FOREIGN = """
import asyncio, gc, logging, threading, warnings
from selfdiag.models.base import Listing, ModelInfo, ProviderError, Reply
from selfdiag.safety import SelfdiagError
from selfdiag.settings import api_key

class Model:
    concurrency, takes_schema, max_tokens = 1, False, 50

    def __init__(self, how):
        self.how, self.key = how, api_key("foreign")

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        return None

    async def ask(self, call):
        key, how = self.key, self.how
        if how == "raises":
            raise ValueError(f"no good: {key}")
        if how == "refuses":
            raise ProviderError("provider", f"no good: {key}")
        if how == "chain":
            try:
                {}[key]
            except KeyError as error:
                raise ProviderError("unauthorized", key) from error
        if how == "beside":
            self.beside(key)
            await asyncio.sleep(0.01)
            gc.collect()
        return Reply(text='{"answer": "x", "confidence": 50}', finish_reason=key, served_name=key)

    def beside(self, key):
        async def task():
            raise ValueError(f"in a task: {key}")

        def thread():
            raise ValueError(f"in a thread: {key}")

        class Dying:
            def __del__(self):
                raise ValueError(f"at its end: {key}")

        asyncio.ensure_future(task())
        started = threading.Thread(target=thread)
        started.start()
        started.join()
        Dying()
        warnings.warn(f"a warning: {key}")
        logging.getLogger("foreign").error("a log line: %s", key)

    def info(self):
        return ModelInfo(provider="foreign", name=self.how, served_name=self.key, digest=self.key, server=self.key,
                         remote=True, details={"size": self.key, self.key: "x"})

def provider(name, options):
    if name == "never":
        raise RuntimeError("cannot: " + api_key("foreign"))
    if name == "said":
        raise SelfdiagError("cannot: " + api_key("foreign"))
    return Model(name)

async def discover(name):
    key = api_key("foreign")
    return [Listing(model=f"foreign:{key}", ready=True, remark=key, details={"size": key, key: key})]
"""


@pytest.fixture
def foreign(tmp_path: Path) -> dict[str, str]:
    """The environment in which a provider of another package is installed, which is careless with its key."""
    site = tmp_path / "site"
    info = site / "foreign-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: foreign\nVersion: 1\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[selfdiag.providers]\nforeign = foreign:provider\n", encoding="utf-8")
    (site / "foreign.py").write_text(FOREIGN, encoding="utf-8")
    path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    return {"PYTHONPATH": path, "FOREIGN_API_KEY": CANARY}


@pytest.mark.parametrize(
    ("how", "code", "words"),
    [
        ("beside", 0, ("in a task: [key]", "in a thread: [key]", "at its end: [key]", "warning: [key]", "line: [key]")),
        ("raises", 4, ()),
        ("refuses", 4, ()),
        ("chain", 3, ("[key]",)),
        ("never", 4, ("RuntimeError", "cannot: [key]")),
        ("said", 2, ("selfdiag: cannot: [key]",)),
    ],
)
def test_what_a_careless_provider_lets_slip(
    tmp_path: Path, own_home: Path, foreign: dict[str, str], how: str, code: int, words: tuple[str, ...]
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    done = process(work, "run", f"foreign:{how}", "--limit", "1", "--max-retries", "0", "--out", "run", **foreign)
    assert done.returncode == code, done.stderr
    assert all(word in done.stderr for word in words), done.stderr
    assert BEGINNING not in done.stdout + done.stderr
    if how != "beside":
        assert "Traceback" not in done.stderr
    if (work / "run").exists():
        assert files_with(work) == []
        faults = [record.error for record in read_run(work / "run").records]
        assert all(fault is None or "[key]" in fault.message for fault in faults)
        model = read_manifest(work / "run").model
        assert (model.served_name, model.digest, model.server) == ("[key]",) * 3
        assert model.details == {"size": "[key]", "[key]": "x"}
    assert not own_home.exists() or files_with(own_home) == []


def test_what_a_careless_provider_lists(tmp_path: Path, foreign: dict[str, str]) -> None:
    done = process(tmp_path, "models", "--provider", "foreign", "--json", **foreign)
    assert json.loads(done.stdout)[0]["model"] == "foreign:[key]"
    assert BEGINNING not in done.stdout + done.stderr


ENGINE = """
import json, os, pathlib, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

def words(pid):
    return pathlib.Path(f"/proc/{pid}/cmdline").read_text()

class CommonParams(SimpleNamespace):
    def __init__(self):
        super().__init__(model=SimpleNamespace(), cpuparams=SimpleNamespace(), cpuparams_batch=SimpleNamespace())

class Answer(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        said = json.dumps({"answer": self.headers["Authorization"], "confidence": 50})
        body = json.dumps({"model": self.headers["Authorization"], "choices": [{"message": {"content": said}}]})
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_):
        return

class Server:
    def __init__(self, params):
        (key,) = params.api_keys
        server = ThreadingHTTPServer((params.hostnames[0], params.port), Answer)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.listening_address = f"http://{params.hostnames[0]}:{server.server_address[1]}"
        told = {"key": key, "hosts": params.hostnames, "words": words("self") + words(os.getppid())}
        pathlib.Path(os.environ["ENGINE_TOLD"]).write_text(json.dumps(told))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="command lines are read from /proc")
def test_the_key_of_the_engine_is_in_no_command_line_and_no_file(tmp_path: Path, own_home: Path) -> None:
    for name in ("site", "work", "temporary"):
        (tmp_path / name).mkdir()
    (tmp_path / "site" / "xllamacpp.py").write_text(ENGINE, encoding="utf-8")
    model = tmp_path / "x.gguf"
    model.write_bytes(b"GGUF")
    env = {
        "PYTHONPATH": os.pathsep.join([str(tmp_path / "site"), os.environ.get("PYTHONPATH", "")]),
        "TMPDIR": str(tmp_path / "temporary"),  # the machine's real engine has its lock elsewhere
        "ENGINE_TOLD": str(tmp_path / "told.json"),
    }
    words = ("run", f"gguf:{model}", "--limit", "2", "--structured", "off", "--out", "run")
    done = process(tmp_path / "work", *words, **env)
    assert done.returncode == 0, done.stderr
    told = json.loads((tmp_path / "told.json").read_text(encoding="utf-8"))
    assert told["hosts"] == ["127.0.0.1"]
    assert len(told["key"]) >= 32
    assert "selfdiag.models.engine_process" in told["words"]
    assert told["key"] not in told["words"] + done.stdout + done.stderr
    for folder in ("work", "temporary", "home"):
        for path in (tmp_path / folder).rglob("*"):
            assert not path.is_file() or told["key"].encode() not in path.read_bytes(), path
    assert "[key]" in (tmp_path / "work" / "run" / RECORDS).read_text(encoding="utf-8")


def shown(app: SelfdiagApp) -> str:
    """Return what stands on the screen, and its picture."""
    lines = [strip.text for strip in app.screen._compositor.render_strips()]
    return "\n".join([*lines, app.export_screenshot().replace("&#160;", " ")])


async def test_a_key_that_comes_back_is_on_no_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SELFDIAG_OPENAI_API_KEY", CANARY)
    seen: list[str] = []
    with Echo("openai") as server:
        app = SelfdiagApp()
        async with app.run_test(size=(120, 50), notifications=True) as pilot, asyncio.timeout(30):
            settings = RunSettings(
                model="openai:m", base_url=server.url, limit=4, max_retries=1, structured="off", concurrency=1
            )
            app.open_run(settings)
            while not (seen and "[key]" in seen[-1] and len(server.requests) >= 8):
                await pilot.pause(0.05)
                seen.append(shown(app))
    assert BEGINNING not in "".join(seen)


def test_no_flag_shows_more_than_usual() -> None:
    names = {name for parameter in run_command.params for name in parameter.opts}
    assert names.isdisjoint({"-v", "--verbose", "--debug", "--trace", "--log-level", "--key", "--api-key"})


def test_a_cut_leaves_no_half_of_a_key() -> None:
    remember_secret(CANARY)
    for before in range(3990, 4000):
        assert BEGINNING not in one_line(" " * before + CANARY, 200)
    for before in range(MAX_TEXT - len(CANARY), MAX_TEXT):
        assert BEGINNING not in without_secrets(clipped("x" * before + CANARY))


def test_a_key_that_begins_with_another_is_hidden_whole() -> None:
    for short, long in (("canary-1", "canary-1-and-more"), ("canary-2-and-more", "canary-2")):
        remember_secret(short)
        remember_secret(long)
    assert without_secrets("canary-1-and-more canary-2-and-more canary-1") == "[key] [key] [key]"


def test_a_key_in_percents_is_a_key() -> None:
    remember_secret(CANARY)
    assert without_secrets("canary-5f1e0c77b2%2Bd%2F9%3D") == "[key]"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"GET http://me:{BEGINNING}@h/v1 failed", "GET http://[key]@h/v1 failed"),
        (f"https://h/v1?key={BEGINNING}&alt=sse", "https://h/v1?key=[key]&alt=sse"),
        (f"/v1?a=b&access_token={BEGINNING}", "/v1?a=b&access_token=[key]"),
        (f"Authorization: Basic {BEGINNING}", "Authorization: Basic [key]"),
        ("http://h/v1 and someone@example.org", "http://h/v1 and someone@example.org"),
        ("https://h/a?keys=1&b=c", "https://h/a?keys=1&b=c"),
    ],
)
def test_an_address_shows_no_key(text: str, shown: str) -> None:
    assert redact(text) == shown


def test_stderr_is_watched_while_other_threads_write(tmp_path: Path) -> None:
    code = (
        "import sys, threading\n"
        "from selfdiag.safety import remember_secret\n"
        f"remember_secret({CANARY!r})\n"
        "from selfdiag.models import registry\n"
        "def say(*_):\n"
        f"    threads = [threading.Thread(target=print, args=('at once', {CANARY!r}),"
        " kwargs={'file': sys.stderr}) for _ in range(20)]\n"
        "    [t.start() for t in threads]; [t.join() for t in threads]\n"
        "    return []\n"
        "registry.discovered = say\n"
        "sys.argv = ['selfdiag', 'models']\n"
        "from selfdiag.cli.main import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("at once") == 20
    assert BEGINNING not in done.stderr
