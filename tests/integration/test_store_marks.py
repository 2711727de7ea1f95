"""What a lookup of credentials leaves behind: nothing, also where answers wait for confirmations."""

from redis.asyncio import Redis

from placet.store.link import Confirmation, Link
from placet.store.principals import Principals, Roll


async def test_made_up_credentials_write_nothing(client: Redis) -> None:
    """Whoever is nobody can't have a key of a tenant written, let alone of one that they made up."""
    link = Link(client, confirmations=[Confirmation(("PING",), lambda _reply: True)])
    principals = Principals(link)
    for n in range(3):
        assert await principals.by_key(f"evil-{n}", "aaaaaaaaaaaa") == (0, None)
    assert await client.keys("*") == []


async def test_an_asserted_state_is_marked(client: Redis) -> None:
    """A change of credentials is confirmed as every other state is."""
    link = Link(client, confirmations=[Confirmation(("PING",), lambda _reply: True)])
    assert await Principals(link).enroll("default", Roll(epoch=1, rows={}, manifest="m"), instead_of="")
    assert await client.hget("{placet:default}:m", "mark") == b"1"


async def test_an_unconfirmed_lookup_is_an_answer(client: Redis) -> None:
    """Nothing was asserted, so there is nothing to confirm."""
    link = Link(client, confirmations=[Confirmation(("PING",), lambda _reply: False)])
    assert (await Principals(link).all("default")).is_blank
