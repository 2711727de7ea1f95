"""What was rejected before, as the card of the very same call says it."""

from tests.browsing import Browser, words
from tests.harness import Harness, record
from tests.ruled import Opening


async def test_a_card_says_how_often_its_call_was_rejected(anywhere: Harness) -> None:
    """By whom, and why; what differs in anything that is bound is another call."""
    runtime, ann, bob = (
        await anywhere.client(),
        await anywhere.approver("ann"),
        await anywhere.approver("bob"),
    )
    browser = await Browser(anywhere).signed_in("ann")
    asked = await runtime.asked()
    assert "rejected" not in words(await browser.get(f"/a/{asked['id']}"))
    record(await bob.decide(asked, "reject", comment="too <much>"))
    again = await runtime.asked()
    shown = words(await browser.get(f"/a/{again['id']}"))
    assert "This very call was rejected before by bob, 2027-01-15 08:00:00 UTC : too <much>" in shown
    anywhere.clock.move(1)
    record(await ann.decide(again, "reject", comment="still\nso"))
    page = await browser.get(f"/a/{(await runtime.asked())['id']}")
    assert "This very call was rejected 2 times before , last by ann, 2027" in words(page)
    assert f'<a href="/a/{again["id"]}">rejected 2 times before</a>' in page.text
    other = await runtime.asked(input={"order": "A-2"})
    assert "This very call" not in words(await browser.get(f"/a/{other['id']}"))


async def test_the_latest_is_named(h: Harness) -> None:
    """Of many, one; and no more than twenty are looked at."""
    runtime, ann = await h.client(), await h.approver("ann")
    browser = await Browser(h).signed_in("ann")
    for number in range(21):
        record(await ann.decide(await runtime.asked(), "reject", comment=f"no {number}"))
        h.clock.move(1_000)
    page = await browser.get(f"/a/{(await runtime.asked())['id']}")
    shown = words(page)
    assert "This very call was rejected 20 times or more before , last by ann" in shown
    assert [f"no {number}" in shown for number in (20, 19)] == [True, False]


async def test_what_is_forgotten_is_not_told(anywhere: Harness) -> None:
    """It lasts as long as the last of its records."""
    runtime, ann = await anywhere.client(), await anywhere.approver("ann")
    record(await ann.decide(await runtime.asked(), "reject"))
    (key,) = [each async for each in anywhere.redis.scan_iter("{placet:default}:x:d:*")]
    retention_ms = anywhere.services.settings.limits.record_retention_ms
    assert retention_ms - 60_000 < await anywhere.redis.pttl(key) <= retention_ms


async def test_nobody_is_told_of_what_they_may_not_see(under: Opening) -> None:
    """Another client's request may be under another rule, with the same digest."""
    policy = """
[[rules]]
name = "theirs"
capabilities = ["orders.*"]
clients = ["other"]
approvers = { people = ["bob"] }
"""
    ruled = await under(floors=policy)
    ours, theirs = await ruled.h.client("ours"), await ruled.h.client("other")
    bob = await ruled.h.approver("bob")
    both = {"audience": "ours"}
    asked = await theirs.asked(**both)
    record(await bob.decide(asked, "reject", comment="secret"))
    mine = await ours.asked(**both)
    assert mine["digest"] == asked["digest"]
    shown = words(await (await Browser(ruled.h).signed_in("ann")).get(f"/a/{mine['id']}"))
    assert "This very call" not in shown
    assert "secret" not in shown
    seen = words(await (await Browser(ruled.h).signed_in("bob")).get(f"/a/{mine['id']}"))
    assert "This very call was rejected before by bob" in seen


async def test_a_rejection_by_the_rules_is_the_system_s(under: Opening) -> None:
    """Where they came to ask for fewer."""
    ruled = await under("rejections = 2")
    runtime, (ann, bob) = await ruled.parties()
    asked = await runtime.asked()
    record(await ann.decide(asked, "reject"))
    await ruled.now("rejections = 1")
    await bob.decide(asked, "reject")
    assert (await runtime.seen(asked["id"]))["status"] == "rejected"
    browser = await Browser(ruled.h).signed_in("bob")
    shown = words(await browser.get(f"/a/{(await runtime.asked())['id']}"))
    assert "rejected before by Ann Marsh (ann)" in shown
