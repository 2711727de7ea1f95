"""How far a question has come: who has said what of it, and what of that still stands."""

from typing import NamedTuple

from msgspec import Struct

from placet.domain.identity import fold
from placet.domain.model import Approval, Ask, Vote
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
        votes: All of them, in their order, each known to be genuine.
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
        """The last word of everyone who has voted since the input was last changed, the change included."""
        return tuple({slot_of(each): each for each in self.since_changed}.values())

    @property
    def approvals(self) -> tuple[Vote, ...]:
        """The votes that make the grant: approvals of what the digest is of, the last word of who gave them.

        A change voids what was said before it, also where a later one brings the same input back; nobody
        approves again what they rejected.
        """
        return tuple(each for each in self.standing if each.approves(self.digest))

    @property
    def since_changed(self) -> tuple[Vote, ...]:
        """The votes on the input as it is, beginning with the change that made it so, if there was one."""
        places = [place for place, each in enumerate(self.votes) if each.edited is not None]
        return self.votes[places[-1] :] if places else self.votes

    @property
    def changes(self) -> int:
        """How many times the input was changed."""
        return sum(each.edited is not None for each in self.votes)

    def asked_for(self, ask: Ask) -> Needed:
        """How many it took by the rules of then, and of every vote since."""
        return asked_for(ask, self.required)

    def needed(self, ask: Ask, terms: Terms) -> Needed:
        """How many it takes by the rules of today, which only ever make a question stricter."""
        then = self.asked_for(ask)
        return Needed(
            approvals=max(then.approvals, terms.quorum), rejections=min(then.rejections, terms.rejections)
        )


def asked_for(ask: Ask, required: int) -> Needed:
    """How many it took by the rules of then; ``required`` is what its record says by now."""
    return Needed(approvals=max(ask.required, required), rejections=ask.rejections)


def slot_of(vote: Vote) -> str:
    """What told its voter from others when it was cast."""
    return vote.key or fold(vote.approver.id)
