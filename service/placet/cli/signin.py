"""``placet signin``: a link that signs a person in on the web pages, once.

For whoever has the data directory's rights, on the machine that the service is on: the link is worth nothing
anywhere else.
"""

import argparse
import asyncio
import shlex
from urllib.parse import urlsplit

from placet.application.sessions import LinksClosed
from placet.cli.console import Ink
from placet.cli.context import Context
from placet.cli.exits import Exit, Stop
from placet.cli.invoked import placet
from placet.cli.layout import wrap
from placet.cli.opened import check_is_there, opening, settings_of
from placet.cli.rules_here import snapshot_of
from placet.domain.durations import spell
from placet.domain.errors import Unauthenticated
from placet.domain.limits import SIGN_IN_LINK_MS
from placet.domain.text import visible
from placet.settings import Settings
from placet.settings.parsing import is_loopback
from placet.store.ownership import owner_of


def signin(args: argparse.Namespace, context: Context) -> int:
    """Print a link that signs a person in."""
    settings = settings_of(args, context)
    check_is_there(settings)
    url = _pages(settings)

    async def work() -> str:
        async with opening(settings, context.console) as services:
            snapshot = await snapshot_of(services, args.tenant)
            try:
                return await services.sessions.offer(args.tenant, args.person)
            except LinksClosed as closed:
                raise Stop(
                    f"An issuer signs people in here: they begin at {url}/inbox.", Exit.USAGE
                ) from closed
            except Unauthenticated as unknown:
                raise Stop(_nobody(args.person) if snapshot.epoch else _nobody_yet(args)) from unknown

    link = f"{url}/signin#{asyncio.run(work())}"
    out = context.console.out
    note = (
        f"It signs {visible(args.person)} in, once, within {spell(SIGN_IN_LINK_MS)}. Show it to nobody else."
    )
    context.console.result(
        {"person": args.person, "url": link}, link, *wrap(out.paint(note, Ink.DIM), out.width)
    )
    return Exit.OK


def _pages(settings: Settings) -> str:
    """Where the pages are, as long as that is here."""
    owner = owner_of(settings.store.data_dir) if settings.store.embedded else None
    url = settings.server.public_url if owner is None or not owner.url else owner.url
    if not is_loopback(urlsplit(url).hostname or ""):
        raise Stop(
            f"A link like this signs in on this machine alone, and the pages are at {url}.", Exit.USAGE
        )
    return url


def _nobody(person: str) -> str:
    return (
        f"Nobody is called {visible(person)}: name a person of the directory, or an approver that "
        "`placet approvers list` shows."
    )


def _nobody_yet(args: argparse.Namespace) -> str:
    """What is said where nobody was ever entered: a tenant has a directory from its first credential on."""
    tenant = "" if args.tenant == "default" else f" --tenant {shlex.quote(visible(args.tenant))}"
    create = f"`{placet()} clients create NAME --scopes request,consume{tenant}`"
    return (
        f"Tenant {visible(args.tenant)} has no client and no approver yet, and before that knows nobody of "
        f"a directory either: make one, as with {create}."
    )
