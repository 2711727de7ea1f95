"""A credential or a signing secret as it is shown: when it is made, and never again."""

import shlex
from collections.abc import Iterator
from typing import Any

from placet.application.callback_names import path_of
from placet.application.enroll import Issued
from placet.cli.console import Ink
from placet.cli.context import Context
from placet.cli.invoked import placet
from placet.cli.roster import document
from placet.domain.principals import Client, Endpoint, Enrolled
from placet.domain.text import visible


def show(issued: Issued, context: Context, *, done: str) -> None:
    """Print what was made, the only time anybody can."""
    out, principal = context.console.out, issued.principal
    kind, _, name = principal.field.partition(":")
    *older, key = (each.kid for each in principal.keys)
    ended = [each.kid for each in issued.ended]
    lines = [
        f"{out.mark(Ink.GREEN)} {kind.capitalize()} {visible(name)} {done} in tenant {principal.tenant}.",
        "",
        *(f"  {line}".rstrip() for line in _secrets(issued)),
    ]
    if older:
        revoke = _command(principal, "revoke")
        lines += ["", "  Live now:", f"    {key}  this one"]
        lines += [f"    {kid}  until the next rotation, or `{revoke} --key {kid}`" for kid in older]
    died = [f"Key {kid}, the oldest, died of this: {_died(principal)}." for kid in ended]
    lines += [f"{out.mark(Ink.YELLOW)} {line}" for line in died]
    context.console.result(
        document(principal) | _members(issued) | {"key": key, "ended": ended},
        *lines,
        unless_shown=" ".join((_lost(principal, key), *died)),
    )


def _secrets(issued: Issued) -> Iterator[str]:
    """What nobody is shown again, and how it is used."""
    principal = issued.principal
    if issued.credential:
        yield f"PLACET_TOKEN={issued.credential}"
    if issued.signing_secret:
        yield f"Signing secret: {issued.signing_secret}"
    yield ""
    if isinstance(principal, Endpoint):
        yield "This is shown once, and kept nowhere. Its receiver proves with it what comes, by a library of"
        yield "Standard Webhooks (https://www.standardwebhooks.com), over the bytes of the body as they came."
    elif isinstance(principal, Client) and issued.signing_secret:
        yield "These are shown once. Keep them as you keep passwords: the store has neither."
        yield f"A callback is a POST to {path_of(principal)}, signed with the secret by a library of"
        yield "Standard Webhooks (https://www.standardwebhooks.com). It needs no token."
    else:
        yield "This is shown once. Keep it as you keep a password: the store has only its hash."


def _members(issued: Issued) -> dict[str, Any]:
    """The same for JSON."""
    members: dict[str, Any] = {}
    if issued.credential:
        members["token"] = issued.credential
    if issued.signing_secret:
        members["signing_secret"] = issued.signing_secret
        if isinstance(issued.principal, Client):
            members["callback"] = path_of(issued.principal)
    return members


def _died(principal: Enrolled) -> str:
    if isinstance(principal, Endpoint):
        return "nothing is signed with it any more"
    return "whoever still presents it is refused"


def _lost(principal: Enrolled, key: str) -> str:
    """What to do about a secret that was not shown. Taken back first, it pushes no other one out."""
    kind, _, name = principal.field.partition(":")
    what = "signing secret" if isinstance(principal, Endpoint) else "credential"
    return (
        f"The {what} {key} of {kind} {visible(name)} exists, but was not shown: take it back with "
        f"`{_command(principal, 'revoke')} --key {key}`, then make another with "
        f"`{_command(principal, 'rotate')}`."
    )


def _command(principal: Enrolled, verb: str) -> str:
    kind, _, name = principal.field.partition(":")
    tenant = "" if principal.tenant == "default" else f" --tenant {principal.tenant}"
    return f"{placet()} {kind}s {verb} {shlex.quote(visible(name))}{tenant}"
