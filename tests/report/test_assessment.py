"""A self-assessment as a person reads it."""

import asyncio
import re
from contextlib import aclosing
from pathlib import Path

import msgspec
import pytest

from selfdiag.measure.msi import Delta
from selfdiag.protocols.assess import SECTIONS, Assessment, assess_of
from selfdiag.protocols.audit import summarise
from selfdiag.protocols.cited import Cited
from selfdiag.report.assessment import (
    assessment_lines,
    assessments_lines,
    claims_and_deeds,
    delta_words,
    questionnaire_lines,
    two,
)
from selfdiag.report.assessment_markdown import assessment_markdown, assessments_markdown, questionnaire_markdown
from selfdiag.report.page import INNER, WIDTH
from selfdiag.runs.records import QUESTIONNAIRE, RunSettings
from selfdiag.runs.session import Session
from selfdiag.runs.store import Run, read_run


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("assessed")


def asked(folder: Path, persona: str) -> Run:
    if not folder.exists():
        settings = RunSettings(model=f"persona:{persona}", sections=SECTIONS, instances=4, ratings=10)
        session = Session(settings, folder=folder)

        async def ask() -> None:
            async with aclosing(session.events()) as events:
                async for _ in events:
                    pass

        asyncio.run(ask())
    run = read_run(folder)
    first = msgspec.structs.replace(run.manifest.sessions[0], started="2026-11-30T12:00:00Z")
    manifest = msgspec.structs.replace(run.manifest, run_id="20261130-120000-abcd", sessions=(first,))
    return msgspec.structs.replace(run, manifest=manifest)


def assessed(home: Path, persona: str) -> Assessment:
    return assess_of(asked(home / persona, persona), draws=200)


PERSONAS = ("calibrated", "overconfident", "yes-sayer", "prose", "refuser", "hostile")


@pytest.mark.parametrize("persona", PERSONAS)
@pytest.mark.parametrize("plain", [True, False])
def test_lines_fit_a_terminal_and_hold_nothing_that_moves_it(home: Path, persona: str, plain: bool) -> None:
    lines = assessment_lines(assessed(home, persona), plain=plain)
    assert max(map(len, lines)) <= WIDTH
    assert all(line.isprintable() for line in lines)
    assert not plain or not any("█" in line for line in lines)


def test_lines_fit_where_nothing_was_said_and_the_name_is_long(home: Path) -> None:
    run = asked(home / "calibrated", "calibrated")
    model = msgspec.structs.replace(run.manifest.model, name="long-" * 20)
    silent = msgspec.structs.replace(
        run,
        manifest=msgspec.structs.replace(run.manifest, model=model),
        records=tuple(record for record in run.records if record.section != QUESTIONNAIRE),
    )
    lines = assessment_lines(assess_of(silent, draws=20))
    assert max(map(len, lines)) <= WIDTH
    assert "  MAI  awareness of its own answers     – (no replies" in "\n".join(lines)


def test_each_criterion_shows_claim_deed_counts_and_difference(home: Path) -> None:
    lines = assessment_lines(assessed(home, "overconfident"), plain=True)
    assert lines[0] == "persona:overconfident (simulated), self-assessment · run 20261130-120000-abcd"
    for shown in (
        [
            "x1 hallucination control     claims  .96 ± .02 high             ##########",
            "                             does    .43 27 of 63 [.31, .55]    ####......  +.54",
        ],
        [
            "x5 terminological precision  claims  .95 ± .01 high             ##########",
            "                             does    .60 24 of 40 [.45, .74]    ######....  +.35",
        ],
    ):
        start = lines.index(shown[0])
        assert lines[start : start + 2] == shown
    text = "\n".join(lines)
    assert re.search(
        r"does +\.33 1\.6 of 5 y \[\.\d\d, \.\d\d\] +###\.{7} +\+\.63\n +horizon 2023\.54; 26 of 31 facts", text
    )


def test_a_missing_criterion_says_why(home: Path) -> None:
    lines = assessment_lines(assessed(home, "refuser"), plain=True)
    start = next(place for place, line in enumerate(lines) if line.startswith("x4 "))
    assert lines[start + 1 : start + 4] == [
        "                             does      – 9 of 13",
        "                                    cannot say: only 13 of 25 scored elements;",
        "                                    missing: 27 of 40 sources unknown",
    ]
    assert "MSI       – for what it does (missing: x2 knowledge currency, x4 source" in lines


