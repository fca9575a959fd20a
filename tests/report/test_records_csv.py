"""A run as CSV: safe in a spreadsheet, the same bytes every time, and the same numbers when it comes back."""

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from claim_runs import asked
from made_runs import follower, measured, written

from selfdiag.protocols.analysis import Part, analyse
from selfdiag.protocols.audit import summarise
from selfdiag.protocols.ladder import ladder_plan
from selfdiag.protocols.own_profile import experiment_settings
from selfdiag.protocols.summary import Summary
from selfdiag.report.records_csv import COLUMNS, LONGEST, columns_csv, records_csv, text_cell
from selfdiag.runs.importers import Answers, read_answers
from selfdiag.runs.ladder_plan import OFF, OWN, PLACEBO, SHUFFLED
from selfdiag.runs.records import LADDER, Fault, Judgement, RunSettings
from selfdiag.runs.store import Run
from selfdiag.safety import SelfdiagError

NUMBERS = {column.name for column in COLUMNS if column.kind in {"integer", "number"}}


def rows_of(run: Run) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(records_csv(run)), strict=True))


def with_records(run: Run, **changes: object) -> Run:
    """Change every record of a run, or with a function each by itself."""
    records = [
        msgspec.structs.replace(record, **{name: to(record) if callable(to) else to for name, to in changes.items()})
        for record in run.records
    ]
    return msgspec.structs.replace(run, records=tuple(records))


@pytest.fixture
def ask(tmp_path: Path) -> Callable[..., Run]:
    def run(persona: str = "calibrated", **settings: object) -> Run:
        folder = tmp_path / f"run-{len(list(tmp_path.iterdir()))}"
        return asked(RunSettings(model=f"persona:{persona}", **{"limit": 6, **settings}), folder)

    return run


def came_back(run: Run, folder: Path) -> Answers:
    path = folder / "came-back.csv"
    path.write_text(records_csv(run), encoding="utf-8", newline="")
    return read_answers(path, {})


def analysed(run: Run, folder: Path, draws: int = 200) -> Summary:
    answers = came_back(run, folder)
    part = Part(file="x", columns=answers.columns, model=answers.model or (), notes=answers.notes)
    (found,) = analyse([part], ("model",), draws=draws).models
    return found


@pytest.mark.parametrize("answer", ["=1+1", "+3", "-5", "@x", "\t=1", "\rx", " =1", "\n@x", "＝1", "＋1", "－1", "＠x"])
def test_STA_13_text_that_a_spreadsheet_would_compute_gets_an_apostrophe(ask: Callable[..., Run], answer: str) -> None:
    run = with_records(ask(), answer=answer, raw=answer, reasoning=answer, rule=answer)
    for row in rows_of(run):
        for name in ("answer", "raw", "reasoning", "rule"):
            assert row[name].startswith("'")
            assert row[name].isprintable()
    assert all(record.answer == answer for record in run.records)


def test_STA_13_every_text_column_is_guarded_and_numbers_stay_numbers(ask: Callable[..., Run]) -> None:
    evil = '=HYPERLINK("http://x")'
    run = ask("overconfident")
    fault = Fault(kind=evil, message=evil)
    run = with_records(run, bin=evil, family=evil, claim_bin=evil, answer=evil, flags=(evil,), error=fault)
    run = with_records(run, judge=Judgement(model=evil, version="1", opinion="same"), finish_reason=evil)
    settings = msgspec.structs.replace(run.manifest.settings, model=evil)
    prompts = {key: msgspec.structs.replace(text, user=evil) for key, text in run.manifest.prompts.items()}
    manifest = msgspec.structs.replace(run.manifest, run_id=evil, settings=settings, prompts=prompts)
    for row in rows_of(msgspec.structs.replace(run, manifest=manifest)):
        assert sum(value == f"'{evil}" for value in row.values()) == 12
        assert not any(value.startswith(("=", "+", "@")) for value in row.values())
        for name in NUMBERS & {name for name, value in row.items() if value}:
            assert float(row[name]) >= 0


@pytest.mark.parametrize("text", ["5", "a=b", "x-1", "'=1", "", "‐5"])
def test_other_text_is_left_as_it_is(text: str) -> None:
    assert text_cell(text) == text


