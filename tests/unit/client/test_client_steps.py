"""What is done again and what is not, how long for, and what a caller hears in the end: for both faces."""

import inspect
import threading
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from placet.client import AnswerNotUnderstood, AsyncClient, Client, ServiceUnreachable, StillPending
from placet.client.steps import Retries
from placet.domain.errors import (
    ApprovalNotFound,
    ApprovalPending,
    InputInvalid,
    InternalError,
    Issue,
    IssuerUnavailable,
    PendingFace,
    PlacetError,
    RateLimited,
    RateLimitReason,
    StoreUnavailable,
    UnknownCode,
)
from tests.agents import CALL, RECORD, TOKEN, URL, Scene, problem, record

Making = Callable[..., Scene]
BROKEN, REFUSED = httpx.ReadError("broken"), httpx.ConnectError("refused")
FULL = RateLimited(RateLimitReason.RATE, retry_after_ms=7000)
PENDING = ApprovalPending(PendingFace(approval_id="apr_1", summary="", expires_at="", effect="none"))
SPENT = {
    "status": "consumed",
    "consumption": {"execution_id": "e-1", "client": "runtime", "at": RECORD["expires_at"]},
}


def page(status: int, text: str = "<h1>Bad Gateway</h1>", **headers: str) -> httpx.Response:
    """What a gateway answers."""
    return httpx.Response(status, text=text, headers={"content-type": "text/html", **headers})


def cut(status: int = 200) -> httpx.Response:
    """Half of an answer."""
    return httpx.Response(status, content=b'{"id": "apr', headers={"content-type": "application/json"})


class TestSentAgain:
    """Calls that got lost or were put off."""

    @pytest.mark.parametrize(
        "lost",
        [
            BROKEN,
            REFUSED,
            httpx.ReadTimeout("late"),
            problem(StoreUnavailable()),
            problem(IssuerUnavailable()),
            problem(FULL),
            problem(UnknownCode("NEW", status=503, retryable=True)),
            page(502),
            page(503),
            page(504),
            cut(),
        ],
        ids=str,
    )
    async def test_until_there_is_an_answer(self, scene: Making, lost: Any) -> None:
        """The same bytes under the same key and the same request id."""
        s = scene(lost, lost, record(), took_s=0)
        assert (await s.agent.ask(CALL)).id == "apr_1"
        assert len({each.content for each in s.requests}) == 1
        for header in ("idempotency-key", "x-request-id", "authorization"):
            assert len({each.headers[header] for each in s.requests}) == 1
        assert len(s.requests[0].headers["idempotency-key"]) == 32
        assert len(s.pauses) == 2

    async def test_the_pause_doubles_and_is_drawn(self, scene: Making) -> None:
        """Full jitter, up to a longest pause; the draw is a half here."""
        s = scene(*[BROKEN] * 6, record(), took_s=0)
        await s.agent.get("apr_1")
        assert s.pauses == [0.125, 0.25, 0.5, 1, 2, 4]

    async def test_a_delay_that_is_asked_for_is_kept(self, scene: Making) -> None:
        """Whoever says it, and a little longer, so that not all come back at once."""
        s = scene(problem(FULL), page(503, **{"retry-after": "3"}), record(), took_s=0)
        await s.agent.get("apr_1")
        assert s.pauses == [7.125, 3.25]

    async def test_not_for_ever(self, scene: Making) -> None:
        """The last fault is raised, under the id of the request."""
        s = scene(*[BROKEN] * 3, most=2)
        with pytest.raises(ServiceUnreachable) as gone:
            await s.agent.get("apr_1")
        assert (len(s.requests), s.left) == (3, 0)
        assert gone.value.request_id == s.requests[0].headers["x-request-id"]

    async def test_not_where_the_pause_leads_beyond_the_end(self, scene: Making) -> None:
        """A full queue that asks for a minute is told at once."""
        s = scene(problem(RateLimited(RateLimitReason.QUEUE_FULL, retry_after_ms=60_000)))
        with pytest.raises(RateLimited) as full:
            await s.agent.ask(CALL)
        assert (s.pauses, full.value.retry_after_s()) == ([], 60)

    @pytest.mark.parametrize(
        "said",
        [
            problem(PENDING),
            problem(ApprovalNotFound()),
            problem(InternalError()),
            problem(UnknownCode("NEW", status=409, retryable=True)),
            page(200),
            page(404),
            page(302, location="https://evil.example/"),
            httpx.Response(200, json=[]),
            httpx.Response(200, content=b"[" * 100_000, headers={"content-type": "application/problem+json"}),
        ],
        ids=str,
    )
    async def test_not_where_it_would_not_help(self, scene: Making, said: httpx.Response) -> None:
        """A verdict stands; whatever is not the service stays so."""
        s = scene(said)
        with pytest.raises(PlacetError):
            await s.agent.get("apr_1")
        assert len(s.requests) == 1

    @pytest.mark.parametrize(
        ("said", "again"),
        [
            (BROKEN, False),
            (page(502), False),
            (problem(StoreUnavailable()), False),
            (REFUSED, True),
            (problem(FULL), True),
            (problem(IssuerUnavailable()), True),
        ],
        ids=str,
    )
    async def test_a_question_that_may_join_is_not_asked_twice(
        self, scene: Making, said: Any, *, again: bool
    ) -> None:
        """Only where nothing was done."""
        s = scene(said, record(), took_s=0)
        if again:
            await s.agent.ask(CALL, join=True)
        else:
            with pytest.raises(PlacetError):
                await s.agent.ask(CALL, join=True)
        assert len(s.requests) == 1 + again
        assert "idempotency-key" not in s.requests[0].headers

    async def test_a_key_of_one_s_own(self, scene: Making) -> None:
        """It is sent as it is."""
        s = scene(record())
        await s.agent.ask(CALL, idempotency_key="job-7", join=True)
        assert s.requests[0].headers["idempotency-key"] == "job-7"


