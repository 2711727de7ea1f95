"""The page of statistics, and what is said to whoever approves too fast."""

import html
import re

import httpx
import pytest

from placet.domain.statistics import DAY_MS
from placet.web import pace
from tests.browsing import Browser, words
from tests.harness import Harness, Party, record
from tests.ruled import Opening

HOSTILE = "<script>alert(1)</script>"


async def statistics(h: Harness, person: str = "ann", query: str = "") -> httpx.Response:
    """The page, as somebody sees it."""
    response = await (await Browser(h).signed_in(person)).get(f"/statistics{query}")
    assert response.status_code == 200, response.text
    return response


def numbers(page: httpx.Response) -> dict[str, str]:
    """What stands in large figures."""
    found = re.findall(r"<dt>([^<]+)</dt><dd>([^<]+)</dd>", page.text)
    return {html.unescape(name): html.unescape(value) for name, value in found}


def table(page: httpx.Response, title: str) -> list[list[str]]:
    """The lines of a table, the heads first."""
    found = re.search(rf'<table role="table" aria-label="{title}".*?</table>', page.text, re.DOTALL)
    assert found is not None, page.text
    lines = re.findall(r"<tr.*?</tr>", found[0], re.DOTALL)
    return [re.findall(r">([^<>\n]+)</t[hd]>", line) for line in lines]


async def approve_quickly(h: Harness, runtime: Party, browser: Browser, count: int) -> None:
    """On their cards, four seconds apart."""
    for number in range(count):
        asked = await runtime.asked(input={"quick": number, "at": h.clock.now_ms()})
        assert (await browser.decide(asked["id"], "approve")).status_code == 303
        h.clock.move(4_000)


