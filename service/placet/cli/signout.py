"""``placet signout``: end all that somebody has open on the web pages, on every replica."""

import argparse
import asyncio

from placet.cli.console import Ink
from placet.cli.context import Context
from placet.cli.exits import Exit
from placet.cli.opened import opening, settings_of
from placet.cli.rules_here import directory_of
from placet.domain.people import People
from placet.domain.text import visible


def signout(args: argparse.Namespace, context: Context) -> int:
    """Sign a person out everywhere."""
    settings, console = settings_of(args, context), context.console

    async def work() -> bool | None:
        async with opening(settings, console) as services:
            people = await directory_of(services)
            known = await services.sessions.end_all(args.tenant, args.person, people or People())
            return known if people is not None else None

    is_known = asyncio.run(work())
    shown = visible(args.person)
    done = f"Whatever was open as {shown} is signed out, and no link made before signs in any more."
    console.result(
        {"person": args.person, "tenant": args.tenant, "known": is_known},
        f"{console.out.mark(Ink.GREEN)} {done}",
        unless_shown=done,
    )
    if is_known is None:
        console.warn(
            f"A directory is in force and not given here, so nobody has looked who {shown} is. Is it an "
            "alias? Then name the person's id, or the file with --directory or PLACET_DIRECTORY_FILE."
        )
    elif not is_known:
        console.warn(f"Nobody is called {shown} here, as far as this command can tell: look at the id again.")
    return Exit.OK
