"""Keys are kept where nobody else reads them, and are never shown."""

import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pexpect
import pytest
from http_stub import Stub, completion

from selfdiag import keys
from selfdiag.safety import SelfdiagError
from selfdiag.settings import api_key, keys_path, server_key

CANARY = "canary-5f1e0c77b2"
"""Shaped like no usual key, so that only knowing it can hide it."""

FAKE_KEYRING = """\
import json, os, pathlib
held = pathlib.Path(os.environ["FAKE_KEYRING"])
kind = os.environ.get("FAKE_KEYRING_KIND", "good")

def read():
    if kind == "locked":
        raise RuntimeError("the keyring is locked")
    return json.loads(held.read_text()) if held.exists() else {}

def get_password(service, name):
    return read().get(f"{service} {name}")

def set_password(service, name, key):
    found = read() | {f"{service} {name}": key}
    if kind != "forgetful":
        held.write_text(json.dumps(found))

def delete_password(service, name):
    found = read()
    del found[f"{service} {name}"]
    held.write_text(json.dumps(found))
"""


@pytest.fixture
def give(tmp_path: Path):
    """Run the command line with something on its standard input."""

    def call(text: str | bytes, *words: str, **env: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-m", "selfdiag", *words],
            input=text.encode() if isinstance(text, str) else text,
            capture_output=True,
            timeout=60,
            cwd=tmp_path,
            env={**os.environ, "PYTHONWARNINGS": "error", **env},
            check=False,
        )

    return call


