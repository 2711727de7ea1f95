"""Proof that a grant is one: sealed votes of enough people on exactly what would run.

The store says that a record is approved; whoever can only write the store could say so too. So what
clients ask and what people decide is sealed with a key that the store never sees: the ask together with
the nonce of its creation, each vote together with the seal of what came before it: the ask, or the vote
before. So none can be taken out, put in or moved. Before a card is shown to those who vote on it, a decision
shown to anyone, a token minted or a consumption confirmed, the seals are checked, and the digest is computed
again from the ask's own words and from the call presented.

What seals can't tell: whoever can write the store can put a record back to what it once truly was, and
have a grant spent again for as long as it was ever meant to be used; and can have time pass, or not. At most
once rests on the store's word.
"""

import logging
from collections.abc import Iterable
from contextlib import suppress

import msgspec

from placet.application.rulings import error_for
from placet.domain import binding, machine
from placet.domain.errors import InternalError
from placet.domain.kept import Kept
from placet.domain.limits import USE_WITHIN_MAX_MS
from placet.domain.model import Approval, Ask, CastVote, Sealed, Status, Verdict, Vote
from placet.domain.tally import Tally
from placet.store.approvals import Answer
from placet.store.codec import encode
from placet.store.record import Record
from placet.tokens.keyring_file import KeyringFile

SEAL_KIND = "vote"
ASK_SEAL_KIND = "ask"

KEPT_BINDINGS = 8192
"""For so many asks it is remembered what their words hash to, some 3 MB: computing it costs 40 µs, and up
to 0.1 s for the largest cards."""

VOTE_TAKES_MS = 60_000
"""Longest time between reading a record to vote on and the store taking the vote: far beyond any time-out."""

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
        self._bindings: Kept[tuple[str, str], tuple[str, str]] = Kept(KEPT_BINDINGS)

    def ask(self, ask: Ask, nonce: bytes, *, digest: str, call: str) -> Sealed:
        """The question, sealed: not only what its digest binds, but who asked, who is behind it, all of it.

        ``digest`` and ``call`` are its hashes, which need not be computed again then.
        """
        document = encode(ask)
        seal = self._ring.sealer.seal(ASK_SEAL_KIND, (nonce, document))
        self._bindings.put((seal, ask.input_hash), (digest, call))
        return Sealed(document=document, seal=seal)

    def vote(self, approval: Approval, vote: Vote) -> Sealed:
        """A vote on this very record as it is, sealed."""
        document = encode(vote)
        before = approval.votes[-1].sealed if approval.votes else approval.sealed
        return Sealed(document=document, seal=self._ring.sealer.seal(SEAL_KIND, (before.seal, document)))

    def prove_grant(self, approval: Approval, call: str | None = None) -> None:
        """Nothing, where the record's approval is real.

        Args:
            approval: An approved or consumed record, as the store has it.
            call: Hash of the call that is about to run, where one is.

        Raises:
            InternalError: Votes are missing or forged, or the record is not the one they were on, or it had
                ended before. An alarm goes to the log; the caller learns nothing.
        """
        self._prove_granted(approval, self._cast(approval), call)

    def _prove_granted(self, approval: Approval, genuine: tuple[CastVote, ...], call: str | None) -> None:
        voted = Tally(digest=approval.digest, votes=tuple(cast.vote for cast in genuine))
        enough = len(voted.approvals) >= max(approval.ask.required, approval.required)
        forged = len(genuine) < len(approval.votes)
        spoilt = forged or not enough or _outlives(approval) or not _ENDED.isdisjoint(approval.ends)
        if spoilt or not self._holds_together(approval, call):
            raise _alarm("a grant's seal is broken", approval)

    def prove_card(self, approval: Approval) -> None:
        """Nothing, where the card that an approver is shown is the one whose digest they vote on.

        Raises:
            InternalError: Its words or its input were changed in the store, or the input is gone. An alarm
                goes to the log.
        """
        blind = approval.ask.input_held and approval.input is None
        forged = len(self._cast(approval)) < len(approval.votes)  # an edit changes what is shown
        if blind or forged or not self._holds_together(approval, None):
            raise _alarm("a card is not what its digest says", approval)

    def prove_asked(self, record: Record) -> None:
        """Nothing, where what a record shows of the question is what was asked, or approved with changes.

        Raises:
            InternalError: Its words or its input were changed in the store. An alarm goes to the log.
        """
        approval = record.written()
        if approval.status not in _GRANTED:  # of which that is proven whenever they are opened
            record.derived(("asked", self._ring.sealer), lambda: self._prove_asked(approval))

    def _prove_asked(self, approval: Approval) -> None:
        if not self._holds_together(approval, None):
            raise _alarm("a record is not what was asked", approval)

    def opened(self, record: Record, call: str | None = None) -> Approval:
        """The approval that a record tells of, every decision in it as it was made.

        ``call`` is the hash of the call that is about to run on it, where one is.

        Raises:
            InternalError: It can't be read, or somebody else wrote a decision into the store.
        """
        approval = record.approval()
        if approval.votes or approval.status is not Status.PENDING:  # else nothing has been decided
            record.derived(
                ("decided", self._ring.sealer, call), lambda: self.prove_decided(record.written(), call)
            )
        return approval

    def taken(self, answer: Answer, client: str | None = None, call: str | None = None) -> Approval:
        """The record that an attempt was about, where it had its way; ``client`` made it, to run ``call``.

        Raises:
            PlacetError: The error of the ruling, where that is a refusal.
            InternalError: As :meth:`opened`.
        """
        taken = answer.ruling in machine.TAKEN
        approval = None if answer.record is None else self.opened(answer.record, call if taken else None)
        if answer.record is not None and not taken:  # the refusal may say words of it
            self.prove_asked(answer.record)
        if approval is None or not taken:
            party = approval is not None and client in {approval.ask.asked_by, approval.ask.audience}
            raise error_for(answer.ruling, approval, party=party)
        return approval

    def prove_decided(self, approval: Approval, call: str | None = None) -> None:
        """Nothing, where every decision that a record shows was made, and its state follows from them.

        Raises:
            InternalError: Somebody else wrote one into the store. An alarm goes to the log.
        """
        genuine = self._cast(approval)
        if approval.status in _GRANTED:
            self._prove_granted(approval, genuine, call)
        rejected = any(cast.vote.decision is Verdict.REJECT for cast in approval.votes)
        unfounded = approval.status is Status.REJECTED and not rejected
        if unfounded or len(genuine) < len(approval.votes):
            raise _alarm("a decision's seal is broken", approval)

    def _cast(self, approval: Approval) -> tuple[CastVote, ...]:
        """The votes that were really cast on this record."""
        verify = self._ring.sealer.verify
        before = (approval.sealed, *(cast.sealed for cast in approval.votes[:-1]))
        return tuple(
            cast
            for on, cast in zip(before, approval.votes, strict=False)
            if verify(SEAL_KIND, (on.seal, cast.sealed.document), cast.sealed.seal)
        )

    def _holds_together(self, approval: Approval, call: str | None) -> bool:
        """Whether the ask is as sealed, and with the input (and the call) gives the record's hashes."""
        sealed, held = approval.sealed, approval.input
        if not self._ring.sealer.verify(ASK_SEAL_KIND, (approval.nonce, sealed.document), sealed.seal):
            return False
        digest_of_words, call_of_words = self._binding(approval)
        return (
            (held is None or binding.input_hash(bytes(held)) == approval.input_hash)
            and _was_asked(approval)
            and digest_of_words == approval.digest
            and call in {None, call_of_words}
        )

    def _binding(self, approval: Approval) -> tuple[str, str]:
        """Digest and call hash of an ask whose seal is ours, which names its words for good, and an input."""
        named = (approval.sealed.seal, approval.input_hash)
        known = self._bindings.get(named)
        if known is None:
            known = hashes_of(approval.ask, approval.input_hash)
            self._bindings.put(named, known)
        return known


