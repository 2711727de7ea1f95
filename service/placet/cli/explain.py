"""``placet policy explain``: what the rules make of a request, and who could decide it now.

Before the fact it takes the body of ``POST /v1/approvals``, after it a record, as ``placet approvals show
--json`` prints it. Credentials are looked up where the store can be opened; without it, everybody is taken to
have one.
"""

import argparse
import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from placet.api import bodies
from placet.application.activation import ActivationRefused
from placet.application.callers import Snapshot
from placet.application.commands import Create
from placet.application.explain import explain
from placet.application.roll import RollSpoilt
from placet.cli.console import Console
from placet.cli.context import Context
from placet.cli.exits import Exit, Stop
from placet.cli.explained import lines
from placet.cli.opened import is_missing, opening, settings_of
from placet.cli.policy import read
from placet.cli.rules_here import lacking
from placet.domain.admission import Fault
from placet.domain.authority import Rulebook
from placet.domain.errors import StoreUnavailable
from placet.domain.generation import Generation
from placet.domain.limits import Limits
from placet.domain.text import visible
from placet.settings import RuleSettings, Settings
from placet.tokens.keyring import KeyringError

_ASKED: Final = (
    "capability", "surface", "actor", "effect", "risk", "types", "allowed_decisions", "presentation",
)  # fmt: skip


def run(args: argparse.Namespace, context: Context) -> int:
    """Explain one request."""
    settings = settings_of(args, context)
    found = _found(args.file, context, settings.limits)
    client = found.client if args.client is None else args.client
    tenant = found.tenant if args.tenant is None else args.tenant
    rulebook = Rulebook() if settings.rules == RuleSettings() else read(settings).rulebook
    snapshot, looked_up = asyncio.run(_principals(tenant, rulebook, settings, context.console))
    if client is not None and looked_up and client not in snapshot.clients:
        context.console.warn(f"Tenant {visible(tenant)} has no client {visible(client)}.")
    explanation = explain(snapshot.authority, client, found.body, settings.limits, looked_up=looked_up)
    if found.under:
        context.console.note(f"It was asked under {visible(found.under)}. By the files here, this holds:")
    context.console.result(msgspec.to_builtins(explanation), *lines(explanation, context.console.out))
    return Exit.OK if explanation.refused is None and explanation.stuck is None else Exit.FAILED


class _Rule(Struct, frozen=True, kw_only=True):
    name: str
    policy: str | None


class _Record(Struct, frozen=True, kw_only=True):
    """The members of a record that no request has."""

    tenant: str
    asked_by: str
    digest: str
    rule: _Rule


class _Found(Struct, frozen=True, kw_only=True):
    """A request, and what a record says of how it was asked."""

    body: Create
    client: str | None = None
    tenant: str = "default"
    under: str = ""


def _found(file: str, context: Context, limits: Limits) -> _Found:
    """What the file has.

    Raises:
        Stop: It can't be read.
        PlacetError: It is neither a request nor a record; for a request, as the API would say it.
    """
    try:
        raw = context.stdin.read().encode() if file == "-" else Path(file).read_bytes()
    except OSError as fault:
        raise Stop(f"{visible(file)} can't be read ({fault.strerror}).", Exit.USAGE) from fault
    admitted, refused = bodies.parse(raw, limits)
    try:
        record = msgspec.convert(admitted, _Record)
    except msgspec.ValidationError:
        return _Found(body=_request(admitted, refused))
    version = f" of version {record.rule.policy[:12]}…" if record.rule.policy else ""
    return _Found(
        body=_request(_asked(admitted), None),
        client=record.asked_by,
        tenant=record.tenant,
        under=f"rule {record.rule.name}{version}",
    )


def _request(admitted: Any, refused: Fault | None) -> Create:  # noqa: ANN401 - any JSON
    body = bodies.convert(admitted, refused, Create)
    assert isinstance(body, Create)  # noqa: S101 - what was asked for
    return body


def _asked(record: Mapping[str, Any]) -> dict[str, Any]:
    """The request that a record was made of, as far as rules look at it."""
    asked = {name: record[name] for name in _ASKED if name in record}
    # Whoever sees neither input nor hash is not told whether there is one; nearly always there is.
    hidden = record.get("input") is None and record.get("input_hash") is not None
    given = {"input_hash": record["input_hash"]} if hidden else {"input": record.get("input")}
    return {**asked, **(record.get("claimed") or {}), **given}


async def _principals(
    tenant: str, rulebook: Rulebook, settings: Settings, console: Console
) -> tuple[Snapshot, bool]:
    """The tenant's principals under these rules, and whether they could be looked up; if not, nobody.

    Raises:
        Stop: Files are in force, and not all of them are given.
    """
    nobody = Snapshot.of(tenant, 0, (), rulebook), False
    if is_missing(settings):
        where = settings.store.data_dir.absolute()
        console.note(
            f"There is no store at {where}, so credentials are taken to be there. --data-dir or "
            "PLACET_DATA_DIR names another."
        )
        return nobody
    try:
        async with opening(settings, console) as services:
            active = await services.activation.in_force()
            _, principals = await services.directory.roll(tenant)
    except (Stop, KeyringError, StoreUnavailable, RollSpoilt, ActivationRefused) as fault:
        console.warn(f"The store can't be opened, so credentials are taken to be there: {fault}")
        return nobody
    _compare(rulebook.generation, active, console)
    return Snapshot.of(tenant, 0, principals.values(), rulebook), True


def _compare(ours: Generation, active: Generation, console: Console) -> None:
    """Say where other files are in force than those that are explained, which may be what is wanted.

    Raises:
        Stop: One is in force, and none of its kind is given: what it says would be left out in silence.
    """
    missing = lacking(ours, active)
    if missing:
        raise Stop(missing, Exit.USAGE)
    if ours != active:
        console.note("The files here are not those in force; this is what they would make of it.")
