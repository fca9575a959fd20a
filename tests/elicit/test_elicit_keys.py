import msgspec

from selfdiag.battery.items import Battery, Probe
from selfdiag.battery.load import shipped
from selfdiag.elicit.keys import key_faults

PROBE = Probe(
    id="p", bin="own", difficulty="easy", kind="number", answer="4", questions=("What is 2 + 2?",), derivation="2 + 2"
)


def faults(**changes: object) -> list[str]:
    probe = msgspec.structs.replace(PROBE, **changes)
    return key_faults(Battery(id="b", version="1", probes=(probe,))).get("p", [])


def test_the_shipped_keys_are_understood() -> None:
    assert key_faults(shipped()) == {}


def test_a_key_or_alias_that_the_grader_cannot_read_is_named() -> None:
    assert faults() == []
    assert faults(kind="expression", answer="x**2+") == ["the answer 'x**2+' cannot be read as kind 'expression'"]
    assert faults(answer="abc") == ["the answer 'abc' cannot be read as kind 'number'"]
    assert faults(kind="date", answer="some day") == ["the answer 'some day' cannot be read as kind 'date'"]
    assert faults(kind="text", answer="abc") == []
    assert faults(misconception="4.0") == ["the grader accepts the misconception '4.0'"]
