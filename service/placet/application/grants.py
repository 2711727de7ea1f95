"""Proof that a grant is one: sealed votes of enough people on exactly what would run.

The store says that a record is approved; whoever can only write the store could say so too. Before a
token is minted and before a consumption is confirmed, the votes are therefore checked against a key
that the store never sees, and the digest they are on is computed again from the record's own words and
from the call that was presented. The card that an approver is shown, and votes on, is checked likewise.
"""

import logging

import msgspec

from placet.domain import binding
from placet.domain.errors import InternalError
from placet.domain.model import Approval, Ask, CastVote, Person, Status, Verdict, Vote
from placet.domain.policy import REQUIRED_APPROVALS
from placet.store.codec import encode
from placet.tokens.seal import Sealer

SEAL_KIND = "vote"
ASK_SEAL_KIND = "ask"

_ENDED = frozenset({Status.REJECTED, Status.EXPIRED, Status.CANCELLED})

_log = logging.getLogger(__name__)


def seal_ask(sealer: Sealer, ask: Ask) -> Ask:
    """The question, sealed: not only what its digest binds, but who asked, who is behind it, all of it."""
    return msgspec.structs.replace(ask, seal=sealer.seal(ASK_SEAL_KIND, (encode(ask),)))


def cast(
    sealer: Sealer,
    ask: Ask,
    *,
    decision: Verdict,
    person: Person,
    channel: str,
    submitted_by: str | None,
    comment: str | None,
    digest: str,
) -> Vote:
    """A vote, sealed."""
    vote = Vote(
        decision=decision,
        approver=person,
        channel=channel,
        submitted_by=submitted_by,
        comment=comment,
        digest=digest,
        seal="",
    )
    return msgspec.structs.replace(vote, seal=sealer.seal(SEAL_KIND, _sealed(ask, vote)))


def prove(sealer: Sealer, approval: Approval, call: str | None = None) -> None:
    """Nothing, where the record's approval is real.

    Args:
        sealer: Has the key.
        approval: An approved or consumed record, as the store has it.
        call: Hash of the call that is about to run, where one is.

    Raises:
        InternalError: Votes are missing or forged, or the record is not the one they were on, or it had
            ended before. An alarm goes to the log; the caller learns nothing.
    """
    voted = {
        vote.approver.id
        for vote in (each.vote for each in approval.votes)
        if vote.decision is Verdict.APPROVE
        and vote.digest == approval.digest
        and sealer.verify(SEAL_KIND, _sealed(approval.ask, vote), vote.seal)
    }
    enough = len(voted) >= max(REQUIRED_APPROVALS, approval.required)
    if not enough or not _ENDED.isdisjoint(approval.ends) or not _holds_together(sealer, approval, call):
        raise _alarm("a grant's seal is broken", approval)


def check_card(sealer: Sealer, approval: Approval) -> None:
    """Nothing, where the card that an approver is shown is the one whose digest they vote on.

    Raises:
        InternalError: Its words or its input were changed in the store, or the input is gone. An alarm
            goes to the log.
    """
    blind = approval.ask.input_held and approval.input is None
    if blind or not _holds_together(sealer, approval, None):
        raise _alarm("a card is not what its digest says", approval)


def _holds_together(sealer: Sealer, approval: Approval, call: str | None) -> bool:
    """Whether the ask is as it was sealed, and with the input (and the call) gives the record's hashes."""
    ask, held = approval.ask, approval.input
    members = members_of(ask)
    unsealed = msgspec.structs.replace(ask, seal="")
    return (
        sealer.verify(ASK_SEAL_KIND, (encode(unsealed),), ask.seal)
        and (held is None or binding.input_hash(bytes(held)) == approval.input_hash)
        and binding.digest(members, binding.display_hash(ask)) == approval.digest
        and (call is None or binding.call_hash(members) == call)
    )


def _alarm(what: str, approval: Approval) -> InternalError:
    _log.error(what, extra={"approval_id": approval.ask.id, "tenant": approval.ask.tenant})
    return InternalError()


def digest_of(ask: Ask) -> str:
    """The digest of a question, computed from its words."""
    return binding.digest(members_of(ask), binding.display_hash(ask))


def members_of(ask: Ask) -> dict[str, object]:
    """What a consumer of this question must present."""
    return binding.call_members(
        tenant=ask.tenant,
        capability=ask.capability,
        surface=ask.surface,
        actor_id=ask.actor.id,
        actor_kind=ask.actor.kind,
        effect=ask.effect,
        context=msgspec.json.decode(ask.context),
        hash_of_input=ask.input_hash,
    )


def _sealed(ask: Ask, vote: Vote) -> tuple[str | None, ...]:
    return (
        ask.tenant,
        ask.id,
        vote.digest,
        vote.decision.value,
        vote.approver.id,
        vote.approver.display_name,
        vote.channel,
        vote.submitted_by,
        vote.comment,
    )


def approvers(votes: tuple[CastVote, ...], digest: str) -> tuple[CastVote, ...]:
    """The votes that made the grant: approvals on its digest."""
    return tuple(
        each for each in votes if each.vote.decision is Verdict.APPROVE and each.vote.digest == digest
    )
