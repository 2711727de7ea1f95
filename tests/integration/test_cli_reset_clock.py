"""``placet doctor`` and its ``--reset-clock``, over a real server whose clock had been ahead."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from redis import Redis
from redis.asyncio import Redis as AsyncRedis

from placet.cli import clock
from placet.cli.exits import Exit
from placet.store import keys
from placet.store.clock import Clocks
from tests.conftest import a_store
from tests.factories import T0_MS
from tests.steps import asked
from tests.unit.cli.conftest import Ran, Type, cli  # noqa: F401 - the fixture types a command line

pytestmark = pytest.mark.real

HOUR_MS = 3_600_000


class Operator:
    """Types commands over one store, in which tenants have something open and remember some time.

    Args:
        type_: Types a command line.
        socket: Where the server listens.
        keyring: A file for the keys.
    """

    def __init__(self, type_: Type, socket: Path, keyring: Path) -> None:
        self._type = type_
        self._socket = socket
        self._environ = {"PLACET_REDIS_URL": f"unix://{socket}", "PLACET_KEYRING_FILE": str(keyring)}
        self.redis = Redis(unix_socket_path=str(socket))
        self.redis.flushall()
        assert self("keys", "create").status == Exit.OK

    def __call__(self, *argv: str, **options: Any) -> Ran:
        """Type a command."""
        return self._type(*argv, environ=self._environ, **options)

    def tenant(self, name: str, *, ahead_ms: int | str) -> str:
        """A tenant with an open question, which remembers a time so far ahead; the question's id."""
        approval_id = asyncio.run(self._asked(name))
        ran = self("clients", "create", "shop", "--scopes", "request", "--tenant", name)
        assert ran.status == Exit.OK
        mark = ahead_ms if isinstance(ahead_ms, str) else str(self.now_ms() + ahead_ms)
        self.redis.hset(keys.meta(name), "now", mark)
        return approval_id

    def now_ms(self) -> int:
        """The server's time."""
        seconds, micros = self.redis.time()
        return seconds * 1_000 + micros // 1_000

    def is_behind(self, tenant: str) -> bool:
        """Whether nothing of the tenant is judged."""
        return asyncio.run(self._lag(tenant)) is not None

    def close(self) -> None:
        """Let the connection go."""
        self.redis.close()

    async def _asked(self, tenant: str) -> str:
        async with AsyncRedis(unix_socket_path=str(self._socket)) as client:
            ask = await asked(a_store(client, None), tenant=tenant, new={"expires_in_ms": 3 * HOUR_MS})
            return ask.id

    async def _lag(self, tenant: str) -> Any:
        async with AsyncRedis(unix_socket_path=str(self._socket)) as client:
            clocks: Clocks = a_store(client, None).clocks
            return await clocks.lag(tenant)


@pytest.fixture
def operator(cli: Type, valkey_socket: Path, tmp_path: Path) -> Any:  # noqa: F811
    """Somebody who runs the service."""
    made = Operator(cli, valkey_socket, tmp_path / "keyring.json")
    yield made
    made.close()


class TestLook:
    """The doctor says what to do, and other commands go on."""

    def test_a_clock_that_is_behind_is_a_failure(self, operator: Operator) -> None:
        """With the way out."""
        operator.tenant("late", ahead_ms=HOUR_MS)
        ran = operator("doctor", "--json")
        (check,) = [each for each in ran.json()["checks"] if each["subject"] == "clock"]
        assert (ran.status, check["level"]) == (Exit.FAILED, "fail")
        assert check["text"].startswith("The store's clock is 3")
        assert "`placet doctor --reset-clock`" in check["text"]

    def test_credentials_can_be_managed(self, operator: Operator) -> None:
        """Whatever the clock says."""
        operator.tenant("late", ahead_ms=HOUR_MS)
        assert operator("clients", "revoke", "shop", "--tenant", "late").status == Exit.OK
        assert operator("approvers", "create", "ann", "--tenant", "late").status == Exit.OK


