"""SIGKILL for service and store under load: what was acknowledged stays true."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress

import psutil  # type: ignore[import-untyped] # it ships no types
import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError

from tests.e2e.load import Load
from tests.e2e.processes import WITHIN_S, process_of
from tests.e2e.stage import Cast, Stage, alone, casting, several
from tests.steps import events
from tests.tools import until

pytestmark = [pytest.mark.e2e, pytest.mark.real]

KILLS = 5
WORKERS = 16

Kill = Callable[[Stage], Awaitable[None]]


async def the_service(stage: Stage) -> None:
    """Kill a replica, and start it again."""
    replica = random.choice(stage.replicas)
    replica.kill()
    await asyncio.to_thread(replica.start)


async def the_embedded_store(stage: Stage) -> None:
    """Kill the Valkey of a service, whose guard starts it again."""
    killed = await asyncio.to_thread(process_of, stage.socket)
    killed.kill()
    await until(lambda: _is_another(stage, killed), "the guard has started another Valkey", within_s=WITHIN_S)


async def the_external_store(stage: Stage) -> None:
    """Kill the store that the replicas share, and start it again on what it left."""
    assert stage.external is not None
    await asyncio.to_thread(stage.external.kill)
    await asyncio.to_thread(stage.external.start)


def _is_another(stage: Stage, killed: psutil.Process) -> bool:
    with suppress(RedisError, OSError):
        return bool(process_of(stage.socket) != killed)
    return False


class TestUnderLoad:
    """Killed again and again while agents ask and people decide."""

    async def test_service(self) -> None:
        """A service that is killed with its store loses nothing that it acknowledged."""
        with alone() as stage:
            await endure(stage, the_service)

    async def test_embedded_store(self) -> None:
        """Nor does one whose Valkey is killed under it."""
        with alone() as stage:
            await endure(stage, the_embedded_store)

    async def test_replicas_and_external_store(self) -> None:
        """Nor do replicas that are killed in turn with the store that they share."""
        with several(2) as stage:
            await endure(stage, the_service, the_external_store)


async def endure(stage: Stage, *kills: Kill) -> None:
    """Kill under load; then hold what was acknowledged against what there is."""
    async with casting(stage) as cast:
        load = Load(await cast.client(), await cast.approver())
        over = asyncio.Event()
        workers = [asyncio.create_task(load.go_on(over)) for _ in range(WORKERS)]
        for number in range(KILLS):
            await asyncio.sleep(random.uniform(0.2, 0.8))
            await kills[number % len(kills)](stage)
        await asyncio.sleep(0.3)
        over.set()
        async with asyncio.timeout(2 * WITHIN_S):
            await asyncio.gather(*workers)
        assert load.unsure > 0, "no call was under way when something was killed"
        await load.audit(await transitions(stage, cast))


async def transitions(stage: Stage, cast: Cast) -> list[tuple[str, str]]:
    """The stream of the cast's tenant."""
    async with Redis(unix_socket_path=str(stage.socket)) as redis:
        return await events(redis, cast.tenant)
