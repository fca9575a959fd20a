import multiprocessing
import os
from pathlib import Path

import msgspec
import pytest

from selfdiag.battery.items import Battery, Probe
from selfdiag.models.base import ModelInfo
from selfdiag.runs.records import BatteryInfo, Manifest, PlannedCall, PromptText, Record, RunSettings
from selfdiag.runs.shelf import find_run, remember_latest, remove_run, run_folders
from selfdiag.runs.store import RunWriter, read_manifest, read_run, replace_file
from selfdiag.safety import SelfdiagError
from selfdiag.settings import runs_dir


def manifest(run_id: str = "20260101-000000-abcd") -> Manifest:
    return Manifest(
        run_id=run_id,
        selfdiag="0",
        settings=RunSettings(model="persona:blind"),
        model=ModelInfo(provider="persona", name="blind", simulated=True),
        battery=BatteryInfo(id="b", version="1", sha256="0"),
        drawn=Battery(id="b", version="1", probes=()),
        prompt_version="1",
        systems={},
        prompts={},
        plan=(),
        versions={},
        max_tokens=10,
    )


def record(call_id: str, raw: str = "") -> Record:
    return Record(
        call_id=call_id,
        item_id=call_id,
        bin="logic",
        difficulty="easy",
        trap=False,
        family=None,
        section="probes",
        prompt_sha256="0",
        raw=raw,
        outcome="correct",
    )


