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

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, structs

from placet.domain.canonical import canonicalize, sha256_hex
from placet.domain.model import ActorKind, Ask, Effect, Risk, Verdict

SCHEMA_VERSION = 1

# The members of these shapes stand in the order of RFC 8785 and hold texts, small whole numbers and what is
# canonical already: so what the encoder writes of them is their canonical form.
_encode = msgspec.json.Encoder().encode


class _Actor(Struct, frozen=True, kw_only=True):
    id: str
    kind: ActorKind


class Call(Struct, frozen=True, kw_only=True):
    """The members that a consumer presents; :func:`call_hash` and :func:`digest` are made of them."""

    actor: _Actor
    capability: str
    context: Raw
    display: str | UnsetType = UNSET
    effect: Effect
    input_hash: str
    surface: str
    tenant: str
    v: int = SCHEMA_VERSION


class _Words(Struct, frozen=True, kw_only=True):
    redact: tuple[str, ...]
    summary: str | None
    title: str | None


class _Card(Struct, frozen=True, kw_only=True):
    allowed_decisions: tuple[Verdict, ...]
    audience: str
    display_name: str | None
    on_behalf_of: tuple[str, ...]
    presentation: _Words
    reasons: tuple[str, ...]
    risk: Risk
    run: str | None
    types: tuple[str, ...]
    use_within_ms: int | None


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
) -> Call:
    """What a consumer presents."""
    return Call(
        actor=_Actor(id=actor_id, kind=actor_kind),
        capability=capability,
        context=Raw(canonicalize(context)),
        effect=effect,
        input_hash=hash_of_input,
        surface=surface,
        tenant=tenant,
    )


def call_hash(call: Call) -> str:
    """Hash of what a consumer must present again."""
    return sha256_hex(_encode(call))


def display_hash(ask: Ask) -> str:
    """Hash of the words of the card, defaults filled in, null where a member has none."""
    words = ask.presentation
    card = _Card(
        allowed_decisions=ask.allowed_decisions,
        audience=ask.audience,
        display_name=ask.actor.display_name,
        on_behalf_of=ask.actor.on_behalf_of,
        presentation=_Words(redact=words.redact, summary=words.summary, title=words.title),
        reasons=ask.reasons,
        risk=ask.risk,
        run=ask.run,
        types=ask.types,
        use_within_ms=ask.use_within_ms,
    )
    return sha256_hex(_encode(card))


def digest(call: Call, display: str) -> str:
    """Hash that an approver decides on: the call and the card together."""
    return sha256_hex(_encode(structs.replace(call, display=display)))
