"""How a question stands by the rules of today, as whoever sees its record is told."""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from placet.domain.authority import Authority
from placet.domain.errors import Forbidden
from placet.domain.model import Approval, Status, Verdict, Vote
from placet.domain.tally import Needed, Tally, asked_for, slot_of
from placet.store.codec import person_mark

_COUNTED: Final = frozenset({Verdict.APPROVE, Verdict.REJECT})


class Standing(Struct, frozen=True, kw_only=True):
    """What has come of the votes.

    Attributes:
        needed: How many people it takes.
        approved: How many of those who approved count.
        rejected: How many of those who rejected do.
        counting: The votes that do, in their order: whether each is one of them.
        suspended: What using the grant is refused with as things are; ``None`` where it can be used, or there
            is none.
    """

    needed: Needed
    approved: int
    rejected: int
    counting: tuple[bool, ...]
    suspended: Forbidden | None = None


def as_decided(approval: Approval) -> Standing:
    """How a record stood when it was decided, or stands where nobody has voted."""
    if not approval.votes:
        return _as_asked(approval)
    tally, counted = Tally.of(approval), dict(approval.counted)
    counting = [vote for vote in tally.standing if _is_worth(vote, counted.get(person_mark(slot_of(vote))))]
    rejected = sum(vote.decision is Verdict.REJECT for vote in counting)
    needed = tally.asked_for(approval.ask)
    if approval.status is Status.REJECTED:  # by rules that may have come to ask for fewer
        needed = needed._replace(rejections=min(needed.rejections, rejected))
    return Standing(
        needed=needed,
        approved=len(counting) - rejected,
        rejected=rejected,
        counting=_which(tally, counting),
    )


def _as_asked(approval: Approval) -> Standing:
    return Standing(needed=asked_for(approval.ask, approval.required), approved=0, rejected=0, counting=())


def _is_worth(vote: Vote, worth: Verdict | None) -> bool:
    return worth is (Verdict.REJECT if vote.decision is Verdict.REJECT else Verdict.APPROVE)


def standing_of(authority: Authority, approval: Approval, suspended: Forbidden | None = None) -> Standing:
    """How a record stands; ``suspended`` is what using its grant is refused with.

    What has ended, or can be used, stands as it was decided.
    """
    ask = approval.ask
    if not approval.votes and ask.policy == authority.version:
        return _as_asked(approval)  # as every question is at first, and most are rendered then
    if approval.status is not Status.PENDING and suspended is None:
        return as_decided(approval)
    tally = Tally.of(approval)
    if approval.status is Status.PENDING:
        worth = {id(vote): worth for vote, worth in authority.weighed(ask, tally)}
        counting = [vote for vote in tally.votes if worth.get(id(vote)) in _COUNTED]
    else:
        counting = [*authority.granting(ask, tally), *_rejections(tally)]
    rejected = sum(vote.decision is Verdict.REJECT for vote in counting)
    return Standing(
        needed=authority.needed(ask, tally),
        approved=len(counting) - rejected,
        rejected=rejected,
        counting=_which(tally, counting),
        suspended=suspended,
    )


def _which(tally: Tally, counting: Iterable[Vote]) -> tuple[bool, ...]:
    counts = frozenset(map(id, counting))
    return tuple(id(vote) in counts for vote in tally.votes)


def _rejections(tally: Tally) -> tuple[Vote, ...]:
    return tuple(vote for vote in tally.standing if vote.decision is Verdict.REJECT)