def test_an_interval_that_was_stretched_says_so(home: Path) -> None:
    found = assessed(home, "calibrated")
    note = "interval stretched to the value"
    moved = msgspec.structs.replace(
        found,
        msi=msgspec.structs.replace(found.msi, note=note),
        msi_internal=msgspec.structs.replace(found.msi_internal, note=note),
        weighted=msgspec.structs.replace(found.weighted, note=note),
    )
    lines = assessment_lines(moved)
    text = " ".join(" ".join(lines).split())
    assert text.count("(interval stretched to the value)") == 3
    assert "interval stretched" not in " ".join(assessment_lines(found))
    markdown = assessment_markdown(asked(home / "calibrated", "calibrated"), moved)
    assert markdown.count(f"| {note} |") == 2 and f"for general use ({note}); claimed" in markdown


def test_simulated_and_warnings_are_told_everywhere(home: Path) -> None:
    found = assessed(home, "yes-sayer")
    summary = summarise(asked(home / "yes-sayer", "yes-sayer"), draws=100)
    several = "\n".join(assessments_lines([found, assessed(home, "calibrated")]))
    assert "persona:yes-sayer*" in several and "* simulated" in several
    questionnaire = found.questionnaire
    assert questionnaire is not None
    for text in (
        "\n".join(assessment_lines(found)),
        several,
        assessment_markdown(asked(home / "yes-sayer", "yes-sayer"), found),
        "\n".join(questionnaire_lines(questionnaire, summary)),
        questionnaire_markdown(questionnaire, summary),
    ):
        assert "says Yes to everything" in " ".join(text.split())
    for text in (
        "\n".join(assessment_lines(found)),
        assessment_markdown(asked(home / "yes-sayer", "yes-sayer"), found),
    ):
        assert "(simulated)" in text
        assert "whichever way it is asked" in " ".join(text.split())
        assert "claim nothing" in " ".join(text.split())


@pytest.mark.parametrize(
    ("value", "signed", "verdict", "said"),
    [
        (0.21, 0.21, "not acceptable", "claims .21 more than it does on average: not acceptable (limit .15)"),
        (0.21, -0.20, "not acceptable", "claims .21 less than it does on average: not acceptable (limit .15)"),
        (0.10, 0.04, "acceptable", "are .10 apart on average, .04 more on balance: acceptable (limit .15)"),
        (0.10, 0.001, "acceptable", "are .10 apart on average, neither way on balance: acceptable (limit .15)"),
        (0.14, 0.14, "cannot say", "claims .14 more than it does on average: cannot say whether acceptable"),
    ],
)
def test_the_distance_in_words(value: float, signed: float, verdict: str, said: str) -> None:
    found = Delta(value=value, ci=(0.1, 0.3), n=5, signed=signed, signed_ci=None, verdict=verdict)
    assert said in delta_words(found)
    assert delta_words(found).startswith(f"{two(value)} [.10, .30]: ")


def test_no_distance_in_words() -> None:
    none = Delta(value=None, signed=None, signed_ci=None, verdict="cannot say", note="no criterion is known")
    assert delta_words(none) == "cannot say: no criterion is known"


def test_models_side_by_side_have_the_three_tables(home: Path) -> None:
    found = [assessed(home, persona) for persona in PERSONAS]
    lines = assessments_lines(found)
    assert max(map(len, lines)) <= WIDTH
    assert sum("claims" in line and line.startswith("persona:") for line in lines) == len(PERSONAS)
    (verdict,) = [line for line in lines if line.startswith("persona:overconfident*") and "acceptable" in line]
    assert verdict.endswith("not acceptable")
    heads = [line.split() for line in lines if "MSI" in line or "SRIS" in line]
    assert heads == [
        ["MSI", "/root", "n", "claimed", "weighted", "Delta", "verdict"],
        ["MAI", "SRIS", "SDQ", "A", "Yes", "alpha", "retest"],
    ]
    text = assessments_markdown([asked(home / persona, persona) for persona in PERSONAS], found)
    assert headings(text, 1) == ["Self-assessment of 6 models"]
    assert headings(text, 2) == ["Side by side", *(f"persona:{persona} (simulated)" for persona in PERSONAS)]
    assert headings(text, 3).count("How it was asked") == len(PERSONAS)
    for persona in PERSONAS:
        assert f"    selfdiag assess persona:{persona} --instances 4 --questionnaires 10\n" in text
    (row,) = [line for line in text.splitlines() if line.startswith("| persona:overconfident") and "accept" in line]
    assert re.search(r"\| \.46 \| \[\.\d\d, \.\d\d\] \| not acceptable \|$", row)


def headings(text: str, level: int) -> list[str]:
    return re.findall(rf"^{'#' * level} (.+)$", text, re.MULTILINE)


