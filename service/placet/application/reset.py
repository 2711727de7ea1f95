"""Reset a clock: an operator brings a tenant's time back to the server's, after a jump ahead.

What was asked and granted under the wrong time has deadlines that mean nothing, so all of it is
cancelled first. It acts with the rights of whoever can open the store; the trails name the operator.
"""

import asyncio
from collections.abc import Mapping, Sequence

from placet.application.withdraw import OPERATOR
from placet.store.clock import Clocks, Lag
from placet.store.codec import Who

_BATCH = 200


def sentence(late: Mapping[str, Lag], *, named: bool = True) -> str:
    """What is wrong with the clocks of these tenants, and what to do; at most the first is named."""
    tenant, lag = next(iter(late.items()))
    who = f"tenant '{tenant}'" if named else "a tenant"
    who += f" (and {len(late) - 1} more)" if len(late) > 1 else ""
    wrong = (
        f"What the store holds for the latest moment that {who} has seen is no time"
        if lag.ms is None
        else f"The store's clock is {lag.ms // 1_000} s behind what {who} has already seen"
    )
    return (
        f"{wrong}: nothing of it is judged. Set the server's clock right; where it is right, "
        "`placet doctor --reset-clock` sets the tenant's."
    )


class ResetClock:
    """The use case."""

    def __init__(self, clocks: Clocks) -> None:
        self._clocks = clocks

    async def late(self, tenants: Sequence[str]) -> dict[str, Lag]:
        """Those of ``tenants`` whose clock is too far behind to judge by. Changes nothing.

        Raises:
            StoreUnavailable: The store can't be asked.
        """
        lags = await asyncio.gather(*map(self._clocks.lag, tenants))
        return {tenant: lag for tenant, lag in zip(tenants, lags, strict=True) if lag is not None}

    async def __call__(self, tenant: str) -> tuple[str, ...]:
        """Cancel all that is open, then set the clock; a clock that is not too far behind is left alone.

        Returns:
            The ids of what was cancelled by this call.

        Raises:
            StoreUnavailable: The store can't be asked; some may have been cancelled, and the clock set if
                all were. Calling again is fine.
        """
        cancelled: list[str] = []
        while True:
            step = await self._clocks.set_back(tenant, Who(by=OPERATOR), limit=_BATCH)
            cancelled += step.cancelled
            if step.done:
                return tuple(cancelled)
