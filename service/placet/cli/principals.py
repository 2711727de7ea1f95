"""``placet clients`` and ``placet approvers``: who may ask, and who may decide; in part ``placet webhooks``.

They act on the store with the rights of whoever can open it. A credential is printed once, when it is
made, and nowhere else; the store keeps its hash.
"""

import argparse
import asyncio
import shlex
from collections.abc import Awaitable, Callable, Mapping
from itertools import chain
from types import MappingProxyType
from typing import Any, Final

from placet.application.callers import Snapshot
from placet.application.enroll import EnrolmentRefused
from placet.bootstrap import Services
from placet.cli import acquainted
from placet.cli.console import Ink
from placet.cli.context import Context
from placet.cli.exits import Exit, Stop
from placet.cli.invoked import placet
from placet.cli.issued import show
from placet.cli.opened import is_missing, named, operating, settings_of
from placet.cli.roster import document, listing
from placet.domain.errors import StoreUnavailable
from placet.domain.model import Risk
from placet.domain.principals import Approver, Client, Enrolled, Principal
from placet.domain.text import visible
from placet.settings import Settings

Work = Callable[[Services], Awaitable[None]]

_OF_KIND: Final[Mapping[str, Callable[[Snapshot], Mapping[str, Enrolled]]]] = MappingProxyType(
    {
        "client": lambda snapshot: snapshot.clients,
        "approver": lambda snapshot: snapshot.approvers,
        "webhook": lambda snapshot: snapshot.endpoints,
    }
)
_SECRET: Final = MappingProxyType({"webhook": "signing secret"})
"""What somebody of a kind has in place of a credential."""


def create_client(args: argparse.Namespace, context: Context) -> int:
    """Make a client."""
    client = Client(
        tenant=args.tenant,
        name=args.name,
        scopes=args.scopes,
        owners=tuple(chain.from_iterable(args.owner)),
        capabilities=args.capabilities,
        people=args.people,
        groups=args.groups,
        max_risk=None if args.max_risk is None else Risk(args.max_risk),
    )
    return _create(client, args, context)


def create_approver(args: argparse.Namespace, context: Context) -> int:
    """Make an approver."""
    approver = Approver(tenant=args.tenant, id=args.name, display_name=args.display_name, groups=args.groups)
    return _create(approver, args, context)


def _create(principal: Principal, args: argparse.Namespace, context: Context) -> int:
    settings = settings_of(args, context)
    here = acquainted.directory_here(settings)
    if isinstance(principal, Approver):
        acquainted.refuse_alias(principal, here)

    async def work(services: Services) -> None:
        doubts = await acquainted.warnings(services, principal, here)
        issued = await services.enrolment.create(principal)
        for doubt in doubts:
            context.console.warn(doubt)
        show(issued, context, done="made")

    return run(settings, args, context, work, begins=True)


def rotate(args: argparse.Namespace, context: Context) -> int:
    """Issue a further credential."""

    async def work(services: Services) -> None:
        issued = await services.enrolment.rotate(args.tenant, _field(args))
        show(issued, context, done=f"has a new {_secret(args)}")

    return run(settings_of(args, context), args, context, work)


def list_(args: argparse.Namespace, context: Context) -> int:
    """List the principals of a tenant."""

    async def work(services: Services) -> None:
        snapshot = await services.enrolment.all(args.tenant)
        by_name = _OF_KIND[args.kind](snapshot)
        found = [by_name[name] for name in sorted(by_name)]
        lines = listing(found, services.clock.now_ms(), context.console.out) if found else [_nobody(args)]
        context.console.result({"items": [document(each) for each in found]}, *lines)

    return run(settings_of(args, context), args, context, work)


