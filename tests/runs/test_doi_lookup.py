"""DOIs are looked up at a resolver: what exists, what does not, and what says neither."""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import AsyncIterator, Callable

import httpx
import pytest
from http_stub import CERTIFICATE, Answer, Fault, Request, Stub, as_json

from selfdiag.elicit.citations import LookedUp
from selfdiag.runs.doi_lookup import MAX_BODY_BYTES, MAX_REDIRECTS, RECORD, look_up
from selfdiag.safety import SelfdiagError

DOI = "10.1000/182"
BELL = {
    "title": "On the Einstein Podolsky Rosen paradox",
    "issued": {"date-parts": [[1964, 11, 1]]},
    "author": [{"given": "J. S.", "family": "Bell"}],
}
NAMED = LookedUp(exists=True, title="On the Einstein Podolsky Rosen paradox", year=1964, surname="Bell")
KNOWN = LookedUp(exists=True)


def base(stub: Stub) -> str:
    return stub.url.removesuffix("/v1")


def moved(stub: Stub, path: str = "/record", status: int = 302) -> Answer:
    return Answer(status=status, headers={"location": f"{base(stub)}{path}"})


@pytest.fixture
async def trusting() -> AsyncIterator[httpx.AsyncClient]:
    """A client that trusts the stub's own certificate."""
    context = ssl.create_default_context(cafile=str(CERTIFICATE))
    async with httpx.AsyncClient(verify=context, trust_env=False) as client:
        yield client


async def found(answer: Answer, **options: object) -> LookedUp:
    with Stub(answer) as stub:
        return (await look_up([DOI], base_url=base(stub), **options))[DOI]  # type: ignore[arg-type]


async def fault(answer: Answer, timeout: float = 20.0) -> str:
    with Stub(answer) as stub, pytest.raises(SelfdiagError) as caught:
        await look_up([DOI], base_url=base(stub), timeout=timeout)
    text = str(caught.value)
    assert caught.value.exit_code == 3
    assert "--online needs the network" in text and DOI in text and "\n" not in text
    assert caught.value.__cause__ is None
    return text


async def test_a_record_is_read() -> None:
    with Stub(as_json(BELL)) as stub:
        assert await look_up([DOI], base_url=f"{base(stub)}/") == {DOI: NAMED}
    request = stub.requests[0]
    assert (request.method, request.target, request.body) == ("GET", f"/{DOI}", b"")
    assert request.headers["accept"] == RECORD == "application/vnd.citationstyles.csl+json"


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({**BELL, "title": ["On the <i>Einstein</i> Podolsky Rosen\n paradox", "Other"]}, NAMED),
        ({**BELL, "issued": {"date-parts": [["1964"]]}}, NAMED),
        ({"title": "Q&amp;A \u202e1 &lt; 2"}, LookedUp(exists=True, title="Q&A 1 < 2")),
        ({"title": "a" * 5000}, LookedUp(exists=True, title="a" * 1000)),
        ({}, KNOWN),
        ({"title": None, "issued": None, "author": None}, KNOWN),
        ({"title": [], "issued": {"date-parts": []}, "author": []}, KNOWN),
        ({"title": [3], "issued": {"date-parts": [[None]]}, "author": [{"literal": "A Group"}]}, KNOWN),
        ({"title": {"x": 1}, "issued": {"date-parts": [[True]]}, "author": ["Bell"]}, KNOWN),
        ({"issued": {"date-parts": [[0]]}, "author": {"family": "Bell"}}, KNOWN),
        ({"issued": {"date-parts": "1964"}}, KNOWN),
        ({"issued": {"date-parts": [[10**30]]}}, KNOWN),
        ({"issued": [1964]}, KNOWN),
    ],
)
async def test_records_of_any_shape(record: object, expected: LookedUp) -> None:
    assert await found(as_json(record)) == expected


async def test_only_what_has_the_form_of_a_doi_is_sent() -> None:
    wrong = [
        "",
        "10.12/a",
        "10.1000/..",
        "10.1000/a b",
        "../10.1000/a",
        "http://127.0.0.1/10.1000/a",
        "10.1000/\ud800a",
    ]
    with Stub(as_json(BELL)) as stub:
        assert await look_up([*wrong, DOI, DOI], base_url=base(stub)) == {DOI: NAMED}
        assert await look_up(wrong, base_url=base(stub)) == {}
    assert [request.target for request in stub.requests] == [f"/{DOI}"]


@pytest.mark.parametrize("own", [True, False])
async def test_a_doi_is_encoded_whole_in_the_path(own: bool, trusting: httpx.AsyncClient) -> None:
    dois = [
        "10.1000/a/../../b?c#d",
        "10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2",
        "10.1000/%2e%2e/a!$&'*+,=@\"[]^`{|}\\~",
    ]
    with Stub(as_json(BELL)) as stub:
        assert set(await look_up(dois, base_url=base(stub), client=None if own else trusting)) == set(dois)
    assert [request.target for request in stub.requests] == [
        "/10.1000/a%2F..%2F..%2Fb%3Fc%23d",
        "/10.1175/1520-0493(1950)078%3C0001:VOFEIT%3E2.0.CO;2",
        "/10.1000/%252e%252e%2Fa!$&'*+,=@%22%5B%5D%5E%60%7B%7C%7D%5C~",
    ]


async def test_the_resolver_says_that_a_doi_does_not_exist() -> None:
    assert await found(Answer(status=404, body=b"not found")) == LookedUp(exists=False)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirects_to_https_are_followed(status: int, trusting: httpx.AsyncClient) -> None:
    with Stub(as_json(BELL), tls=True) as agency, Stub(moved(agency, status=status)) as stub:
        assert await look_up([DOI], base_url=base(stub), client=trusting) == {DOI: NAMED}
    assert [request.target for request in agency.requests] == ["/record"]
    assert agency.requests[0].headers["accept"] == RECORD