class TestReset:
    """``--reset-clock``."""

    def test_it_cancels_and_sets_all_that_are_behind(self, operator: Operator) -> None:
        """And names what it cancelled; a clock that is right, and what is open by it, is left alone."""
        late, odd = operator.tenant("late", ahead_ms=HOUR_MS), operator.tenant("odd", ahead_ms="soon")
        operator.tenant("right", ahead_ms=0)
        ran = operator("doctor", "--reset-clock", "--yes", "--json")
        assert ran.status == Exit.OK
        first, second = ran.json()["reset"]
        assert 0 < first.pop("lag_ms") <= HOUR_MS
        assert first == {"tenant": "late", "cancelled": [late]}
        assert second == {"tenant": "odd", "lag_ms": None, "cancelled": [odd]}
        assert not operator.is_behind("late")
        assert operator.redis.zcard(keys.tag("right") + "w") == 1
        checks = operator("doctor", "--json").json()["checks"]
        assert {each["level"] for each in checks if each["subject"] == "clock"} == {"good"}

    def test_one_tenant_can_be_named(self, operator: Operator) -> None:
        """The others stay as they are."""
        operator.tenant("a", ahead_ms=HOUR_MS)
        approval_id = operator.tenant("b", ahead_ms=HOUR_MS)
        ran = operator("doctor", "--reset-clock", "--tenant", "b", "--yes")
        assert ran.out.splitlines() == [
            "✓ The time of each tenant is the store's again; what was open has to be asked anew.",
            "  Tenant b, open approvals cancelled: 1",
            f"    {approval_id}",
        ]
        assert (operator.is_behind("a"), operator.is_behind("b")) == (True, False)

    def test_a_tenant_that_is_none_is_told(self, operator: Operator) -> None:
        """Rather than that nothing was to be done."""
        ran = operator("doctor", "--reset-clock", "--tenant", "nobody", "--yes")
        assert (ran.status, "There is no tenant nobody" in ran.said) == (Exit.FAILED, True)

    def test_there_may_be_nothing_to_do(self, operator: Operator) -> None:
        """Then nobody is asked."""
        operator.tenant("right", ahead_ms=0)
        ran = operator("doctor", "--reset-clock")
        assert (ran.status, ran.out) == (Exit.OK, "✓ No clock is behind: there was nothing to reset.\n")
        assert operator("doctor", "--reset-clock", "--json").json() == {"reset": []}

    def test_a_person_is_asked(self, operator: Operator) -> None:
        """Who sees by how much, and what the clock says; only a yes is one."""
        operator.tenant("late", ahead_ms=25 * HOUR_MS)
        operator.tenant("odd", ahead_ms="soon")
        ran = operator("doctor", "--reset-clock", typed="\n", terminal=True)
        assert (ran.status, ran.said.endswith("Nothing was changed.")) == (Exit.FAILED, True)
        assert "  Tenant late: 1d" in ran.out
        assert "  Tenant odd: what it remembers is no time\n" in ran.out
        assert "Is it right, and may all that is open be cancelled? [y/N]" in ran.out
        assert operator.is_behind("late")
        assert operator("doctor", "--reset-clock", typed="y\n", terminal=True).status == Exit.OK
        assert not operator.is_behind("late")

    def test_where_nobody_can_be_asked_it_takes_a_word(self, operator: Operator) -> None:
        """Cancelling is not taken for granted."""
        operator.tenant("late", ahead_ms=HOUR_MS)
        ran = operator("doctor", "--reset-clock")
        assert (ran.status, "say --yes" in ran.said) == (Exit.USAGE, True)
        assert operator.is_behind("late")

    def test_clocks_that_differ_are_warned_of(
        self, operator: Operator, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It would be a pity to go by the one that is wrong."""

        async def store_clock(_: object) -> tuple[int, int]:
            return T0_MS, HOUR_MS

        monkeypatch.setattr(clock, "store_clock", store_clock)
        operator.tenant("late", ahead_ms=HOUR_MS)
        ran = operator("doctor", "--reset-clock", "--yes")
        assert ran.status == Exit.OK
        assert "differ by 1h: make sure that the store's is right" in ran.said
