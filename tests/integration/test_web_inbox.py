"""Working through an inbox: some of it, page by page, run by run, and rejecting several at once."""

import html
import re
from typing import Any

import httpx
import pytest

from placet.domain.errors import StoreUnavailable
from placet.store.approvals import Approvals
from tests.browsing import Browser, words
from tests.harness import Harness, Party, record
from tests.ruled import Opening
from tests.tampering import part, rewritten

ROWS = re.compile(r'class="row[^"]*" href="/a/([^"]+)"')
CHOICES = re.compile(r'name="(chosen-[^"]+)" value="([^"]+)"')
CSRF = re.compile(r'name="csrf" value="([^"]+)"')


def rows(response: httpx.Response) -> list[str]:
    """The approvals that are shown, in order."""
    return ROWS.findall(response.text)


async def several(runtime: Party, *members: dict[str, Any]) -> list[str]:
    """Asked one after the other; the later, the later they expire."""
    asked = [
        await runtime.asked(input=number, expires_in_ms=60_000 + number * 1_000, **each)
        for number, each in enumerate(members)
    ]
    return [each["id"] for each in asked]


class TestNarrowing:
    """Some of what awaits somebody."""

    @pytest.mark.parametrize(
        ("query", "left"),
        [
            ({}, [0, 1, 2]),
            ({"capability": "orders.cancel"}, [1]),
            ({"risk": "high"}, [1, 2]),
            ({"run": "run-1"}, [0]),
            ({"asked_by": "runtime", "risk": "low"}, [0]),
            ({"asked_by": "other"}, []),
            ({"risk": "none of these", "page": "7"}, []),
            ({"page": "0"}, [0, 1, 2]),
            ({"page": "x"}, [0, 1, 2]),
            ({"page": "9999"}, [0, 1, 2]),
        ],
    )
    async def test_by_what_differs(self, h: Harness, query: dict[str, str], left: list[int]) -> None:
        """Alone and together; whatever else stands in an address is passed over."""
        runtime = await h.client()
        await h.approver("ann")
        ids = await several(
            runtime,
            {"risk": "low", "run": "run-1"},
            {"risk": "high", "capability": "orders.cancel"},
            {"risk": "high"},
        )
        browser = await Browser(h).signed_in()
        response = await browser.get(f"/inbox?{httpx.QueryParams(query)}")
        assert rows(response) == [ids[each] for each in left]
        assert "<title>(3) Inbox" in response.text
        narrowed = set(query) - {"page"}
        assert (f"{len(left)} of them" in words(response)) is bool(narrowed)

    async def test_what_is_alike_is_no_choice(self, h: Harness) -> None:
        """One capability of everything is nothing to choose from; what is chosen stays chosen."""
        runtime = await h.client()
        await h.approver("ann")
        await several(runtime, {"risk": "low"}, {"risk": "high"})
        browser = await Browser(h).signed_in()
        page = (await browser.get("/inbox")).text
        assert re.findall(r'<select id="(\w+)"', page) == ["risk"]
        assert "<summary>Filters</summary>" in page  # as in the history
        chosen = (await browser.get("/inbox?risk=high&run=%3Cb%3E%E2%80%AE")).text
        assert re.findall(r'<option value="([^"]*)" selected>', chosen) == ["high", "&lt;b&gt;\u202e"]
        assert "<b>" not in chosen

    async def test_pages_turn_with_what_was_chosen(self, h: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
        """Each question is on one of them."""
        monkeypatch.setattr("placet.web.inbox_pages.ROWS_MAX", 2)
        runtime = await h.client()
        await h.approver("ann")
        ids = await several(runtime, *[{"risk": "high"}] * 5, {"risk": "low"})
        browser = await Browser(h).signed_in()
        found, path = [], "/inbox?risk=high"
        for number in (1, 2, 3):
            response = await browser.get(path)
            assert f"Page {number} of 3" in words(response)
            found += rows(response)
            later = re.findall(r'href="([^"]+)">Later<', response.text)
            path = html.unescape(later[0]) if later else ""
        assert found == ids[:5]
        assert path == ""
        assert 'href="/inbox?risk=high&amp;page=2">Sooner<' in response.text

    async def test_what_one_run_asks_is_together(self, h: Harness) -> None:
        """Where its first to expire would be; a run of one question is like any other question."""
        runtime, other = await h.client(), await h.client("other")
        await h.approver("ann")
        ids = await several(runtime, {"run": "r-1"}, {}, {"run": "r-1"}, {"run": "r-2"})
        ids += await several(other, {"run": "r-1"})
        browser = await Browser(h).signed_in()
        response = await browser.get("/inbox")
        order = rows(response)
        assert order.index(ids[2]) == order.index(ids[0]) + 1
        assert set(order) == set(ids)
        assert re.findall(r"<h2>(Run [^ ]+)", response.text) == ["Run r-1"]
        assert "Run r-1 · 2 questions" in words(response)


async def test_what_was_not_looked_at_is_told(h: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    """What expires first is looked at first; nobody hears that nothing awaits them where that is unknown."""
    monkeypatch.setattr("placet.application.inbox._PAGE", 2)
    monkeypatch.setattr("placet.application.inbox.LOOKED_AT_MAX", 4)
    runtime, _ = await h.client(), await h.approver("ann")
    browser = await Browser(h).signed_in()
    for number in range(5):
        asked = await runtime.asked(input=number, expires_in_ms=60_000 * (9 - number))
        page = await browser.get("/inbox")
        assert rows(page)[0] == asked["id"]
        assert ("not all of it was looked at" in words(page)) is (number >= 4)
    assert len(rows(page)) == 4
    await h.approver("agent-7")
    own = words(await (await Browser(h).signed_in("agent-7")).get("/inbox"))
    assert "not all of it was looked at" in own


class TestNews:
    """What the script of an inbox asks."""

    async def test_what_came_since_and_is_wanted(self, anywhere: Harness) -> None:
        """And how much awaits them in all; of others' questions nothing."""
        runtime = await anywhere.client()
        await anywhere.approver("ann")
        browser = await Browser(anywhere).signed_in()
        await several(runtime, {"risk": "high"}, {"risk": "low"})
        since = anywhere.clock.now_ms()
        anywhere.clock.move(1)
        await several(runtime, {"risk": "high", "run": "r"}, {"run": "r"}, {"risk": "low", "run": "r"})
        await runtime.asked(input="own", actor={"id": "ann", "kind": "user"})
        for query, told in (
            (f"since={since}", {"awaiting": 5, "new": 3}),
            (f"since={since}&risk=high&page=3", {"awaiting": 5, "new": 1}),
            (f"since={since}&run=r", {"awaiting": 5, "new": 3}),
            (f"since={since + 1}", {"awaiting": 5, "new": 0}),
            ("since=x&risk=low", {"awaiting": 5, "new": 2}),
            ("", {"awaiting": 5, "new": 5}),
        ):
            response = await browser.get(f"/ui/inbox?{query}")
            assert (response.status_code, response.json()) == (200, told)
            assert response.headers["cache-control"] == "no-store"

    async def test_an_inbox_says_since_when(self, h: Harness) -> None:
        """Also where nothing awaits anybody yet."""
        await h.approver("ann")
        page = await (await Browser(h).signed_in()).get("/inbox")
        assert f'data-now="{h.clock.now_ms()}"' in page.text

    async def test_asking_is_no_use_of_a_session(self, anywhere: Harness) -> None:
        """Nor does it need one less than the inbox does."""
        await anywhere.approver("ann")
        browser = await Browser(anywhere).signed_in()
        (key,) = [each async for each in anywhere.redis.scan_iter("{placet:default}:u:*")]
        await anywhere.redis.pexpire(key, 10_000)
        assert (await browser.get("/ui/inbox")).status_code == 200
        assert await anywhere.redis.pttl(key) <= 10_000
        assert (await Browser(anywhere).get("/ui/inbox")).status_code == 303


class TestNext:
    """From one question to the next."""

    async def test_it_is_the_first_to_expire(self, h: Harness) -> None:
        """Or the inbox, once nothing waits."""
        runtime = await h.client()
        await h.approver("ann")
        ids = await several(runtime, {}, {})
        browser = await Browser(h).signed_in()
        for place in (*(f"/a/{each}" for each in ids), "/inbox"):
            response = await browser.get("/next")
            assert (response.status_code, response.headers["location"]) == (303, place)
            if place != "/inbox":
                assert (await browser.decide(place.removeprefix("/a/"), "approve")).status_code == 303
                assert 'href="/next"' in (await browser.get(place)).text


async def choices(browser: Browser) -> tuple[dict[str, str], dict[str, str]]:
    """What can be ticked in the inbox, and what is sent besides by the button that rejects."""
    page = (await browser.get("/inbox")).text
    csrf = CSRF.search(page)
    assert csrf is not None
    return dict(CHOICES.findall(page)), {"csrf": csrf[1], "decision": "reject"}


class TestSeveral:
    """Rejecting more than one."""

    async def test_those_ticked_are_rejected(self, anywhere: Harness) -> None:
        """With one comment for all; the others wait on."""
        runtime = await anywhere.client()
        await anywhere.approver("ann")
        ids = await several(runtime, {}, {}, {})
        browser = await Browser(anywhere).signed_in()
        ticks, form = await choices(browser)
        ticked = {name: value for name, value in ticks.items() if not name.endswith(ids[1])}
        response = await browser.post("/inbox", {**form, **ticked, "comment": "not\r\ntoday"})
        assert response.status_code == 200
        assert "2 were rejected" in words(response)
        for each, status in zip(ids, ("rejected", "pending", "rejected"), strict=True):
            seen = await runtime.seen(each)
            assert seen["status"] == status
            if status == "rejected":
                assert [(vote["comment"], vote["channel"]) for vote in seen["decisions"]] == [
                    ("not\ntoday", "web")
                ]

    async def test_what_can_not_be_rejected_says_why(self, under: Opening) -> None:
        """And takes nothing from the others."""
        ruled = await under('comment = "on-reject"')
        runtime, (_, bob) = await ruled.parties()
        one, other, third = await several(runtime, {}, {}, {})
        browser = await Browser(ruled.h).signed_in("ann")
        ticks, form = await choices(browser)
        response = await browser.post("/inbox", {**form, **ticks})
        assert "None was rejected" in words(response)
        assert words(response).count("The rules ask for a comment") == 3
        record(await runtime.cancel(one))
        changed = {f"chosen-{third}": "0" * 64, "chosen-apr_none": "0" * 64}
        response = await browser.post("/inbox", {**form, **ticks, **changed, "comment": "no"})
        assert "One was rejected 3 were not: see below." in words(response)
        assert [(await bob.seen(each))["status"] for each in (one, other, third)] == [
            "cancelled",
            "rejected",
            "pending",
        ]

    async def test_a_store_that_goes_away_meanwhile(
        self, h: Harness, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """What came of each is told all the same."""
        runtime = await h.client()
        await h.approver("ann")
        ids = await several(runtime, {}, {}, {})
        browser = await Browser(h).signed_in()
        ticks, form = await choices(browser)
        decide = Approvals.decide
        done: list[str] = []

        async def failing(self: Approvals, tenant: str, approval_id: str, *args: Any, **options: Any) -> Any:
            if done:
                raise StoreUnavailable
            done.append(approval_id)
            return await decide(self, tenant, approval_id, *args, **options)

        monkeypatch.setattr(Approvals, "decide", failing)
        response = await browser.post("/inbox", {**form, **ticks})
        assert "One was rejected 2 were not: see below." in words(response)
        assert words(response).count("Whether this was decided is not known") == 2
        statuses = [(await runtime.seen(each))["status"] for each in ids]
        assert sorted(statuses) == ["pending", "pending", "rejected"]

    @pytest.mark.parametrize(
        "ticks",
        [{}, {"chosen": "0" * 64}, {"apr_1": "0" * 64}, {"chosen-apr_1": "0" * 64, "decision": "edit"}],
    )
    async def test_nothing_ticked_is_told(self, h: Harness, ticks: dict[str, str]) -> None:
        """Nothing is done."""
        runtime = await h.client()
        await h.approver("ann")
        (waiting,) = await several(runtime, {})
        browser = await Browser(h).signed_in()
        _, form = await choices(browser)
        response = await browser.post("/inbox", {**form, **ticks})
        assert (response.status_code, "No question was chosen" in words(response)) == (422, True)
        assert (await runtime.seen(waiting))["status"] == "pending"

    @pytest.mark.parametrize(("name", "digest"), [("{}", "x"), ("{}", ""), ("a b", "0" * 64), ("", "0" * 64)])
    async def test_a_form_of_something_else(self, h: Harness, name: str, digest: str) -> None:
        """Rejects nothing, and shows nothing of what was sent."""
        runtime = await h.client()
        await h.approver("ann")
        (waiting,) = await several(runtime, {})
        browser = await Browser(h).signed_in()
        _, form = await choices(browser)
        response = await browser.post("/inbox", {**form, f"chosen-{name.format(waiting)}": digest})
        assert "The form was not complete: open the inbox again." in words(response)
        assert (await runtime.seen(waiting))["status"] == "pending"

    async def test_another_session_s_form(self, h: Harness) -> None:
        """Is refused."""
        runtime = await h.client()
        await h.approver("ann")
        (waiting,) = await several(runtime, {})
        browser, other = await Browser(h).signed_in(), await Browser(h).signed_in()
        ticks, form = await choices(other)
        assert (await browser.post("/inbox", {**form, **ticks})).status_code == 403
        assert (await browser.post("/inbox", ticks)).status_code == 403
        assert (await runtime.seen(waiting))["status"] == "pending"

    async def test_credentials_that_change_meanwhile_are_judged_anew(self, h: Harness) -> None:
        """What is rejected by then is not rejected twice."""
        runtime = await h.client()
        await h.approver("ann")
        await several(runtime, {}, {})
        browser = await Browser(h).signed_in()
        ticks, form = await choices(browser)
        stale = h.services.directory._snapshots["default"]
        await h.approver("bob")
        h.services.directory._snapshots["default"] = stale
        assert "2 were rejected" in words(await browser.post("/inbox", {**form, **ticks}))


async def receipts(browser: Browser, ids: list[str]) -> dict[str, str]:
    """What the cards of these give a browser that has opened them."""
    return {f"receipt-{each}": (await browser.card(each)).get("receipt", "") for each in ids}


class TestApprovingSeveral:
    """What this session was shown whole, and nothing else."""

    async def test_those_that_were_opened_are_approved(self, anywhere: Harness) -> None:
        """Each with the receipt of its own card; one whose card was never seen is not."""
        runtime = await anywhere.client()
        await anywhere.approver("ann")
        ids = await several(runtime, {}, {}, {})
        browser = await Browser(anywhere).signed_in()
        ticks, form = await choices(browser)
        sent = {**form, **ticks, "decision": "approve", "comment": "as agreed"}
        response = await browser.post("/inbox", {**sent, **await receipts(browser, ids[:2])})
        assert "2 were approved One was not: see below." in words(response)
        assert words(response).count("You were not shown the whole card: open it.") == 1
        statuses = [(await runtime.seen(each))["status"] for each in ids]
        assert statuses == ["approved", "approved", "pending"]
        vote = (await runtime.seen(ids[0]))["decisions"][0]
        assert (vote["comment"], vote["channel"]) == ("as agreed", "web")

    async def test_a_receipt_is_of_one_card_and_one_session(self, h: Harness) -> None:
        """Neither another card's does, nor what another session was shown."""
        runtime = await h.client()
        await h.approver("ann")
        one, other = await several(runtime, {}, {})
        browser, elsewhere = await Browser(h).signed_in(), await Browser(h).signed_in()
        ticks, form = await choices(browser)
        mine, theirs = await receipts(browser, [one, other]), await receipts(elsewhere, [one, other])
        swapped = {f"receipt-{one}": mine[f"receipt-{other}"], f"receipt-{other}": theirs[f"receipt-{other}"]}
        response = await browser.post("/inbox", {**form, **ticks, "decision": "approve", **swapped})
        assert "None was approved 2 were not: see below." in words(response)
        assert [(await runtime.seen(each))["status"] for each in (one, other)] == ["pending", "pending"]

    async def test_a_critical_call_is_approved_alone(self, under: Opening) -> None:
        """Also one that came to be critical since its card was shown."""
        ruled = await under()
        runtime = await ruled.h.client()
        ids = await several(runtime, {"risk": "critical"}, {"risk": "high"})
        browser = await Browser(ruled.h).signed_in("ann")
        ticks, form = await choices(browser)
        brought = await receipts(browser, ids)
        floors = '[[capabilities]]\nmatch = ["orders.*"]\nleast_risk = "critical"\n'
        await ruled.now(floors=floors)
        response = await browser.post("/inbox", {**form, **ticks, "decision": "approve", **brought})
        assert words(response).count("It is of critical risk: open it, and approve it there.") == 2
        assert [(await runtime.seen(each))["status"] for each in ids] == ["pending", "pending"]

    async def test_what_takes_a_sign_in_is_approved_alone(self, under: Opening) -> None:
        """It is asked for on the card."""
        ruled = await under()
        runtime = await ruled.h.client()
        (waiting,) = await several(runtime, {})
        browser = await Browser(ruled.h).signed_in("ann")
        ticks, form = await choices(browser)
        brought = await receipts(browser, [waiting])
        await ruled.now("step_up = true")
        response = await browser.post("/inbox", {**form, **ticks, "decision": "approve", **brought})
        assert "It takes a sign-in of its own" in words(response)
        assert (await runtime.seen(waiting))["status"] == "pending"


@pytest.mark.parametrize("spoilt", [b"{", b'{"amount":1}'])
async def test_what_somebody_else_wrote_has_no_row(anywhere: Harness, spoilt: bytes) -> None:
    """Nor does it keep the others from being shown."""
    runtime = await anywhere.client()
    await anywhere.approver("ann")
    ids = await several(runtime, {}, {}, {})
    await anywhere.redis.set(part("i", ids[0]), spoilt)
    await rewritten(anywhere.redis, part("l", ids[1]), 0, lambda ask: ask.update(capability="orders.forged"))
    page = await (await Browser(anywhere).signed_in("ann")).get("/inbox")
    assert (page.status_code, rows(page)) == (200, ids[2:])
    assert "orders.forged" not in page.text