def readable(records: Iterable[Record]) -> list[Approval]:
    """The approvals of those records that can be read; of the others the log has told."""
    found = []
    for record in records:
        with suppress(InternalError):
            found.append(record.approval())
    return found


def _was_asked(approval: Approval) -> bool:
    """Whether what is told as the original of a changed question is what was asked."""
    asked = approval.requested
    if asked is None:
        return True
    digest, _ = hashes_of(approval.ask, approval.ask.input_hash)
    is_input = asked.input is None or binding.input_hash(bytes(asked.input)) == approval.ask.input_hash
    return is_input and asked.digest == digest


def _outlives(approval: Approval) -> bool:
    """Whether a grant could be used for longer after its last vote than it was ever meant to be."""
    lives_ms = min(approval.ask.use_within_ms or USE_WITHIN_MAX_MS, USE_WITHIN_MAX_MS)
    last_ms = max((cast.vote.seen_at_ms for cast in approval.votes), default=0)
    return (approval.use_by_ms or 0) > last_ms + lives_ms + VOTE_TAKES_MS


def _alarm(what: str, approval: Approval) -> InternalError:
    _log.error(what, extra={"approval_id": approval.ask.id, "tenant": approval.ask.tenant})
    return InternalError()


def hashes_of(ask: Ask, hash_of_input: str) -> tuple[str, str]:
    """Digest and call hash of a question with this input, its own or one that an approver made of it."""
    call = msgspec.structs.replace(members_of(ask), input_hash=hash_of_input)
    return binding.digest(call, binding.display_hash(ask)), binding.call_hash(call)


def members_of(ask: Ask, context: object = None) -> binding.Call:
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
