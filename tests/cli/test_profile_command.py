"""A profile goes from a run to a file, is signed by one person, and verified by another."""

import json
from pathlib import Path

import pytest


@pytest.fixture
def exported(selfdiag, tmp_path: Path) -> Path:
    assert selfdiag("run", "persona:calibrated", "--limit", "12", "--out", "run").returncode == 0
    done = selfdiag("profile", "export", "run", "-o", "profile.json")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.splitlines()[-1] == "wrote profile.json"
    return tmp_path / "profile.json"


def test_export_sign_and_verify(selfdiag, exported: Path, own_home: Path) -> None:
    made = selfdiag("profile", "keygen", "--signer", "Ada Example")
    assert made.returncode == 0, made.stderr
    assert made.stdout.startswith("Ada Example ") and len(made.stdout.splitlines()) == 1
    assert str(own_home / "signing" / "key.pem") in made.stderr
    signed = selfdiag("profile", "sign", "profile.json")
    assert (signed.returncode, signed.stdout, signed.stderr) == (0, "", "wrote profile.json.sig\n")
    (exported.parent / "trust.txt").write_text(made.stdout, encoding="utf-8")
    for trust in ([], ["--trust", "trust.txt"]):
        done = selfdiag("profile", "verify", "profile.json", *trust)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == "verified: it is as Ada Example has signed it\n"


def test_what_goes_to_standard_output_is_the_file(selfdiag, exported: Path) -> None:
    done = selfdiag("profile", "export", "run")
    assert done.returncode == 0
    assert json.loads(done.stdout) == json.loads(exported.read_text(encoding="utf-8"))
    assert done.stderr.startswith("simulated: ")
    assert selfdiag("profile", "export").stdout == done.stdout  # the latest run


def test_a_key_of_ones_own_choice(selfdiag, exported: Path) -> None:
    assert selfdiag("profile", "keygen", "--signer", "Ada", "--key", "keys/ada.pem").returncode == 0
    assert selfdiag("profile", "sign", "profile.json", "--key", "keys/ada.pem").returncode == 0
    assert selfdiag("profile", "verify", "profile.json").stdout.startswith("untrusted: ")
    assert selfdiag("profile", "verify", "profile.json", "--trust", "keys").returncode == 0
    again = selfdiag("profile", "keygen", "--signer", "Ada", "--key", "keys/ada.pem")
    assert again.returncode == 2
    assert again.stderr == (
        "selfdiag: keys/ada.pem exists already and is left as it is: choose another name for the key\n"
    )


def test_whatever_is_not_verified_ends_with_one(selfdiag, exported: Path) -> None:
    selfdiag("profile", "keygen", "--signer", "Ada", "--key", "keys/ada.pem")
    states = []
    for prepare in (
        lambda: None,
        lambda: selfdiag("profile", "sign", "profile.json", "--key", "keys/ada.pem"),
        lambda: exported.write_text(exported.read_text(encoding="utf-8").replace('"persona:', '"openai:'), "utf-8"),
    ):
        prepare()
        done = selfdiag("profile", "verify", "profile.json", "--json")
        assert (done.returncode, done.stderr) == (1, "")
        gate = json.loads(done.stdout)
        assert set(gate) == {"schema", "state", "signer", "note"}
        assert gate["schema"] == "selfdiag.gate/1"
        states.append(gate["state"])
    assert states == ["unsigned", "untrusted", "altered"]


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["export", "nothing"], "no run 'nothing'"),
        (["sign", "none.json"], "none.json cannot be read (No such file or directory)"),
        (["sign", "profile.json"], "key.pem: make one with 'selfdiag profile keygen'"),
        (["verify", "none.json"], "none.json cannot be read (No such file or directory)"),
        (["verify", "profile.json", "--trust", "none.txt"], "none.txt cannot be read (No such file or directory)"),
        (["verify", "."], "is not a regular file"),
        (["keygen"], "Missing option '--signer'"),
        (["keygen", "--signer", "\x1b[31m"], "cannot be used as a name"),
        (["keygen", "--signer", "Ada", "--key", "."], "exists already"),
        (["export", "run", "-o", "none/profile.json"], "none/profile.json cannot be written"),
    ],
)
def test_a_fault_is_one_line(selfdiag, exported: Path, words: list[str], fault: str) -> None:
    done = selfdiag("profile", *words)
    assert (done.returncode, done.stdout) == (2, "")
    line = done.stderr.rstrip("\n").splitlines()[-1]
    assert line.startswith("selfdiag: ") and fault in line and line.isprintable()


@pytest.mark.parametrize("words", [[], ["export"], ["keygen"], ["sign"], ["verify"]])
def test_every_command_has_help(selfdiag, words: list[str]) -> None:
    done = selfdiag("profile", *words, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith("Usage: ")
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_no_command_shows_the_private_half(selfdiag, exported: Path) -> None:
    shown = selfdiag("profile", "keygen", "--signer", "Ada", "--key", "ada.pem")
    secret = (exported.parent / "ada.pem").read_text(encoding="utf-8").splitlines()[1]
    for done in (
        shown,
        selfdiag("profile", "sign", "profile.json", "--key", "ada.pem"),
        selfdiag("profile", "sign", "profile.json", "--key", "ada.pem"),
        selfdiag("profile", "verify", "profile.json", "--trust", "ada.pem"),
        selfdiag("profile", "verify", "ada.pem"),
    ):
        assert secret not in done.stdout + done.stderr
