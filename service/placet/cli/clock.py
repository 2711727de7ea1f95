"""``placet doctor --reset-clock``: bring tenants' time back to the store's clock, after a jump ahead.

A tenant that has seen a later time than the store's clock shows is not judged at all. Where that clock is
right, and was wrong before, this cancels what is open and lets the tenant go on.
"""

import argparse
import asyncio
from collections.abc import Mapping
from typing import Final

from placet.application.rulings import rfc3339
from placet.bootstrap import Services
from placet.cli.console import Ink
from placet.cli.context import Context
from placet.cli.exits import Exit, Stop
from placet.cli.opened import opening, settings_of
from placet.domain.durations import duration
from placet.domain.text import visible
from placet.store.clock import Lag

SKEW_MAX_MS: Final = 5_000
"""How far clocks may differ: foreign tokens are judged with this leeway (design §11)."""


async def store_clock(services: Services) -> tuple[int, int]:
    """The store's time, and by how much this machine's differs, both in milliseconds."""
    before_ms = services.clock.now_ms()
    seconds, micros = await services.store.client.time()
    here_ms = (before_ms + services.clock.now_ms()) // 2
    store_ms = seconds * 1000 + micros // 1000
    return store_ms, abs(store_ms - here_ms)


def reset(args: argparse.Namespace, context: Context) -> int:
    """Ask, cancel what is open, and set the clocks."""
    return asyncio.run(_reset(args, context))


async def _reset(args: argparse.Namespace, context: Context) -> int:
    settings, console = settings_of(args, context), context.console
    async with opening(settings, console) as services:
        tenants = await services.store.registry.tenants()
        if args.tenant is not None and args.tenant not in tenants:
            raise Stop(f"There is no tenant {visible(args.tenant)}: look for a slip in its name.")
        late = await services.reset_clock.late(tenants if args.tenant is None else [args.tenant])
        if late:
            await _confirm(services, late, context, certain=args.yes)
        cancelled = {}
        for tenant in late:
            with console.slowly(f"Cancelling what is open in tenant {tenant} …"):
                cancelled[tenant] = await services.reset_clock(tenant)
    mark = console.out.mark(Ink.GREEN)
    lines = [f"{mark} No clock is behind: there was nothing to reset."]
    if late:
        lines = [f"{mark} The time of each tenant is the store's again; what was open has to be asked anew."]
    for tenant, ids in cancelled.items():
        lines.append(f"  Tenant {tenant}, open approvals cancelled: {len(ids)}")
        lines += [f"    {visible(approval_id)}" for approval_id in ids]
    document = [
        {"tenant": tenant, "lag_ms": lag.ms, "cancelled": list(cancelled[tenant])}
        for tenant, lag in late.items()
    ]
    console.result({"reset": document}, *lines)
    return Exit.OK


async def _confirm(services: Services, late: Mapping[str, Lag], context: Context, *, certain: bool) -> None:
    """Nothing, where the operator says yes.

    Raises:
        Stop: They don't, or nobody can be asked.
    """
    console = context.console
    store_ms, skew_ms = await store_clock(services)
    if skew_ms > SKEW_MAX_MS:
        differ = f"This machine's clock and the store's differ by {duration(skew_ms)}"
        console.warn(f"{differ}: make sure that the store's is right.")
    if certain:
        return
    if not context.can_ask:
        raise Stop("This cancels approvals, and nobody can be asked here: say --yes.", Exit.USAGE)
    for tenant, lag in late.items():
        ahead = "what it remembers is no time" if lag.ms is None else f"{duration(lag.ms)} ahead of the clock"
        console.people.line(f"  Tenant {tenant}: {ahead}")
    question = (
        f"The store's clock says {rfc3339(store_ms)}. Is it right, and may all that is open be cancelled?"
    )
    if not context.ask(question, default=False):
        raise Stop("Nothing was changed.")
