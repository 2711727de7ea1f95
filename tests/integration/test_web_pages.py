"""Inbox and card: what awaits somebody, and their decision on exactly what they were shown."""

import re

import pytest

from placet.domain.limits import SSE_HEARTBEAT_S
from placet.web.render import STATIC, asset
from tests.browsing import Browser, hidden, words
from tests.harness import Harness, record
from tests.listening import Listener
from tests.ruled import Opening
from tests.tools import until


class TestInbox:
    """What somebody could approve now, and nothing else."""

    async def test_what_dies_first_is_on_top(self, anywhere: Harness) -> None:
        """With what it is, for whom, how much is at stake, how long it lasts."""
        runtime = await anywhere.client()
        await anywhere.approver("ann")
        browser = await Browser(anywhere).signed_in()
        assert "Nothing awaits you." in words(await browser.get("/inbox"))
        late = await runtime.asked(input=1, expires_in_ms=600_000)
        soon = await runtime.asked(input=2, expires_in_ms=60_000, risk="high")
        page = await browser.get("/inbox")
        assert re.findall(r'href="/a/([^"]+)"', page.text) == [soon["id"], late["id"]]
        assert "<title>(2) Inbox · Placet</title>" in page.text
        text = words(page)
        assert "2 questions await you, the first to expire on top." in text
        assert "orders.refund acts on the world outside high risk 2 for agent-7 (an AI agent" in text
        assert '><strong class="soon">1 min left</strong></span>' in page.text
        assert ">10 min left</span>" in page.text

    async def test_what_does_not_await_them_is_not_there(self, under: Opening) -> None:
        """Their own, what they have voted on, what is decided, what is others' to decide."""
        ruled = await under("quorum = 2", 'comment = "always"')
        runtime, (ann,) = await ruled.parties("ann")
        own = await runtime.asked(actor={"id": "ann", "kind": "user"})
        voted = await runtime.asked(input=2)
        record(await ann.decide(voted, comment="yes"))
        over = await runtime.asked(input=3)
        record(await runtime.cancel(over["id"]))
        mine = await runtime.asked(input=4)
        for person, awaiting in (("ann", [mine]), ("bob", [own, voted, mine]), ("dana", [])):
            browser = await Browser(ruled.h).signed_in(person)
            found = re.findall(r'href="/a/([^"]+)"', (await browser.get("/inbox")).text)
            assert sorted(found) == sorted(each["id"] for each in awaiting)

    async def test_of_many_the_first_are_shown(self, h: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
        """And how many come after."""
        monkeypatch.setattr("placet.web.inbox_pages.ROWS_MAX", 2)
        monkeypatch.setattr("placet.application.inbox._PAGE", 2)
        runtime = await h.client()
        await h.approver("ann")
        for number in range(5):
            await runtime.asked(input=number)
        page = words(await (await Browser(h).signed_in()).get("/inbox"))
        assert "5 questions await you" in page
        assert "Page 1 of 3 Later" in page

    async def test_one_that_was_spoilt_is_passed_over(self, h: Harness) -> None:
        """The others are there."""
        runtime = await h.client()
        await h.approver("ann")
        spoilt, fine = await runtime.asked(input=1), await runtime.asked(input=2)
        await h.redis.lset(f"{{placet:default}}:l:{spoilt['id']}", 0, b"1 requested nothing")
        page = await (await Browser(h).signed_in()).get("/inbox")
        assert re.findall(r'href="/a/([^"]+)"', page.text) == [fine["id"]]
        assert "One question awaits you." in words(page)


class TestCard:
    """One question."""

    async def test_it_shows_what_would_run(self, anywhere: Harness) -> None:
        """All that the presentation model says, escaped; what could mislead is set off and flagged."""
        runtime = await anywhere.client()
        await anywhere.approver("ann")
        asked = await runtime.asked(
            input={"to": "<script>alert(1)</script>", "memo": "a\u202egnp.exe", "deep": [{"n": 1}]},
            context={"ticket": "T-1"},
            reasons=["<b>because</b>"],
            presentation={"title": "</textarea><h1>Approved"},
        )
        page = await (await Browser(anywhere).signed_in()).get(f"/a/{asked['id']}")
        assert page.status_code == 200
        assert "<script>alert" not in page.text
        assert "<b>because" not in page.text
        assert '<span class="escape">⟨U+202E⟩</span>' in page.text
        text = words(page)
        assert '"to" "<script>alert(1)</script>"' in text
        assert "Look twice at the input: characters that reorder text (1), first at /memo." in text
        assert "</textarea><h1>Approved" in text
        assert f"digest {asked['digest']}" in text

    async def test_what_ran_is_told_from_what_would(self, h: Harness) -> None:
        """And from what would have."""
        runtime, bob = await h.client(), await h.approver("bob")
        await h.approver("ann")
        browser = await Browser(h).signed_in()
        asked = [await runtime.asked(input=number, expires_in_ms=60_000) for number in range(4)]

        async def titles() -> list[str]:
            found = [await browser.get(f"/a/{each['id']}") for each in asked]
            return [re.findall(r'<h2 id="input">([^<]*)<', page.text)[0] for page in found]

        assert await titles() == ["What would run"] * 4
        record(await bob.decide(asked[0]))
        record(await runtime.consume(asked[0], await runtime.token(asked[0]["id"])))
        record(await bob.decide(asked[1], "reject"))
        record(await runtime.cancel(asked[2]["id"]))
        h.clock.move(60_001)
        assert await titles() == ["What ran", *["What would have run"] * 3]

    async def test_what_they_may_not_see_is_not_there(self, anywhere: Harness) -> None:
        """The same page as for what there is not."""
        runtime = await anywhere.client(tenant="abroad")
        await anywhere.approver("ann")
        asked = await runtime.asked()
        browser = await Browser(anywhere).signed_in()
        foreign, unknown = await browser.get(f"/a/{asked['id']}"), await browser.get("/a/apr_unknown")
        assert (foreign.status_code, foreign.content) == (404, unknown.content)

    async def test_an_approval_is_of_what_was_shown(self, anywhere: Harness) -> None:
        """By the person who is signed in, over the web."""
        runtime = await anywhere.client()
        await anywhere.approver("ann")
        asked = await runtime.asked()
        browser = await Browser(anywhere).signed_in()
        response = await browser.decide(asked["id"], "approve", comment="fine\r\nby me")
        assert (response.status_code, response.headers["location"]) == (303, f"/a/{asked['id']}")
        seen = await runtime.seen(asked["id"])
        (vote,) = seen["decisions"]
        assert seen["status"] == "approved"
        assert (vote["approver"]["id"], vote["channel"], vote["comment"]) == ("ann", "web", "fine\nby me")
        after = words(await browser.get(f"/a/{asked['id']}"))
        assert "approved, and not used yet" in after
        assert "approved by ann via web" in after
        record(await runtime.consume(asked, seen["token"]))

    async def test_sent_twice_it_is_one(self, h: Harness) -> None:
        """The second finds it done."""
        runtime = await h.client()
        await h.approver("ann")
        asked = await runtime.asked()
        browser = await Browser(h).signed_in()
        fields = {**await browser.card(asked["id"]), "decision": "approve"}
        for _ in range(2):
            assert (await browser.post(f"/a/{asked['id']}", fields)).status_code == 303
        assert len((await runtime.seen(asked["id"]))["decisions"]) == 1

    @pytest.mark.parametrize("receipt", [None, "", "A" * 43])
    async def test_who_was_not_shown_it_does_not_approve(self, h: Harness, receipt: str | None) -> None:
        """The card is shown, and nothing decided; a rejection needs no receipt."""
        runtime = await h.client()
        await h.approver("ann")
        asked = await runtime.asked()
        browser = await Browser(h).signed_in()
        response = await browser.decide(asked["id"], "approve", receipt=receipt, comment="mine")
        assert response.status_code == 409
        assert "you were not shown the whole card" in words(response)
        assert "\nmine</textarea>" in response.text
        assert (await runtime.seen(asked["id"]))["status"] == "pending"
        assert (await browser.decide(asked["id"], "reject", receipt=receipt)).status_code == 303
        assert (await runtime.seen(asked["id"]))["status"] == "rejected"

    async def test_a_receipt_is_of_one_session_and_one_card(self, h: Harness) -> None:
        """Neither another's nor of another question."""
        runtime = await h.client()
        for name in ("ann", "bob"):
            await h.approver(name)
        one, other = await runtime.asked(input=1), await runtime.asked(input=2)
        ann, bob = await Browser(h).signed_in("ann"), await Browser(h).signed_in("bob")
        for browser, of in ((bob, one), (ann, other)):
            receipt = (await browser.card(of["id"]))["receipt"]
            assert (await ann.decide(one["id"], "approve", receipt=receipt)).status_code == 409
        assert (await runtime.seen(one["id"]))["status"] == "pending"

    async def test_what_the_client_withholds_is_not_approved_unseen(self, under: Opening) -> None:
        """Where the rule lets it be withheld it can be; parts that are hidden are marked."""
        ruled = await under("hidden_input = true")
        runtime, _ = await ruled.parties("ann")
        asked = await runtime.asked(input=..., input_hash="0" * 64, effect="write")
        browser = await Browser(ruled.h).signed_in("ann")
        assert "the client sent only its hash" in words(await browser.get(f"/a/{asked['id']}"))
        assert (await browser.decide(asked["id"], "approve")).status_code == 303

    async def test_a_refusal_says_why(self, under: Opening) -> None:
        """In words, on the card, with what was written so far."""
        ruled = await under('comment = "always"')
        runtime, _ = await ruled.parties("ann")
        own = await runtime.asked(actor={"id": "ann", "kind": "user"})
        asked = await runtime.asked(input=2)
        browser = await Browser(ruled.h).signed_in("ann")
        response = await browser.decide(asked["id"], "approve")
        assert response.status_code == 403
        assert "Nothing was decided. The rules ask for a comment." in words(response)
        response = await browser.decide(own["id"], "approve", comment="mine")
        assert response.status_code == 403
        assert "Nothing was decided. It is your own request, or was made on your behalf" in words(response)
        assert "\nmine</textarea>" in response.text

    async def test_too_long_a_comment_is_said_to_be(self, h: Harness) -> None:
        """And is still there."""
        runtime = await h.client()
        await h.approver("ann")
        asked = await runtime.asked()
        browser = await Browser(h).signed_in()
        long = "x" * (h.services.settings.limits.comment_max_chars + 1)
        response = await browser.decide(asked["id"], "reject", comment=long)
        assert response.status_code == 422
        assert "Nothing was decided. The comment: It must be at most" in words(response)
        assert long in response.text

    async def test_a_card_that_changed_is_shown_anew(self, h: Harness) -> None:
        """With what became of it."""
        runtime, bob = await h.client(), await h.approver("bob")
        await h.approver("ann")
        asked = await runtime.asked()
        browser = await Browser(h).signed_in()
        fields = {**await browser.card(asked["id"]), "decision": "approve"}
        record(await bob.decide(asked, "reject"))
        response = await browser.post(f"/a/{asked['id']}", fields)
        assert response.status_code == 409
        assert "Nothing was decided. It was rejected by bob before your decision came." in words(response)
        assert "rejected by bob via api" in words(response)
        assert 'class="decide"' not in response.text

    @pytest.mark.parametrize(
        "changes", [{"decision": "edit"}, {"decision": None}, {"digest": "x"}, {"digest": None}]
    )
    async def test_half_a_form_decides_nothing(self, h: Harness, changes: dict[str, str | None]) -> None:
        """It says to open the card again."""
        runtime = await h.client()
        await h.approver("ann")
        asked = await runtime.asked()
        browser = await Browser(h).signed_in()
        fields = {**await browser.card(asked["id"]), "decision": "approve", **changes}
        sent = {name: value for name, value in fields.items() if value is not None}
        response = await browser.post(f"/a/{asked['id']}", sent)
        assert response.status_code == 422
        assert (await runtime.seen(asked["id"]))["status"] == "pending"

    async def test_looking_changes_nothing(self, h: Harness) -> None:
        """Whoever follows a link for a preview, with GET or HEAD."""
        runtime = await h.client()
        await h.approver("ann")
        asked = await runtime.asked()
        browser = await Browser(h).signed_in()
        fields = {**await browser.card(asked["id"]), "decision": "approve"}
        for method in ("GET", "HEAD"):
            response = await h.http.request(
                method,
                f"/a/{asked['id']}",
                params=fields,
                headers={"cookie": f"placet-8420={browser.cookies['placet-8420']}"},
            )
            assert response.status_code == 200
        assert (await runtime.seen(asked["id"]))["status"] == "pending"

    async def test_credentials_that_change_meanwhile_are_judged_anew(self, anywhere: Harness) -> None:
        """The page comes all the same."""
        runtime = await anywhere.client()
        await anywhere.approver("ann")
        asked = await runtime.asked()
        browser = await Browser(anywhere).signed_in()
        await browser.get("/inbox")
        stale = anywhere.services.directory._snapshots["default"]
        await anywhere.approver("bob")
        anywhere.services.directory._snapshots["default"] = stale
        assert (await browser.get(f"/a/{asked['id']}")).status_code == 200


class TestCritical:
    """A call that may do the worst is approved in two steps."""

    async def test_it_is_asked_once_more(self, under: Opening) -> None:
        """Who and how much, with the comment; then it is approved, once, with what the card showed."""
        ruled = await under()
        runtime, _ = await ruled.parties("ann")
        asked = await runtime.asked(input={"to": "ACME", "amount": 5}, risk="critical")
        browser = await Browser(ruled.h).signed_in()
        first = await browser.decide(asked["id"], "approve", comment="<as agreed>")
        assert first.status_code == 200
        text = words(first)
        assert "Nothing is decided yet" in text
        assert "Approve this critical call? orders.refund acts on the world outside" in text
        assert '"amount" 5' in text
        assert "You say <as agreed>" in text
        assert "\n&lt;as agreed&gt;</textarea>" in first.text
        assert (await runtime.seen(asked["id"]))["status"] == "pending"
        sure = {**hidden(first), "decision": "approve", "comment": "<as agreed>"}
        assert sure["digest"] == asked["digest"]
        assert (await browser.post(f"/a/{asked['id']}", sure)).status_code == 303
        seen = await runtime.seen(asked["id"])
        assert (seen["status"], seen["decisions"][0]["comment"]) == ("approved", "<as agreed>")

    @pytest.mark.parametrize("step", [1, 2])
    async def test_what_was_decided_meanwhile(self, under: Opening, step: int) -> None:
        """Is shown, whichever step is sent then."""
        ruled = await under()
        runtime, (bob,) = await ruled.parties("bob")
        asked = await runtime.asked(risk="critical")
        browser = await Browser(ruled.h).signed_in()
        form = await browser.card(asked["id"])
        if step == 2:
            form = hidden(await browser.post(f"/a/{asked['id']}", {**form, "decision": "approve"}))
        record(await bob.decide(asked, "reject"))
        response = await browser.post(f"/a/{asked['id']}", {**form, "decision": "approve"})
        assert response.status_code == 409
        assert "Nothing was decided" in words(response)
        assert "rejected by bob via api" in words(response)

    async def test_neither_step_is_another_s(self, under: Opening) -> None:
        """What one session was shown, and asked, counts for no other, and for no other call."""
        ruled = await under()
        runtime, _ = await ruled.parties()
        one, other = await runtime.asked(input=1, risk="critical"), await runtime.asked(input=2)
        ann, bob = await Browser(ruled.h).signed_in("ann"), await Browser(ruled.h).signed_in("bob")
        shown = (await bob.card(one["id"]))["receipt"]
        sure = hidden(await bob.decide(one["id"], "approve"))["receipt"]
        of_other = (await ann.card(other["id"]))["receipt"]
        for brought in (shown, sure, of_other):
            assert (await ann.decide(one["id"], "approve", receipt=brought)).status_code == 409
        assert (await runtime.seen(one["id"]))["status"] == "pending"

    async def test_a_rejection_is_one_step(self, under: Opening) -> None:
        """Nothing runs after it."""
        ruled = await under()
        runtime, _ = await ruled.parties("ann")
        asked = await runtime.asked(risk="critical")
        assert (await (await Browser(ruled.h).signed_in()).decide(asked["id"], "reject")).status_code == 303
        assert (await runtime.seen(asked["id"]))["status"] == "rejected"


@pytest.mark.parametrize(
    "path", ["/signin", "/inbox", "/history", "/statistics", "/a/apr_1", "/ui/x/app.css"]
)
async def test_every_page_is_guarded(h: Harness, path: str) -> None:
    """Scripts and styles of ours alone, in no frame, kept by nobody."""
    response = await h.http.get(path)
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["referrer-policy"] == "same-origin"


@pytest.mark.parametrize("name", sorted(STATIC))
async def test_what_pages_load(h: Harness, name: str) -> None:
    """Under an address of this release, and for good."""
    response = await h.http.get(asset(name))
    assert (response.status_code, len(response.content) > 100) == (200, True)
    assert response.headers["content-type"].startswith(STATIC[name])
    assert response.headers["cache-control"] == "public, max-age=31536000, immutable"


async def test_pages_hear_what_happens(anywhere: Harness) -> None:
    """What the person may see, on the same stream as the API's; till they sign out."""
    anywhere.services.store.stream.start()
    runtime = await anywhere.client()
    await anywhere.approver("ann")
    browser = await Browser(anywhere).signed_in()
    cookie = [(b"cookie", f"placet-8420={browser.cookies['placet-8420']}".encode())]
    listener = Listener(anywhere, "none", "/ui/events", cookie)
    await listener.answered()
    assert (listener.status, listener.headers[b"content-type"]) == (200, b"text/event-stream; charset=utf-8")
    assert (await listener.next()).retry == "2000"
    asked = await runtime.asked()
    assert await listener.heard(1) == [("requested", asked["id"])]
    await anywhere.services.sessions.end(browser.cookies["placet-8420"])
    await until(lambda: anywhere.clock.timers > 0, "the heartbeat to be awaited")
    anywhere.clock.move(SSE_HEARTBEAT_S * 1000)
    await until(listener.ended.is_set, "the stream to end")
    await listener.hang_up()
    assert len(anywhere.services.feed) == 0
    assert (await anywhere.http.get("/ui/events")).status_code == 303
    assert (await browser.get("/ui/events")).status_code == 303
