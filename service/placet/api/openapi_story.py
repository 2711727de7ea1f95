"""The story behind the examples: one refund, asked for, approved, run and reported; and its other ends.

Made of fixed values by the code that serves real calls: hashes are hashes, and the token is signed, by a key
that everybody knows and nobody trusts.
"""

from hashlib import sha256
from types import MappingProxyType
from typing import Any

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from msgspec import Raw
from msgspec.structs import replace

from placet.application.commands import Create
from placet.application.grants import members_of
from placet.domain import binding, machine
from placet.domain.authority import BUILT_IN
from placet.domain.canonical import canonicalize
from placet.domain.events import EventType
from placet.domain.limits import Limits
from placet.domain.model import (
    Approval,
    Ask,
    CastVote,
    Consumption,
    Outcome,
    OutcomeStatus,
    Person,
    Sealed,
    Status,
    TrailEntry,
    Verdict,
    Vote,
)
from placet.domain.tally import slot_of
from placet.domain.voters import CHANNEL_API
from placet.settings import ServerSettings
from placet.store.codec import person_mark
from placet.store.stream import Transition
from placet.tokens.claims import ApproverClaim
from placet.tokens.issue import mint
from placet.tokens.keyring import Keyring
from placet.tokens.keys import SealKey, SecretBytes, SigningKey, key_id

TENANT = "default"
CLIENT = "shop-agent"
APPROVAL_ID = "apr_2f8c61d09b"
OTHER_ID = "apr_0c77e41a52"
RUN = "run-42"
EXECUTION = f"{RUN}/attempt-1"
APPROVER = Person(id="marta@example.com", display_name="Marta Lind")

WHY = MappingProxyType(
    {Verdict.APPROVE: "Checked with the customer.", Verdict.REJECT: "The parcel came back empty."}
)
"""What the approver says about either decision."""

ASKED_MS = 1_772_355_600_000  # 2026-03-01T09:00:00Z
DECIDED_MS = ASKED_MS + 150_000
CONSUMED_MS = DECIDED_MS + 1_000
REPORTED_MS = CONSUMED_MS + 2_500

CALL = MappingProxyType(
    {
        "capability": "orders.refund",
        "actor": {"id": "ana@example.com", "kind": "user", "display_name": "Ana Ruiz"},
        "effect": "external",
        "input": {"order": "4711", "amount": 120, "currency": "EUR", "iban": "DE89370400440532013000"},
    }
)
"""What is asked about, and presented again when it is about to run."""

CHANGED = {"order": "4712", "amount": 70, "currency": "EUR"}
"""What an approver makes of another input, of which nothing is hidden."""

QUESTION = MappingProxyType(
    {
        **CALL,
        "risk": "high",
        "reasons": ["Refunds above 100 EUR need a person."],
        "presentation": {
            "title": "Refund order 4711",
            "summary": "Refund 120.00 EUR for order 4711",
            "redact": ["/iban"],
        },
        "run": RUN,
    }
)
"""The body of the question."""


def _ask(said: dict[str, Any]) -> Ask:
    """The question as `RequestApproval` takes it: defaults filled in, the asker known."""
    defaulted: dict[str, Any] = msgspec.to_builtins(msgspec.convert(said, Create))
    known = {
        "id": APPROVAL_ID,
        "tenant": TENANT,
        "asked_by": CLIENT,
        "audience": CLIENT,
        "input_hash": binding.input_hash(canonicalize(said["input"])),
        "input_held": True,
        "deadline": "default",
        "owners": (),
        "rule": BUILT_IN.rule,
    }
    return msgspec.json.decode(msgspec.json.encode({**defaulted, **known}), type=Ask)


_UNSEALED = Sealed(document=b"{}", seal="")