class TestTold:
    """What an error says."""

    async def test_the_id_of_the_request(self, scene: Making) -> None:
        """As the service says it, for its log."""
        s = scene(problem(InternalError(), **{"x-request-id": "rid-1"}))
        with pytest.raises(InternalError) as fault:
            await s.agent.get("apr_1")
        assert fault.value.request_id == "rid-1"

    async def test_a_redirect_is_not_followed(self, scene: Making) -> None:
        """The credential goes to one host alone, whatever the given HTTP client would do."""
        s = scene(page(307, location="https://evil.example/v1/approvals"))
        with pytest.raises(AnswerNotUnderstood, match="a redirect, which is not followed") as told:
            await s.agent.ask(CALL)
        assert [each.url.host for each in s.requests] == ["placet.example"]
        assert (told.value.answered, told.value.effect_unknown) == (307, True)
        assert "evil" not in str(told.value)

    @pytest.mark.parametrize("said", [page(200), cut(404), httpx.Response(200, json={"id": "apr_1"})])
    async def test_nothing_of_an_answer_that_is_not_ours(self, scene: Making, said: httpx.Response) -> None:
        """A page, half of a document, a document of another kind."""
        with pytest.raises(AnswerNotUnderstood) as told:
            await scene(said).agent.get("apr_1")
        assert not told.value.effect_unknown
        assert not {"Gateway", "apr_1"} & set(str(told.value).split())

    async def test_a_good_status_is_no_refusal(self, scene: Making) -> None:
        """Nor is a refusal in its words an answer."""
        refused = problem(ApprovalNotFound())
        said = httpx.Response(200, content=refused.content, headers=refused.headers)
        with pytest.raises(AnswerNotUnderstood):
            await scene(said).agent.get("apr_1")

    async def test_no_secret(self, scene: Making) -> None:
        """Not even of a header that httpx complains about."""
        s = scene(httpx.LocalProtocolError(f"Illegal header value b'Bearer {TOKEN}'"), most=0)
        with pytest.raises(ServiceUnreachable) as told:
            await s.agent.ask(CALL)
        assert TOKEN not in f"{told.value!r}{told.value}{told.value.__context__!r}{told.value.__cause__!r}"


