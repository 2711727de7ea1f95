"""Whoever asks for a page and is refused gets a page; programs get their problem document."""

from typing import Any

import pytest

from placet.application.inbox import Inbox
from placet.application.query import ReadApprovals
from placet.domain.errors import InternalError
from placet.observability.context import request_id
from placet.web.security import HEADERS
from tests.browsing import Browser, words
from tests.harness import Harness, record
from tests.ruled import Opening
from tests.wire import HOST, Exchange

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


def page_headers(answer: Exchange) -> dict[str, str]:
    """Those that every page has."""
    return {name: answer.header(name)[0] for name in HEADERS}


async def asked(h: Harness, method: str, path: str, *accepts: str, host: bytes = HOST[1]) -> Exchange:
    """A request that takes this."""
    headers = [(b"host", host), (b"x-request-id", b"req-7")]
    headers += [(b"accept", each.encode()) for each in accepts]
    return await Exchange(h.app, method, path, headers).run()


REFUSED = [
    ("GET", "/nowhere", 404, "Nothing is here"),
    ("GET", "/a/b/c/d", 404, "Nothing is here"),
    ("GET", "/errors/NOPE", 404, "Nothing is here"),
    ("POST", "/history", 405, "That is not possible here"),
    ("DELETE", "/inbox", 405, "That is not possible here"),
    ("GET", "/signout", 405, "That is not possible here"),
    ("POST", "/", 405, "That is not possible here"),
]


@pytest.mark.parametrize(("method", "path", "status", "title"), REFUSED)
async def test_a_browser_gets_a_page(h: Harness, method: str, path: str, status: int, title: str) -> None:
    """With what guards every page, what to call it by, and the methods that there are."""
    answer = await asked(h, method, path, BROWSER)
    assert (answer.status, answer.header("content-type")) == (status, ["text/html; charset=utf-8"])
    assert page_headers(answer) == HEADERS
    assert answer.header("x-request-id") == ["req-7"]
    assert f"<h1>{title}</h1>" in answer.body.decode()
    assert "req-7" not in answer.body.decode()
    program = await asked(h, method, path, "application/json", "*/*")
    assert program.refusal[0] == status
    assert program.header("content-type") == ["application/problem+json"]
    assert program.header("x-request-id") == ["req-7"]
    assert program.header("allow") == answer.header("allow")
    assert bool(answer.header("allow")) is (status == 405)


@pytest.mark.parametrize(("path", "status"), [("/nowhere", 404), ("/signout", 405)])
async def test_head_is_answered_alike(h: Harness, path: str, status: int) -> None:
    """Without the content."""
    got, headed = await asked(h, "GET", path, BROWSER), await asked(h, "HEAD", path, BROWSER)
    assert (headed.status, headed.headers, headed.body) == (status, got.headers, b"")
    assert headed.header("content-length") == [str(len(got.body))]


@pytest.mark.parametrize("path", ["/v1/nowhere", "/.well-known/x", "/openapi.json", "/healthz", "/readyz"])
async def test_where_only_programs_ask_there_are_no_pages(h: Harness, path: str) -> None:
    """Whatever they take."""
    answer = await asked(h, "DELETE", path, BROWSER)
    assert answer.refusal in {(404, "ROUTE_NOT_FOUND"), (405, "METHOD_NOT_ALLOWED")}


@pytest.mark.parametrize(
    ("accepts", "is_page"),
    [
        ((), False),
        (("*/*",), False),
        (("text/*",), False),
        (("text/html;q=0, application/json",), False),
        (("text/html; q=0.000",), False),
        (("application/json", "Text/HTML;level=1;q=0.1"), True),
        (("text/htmlx",), False),
    ],
)
async def test_a_page_is_asked_for_by_name(h: Harness, accepts: tuple[str, ...], is_page: bool) -> None:  # noqa: FBT001
    """What anything at all would do for is a program's."""
    answer = await asked(h, "GET", "/nowhere", *accepts)
    assert (answer.header("content-type") == ["text/html; charset=utf-8"]) is is_page


async def test_another_name_than_ours(h: Harness) -> None:
    """Is told to a person in their words."""
    answer = await asked(h, "GET", "/inbox", BROWSER, host=b"evil.example")
    assert (answer.status, page_headers(answer)) == (421, HEADERS)
    assert "does not go by the name in the address" in answer.body.decode()


