"""Binding: the hashes that tie a decision to the call it was about.

Three nested SHA-256 hashes over RFC 8785 canonical JSON, lower-case hex:

* ``input_hash`` — the canonical effective input.
* ``display`` — the words of the card: change what the approver read, and the digest changes.
* ``digest`` — tenant, capability, surface, actor, effect, context, ``input_hash`` and ``display``:
  what an approver decides on and what a token carries.

``call`` is the digest without ``display``: the part that whoever executes must present again. The
store compares it at consume, since the words of the card are already fixed in the record.
"""

from typing import Any

from placet.domain.canonical import canonicalize, sha256_hex
from placet.domain.model import ActorKind, Ask, Effect

SCHEMA_VERSION = 1


def input_hash(canonical_input: bytes) -> str:
    """SHA-256 of an input in canonical form, lower-case hex."""
    return sha256_hex(canonical_input)


def call_members(
    *,
    tenant: str,
    capability: str,
    surface: str,
    actor_id: str,
    actor_kind: ActorKind,
    effect: Effect,
    context: Any,  # noqa: ANN401 - any admitted JSON value
    hash_of_input: str,
) -> dict[str, Any]:
    """The members that a consumer presents; :func:`call_hash` and :func:`digest` are made of them."""
    return {
        "v": SCHEMA_VERSION,
        "tenant": tenant,
        "capability": capability,
        "surface": surface,
        "actor": {"id": actor_id, "kind": actor_kind.value},
        "effect": effect.value,
        "context": context,
        "input_hash": hash_of_input,
    }


def call_hash(members: dict[str, Any]) -> str:
    """Hash of what a consumer must present again."""
    return sha256_hex(canonicalize(members))


def display_hash(ask: Ask) -> str:
    """Hash of the words of the card, defaults filled in, null where a member has none."""
    card = {
        "presentation": {
            "title": ask.presentation.title,
            "summary": ask.presentation.summary,
            "redact": list(ask.presentation.redact),
        },
        "risk": ask.risk.value,
        "reasons": list(ask.reasons),
        "types": list(ask.types),
        "display_name": ask.actor.display_name,
        "on_behalf_of": list(ask.actor.on_behalf_of),
        "allowed_decisions": [verdict.value for verdict in ask.allowed_decisions],
        "run": ask.run,
        "audience": ask.audience,
        "use_within_ms": ask.use_within_ms,
    }
    return sha256_hex(canonicalize(card))


def digest(members: dict[str, Any], display: str) -> str:
    """Hash that an approver decides on: the call and the card together."""
    return sha256_hex(canonicalize({**members, "display": display}))
