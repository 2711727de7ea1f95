"""Approve with changes on the web: written, shown, and then decided as it was shown."""

import html
import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from fakeredis import FakeAsyncRedis

from placet.application.decide import DecideApproval
from placet.domain.errors import ApprovalNotFound, PlacetError, StoreUnavailable
from placet.domain.limits import Limits
from tests.browsing import Browser, hidden, words
from tests.factories import ManualClock
from tests.harness import Party, opened
from tests.ruled import EDITABLE, LESS, Opening, Ruled, a_rule
from tests.rulefiles import Files

EDIT = 'edit = "yes"'
COUNTS = 'edit = "counts"'
WAS = "\N{MINUS SIGN}"
_AREA = re.compile(r'<textarea[^>]* name="([a-z]+)"[^>]*>\n?(.*?)</textarea>', re.DOTALL)


def areas(response: httpx.Response) -> dict[str, str]:
    """What stands in the text areas of a page, as browsers read them."""
    return {name: html.unescape(value) for name, value in _AREA.findall(response.text)}


def form(response: httpx.Response) -> dict[str, str]:
    """All fields of the form that decides."""
    return {**hidden(response), **areas(response)}


async def opening(
    under: Opening, *lines: str, **members: Any
) -> tuple[Ruled, Party, Browser, dict[str, Any]]:
    """A service, its runtime, ann's browser, and what was asked."""
    ruled = await under(*(lines or (COUNTS,)))
    runtime, _ = await ruled.parties()
    asked = await runtime.asked(**{**EDITABLE, **members})
    return ruled, runtime, await Browser(ruled.h).signed_in(), asked


async def previewed(browser: Browser, asked: dict[str, Any], text: str, **more: str) -> httpx.Response:
    """Open the page, write, and have the changes shown."""
    path = f"/a/{asked['id']}/edit"
    fields = {**form(await browser.get(path)), "input": text, "decision": "preview", **more}
    return await browser.post(path, fields)


async def approved(
    browser: Browser, asked: dict[str, Any], shown: httpx.Response, **more: str
) -> httpx.Response:
    """Press the last button of a preview."""
    return await browser.post(f"/a/{asked['id']}/edit", {**form(shown), "decision": "edit", **more})