class TestPage:
    """How much is decided, how fast, and what expires."""

    async def test_its_numbers(self, anywhere: Harness) -> None:
        """In figures, in charts that say what they show, and the same in tables."""
        runtime, ann, bob = (
            await anywhere.client(),
            await anywhere.approver("ann"),
            await anywhere.approver("bob"),
        )
        asked = [await runtime.asked(input=number, capability=f"c.{number % 2}") for number in range(5)]
        anywhere.clock.move(2_000)
        record(await ann.decide(asked[0]))
        anywhere.clock.move(60_000)
        record(await ann.decide(asked[1], "reject"))
        record(await bob.decide(asked[2]))
        anywhere.clock.move(2 * DAY_MS)
        await runtime.asked(input="waits")
        page = await statistics(anywhere)
        assert numbers(page) == {
            "Asked": "6",
            "Decisions": "3",
            "Median time to decide": "1 min 2 s",
            "Nine of ten decided within": "1 min 2 s",
            "Expired, of what ended": "80 %",
            "Waiting now": "1",
        }
        assert table(page, "Decisions per day")[0] == ["Day", "Approved", "Rejected", "Changed", "All"]
        assert table(page, "Decisions per day")[5:] == [
            ["Fri 15 Jan", "2", "1", "0", "3"],
            ["Sat 16 Jan", "0", "0", "0", "0"],
            ["Sun 17 Jan", "0", "0", "0", "0"],
        ]
        assert table(page, "Time to decide")[1:4] == [
            ["up to 10 s", "1"],
            ["up to 1 min", "0"],
            ["up to 5 min", "2"],
        ]
        assert table(page, "How questions ended")[1:] == [
            ["used", "0"],
            ["rejected", "1"],
            ["cancelled", "0"],
            ["not answered", "2"],
            ["never used", "2"],
        ]
        assert table(page, "By capability")[1:] == [
            ["c.0", "2", "0", "0", "32 s", "100 %"],
            ["c.1", "0", "1", "0", "1 min 2 s", "50 %"],
        ]
        assert table(page, "By person")[1:] == [
            ["ann", "1", "1", "0", "32 s"],
            ["bob", "1", "0", "0", "1 min 2 s"],
        ]
        text = words(page)
        assert "Of what you may see, 11 Jan 2027 to 17 Jan 2027. Days are those of UTC." in text
        assert "3 in 7 days: 2 approved, 1 rejected, 0 approved with changes." in text
        assert "4 of the 5 that ended had expired (80 %): 2 not answered, 2 approved and never used." in text
        assert '<a href="/statistics" aria-current="page">Statistics</a>' in page.text

    async def test_every_chart_says_what_it_shows(self, h: Harness) -> None:
        """To whoever does not see it, and has a table; and what is told by colour is told by pattern."""
        runtime, ann = await h.client(), await h.approver("ann")
        record(await ann.decide(await runtime.asked(), "reject"))
        page = await statistics(h)
        charts = re.findall(r'<svg class="chart[^"]*"[^>]*>', page.text)
        assert len(charts) == 3
        assert all('role="img"' in each and re.search(r'aria-label="[^"]{40,}"', each) for each in charts)
        assert len(re.findall(r"<figure>.*?<table.*?</figure>", page.text, re.DOTALL)) == 3
        assert page.text.count("<summary>The same as a table</summary>") == 3
        filled = set(re.findall(r'fill="url\(#([a-z]+)\)"', page.text))
        assert (
            filled
            == set(re.findall(r'<pattern id="([a-z]+)"', page.text))
            == {"rejected", "changed", "expired"}
        )
        assert "style=" not in page.text
        assert re.findall(r"<script[^>]*?([a-z]+\.js)", page.text) == ["times.js"]  # charts take none
        for marked in re.findall(r"<svg (?!class=.chart)[^>]*>", page.text):
            assert 'aria-hidden="true"' in marked
        ids = re.findall(r' id="([^"]+)"', page.text)
        assert len(ids) == len(set(ids))

    async def test_of_a_month(self, anywhere: Harness) -> None:
        """Thirty days, of which the Mondays are named; the one that was chosen says so."""
        runtime, ann = await anywhere.client(), await anywhere.approver("ann")
        record(await ann.decide(await runtime.asked()))
        anywhere.clock.move(20 * DAY_MS)
        assert "Nothing was asked, decided or ended in these days" in words(await statistics(anywhere))
        page = await statistics(anywhere, query="?days=30")
        assert len(table(page, "Decisions per day")) == 31
        assert re.findall(r'text-anchor="\w+">(\d+ \w+)</text>', page.text) == [
            "11 Jan",
            "18 Jan",
            "25 Jan",
            "1 Feb",
        ]
        assert '<a class="button" href="/statistics?days=30" aria-current="page">30 days</a>' in page.text

    async def test_of_nothing_it_says_so(self, h: Harness) -> None:
        """In words, and draws nothing."""
        await h.approver("ann")
        page = await statistics(h)
        assert "Nothing was asked, decided or ended in these days, of what you may see." in words(page)
        assert "<figure" not in page.text
        assert "<table" not in page.text

    @pytest.mark.parametrize("query", ["?days=8", "?days=", "?days=007", "?days=-7", "?days=x"])
    async def test_there_are_no_others(self, h: Harness, query: str) -> None:
        """It says which there are."""
        await h.approver("ann")
        response = await (await Browser(h).signed_in()).get(f"/statistics{query}")
        assert response.status_code == 422
        assert "They are of 7 days, or of 30." in words(response)

    async def test_what_they_may_not_see_is_not_in_it(self, under: Opening) -> None:
        """Neither a number nor a name; and a stranger signs in first, and comes back."""
        ruled = await under()
        runtime, (ann, _) = await ruled.parties("ann", "dana")
        for number in range(6):
            record(await ann.decide(await runtime.asked(input=number)))
        of_ann, of_dana = words(await statistics(ruled.h)), words(await statistics(ruled.h, "dana"))
        assert "You approved 6 in one second" in of_ann
        assert "Nothing was asked, decided or ended" in of_dana
        assert "ann" not in of_dana.lower()
        assert "orders" not in of_dana
        response = await ruled.h.http.get("/statistics?days=30")
        assert (response.status_code, response.headers["location"]) == (
            303,
            "/signin?next=/statistics%3Fdays%3D30",
        )
        form = await ruled.h.http.get("/signin?next=/statistics")
        assert 'name="next" value="/statistics"' in form.text

    async def test_what_a_revocation_takes_is_taken_at_once(self, h: Harness) -> None:
        """Though it was counted a moment ago."""
        await h.client()
        await h.approver("ann")
        browser = await Browser(h).signed_in()
        assert (await browser.get("/statistics")).status_code == 200
        await h.services.enrolment.revoke("default", "approver:ann")
        assert (await browser.get("/statistics")).status_code == 303

    async def test_that_not_all_was_looked_at_is_said(
        self, h: Harness, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """And of how much the numbers are."""
        monkeypatch.setattr("placet.application.statistics._PAGE", 1)
        monkeypatch.setattr("placet.application.statistics.LOOKED_AT_MAX", 2)
        runtime = await h.client()
        await h.approver("ann")
        for number in range(3):
            await runtime.asked(input=number)
        assert "these numbers are of the latest 2 questions alone." in words(await statistics(h))

    async def test_that_there_are_more_lines_is_said(
        self, h: Harness, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Of those that decided the least."""
        monkeypatch.setattr("placet.application.statistics.LINES_MAX", 1)
        runtime, ann = await h.client(), await h.approver("ann")
        for number in range(3):
            record(await ann.decide(await runtime.asked(capability=f"c.{number}")))
        page = await statistics(h)
        assert len(table(page, "By capability")) == 2
        assert words(page).count("And 2 more with fewer decisions.") == 1

    async def test_head_is_answered(self, h: Harness) -> None:
        """As GET, without the page."""
        await h.approver("ann")
        response = await (await Browser(h).signed_in())._call("HEAD", "/statistics")
        assert (response.status_code, response.content) == (200, b"")

    async def test_hostile_text_is_harmless(self, h: Harness) -> None:
        """Names of people are somebody's text too."""
        runtime, ann = await h.client(), await h.approver("ann", shown_as=f"a\u202eb{HOSTILE}")
        record(await ann.decide(await runtime.asked()))
        page = await statistics(h)
        assert "<script>alert" not in page.text
        assert '<span class="escape">⟨U+202E⟩</span>' in page.text


class TestTooFast:
    """Approvals that came too fast to have been read."""

    async def test_it_is_on_top_of_the_page(self, anywhere: Harness) -> None:
        """Who, how many, when, what; and what to do about it."""
        runtime, ann = await anywhere.client(), await anywhere.approver("ann", shown_as="Ann")
        await anywhere.approver("bob")
        asked = [await runtime.asked(input=number) for number in range(7)]
        for each in asked:
            record(await ann.decide(each))
            anywhere.clock.move(6_600)
        page = await statistics(anywhere, "bob")
        text = words(page)
        assert (
            "Ann (ann) approved 7 in 40 seconds , from 2027-01-15 08:00:00 UTC on: "
            "too fast to have read them."
        ) in text
        assert "What to do: open these once more." in text
        assert re.findall(r'<li><a href="/a/([^"]+)">', page.text) == [each["id"] for each in asked]
        assert page.text.index('id="pace"') < page.text.index('class="numbers"')
        assert "You approved 7 in 40 seconds" in words(await statistics(anywhere))

    async def test_many_runs_and_long_ones_are_told_in_short(
        self, h: Harness, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The latest runs first, older ones on demand; of each so many links."""
        monkeypatch.setattr("placet.web.statistics_pages.WARNED_MAX", 1)
        monkeypatch.setattr("placet.web.statistics_pages.LINKS_MAX", 2)
        runtime, ann = await h.client(), await h.approver("ann")
        for count in (5, 6):
            for number in range(count):
                record(await ann.decide(await runtime.asked(input=[count, number])))
            h.clock.move(60_000)
        page = await statistics(h)
        text = words(page)
        assert text.index("approved 6 in") < text.index("Earlier ones") < text.index("approved 5 in")
        assert page.text.count('<li><a href="/a/') == 4
        assert ("and 4 more" in text, "and 3 more" in text) == (True, True)

    async def test_rejecting_many_at_once_is_none(self, h: Harness) -> None:
        """Nothing runs by it."""
        runtime, ann = await h.client(), await h.approver("ann")
        for number in range(9):
            record(await ann.decide(await runtime.asked(input=number), "reject"))
        assert "too fast" not in words(await statistics(h))


class TestHint:
    """What is said on the inbox to whoever has just approved too fast; nothing is refused for it."""

    async def test_it_is_said_and_goes_by_itself(self, anywhere: Harness) -> None:
        """From the fifth on, for two minutes."""
        runtime = await anywhere.client()
        await anywhere.approver("ann")
        await anywhere.approver("bob")
        browser = await Browser(anywhere).signed_in()
        await approve_quickly(anywhere, runtime, browser, 4)
        assert "You have just approved" not in words(await browser.get("/inbox"))
        await approve_quickly(anywhere, runtime, browser, 1)
        text = words(await browser.get("/inbox"))
        assert "You have just approved 5 in 16 seconds. Nobody reads a card in that time: take yours." in text
        other = await Browser(anywhere).signed_in("bob")
        assert "You have just approved" not in words(await other.get("/inbox"))
        anywhere.clock.move(pace.TOLD_FOR_MS - 4_000)
        assert "You have just approved" in words(await browser.get("/inbox"))
        anywhere.clock.move(1)
        assert "You have just approved" not in words(await browser.get("/inbox"))

    async def test_neither_what_was_rejected_nor_what_was_refused_counts(self, h: Harness) -> None:
        """Nor the same one sent twice."""
        runtime, ann = await h.client(), await h.approver("ann")
        browser = await Browser(h).signed_in()
        for number in range(9):
            asked = await runtime.asked(input=number)
            assert (await browser.decide(asked["id"], "reject")).status_code == 303
        asked = await runtime.asked(input="twice")
        fields = {**await browser.card(asked["id"]), "decision": "approve"}
        for _ in range(9):
            assert (await browser.post(f"/a/{asked['id']}", fields)).status_code == 303
        for number in range(9):
            late = await runtime.asked(input={"late": number})
            fields = {**await browser.card(late["id"]), "decision": "approve"}
            record(await ann.decide(late, "reject"))
            assert (await browser.post(f"/a/{late['id']}", fields)).status_code == 409
        assert "You have just approved" not in words(await browser.get("/inbox"))

    async def test_it_is_remembered_of_so_many(self, h: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
        """Whoever approved longest ago is forgotten first."""
        monkeypatch.setattr(pace, "PEOPLE_MAX", 1)
        runtime = await h.client()
        await h.approver("ann")
        await h.approver("bob")
        ann, bob = await Browser(h).signed_in(), await Browser(h).signed_in("bob")
        await approve_quickly(h, runtime, ann, 5)
        assert "You have just approved" in words(await ann.get("/inbox"))
        await approve_quickly(h, runtime, bob, 1)
        assert "You have just approved" not in words(await ann.get("/inbox"))
