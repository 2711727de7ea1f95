"""A standby is promoted that missed what the primary had written (redis #6062, opsmill/infrahub #9450)."""

import asyncio
import shutil
import socket
from collections.abc import Iterator

import pytest
from redis import Redis

from tests import servers
from tests.e2e.processes import WITHIN_S, ExternalStore
from tests.e2e.stage import INPUT, Stage, casting, several
from tests.harness import record, refusal
from tests.tools import until

pytestmark = [pytest.mark.e2e, pytest.mark.real]

DATA = "appendonlydir"
"""Where a Valkey keeps its append-only file, in its directory."""


@pytest.fixture
def port() -> int:
    """A free port, for the primary."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


@pytest.fixture
def stage(port: int) -> Iterator[Stage]:
    """A store whose answers wait for its disk and for one standby; the service comes once there is one."""
    wanted = {"PLACET_DURABILITY": "replicated", "PLACET_STORE_CONFIRM_TIMEOUT_MS": "500"}
    options = {"--port": str(port), "--repl-diskless-sync-delay": "0"}
    with several(0, *(word for option in options.items() for word in option), **wanted) as stage:
        yield stage


async def test_a_consumption_that_the_standby_missed(stage: Stage, port: int) -> None:
    """It was not acknowledged: another execution may consume, once, and the first hears that it is late."""
    primary = stage.external
    assert primary is not None
    standby, next_one = a_standby(stage, "standby", port), a_standby(stage, "next", port)
    try:
        await attached(standby)
        await asyncio.to_thread(stage.add)
        async with casting(stage) as cast:
            (runtime,), (ann,) = await cast.client(), await cast.approver()
            asked = await runtime.asked(input=INPUT)
            record(await ann.decide(asked))
            token = await runtime.token(asked["id"])
            standby.kill()
            assert refusal(await runtime.consume(asked, token)) == (503, "STORE_UNAVAILABLE")
            primary.kill()
            shutil.rmtree(primary.directory / DATA)
            shutil.copytree(standby.directory / DATA, primary.directory / DATA)
            primary.start()
            await attached(next_one)
            consumed = record(await runtime.consume(asked, token, execution="exec-2"))
            assert (consumed["replayed"], consumed["consumption"]["execution_id"]) == (False, "exec-2")
            assert refusal(await runtime.consume(asked, token)) == (409, "APPROVAL_CONSUMED")
    finally:
        standby.stop()
        next_one.stop()


def a_standby(stage: Stage, name: str, port: int) -> ExternalStore:
    """A Valkey that will follow the primary."""
    directory = stage.directory / name
    directory.mkdir()
    return ExternalStore(str(servers.valkey_binary()), directory, "--replicaof", "127.0.0.1", str(port))


async def attached(standby: ExternalStore) -> None:
    """Start a standby, and wait until it has all that the primary has."""
    await asyncio.to_thread(standby.start)

    def follows() -> bool:
        with Redis(unix_socket_path=str(standby.socket)) as client:
            return bool(client.info("replication")["master_link_status"] == "up")

    await until(follows, "it follows the primary", within_s=WITHIN_S)
