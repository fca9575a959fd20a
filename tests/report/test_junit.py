"""JUnit XML: what a CI server reads back, whatever the model is called."""

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import pytest
from made_runs import graded, measured, unmoved

from selfdiag.protocols.gates import GateResult
from selfdiag.report.junit import junit
from selfdiag.runs.records import Fault
from selfdiag.runs.store import Run

GOLDEN = Path(__file__).parent.parent / "data" / "junit.xml"
FAILED = GateResult(gate="--max-gap 0.2", passed=False, sentence="the gap is +0.347 [+0.250, +0.440], n 42")
PASSED = GateResult(gate="--fail-under C", passed=True, sentence="the tier is B")
TIME = re.compile(r"\d+\.\d{3}")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return measured(tmp_path / "20260101-000000-abcd")


def read(text: str) -> ET.Element:
    return ET.fromstring(text)  # noqa: S314 - written here


def called(run: Run, name: str) -> Run:
    manifest = run.manifest
    settings = msgspec.structs.replace(manifest.settings, model=name)
    return msgspec.structs.replace(run, manifest=msgspec.structs.replace(manifest, settings=settings))


def test_the_file_is_the_one_kept_here(run: Run) -> None:
    part = msgspec.structs.replace(called(run, "openai:a<b&c/é"), records=run.records[5:])
    assert junit(part, [PASSED, FAILED], tier="B") == GOLDEN.read_text(encoding="utf-8")


def test_it_has_the_shape_that_ci_servers_read(run: Run) -> None:
    suites = read(junit(run, [PASSED, FAILED], tier="B"))
    assert suites.tag == "testsuites"
    (suite,) = suites
    assert suite.tag == "testsuite"
    assert suite.keys() == ["name", "tests", "failures", "errors", "skipped", "time", "timestamp"]
    assert suite.get("time") == suites.get("time") == "600.000"
    assert suite.get("timestamp") == "2026-01-01T00:00:00"
    cases = suite.findall("testcase")
    for element in (suites, suite):
        for name, tag in (("failures", "failure"), ("errors", "error")):
            assert element.get(name) == str(len(list(suite.iter(tag))))
        assert element.get("tests") == str(len(cases))
    assert [case.get("name") for case in cases] == ["gate --fail-under C", "gate --max-gap 0.2", "section probes"]
    for case in cases:
        assert case.keys() == ["classname", "name", "time"]
        assert case.get("classname") == "openai:made-up"
        assert TIME.fullmatch(case.get("time") or "")
    assert [case.find("failure") is not None for case in cases] == [False, True, False]
    failure = cases[1].find("failure")
    assert failure is not None
    assert failure.get("message") == failure.text == FAILED.sentence


def test_it_says_who_was_asked(run: Run) -> None:
    manifest = run.manifest
    simulated = msgspec.structs.replace(
        run, manifest=msgspec.structs.replace(manifest, model=msgspec.structs.replace(manifest.model, simulated=True))
    )

    def properties(run: Run, tier: str) -> dict[str, str]:
        found = read(junit(run, tier=tier)).iter("property")
        return {one.get("name") or "": one.get("value") or "" for one in found}

    assert properties(run, "D") == {
        "run": "20260101-000000-abcd",
        "model": "openai:made-up",
        "simulated": "no",
        "kind": "audit",
        "battery": f"{manifest.battery.id} {manifest.battery.version}",
        "tier": "D",
    }
    assert properties(simulated, "")["simulated"] == "yes"
    assert "tier" not in properties(simulated, "")
    assert 'testsuite name="selfdiag openai:made-up (simulated)"' in junit(simulated)


def test_a_section_that_lacks_replies_is_an_error_and_says_why(tmp_path: Path) -> None:
    run = measured(tmp_path / "part", lambda call, probe: None if probe.bin == "logic" else (graded(probe), 50))
    faults = [Fault(kind=kind, message="x") for kind in ("timeout", "quota", "timeout")]
    broken = [
        msgspec.structs.replace(record, outcome="error", error=fault)
        for record, fault in zip(run.records, faults, strict=False)
    ]
    run = msgspec.structs.replace(run, records=(*broken, *run.records[len(broken) :]))
    suite = read(junit(run))[0]
    assert suite.get("errors") == "1"
    error = suite.find("testcase/error")
    assert error is not None
    assert error.get("message") == (
        "14 not asked, 1 ended in an error (quota), 2 ended in an error (timeout) (of 294 calls)"
    )


