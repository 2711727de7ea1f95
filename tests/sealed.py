"""Questions and votes as the service seals them, for proofs to hold or to fail."""

from pathlib import Path
from typing import Any

from msgspec import Raw, structs

from placet.application.grants import Seals
from placet.domain.model import Approval, CastVote, Person, Sealed, Status, Verdict, Vote
from placet.store.codec import encode
from placet.tokens.keyring_file import KeyringFile, load_or_create
from tests.factories import INPUT, T0_MS, an_ask, call_of, digest_of

NONCE = b"n" * 12


def a_seals(folder: Path) -> Seals:
    """Seals under the keyring in ``folder``."""
    load_or_create(folder / "keyring.json", T0_MS)
    return Seals(KeyringFile(folder / "keyring.json"))


def asked(seals: Seals, nonce: bytes = NONCE, **members: Any) -> Approval:
    """A pending question."""
    ask = an_ask(**{"id": "apr_1", **members})
    return Approval(
        ask=ask,
        sealed=seals.ask(ask, nonce, digest=digest_of(ask), call=call_of(ask)),
        nonce=nonce,
        status=Status.PENDING,
        digest=digest_of(ask),
        input_hash=ask.input_hash,
        input=Raw(INPUT),
        requested_at_ms=T0_MS,
        expires_at_ms=T0_MS + 60_000,
        use_by_ms=T0_MS + 60_000,
        required=1,
        counted=(),
        votes=(),
        consumption=None,
        outcome=None,
        requested=None,
        now_ms=T0_MS,
    )


def voted(seals: Seals, on: Approval, person: str = "ann", **changes: Any) -> CastVote:
    """A genuine vote on this question."""
    members: dict[str, Any] = {
        "decision": Verdict.APPROVE,
        "approver": Person(id=person),
        "channel": "api",
        "submitted_by": None,
        "comment": None,
        "digest": on.digest,
        "seen_at_ms": T0_MS,
    }
    vote = Vote(**{**members, **changes})
    return CastVote(vote=vote, sealed=seals.vote(on, vote), at_ms=T0_MS)


def all_voted(seals: Seals, on: Approval, *votes: Any) -> tuple[CastVote, ...]:
    """Genuine votes on this question, one after another: people, or people with what else their votes say."""
    for vote in votes:
        person, changes = (vote, {}) if isinstance(vote, str) else vote
        on = structs.replace(on, votes=(*on.votes, voted(seals, on, person, **changes)))
    return on.votes


def granted(seals: Seals, *people: str, **changes: Any) -> Approval:
    """An approved question."""
    pending = asked(seals)
    votes = all_voted(seals, pending, *people)
    return structs.replace(pending, status=Status.APPROVED, votes=votes, **changes)


def reworded(approval: Approval, **members: Any) -> Approval:
    """The record with another ask under the old seal, as a store that was written to tells it."""
    ask = structs.replace(approval.ask, **members)
    return structs.replace(approval, ask=ask, sealed=Sealed(document=encode(ask), seal=approval.sealed.seal))
