"""``placet audit``: what happened, to which approval, by whom. For people, and as JSON Lines for systems.

It reads the store with the rights of whoever can open it, and shows no input, comment or secret.
"""

import argparse
import asyncio
from datetime import UTC, datetime

import msgspec

from placet.application.audit import AuditLine
from placet.cli.console import Console
from placet.cli.context import Context
from placet.cli.exits import Exit, Stop
from placet.cli.layout import wrap
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
        told = [part for line in lines for part in _told(line, context.console)]
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


def _told(line: AuditLine, console: Console) -> list[str]:
    """The line, for a person."""
    facts = [visible(line.type), f"by {visible(line.by)}"]
    if line.decision:
        facts.append(f"({visible(line.decision)})")
    if line.channel:
        facts.append(f"over {visible(line.channel)}")
    if line.code:
        facts.append(visible(line.code))
    if line.count:
        facts.append(f"{line.count} times")
    if line.rule:
        facts.append(f"rule {visible(line.rule)}")
    if line.credential:
        facts.append(f"credential {visible(line.credential)}")
    if line.capability:
        facts.append(f"({visible(line.capability)} for {visible(line.actor or '')})")
    if line.spoilt:
        facts.append("THE RECORD WAS CHANGED IN THE STORE")
    text = f"{line.at}  {visible(line.approval)}  {'  '.join(facts)}"
    return wrap(text, console.out.width, first="", rest="    ") if console.out.is_terminal else [text]


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