class TestFromTheCardToTheDecision:
    """Three pages: the card, what is written, what it changes."""

    async def test_exactly_what_was_shown_is_decided(self, under: Opening) -> None:
        """By whoever is signed in, over the web, with their words."""
        _, runtime, browser, asked = await opening(under, input={"order": "A-1", "amount": 5})
        card = await browser.get(f"/a/{asked['id']}")
        assert f'href="/a/{asked["id"]}/edit"' in card.text
        page = await browser.get(f"/a/{asked['id']}/edit")
        assert page.status_code == 200
        assert json.loads(areas(page)["input"]) == {"order": "A-1", "amount": 5}
        shown = await previewed(browser, asked, json.dumps(LESS, indent=4), comment="too\r\nmuch")
        assert shown.status_code == 200
        text = words(shown)
        assert "Nothing is decided yet" in text
        assert f"/amount changed {WAS} 5 + 4" in text
        assert "You say too much" in text
        assert "Others have to approve" not in text
        assert (await runtime.seen(asked["id"]))["status"] == "pending"
        response = await approved(browser, asked, shown)
        assert (response.status_code, response.headers["location"]) == (303, f"/a/{asked['id']}")
        seen = await runtime.seen(asked["id"])
        (vote,) = seen["decisions"]
        assert (seen["status"], seen["input"]) == ("approved", LESS)
        assert (vote["decision"], vote["channel"], vote["comment"]) == ("edit", "web", "too\nmuch")
        assert f"Changed by an approver /amount changed {WAS} 5 + 4" in words(
            await browser.get(f"/a/{asked['id']}")
        )
        again = await approved(browser, asked, shown)
        assert again.status_code == 303
        assert len((await runtime.seen(asked["id"]))["decisions"]) == 1

    async def test_where_others_have_to_approve_it_says_so(self, under: Opening) -> None:
        """A change that is no approval leaves the question open."""
        _, runtime, browser, asked = await opening(under, EDIT)
        shown = await previewed(browser, asked, json.dumps(LESS))
        assert "Others have to approve it then" in words(shown)
        assert (await approved(browser, asked, shown)).status_code == 303
        seen = await runtime.seen(asked["id"])
        assert (seen["status"], seen["input"]) == ("pending", LESS)

    async def test_of_a_critical_call_the_changes_are_the_second_step(self, under: Opening) -> None:
        """There is no third; and nobody changes such a call alone."""
        _, runtime, browser, asked = await opening(under, risk="critical")
        shown = await previewed(browser, asked, json.dumps(LESS))
        assert "Others have to approve it then" in words(shown)
        assert (await approved(browser, asked, shown)).status_code == 303
        seen = await runtime.seen(asked["id"])
        assert (seen["status"], seen["input"]) == ("pending", LESS)

    async def test_back_keeps_what_was_written(self, under: Opening) -> None:
        """As it was, to the first line."""
        _, _, browser, asked = await opening(under)
        text = '\n\n{"order": "A-1",\n"amount": 4.0}'
        shown = await previewed(browser, asked, text.replace("\n", "\r\n"), comment="why")
        back = await browser.post(f"/a/{asked['id']}/edit", {**form(shown), "decision": "back"})
        assert back.status_code == 200
        assert areas(back) == {"input": text, "comment": "why"}

    async def test_numbers_and_hidden_characters_survive(self, under: Opening) -> None:
        """What would hide is spelt out on the page, and is the same text for all that."""
        value = {
            "n": 0.1,
            "big": 1e300,
            "max": 2**53 - 1,
            "s": "a\u202eb\U000e0041",
            "q": "⟨U+202E⟩ é </textarea>",
        }
        _, _, browser, asked = await opening(under, input=value)
        page = await browser.get(f"/a/{asked['id']}/edit")
        text = areas(page)["input"]
        assert "\u202e" not in page.text
        assert "a\\u202eb\\udb40\\udc41" in text
        assert json.loads(text) == value
        same = await previewed(browser, asked, text)
        assert "This changes nothing." in words(same)

    async def test_looking_changes_nothing(self, under: Opening) -> None:
        """Whatever stands in the address."""
        ruled, runtime, browser, asked = await opening(under)
        shown = await previewed(browser, asked, json.dumps(LESS))
        for method in ("GET", "HEAD"):
            response = await ruled.h.http.request(
                method,
                f"/a/{asked['id']}/edit",
                params={**form(shown), "decision": "edit"},
                headers={"cookie": f"placet-8420={browser.cookies['placet-8420']}"},
            )
            assert response.status_code == 200
        assert (await runtime.seen(asked["id"])) == asked

    async def test_hostile_text_is_text(self, under: Opening) -> None:
        """On every page, whoever wrote it."""
        hostile = "</textarea><script>alert(1)</script>\u202e"
        _, _, browser, asked = await opening(under, input={"to": hostile}, presentation={"title": hostile})
        page = await browser.get(f"/a/{asked['id']}/edit")
        shown = await previewed(browser, asked, json.dumps({hostile: hostile}), comment=hostile)
        broken = await previewed(browser, asked, hostile, comment=hostile)
        for each in (page, shown, broken):
            assert "<script>alert" not in each.text
        assert '<span class="escape">⟨U+202E⟩</span>' in shown.text
        assert "Look twice at the new input: characters that reorder text" in words(shown)
        assert areas(broken) == {"input": hostile, "comment": hostile}


