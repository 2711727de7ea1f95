"""``placet deliveries``: what Slack and webhooks have not been told yet, why, and trying it at once."""

import argparse
import asyncio
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, Final

from msgspec import Struct

from placet.application.rulings import rfc3339
from placet.bootstrap import Services
from placet.cli.console import Ink, Terminal
from placet.cli.context import Context
from placet.cli.exits import Exit, Stop
from placet.cli.invoked import placet
from placet.cli.layout import GAP, Column, blocks
from placet.cli.opened import opening, operating, settings_of
from placet.domain.deliveries import Delivery, DeliveryState, Failure
from placet.domain.delivery_docs import remedy
from placet.domain.durations import duration
from placet.domain.errors import StoreUnavailable
from placet.domain.text import visible

MOST: Final = 1_000
"""Of either kind: what is listed, and what is tried again, in one call."""

_COLUMNS: Final = (
    Column(title="APPROVAL", least=12),
    Column(title="TARGET", least=12),
    Column(title="STATE"),
    Column(title="TRIED"),
    Column(title="WHY"),
    Column(title="WHEN"),
)


class Lane(Struct, frozen=True, kw_only=True):
    """What a target is still to be told of an approval; ``due_ms`` where it is tried by itself."""

    approval: str
    delivery: Delivery
    due_ms: int | None

    def document(self) -> dict[str, Any]:
        """As JSON."""
        lane = self.delivery
        return {
            "approval": self.approval,
            "target": lane.target,
            "state": lane.state,
            "attempts": lane.attempts,
            "error": lane.error,
            "at": rfc3339(lane.at_ms),
            "due_at": None if self.due_ms is None else rfc3339(self.due_ms),
        }

    def row(self, now_ms: int) -> tuple[str, ...]:
        """As a line of the table."""
        lane = self.delivery
        when = f"{duration(max(now_ms - lane.at_ms, 0))} ago"
        if self.due_ms is not None:
            when = "now" if self.due_ms <= now_ms else f"in {duration(self.due_ms - now_ms)}"
        return (
            self.approval,
            lane.target,
            "failed" if lane.state is DeliveryState.FAILED else "waits",
            str(lane.attempts),
            lane.error or "-",
            when,
        )


def list_(args: argparse.Namespace, context: Context) -> int:
    """List what has failed and what waits."""

    async def work() -> None:
        async with opening(settings_of(args, context), context.console) as services:
            lanes = await _lanes(services, args.tenant, failed=not args.waiting, waiting=not args.failed)
            _tell_of_more(lanes, context)
            now_ms = services.clock.now_ms()
        lines = _listing(lanes, now_ms, context.console.out) if lanes else [_nothing(args)]
        context.console.result({"items": [lane.document() for lane in lanes]}, *lines)

    asyncio.run(work())
    return Exit.OK


def retry(args: argparse.Namespace, context: Context) -> int:
    """Have what has failed, or waits for its next attempt, tried at once."""
    if not (args.id or args.target or args.all):
        raise Stop("Which? Name an approval, or a target with --target; --all takes all.", Exit.USAGE)

    async def work() -> list[Lane]:
        async with operating(settings_of(args, context), context.console) as services:
            try:
                lanes = await _lanes(services, args.tenant, failed=True, waiting=True)
                _tell_of_more(lanes, context)
                return [lane for lane in _meant(args, lanes) if await _tried(services, args.tenant, lane)]
            except StoreUnavailable as fault:
                said = (
                    "STORE_UNAVAILABLE: The store could not be reached. Run the command again: that is safe."
                )
                raise Stop(said, Exit.UNREACHABLE) from fault

    tried = asyncio.run(work())
    if not tried and not args.all:
        listing = f"`{placet()} deliveries list`"
        raise Stop(f"Nothing of that has failed or waits for another attempt; {listing} shows what does.")
    out = context.console.out
    told = [{"approval": lane.approval, "target": lane.delivery.target} for lane in tried]
    listing = f"`{placet()} deliveries list`"
    lines = [
        f"{out.mark(Ink.GREEN)} Due at once: {len(tried)}. What comes of it, {listing} says.",
        *(f"    {visible(lane.approval)}{GAP}{visible(lane.delivery.target)}" for lane in tried),
    ]
    context.console.result({"retried": told}, *lines)
    return Exit.OK


async def _lanes(services: Services, tenant: str, *, failed: bool, waiting: bool) -> list[Lane]:
    lanes: list[Lane] = []
    store = services.store.deliveries
    if failed:
        found = await store.failed(tenant, limit=MOST)
        lanes += [Lane(approval=each, delivery=lane, due_ms=None) for each, lane in found]
    if waiting:
        queued = await store.queued(tenant, limit=MOST)
        lanes += [Lane(approval=each, delivery=lane, due_ms=due) for each, lane, due in queued]
    return lanes


def _tell_of_more(lanes: Sequence[Lane], context: Context) -> None:
    failed = sum(lane.due_ms is None for lane in lanes)
    if MOST in {failed, len(lanes) - failed}:
        context.console.warn(f"This is about the first {MOST:,} of a kind: there may be more.")


def _meant(args: argparse.Namespace, lanes: Iterable[Lane]) -> list[Lane]:
    """Those that are to be tried again; what was not tried yet is tried soon anyway."""
    return [
        lane
        for lane in lanes
        if lane.delivery.error is not None
        and args.id in {None, lane.approval}
        and args.target in {None, lane.delivery.target}
    ]


async def _tried(services: Services, tenant: str, lane: Lane) -> bool:
    return await services.store.deliveries.retry(tenant, lane.approval, lane.delivery.target)


def _listing(lanes: Sequence[Lane], now_ms: int, out: Terminal) -> list[str]:
    rows = [[visible(text) for text in lane.row(now_ms)] for lane in lanes]
    heads, *below = [
        [GAP.join(cells).rstrip() for cells in block] for block in blocks(_COLUMNS, rows, out.room)
    ]
    lines = [*(out.paint(line, Ink.DIM) for line in heads), *chain.from_iterable(below)]
    failures = {lane.delivery.error for lane in lanes}
    for failure in (each for each in Failure if each in failures):
        lines += ["", *out.wrapped(f"{failure}: {remedy(failure)}", rest="  ")]
    return lines


def _nothing(args: argparse.Namespace) -> str:
    what = "Nothing has failed" if args.failed else "Nothing waits" if args.waiting else "All is told"
    return f"{what} in tenant {visible(args.tenant)}."
