"""How far a question has come: who has said what of it, and what of that still stands."""

from typing import NamedTuple

from msgspec import Struct

from placet.domain.identity import fold
from placet.domain.model import Approval, Ask, Verdict, Vote
from placet.domain.rules import Terms


class Needed(NamedTuple):
    """How many distinct people it takes, either way."""

    approvals: int
    rejections: int


class Tally(Struct, frozen=True, kw_only=True):
    """What has become of a question so far, as far as judging who may decide it goes.

    Attributes:
        digest: Of the card as it is.
        waited_ms: How long ago it was asked.
        required: How many people its record says must approve by now.
        votes: All of them, of which each is known to be genuine.
    """

    digest: str = ""
    waited_ms: int = 0
    required: int = 1
    votes: tuple[Vote, ...] = ()

    @classmethod
    def of(cls, approval: Approval) -> "Tally":
        """That of a record."""
        return cls(
            digest=approval.digest,
            waited_ms=approval.waited_ms,
            required=approval.required,
            votes=tuple(cast.vote for cast in approval.votes),
        )

    @property
    def standing(self) -> tuple[Vote, ...]:
        """The last word of everyone who has voted since the input was last changed, the change included.

        Which came first is told by what is sealed, not by the order of the log; of two words in the same
        millisecond a rejection is the last.
        """
        last: dict[str, Vote] = {}
        for each in sorted(self.votes, key=_place):
            if each.edited is not None:
                last.clear()
            last[slot_of(each)] = each
        return tuple(last.values())

    @property
    def approvals(self) -> tuple[Vote, ...]:
        """The votes that make the grant: approvals of what the digest is of, the last word of who gave them.

        A change voids what was said before it, also where a later one brings the same input back; nobody
        approves again what they rejected.
        """
        return tuple(each for each in self.standing if each.approves(self.digest))

    @property
    def change(self) -> Vote | None:
        """The vote that made the input what it is, whatever its author said after it."""
        changes = [each for each in sorted(self.votes, key=_place) if each.edited is not None]
        return changes[-1] if changes else None

    def needed(self, ask: Ask, terms: Terms) -> Needed:
        """How many it takes by the rules of today, which only ever make a question stricter."""
        return Needed(
            approvals=max(ask.required, self.required, terms.quorum),
            rejections=min(ask.rejections, terms.rejections),
        )


def slot_of(vote: Vote) -> str:
    """What told its voter from others when it was cast."""
    return vote.key or fold(vote.approver.id)


def _place(vote: Vote) -> tuple[int, bool]:
    return vote.seen_at_ms, vote.decision is Verdict.REJECT
