"""What awaits a person: the questions they could approve now, the one that dies first at the top."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Final

from msgspec import Struct

from placet.application.callers import Caller
from placet.application.grants import Seals
from placet.domain.errors import InternalError, PlacetError
from placet.domain.model import Approval, Risk, Status, Verdict
from placet.domain.rules import CommentRule
from placet.domain.tally import Tally
from placet.domain.voters import Voter
from placet.store.approvals import Approvals
from placet.store.record import Record

LOOKED_AT_MAX: Final = 10_000
"""Pending questions of a tenant that are looked at for one inbox."""
_PAGE: Final = 200
_ANY_WORDS: Final = "A comment that says something."
"""For a judgement of who may, before what they would say is known."""


class Awaiting(Struct, frozen=True):
    """What awaits somebody.

    Attributes:
        approvals: The questions, the first to expire on top.
        is_all: Whether all that waits was looked at; what expires first was.
        now_ms: When.
    """

    approvals: Sequence[Approval]
    is_all: bool
    now_ms: int


class Inbox:
    """The use case.

    Args:
        store: The approvals.
        seals: Prove what is shown.
    """

    def __init__(self, store: Approvals, seals: Seals) -> None:
        self._store = store
        self._seals = seals

    async def of(self, caller: Caller) -> Awaiting:
        """What awaits the caller.

        Raises:
            Rejudge: Credentials changed meanwhile.
            StoreUnavailable: The store can't be asked.
        """
        found: list[Approval] = []
        read = partial(
            self._store.waiting, caller.tenant, limit=_PAGE, most=LOOKED_AT_MAX, epoch=caller.epoch
        )
        first = page = await read()
        rest = page.rest
        while True:
            found += self._awaiting(caller, page.records)
            await asyncio.sleep(0)  # others get their turn
            if not rest:
                break
            page = await read(rest[:_PAGE])
            rest = page.rest + rest[_PAGE:]
        return Awaiting(found, is_all=first.count <= LOOKED_AT_MAX, now_ms=first.now_ms)

    def _awaiting(self, caller: Caller, records: Iterable[Record]) -> Iterator[Approval]:
        for record in records:
            with suppress(InternalError):  # of one that was spoilt the log has told
                approval = self._seals.opened(record)
                if awaits(caller, approval):
                    self._seals.prove_asked(record)  # its row shows words and parts of its input
                    yield approval


def awaits(caller: Caller, approval: Approval) -> bool:
    """Whether a person could approve it now, and has not had their say."""
    if approval.status is not Status.PENDING:
        return False
    authority, tally = caller.authority, Tally.of(approval)
    voter = _voter(caller)
    if any(each.voter.key == voter.key and each.is_alive for each in authority.last_words(tally)):
        return False
    return authority.judge_vote(voter, approval.ask, Verdict.APPROVE, _ANY_WORDS, tally) is None


def refusal_of(
    caller: Caller, approval: Approval, verdict: Verdict, comment: str | None = _ANY_WORDS
) -> PlacetError | None:
    """What a person's vote would be refused with; ``None`` where it is taken.

    Without ``comment``, whatever they say with it. A sign-in for it is theirs to do.
    """
    authority, tally = caller.authority, Tally.of(approval)
    return authority.judge_vote(_voter(caller), approval.ask, verdict, comment, tally)


def said_by(caller: Caller, approval: Approval) -> Verdict | None:
    """What a person said of a question that waits, where it counts today."""
    authority, tally = caller.authority, Tally.of(approval)
    key, worth = _voter(caller).key, {id(vote): what for vote, what in authority.weighed(approval.ask, tally)}
    mine = (worth.get(id(each.vote)) for each in authority.last_words(tally) if each.voter.key == key)
    return next((what for what in mine if what is not None), None)


def comment_rule(caller: Caller, approval: Approval) -> CommentRule:
    """When a decision needs a comment."""
    terms = caller.authority.terms(approval.ask)
    return CommentRule.NEVER if terms is None else terms.comment


def is_critical(caller: Caller, approval: Approval) -> bool:
    """Whether it is of critical risk by the rules of today."""
    return caller.authority.claims(approval.ask).risk is Risk.CRITICAL


def steps_up(caller: Caller, approval: Approval) -> bool:
    """Whether a person has to sign in for their approval."""
    terms = caller.authority.terms(approval.ask)
    return terms is not None and caller.authority.steps_up(approval.ask, terms)


def _voter(caller: Caller) -> Voter:
    """Who a person is, once they have signed in for their decision where they can."""
    authority = caller.authority
    return authority.afresh(authority.voter(caller.principal, channel=caller.channel))