def test_no_gate_is_judged_while_a_reply_is_missing(run: Run) -> None:
    part = msgspec.structs.replace(run, records=run.records[1:])
    (suite,) = read(junit(part, [PASSED, FAILED]))
    gates = suite.findall("testcase")[:2]
    assert [[child.tag for child in case] for case in gates] == [["skipped"], ["skipped"]]
    assert (suite.get("failures"), suite.get("errors"), suite.get("skipped")) == ("0", "1", "2")
    assert FAILED.sentence not in junit(part, [FAILED])


def test_a_section_answers_for_its_own_calls(tmp_path: Path) -> None:
    def reply(call, probe):
        return None if call.section == "agreement" else (graded(probe), 50)

    run = measured(tmp_path / "run", reply, limit=3, confidence=("stated", "agreement"))
    cases = read(junit(run)).findall(".//testcase")
    assert [(case.get("name"), case.find("error") is not None) for case in cases] == [
        ("section probes", False),
        ("section agreement", True),
    ]


def test_its_start_is_in_utc(run: Run) -> None:
    (stretch,) = run.manifest.sessions
    elsewhere = msgspec.structs.replace(stretch, started="2026-01-01T02:00:00.250+02:00")
    manifest = msgspec.structs.replace(run.manifest, sessions=(elsewhere,))
    assert read(junit(msgspec.structs.replace(run, manifest=manifest)))[0].get("timestamp") == "2026-01-01T00:00:00"


def test_a_section_takes_as_long_as_its_replies(tmp_path: Path) -> None:
    run = measured(tmp_path / "run", limit=3)
    timed = tuple(msgspec.structs.replace(record, latency_s=1.25) for record in run.records)
    assert 'name="section probes" time="3.750"' in junit(msgspec.structs.replace(run, records=timed))


def test_a_confidence_that_nobody_wants_any_more_is_not_missing(tmp_path: Path) -> None:
    def silent(call, probe):
        return None if call.section == "posthoc" else ("abstained", None)

    run = measured(tmp_path / "run", silent, limit=3, confidence=("stated", "posthoc"))
    suite = read(junit(run))[0]
    assert [case.get("name") for case in suite.iter("testcase")] == ["section probes", "section posthoc"]
    assert suite.get("errors") == "0"


@pytest.mark.parametrize(
    "name",
    [
        'x"><failure message="no"/>',
        "x]]>&amp;<!--",
        "\x00\x1b[2J\x7f\x85",
        "a\ud800b\udfff",
        "\ufffe\uffff\U0001fffe",
        "\u202etxt.exe\u2066",
        "line\nline\r\ttab",
        "модель 模型 🙂",
    ],
)
def test_a_hostile_name_stays_text_that_xml_can_hold(run: Run, name: str) -> None:
    hostile = GateResult(gate=f"--max-gap {name}", passed=False, sentence=f"the gap of {name}")
    text = junit(called(run, f"openai:{name}"), [hostile, PASSED], tier=name)
    assert text.isascii()
    suites = read(text)
    assert [element.tag for element in suites.iter("failure")] == ["failure"]
    assert suites[0].get("tests") == "3"
    # as XML 1.0 has it, and without what a terminal or a page would obey
    for element in suites.iter():
        for value in (*element.attrib.values(), (element.text or "").strip()):
            assert value.isprintable()
    if name.isprintable():
        assert suites.find(".//testcase").get("classname") == f"openai:{name}"


def test_a_key_in_a_name_is_not_given_away(run: Run) -> None:
    assert "abcdefghijklmnop" not in junit(called(run, "openai:sk-abcdefghijklmnop1234"))


def test_the_same_run_gives_the_same_bytes(tmp_path: Path) -> None:
    first, again = (measured(tmp_path / part / "run", unmoved, limit=6) for part in ("a", "b"))
    assert junit(first, [FAILED]) == junit(again, [FAILED])


def test_a_manifest_that_has_lost_its_sessions_has_no_time(run: Run) -> None:
    bare = msgspec.structs.replace(run, manifest=msgspec.structs.replace(run.manifest, sessions=()))
    suite = read(junit(bare))[0]
    assert suite.get("timestamp") is None
    assert suite.get("time") == "0.000"
