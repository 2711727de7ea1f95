"""Decide: a person's vote on exactly the card they were shown."""

import asyncio
from collections.abc import Callable
from weakref import WeakValueDictionary

from msgspec import UNSET, structs

from placet.application.callers import Caller
from placet.application.commands import Decide
from placet.application.grants import Seals, hashes_of
from placet.application.rulings import error_for, word_of
from placet.application.views import sight_of
from placet.domain import binding, machine
from placet.domain.canonical import canonicalize
from placet.domain.error_terms import Issue
from placet.domain.errors import InputInvalid, PlacetError, StoreUnavailable
from placet.domain.identity import check_id
from placet.domain.limits import OVERTAKEN_MAX, USE_WITHIN_MAX_MS, Limits
from placet.domain.machine import Change, Ruling
from placet.domain.model import Approval, Ask, Edited, Sealed, Status, Verdict, Vote
from placet.domain.principals import Client
from placet.domain.tally import Tally, slot_of
from placet.store.approvals import Answer, Approvals
from placet.store.attempts import Ballot
from placet.store.codec import encode, pack_votes
from placet.store.record import Record

TURN_S = 5.0
"""How long a voter who was overtaken waits for a turn: where each takes so long the store is at fault."""


class DecideApproval:
    """The use case: every channel's decisions end here.

    Two round trips: who may vote depends on what is asked and who has voted, so the record is read first. If
    somebody votes in between, the script takes nothing and it is read again; it judges the state for itself,
    and the words never change. Whoever was overtaken takes turns with the others here that were, so that
    many who vote at once don't keep each other from it.
    """

    def __init__(
        self,
        store: Approvals,
        seals: Seals,
        limits: Limits,
        *,
        decided: Callable[[int, int], None] = lambda _asked_at_ms, _decided_at_ms: None,
    ) -> None:
        self._decided = decided
        self._turns = WeakValueDictionary[tuple[str, str], asyncio.Lock]()
        self._store = store
        self._seals = seals
        self._limits = limits

    async def __call__(self, caller: Caller, approval_id: str, body: Decide) -> Approval:
        """Vote.

        Raises:
            InputInvalid: ``approver`` is missing from a bridge or sent by a person, ``input`` without
                ``edit`` or the other way round, or the comment is too long.
            PlacetError: Any refusal in the order of judgement (:func:`machine.judge_decide`).
            Rejudge: Credentials changed meanwhile.
        """
        self._check(caller, body)
        approval = await self._once(caller, approval_id, body)
        if approval is not None:
            return approval
        turn = self._turns.setdefault((caller.tenant, approval_id), asyncio.Lock())
        try:
            async with asyncio.timeout(TURN_S):
                await turn.acquire()
        except TimeoutError:
            raise StoreUnavailable from None
        try:
            for _ in range(OVERTAKEN_MAX):
                approval = await self._once(caller, approval_id, body)
                if approval is not None:
                    return approval
        finally:
            turn.release()
        raise StoreUnavailable

    async def _once(self, caller: Caller, approval_id: str, body: Decide) -> Approval | None:
        """Vote; ``None`` where somebody else did between reading the record and that."""
        read = await self._store.get(caller.tenant, approval_id, epoch=caller.epoch)
        if read.record is None:
            raise error_for(read.ruling)
        ballot, refusal = self._ballot(caller, body, read.record)
        answer = await self._store.decide(caller.tenant, approval_id, ballot, epoch=caller.epoch)
        return None if answer.ruling is Ruling.STALE else self._taken(answer, refusal)

    def _taken(self, answer: Answer, refusal: PlacetError | None) -> Approval:
        if answer.ruling is Ruling.REFUSED and refusal is not None:
            raise refusal
        approval = self._seals.taken(answer)
        if answer.ruling is Ruling.OK and approval.status is not Status.PENDING:
            self._decided(approval.requested_at_ms, approval.now_ms)
        return approval

    def _ballot(self, caller: Caller, body: Decide, record: Record) -> tuple[Ballot, PlacetError | None]:
        """The vote on the record as read, and what it is refused with if the state allows one at all."""
        shown = self._seals.opened(record)
        hidden = sight_of(caller, shown) is None
        votable = shown.status is Status.PENDING and not hidden
        if body.decision is not Verdict.REJECT and votable:
            self._seals.prove_card(shown)  # before a vote on it is sealed
        authority, ask, tally = caller.authority, shown.ask, Tally.of(shown)
        named = "" if body.approver is UNSET else body.approver.id
        voter = authority.voter(caller.principal, named, caller.channel)
        voter = structs.replace(voter, step_up=caller.step_up)
        refusal = authority.judge_vote(voter, ask, body.decision, body.comment, tally)
        terms = authority.terms(ask)
        change = None if body.input is UNSET else _change(ask, body, counts=authority.edit_counts(ask, tally))
        takes = refusal is None and votable and body.digest == shown.digest
        if change is not None and change.digest == shown.digest and takes:
            raise InputInvalid([Issue(path="/input", message="It changes nothing; approve instead.")])
        person, needed = authority.last_words(tally).slot_for(voter), authority.needed(ask, tally)
        weighed = [(slot_of(cast), worth) for cast, worth in authority.weighed(ask, tally)]
        takes = takes and not machine.reverses(dict(weighed).get(person), body.decision)
        vote = Vote(
            decision=body.decision,
            approver=voter.person,
            channel=voter.channel,
            submitted_by=None if voter.bridge is None else voter.bridge.name,
            comment=body.comment,
            digest=body.digest,
            credential=caller.credential,
            key=person,
            rule=None if terms is None else terms.rule,
            policy=authority.version,
            seen_at_ms=shown.now_ms,
            edited=None if change is None else _edited_by(change),
            vouched=voter.vouched,
            names=authority.names_of(voter) if votable else (),
            step_up=voter.step_up,
        )
        ballot = Ballot(
            vote=vote,
            # What the script won't take is not sealed: nobody could put it where it was refused.
            sealed=self._seals.vote(shown, vote) if takes else Sealed(document=encode(vote), seal=""),
            person=person,
            hidden=hidden,
            refusal=None if refusal is None else word_of(refusal),
            required=needed.approvals,
            rejections=needed.rejections,
            seen=record.votes,
            weighed=pack_votes(weighed),
            change=change,
            use_within_most_ms=(terms and terms.use_within_ms[1]) or USE_WITHIN_MAX_MS,
        )
        return ballot, refusal

    def _check(self, caller: Caller, body: Decide) -> None:
        issues = []
        bridged = isinstance(caller.principal, Client)
        if bridged and body.approver is UNSET:
            issues.append(Issue(path="/approver", message="Name the person you speak for."))
        if not bridged and body.approver is not UNSET:
            issues.append(Issue(path="/approver", message="Your credential says who you are; leave it out."))
        fault = None if body.approver is UNSET else check_id(body.approver.id)
        if fault is not None:
            issues.append(Issue(path="/approver/id", message=f"It {fault}."))
        if (body.decision is Verdict.EDIT) != (body.input is not UNSET):
            issues.append(Issue(path="/input", message="It belongs to the decision edit, and only there."))
        if body.comment is not None and len(body.comment) > self._limits.comment_max_chars:
            most = self._limits.comment_max_chars
            issues.append(Issue(path="/comment", message=f"It must be at most {most} characters."))
        if issues:
            raise InputInvalid(issues)


def _change(ask: Ask, body: Decide, *, counts: bool) -> Change:
    """What the decision makes of the question."""
    canonical = canonicalize(body.input)
    digest, call = hashes_of(ask, binding.input_hash(canonical))
    return Change(digest=digest, call=call, input=canonical, counts=counts)


def _edited_by(change: Change) -> Edited:
    """The same, as a vote says it."""
    return Edited(input_hash=binding.input_hash(change.input), digest=change.digest, counts=change.counts)