class TestWhatIsNoInput:
    """It is refused with words; what was written stays, and nothing is decided."""

    @pytest.mark.parametrize(
        ("text", "why"),
        [
            ("", "it is not JSON in UTF-8 (at line 1, column 1)"),
            ('{"order": "A-1",\n "amount": }', "it is not JSON in UTF-8 (at line 2, column 12)"),
            ('{"amount": NaN}', "it is not JSON in UTF-8."),
            ('{"a": {"b": 1, "b": 2}}', "a name is there twice (at /a/b)"),
            ('{"a": 9007199254740993}', "a whole number is beyond 2^53 - 1 (at /a)"),
            ('{"a": 1e999}', "a number is too large (at /a)"),
            ('{"a": "\\ud800"}', "a text has half a character (a lone surrogate) (at /a)"),
            ("[" * 70 + "]" * 70, "it is nested too deep"),
        ],
    )
    async def test_it_says_what_and_where(self, under: Opening, text: str, why: str) -> None:
        """Strictly, as for any input."""
        _, runtime, browser, asked = await opening(under)
        response = await previewed(browser, asked, text, comment="mine")
        assert response.status_code == 422
        assert f"The input can't be used: {why}" in words(response)
        assert 'role="alert"' in response.text
        assert areas(response) == {"input": text, "comment": "mine"}
        assert "receipt" not in hidden(response)
        assert (await runtime.seen(asked["id"])) == asked

    @pytest.mark.parametrize(
        "text", ['{"amount":5.0,"order":"A-1"}', ' {"order": "\\u0041-1", "amount": 5} ']
    )
    async def test_nothing_changed(self, under: Opening, text: str) -> None:
        """However it is spelt."""
        _, _, browser, asked = await opening(under, input={"order": "A-1", "amount": 5})
        response = await previewed(browser, asked, text)
        assert response.status_code == 422
        assert "This changes nothing." in words(response)
        assert areas(response)["input"] == text

    async def test_too_large(self, ring_directory: Path, clock: ManualClock, tmp_path: Path) -> None:
        """A form may have three times what an input may, and what any form may; other forms no more."""
        limits = Limits(max_body_bytes=100_000)
        files = Files(tmp_path, a_rule(COUNTS))
        async with opened(FakeAsyncRedis(), ring_directory, clock, limits=limits, rules=files.source) as h:
            runtime, browser = await h.client(), await Browser(h).signed_in()
            asked = await runtime.asked(**EDITABLE)
            fits = await previewed(browser, asked, json.dumps({"x": "é" * 40_000}, ensure_ascii=False))
            assert fits.status_code == 200
            beyond = await previewed(browser, asked, json.dumps("x" * 100_000))
            assert beyond.status_code == 413
            assert "The input is too large: it may have 100,000 bytes." in words(beyond)
            assert (await previewed(browser, asked, "{" * 150_000)).status_code == 413
            form_of_card = {**await browser.card(asked["id"]), "decision": "approve", "comment": "x" * 70_000}
            assert (await browser.post(f"/a/{asked['id']}", form_of_card)).status_code == 413
            assert (await runtime.seen(asked["id"])) == asked

    async def test_more_than_can_be_shown_is_not_approved_here(
        self, under: Opening, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """There is no button, and no receipt."""
        _, _, browser, asked = await opening(under)
        response = await previewed(browser, asked, json.dumps(["x" * 220_000]))
        assert response.status_code == 200
        assert "There is no room to show all of it here" in words(response)
        assert "receipt" not in hidden(response)
        assert 'value="edit"' not in response.text


class TestReceipts:
    """What is approved was shown: to this session, of this card, with these changes."""

    async def test_no_other_counts(self, under: Opening) -> None:
        """Nor that of the card. The changes are shown, and nothing is decided."""
        ruled, runtime, ann, asked = await opening(under)
        other = await runtime.asked(**{**EDITABLE, "input": 2})
        bob = await Browser(ruled.h).signed_in("bob")
        shown = await previewed(ann, asked, json.dumps(LESS))
        brought = [
            "",
            "A" * 43,
            (await ann.card(asked["id"]))["receipt"],
            form(await previewed(bob, asked, json.dumps(LESS)))["receipt"],
            form(await previewed(ann, other, json.dumps(LESS)))["receipt"],
            form(await previewed(ann, asked, json.dumps({**LESS, "amount": 3})))["receipt"],
        ]
        for receipt in brought:
            response = await approved(ann, asked, shown, receipt=receipt)
            assert response.status_code == 409
            assert "you were not shown these changes" in words(response)
        changed = await approved(ann, asked, shown, input='{"order": "A-1", "amount": 500}')
        assert changed.status_code == 409
        assert "+ 500" in words(changed)
        assert (await runtime.seen(asked["id"])) == asked
        assert (await approved(ann, asked, changed)).status_code == 303
        assert (await runtime.seen(asked["id"]))["input"] == {"order": "A-1", "amount": 500}

    async def test_of_another_digest(self, under: Opening) -> None:
        """What was changed by somebody else meanwhile is another question."""
        ruled, runtime, ann, asked = await opening(under, EDIT)
        bob = await Browser(ruled.h).signed_in("bob")
        shown = await previewed(ann, asked, json.dumps(LESS))
        his = await previewed(bob, asked, json.dumps({**LESS, "amount": 3}))
        assert (await approved(bob, asked, his)).status_code == 303
        now = await runtime.seen(asked["id"])
        for more in ({}, {"digest": now["digest"]}, {"decision": "preview"}):
            response = await ann.post(f"/a/{asked['id']}/edit", {**form(shown), "decision": "edit", **more})
            assert response.status_code == 409
            assert "Nothing was decided" in words(response)
            assert areas(response)["input"] == json.dumps(LESS)
        assert (await runtime.seen(asked["id"])) == now

    @pytest.mark.parametrize(
        "changes", [{"decision": "approve"}, {"decision": ""}, {"digest": "x"}, {"csrf": "x"}]
    )
    async def test_half_a_form(self, under: Opening, changes: dict[str, str]) -> None:
        """Nothing is done."""
        _, runtime, browser, asked = await opening(under)
        shown = await previewed(browser, asked, json.dumps(LESS))
        response = await approved(browser, asked, shown, **changes)
        assert response.status_code == (403 if "csrf" in changes else 422)
        assert (await runtime.seen(asked["id"])) == asked


class TestRefusals:
    """They come back with words, and with what was written."""

    @pytest.mark.parametrize("step", ["preview", "edit"])
    async def test_decided_meanwhile(self, under: Opening, step: str) -> None:
        """There is nothing to write on any more; what was written can be read."""
        ruled, _, browser, asked = await opening(under)
        bob = await Browser(ruled.h).signed_in("bob")
        shown = await previewed(browser, asked, json.dumps(LESS))
        assert (await bob.decide(asked["id"], "reject")).status_code == 303
        response = await browser.post(f"/a/{asked['id']}/edit", {**form(shown), "decision": step})
        assert response.status_code == 409
        text = words(response)
        assert "Nothing was decided" in text
        assert "It is rejected." in text
        assert json.dumps(LESS) in text
        assert 'class="decide"' not in response.text

    async def test_a_comment_that_the_rule_asks_for(self, under: Opening) -> None:
        """Can be added."""
        _, runtime, browser, asked = await opening(under, COUNTS, 'comment = "always"')
        shown = await previewed(browser, asked, json.dumps(LESS))
        response = await approved(browser, asked, shown)
        assert response.status_code == 403
        assert "Nothing was decided. The rules ask for a comment." in words(response)
        assert areas(response)["input"] == json.dumps(LESS)
        again = await browser.post(
            f"/a/{asked['id']}/edit", {**form(response), "decision": "preview", "comment": "too much"}
        )
        assert (await approved(browser, asked, again)).status_code == 303
        assert (await runtime.seen(asked["id"]))["status"] == "approved"

    @pytest.mark.parametrize(
        ("lines", "members"),
        [
            (['edit = "no"'], {}),
            ([COUNTS], {"allowed_decisions": ["approve", "reject"]}),
            ([COUNTS], {"presentation": {"redact": ["/amount"]}}),
            ([COUNTS], {"actor": {"id": "ann", "kind": "user"}}),
        ],
        ids=["the rule says no", "not asked for", "redacted", "their own"],
    )
    async def test_who_may_not_gets_words_and_no_form(
        self, under: Opening, lines: list[str], members: dict[str, Any]
    ) -> None:
        """And no way there from the card."""
        _, runtime, browser, asked = await opening(under, *lines, **members)
        card = await browser.get(f"/a/{asked['id']}")
        assert f"/a/{asked['id']}/edit" not in card.text
        page = await browser.get(f"/a/{asked['id']}/edit")
        assert page.status_code == 403
        assert "<textarea" not in page.text
        assert 'role="alert"' in page.text
        fields = {**hidden(card), "input": json.dumps(LESS), "decision": "preview"}
        response = await browser.post(f"/a/{asked['id']}/edit", fields)
        assert response.status_code == 403
        assert 'class="decide"' not in response.text
        assert (await runtime.seen(asked["id"])) == asked

    async def test_what_they_may_not_see_is_not_there(self, under: Opening) -> None:
        """On any step; who has not signed in does that first."""
        ruled, _, browser, asked = await opening(under)
        shown = await previewed(browser, asked, json.dumps(LESS))
        dana = await Browser(ruled.h).signed_in("dana")
        path = f"/a/{asked['id']}/edit"
        assert (await dana.get(path)).status_code == 404
        csrf, *_ = re.findall(r'name="csrf" value="([^"]+)"', (await dana.get("/inbox")).text)
        for step in ("preview", "edit", "back"):
            response = await dana.post(path, {**form(shown), "csrf": csrf, "decision": step})
            assert response.status_code == 404
        assert (await Browser(ruled.h).get(path)).headers["location"] == f"/signin?next={path}"


@pytest.mark.parametrize(("error", "status"), [(ApprovalNotFound, 404), (StoreUnavailable, 503)])
async def test_what_leaves_nothing_to_show(
    under: Opening, monkeypatch: pytest.MonkeyPatch, error: type[PlacetError], status: int
) -> None:
    """Between the preview and the decision: a page that says so."""
    _, runtime, browser, asked = await opening(under)
    shown = await previewed(browser, asked, json.dumps(LESS))

    async def refused(*_: object) -> None:
        raise error

    monkeypatch.setattr(DecideApproval, "__call__", refused)
    response = await approved(browser, asked, shown)
    assert response.status_code == status
    assert 'class="decide"' not in response.text
    assert (await runtime.seen(asked["id"])) == asked