@pytest.fixture
def fake_keyring(tmp_path: Path) -> dict[str, str]:
    """The environment in which a keyring package is installed; its keys lie in a file."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "keyring.py").write_text(FAKE_KEYRING, encoding="utf-8")
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    return {"PYTHONPATH": path, "FAKE_KEYRING": str(tmp_path / "keyring.json")}


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def private(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)


def test_a_key_from_standard_input_is_kept_for_its_owner_alone(give, selfdiag) -> None:
    done = give(f" {CANARY} \r\nnot this line\n", "keys", "set", "openai")
    assert done.returncode == 0, done.stderr
    assert done.stdout == b""
    assert done.stderr.decode() == f"OPENAI_API_KEY is kept in {keys_path()}\n"
    assert mode(keys_path()) == 0o600
    assert mode(keys_path().parent) == 0o700
    assert api_key("openai") == CANARY
    assert server_key("openai") is None
    listed = selfdiag("keys", "list")
    assert listed.stdout.splitlines()[1].split() == ["OPENAI_API_KEY", "openai", str(keys_path())]
    assert selfdiag("keys", "path").stdout.strip() == str(keys_path())
    for words in (("keys", "list", "--json"), ("models", "--json")):
        shown = selfdiag(*words)
        assert shown.returncode == 0
        assert CANARY[:6] not in shown.stdout + shown.stderr


def test_what_the_umask_allows_does_not_matter(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        keys.store(keys_path(), "OPENAI_API_KEY", CANARY)
    finally:
        os.umask(before)
    assert mode(keys_path()) == 0o600
    assert mode(keys_path().parent) == 0o700


def test_a_typed_key_is_not_seen(tmp_path: Path) -> None:
    words = ["-m", "selfdiag", "keys", "set", "openai", "--server"]
    child = pexpect.spawn(sys.executable, words, encoding="utf-8", timeout=30, cwd=tmp_path)
    child.expect("SELFDIAG_OPENAI_API_KEY: ")
    child.waitnoecho()
    child.sendline(CANARY)
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    assert "is kept in" in child.before
    assert CANARY not in child.before
    assert server_key("openai") == CANARY
    assert api_key("openai") is None


@pytest.mark.parametrize(
    "words",
    [
        ("keys", "set", "openai", CANARY),
        ("keys", "set", CANARY),
        ("keys", "set", "openai", f"--key={CANARY}"),
        ("keys", "set", "persona"),
    ],
)
def test_a_key_is_never_an_argument(give, words: tuple[str, ...]) -> None:
    done = give("other\n", *words)
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1
    assert CANARY.encode() not in done.stdout + done.stderr
    assert not keys_path().exists()


@pytest.mark.parametrize("typed", [f"{CANARY}é".encode(), CANARY.encode() + b"\xff", b" \n", CANARY.encode() * 1000])
def test_what_no_key_is_is_refused_without_an_echo(give, typed: bytes) -> None:
    private(keys_path(), 'OPENAI_API_KEY = "the-earlier-one"\n')
    done = give(typed, "keys", "set", "openai")
    assert done.returncode == 2
    assert done.stderr.endswith(b": nothing is changed\n")
    assert done.stderr.count(b"\n") == 1
    assert CANARY.encode() not in done.stdout + done.stderr
    assert api_key("openai") == "the-earlier-one"


@pytest.mark.parametrize("inside", ["\x1b[2J", "\x00", "\t", "\n", "\x7f", "\u2028", "\u202e", "\ud800"])
def test_control_characters_are_refused(inside: str) -> None:
    with pytest.raises(SelfdiagError, match="characters that no key has") as caught:
        keys.store(keys_path(), "OPENAI_API_KEY", f"{CANARY}{inside}{CANARY}")
    assert CANARY not in str(caught.value)
    assert not keys_path().exists()


def test_a_byte_order_mark_is_no_part_of_a_key(give) -> None:
    assert give(b"\xef\xbb\xbf" + CANARY.encode(), "keys", "set", "openai").returncode == 0
    assert api_key("openai") == CANARY


@pytest.mark.parametrize("open_to_others", [0o640, 0o604, 0o622, 0o601])
def test_a_file_that_others_can_open_is_refused(
    selfdiag, give, open_to_others: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    private(keys_path(), f'OPENAI_API_KEY = "{CANARY}"\n')
    keys_path().chmod(open_to_others)
    with pytest.raises(SelfdiagError, match="is open to others than you"):
        api_key("openai")
    monkeypatch.setenv("OPENAI_API_KEY", "from-the-environment")
    assert api_key("openai") == "from-the-environment"
    if open_to_others == 0o640:
        for done in (selfdiag("keys", "list"), selfdiag("keys", "rm", "openai")):
            assert done.returncode == 2
            assert done.stderr == (
                f"selfdiag: {keys_path()} is open to others than you, so its keys are not used: "
                f"run chmod 600 {keys_path()}\n"
            )
        assert give("x\n", "keys", "set", "openai").returncode == 2
        assert CANARY in keys_path().read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "text",
    [
        CANARY,
        f'OPENAI_API_KEY = "{CANARY}',
        f'[OPENAI_API_KEY]\nkey = "{CANARY}"',
        'OPENAI_API_KEY = ["a"]',
        "OPENAI_API_KEY = 3",
        f'A = "{CANARY}"\nA = "{CANARY}"',
        f'"{CANARY}" = 3',
    ],
)
def test_a_damaged_file_is_one_line(text: str) -> None:
    private(keys_path(), text)
    with pytest.raises(SelfdiagError, match="is damaged") as caught:
        api_key("openai")
    assert str(keys_path()) in str(caught.value)
    assert CANARY not in str(caught.value)
    with pytest.raises(SelfdiagError, match="is damaged"):
        keys.store(keys_path(), "OPENAI_API_KEY", "other")
    assert keys_path().read_text(encoding="utf-8") == text


def test_a_pipe_in_place_of_the_file_is_not_waited_for() -> None:
    keys_path().parent.mkdir(parents=True)
    os.mkfifo(keys_path(), 0o600)
    with pytest.raises(SelfdiagError, match="not a regular file"):
        api_key("openai")


def test_the_environment_comes_first_and_is_said(give, selfdiag) -> None:
    done = give(CANARY, "keys", "set", "openai", OPENAI_API_KEY=f"{CANARY}-env")
    assert done.stderr.decode().splitlines()[1] == "OPENAI_API_KEY is also set in the environment, which comes first"
    listed = json.loads(selfdiag("keys", "list", "--json", OPENAI_API_KEY=f"{CANARY}-env").stdout)
    assert [(row["variable"], row["place"], row["used"]) for row in listed] == [
        ("OPENAI_API_KEY", "environment", True),
        ("OPENAI_API_KEY", "file", False),
    ]
    shown = selfdiag("keys", "list", OPENAI_API_KEY=f"{CANARY}-env").stdout
    assert "not used: the one above comes first" in shown
    assert CANARY not in shown


def test_a_key_is_removed_once(selfdiag) -> None:
    keys.store(keys_path(), "OPENAI_API_KEY", CANARY)
    keys.store(keys_path(), "SELFDIAG_OPENAI_API_KEY", CANARY)
    assert selfdiag("keys", "rm", "openai").returncode == 0
    assert api_key("openai") is None
    assert server_key("openai") == CANARY
    again = selfdiag("keys", "rm", "openai")
    assert again.returncode == 2
    assert again.stderr == "selfdiag: no OPENAI_API_KEY is kept here: 'selfdiag keys list' shows what is\n"


def test_no_key_is_no_fault(selfdiag) -> None:
    assert selfdiag("keys", "list").stdout == "no key is set: keep one with 'selfdiag keys set NAME'\n"
    assert selfdiag("keys", "list", "--json").stdout.strip() == "[]"


def test_a_run_sends_the_stored_key_of_that_server_alone(selfdiag, own_home: Path) -> None:
    keys.store(keys_path(), "OPENAI_API_KEY", "the-services-own-key")
    keys.store(keys_path(), "SELFDIAG_OPENAI_API_KEY", CANARY)
    with Stub(completion({"content": f'{{"answer": "{CANARY}", "confidence": 50}}'})) as server:
        done = selfdiag("run", "openai:m", "--base-url", server.url, "--limit", "1", "--json")
        assert done.returncode == 0, done.stderr
        assert {request.headers.get("authorization") for request in server.requests} == {f"Bearer {CANARY}"}
    assert CANARY not in done.stdout + done.stderr
    written = b"".join(file.read_bytes() for file in own_home.glob("runs/*/*"))
    assert b"the-services-own-key" not in written
    assert written
    assert CANARY.encode() not in written


def test_two_at_once_lose_no_key() -> None:
    names = [f"N{number}_API_KEY" for number in range(12)]
    threads = [threading.Thread(target=keys.store, args=(keys_path(), name, f"key-of-{name}")) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [keys.look_up(keys_path(), name) for name in names] == [f"key-of-{name}" for name in names]


def test_a_failed_write_leaves_the_earlier_file(monkeypatch: pytest.MonkeyPatch) -> None:
    keys.store(keys_path(), "OPENAI_API_KEY", "earlier")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SelfdiagError, match=r"keys.toml cannot be written \(No space left on device\)"):
        keys.store(keys_path(), "OPENAI_API_KEY", CANARY)
    assert api_key("openai") == "earlier"
    assert {file.name for file in keys_path().parent.iterdir()} <= {"keys.toml", "keys.lock"}


def test_a_link_is_followed(tmp_path: Path) -> None:
    real = tmp_path / "elsewhere.toml"
    private(real, 'A_API_KEY = "a"\n')
    keys_path().parent.mkdir(parents=True)
    keys_path().symlink_to(real)
    keys.store(keys_path(), "B_API_KEY", "b")
    assert keys_path().is_symlink()
    assert 'A_API_KEY = "a"\nB_API_KEY = "b"' in real.read_text(encoding="utf-8")


def test_the_system_keyring_holds_a_key(give, selfdiag, fake_keyring: dict[str, str], tmp_path: Path) -> None:
    keys.store(keys_path(), "OPENAI_API_KEY", "the-one-in-the-file")
    done = give(CANARY, "keys", "set", "openai", "--keyring", **fake_keyring)
    assert done.returncode == 0, done.stderr
    assert done.stderr == b"OPENAI_API_KEY is kept in the system keyring\n"
    text = keys_path().read_text(encoding="utf-8")
    assert "OPENAI_API_KEY = true" in text
    assert CANARY not in text
    assert "the-one-in-the-file" not in text
    assert json.loads((tmp_path / "keyring.json").read_text()) == {"selfdiag OPENAI_API_KEY": CANARY}
    listed = selfdiag("keys", "list", **fake_keyring)
    assert listed.stdout.splitlines()[1].split() == ["OPENAI_API_KEY", "openai", "system", "keyring"]
    ask = f"from selfdiag.settings import api_key; print(api_key('openai') == {CANARY!r})"
    for kind, found in (("good", "True"), ("locked", "False")):
        env = {**os.environ, **fake_keyring, "FAKE_KEYRING_KIND": kind}
        done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, env=env, check=True)
        assert done.stdout.strip() == found
    assert "not used: it cannot be read" in selfdiag("keys", "list", **fake_keyring, FAKE_KEYRING_KIND="locked").stdout

    assert selfdiag("keys", "rm", "openai", **fake_keyring).returncode == 0
    assert json.loads((tmp_path / "keyring.json").read_text()) == {}
    assert "OPENAI_API_KEY" not in keys_path().read_text(encoding="utf-8")


def test_a_key_that_moves_to_the_file_leaves_the_keyring(give, fake_keyring: dict[str, str], tmp_path: Path) -> None:
    give(CANARY, "keys", "set", "openai", "--keyring", **fake_keyring)
    give("in-the-file", "keys", "set", "openai", **fake_keyring)
    assert json.loads((tmp_path / "keyring.json").read_text()) == {}
    assert api_key("openai") == "in-the-file"


def test_a_keyring_that_can_no_longer_be_opened_is_said(selfdiag, give, fake_keyring: dict[str, str]) -> None:
    give(CANARY, "keys", "set", "openai", "--keyring", **fake_keyring)
    done = selfdiag("keys", "rm", "openai", **fake_keyring, FAKE_KEYRING_KIND="locked")
    assert done.returncode == 2
    assert "(the keyring is locked): it may still hold the earlier key, as OPENAI_API_KEY of selfdiag" in done.stderr
    assert "OPENAI_API_KEY" not in keys_path().read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("locked", "the system keyring cannot be used (the keyring is locked): leave --keyring away"),
        ("forgetful", "the system keyring does not keep what it is given: leave --keyring away"),
    ],
)
def test_a_keyring_that_does_not_work_is_one_line(give, fake_keyring: dict[str, str], kind: str, told: str) -> None:
    done = give(CANARY, "keys", "set", "openai", "--keyring", **fake_keyring, FAKE_KEYRING_KIND=kind)
    assert done.returncode == 2
    assert told in done.stderr.decode()
    assert CANARY.encode() not in done.stderr
    assert not keys_path().exists()


def test_a_keyring_that_is_not_installed_is_one_line(give, tmp_path: Path) -> None:
    (tmp_path / "keyring.py").write_text("raise ImportError('none')\n", encoding="utf-8")
    done = give(CANARY, "keys", "set", "openai", "--keyring")
    assert done.returncode == 2
    assert 'run python -m pip install "selfdiag[keyring]", or leave --keyring away' in done.stderr.decode()
    assert not keys_path().exists()


def test_a_keyring_is_asked_only_for_keys_that_were_put_there(fake_keyring: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "keyring.json").write_text(json.dumps({"selfdiag OPENAI_API_KEY": CANARY}), encoding="utf-8")
    ask = "import sys; from selfdiag.settings import api_key; print(api_key('openai'), 'keyring' in sys.modules)"
    env = {**os.environ, **fake_keyring}
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, env=env, check=True)
    assert done.stdout.split() == ["None", "False"]