def test_what_is_invisible_is_shown_and_a_row_is_one_line(ask: Callable[..., Run]) -> None:
    run = with_records(ask(), answer='a,"b"\r\n\x1b[31m\x00\u202ec\u2028d', raw="two\nlines")
    text = records_csv(run)
    assert text.count("\n") == len(run.records) + 1 == len(text.splitlines())
    assert all(row["answer"] == 'a,"b"\\x0d\\n\\x1b[31m\\x00\\u202ec\\u2028d' for row in rows_of(run))
    assert all(row["raw"] == "two\\nlines" for row in rows_of(run))
    assert text.isascii()


@pytest.mark.parametrize("char", ["x", "\x00", "=", "\U000e0001"])
def test_no_cell_is_longer_than_a_spreadsheet_takes(char: str) -> None:
    long = text_cell(char * 10_000_000)
    assert LONGEST < len(long) <= 32_767
    assert long.endswith("… (cut: 10,000,000 characters in all)")
    assert len(text_cell(char * 4_000)) <= 32_767


def test_a_row_for_the_last_record_of_every_call_in_the_order_of_the_plan(ask: Callable[..., Run]) -> None:
    run = ask()
    first = msgspec.structs.replace(run.records[0], outcome="error", answer=None, raw="")
    elsewhere = msgspec.structs.replace(run.records[0], call_id="trial-1", section="trial")
    mixed = msgspec.structs.replace(run, records=(first, elsewhere, *reversed(run.records)))
    assert records_csv(mixed) == records_csv(run)
    assert [row["call_id"] for row in rows_of(run)] == [call.call_id for call in run.manifest.plan]
    assert len(rows_of(msgspec.structs.replace(run, records=run.records[:3]))) == 3


def test_a_row_says_who_was_asked_what_and_how_it_came_out(ask: Callable[..., Run]) -> None:
    run = ask()
    record = next(record for record in run.records if record.outcome == "correct")
    (row,) = [row for row in rows_of(run) if row["call_id"] == record.call_id]
    probe = run.manifest.drawn.find(record.item_id)
    assert row["run_id"] == run.manifest.run_id
    assert (row["model"], row["simulated"], row["trap"]) == ("persona:calibrated", "true", "false")
    assert row["question"] == text_cell(run.manifest.prompts[record.prompt_sha256].user)
    assert row["key"].startswith(text_cell(probe.answer))
    assert (row["confidence"], row["stated"]) == (str(record.confidence), str(record.confidence))
    assert (row["raw"], row["outcome"], row["structured"]) == (record.raw, "correct", "false")
    assert (row["claim"], row["claim_bin"], row["token_confidence"], row["error"]) == ("", "", "", "")


def test_the_columns_have_a_dictionary(ask: Callable[..., Run]) -> None:
    rows = list(csv.DictReader(io.StringIO(columns_csv())))
    assert [row["column"] for row in rows] == list(rows_of(ask())[0])
    assert {row["type"] for row in rows} == {"text", "integer", "number", "boolean", "time"}
    assert all(row["meaning"] for row in rows)
    guide = (Path(__file__).parents[2] / "docs" / "reports.md").read_text(encoding="utf-8")
    for column in COLUMNS:
        assert f"| `{column.name}` | {column.kind} | {column.values} | {column.meaning} |" in guide


def test_a_cell_is_of_the_kind_of_its_column(ask: Callable[..., Run]) -> None:
    shapes = {"integer": r"\d+", "number": r"\d+(\.\d+)?", "boolean": "true|false", "time": r"20[0-9T:.-]+Z"}
    patterns = {column.name: shapes[column.kind] for column in COLUMNS if column.kind != "text"}
    for run in (ask(confidence=("posthoc", "stated")), ask("suggestible", sections=("microprobe",), limit=2)):
        rows = rows_of(with_records(run, token_confidence=lambda record: len(record.item_id) / 30))
        for name, pattern in patterns.items():
            cells = {row[name] for row in rows if row[name]}
            assert all(re.fullmatch(pattern, cell) for cell in cells), (name, cells)


