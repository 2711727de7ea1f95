"""An operator cancels what a client has open."""

from tests.harness import Harness, record


async def test_what_is_pending_or_granted_is_cancelled(h: Harness) -> None:
    """Both are open: the one can still be approved, the other can still be used."""
    shop, ann = await h.client("shop"), await h.approver()
    pending, granted = await shop.asked(run="a"), await shop.asked(run="b")
    record(await ann.decide(await ann.seen(granted["id"])))
    cancelled = await h.services.withdraw("default", "shop")
    assert set(cancelled) == {pending["id"], granted["id"]}
    assert {(await shop.seen(each))["status"] for each in cancelled} == {"cancelled"}


async def test_the_trail_names_the_operator(h: Harness) -> None:
    """Not the client, who did not ask for it."""
    shop = await h.client("shop")
    asked = await shop.asked()
    await h.services.withdraw("default", "shop")
    requested, cancelled = record(await shop.trail(asked["id"]))["items"]
    assert (requested["type"], requested["by"]) == ("requested", "shop")
    assert (cancelled["type"], cancelled["by"]) == ("cancelled", "operator")


async def test_what_has_ended_stays_as_it_ended(h: Harness) -> None:
    """A rejection is not made undone, and is not counted."""
    shop, ann = await h.client("shop"), await h.approver()
    asked = await shop.asked()
    record(await ann.decide(asked, "reject"))
    assert await h.services.withdraw("default", "shop") == ()
    assert (await shop.seen(asked["id"]))["status"] == "rejected"


async def test_other_clients_keep_theirs(h: Harness) -> None:
    """Also those that it was to run."""
    await h.client("shop")
    other = await h.client("other")
    theirs = await other.asked(audience="shop")
    assert await h.services.withdraw("default", "shop") == ()
    assert (await other.seen(theirs["id"]))["status"] == "pending"


async def test_all_pages_are_looked_at(h: Harness) -> None:
    """However many there are."""
    shop = await h.client("shop")
    asked = {(await shop.asked(context={"call": number}))["id"] for number in range(230)}
    assert set(await h.services.withdraw("default", "shop")) == asked


async def test_credentials_that_change_meanwhile_don_t_stop_it(h: Harness) -> None:
    """The epoch that was known is stale, which is found out and mended."""
    shop = await h.client("shop")
    asked = await shop.asked()
    await h.services.directory.snapshot("default")
    await h.services.enrolment.count_change("default")
    assert await h.services.withdraw("default", "shop") == (asked["id"],)