def _asked(ask: Ask, canonical: bytes) -> Approval:
    return Approval(
        ask=ask,
        sealed=_UNSEALED,
        nonce=b"",
        status=Status.PENDING,
        digest=binding.digest(members_of(ask), binding.display_hash(ask)),
        input_hash=ask.input_hash,
        input=Raw(canonical),
        requested_at_ms=ASKED_MS,
        expires_at_ms=ASKED_MS + Limits().expires_in_default_ms,
        use_by_ms=None,
        required=BUILT_IN.quorum,
        counted=(),
        votes=(),
        consumption=None,
        outcome=None,
        requested=None,
        now_ms=ASKED_MS,
    )


def _decided(pending: Approval, verdict: Verdict) -> Approval:
    granted = verdict is Verdict.APPROVE
    vote = Vote(
        decision=verdict,
        approver=APPROVER,
        channel=CHANNEL_API,
        submitted_by=None,
        comment=WHY[verdict],
        digest=pending.digest,
    )
    use_by_ms = machine.use_by_ms(
        expires_at_ms=pending.expires_at_ms, use_within_ms=pending.ask.use_within_ms, now_ms=DECIDED_MS
    )
    return replace(
        pending,
        status=Status.APPROVED if granted else Status.REJECTED,
        use_by_ms=use_by_ms if granted else None,
        counted=((person_mark(slot_of(vote)), verdict),),
        votes=(CastVote(vote=vote, sealed=_UNSEALED, at_ms=DECIDED_MS),),
        now_ms=DECIDED_MS,
    )


def _signing_key(name: str) -> SigningKey:
    private = Ed25519PrivateKey.from_private_bytes(sha256(f"placet example: {name}".encode()).digest())
    public = private.public_key()
    return SigningKey(kid=key_id(public), public=public, private=private, published_at_ms=ASKED_MS)


PENDING = _asked(_ask(dict(QUESTION)), canonicalize(CALL["input"]))
APPROVED = _decided(PENDING, Verdict.APPROVE)
REJECTED = _decided(PENDING, Verdict.REJECT)
CANCELLED = replace(PENDING, status=Status.CANCELLED)
CONSUMED = replace(
    APPROVED,
    status=Status.CONSUMED,
    consumption=Consumption(execution_id=EXECUTION, client=CLIENT, at_ms=CONSUMED_MS),
)
REPORTED = replace(
    CONSUMED,
    outcome=Outcome(status=OutcomeStatus.SUCCEEDED, summary="Refund RF-2291 booked.", at_ms=REPORTED_MS),
)

TRAIL = (
    TrailEntry(seq=1, at_ms=ASKED_MS, type=EventType.REQUESTED, by=CLIENT),
    TrailEntry(
        seq=2,
        at_ms=ASKED_MS + 42_000,
        type=EventType.REFUSED,
        by=PENDING.ask.actor.id,
        channel=CHANNEL_API,
        code="APPROVAL_SELF_APPROVAL",
    ),
    TrailEntry(seq=3, at_ms=DECIDED_MS, type=EventType.APPROVED, by=APPROVER.id, channel=CHANNEL_API),
    TrailEntry(seq=4, at_ms=CONSUMED_MS, type=EventType.CONSUMED, by=CLIENT),
    TrailEntry(seq=5, at_ms=REPORTED_MS, type=EventType.REPORTED, by=CLIENT),
)

TRANSITION = Transition(
    tenant=TENANT,
    entry=f"{DECIDED_MS}-0",
    approval_id=APPROVAL_ID,
    type=EventType.APPROVED,
    at_ms=DECIDED_MS,
)

RING = Keyring(
    generation=1,
    active=_signing_key("active"),
    next=_signing_key("next"),
    seal=SealKey(kid="example", secret=SecretBytes(bytes(32))),
)
TOKEN = mint(
    RING.active,
    issuer=ServerSettings().public_url,
    audience=CLIENT,
    asker=CLIENT,
    actor_id=APPROVED.ask.actor.id,
    approval_id=APPROVAL_ID,
    tenant=TENANT,
    capability=APPROVED.ask.capability,
    digest=APPROVED.digest,
    input_hash=APPROVED.input_hash,
    approvers=[ApproverClaim(id=APPROVER.id, at_ms=DECIDED_MS)],
    now_ms=DECIDED_MS,
    use_by_ms=APPROVED.use_by_ms or 0,
)
