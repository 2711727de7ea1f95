"""Credentials that are nobody's, again and again: bounded work, and nobody kept out by it."""

import asyncio
import secrets
from typing import Any

import httpx
import pytest

from placet.domain.errors import StoreUnavailable
from placet.domain.limits import FAILURES_BURST, FAILURES_EVERY_MS, NEWCOMERS_EVERY_S
from tests.harness import BASE_URL, Harness, Party, record, refusal

UNKNOWN = (401, "UNAUTHENTICATED")
LIMITED = (429, "RATE_LIMITED")
ELSEWHERE = "198.51.100.7"


def made_up(tenant: str = "default") -> str:
    """A credential of the right form that nobody has."""
    kid = "".join(secrets.choice("abcdefghijklmnopqrstuvwxyz0123456789") for _ in range(12))
    return f"plc_{tenant}_{kid}_{secrets.token_urlsafe(32)}"


def at(h: Harness, address: str | None, credential: str) -> Party:
    """Someone with this credential at this address."""
    client: Any = None if address is None else (address, 40_000)
    transport = httpx.ASGITransport(app=h.app, client=client)  # type: ignore[arg-type] # Litestar's ASGI types
    return Party(httpx.AsyncClient(transport=transport, base_url=BASE_URL), "default", "x", credential)


async def flood(h: Harness, times: int = FAILURES_BURST + 20, *, tenant: str = "default") -> httpx.Response:
    """Fail so often from the usual address; the last answer."""
    for _ in range(times - 1):
        await Party(h.http, tenant, "x", made_up(tenant)).list()
    return await Party(h.http, tenant, "x", made_up(tenant)).list()