@pytest.mark.parametrize(
    ("persona", "settings"),
    [
        ("calibrated", {"limit": None}),
        ("overconfident", {"limit": None, "repeat": 2}),
        ("prose", {"limit": 20}),
        ("abstainer", {}),
        ("suggestible", {"sections": ("probes", "traps", "questionnaire", "microprobe", "anchor", "fresh-check")}),
        ("calibrated", {"confidence": ("posthoc", "stated")}),
        ("calibrated", {"confidence": ("agreement",)}),
    ],
)
def test_it_comes_back_with_the_same_numbers(
    ask: Callable[..., Run], tmp_path: Path, persona: str, settings: dict[str, object]
) -> None:
    run = ask(persona, **settings)
    there, back = summarise(run, draws=200), analysed(run, tmp_path)
    assert back.metrics.keys() == there.metrics.keys()
    for name, one in there.metrics.items():
        other = back.metrics[name]
        assert (other.value, other.ci, other.n) == (
            pytest.approx(one.value, nan_ok=True) if one.value is not None else None,
            pytest.approx(one.ci) if one.ci is not None else None,
            one.n,
        ), name
    assert back.counts["probes"].items() <= there.counts["probes"].items()
    assert back.tier.letter == there.tier.letter
    assert back.group is not None and back.group.model == f"persona:{persona}"
    assert "simulated: these replies were written by a script, not by a model" in back.notes


def test_an_abstention_in_own_words_comes_back_as_one(ask: Callable[..., Run], tmp_path: Path) -> None:
    run = ask("abstainer")
    first = next(record.call_id for record in run.records if record.trap and record.outcome == "abstained")
    run = with_records(run, flags=lambda record: ("odd", "free_text") if record.call_id == first else ("odd",))
    there, back = summarise(run, draws=200), analysed(run, tmp_path)
    name = "trap_abstention_token_only"
    assert back.metrics[name] == there.metrics[name]
    assert (back.metrics[name].value or 0) < (back.metrics["trap_abstention"].value or 0)


def test_percent_stays_percent_whatever_the_values(tmp_path: Path) -> None:
    run = measured(tmp_path / "low", lambda call, probe: ("correct", len(probe.id) % 2), limit=6)
    answers = came_back(run, tmp_path)
    assert sorted(set(answers.columns.confidence.tolist())) == [0.0, 0.01]


def test_a_fraction_in_the_replies_is_percent_in_the_table(tmp_path: Path) -> None:
    run = measured(tmp_path / "fractions", lambda call, probe: ("correct", 1), limit=10)
    guessed = [msgspec.structs.replace(r, confidence=80, flags=("scale_guess",)) for r in run.records[:5]]
    unsure = [msgspec.structs.replace(r, flags=("ambiguous_scale",)) for r in run.records[5:]]
    rows = rows_of(msgspec.structs.replace(run, records=(*guessed, *unsure)))
    assert [(row["confidence"], row["stated"]) for row in rows] == [("80", "80")] * 5 + [("100", "1")] * 5


def test_an_experiment_has_its_arms_and_is_no_audit(ask: Callable[..., Run], tmp_path: Path) -> None:
    probed = ask("suggestible", sections=("microprobe",), limit=2)
    assert {(row["arm"], row["claim"]) for row in rows_of(probed)} == {("claim", "0"), ("claim", "95")}
    run = measured(tmp_path / "measured")
    settings = experiment_settings(run, LADDER)
    ladder = written(ladder_plan(settings, run, replicates=1, labelled=True), settings, follower, tmp_path / "ladder")
    assert {row["arm"] for row in rows_of(ladder)} == {OFF, PLACEBO, OWN, SHUFFLED}
    for row in rows_of(ladder):
        assert row["section"] == LADDER
        assert row["confidence"] == (row["claim"] or "55")
        assert (row["claim_bin"] == row["bin"]) is bool(row["claim"])
    for made in (probed, ladder):
        with pytest.raises(SelfdiagError, match="has no reply to a probe or a trap"):
            came_back(made, tmp_path)


def test_a_spreadsheet_may_save_it_with_semicolons(ask: Callable[..., Run], tmp_path: Path) -> None:
    run = ask()
    path = tmp_path / "saved.csv"
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerows(csv.reader(io.StringIO(records_csv(run))))
    again = read_answers(path, {})
    assert again.columns.item.tolist() == came_back(run, tmp_path).columns.item.tolist()
    assert again.columns.confidence.tolist() == came_back(run, tmp_path).columns.confidence.tolist()


def test_the_same_run_gives_the_same_bytes(ask: Callable[..., Run]) -> None:
    run = ask()
    assert records_csv(run) == records_csv(run)
    assert "\r" not in records_csv(run)


def test_a_run_without_a_reply_has_a_header_alone(ask: Callable[..., Run]) -> None:
    text = records_csv(msgspec.structs.replace(ask(), records=()))
    assert text == ",".join(column.name for column in COLUMNS) + "\n"