def test_the_report_has_a_title_says_how_it_was_asked_and_ends_its_last_line(home: Path) -> None:
    text = assessment_markdown(asked(home / "overconfident", "overconfident"), assessed(home, "overconfident"))
    assert text.startswith("# Self-assessment: persona:overconfident (simulated)\n\n## Claims and deeds\n\n")
    assert headings(text, 1) == ["Self-assessment: persona:overconfident (simulated)"]
    assert headings(text, 2) == ["Claims and deeds", "How it was asked"]
    assert "\n| x1 hallucination control | .96 | .02 | high | .43 | 27 of 63 | [.31, .55] | +.54 | Wilson |\n" in text
    assert "Asked for: 4 passes through the statements, 10 ratings of each criterion, tasks with 40 scored" in text
    assert "| battery | selfdiag 1.0, draw quick |" in text
    assert text.endswith("    selfdiag assess persona:overconfident --instances 4 --questionnaires 10\n")


def test_the_command_that_asks_the_same_again_is_that_of_the_run(home: Path) -> None:
    run = asked(home / "calibrated", "calibrated")

    def again(**changed: object) -> str:
        settings = msgspec.structs.replace(run.manifest.settings, **changed)
        manifest = msgspec.structs.replace(run.manifest, settings=settings)
        text = assessment_markdown(msgspec.structs.replace(run, manifest=manifest), assessed(home, "calibrated"))
        return text.rstrip().rpartition("    ")[2]

    usual = {"instances": 25, "ratings": 30}
    assert again(**usual) == "selfdiag assess persona:calibrated"
    assert again(**usual, tasks=25, weights="x1=.3,x2=.7", years=10.0, rationale=True, seed=3) == (
        "selfdiag assess persona:calibrated --seed 3 --tasks 25 --weights x1=.3,x2=.7 --years 10 --rationale"
    )
    assert again(sections=("probes", "traps", "tasks"), battery="standard") == (
        "selfdiag run persona:calibrated --battery standard --sections probes,traps,tasks"
    )


def test_what_a_model_cites_is_text_and_nothing_else(home: Path) -> None:
    found = assessed(home, "calibrated")
    assert found.citations is not None
    hostile = Cited(
        item_id="citation-01", title="<script>x</script> | **b** \x1b[31m", state="contradicted", reason="No such work."
    )
    citations = msgspec.structs.replace(found.citations, refuted=(hostile,))
    told = msgspec.structs.replace(found, citations=citations)
    text = assessment_markdown(asked(home / "calibrated", "calibrated"), told)
    assert "\x1b" not in text
    assert "<script>" not in text
    (row,) = [line for line in text.splitlines() if "citation-01" in line]
    assert len(re.findall(r"(?<!\\)\|", row)) == 4


def test_every_table_of_the_report_is_whole(home: Path) -> None:
    text = assessment_markdown(asked(home / "prose", "prose"), assessed(home, "prose"))
    tables = re.findall(r"(?:^\|.*\n?)+", text, re.MULTILINE)
    assert len(tables) >= 5
    for table in tables:
        cells = {len(re.findall(r"(?<!\\)\|", line)) for line in table.strip().splitlines()}
        assert len(cells) == 1, table
    assert text.count("| x1 (the study) |") == 3
    assert "replies are missing" in text


def test_an_audit_is_held_against_what_the_model_claims(home: Path) -> None:
    found = assessed(home, "overconfident").questionnaire
    assert found is not None
    summary = summarise(asked(home / "overconfident", "overconfident"), draws=100)
    rows = claims_and_deeds(found, summary)
    raw = {statement.number: statement.raw for statement in found.statements}
    assert [value for _, value, _ in rows] == [two(raw[number]) for number in (1, 2, 4, 15)]
    assert [deed.split()[0] for _, _, deed in rows] == ["AUROC", "gap", "traps", "right"]
    lines = questionnaire_lines(found, summary)
    assert max(map(len, lines)) <= INNER
    assert any("traps spotted 29 %" in line for line in lines)


def test_the_same_assessment_gives_the_same_bytes(home: Path) -> None:
    once, again = (assessment_markdown(asked(home / "german", "german"), assessed(home, "german")) for _ in range(2))
    assert once == again


def test_numbers_have_two_decimals_and_no_negative_zero() -> None:
    assert [two(value) for value in (0.5, 1.0, -0.25, None, -0.001, 2.236)] == [
        ".50",
        "1.00",
        "-.25",
        "–",
        ".00",
        "2.24",
    ]
    assert [two(value, sign=True) for value in (0.5, -0.5, 0.0, -0.001)] == ["+.50", "-.50", "+.00", "+.00"]
