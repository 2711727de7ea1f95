"""Clients, approvers and webhooks as they are listed: what each may do or hears of, and with which keys."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, Final

from placet.cli.console import Ink, Terminal
from placet.cli.layout import GAP, Column, blocks
from placet.domain.durations import duration
from placet.domain.principals import Client, Endpoint, Enrolled, Scope
from placet.domain.text import visible

_CLIENT_COLUMNS: Final = (
    Column(title="CLIENT"),
    Column(title="SCOPES", least=11),
    Column(title="MAY", least=16),
    Column(title="MAX RISK"),
    Column(title="OWNERS", least=10),
    Column(title="LIVE KEYS (AGE)", least=15),
)
_APPROVER_COLUMNS: Final = (
    Column(title="APPROVER"),
    Column(title="NAME", least=10),
    Column(title="GROUPS", least=10),
    Column(title="LIVE KEYS (AGE)", least=15),
)
_WEBHOOK_COLUMNS: Final = (
    Column(title="WEBHOOK"),
    Column(title="URL", least=16),
    Column(title="HEARS OF", least=16),
    Column(title="LIVE KEYS (AGE)", least=15),
)
_NONE: Final = "-"


def document(principal: Enrolled) -> dict[str, Any]:
    """A principal as JSON: all of it but the hashes of its secrets."""
    keys = [{"key": key.kid, "created_at_ms": key.created_at_ms} for key in principal.keys]
    if isinstance(principal, Endpoint):
        return {
            "webhook": principal.name,
            "tenant": principal.tenant,
            "url": principal.url,
            "events": sorted(principal.events),
            "capabilities": list(principal.capabilities),
            "clients": list(principal.clients),
            "by_rule": principal.by_rule,
            "with_input": principal.with_input,
            "keys": keys,
        }
    if isinstance(principal, Client):
        return {
            "client": principal.name,
            "tenant": principal.tenant,
            "scopes": sorted(principal.scopes),
            "owners": list(principal.owners),
            "capabilities": list(principal.capabilities),
            "people": list(principal.people),
            "groups": list(principal.groups),
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


def listing(found: Sequence[Enrolled], now_ms: int, out: Terminal) -> list[str]:
    """The lines of a table.

    Args:
        found: At least one, all of a kind.
        now_ms: The present, for the age of keys.
        out: Where they go; gives room and colours.
    """
    match found[0]:
        case Client():
            columns: Sequence[Column] = _CLIENT_COLUMNS
        case Endpoint():
            columns = _WEBHOOK_COLUMNS
        case _:
            columns = _APPROVER_COLUMNS
    rows = [[visible(text) for text in _row(each, now_ms)] for each in found]
    heads, *below = [
        [GAP.join(cells).rstrip() for cells in block] for block in blocks(columns, rows, out.room)
    ]
    return [*(out.paint(line, Ink.DIM) for line in heads), *chain.from_iterable(below)]


def _row(principal: Enrolled, now_ms: int) -> tuple[str, ...]:
    keys = _listed(f"{key.kid} ({duration(now_ms - key.created_at_ms)})" for key in principal.keys)
    if isinstance(principal, Client):
        return (
            principal.name,
            _listed(sorted(principal.scopes)),
            _may(principal),
            principal.max_risk or _NONE,
            _listed(principal.owners),
            keys,
        )
    if isinstance(principal, Endpoint):
        return principal.name, principal.url, _heard(principal), keys
    return principal.id, principal.display_name or _NONE, _listed(principal.groups), keys


def _listed(texts: Iterable[str]) -> str:
    return ", ".join(texts) or _NONE


def _heard(endpoint: Endpoint) -> str:
    """What an endpoint is told, in the order in which it is narrowed."""
    heard = _listed(sorted(endpoint.events)) if endpoint.events else "everything"
    parts = [heard, f"of {_listed(endpoint.capabilities)}" if endpoint.capabilities else ""]
    parts += [f"asked by {_listed(endpoint.clients)}" if endpoint.clients else ""]
    parts += ["by rule" if endpoint.by_rule else "", "with inputs" if endpoint.with_input else ""]
    return ", ".join(filter(None, parts))


def _may(client: Client) -> str:
    """How far it reaches: for what it may ask, or for whom it may decide. No client does both."""
    if client.may(Scope.REQUEST):
        return f"ask for {', '.join(client.capabilities) or 'anything'}"
    if client.may(Scope.DECIDE_AS) and client.max_risk is not None:
        groups = (f"whoever is in {group}" for group in client.groups)
        return f"decide for {', '.join((*client.people, *groups))}"
    return "neither ask nor decide"