class Asked:
    """Counts what the store is asked about principals and tenants."""

    def __init__(self, h: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
        self.keys: list[str] = []
        self.rolls: list[str] = []
        self.lists = 0
        principals, strangers = h.services.store.principals, h.services.directory._strangers
        by_key, everything, tenants = principals.by_key, principals.all, strangers._tenants

        async def counting_key(tenant: str, kid: str) -> Any:
            self.keys.append(tenant)
            return await by_key(tenant, kid)

        async def counting_roll(tenant: str) -> Any:
            self.rolls.append(tenant)
            return await everything(tenant)

        async def counting_tenants() -> Any:
            self.lists += 1
            return await tenants()

        monkeypatch.setattr(principals, "by_key", counting_key)
        monkeypatch.setattr(principals, "all", counting_roll)
        monkeypatch.setattr(strangers, "_tenants", counting_tenants)

    @property
    def total(self) -> int:
        """All of it."""
        return len(self.keys) + len(self.rolls) + self.lists


async def test_too_many_are_told_when_to_come_again(anywhere: Harness) -> None:
    """After its share of 401 an address hears 429 with the wait, on every route; then 401 again."""
    runtime = await anywhere.client()
    record(await runtime.list())
    for _ in range(FAILURES_BURST):
        assert refusal(await Party(anywhere.http, "default", "x", made_up()).list()) == UNKNOWN
    answer = await Party(anywhere.http, "default", "x", made_up()).ask()
    assert refusal(answer) == LIMITED
    assert answer.headers["retry-after"] == "1"
    problem = answer.json()
    assert (problem["details"], problem["failure"]["retryAfterMs"]) == ({"reason": "rate"}, FAILURES_EVERY_MS)
    assert problem["retryable"] is True
    assert "www-authenticate" not in answer.headers
    anywhere.clock.move(FAILURES_EVERY_MS)
    assert refusal(await Party(anywhere.http, "default", "x", made_up()).list()) == UNKNOWN


@pytest.mark.parametrize(
    "text",
    ["x", "plc_default_short", "ey.ey.ey", made_up() + "é", "p" * 5_000],
    ids=["none", "short", "dotted", "no-ascii", "long"],
)
async def test_what_has_not_the_form_counts_too(h: Harness, text: str) -> None:
    """Whatever was presented and is nobody's."""
    for _ in range(FAILURES_BURST):
        response = await h.http.get("/v1/approvals", headers={b"authorization": b"Bearer " + text.encode()})
        assert refusal(response) == UNKNOWN
    response = await h.http.get("/v1/approvals", headers={b"authorization": b"Bearer " + text.encode()})
    assert refusal(response) == LIMITED


async def test_a_wrong_secret_counts_too(h: Harness) -> None:
    """Guessing at a known key, which the store is not asked about."""
    runtime = await h.client()
    record(await runtime.list())
    wrong = runtime.credential[:-43] + "A" * 43
    for _ in range(FAILURES_BURST):
        assert refusal(await Party(h.http, "default", "x", wrong).list()) == UNKNOWN
    assert refusal(await Party(h.http, "default", "x", wrong).list()) == LIMITED


async def test_nothing_presented_is_nothing_failed(h: Harness) -> None:
    """A look at the door without a credential is answered with the challenge, however often."""
    for _ in range(FAILURES_BURST + 5):
        response = await h.http.get("/v1/approvals")
        assert refusal(response) == UNKNOWN
    assert refusal(await Party(h.http, "default", "x", made_up()).list()) == UNKNOWN


async def test_whoever_is_known_never_notices(anywhere: Harness) -> None:
    """From the very address of the flood, and at once."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    record(await runtime.list())
    assert refusal(await flood(anywhere)) == LIMITED
    asked = await runtime.asked()
    record(await ann.decide(asked))
    assert record(await runtime.consume(asked, await runtime.token(asked["id"])))["replayed"] is False


async def test_whoever_was_not_seen_yet_gets_in(pair: tuple[Harness, Harness]) -> None:
    """A replica that knows nobody lets in whoever is good, in the middle of a flood from their address."""
    here, there = pair
    runtime, ann = await here.client(), await here.approver()
    asked = await runtime.asked()
    assert refusal(await flood(there)) == LIMITED
    record(await Party(there.http, "default", "runtime", runtime.credential).read(asked["id"]))
    record(await Party(there.http, "default", "ann", ann.credential).decide(asked))
    assert refusal(await flood(there, 1)) == LIMITED


async def test_whoever_is_newer_than_that_gets_in_after_a_second(pair: tuple[Harness, Harness]) -> None:
    """The one thing a flood can do: a credential made just now may be told once to come again, and when."""
    here, there = pair
    await here.client()
    assert refusal(await flood(there)) == LIMITED
    fresh = await here.client("fresh")
    newcomer = Party(there.http, "default", "fresh", fresh.credential)
    answer = await newcomer.list()
    assert refusal(answer) == LIMITED
    wait_ms = answer.json()["failure"]["retryAfterMs"]
    assert wait_ms == FAILURES_EVERY_MS == NEWCOMERS_EVERY_S * 1_000
    there.clock.move(wait_ms)
    await flood(there, 5)
    record(await newcomer.list())


async def test_elsewhere_it_gets_in_at_once(pair: tuple[Harness, Harness]) -> None:
    """Addresses that do not fail have the store asked as ever."""
    here, there = pair
    await here.client()
    await flood(there)
    fresh = await here.client("fresh")
    record(await at(there, ELSEWHERE, fresh.credential).list())


async def test_a_revocation_counts_at_once_in_a_flood(pair: tuple[Harness, Harness]) -> None:
    """What was known a second ago lets nobody in who is not known now."""
    here, there = pair
    runtime = await here.client()
    away = Party(there.http, "default", "runtime", runtime.credential)
    record(await away.list())
    await flood(there)
    await here.services.enrolment.revoke("default", "client:runtime")
    assert refusal(await away.list()) == LIMITED
    assert refusal(await at(there, ELSEWHERE, runtime.credential).list()) == UNKNOWN


async def test_a_flood_asks_the_store_once_a_second(h: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    """About the tenant there is, whether it has changed; about all others, which there are."""
    runtime = await h.client()
    record(await runtime.list())
    await flood(h, FAILURES_BURST)
    asked = Asked(h, monkeypatch)
    for second in range(1, 4):
        await flood(h, 30)
        for n in range(30):
            await flood(h, 1, tenant=f"made-up-{n}")
        # The one attempt that the address has in a second is looked up by itself.
        assert (asked.lists, len(asked.rolls)) == (second, 0)
        assert len(asked.keys) <= 2 * second
        h.clock.move(1_000)


async def test_a_flood_all_at_once_is_bounded_too(h: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its calls don't overtake the counting of their failures."""
    runtime = await h.client()
    record(await runtime.list())
    asked = Asked(h, monkeypatch)
    answers = await asyncio.gather(*(Party(h.http, "default", "x", made_up()).list() for _ in range(600)))
    told = [refusal(each) for each in answers]
    assert (told.count(UNKNOWN), told.count(LIMITED)) == (FAILURES_BURST, 600 - FAILURES_BURST)
    assert asked.total <= FAILURES_BURST + 2


async def test_made_up_tenants_are_not_remembered(h: Harness) -> None:
    """A flood of names leaves nothing behind, in memory or in the store."""
    for n in range(FAILURES_BURST + 100):
        await flood(h, 1, tenant=f"made-up-{n}")
    assert list(h.services.directory._snapshots) == []
    assert [key async for key in h.redis.scan_iter(match="*made-up*")] == []
    assert "made-up-150" not in str(h.services.directory._strangers._rationed.__dict__)


async def test_each_address_has_its_own_share(h: Harness) -> None:
    """An IPv6 subnet counts as one, an IPv4 address however it is written; no address at all is one too."""
    shares = [
        ("2001:db8::1", "2001:db8::ffff"),
        ("192.0.2.9", "::ffff:192.0.2.9"),
        (None, None),
    ]
    for one, same in shares:
        for _ in range(FAILURES_BURST):
            assert refusal(await at(h, one, made_up()).list()) == UNKNOWN
        assert refusal(await at(h, same, made_up()).list()) == LIMITED
    assert refusal(await at(h, "2001:db8:0:1::1", made_up()).list()) == UNKNOWN


async def test_a_store_that_is_away_is_nobodys_failure(h: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    """Good callers who can't be looked up hear 503, and have failed at nothing."""
    runtime = await h.client()

    async def away(*_: Any) -> Any:
        raise StoreUnavailable

    h.services.directory.forget("default")
    with monkeypatch.context() as broken:
        broken.setattr(h.services.store.principals, "by_key", away)
        broken.setattr(h.services.store.principals, "all", away)
        for _ in range(FAILURES_BURST + 20):
            assert refusal(await runtime.list()) == (503, "STORE_UNAVAILABLE")
    record(await runtime.list())
    assert refusal(await flood(h, 1)) == UNKNOWN


async def test_a_tenant_that_keeps_changing_is_temporary(h: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forgotten again before anybody could look at it: 503, since nobody can say that they are nobody."""
    runtime = await h.client()
    await flood(h)
    h.services.directory.forget("default")

    async def and_changes(*_: Any) -> None:
        h.services.directory.forget("default")

    with monkeypatch.context() as changing:
        changing.setattr(h.services.directory._strangers, "meet", and_changes)
        assert refusal(await runtime.list()) == (503, "STORE_UNAVAILABLE")
    record(await runtime.list())


async def test_failures_are_counted(h: Harness) -> None:
    """By what they were answered with."""
    await flood(h, FAILURES_BURST + 7)

    def value(answer: str) -> float | None:
        registry = h.services.metrics.registry
        return registry.get_sample_value("placet_failed_authentications_total", {"answer": answer})

    assert (value("refused"), value("limited")) == (FAILURES_BURST, 7)