class TestWaiting:
    """Poll after poll."""

    async def test_until_it_is_decided(self, scene: Making) -> None:
        """With a word after each poll that brought nothing."""
        s = scene(record(), record(), record(status="approved", token="t"), took_s=50)
        seen: list[str] = []
        approval = await s.agent.wait("apr_1", on_progress=lambda each: seen.append(each.status))
        assert (approval.status, approval.token) == ("approved", "t")
        assert seen == ["pending", "pending"]
        assert [each.url.params["wait"] for each in s.requests] == ["50"] * 3
        assert s.pauses == []

    async def test_not_longer_than_was_said(self, scene: Making) -> None:
        """The last poll is as long as there is time."""
        s = scene(record(), record(), record(capability="x"), took_s=50)
        with pytest.raises(StillPending, match="The approval apr_1 is still pending") as late:
            await s.agent.wait("apr_1", timeout_s=119.5)
        assert [each.url.params["wait"] for each in s.requests] == ["50", "50", "20"]
        assert late.value.approval is not None
        assert late.value.approval.capability == "x"

    async def test_no_time_is_one_look(self, scene: Making) -> None:
        """At once."""
        s = scene(record(), took_s=0)
        with pytest.raises(StillPending):
            await s.agent.wait("apr_1", timeout_s=0)
        assert "wait" not in s.requests[0].url.params

    async def test_a_service_that_answers_at_once_is_not_stormed(self, scene: Making) -> None:
        """As one does that is stopping: a second from one poll to the next, and not beyond the end."""
        s = scene(record(), record(), took_s=0.25)
        with pytest.raises(StillPending):
            await s.agent.wait("apr_1", timeout_s=1.25)
        assert s.pauses == [0.75]
        assert s.now_s == 1.25

    async def test_an_outage_is_sat_out_while_there_is_time(self, scene: Making) -> None:
        """However often it takes; without a limit, and where nothing is to be tried again, it is told."""
        s = scene(*[REFUSED] * 30, record(status="approved"), took_s=1)
        assert (await s.agent.wait("apr_1", timeout_s=600)).is_approved
        for options, members in (({"most": 2}, {}), ({"most": 0}, {"timeout_s": 600})):
            s = scene(*[REFUSED] * 30, **options)
            with pytest.raises(ServiceUnreachable):
                await s.agent.wait("apr_1", **members)
            assert len(s.requests) == options["most"] + 1

    async def test_an_outage_up_to_the_end_is_told(self, scene: Making) -> None:
        """It is not known to be pending."""
        s = scene(*[REFUSED] * 30, took_s=5)
        with pytest.raises(ServiceUnreachable):
            await s.agent.wait("apr_1", timeout_s=20)
        assert s.now_s <= 25

    async def test_a_lower_limit_of_the_service_is_kept(self, scene: Making) -> None:
        """An operator may have set one."""
        too_long = problem(InputInvalid([Issue(path="/wait", message="It must be at most 20.")]))
        s = scene(too_long, too_long, record(), record(status="rejected"))
        assert (await s.agent.wait("apr_1")).status == "rejected"
        assert [each.url.params["wait"] for each in s.requests] == ["50", "25", "12", "12"]

    @pytest.mark.parametrize(("path", "poll_s"), [("/wait", 1), ("/id", 50)])
    async def test_another_fault_is_told(self, scene: Making, path: str, poll_s: int) -> None:
        """No poll is shorter than a second."""
        s = scene(problem(InputInvalid([Issue(path=path, message="No.")])))
        with pytest.raises(InputInvalid):
            await s.agent.wait("apr_1", poll_s=poll_s)

    async def test_a_word_may_be_awaited(self) -> None:
        """Of the face that can."""
        s, seen = Scene("async", [record(), record(status="expired")]), []

        async def tell(approval: Any) -> None:
            seen.append(approval.status)

        await s.agent.wait("apr_1", on_progress=tell)
        assert seen == ["pending"]

    async def test_a_thread_can_be_told_to_stop(self) -> None:
        """It looks up every few seconds; what it saw last is told."""
        stop = threading.Event()
        s = Scene("sync", [record(), record()])
        with pytest.raises(StillPending) as stopped:
            await s.agent.wait("apr_1", stop=stop, on_progress=lambda _: stop.set())
        assert [each.url.params["wait"] for each in s.requests] == ["5"]
        assert stopped.value.approval is not None
        assert stopped.value.approval.id == "apr_1"

    async def test_a_pause_is_cut_short_too(self) -> None:
        """Before anything was seen."""
        stop = threading.Event()
        s = Scene("sync", [REFUSED, record()], first_s=600.0, longest_s=600.0, within_s=6000.0)
        threading.Timer(0.05, stop.set).start()
        with pytest.raises(StillPending) as stopped:
            await s.agent.wait("apr_1", stop=stop)
        assert (stopped.value.approval, len(s.requests)) == (None, 1)