async def test_a_relative_redirect_stays_with_its_server(trusting: httpx.AsyncClient) -> None:
    def decide(request: Request) -> Answer:
        return as_json(BELL) if request.target == "/b" else Answer(status=302, headers={"location": "/b"})

    with Stub(decide=decide, tls=True) as stub:
        assert await look_up([DOI], base_url=base(stub), client=trusting) == {DOI: NAMED}


async def test_a_redirect_without_encryption_is_not_followed() -> None:
    with Stub(as_json(BELL)) as other, Stub(moved(other)) as stub:
        # the resolver knows where the work is, and so the DOI
        assert await look_up([DOI], base_url=base(stub)) == {DOI: KNOWN}
    assert other.requests == []
    assert "unencrypted" in await fault(Answer(status=302, headers={"location": "/b"}))


@pytest.mark.parametrize("location", ["http://[::1", "https://a:b/", "https://[v1.x]/", "https://xn--/", "mailto:x"])
async def test_a_redirect_to_no_address_is_told_in_plain_words(location: str) -> None:
    told = await fault(Answer(status=302, headers={"location": location}))
    assert "redirects to an address that cannot be read (for the DOI" in told


@pytest.mark.parametrize(
    "location",
    ["https://user:word@127.0.0.1:9/x", "https://user@127.0.0.1:9/", "https://", "https://a:99999/", "https://..a/"],
)
async def test_a_redirect_to_an_address_that_cannot_be_asked_leaves_a_doi_that_exists(location: str) -> None:
    assert await found(Answer(status=302, headers={"location": location})) == KNOWN


async def test_five_redirects_are_followed_and_no_sixth(trusting: httpx.AsyncClient) -> None:
    def chain(length: int) -> Callable[[Request], Answer]:
        def decide(request: Request) -> Answer:
            step = int(request.target.removeprefix("/"))
            return as_json(BELL) if step == length else Answer(status=302, headers={"location": f"/{step + 1}"})

        return decide

    for length, expected in ((MAX_REDIRECTS, NAMED), (MAX_REDIRECTS + 1, KNOWN)):
        with Stub(decide=chain(length), tls=True) as agency, Stub(moved(agency, "/1")) as stub:
            assert await look_up([DOI], base_url=base(stub), client=trusting) == {DOI: expected}
        assert len(agency.requests) == MAX_REDIRECTS
    with Stub(Answer(status=302, headers={"location": "/a"}), tls=True) as stub:
        with pytest.raises(SelfdiagError, match="in a circle"):
            await look_up([DOI], base_url=base(stub), client=trusting)
        assert len(stub.requests) == MAX_REDIRECTS + 1


UNREADABLE = [
    Answer(body=b"<html>", headers={"content-type": "text/html"}),
    Answer(body=b"{", headers={"content-type": RECORD}),
    Answer(body=b"\xff\xfe"),
    Answer(body=b"[]"),
    Answer(body=b"[" * 100_000),
    Answer(body=json.dumps(BELL).encode(), headers={"content-encoding": "gzip"}),
    Answer(body=b" " * (MAX_BODY_BYTES + 1)),
    Answer(fault="endless"),
    Answer(status=204),
    Answer(status=403),
    Answer(status=406),
]


@pytest.mark.parametrize("answer", [*UNREADABLE, Answer(status=404)])
async def test_another_server_without_a_record_leaves_a_doi_that_exists(
    answer: Answer, trusting: httpx.AsyncClient
) -> None:
    with Stub(answer, tls=True) as agency, Stub(moved(agency)) as stub:
        assert await look_up([DOI], base_url=base(stub), client=trusting) == {DOI: KNOWN}


@pytest.mark.parametrize("answer", UNREADABLE)
async def test_a_resolver_without_a_record_says_nothing(answer: Answer) -> None:
    assert "no record" in await fault(answer)


@pytest.mark.parametrize("status", [408, 429, 500, 503])
async def test_a_server_that_is_out_of_order_says_nothing(status: int, trusting: httpx.AsyncClient) -> None:
    assert str(status) in await fault(Answer(status=status))
    with (
        Stub(Answer(status=status), tls=True) as agency,
        Stub(moved(agency)) as stub,
        pytest.raises(SelfdiagError, match=f"{base(agency)} .* {status}"),
    ):
        await look_up([DOI], base_url=base(stub), client=trusting)


@pytest.mark.parametrize("kind", ["reset", "close", "half", "half_reset", "garbage"])
async def test_a_broken_connection_is_told(kind: Fault) -> None:
    await fault(Answer(body=json.dumps(BELL).encode(), fault=kind))


@pytest.mark.parametrize("kind", ["silent", "stall", "drip"])
async def test_a_silent_server_is_not_waited_for(kind: Fault) -> None:
    start = time.monotonic()
    assert "in time" in await fault(Answer(body=json.dumps(BELL).encode(), fault=kind), timeout=0.3)
    assert time.monotonic() - start < 5


async def test_no_server_and_no_trust_are_told() -> None:
    with Stub(as_json(BELL)) as stub:
        gone = base(stub)
    with pytest.raises(SelfdiagError, match="--online needs the network: no server answers at") as caught:
        await look_up([DOI], base_url=gone)
    assert caught.value.exit_code == 3
    with Stub(as_json(BELL), tls=True) as stub, pytest.raises(SelfdiagError, match="certificate"):
        await look_up([DOI], base_url=base(stub))


async def test_a_record_of_one_megabyte_is_read() -> None:
    body = json.dumps(BELL).encode()
    assert await found(Answer(body=body + b" " * (MAX_BODY_BYTES - len(body)))) == NAMED
