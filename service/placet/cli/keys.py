"""``placet keys``: the keyring, with the rights of whoever may write its file.

The file is changed first. Services are then told by a change of every tenant's roll, so that their next
judgement is made with the new ring; one that can't be told reads the file again within a minute. The roll
also says which keys are revoked: a service with a copy of its own trusts them no more from that moment on,
and is not ready until it has the new file.
"""

import argparse
import asyncio
from pathlib import Path
from typing import Final

from msgspec import to_builtins

from placet.application.clock import SystemClock
from placet.application.enroll import EnrolmentRefused
from placet.bootstrap import KEYRING_NAME
from placet.cli.console import Ink
from placet.cli.context import Context
from placet.cli.exits import Exit, Stop
from placet.cli.layout import Column, table
from placet.cli.opened import check_is_there, operating, settings_of
from placet.domain.durations import duration
from placet.domain.errors import StoreUnavailable
from placet.settings import Settings
from placet.store.embedded_errors import EmbeddedError
from placet.store.ownership import owner_of
from placet.tokens import keyring_file
from placet.tokens.keyring import ROTATION_WAIT_MS, Keyring, KeyringError

_COLUMNS: Final = (
    Column(title="KEY"),
    Column(title="STATE"),
    Column(title="PUBLISHED"),
    Column(title="ENDED"),
    Column(title="NOTE"),
)


def list_(args: argparse.Namespace, context: Context) -> int:
    """List the keys, without their secrets."""
    path = _there(settings_of(args, context))
    _show(keyring_file.load(path), context, [f"Keyring {path}"], {})
    return Exit.OK


def create(args: argparse.Namespace, context: Context) -> int:
    """Make a keyring, as services on an external store need one, where there is none."""
    path = _path(settings_of(args, context))
    try:
        keyring_file.load(path)
    except keyring_file.KeyringMissingError:
        ring = keyring_file.load_or_create(path, SystemClock().now_ms())
    else:
        raise Stop(f"There is a keyring at {path} already. A new key for it: `placet keys rotate`.")
    mark = context.console.out.mark(Ink.GREEN)
    head = [f"{mark} Made {path}. Every replica needs this same file; keep a copy of it in a safe place."]
    _show(ring, context, head, {"file": str(path)})
    return Exit.OK


def rotate(args: argparse.Namespace, context: Context) -> int:
    """Let the next key sign."""
    settings = settings_of(args, context)
    ring = keyring_file.update(_there(settings), lambda ring: ring.rotate(SystemClock().now_ms()))
    return _changed(ring, settings, context, f"Key {ring.active.kid} signs from now on.")


def revoke(args: argparse.Namespace, context: Context) -> int:
    """Take all trust from a key."""
    settings = settings_of(args, context)
    ring = keyring_file.update(_there(settings), lambda ring: ring.revoke(args.kid, SystemClock().now_ms()))
    return _changed(ring, settings, context, f"Key {args.kid} is trusted no more.")


def _path(settings: Settings) -> Path:
    return settings.keys.keyring_file or settings.store.data_dir / KEYRING_NAME


def _there(settings: Settings) -> Path:
    """The keyring's path, where there is one or it is somewhere that an operator named.

    Raises:
        Stop: It would be in the data directory, and is not.
    """
    if settings.keys.keyring_file is None:
        check_is_there(settings, store=False)
    return _path(settings)


def _changed(ring: Keyring, settings: Settings, context: Context, done: str) -> int:
    """Tell the services, and the operator what became of it."""
    console = context.console
    told = True
    try:
        asyncio.run(_tell_services(settings, context))
    except (Stop, KeyringError, StoreUnavailable, EmbeddedError, EnrolmentRefused) as fault:
        told = False
        console.warn(
            f"The file is changed, but services could not be told: {fault} "
            "Those that share it take it up within a minute, or at once on SIGHUP; one that has a copy of "
            "its own goes on with that until you replace it."
        )
    head = [f"{console.out.mark(Ink.GREEN)} {done}"]
    if not settings.store.embedded:
        head.append("  Replace every copy of the file: a service that has an older one is not ready.")
    _show(ring, context, head, {"told": told})
    return Exit.OK


async def _tell_services(settings: Settings, context: Context) -> None:
    if settings.store.embedded:
        owner = owner_of(settings.store.data_dir)
        if owner is None or owner.passing:
            return  # no service runs: the next one reads the file when it starts
    async with operating(settings, context.console) as services:
        tenants = await services.store.registry.tenants()
        told = await asyncio.gather(*map(services.enrolment.count_change, tenants), return_exceptions=True)
        for fault in filter(None, told):  # one tenant's is no reason to leave out the others
            raise fault


def _show(ring: Keyring, context: Context, head: list[str], more: dict[str, object]) -> None:
    console, now_ms = context.console, SystemClock().now_ms()
    wait_ms = ring.next.published_at_ms + ROTATION_WAIT_MS - now_ms
    notes = {
        "active": "signs",
        "next": f"may sign in {duration(wait_ms)}" if wait_ms > 0 else "may sign",
        "retired": "verifies what it signed",
        "revoked": "not trusted",
    }
    rows = [
        (
            key.kid,
            key.state,
            f"{duration(now_ms - key.published_at_ms)} ago",
            "" if key.ended_at_ms is None else f"{duration(now_ms - key.ended_at_ms)} ago",
            notes[key.state],
        )
        for key in ring.listing()
    ]
    titles, *lines = ["  ".join(cells).rstrip() for cells in table(_COLUMNS, rows, console.out.width)]
    document = {"generation": ring.generation, "keys": to_builtins(ring.listing()), **more}
    console.result(document, *head, "", console.out.paint(titles, Ink.DIM), *lines)
