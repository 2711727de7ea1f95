"""Proof that a grant is one: sealed votes of enough people on exactly what would run.

The store says that a record is approved; whoever can only write the store could say so too. So what
clients ask and what people decide is sealed with a key that the store never sees: the ask together with
the nonce of its creation, each vote together with the seal of the ask it is on. Before a card is shown
to those who vote on it, a decision shown to anyone, a token minted or a consumption confirmed, the seals
are checked, and the digest is computed again from the ask's own words and from the call presented.

What seals can't tell: whoever can write the store can put a record back to what it once truly was, and
have a grant spent again while its token lives. At most once rests on the store's own word.
"""

import logging
from collections.abc import Iterable

import msgspec

from placet.domain import binding
from placet.domain.errors import InternalError
from placet.domain.model import Approval, Ask, CastVote, Sealed, Status, Verdict, Vote
from placet.store.codec import encode
from placet.tokens.keyring_file import KeyringFile

SEAL_KIND = "vote"
ASK_SEAL_KIND = "ask"

KEPT_BINDINGS = 8192
"""For so many asks it is remembered what their words hash to, some 3 MB: computing it costs 40 µs, and up
to 0.1 s for the largest cards."""

_ENDED = frozenset({Status.REJECTED, Status.EXPIRED, Status.CANCELLED})
_GRANTED = frozenset({Status.APPROVED, Status.CONSUMED})

_log = logging.getLogger(__name__)


class Seals:
    """Seals asks and votes, and proves them.

    Args:
        ring: Has the key.
    """

    def __init__(self, ring: KeyringFile) -> None:
        self._ring = ring
        self._bindings: dict[str, tuple[str, str]] = {}

    def ask(self, ask: Ask, nonce: bytes, *, digest: str, call: str) -> Sealed:
        """The question, sealed: not only what its digest binds, but who asked, who is behind it, all of it.

        ``digest`` and ``call`` are its hashes, which need not be computed again then.
        """
        document = encode(ask)
        seal = self._ring.sealer.seal(ASK_SEAL_KIND, (nonce, document))
        self._keep(seal, (digest, call))
        return Sealed(document=document, seal=seal)

    def vote(self, approval: Approval, vote: Vote) -> Sealed:
        """A vote on this very record, sealed."""
        document = encode(vote)
        seal = self._ring.sealer.seal(SEAL_KIND, (approval.sealed.seal, document))
        return Sealed(document=document, seal=seal)

    def prove_grant(self, approval: Approval, call: str | None = None) -> None:
        """Nothing, where the record's approval is real.

        Args:
            approval: An approved or consumed record, as the store has it.
            call: Hash of the call that is about to run, where one is.

        Raises:
            InternalError: Votes are missing or forged, or the record is not the one they were on, or it had
                ended before. An alarm goes to the log; the caller learns nothing.
        """
        voted = {cast.vote.approver.id for cast in approvers(self._cast(approval), approval.digest)}
        enough = len(voted) >= max(approval.ask.required, approval.required)
        if not enough or not _ENDED.isdisjoint(approval.ends) or not self._holds_together(approval, call):
            raise _alarm("a grant's seal is broken", approval)

    def prove_card(self, approval: Approval) -> None:
        """Nothing, where the card that an approver is shown is the one whose digest they vote on.

        Raises:
            InternalError: Its words or its input were changed in the store, or the input is gone. An alarm
                goes to the log.
        """
        blind = approval.ask.input_held and approval.input is None
        if blind or not self._holds_together(approval, None):
            raise _alarm("a card is not what its digest says", approval)

    def prove_decided(self, approval: Approval) -> None:
        """Nothing, where every decision that a record shows was made, and its state follows from them.

        Raises:
            InternalError: Somebody else wrote one into the store. An alarm goes to the log.
        """
        if approval.status in _GRANTED:
            self.prove_grant(approval)
        rejected = any(cast.vote.decision is Verdict.REJECT for cast in approval.votes)
        unfounded = approval.status is Status.REJECTED and not rejected
        if unfounded or len(tuple(self._cast(approval))) < len(approval.votes):
            raise _alarm("a decision's seal is broken", approval)

    def _cast(self, approval: Approval) -> Iterable[CastVote]:
        """The votes that were really cast on this record."""
        verify, on = self._ring.sealer.verify, approval.sealed.seal
        return (
            cast for cast in approval.votes if verify(SEAL_KIND, (on, cast.sealed.document), cast.sealed.seal)
        )

    def _holds_together(self, approval: Approval, call: str | None) -> bool:
        """Whether the ask is as sealed, and with the input (and the call) gives the record's hashes."""
        sealed, held = approval.sealed, approval.input
        if not self._ring.sealer.verify(ASK_SEAL_KIND, (approval.nonce, sealed.document), sealed.seal):
            return False
        digest_of_words, call_of_words = self._binding(approval)
        return (
            (held is None or binding.input_hash(bytes(held)) == approval.input_hash)
            and digest_of_words == approval.digest
            and call in {None, call_of_words}
        )

    def _binding(self, approval: Approval) -> tuple[str, str]:
        """Digest and call hash of an ask whose seal is ours, which names its words for good."""
        seal = approval.sealed.seal
        known = self._bindings.get(seal)
        if known is None:
            members = members_of(approval.ask)
            known = binding.digest(members, binding.display_hash(approval.ask)), binding.call_hash(members)
            self._keep(seal, known)
        return known

    def _keep(self, seal: str, hashes: tuple[str, str]) -> None:
        if len(self._bindings) >= KEPT_BINDINGS:
            del self._bindings[next(iter(self._bindings))]
        self._bindings[seal] = hashes


def _alarm(what: str, approval: Approval) -> InternalError:
    _log.error(what, extra={"approval_id": approval.ask.id, "tenant": approval.ask.tenant})
    return InternalError()


def members_of(ask: Ask, context: object = None) -> dict[str, object]:
    """What a consumer of this question must present; ``context`` is the ask's, where it is at hand."""
    return binding.call_members(
        tenant=ask.tenant,
        capability=ask.capability,
        surface=ask.surface,
        actor_id=ask.actor.id,
        actor_kind=ask.actor.kind,
        effect=ask.effect,
        context=msgspec.json.decode(ask.context) if context is None else context,
        hash_of_input=ask.input_hash,
    )


def approvers(votes: Iterable[CastVote], digest: str) -> tuple[CastVote, ...]:
    """The votes that made the grant: approvals on its digest."""
    return tuple(
        each for each in votes if each.vote.decision is Verdict.APPROVE and each.vote.digest == digest
    )
