"""A credential as it is shown: when it is made, and never again."""

import shlex

from placet.application.enroll import Issued
from placet.cli.console import Ink
from placet.cli.context import Context
from placet.cli.invoked import placet
from placet.cli.roster import document
from placet.domain.principals import Enrolled
from placet.domain.text import visible


def show(issued: Issued, context: Context, *, done: str) -> None:
    """Print a new credential, the only time anybody can."""
    out, principal = context.console.out, issued.principal
    kind, _, name = principal.field.partition(":")
    *older, key = (each.kid for each in principal.keys)
    ended = [each.kid for each in issued.ended]
    lines = [
        f"{out.mark(Ink.GREEN)} {kind.capitalize()} {visible(name)} {done} in tenant {principal.tenant}.",
        "",
        f"  PLACET_TOKEN={issued.credential}",
        "",
        "  This is shown once. Keep it as you keep a password: the store has only its hash.",
    ]
    if older:
        revoke = _command(principal, "revoke")
        lines += ["", "  Live now:", f"    {key}  this one"]
        lines += [f"    {kid}  until the next rotation, or `{revoke} --key {kid}`" for kid in older]
    died = [f"Key {kid}, the oldest, died of this: whoever still presents it is refused." for kid in ended]
    lines += [f"{out.mark(Ink.YELLOW)} {line}" for line in died]
    context.console.result(
        document(principal) | {"token": issued.credential, "key": key, "ended": ended},
        *lines,
        unless_shown=" ".join((_lost(principal, key), *died)),
    )


def _lost(principal: Enrolled, key: str) -> str:
    """What to do about a credential that was not shown. Taken back first, it pushes no other one out."""
    kind, _, name = principal.field.partition(":")
    return (
        f"The credential {key} of {kind} {visible(name)} exists, but was not shown: take it back with "
        f"`{_command(principal, 'revoke')} --key {key}`, then make another with "
        f"`{_command(principal, 'rotate')}`."
    )


def _command(principal: Enrolled, verb: str) -> str:
    kind, _, name = principal.field.partition(":")
    tenant = "" if principal.tenant == "default" else f" --tenant {principal.tenant}"
    return f"{placet()} {kind}s {verb} {shlex.quote(visible(name))}{tenant}"
