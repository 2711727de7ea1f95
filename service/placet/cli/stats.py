"""``placet stats``: how much is decided in a tenant, how fast, what expires, and who approves too fast.

The numbers of the page of statistics, of all records of a tenant. It shows nothing of what they are about but
their capabilities.
"""

import argparse
import asyncio
from typing import Any

from msgspec.structs import asdict

from placet.application.rulings import rfc3339
from placet.application.statistics import Counted
from placet.cli import tally
from placet.cli.context import Context
from placet.cli.exits import Exit
from placet.cli.opened import opening, settings_of
from placet.domain.counts import Endings
from placet.domain.model import Person
from placet.domain.statistics import SPREAD_MS, TooFast


def stats(args: argparse.Namespace, context: Context) -> int:
    """Show the statistics of a tenant."""
    console = context.console

    async def work() -> Counted:
        async with opening(settings_of(args, context), console) as services:
            with console.slowly("Counting …"):
                return await services.statistics.of_tenant(args.tenant, args.days)

    counted = asyncio.run(work())
    document = {"tenant": args.tenant, "days": args.days, **_document(counted)}
    console.result(document, *tally.lines(args.tenant, counted.statistics, console.out))
    if counted.spoilt:
        console.warn(_spoilt(counted.spoilt))
    return Exit.OK


def _spoilt(count: int) -> str:
    records = "1 record was" if count == 1 else f"{count:,} records were"
    return f"{records} changed in the store, and not counted: `placet audit export` marks them as spoilt."


def _document(counted: Counted) -> dict[str, Any]:
    found = counted.statistics
    return {
        "from": rfc3339(found.from_ms),
        "to": rfc3339(found.to_ms),
        "records": counted.looked_at,
        "spoilt": counted.spoilt,
        "asked": found.asked,
        "waiting": found.waiting,
        "decisions": asdict(found.decisions),
        "time_to_decide": {
            **asdict(found.took),
            "spread": [
                {"up_to_ms": up_to_ms, "count": count}
                for up_to_ms, count in zip((*SPREAD_MS, None), found.spread, strict=True)
            ],
        },
        "endings": _endings(found.endings),
        # Days are UTC's: the date is what a moment of it begins with.
        "per_day": [{"day": rfc3339(day.from_ms)[:10], **asdict(day.decisions)} for day in found.days],
        "by_capability": [
            {
                "capability": each.capability,
                "decisions": asdict(each.decisions),
                "time_to_decide": asdict(each.took),
                "endings": _endings(each.endings),
            }
            for each in found.by_capability
        ],
        "by_person": [
            {
                "person": _person(each.person),
                "decisions": asdict(each.decisions),
                "time_to_decide": asdict(each.took),
            }
            for each in found.by_person
        ],
        "too_fast": [_too_fast(each) for each in found.too_fast],
    }


def _endings(endings: Endings) -> dict[str, Any]:
    return {**asdict(endings), "share_expired": endings.share_expired}


def _person(person: Person) -> dict[str, Any]:
    return {"id": person.id, "display_name": person.display_name}


def _too_fast(found: TooFast) -> dict[str, Any]:
    haste = found.haste
    return {
        "person": _person(found.person),
        "count": haste.count,
        "from": rfc3339(haste.from_ms),
        "to": rfc3339(haste.to_ms),
        "approvals": list(haste.approval_ids),
    }