def revoke(args: argparse.Namespace, context: Context) -> int:
    """Take back a credential or a principal, and with ``--cancel-open`` what a client has asked for."""

    async def work(services: Services) -> None:
        console = context.console
        what = f"Key {args.key} of {_shown(args)}" if args.key else _shown(args).capitalize()
        told: dict[str, Any] = {args.kind: args.name, "tenant": args.tenant, "revoked": args.key or "all"}
        lines = [f"{console.out.mark(Ink.GREEN)} {what} is revoked, everywhere and at once."]
        if not args.key:
            again = f"{placet()} {args.kind}s rotate {shlex.quote(visible(args.name))}"
            lines.append(f"  The name stays taken; `{again}` brings it back.")
        try:
            await services.enrolment.revoke(args.tenant, _field(args), args.key)
        except EnrolmentRefused as refusal:
            # An earlier call may have got no further than this: what it left open can still be cancelled.
            if not args.cancel_open:
                raise
            told["revoked"] = None
            lines = [f"{console.out.mark(Ink.YELLOW)} {refusal}"]
        if args.cancel_open:
            with console.slowly("Cancelling what it has open …"):
                cancelled = await services.withdraw(args.tenant, args.name)
            told["cancelled"] = list(cancelled)
            lines += [f"  Open approvals cancelled: {len(cancelled)}", *(f"    {each}" for each in cancelled)]
        done = f"{what} is revoked all the same." if told["revoked"] else ""
        console.result(told, *lines, unless_shown=done)

    return run(settings_of(args, context), args, context, work)


def run(
    settings: Settings, args: argparse.Namespace, context: Context, work: Work, *, begins: bool = False
) -> int:
    """Have a command's work done over the store.

    Args:
        settings: Where that is.
        args: The command line.
        context: The world.
        work: What it does.
        begins: It may begin a store where there is none.

    Raises:
        Stop: It was refused, or what came of it is unknown.
    """
    console = context.console
    was_missing = is_missing(settings)

    async def operate() -> None:
        async with operating(settings, console, begins=begins) as services:
            if was_missing:
                console.warn(_begun(settings, context))
            try:
                await work(services)
            except StoreUnavailable as fault:
                raise Stop(_unsure(args), Exit.UNREACHABLE) from fault

    try:
        asyncio.run(operate())
    except EnrolmentRefused as refusal:
        raise Stop(str(refusal)) from refusal
    return Exit.OK


def _begun(settings: Settings, context: Context) -> str:
    """What is said of a store that this command has begun: it may have been meant for another."""
    serve = f"{placet()} serve{named(settings, context.environ)}"
    return (
        f"There was no store at {settings.store.data_dir.absolute()}; there is one now. No service runs on "
        f"it: `{serve}` starts one."
    )


def _unsure(args: argparse.Namespace) -> str:
    """What to do where the store went away, or did not confirm, in the middle of it."""
    tenant = "" if args.tenant == "default" else f" --tenant {shlex.quote(visible(args.tenant))}"
    named = f"{placet()} {args.kind}s"
    listing = f"`{named} list{tenant}`"
    match args.command.partition(":")[2]:
        case "create_client" | "create_approver" | "create_webhook":
            rotate = f"`{named} rotate {shlex.quote(visible(args.name))}{tenant}`"
            then = (
                f"{listing} says whether the {args.kind} was made. If so, {rotate} gives it a {_secret(args)}"
            )
            then += "; if not, make it again."
        case "rotate":
            then = f"{listing} shows its live keys. Is there a new one, which nobody was shown? Take it back"
            then += " with `revoke --key`, then rotate again."
        case _:
            then = "Run the command again: that is safe."
    return (
        "STORE_UNAVAILABLE: The store could not be reached, or did not confirm; whether it took effect is "
        f"unknown. {then}"
    )


def _field(args: argparse.Namespace) -> str:
    return f"{args.kind}:{args.name}"


def _shown(args: argparse.Namespace) -> str:
    return f"{args.kind} {visible(args.name)}"


def _secret(args: argparse.Namespace) -> str:
    return _SECRET.get(args.kind, "credential")


def _nobody(args: argparse.Namespace) -> str:
    what = {"client": "NAME --scopes request,consume", "webhook": "NAME URL"}.get(args.kind, "ID")
    none = f"No {args.kind} in tenant {visible(args.tenant)} has a live {_secret(args)}."
    return f"{none} Make one: {placet()} {args.kind}s create {what}"