class TestListing:
    """Page after page."""

    async def test_to_the_end(self, scene: Making) -> None:
        """A short page is not the last one; filters go along."""
        pages = [
            {"items": [RECORD], "next_cursor": "c1"},
            {"items": [], "next_cursor": "c2"},
            {"items": [{**RECORD, "id": "apr_2"}], "next_cursor": None},
        ]
        s = scene(*(httpx.Response(200, json=each) for each in pages))
        found = await s.agent.first(9, "list", run="r", limit=1)
        assert [each.id for each in found] == ["apr_1", "apr_2"]
        assert [each.url.query.decode() for each in s.requests] == [
            "run=r&limit=1",
            "run=r&limit=1&cursor=c1",
            "run=r&limit=1&cursor=c2",
        ]


class TestConsuming:
    """Once, whatever gets lost."""

    async def test_a_lost_answer_is_resolved(self, scene: Making) -> None:
        """Asked again in the same execution. Of one's own execution a replay is no go-ahead."""
        s = scene(BROKEN, record(**SPENT, replayed=True), took_s=0)
        spent = await s.agent.consume("apr_1", CALL, token="t", execution_id="e-1")
        assert (spent.replayed, spent.go_ahead, spent.execution_id) == (True, False, "e-1")
        assert s.requests[0].content == s.requests[1].content

    async def test_a_fresh_execution_each_time(self, scene: Making) -> None:
        """Unless one is given."""
        s = scene(*[problem(ApprovalNotFound())] * 2)
        for _ in range(2):
            with pytest.raises(ApprovalNotFound):
                await s.agent.consume("apr_1", CALL, token="t")
        assert s.requests[0].content != s.requests[1].content


def test_the_faces_are_one_client() -> None:
    """The same verbs with the same parameters; a thread can be told to stop besides."""

    def verbs(face: type) -> dict[str, list[str]]:
        return {
            name: list(inspect.signature(verb).parameters)
            for name, verb in inspect.getmembers(face, inspect.isfunction)
            if not name.startswith("_")
        }

    waiting = verbs(AsyncClient)
    waiting["close"] = waiting.pop("aclose")
    waiting["wait"].append("stop")
    assert verbs(Client) == waiting


def test_chance_and_clock_are_real_by_default() -> None:
    """A pause is drawn from all there is up to the longest."""
    retries = Retries()
    assert 0 <= retries.pause_s(0) <= 0.25
    assert 2 <= retries.pause_s(10_000, 2000) <= 10
    assert retries.now_s() > 0


async def test_they_close_what_is_theirs() -> None:
    """And leave open what was given to them."""
    async with AsyncClient(URL, TOKEN) as client:
        own = client._http
    assert own.is_closed
    with Client(URL, TOKEN) as blocking:
        also_own = blocking._http
    assert also_own.is_closed
    async with httpx.AsyncClient() as given:
        async with AsyncClient(URL, TOKEN, http=given):
            pass
        assert not given.is_closed
    with httpx.Client() as also_given:
        with Client(URL, TOKEN, http=also_given):
            pass
        assert not also_given.is_closed
