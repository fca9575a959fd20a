"""A run as JUnit XML, for the test view of a CI server: each gate and each section is a test case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from selfdiag.protocols.audit import seconds_of
from selfdiag.protocols.gates import GateResult
from selfdiag.report import words
from selfdiag.report.how_asked import run_start
from selfdiag.runs.plan import open_calls
from selfdiag.runs.records import PlannedCall, kind_of
from selfdiag.runs.store import Run
from selfdiag.safety import one_line


def junit(run: Run, gates: Sequence[GateResult] = (), *, tier: str = "") -> str:
    """Return the report; the same run and gates give the same text, which is ASCII whatever the model is called.

    A gate that did not pass is a failure; while calls have no reply none is judged, and each is skipped. A section is
    an error when a call of it has no reply yet or ended in an error; what it took is the sum over its replies, which
    may have been waited for side by side.

    Args:
        run: manifest and records.
        gates: how the gates that were asked for came out.
        tier: its letter, empty for a run that has none.
    """
    model = one_line(run.manifest.settings.model, 120)
    judged = not open_calls(run.manifest.plan, run.latest())
    cases = [_gate(model, one, judged=judged) for one in gates]
    cases += [_section(model, section, run) for section in dict.fromkeys(call.section for call in run.manifest.plan)]
    totals = {
        "tests": str(len(cases)),
        "failures": str(sum(case.find("failure") is not None for case in cases)),
        "errors": str(sum(case.find("error") is not None for case in cases)),
    }
    time = f"{seconds_of(run):.3f}"
    suites = ET.Element("testsuites", {"name": "selfdiag", **totals, "time": time})
    began = run_start(run.manifest)
    # in UTC, and without a zone: the schemas of CI servers have none
    stamp = {} if began is None else {"timestamp": f"{began:%Y-%m-%dT%H:%M:%S}"}
    skipped = str(0 if judged else len(gates))
    name = f"selfdiag {model}{words.if_simulated(run.manifest.model.simulated)}"
    suite = ET.SubElement(suites, "testsuite", {"name": name, **totals, "skipped": skipped, "time": time, **stamp})
    _add_properties(suite, run, tier)
    suite.extend(cases)
    ET.indent(suites)
    return str(ET.tostring(suites, encoding="us-ascii", xml_declaration=True), "ascii") + "\n"


def _case(model: str, name: str, seconds: float) -> ET.Element:
    return ET.Element("testcase", {"classname": model, "name": name, "time": f"{seconds:.3f}"})


def _gate(model: str, result: GateResult, *, judged: bool) -> ET.Element:
    case = _case(model, f"gate {one_line(result.gate, 80)}", 0.0)
    said = one_line(result.sentence, 1000)
    if not judged:
        ET.SubElement(case, "skipped", {"message": "not judged: the run is incomplete"})
    elif result.passed:
        ET.SubElement(case, "system-out").text = said
    else:
        ET.SubElement(case, "failure", {"type": "gate", "message": said}).text = said
    return case


def _section(model: str, section: str, run: Run) -> ET.Element:
    calls = [call for call in run.manifest.plan if call.section == section]
    latest = run.latest()
    took = max(sum(latest[call.call_id].latency_s for call in calls if call.call_id in latest), 0.0)
    case = _case(model, f"section {one_line(section, 40)}", took)
    # what asks for a confidence afterwards is wanted only where there is an answer: the whole plan decides
    missing = _missing([call for call in open_calls(run.manifest.plan, latest) if call.section == section], run)
    if missing:
        said = f"{missing} (of {len(calls)} calls)"
        ET.SubElement(case, "error", {"type": "incomplete", "message": said}).text = said
    return case


def _missing(calls: Sequence[PlannedCall], run: Run) -> str:
    """Return how many of some open calls were not asked, and in which errors the others ended."""
    latest = run.latest()
    records = [latest[call.call_id] for call in calls if call.call_id in latest]
    errors = Counter(one_line(record.error.kind, 40) for record in records if record.error is not None)
    not_asked = len(calls) - len(records)
    said = [f"{not_asked} not asked"] if not_asked else []
    return ", ".join([*said, *(f"{count} ended in an error ({kind})" for kind, count in sorted(errors.items()))])


def _add_properties(suite: ET.Element, run: Run, tier: str) -> None:
    manifest = run.manifest
    said = {
        "run": manifest.run_id,
        "model": manifest.settings.model,
        "simulated": "yes" if manifest.model.simulated else "no",
        "kind": kind_of(manifest.settings.sections),
        "battery": f"{manifest.battery.id} {manifest.battery.version}",
        "tier": tier,
    }
    properties = ET.SubElement(suite, "properties")
    for name, value in said.items():
        if value:
            ET.SubElement(properties, "property", {"name": name, "value": one_line(value, 200)})
