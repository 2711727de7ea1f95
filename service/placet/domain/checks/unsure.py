"""What can't be told of rules in which something is wrong: whatever rests on what was meant there.

What is wrong reads as if it were not there. Whoever mends it would find a second complaint gone, or another.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from placet.domain.people import Fault, Path
from placet.domain.rules import Rule

_NAMING: Final = ("name", "tenants", "clients", "capabilities", "surfaces")
"""What says which rule is met first."""
_COUNTING: Final = ("tenants", "approvers", "quorum", "rejections", "channels", "escalate")
"""What says whether there are enough people."""
_COMBINED: Final = frozenset({"quorum", "rejections", "channels", "step_up"})
"""What is judged for blocks together."""
_OF_A_BLOCK: Final = ("when", "approvers", *_COMBINED)
_RESTS_ON: Final[Mapping[str, tuple[str, ...]]] = {
    "approvers": ("tenants",),
    "channels": ("step_up",),
    "escalate": ("approvers", "expires_in", "tenants"),
    "hidden_input": ("capabilities",),
    "quorum": _COUNTING,
    "rejections": _COUNTING,
    "self_approval": ("quorum",),
    "step_up": ("channels",),
    "tell": ("tenants",),
}
"""Which other members of its rule a fault of a member rests on."""


class Unsure:
    """The places of which nobody knows what their author means.

    Args:
        places: Where they are.
    """

    def __init__(self, places: Collection[Path]) -> None:
        self._places = frozenset(places)

    def is_named(self, path: Path) -> bool:
        """Whether it is known what a rule is for, and what it is called."""
        return not self._touch((*path, member) for member in _NAMING)

    def is_sure(self, path: Path, rule: Rule, fault: Fault) -> bool:
        """Whether what was found in a rule will be there when everything else is mended."""
        return not self._touch(_rests_on(path, rule, fault))

    def _touch(self, paths: Iterator[Path]) -> bool:
        """Whether one of these is such a place, above one, or below one."""
        return bool(self._places) and any(
            place[: len(path)] == path or path[: len(place)] == place
            for path in paths
            for place in self._places
        )


def held_against(path: Path, fault: Fault) -> Path | None:
    """The member of its rule that a block's is judged by: while that is wrong, none is looser."""
    below = fault.path[len(path) :]
    return (*path, *below[2:]) if below[:1] == ("stricter",) else None


def _rests_on(path: Path, rule: Rule, fault: Fault) -> Iterator[Path]:
    yield fault.path
    against = held_against(path, fault)
    if against is not None:
        yield against
    members = [step for step in fault.path[len(path) :] if isinstance(step, str)]
    for member in members:
        yield from ((*path, other) for other in _RESTS_ON.get(member, ()))
    if against is not None and not _COMBINED.isdisjoint(members):
        for number in range(len(rule.stricter)):
            yield from ((*path, "stricter", number, other) for other in _OF_A_BLOCK)
