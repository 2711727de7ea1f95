"""What a card says to whoever has voted, and what it asks of a vote before it is given."""

import re

import pytest

from tests.browsing import Browser, hidden, words
from tests.harness import Harness, record
from tests.ruled import EDITABLE, LESS, Opening


async def test_whoever_has_approved_is_told_so(under: Opening) -> None:
    """And how many more it takes; they can't do it twice, and may still reject."""
    ruled = await under("quorum = 3", "rejections = 1")
    runtime = await ruled.h.client()
    asked = await runtime.asked()
    ann, bob, cy = [await Browser(ruled.h).signed_in(name) for name in ("ann", "bob", "cy")]
    for browser, more in ((ann, "2 more people have to."), (bob, "One more person has to.")):
        assert (await browser.decide(asked["id"], "approve")).status_code == 303
        page = await browser.get(f"/a/{asked['id']}")
        assert f"You approved it. {more}" in words(page)
        buttons = re.findall(r'name="decision" value="([a-z]+)"', page.text)
        assert (buttons, 'href="/next"' in page.text, 'name="receipt"' in page.text) == (
            ["reject"],
            True,
            False,
        )
    assert "You approved it" not in words(await cy.get(f"/a/{asked['id']}"))
    assert (await bob.decide(asked["id"], "reject")).status_code == 303
    assert (await runtime.seen(asked["id"]))["status"] == "rejected"


async def test_whoever_has_changed_it_is_told_who_approves_it_then(under: Opening) -> None:
    """Somebody else; they may still reject it."""
    ruled = await under('edit = "yes"')
    runtime, [ann, _] = await ruled.parties()
    asked = await runtime.asked(**EDITABLE)
    record(await ann.decide(asked, "edit", input=LESS))
    for name, told in (("ann", True), ("bob", False)):
        page = await (await Browser(ruled.h).signed_in(name)).get(f"/a/{asked['id']}")
        assert ("You changed it. Somebody else has to approve your change." in words(page)) == told
        assert ('value="approve"' in page.text) != told
        assert 'value="reject"' in page.text


async def test_a_card_is_another_once_the_outcome_is_there(under: Opening) -> None:
    """A page that looks whether it is as it was is loaded anew."""
    ruled = await under("quorum = 1")
    runtime, [ann, _] = await ruled.parties()
    asked = await runtime.asked()
    record(await ann.decide(asked, "approve"))
    record(await runtime.consume(asked, await runtime.token(asked["id"])))
    browser = await Browser(ruled.h).signed_in("bob")
    states = []
    for _ in range(2):
        page = (await browser.get(f"/a/{asked['id']}")).text
        states += re.findall(r'data-state="([^"]+)"', page)
        await runtime.report(asked["id"])
    assert len(set(states)) == 2


async def test_whose_approval_counts_no_more_can_give_it_anew(under: Opening) -> None:
    """The card offers it again."""
    ruled = await under("quorum = 2")
    runtime = await ruled.h.client()
    asked = await runtime.asked()
    browser = await Browser(ruled.h).signed_in("ann")
    await browser.decide(asked["id"], "approve")
    await ruled.now("quorum = 2", 'comment = "always"')
    page = await browser.get(f"/a/{asked['id']}")
    assert ("You approved it" in words(page), 'value="approve"' in page.text) == (False, True)


@pytest.mark.parametrize(
    ("rule", "label", "is_required"),
    [
        ("never", "(the agent reads it)", False),
        ("on-reject", "(needed to reject; the agent reads it)", True),
        ("always", "(needed; the agent reads it)", True),
    ],
)
async def test_a_comment_that_is_needed_is_said_to_be(
    under: Opening, rule: str, label: str, *, is_required: bool
) -> None:
    """Browsers ask for it before anything is sent; for an approval only where it needs one."""
    ruled = await under(f'comment = "{rule}"')
    runtime = await ruled.h.client()
    asked = await runtime.asked()
    page = await (await Browser(ruled.h).signed_in("ann")).get(f"/a/{asked['id']}")
    assert f"Comment {label}" in words(page)
    assert (re.search(r"<textarea[^>]* required>", page.text) is not None) is is_required
    assert ("formnovalidate" in page.text) is (rule == "on-reject")


async def test_a_critical_call_without_the_comment_is_told_before_it_is_asked_again(under: Opening) -> None:
    """With the first form, and not after the second."""
    ruled = await under('comment = "always"')
    runtime = await ruled.h.client()
    asked = await runtime.asked(risk="critical")
    browser = await Browser(ruled.h).signed_in("ann")
    answer = await browser.decide(asked["id"], "approve")
    assert (answer.status_code, "The rules ask for a comment" in words(answer)) == (403, True)
    answer = await browser.decide(asked["id"], "approve", comment="as agreed")
    assert "Approve this critical call?" in words(answer)


async def test_what_came_to_be_critical_is_asked_again(under: Opening) -> None:
    """By the rules of today, whatever the card said when it was opened."""
    ruled = await under()
    runtime = await ruled.h.client()
    asked = await runtime.asked(risk="high")
    browser = await Browser(ruled.h).signed_in("ann")
    form = await browser.card(asked["id"])
    await ruled.now(floors='[[capabilities]]\nmatch = ["orders.*"]\nleast_risk = "critical"\n')
    answer = await browser.post(f"/a/{asked['id']}", {**form, "decision": "approve"})
    assert (answer.status_code, "Approve this critical call?" in words(answer)) == (200, True)
    assert (await runtime.seen(asked["id"]))["status"] == "pending"
    sent = {**hidden(answer), "decision": "approve"}
    assert (await browser.post(f"/a/{asked['id']}", sent)).status_code == 303
    assert (await runtime.seen(asked["id"]))["status"] == "approved"


async def test_a_card_with_more_than_a_page_can_be_seen_whole(h: Harness) -> None:
    """And approved there, with a receipt of all of it; where it is cut it can only be rejected."""
    runtime, _ = await h.client(), await h.approver("ann")
    asked = await runtime.asked(input=[f"line {number}" for number in range(3_000)])
    browser, path = await Browser(h).signed_in("ann"), f"/a/{asked['id']}"
    page = await browser.get(path)
    assert (page.text.count("line 2999"), f'href="{path}?all"' in page.text) == (1, True)  # as JSON
    assert ("Not all of it is shown" in words(page), 'value="approve"' in page.text) == (True, False)
    page = await browser.get(f"{path}?all")
    assert (page.text.count("line 2999"), "?all" in page.text) == (2, False)
    answer = await browser.post(path, {**hidden(page), "decision": "approve"})
    assert (answer.status_code, (await runtime.seen(asked["id"]))["status"]) == (303, "approved")
