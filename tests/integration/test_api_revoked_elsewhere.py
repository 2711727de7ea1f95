"""Replicas with a keyring file each: a key revoked on one is trusted on none, from the next call on."""

import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import jwt
import pytest
from redis.asyncio import Redis

from placet.tokens.keyring_file import load, update
from tests.factories import ManualClock
from tests.harness import Harness, Party, holder, opened, record, refusal

INVALID = (403, "APPROVAL_TOKEN_INVALID")


@pytest.fixture
async def replicas(
    client: Redis, tmp_path: Path, clock: ManualClock
) -> AsyncIterator[tuple[Harness, Harness]]:
    """Here, where the operator works, and there, with a copy of the file."""
    folders = [tmp_path / "here", tmp_path / "there"]
    for folder in folders:
        folder.mkdir()
    async with opened(client, folders[0], clock) as here:
        shutil.copy(folders[0] / "keyring.json", folders[1])
        async with opened(client, folders[1], clock) as there:
            yield here, there


def ring_of(h: Harness) -> Path:
    """Its own keyring file."""
    return h.services.settings.store.data_dir / "keyring.json"


async def revoked(here: Harness, kid: str) -> None:
    """What ``placet keys revoke`` does, on this machine."""
    update(ring_of(here), lambda ring: ring.revoke(kid, here.clock.now_ms()))
    for tenant in await here.services.store.registry.tenants():
        await here.services.enrolment.count_change(tenant)


async def granted(here: Harness, there: Harness) -> tuple[Party, dict[str, Any], str]:
    """A grant that the replica there has given a token for: its holder there, the record, the token."""
    runtime, ann = await here.client(), await here.approver()
    away = holder(there, "runtime", runtime.credential)
    asked = await away.asked()
    record(await ann.decide(asked))
    return away, asked, await away.token(asked["id"])


def kid_of(token: str) -> str:
    """The key that a token names."""
    return str(jwt.get_unverified_header(token)["kid"])


async def published(h: Harness) -> set[str]:
    """The kids of its key set."""
    answer = await h.http.get("/.well-known/jwks.json")
    return {key["kid"] for key in answer.json()["keys"]}


async def test_its_tokens_are_refused_there_by_the_very_next_call(replicas: tuple[Harness, Harness]) -> None:
    """Spent or only looked at; and the key is published no more, though the file there has it still."""
    here, there = replicas
    away, asked, token = await granted(here, there)
    assert record(await away.introspect(asked, token)) == {"active": True}
    await revoked(here, kid_of(token))
    assert record(await away.introspect(asked, token)) == {
        "active": False,
        "error": "APPROVAL_TOKEN_INVALID",
    }
    assert refusal(await away.consume(asked, token)) == INVALID
    assert kid_of(token) not in await published(there)
    assert load(ring_of(there)).active.kid == kid_of(token)


async def test_it_mints_there_with_the_key_that_takes_over(replicas: tuple[Harness, Harness]) -> None:
    """Next signs, as in the newer file: what it mints is taken on both, and the grant lives on."""
    here, there = replicas
    away, asked, token = await granted(here, there)
    await revoked(here, kid_of(token))
    fresh = await away.token(asked["id"])
    assert kid_of(fresh) == load(ring_of(here)).active.kid == load(ring_of(there)).next.kid
    assert record(await holder(here, "runtime", away.credential).introspect(asked, fresh)) == {"active": True}
    record(await away.consume(asked, fresh))


async def test_it_mints_nothing_there_when_all_it_has_is_revoked(
    replicas: tuple[Harness, Harness], caplog: pytest.LogCaptureFixture
) -> None:
    """A second revocation before the file is replaced: no token, and the log says what to do."""
    here, there = replicas
    away, asked, token = await granted(here, there)
    for _ in range(2):
        await revoked(here, load(ring_of(here)).active.kid)
    assert refusal(await away.read(asked["id"])) == (500, "INTERNAL_ERROR")
    (alarm,) = [line for line in caplog.records if line.message == "no key to sign tokens with"]
    assert "install the newer keyring here" in alarm.__dict__["fault"]
    assert refusal(await away.consume(asked, token)) == INVALID
    shutil.copy(ring_of(here), ring_of(there))
    there.services.directory.forget("default")
    record(await away.consume(asked, await away.token(asked["id"])))


