"""Keys of issuers: asked for when needed, left alone otherwise, and used while nobody knows better."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest

from placet.application.issuer_calls import IssuerFault
from placet.application.issuer_documents import KeySet
from placet.application.issuer_keys import ASK_EVERY_S, RETRY_EVERY_S, STALE_MAX_S, IssuerKeys
from placet.domain.errors import IssuerUnavailable
from placet.domain.people import Issuer
from placet.tokens.foreign_keys import ForeignKeys
from tests.factories import ManualClock
from tests.issuer import OTHER, SigningKey, a_key, an_issuer, jwks
from tests.tools import until

MAX_AGE_S = 600
ISSUER = an_issuer()


class Published:
    """What issuers answer, how often they were asked, and whether they answer at all."""

    def __init__(self) -> None:
        self.keys: tuple[SigningKey, ...] = (a_key(),)
        self.asked: list[str] = []
        self.down = False
        self.held: asyncio.Event | None = None

    async def __call__(self, issuer: Issuer) -> KeySet:
        """As :meth:`placet.application.issuer_documents.IssuerDocuments.keys`."""
        self.asked.append(issuer.iss)
        if self.held is not None and issuer is ISSUER:
            await self.held.wait()
        if self.down:
            raise IssuerFault("It is not there.")
        return KeySet(keys=ForeignKeys.from_jwks(json.dumps(jwks(*self.keys)).encode()), max_age_s=MAX_AGE_S)


@pytest.fixture
def published() -> Published:
    """Issuers with one key."""
    return Published()


@pytest.fixture
async def keys(published: Published, clock: ManualClock) -> AsyncIterator[IssuerKeys]:
    """What is kept of them."""
    keys = IssuerKeys(clock, published)
    yield keys
    await keys.close()


async def knows(keys: IssuerKeys, kid: str = "k1", issuer: Issuer = ISSUER) -> bool:
    """Whether there is such a key."""
    return await keys.find(issuer, "EdDSA", kid) is not None


async def settled(published: Published, times: int) -> None:
    """Wait until issuers have been asked so often."""
    await until(lambda: len(published.asked) == times, f"asked {times} times")
    await asyncio.sleep(0)


async def test_known_keys_cost_no_question(
    keys: IssuerKeys, published: Published, clock: ManualClock
) -> None:
    """For as long as the issuer lets them be kept."""
    for _ in range(3):
        assert await knows(keys)
        clock.move((MAX_AGE_S - 1) * 1_000 // 2)
    assert len(published.asked) == 1


async def test_old_keys_are_used_while_the_issuer_is_asked(
    keys: IssuerKeys, published: Published, clock: ManualClock
) -> None:
    """Nobody waits for it; what it then says holds."""
    await knows(keys)
    clock.move(MAX_AGE_S * 1_000)
    published.held = asyncio.Event()
    assert await knows(keys)
    assert await knows(keys)
    await settled(published, 2)
    published.keys = (a_key(kid="k2"),)
    published.held.set()
    await until(lambda: not keys._kept[ISSUER.iss, None].failed, "it has answered")
    assert (await knows(keys, "k2"), await knows(keys, "k1"), len(published.asked)) == (True, False, 2)


async def test_a_new_key_is_found_at_once(keys: IssuerKeys, published: Published, clock: ManualClock) -> None:
    """The issuer has rotated: whoever comes first has it asked, and waits."""
    await knows(keys)
    published.keys = (a_key(), a_key(kid="k2", number=1))
    clock.move(ASK_EVERY_S * 1_000)
    assert await knows(keys, "k2")
    assert await knows(keys, "k1")
    assert len(published.asked) == 2


async def test_made_up_keys_ask_once_a_minute(
    keys: IssuerKeys, published: Published, clock: ManualClock
) -> None:
    """However many there are, and however they come."""
    for _minute in range(3):
        found = await asyncio.gather(*(knows(keys, f"made up {number}") for number in range(100)))
        assert not any(found)
        clock.move(ASK_EVERY_S * 1_000 - 1)
        assert not await knows(keys, "made up")
        clock.move(1)
    assert len(published.asked) == 3
    assert await knows(keys)


async def test_everybody_waits_for_one_answer(keys: IssuerKeys, published: Published) -> None:
    """Also if the one who began it goes away."""
    published.held = asyncio.Event()
    first = asyncio.create_task(knows(keys))
    others = [asyncio.create_task(knows(keys)) for _ in range(10)]
    await settled(published, 1)
    first.cancel()
    await asyncio.sleep(0)
    published.held.set()
    assert all(await asyncio.gather(*others))
    assert len(published.asked) == 1


async def test_an_issuer_that_is_down_is_no_verdict(
    keys: IssuerKeys, published: Published, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    """It says when to come again, and asks no more often than that; the log has the reason."""
    published.down = True
    for wait_ms in (RETRY_EVERY_S * 1_000, 1, 0):
        with pytest.raises(IssuerUnavailable) as caught:
            await knows(keys)
        assert caught.value.retry_after_ms == (wait_ms or RETRY_EVERY_S * 1_000)
        clock.move(max(wait_ms - 1, 1))
    assert len(published.asked) == 2
    assert caplog.messages == ["the keys of an issuer can't be fetched"] * 2
    told = caplog.records[0].__dict__
    assert (told["iss"], told["tenant"], told["fault"]) == (ISSUER.iss, "default", "It is not there.")
    published.down = False
    clock.move(RETRY_EVERY_S * 1_000)
    assert await knows(keys)


async def test_known_keys_outlast_an_issuer_for_a_day(
    keys: IssuerKeys, published: Published, clock: ManualClock
) -> None:
    """It is asked every minute all the while; then nothing is known any more."""
    await knows(keys)
    published.down = True
    clock.move(MAX_AGE_S * 1_000)
    for asked in (2, 3):
        assert await knows(keys)
        await settled(published, asked)
        assert await knows(keys)
        clock.move(ASK_EVERY_S * 1_000)
    clock.move((STALE_MAX_S - 2 * ASK_EVERY_S) * 1_000 - 1)
    assert await knows(keys)
    clock.move(1)
    with pytest.raises(IssuerUnavailable):
        await knows(keys)


async def test_an_unknown_key_of_an_issuer_that_is_down_may_be_good(
    keys: IssuerKeys, published: Published, clock: ManualClock
) -> None:
    """It may have rotated since: nobody can tell until it can be asked again."""
    await knows(keys)
    published.down = True
    clock.move(ASK_EVERY_S * 1_000)
    for _ in range(2):
        with pytest.raises(IssuerUnavailable):
            await knows(keys, "k2")
    assert await knows(keys)
    assert len(published.asked) == 2
    published.down, published.keys = False, ()
    clock.move(ASK_EVERY_S * 1_000)
    assert not await knows(keys, "k2")
    assert not await knows(keys), "an issuer that shows no keys has none"


async def test_a_slow_issuer_delays_nobody_else_s_people(keys: IssuerKeys, published: Published) -> None:
    """Each is asked for itself."""
    published.held = asyncio.Event()
    slow = asyncio.create_task(knows(keys))
    await settled(published, 1)
    assert await knows(keys, issuer=OTHER)
    assert not slow.done()
    published.held.set()
    assert await slow


async def test_keys_are_of_where_they_were_fetched(keys: IssuerKeys, published: Published) -> None:
    """An issuer that is configured anew is asked anew."""
    await knows(keys)
    await knows(keys, issuer=an_issuer(jwks_url="https://id.example/keys"))
    assert len(published.asked) == 2


async def test_nothing_is_asked_after_the_end(published: Published, clock: ManualClock) -> None:
    """What is under way is given up."""
    keys = IssuerKeys(clock, published)
    published.held = asyncio.Event()
    waits = asyncio.create_task(knows(keys))
    await settled(published, 1)
    await keys.close()
    with pytest.raises(IssuerUnavailable):
        await waits
