"""``placet clients`` and ``placet approvers``: who may ask, and who may decide.

They act on the store with the rights of whoever can open it. A credential is printed once, when it is
made, and nowhere else; the store keeps its hash.
"""

import argparse
import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from placet.application.enroll import EnrolmentRefused, Issued
from placet.bootstrap import Services
from placet.cli.console import Ink
from placet.cli.context import Context
from placet.cli.exits import Exit, Stop
from placet.cli.layout import Column, duration, table
from placet.cli.opened import operating, settings_of
from placet.domain.model import Risk
from placet.domain.principals import Approver, Client, Principal
from placet.domain.text import visible

_CLIENT_COLUMNS: Final = (
    Column(title="CLIENT"),
    Column(title="SCOPES", least=12),
    Column(title="MAY ASK FOR", least=12),
    Column(title="OWNERS OR PEOPLE", least=12),
    Column(title="LIVE KEYS"),
)
_APPROVER_COLUMNS: Final = (
    Column(title="APPROVER"),
    Column(title="NAME", least=10),
    Column(title="GROUPS", least=10),
    Column(title="LIVE KEYS"),
)

Work = Callable[[Services], Awaitable[None]]


def create_client(args: argparse.Namespace, context: Context) -> int:
    """Make a client."""
    client = Client(
        tenant=args.tenant,
        name=args.name,
        scopes=args.scopes,
        owners=tuple(args.owner),
        capabilities=args.capabilities,
        people=args.people,
        max_risk=None if args.max_risk is None else Risk(args.max_risk),
    )

    async def work(services: Services) -> None:
        _issued(await services.enrolment.create(client), context, done="made")

    return _run(args, context, work)


def create_approver(args: argparse.Namespace, context: Context) -> int:
    """Make an approver."""
    approver = Approver(tenant=args.tenant, id=args.name, display_name=args.display_name, groups=args.groups)

    async def work(services: Services) -> None:
        _issued(await services.enrolment.create(approver), context, done="made")

    return _run(args, context, work)


def rotate(args: argparse.Namespace, context: Context) -> int:
    """Issue a further credential."""

    async def work(services: Services) -> None:
        issued = await services.enrolment.rotate(args.tenant, _field(args))
        _issued(issued, context, done="has a new credential")

    return _run(args, context, work)


def list_(args: argparse.Namespace, context: Context) -> int:
    """List the principals of a tenant."""

    async def work(services: Services) -> None:
        snapshot = await services.enrolment.all(args.tenant)
        by_name = snapshot.clients if args.kind == "client" else snapshot.approvers
        found = [by_name[name] for name in sorted(by_name)]
        lines = _table(found, services.clock.now_ms(), context) if found else [_nobody(args)]
        context.console.result({"items": [_document(each) for each in found]}, *lines)

    return _run(args, context, work)


def revoke(args: argparse.Namespace, context: Context) -> int:
    """Take back a credential or a principal, and with ``--cancel-open`` what a client has asked for."""

    async def work(services: Services) -> None:
        console = context.console
        what = f"Key {args.key} of {_shown(args)}" if args.key else _shown(args).capitalize()
        document: dict[str, Any] = {args.kind: args.name, "tenant": args.tenant, "revoked": args.key or "all"}
        lines = [f"{console.out.mark(Ink.GREEN)} {what} is revoked, everywhere and at once."]
        try:
            await services.enrolment.revoke(args.tenant, _field(args), args.key)
        except EnrolmentRefused as refusal:
            # An earlier call may have got no further than this: what it left open can still be cancelled.
            if not args.cancel_open:
                raise
            document["revoked"] = None
            lines = [f"{console.out.mark(Ink.YELLOW)} {refusal}"]
        if args.cancel_open:
            with console.slowly("Cancelling what it has open …"):
                cancelled = await services.withdraw(args.tenant, args.name)
            document["cancelled"] = list(cancelled)
            lines += [f"  Open approvals cancelled: {len(cancelled)}", *(f"    {each}" for each in cancelled)]
        console.result(document, *lines)

    return _run(args, context, work)


def _run(args: argparse.Namespace, context: Context, work: Work) -> int:
    async def operate() -> None:
        async with operating(settings_of(args, context), context.console) as services:
            await work(services)

    try:
        asyncio.run(operate())
    except EnrolmentRefused as refusal:
        raise Stop(str(refusal)) from refusal
    return Exit.OK


def _field(args: argparse.Namespace) -> str:
    return f"{args.kind}:{args.name}"


def _shown(args: argparse.Namespace) -> str:
    return f"{args.kind} {visible(args.name)}"


def _issued(issued: Issued, context: Context, *, done: str) -> None:
    """Print a new credential, the only time anybody can."""
    console, principal = context.console, issued.principal
    document = _document(principal) | {"token": issued.credential, "key": principal.keys[-1].kid}
    kind, _, name = principal.field.partition(":")
    mark = console.out.mark(Ink.GREEN)
    lines = [
        f"{mark} {kind.capitalize()} {visible(name)} {done} in tenant {principal.tenant}.",
        "",
        f"  PLACET_TOKEN={issued.credential}",
        "",
        "  This is shown once. Keep it as you keep a password: the store has only its hash.",
    ]
    if len(principal.keys) > 1:
        old = principal.keys[-2].kid
        lines.append(f"  Key {old} lives on until the next rotation, or until it is revoked: --key {old}")
    console.result(document, *lines)


def _document(principal: Principal) -> dict[str, Any]:
    keys = [{"key": key.kid, "created_at_ms": key.created_at_ms} for key in principal.keys]
    if isinstance(principal, Client):
        return {
            "client": principal.name,
            "tenant": principal.tenant,
            "scopes": sorted(principal.scopes),
            "owners": list(principal.owners),
            "capabilities": list(principal.capabilities),
            "people": list(principal.people),
            "max_risk": principal.max_risk,
            "keys": keys,
        }
    return {
        "approver": principal.id,
        "tenant": principal.tenant,
        "name": principal.display_name,
        "groups": list(principal.groups),
        "keys": keys,
    }


def _nobody(args: argparse.Namespace) -> str:
    what = "NAME --scopes request,consume" if args.kind == "client" else "ID"
    return f"No {args.kind}s in tenant {args.tenant} yet. Make one: placet {args.kind}s create {what}"


def _table(found: Sequence[Principal], now_ms: int, context: Context) -> list[str]:
    out = context.console.out
    columns = _CLIENT_COLUMNS if isinstance(found[0], Client) else _APPROVER_COLUMNS
    rows = [[visible(text) for text in _row(each, now_ms)] for each in found]
    head, *lines = ["  ".join(cells).rstrip() for cells in table(columns, rows, out.width)]
    return [out.paint(head, Ink.DIM), *lines]


def _row(principal: Principal, now_ms: int) -> tuple[str, ...]:
    keys = ", ".join(f"{key.kid} ({duration(now_ms - key.created_at_ms)} old)" for key in principal.keys)
    if isinstance(principal, Client):
        asks = "anything" if not principal.capabilities else ", ".join(principal.capabilities)
        people = ", ".join((*principal.owners, *principal.people))
        return principal.name, ", ".join(sorted(principal.scopes)), asks, people, keys
    return principal.id, principal.display_name or "", ", ".join(principal.groups), keys