def test_what_is_written_comes_back(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    hostile = 'line\u2028break\n\x00\x1b[31m"quotes" \ud7ff 日本'
    with RunWriter.create(folder, manifest()) as writer:
        writer.append(record("a", hostile), record("b"))
        writer.append(record("a", "again"))
    run = read_run(folder)
    assert run.manifest == manifest()
    assert [r.call_id for r in run.records] == ["a", "b", "a"]
    assert run.records[0].raw == hostile
    assert run.latest()["a"].raw == "again"
    assert run.problems == ()


def test_a_record_is_in_the_file_when_append_returns(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path / "run", manifest()) as writer:
        writer.append(record("a"))
        assert (tmp_path / "run" / "records.jsonl").read_bytes().count(b"\n") == 1


@pytest.mark.parametrize("torn", [b'{"v":1,"call', b"{", b"\xff\xfe", b'{"v":1}' * 30000])
def test_TUI_28_a_torn_last_line_is_cut_off_and_reported(tmp_path: Path, torn: bytes) -> None:
    folder = tmp_path / "run"
    with RunWriter.create(folder, manifest()) as writer:
        writer.append(record("a"))
    file = folder / "records.jsonl"
    whole = file.read_bytes()
    file.write_bytes(whole + torn)
    assert "torn" in read_run(folder).problems[0]
    writer, run = RunWriter.resume(folder)
    with writer:
        assert file.read_bytes() == whole
        assert len(run.problems) == 1
        assert "torn" in run.problems[0]
        writer.append(record("b"))
    assert [r.call_id for r in read_run(folder).records] == ["a", "b"]


def test_TUI_28_a_file_with_nothing_but_a_torn_line(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    RunWriter.create(folder, manifest()).close()
    (folder / "records.jsonl").write_bytes(b'{"v"')
    writer, run = RunWriter.resume(folder)
    writer.close()
    assert run.records == ()
    assert (folder / "records.jsonl").read_bytes() == b""


def test_a_line_edited_by_hand_is_named_and_the_rest_is_kept(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with RunWriter.create(folder, manifest()) as writer:
        writer.append(record("a"), record("b"))
    file = folder / "records.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(lines[0] + b'{"v":1,"outcome":"excellent"}\n' + lines[1])
    run = read_run(folder)
    assert [r.call_id for r in run.records] == ["a", "b"]
    assert "line 2" in run.problems[0]


def _hold(folder: str, ready: "multiprocessing.synchronize.Event", done: "multiprocessing.synchronize.Event") -> None:
    writer, _ = RunWriter.resume(Path(folder))
    ready.set()
    done.wait(30)
    writer.close()


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    RunWriter.create(folder, manifest()).close()
    context = multiprocessing.get_context("spawn")
    ready, done = context.Event(), context.Event()
    other = context.Process(target=_hold, args=(str(folder), ready, done))
    other.start()
    try:
        assert ready.wait(30)
        with pytest.raises(SelfdiagError, match="another process is writing"):
            RunWriter.resume(folder)
        with pytest.raises(SelfdiagError, match="another process is writing"):
            remove_run(folder)
    finally:
        done.set()
        other.join(30)
    writer, _ = RunWriter.resume(folder)
    writer.close()


def test_create_refuses_a_folder_with_something_in_it(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("precious")
    with pytest.raises(SelfdiagError, match="not empty"):
        RunWriter.create(tmp_path, manifest())
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_create_below_a_file_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SelfdiagError, match="cannot be written"):
        RunWriter.create(tmp_path / "file" / "run", manifest())


def test_what_is_no_run_is_told(tmp_path: Path) -> None:
    with pytest.raises(SelfdiagError, match="there is no such folder"):
        read_manifest(tmp_path / "none")
    with pytest.raises(SelfdiagError, match=r"no manifest\.json"):
        read_manifest(tmp_path)
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(SelfdiagError, match="damaged"):
        read_manifest(tmp_path)
    (tmp_path / "manifest.json").write_text('{"schema": "selfdiag.run/9"}')
    with pytest.raises(SelfdiagError, match=r"selfdiag\.run/9"):
        read_manifest(tmp_path)


def test_runs_are_found_by_id_prefix_ending_latest_and_path(tmp_path: Path) -> None:
    names = ["20260101-000000-aaaa", "20260101-000001-bbbb", "20260201-000000-cccc"]
    for name in names:
        RunWriter.create(runs_dir() / name, manifest(name)).close()
    assert [folder.name for folder in run_folders()] == names
    assert find_run(names[0]).name == names[0]
    assert find_run("202602").name == names[2]
    assert find_run("bbbb").name == names[1]
    assert find_run("latest").name == names[2]
    elsewhere = tmp_path / "elsewhere"
    RunWriter.create(elsewhere, manifest()).close()
    assert find_run(str(elsewhere)) == elsewhere
    remember_latest(elsewhere)
    assert find_run("latest") == elsewhere
    remove_run(elsewhere)
    assert find_run("latest").name == names[2]
    with pytest.raises(SelfdiagError, match="names 2 runs"):
        find_run("202601")
    with pytest.raises(SelfdiagError, match="no run 'zzz'"):
        find_run("zzz")
    with pytest.raises(SelfdiagError, match="is not a run"):
        find_run(str(tmp_path))


def test_an_empty_name_is_not_the_run_that_one_stands_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    RunWriter.create(tmp_path / "run", manifest()).close()
    monkeypatch.chdir(tmp_path / "run")
    for name in ("", " "):
        with pytest.raises(SelfdiagError, match="a run has a name"):
            find_run(name)
    assert find_run(".") == Path()


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps the folder that a process is in")
def test_the_run_that_one_stands_in_is_deleted_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    RunWriter.create(tmp_path / "run", manifest()).close()
    monkeypatch.chdir(tmp_path / "run")
    remove_run(Path())
    monkeypatch.chdir(tmp_path)
    assert not (tmp_path / "run").exists()


@pytest.mark.skipif(os.name == "nt", reason="no such folder name on Windows")
def test_a_name_that_fits_several_runs_lists_them_harmlessly() -> None:
    for name in ("2026-a\x1b[31m", "2026-b\n"):
        RunWriter.create(runs_dir() / name, manifest(name)).close()
    with pytest.raises(SelfdiagError) as caught:
        find_run("2026")
    assert str(caught.value) == "'2026' names 2 runs (2026-a\\x1b[31m, 2026-b): write more of the id"


def test_latest_without_runs_says_what_to_do() -> None:
    with pytest.raises(SelfdiagError, match="there is no run yet"):
        find_run("latest")


def test_TUI_29_replacing_a_file_leaves_no_part_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "file"
    replace_file(target, b"old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        replace_file(target, b"new")
    assert target.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_parts_of_a_manifest_whose_writer_was_killed_are_cleared_away(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    part, other = folder / ".manifest.json-0123abcd", folder / ".manifest.json-mine"
    part.write_text("{")
    RunWriter.create(folder, manifest()).close()
    assert not part.exists()
    part.write_text("{")
    other.write_text("mine")
    RunWriter.resume(folder)[0].close()
    assert not part.exists() and other.exists()


def test_a_full_disk_is_told_and_what_was_written_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "run"
    with RunWriter.create(folder, manifest()) as writer:
        writer.append(record("a"))

        def full(*_: object) -> int:
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(os, "write", full)
            with pytest.raises(SelfdiagError, match="No space left") as caught:
                writer.append(record("b"))
        assert caught.value.exit_code == 4
    assert [r.call_id for r in read_run(folder).records] == ["a"]


def test_the_record_has_the_fields_of_the_format() -> None:
    names = """
        v call_id item_id bin difficulty trap family section arm claim claim_bin labelled paraphrase replicate
        structured prompt_sha256 raw reasoning answer confidence confidence_source token_confidence parse flags
        value outcome judge rule finish_reason latency_s prompt_tokens completion_tokens attempts error at
    """
    assert list(Record.__struct_fields__) == names.split()
    assert msgspec.json.decode(msgspec.json.encode(record("a")), type=Record) == record("a")


def test_a_run_that_cannot_be_read_or_locked_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "run"
    with RunWriter.create(folder, manifest()) as writer:
        writer.append(record("a"))
        writer.sync()

    def refused(*_: object, **__: object) -> bytes:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", refused)
        with pytest.raises(SelfdiagError, match="cannot be read .Permission denied"):
            read_manifest(folder)
    opened = Path.open

    def refused_records(path: Path, *words: object, **more: object) -> object:
        return refused() if path.name == "records.jsonl" else opened(path, *words, **more)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", refused_records)
        with pytest.raises(SelfdiagError, match=r"records\.jsonl cannot be read"):
            read_run(folder)
        with pytest.raises(SelfdiagError, match="cannot be written"):
            RunWriter.resume(folder)
    with monkeypatch.context() as patch:
        patch.setattr("selfdiag.runs.shelf.shutil.rmtree", refused)
        with pytest.raises(SelfdiagError, match="cannot be deleted"):
            remove_run(folder)
    assert read_run(folder).records


def test_a_note_that_cannot_be_written_is_no_fault(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SELFDIAG_HOME", str(tmp_path / "file"))
    (tmp_path / "file").write_text("")
    remember_latest(tmp_path)
    with pytest.raises(SelfdiagError, match="there is no run yet"):
        find_run("latest")


def test_a_record_about_another_item_than_its_call_is_left_out(tmp_path: Path) -> None:
    probe = Probe(id="a", bin="logic", difficulty="easy", kind="text", answer="x", questions=("?",))
    call = PlannedCall(call_id="a", item_id="a", section="probes", prompt="p")
    planned = msgspec.structs.replace(
        manifest(),
        drawn=Battery(id="b", version="1", probes=(probe,)),
        systems={"s": "s"},
        prompts={"p": PromptText(system="s", user="?")},
        plan=(call,),
    )
    twice = msgspec.structs.replace(planned, plan=(call, call))
    RunWriter.create(tmp_path / "twice", twice).close()
    with pytest.raises(SelfdiagError, match="the plan names a call twice"):
        read_run(tmp_path / "twice")
    with RunWriter.create(tmp_path / "run", planned) as writer:
        writer.append(msgspec.structs.replace(record("a"), item_id="b"))
    run = read_run(tmp_path / "run")
    assert run.records == ()
    assert "the plan's call has another item_id than 'b'" in run.problems[0]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"schema": "selfdiag.run/9"}, "was written as 'selfdiag.run/9'"),
        ({"settings": RunSettings(model="m", confidence=("nonsense",))}, "no such sources of confidence"),
        ({"settings": RunSettings(model="m", confidence=())}, "no such sources of confidence"),
    ],
)
def test_a_manifest_edited_by_hand_is_refused(tmp_path: Path, changes: dict[str, object], words: str) -> None:
    RunWriter.create(tmp_path / "run", msgspec.structs.replace(manifest(), **changes)).close()
    with pytest.raises(SelfdiagError, match=words):
        read_run(tmp_path / "run")