@pytest.mark.parametrize("fault", [RuntimeError("secret-detail"), InternalError()])
async def test_what_nobody_foresaw_has_a_number(
    h: Harness, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, fault: Exception
) -> None:
    """By which an operator finds it in the log; and tells nothing else."""
    await h.approver("ann")
    browser = await Browser(h).signed_in()

    async def breaks(*_: object) -> Any:
        raise fault

    monkeypatch.setattr(Inbox, "of", breaks)
    response = await browser.get("/inbox", {"accept": BROWSER, "x-request-id": "req-8"})
    assert (response.status_code, response.headers["x-request-id"]) == (500, "req-8")
    assert {name: response.headers[name] for name in HEADERS} == HEADERS
    assert "Its number in the log: req-8" in words(response)
    assert "secret-detail" not in response.text
    assert ("a page failed in a way nobody foresaw" in caplog.messages) is isinstance(fault, RuntimeError)


async def test_the_log_has_that_number(
    h: Harness, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Also of what was said on the way to a page."""
    seen: list[str | None] = []

    async def breaks(*_: object) -> Any:
        seen.append(request_id())
        raise InternalError

    monkeypatch.setattr(ReadApprovals, "get", breaks)
    await h.approver("ann")
    response = await (await Browser(h).signed_in()).get("/a/apr_1")
    assert seen == [response.headers["x-request-id"]]


async def test_a_store_that_does_not_answer(h: Harness) -> None:
    """Calmly, with a way to look again; of what was sent nobody is told that it was not done."""
    runtime = await h.client()
    await h.approver("ann")
    waiting = await runtime.asked()
    browser = await Browser(h).signed_in()
    fields = {**await browser.card(waiting["id"]), "decision": "approve"}
    h.redis.connection_pool.connection_kwargs["server"].connected = False
    looked = await browser.get("/inbox?risk=high&page=2")
    assert (looked.status_code, looked.headers["retry-after"]) == (503, "1")
    assert "Nothing was lost, nothing was decided: the store does not answer." in words(looked)
    assert 'href="/inbox?risk=high&amp;page=2">Try again</a>' in looked.text
    for path in (f"/a/{waiting['id']}", f"/a/{waiting['id']}/edit"):
        sent = await browser.post(path, fields)
        assert sent.status_code == 503
        assert "it is not known whether what you sent was done" in words(sent)
        assert f'href="/a/{waiting["id"]}">Try again</a>' in sent.text
    h.redis.connection_pool.connection_kwargs["server"].connected = True


class TestTooLate:
    """Who came before is named."""

    async def test_by_whom(self, under: Opening) -> None:
        """All whose approval counted; and that it has run."""
        ruled = await under("quorum = 2")
        runtime, (bob, cy) = await ruled.parties("bob", "cy")
        one = await runtime.asked()
        browser = await Browser(ruled.h).signed_in("ann")
        fields = {**await browser.card(one["id"]), "decision": "reject"}
        for each in (bob, cy):
            record(await each.decide(one))
        response = await browser.post(f"/a/{one['id']}", fields)
        assert refusal_words(response) == "It was approved by bob and cy before your decision came."
        record(await runtime.consume(one, await runtime.token(one["id"])))
        response = await browser.post(f"/a/{one['id']}", fields)
        assert refusal_words(response) == (
            "It was approved by bob and cy before your decision came, and has run."
        )

    @pytest.mark.parametrize(
        ("end", "said"),
        [
            ("cancel", "Whoever asked withdrew it before your decision came."),
            ("expire", "It expired before your decision came."),
        ],
    )
    async def test_what_ended_meanwhile(self, h: Harness, end: str, said: str) -> None:
        """Is told as it was."""
        runtime = await h.client()
        await h.approver("ann")
        one = await runtime.asked(expires_in_ms=60_000)
        browser = await Browser(h).signed_in()
        fields = {**await browser.card(one["id"]), "decision": "approve"}
        if end == "cancel":
            record(await runtime.cancel(one["id"]))
        else:
            h.clock.move(60_001)
        response = await browser.post(f"/a/{one['id']}", fields)
        assert response.status_code == 409
        assert refusal_words(response) == said


def refusal_words(response: Any) -> str:
    """What the banner of a card says, behind that nothing was decided."""
    said: str = response.text.partition('role="alert">Nothing was decided. ')[2].partition("</p>")[0]
    return said
