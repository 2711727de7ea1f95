"""Signing secrets: of endpoints that are called, and of bridges that call back (Standard Webhooks).

They are kept nowhere: each is made of the keyring and the id of a live key of whoever it is for. Whoever
reads the store, or writes it, can sign nothing; rotating and revoking a key does so with what is made of it.
"""

from typing import Final

from placet.domain.principals import Client, Endpoint, Scope
from placet.tokens.seal import Sealer

_USE: Final = "standard webhooks"


def signing_secrets(sealer: Sealer, owner: Client | Endpoint) -> tuple[bytes, ...]:
    """The live ones, the latest first; none for whom none are meant."""
    if isinstance(owner, Client) and not owner.may(Scope.DECIDE_AS):
        return ()
    return tuple(signing_secret(sealer, owner, key.kid) for key in reversed(owner.keys))


def signing_secret(sealer: Sealer, owner: Client | Endpoint, kid: str) -> bytes:
    """The one that is made of a key, 32 bytes."""
    return sealer.secret((_USE, owner.tenant, owner.field, kid))
