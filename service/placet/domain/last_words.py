"""Everybody's last word on a question, told apart by who they were then and who they are now.

Two votes are one person's where the directory of then said so, or that of now does. So whoever was two and is
one by now has one say, the latest; and nothing that somebody took back is theirs again because they go by
another name today.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from placet.domain.model import Vote
from placet.domain.principals import Principal
from placet.domain.tally import slot_of
from placet.domain.voters import Voter


class Said(NamedTuple):
    """The last word of somebody.

    Attributes:
        vote: What they said.
        voter: Who they are today.
        principal: Who brought it in, where they could today.
        is_author: Whether they made the input what it is.
        slots: What told them from others, each time they voted.
        keys: What does today, of each of their votes.
    """

    vote: Vote
    voter: Voter
    principal: Principal | None
    is_author: bool
    slots: frozenset[str]
    keys: frozenset[str]

    @property
    def is_alive(self) -> bool:
        """Whether what was shown for it still counts."""
        return self.principal is not None

    @property
    def stands(self) -> bool:
        """Whether it keeps others from voting who may be the same."""
        return self.is_alive or self.is_author


class LastWords:
    """All of them, in the order in which they were said.

    Args:
        votes: Those on the input as it is, beginning with the change that made it so, if there was one.
        caster: Tells who cast a vote, as who they are today.
        behind: Tells who brought a vote in, where they could today.
    """

    def __init__(
        self,
        votes: Iterable[Vote],
        caster: Callable[[Vote], Voter],
        behind: Callable[[Vote], Principal | None],
    ) -> None:
        cast = [(vote, caster(vote)) for vote in votes]
        self._said: list[Said] = []
        for places in _grouped([(slot_of(vote), voter.key) for vote, voter in cast]):
            of_one = [cast[place] for place in places]
            vote, voter = of_one[-1]
            self._said.append(
                Said(
                    vote=vote,
                    voter=voter,
                    principal=behind(vote),
                    is_author=any(each.edited is not None for each, _ in of_one),
                    slots=frozenset(slot_of(each) for each, _ in of_one),
                    keys=frozenset(each.key for _, each in of_one),
                )
            )
        self._by_key = {key: said for said in self._said for key in said.keys}
        self._by_slot = {slot: said for said in self._said for slot in said.slots}
        self._by_name: dict[str, list[Said]] = {}
        for said in self._said:
            for name in said.voter.names:
                self._by_name.setdefault(name, []).append(said)

    def __iter__(self) -> Iterator[Said]:
        return iter(self._said)

    def of(self, voter: Voter) -> Said | None:
        """Somebody's own, if they have said anything."""
        return self._by_key.get(voter.key)

    def slot_for(self, voter: Voter) -> str:
        """What tells a voter from others in the record: what did when they last voted, if they have.

        Never what tells somebody else: not even whoever was the same by the directory of then.
        """
        own, slot = self.of(voter), voter.key
        if own is not None and own.voter.key == voter.key:
            return slot_of(own.vote)
        while slot in self._by_slot:
            slot += "'"
        return slot

    def is_unclear(self, voter: Voter) -> bool:
        """Whether they may be somebody else whose word stands, or who changed the input; or a member."""
        own, taken = self.of(voter), self._by_slot.get(voter.key)
        return (
            voter.mistakable
            or (own is not None and own.voter.key != voter.key and own.stands)
            or (taken is not None and taken is not own and taken.stands)
            or any(
                each is not own and each.stands and not (voter.is_member and each.voter.is_member)
                for name in voter.names
                for each in self._by_name.get(name, ())
            )
        )


def _grouped(labels: list[tuple[str, str]]) -> list[list[int]]:
    """The places of votes that share a slot or a key, directly or through others; by the latest of each."""
    groups: dict[int, list[int]] = {}
    where: dict[tuple[str, str], int] = {}
    for place, (slot, key) in enumerate(labels):
        mine = (("slot", slot), ("key", key))
        joined = sorted({where[label] for label in mine if label in where})
        groups[place] = sorted([each for group in joined for each in groups.pop(group)] + [place])
        for each in groups[place]:
            where |= {("slot", labels[each][0]): place, ("key", labels[each][1]): place}
    return list(groups.values())
