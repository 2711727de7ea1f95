"""``placet audit``: what happened, to which approval, by whom. For people, and as JSON Lines for systems.

It reads the store with the rights of whoever can open it, and shows no input, comment or secret.
"""

import argparse
import asyncio
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import msgspec

from placet.application.audit import AuditLine
from placet.cli.console import Console
from placet.cli.context import Context
from placet.cli.exits import Exit, Stop
from placet.cli.layout import GAP
from placet.cli.opened import opening, settings_of
from placet.domain import durations
from placet.domain.errors import ApprovalNotFound
from placet.domain.text import visible
from placet.store.stream import Transition

_encode = msgspec.json.Encoder().encode
_EVERY = 1_000


def show(args: argparse.Namespace, context: Context) -> int:
    """Show the trail of one approval."""

    async def work() -> None:
        async with opening(settings_of(args, context), context.console) as services:
            try:
                lines = await services.audit.trail(args.tenant, args.id)
            except ApprovalNotFound as missing:
                where = f"in tenant {visible(args.tenant)}"
                raise Stop(f"There is no approval {visible(args.id)} {where}.") from missing
        told = [*_head(lines), *(part for line in lines for part in _told_below(line, context.console))]
        context.console.result({"items": [msgspec.to_builtins(line) for line in lines]}, *told)

    asyncio.run(work())
    return Exit.OK


def export(args: argparse.Namespace, context: Context) -> int:
    """Write every line of every trail as JSON Lines, approval by approval, the latest asked for first."""

    async def work() -> None:
        console, count = context.console, 0
        async with opening(settings_of(args, context), console) as services:
            since_ms = _since_ms(args.since, services.clock.now_ms())
            async for line in services.audit.trails(args.tenant, since_ms=since_ms):
                console.out.line(_encode(line).decode())
                count += 1
                if count % _EVERY == 0 and console.err.is_terminal:
                    console.err.line(f"\r{count:,} lines", end="")
        console.note(f"{count:,} lines.")

    asyncio.run(work())
    return Exit.OK


def tail(args: argparse.Namespace, context: Context) -> int:
    """Show transitions as they happen, until Ctrl-C."""

    async def work() -> None:
        console = context.console
        news: asyncio.Queue[Transition] = asyncio.Queue()
        async with opening(settings_of(args, context), console, heard=news.put_nowait) as services:
            services.store.stream.start()
            await services.store.stream.follow(args.tenant)
            console.note(f"Following tenant {visible(args.tenant)}; Ctrl-C ends it.")
            while True:
                transition = await news.get()
                for line in await services.audit.told_by(transition):
                    if args.json:
                        console.out.line(_encode(line).decode())
                    else:
                        for part in _told(line, console):
                            console.out.line(part)

    asyncio.run(work())
    return Exit.OK


def _head(trail: Sequence[AuditLine]) -> Iterator[str]:
    """What all lines of a trail are about."""
    for line in trail[:1]:
        yield visible(line.approval)
        if line.capability:
            who = f"for {visible(line.actor or '')}, asked by {visible(line.asked_by or '')}"
            yield f"{visible(line.capability)} {who}"


def _told_below(line: AuditLine, console: Console) -> list[str]:
    """The line, below a head that says what it is about."""
    return _parted(console.out.wrapped(GAP.join((line.at, *_facts(line))), first="  ", rest="      "))


def _told(line: AuditLine, console: Console) -> list[str]:
    """The line, complete in itself."""
    facts = list(_facts(line))
    if line.capability:
        facts.append(f"({visible(line.capability)} for {visible(line.actor or '')})")
    return _parted(console.out.wrapped(GAP.join((line.at, visible(line.approval), *facts)), rest="    "))


def _parted(lines: Sequence[str]) -> list[str]:
    """The lines without what is left of a gap in which one was parted."""
    return [line.rstrip() for line in lines]


def _facts(line: AuditLine) -> Iterator[str]:
    """What happened, who did it, and what else is known of it."""
    if line.spoilt:
        yield "THE RECORD WAS CHANGED IN THE STORE"
    yield visible(line.type)
    yield f"by {visible(line.by)}"
    if line.decision:
        yield f"({visible(line.decision)})"
    if line.channel:
        yield f"over {visible(line.channel)}"
    if line.code:
        yield visible(line.code) + (f" ({visible(line.reason)})" if line.reason else "")
    if line.target:
        yield visible(line.target) + (f" ({line.error})" if line.error else "")
    if line.count:
        yield f"{line.count} times"
    if line.rule:
        yield f"rule {visible(line.rule)}"
    if line.credential:
        yield f"credential {visible(line.credential)}"


def _since_ms(text: str | None, now_ms: int) -> int:
    """Where an export begins: so long ago, or at a moment; everything where nothing is said."""
    if text is None:
        return 0
    try:
        return now_ms - durations.read(text)
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        form = "a duration such as 7d or 12h, or a moment such as 2027-01-15T08:00Z"
        raise Stop(f"--since: write {form}.", Exit.USAGE) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return round(moment.timestamp() * 1000)
