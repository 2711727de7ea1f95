"""The history of what somebody may see, and what a card tells of what happened to it."""

import html
import re
from urllib.parse import urlencode

import httpx
import pytest

from tests.browsing import Browser, words
from tests.harness import Harness, record
from tests.ruled import Opening

HOSTILE = "<script>alert(1)</script>"


def rows(page: httpx.Response) -> list[str]:
    """The ids of the lines, in their order."""
    assert page.status_code == 200, page.text
    return re.findall(r'class="row" href="/a/([^"]+)"', page.text)


def link(page: httpx.Response, name: str) -> str:
    """Where a link of that name goes."""
    found = re.search(rf'href="([^"]+)">{name}</a>', page.text)
    assert found is not None, page.text
    return html.unescape(found[1])


def told(page: httpx.Response) -> str:
    """What a card says happened."""
    section = re.search(r'<section aria-labelledby="happened">.*?</section>', page.text, re.DOTALL)
    assert section is not None, page.text
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", section[0])).split())


class TestHistory:
    """What was asked so far."""

    async def test_the_newest_is_on_top(self, anywhere: Harness) -> None:
        """With what became of it, in a word, when it was asked, and a link to its card."""
        runtime, ann = await anywhere.client(), await anywhere.approver("ann")
        browser = await Browser(anywhere).signed_in()
        page = await browser.get("/history")
        assert rows(page) == []
        assert "Nothing was asked so far that you may see." in words(page)
        asked = []
        for number in range(3):
            asked.append(await runtime.asked(input=number))
            anywhere.clock.move(1_000)
        record(await ann.decide(asked[0], "reject"))
        page = await browser.get("/history")
        assert rows(page) == [each["id"] for each in reversed(asked)]
        assert re.findall(r'class="chip ([a-z]+)">\1<', page.text) == ["pending", "pending", "rejected"]
        text = words(page)
        assert "orders.refund acts on the world outside pending 2 for agent-7 (an AI agent" in text
        at = asked[0]["requested_at"][:19]
        assert f'<time datetime="{at}Z">{at.replace("T", " ")} UTC</time>' in page.text
        assert '<a href="/history" aria-current="page">History</a>' in page.text
        assert "Older" not in text

    async def test_pages_go_on_where_the_last_one_ended(
        self, anywhere: Harness, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Through the cursor of the list, with the filters; back to the newest in one step."""
        monkeypatch.setattr("placet.web.history.ROWS", 2)
        runtime = await anywhere.client()
        await anywhere.approver("ann")
        asked = []
        for number in range(5):
            asked.append((await runtime.asked(input=number))["id"])
            anywhere.clock.move(1_000)
        browser = await Browser(anywhere).signed_in()
        page = await browser.get("/history?status=pending&capability=orders.refund")
        found = [rows(page)]
        while "Older" in words(page):
            where = link(page, "Older")
            assert where.startswith("/history?status=pending&capability=orders.refund&cursor=")
            page = await browser.get(where)
            found.append(rows(page))
        asked.reverse()
        assert found == [asked[:2], asked[2:4], asked[4:]]
        assert link(page, "Newest") == "/history?status=pending&capability=orders.refund"
        record(await runtime.cancel(asked[4]))
        assert "Nothing older is here." in words(await browser.get(where))

    async def test_it_is_narrowed(self, anywhere: Harness) -> None:
        """By what became of it, by capability, by the actor and by the run; an empty field is no filter."""
        runtime, ann = await anywhere.client(), await anywhere.approver("ann")
        one = await runtime.asked(input=1, run="run-1")
        other = await runtime.asked(input=2, capability="mail.send", actor={"id": "bot", "kind": "agent"})
        record(await ann.decide(one))
        browser = await Browser(anywhere).signed_in()
        for query, found in (
            ("status=approved", [one]),
            ("status=pending&capability=&actor_id=&run=", [other]),
            ("capability=mail.send", [other]),
            ("actor_id=bot", [other]),
            ("run=run-1", [one]),
        ):
            page = await browser.get(f"/history?{query}")
            assert rows(page) == [each["id"] for each in found], query
        assert 'value="run-1"' in page.text
        page = await browser.get("/history?status=rejected")
        assert "Nothing fits these filters." in words(page)
        assert "<option selected>rejected</option>" in page.text

    async def test_words_are_looked_for(self, anywhere: Harness) -> None:
        """In whatever stands in a line, and in who decided; each of them, in whatever case."""
        runtime, other = await anywhere.client("runtime"), await anywhere.client("night-batch")
        ann = await anywhere.approver("ann", shown_as="Ann Marsh")
        browser = await Browser(anywhere).signed_in()
        one = await runtime.asked(run="r-7", actor={"id": "bot", "kind": "agent", "display_name": "Robo"})
        anywhere.clock.move(1)
        two = await other.asked(capability="payments.send", actor={"id": "x", "kind": "user"})
        record(await ann.decide(two, "reject", comment="secret word"))
        for search, found in (
            ("R-7", [one]),
            ("robo", [one]),
            ("NIGHT pay", [two]),
            ("night robo", []),
            ("marsh", [two]),
            (one["id"][4:], [one]),
            ("secret", []),
            ("A-1", []),
            ("  ", [two, one]),
        ):
            page = await browser.get(f"/history?{urlencode({'q': search})}")
            assert rows(page) == [each["id"] for each in found], search
        assert 'name="q"' in page.text

    async def test_too_long_a_search_is_told(self, h: Harness) -> None:
        """And shown again as it was, as text."""
        await h.approver("ann")
        browser = await Browser(h).signed_in()
        for length, status in ((200, 200), (201, 422)):
            page = await browser.get(f"/history?{urlencode({'q': '<' * length})}")
            assert (page.status_code, "too long to search for" in words(page)) == (status, status == 422)
            assert "&lt;" * length in page.text

    async def test_it_may_have_to_be_looked_for_further_back(
        self, h: Harness, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """What one page looked through in vain is said, and where to go on."""
        monkeypatch.setattr("placet.application.query._SCAN_PAGES", 1)
        monkeypatch.setattr("placet.application.query._SCAN_CHUNK", 1)
        monkeypatch.setattr("placet.web.history.ROWS", 1)
        runtime = await h.client()
        await h.approver("ann")
        old = await runtime.asked(input=1, capability="mail.send")
        h.clock.move(1_000)
        await runtime.asked(input=2)
        browser = await Browser(h).signed_in()
        page = await browser.get("/history?capability=mail.send")
        assert rows(page) == []
        assert "There are older ones to look through." in words(page)
        assert rows(await browser.get(link(page, "Older"))) == [old["id"]]

    async def test_what_they_may_not_see_is_not_there(self, anywhere: Harness) -> None:
        """Neither another tenant's, nor anything where nobody has signed in, who comes back to it."""
        abroad = await anywhere.client(tenant="abroad")
        runtime = await anywhere.client()
        await anywhere.approver("ann")
        foreign, here = await abroad.asked(), await runtime.asked()
        browser = await Browser(anywhere).signed_in()
        assert rows(await browser.get("/history")) == [here["id"]]
        assert rows(await browser.get(f"/history?run={foreign['id']}")) == []
        response = await anywhere.http.get("/history?status=pending")
        assert (response.status_code, response.headers["location"]) == (
            303,
            "/signin?next=/history%3Fstatus%3Dpending",
        )
        form = await anywhere.http.get("/signin?next=/history")
        assert 'name="next" value="/history"' in form.text

    async def test_it_has_what_the_api_lists(self, under: Opening) -> None:
        """For each person: those who may not decide a question do not see it."""
        ruled = await under("quorum = 2")
        runtime, people = await ruled.parties("ann", "bob", "dana")
        await runtime.asked(actor={"id": "ann", "kind": "user"})
        voted = await runtime.asked(input=2)
        record(await people[0].decide(voted))
        seen = []
        for person in people:
            listed = [each["id"] for each in record(await person.list())["items"]]
            browser = await Browser(ruled.h).signed_in(person.name)
            assert rows(await browser.get("/history")) == listed
            seen.append(len(listed))
        assert seen == [2, 2, 0]

    @pytest.mark.parametrize(
        ("query", "problem"),
        [
            ("status=gone", "There is no such status."),
            ("capability=orders.*", "A capability is given by its whole name, without spaces or *."),
            (f"actor_id={'x' * 999}", "No actor has such an id: it is too long."),
            ("run=%ff", "No run has such an id."),
            ("cursor=none", "This address does not say where to go on."),
            ("cursor=%C3%A9", "This address does not say where to go on."),
            (f"cursor={'A' * 4096}", "This address does not say where to go on."),
        ],
    )
    async def test_what_can_not_be_asked(self, h: Harness, query: str, problem: str) -> None:
        """It says what is wrong, and what was written stays to be mended."""
        runtime = await h.client()
        await h.approver("ann")
        await runtime.asked()
        page = await (await Browser(h).signed_in()).get(f"/history?{query}")
        assert page.status_code == 422
        text = words(page)
        assert problem in text
        assert "Nothing" not in text
        assert 'class="row"' not in page.text

    async def test_hostile_text_is_harmless(self, h: Harness) -> None:
        """In lines, and in what was asked for."""
        runtime = await h.client()
        await h.approver("ann")
        await runtime.asked(actor={"id": "bot", "kind": "agent", "display_name": f"a\u202eb{HOSTILE}"})
        browser = await Browser(h).signed_in()
        page = await browser.get("/history")
        assert "<script>alert" not in page.text
        assert '<span class="escape">⟨U+202E⟩</span>' in page.text
        for name in ("status", "capability", "actor_id", "run", "cursor"):
            answer = await browser.get(f'/history?{name}="><script>alert(1)</script>')
            assert "<script>alert" not in answer.text
            assert '"><script' not in answer.text

    async def test_head_is_answered(self, h: Harness) -> None:
        """As GET, without the page."""
        await h.approver("ann")
        browser = await Browser(h).signed_in()
        response = await browser._call("HEAD", "/history")
        assert (response.status_code, response.content) == (200, b"")


class TestWhatHappened:
    """The trail on a card."""

    async def test_a_whole_life_is_told_in_order(self, anywhere: Harness) -> None:
        """What, by whom, through what and when; what the runtime reported at the end."""
        runtime = await anywhere.client()
        await anywhere.approver("ann", shown_as="Ann")
        asked = await runtime.asked()
        await runtime.consume(asked)
        browser = await Browser(anywhere).signed_in()
        before = await browser.get(f"/a/{asked['id']}")
        assert "<details><summary><h2" in before.text
        assert told(before).startswith("What happened asked by runtime 20")
        anywhere.clock.move(1_000)
        assert (await browser.decide(asked["id"], "approve")).status_code == 303
        record(await runtime.consume(asked, await runtime.token(asked["id"])))
        record(await runtime.report(asked["id"], summary=f"done\n{HOSTILE}"))
        page = await browser.get(f"/a/{asked['id']}")
        assert "<details open><summary><h2" in page.text
        assert "<script>alert" not in page.text
        at = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC"
        assert re.fullmatch(
            rf"What happened asked by runtime {at} refused an attempt by runtime: APPROVAL_PENDING {at}"
            rf" approved by Ann \(ann\) via web {at} used by runtime {at}"
            rf" outcome reported by runtime: succeeded done {re.escape(HOSTILE)} {at}",
            told(page),
        ), told(page)
        assert page.text.count("<time datetime=") == 5

    async def test_votes_that_do_not_decide_yet(self, under: Opening) -> None:
        """Are told as such, and so is a change; what ends by itself is nobody's."""
        ruled = await under("quorum = 2", 'edit = "yes"')
        runtime, (ann, bob) = await ruled.parties("ann", "bob")
        asked = await runtime.asked(allowed_decisions=["approve", "reject", "edit"])
        record(await ann.decide(asked))
        record(await bob.decide(asked, "edit", input={"n": 1}))
        ruled.h.clock.move(10**9)
        text = told(await (await Browser(ruled.h).signed_in()).get(f"/a/{asked['id']}"))
        assert "approved by Ann Marsh (ann) via api, which takes more people 20" in text
        assert "approved with changes by bob via api, which others have to approve 20" in text
        assert "expired 20" in text

    async def test_of_a_long_one_the_latest_are_told(self, h: Harness) -> None:
        """Behind how it was asked, with how many are not there; those that were only counted, as a number."""
        runtime = await h.client()
        await h.approver("ann")
        asked = await runtime.asked()
        for _ in range(205):
            await runtime.consume(asked)
        page = await (await Browser(h).signed_in()).get(f"/a/{asked['id']}")
        text = told(page)
        assert text.count("refused an attempt") == 64
        assert "⟨cut: 137 in between⟩" in text
        assert text.endswith("refused an attempt by various: APPROVAL_PENDING, 5 more")

    async def test_a_line_that_can_not_be_told_takes_no_card_away(self, h: Harness) -> None:
        """A later release may have written it: the question is there, and can be decided."""
        runtime = await h.client()
        await h.approver("ann")
        asked = await runtime.asked()
        await h.redis.rpush(f"{{placet:default}}:l:{asked['id']}", b'1 pondered {"decision":"perhaps"}')
        browser = await Browser(h).signed_in()
        page = await browser.get(f"/a/{asked['id']}")
        assert page.status_code == 200
        assert "What happened" not in page.text
        assert (await browser.decide(asked["id"], "approve")).status_code == 303