@pytest.mark.parametrize("told_by", ["registry", "roll"])
async def test_it_is_not_ready_there_until_the_file_is_replaced(
    replicas: tuple[Harness, Harness], told_by: str
) -> None:
    """Be the registry silent, or set back by whoever can write the store: what was heard was sealed."""
    here, there = replicas
    away, _, token = await granted(here, there)
    await revoked(here, kid_of(token))
    if told_by == "registry":
        assert await here.services.readiness.faults() == []
    record(await away.list())
    answer = await there.http.get("/readyz")
    (fault,) = answer.json()["faults"]
    assert (answer.status_code, "install" in fault, "newer" in fault) == (503, True, True)
    shutil.copy(ring_of(here), ring_of(there))
    assert (await there.http.get("/readyz")).status_code == 200


async def test_a_key_counts_in_no_tenant_once_one_has_told(replicas: tuple[Harness, Harness]) -> None:
    """Kids are one deployment's: a tenant that nobody told hears of it through the others."""
    here, there = replicas
    away, asked, token = await granted(here, there)
    other = await there.client(tenant="other")
    update(ring_of(here), lambda ring: ring.revoke(kid_of(token), here.clock.now_ms()))
    await here.services.enrolment.count_change("other")
    record(await other.list())
    assert refusal(await away.consume(asked, token)) == INVALID


async def test_a_tenant_that_is_made_later_knows_too(replicas: tuple[Harness, Harness]) -> None:
    """Every change of a roll says which keys the keyring has revoked."""
    here, there = replicas
    away, asked, token = await granted(here, there)
    update(ring_of(here), lambda ring: ring.revoke(kid_of(token), here.clock.now_ms()))
    late = await here.client("late", tenant="late")
    record(await Party(there.http, "late", "late", late.credential).list())
    assert refusal(await away.consume(asked, token)) == INVALID


@pytest.mark.parametrize("words", ["", "0123456789abcdef", "{kid} 0123456789abcdef"])
async def test_who_writes_the_store_revokes_no_key_and_takes_none_back(
    replicas: tuple[Harness, Harness], words: str
) -> None:
    """The list is sealed with the roll: changed, nobody is let in, and no key is lost to anybody."""
    here, there = replicas
    away, _, token = await granted(here, there)
    await revoked(here, kid_of(token))
    await here.redis.hset("{placet:default}:m", "revoked", words.format(kid=kid_of(token)))
    for h in replicas:
        assert refusal(await holder(h, "runtime", away.credential).list()) == (500, "INTERNAL_ERROR")
    assert "0123456789abcdef" not in there.services.ring.revoked


async def test_an_older_keyring_takes_nothing_back(replicas: tuple[Harness, Harness]) -> None:
    """A change made with the copy that has not heard of it leaves the revocation in the roll."""
    here, there = replicas
    away, asked, token = await granted(here, there)
    await revoked(here, kid_of(token))
    await there.services.enrolment.rotate("default", "approver:ann")
    roll = await here.services.store.principals.all("default")
    assert roll.revoked == (kid_of(token),)
    assert refusal(await away.consume(asked, token)) == INVALID


async def test_no_key_is_lost_where_nothing_was_revoked(replicas: tuple[Harness, Harness]) -> None:
    """A rotation is told in the same way, and tokens of the key before count on."""
    here, there = replicas
    away, asked, token = await granted(here, there)
    here.clock.move(300_000)
    update(ring_of(here), lambda ring: ring.rotate(here.clock.now_ms()))
    await here.services.enrolment.count_change("default")
    record(await holder(here, "runtime", away.credential).consume(asked, token))
    assert json.loads(ring_of(here).read_text())["retired"][0]["kid"] == kid_of(token)
