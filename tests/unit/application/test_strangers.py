"""Strangers: where too many fail, they are looked for among what was so a second ago at most."""

from collections.abc import Sequence

import pytest

from placet.application.strangers import Strangers
from placet.domain.errors import RateLimited, Unauthenticated
from placet.domain.limits import FAILURES_BURST, NEWCOMERS_EVERY_S
from tests.factories import ManualClock


class Registry:
    """The tenants there are, and how often somebody asked."""

    def __init__(self, *names: str) -> None:
        self.names = list(names)
        self.asked = 0

    async def tenants(self) -> Sequence[str]:
        """As the real one."""
        self.asked += 1
        return list(self.names)


class CatchUp:
    """Counts."""

    def __init__(self) -> None:
        self.count = 0

    async def __call__(self) -> None:
        self.count += 1


async def test_a_tenant_is_caught_up_with_once_a_second(clock: ManualClock) -> None:
    """And the list of them read as often, however many want to know."""
    registry, one, two = Registry("one", "two"), CatchUp(), CatchUp()
    strangers = Strangers(clock, registry.tenants)
    for second in range(1, 4):
        for _ in range(10):
            await strangers.meet("one", one)
            await strangers.meet("two", two)
        assert (registry.asked, one.count, two.count) == (second, second, second)
        clock.move(NEWCOMERS_EVERY_S * 1_000)


@pytest.mark.parametrize("tenant", ["other", "", "ONE"])
async def test_a_tenant_that_is_not_there_is_not_looked_for(clock: ManualClock, tenant: str) -> None:
    """Nobody is of it; the store hears nothing of its name."""
    registry, catch_up = Registry("one"), CatchUp()
    strangers = Strangers(clock, registry.tenants)
    for _ in range(5):
        with pytest.raises(Unauthenticated):
            await strangers.meet(tenant, catch_up)
    assert (registry.asked, catch_up.count) == (1, 0)


async def test_a_tenant_made_meanwhile_is_found_within_a_second(clock: ManualClock) -> None:
    """No list counts for longer."""
    registry, catch_up = Registry(), CatchUp()
    strangers = Strangers(clock, registry.tenants)
    with pytest.raises(Unauthenticated):
        await strangers.meet("new", catch_up)
    registry.names.append("new")
    clock.move(NEWCOMERS_EVERY_S * 1_000 - 1)
    with pytest.raises(Unauthenticated):
        await strangers.meet("new", catch_up)
    clock.move(1)
    await strangers.meet("new", catch_up)
    assert catch_up.count == 1


async def test_a_tenant_that_has_changed_is_caught_up_with_at_once(clock: ManualClock) -> None:
    """Whoever knows that it has says so."""
    registry, catch_up = Registry("one", "two"), CatchUp()
    strangers = Strangers(clock, registry.tenants)
    await strangers.meet("one", catch_up)
    strangers.forget("two")
    await strangers.meet("one", catch_up)
    assert catch_up.count == 1
    strangers.forget("one")
    await strangers.meet("one", catch_up)
    assert (catch_up.count, registry.asked) == (2, 1)


def test_attempts_are_paid_for(clock: ManualClock) -> None:
    """Out of the budgets of failed attempts, which are told of."""
    counted: list[str] = []
    strangers = Strangers(clock, Registry().tenants, counted.append)
    for _ in range(FAILURES_BURST):
        with pytest.raises(Unauthenticated), strangers.attempt("192.0.2.1"):
            raise Unauthenticated
    with pytest.raises(RateLimited), strangers.attempt("192.0.2.1"):
        raise Unauthenticated
    with strangers.attempt("192.0.2.1") as is_welcome:
        assert not is_welcome
    assert counted == ["refused"] * FAILURES_BURST + ["limited"]
