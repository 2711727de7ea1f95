"""Rows of lists can be told apart by how their inputs begin, and say nothing of what is not shown."""

import html
import re
from typing import Any

import httpx
import pytest

from placet.domain.presentation import GIST_INPUT_BYTES_MAX
from tests.browsing import Browser, words
from tests.harness import Harness, record
from tests.ruled import EDITABLE, Opening, hash_of
from tests.tampering import held

CSRF = re.compile(r'name="csrf" value="([^"]+)"')
CHOICES = re.compile(r'name="(chosen-[^"]+)" value="([^"]+)"')
ACME = {"amount": 5000, "to": "ACME", "why": {"note": "as agreed"}}


def gists(page: httpx.Response) -> list[str]:
    """What each row says of its input; nothing of those that say nothing."""
    found = re.findall(r'<span class="gist">(.*?)</span>(?=\s|\))', page.text)
    return [html.unescape(re.sub("<[^>]*>", "", each)) for each in found]


class TestGists:
    """How an input begins."""

    async def test_in_inbox_and_history(self, anywhere: Harness) -> None:
        """Before and after it was decided; whoever ticks it hears it too."""
        runtime = await anywhere.client()
        await anywhere.approver("ann")
        browser = await Browser(anywhere).signed_in()
        asked = await runtime.asked(input=ACME)
        page = await browser.get("/inbox")
        assert gists(page) == ["amount: 5000, to: ACME, why.note: as agreed"]
        head = "orders.refund acts on the world outside"
        assert f'"Decide with others: {head}, amount: 5000, to: ACME, why.note: as agreed"' in page.text
        assert f"{head} medium risk amount: 5000, to: ACME" in words(page)
        assert gists(await browser.get("/history")) == gists(page)
        assert (await browser.decide(asked["id"], "approve")).status_code == 303
        assert gists(await browser.get("/inbox")) == []
        assert gists(await browser.get("/history")) == gists(page)

    async def test_after_several_were_decided(self, anywhere: Harness) -> None:
        """Each is told by what it was about, also one that was not decided."""
        runtime = await anywhere.client()
        await anywhere.approver("ann")
        browser = await Browser(anywhere).signed_in()
        for amount in (1, 2):
            await runtime.asked(input={"amount": amount})
        gone = await runtime.asked(input={"amount": 3})
        page = await browser.get("/inbox")
        csrf = CSRF.search(page.text)
        assert csrf is not None
        record(await runtime.cancel(gone["id"]))
        form = {"csrf": csrf[1], "decision": "reject", **dict(CHOICES.findall(page.text))}
        done = await browser.post("/inbox", form)
        assert "2 were rejected One was not: see below." in words(done)
        assert sorted(gists(done)) == ["amount: 1", "amount: 2"]
        assert f'<a href="/a/{gone["id"]}">{gone["id"]}</a>' in done.text

    async def test_hidden_values_are_not_told(self, anywhere: Harness) -> None:
        """Neither they nor their names."""
        runtime = await anywhere.client()
        await anywhere.approver("ann")
        browser = await Browser(anywhere).signed_in()
        await runtime.asked(
            input={"card": "visa-4111", **ACME}, presentation={"redact": ["/card", "/why/note"]}
        )
        for path in ("/inbox", "/history"):
            page = await browser.get(path)
            assert gists(page) == ["amount: 5000, to: ACME"]
            assert not re.search("visa-4111|card|agreed", page.text.partition("<main")[2])

    async def test_what_nobody_saw_says_nothing(self, under: Opening) -> None:
        """A question that came as a hash alone."""
        ruled = await under("hidden_input = true")
        runtime, _ = await ruled.parties()
        await runtime.asked(input=..., input_hash=hash_of(ACME), effect="write")
        browser = await Browser(ruled.h).signed_in("ann")
        for path in ("/inbox", "/history"):
            page = await browser.get(path)
            assert 'class="row' in page.text
            assert gists(page) == []

    async def test_what_was_erased_says_nothing(self, h: Harness) -> None:
        """The row stays as long as the record."""
        runtime, ann = await h.client(), await h.approver("ann")
        browser = await Browser(h).signed_in()
        asked = await runtime.asked(input=ACME)
        record(await ann.decide(asked, "reject"))
        assert gists(await browser.get("/history")) == ["amount: 5000, to: ACME, why.note: as agreed"]
        assert await h.redis.delete(held(asked))
        page = await browser.get("/history")
        assert 'class="row' in page.text
        assert gists(page) == []

    @pytest.mark.parametrize("path", ["/inbox", "/history"])
    async def test_of_a_large_input_nothing_is_said(self, h: Harness, path: str) -> None:
        """To the byte: it takes as long to read as many others together."""
        runtime = await h.client()
        await h.approver("ann")
        browser = await Browser(h).signed_in()
        frame = len(b'{"a":""}')
        for size in (GIST_INPUT_BYTES_MAX, GIST_INPUT_BYTES_MAX + 1):
            await runtime.asked(input={"a": "x" * (size - frame)})
        (told,) = gists(await browser.get(path))
        assert told == f'a: "{"x" * 38}…'

    @pytest.mark.parametrize(
        ("value", "told"),
        [
            ({"to": "<b>ACME</b>"}, 'to: "<b>ACME</b>"'),
            ({"to": "AC\u0338ME\u202e"}, 'to: "AC⟨U+0338⟩ME⟨U+202E⟩"'),
            ({"to": "ACME, amount: 1"}, 'to: "ACME, amount: 1"'),
        ],
    )
    async def test_hostile_ones_are_text(self, h: Harness, value: Any, told: str) -> None:
        """Nothing in them is markup, or hides."""
        runtime = await h.client()
        await h.approver("ann")
        browser = await Browser(h).signed_in()
        await runtime.asked(input=value)
        page = await browser.get("/inbox")
        assert "<b>" not in page.text
        assert told in words(page).replace("⟩ ", "⟩").replace(" ⟨", "⟨")

    async def test_right_to_left_names_and_values_stay_where_they_are(self, h: Harness) -> None:
        """Each by itself."""
        runtime = await h.client()
        await h.approver("ann")
        browser = await Browser(h).signed_in()
        await runtime.asked(input={"\u05e9\u05dd": "\u05d0\u05d1", "to": "x"})
        page = await browser.get("/inbox")
        assert "to: x, <bdi>\u05e9\u05dd</bdi>: <bdi>\u05d0\u05d1</bdi></span>" in page.text

    async def test_what_was_changed_is_told_as_it_runs(self, under: Opening) -> None:
        """The effective input, not the one that was asked."""
        ruled = await under('edit = "counts"')
        runtime, (ann, _) = await ruled.parties()
        asked = await runtime.asked(**EDITABLE, input=ACME)
        record(await ann.decide(asked, "edit", input={"amount": 4000}))
        browser = await Browser(ruled.h).signed_in("ann")
        assert gists(await browser.get("/history")) == ["amount: 4000"]
