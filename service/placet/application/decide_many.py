"""Decide many: several votes in one call, each judged, recorded and answered as if it had come alone.

What can't be read at all is refused as a whole before anything is judged: whoever sent it does not say what
they seem to say. From there on one item's fault is no other's, and the answer tells what became of each. Only
where not a single one could be judged (the credential counts no more, the store is away) is that the answer.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence

from msgspec import Struct, structs

from placet.application.callers import Caller
from placet.application.commands import DecideItem
from placet.application.decide import DecideApproval
from placet.domain.error_terms import Issue
from placet.domain.errors import InputInvalid, InternalError, PlacetError, StoreUnavailable
from placet.domain.limits import JUDGED_MAX
from placet.domain.model import Approval
from placet.store.approvals import Rejudge

_AT_ONCE = 20
"""Items that travel to the store together. What comes back together is worked on in one go, a millisecond or
so for each, while everybody else waits."""

_log = logging.getLogger(__name__)


class Decided(Struct, frozen=True, kw_only=True):
    """What became of one item: the approval as it is now, or why not. It was judged for ``caller``."""

    id: str
    caller: Caller
    outcome: Approval | PlacetError


class DecideMany:
    """The use case.

    Args:
        decide: Judges one.
        refused: Told the code of each refusal.
    """

    def __init__(self, decide: DecideApproval, refused: Callable[[str], None] = lambda _code: None) -> None:
        self._decide = decide
        self._refused = refused

    async def __call__(
        self, caller: Caller, items: Sequence[DecideItem], rejudged: Callable[[], Awaitable[Caller]]
    ) -> list[Decided]:
        """Vote on each.

        Args:
            caller: Who votes, or speaks for those who do.
            items: The votes.
            rejudged: Authenticates the caller anew, where credentials have changed meanwhile.

        Returns:
            What became of them, in their order.

        Raises:
            InputInvalid: Two are about one approval.
            PlacetError: None could be judged, for one and the same reason.
        """
        _check(items)
        standing = _Standing(caller, rejudged)
        decided: list[Decided] = []
        for start in range(0, len(items), _AT_ONCE):
            some = enumerate(items[start : start + _AT_ONCE], start)
            decided += await asyncio.gather(*(self._one(standing, place, item) for place, item in some))
            if any(isinstance(each.outcome, StoreUnavailable) for each in decided):
                break  # the others would only wait for it too
        decided += [
            Decided(id=item.id, caller=caller, outcome=StoreUnavailable()) for item in items[len(decided) :]
        ]
        errors = [each.outcome for each in decided if isinstance(each.outcome, PlacetError)]
        if len(errors) == len(decided) and all(map(standing.is_no_judgement, errors)):
            raise errors[0]
        for error in errors:
            self._refused(error.code)
        return decided

    async def _one(self, standing: "_Standing", place: int, item: DecideItem) -> Decided:
        outcome: Approval | PlacetError = StoreUnavailable()
        caller = standing.caller
        try:
            for _ in range(JUDGED_MAX):
                try:
                    outcome = await self._decide(caller, item.id, item)
                    break
                except Rejudge:
                    caller = await standing.renewed(caller)
        except InputInvalid as error:
            here = f"/decisions/{place}"
            outcome = InputInvalid([structs.replace(each, path=here + each.path) for each in error.issues])
        except PlacetError as error:
            outcome = error
        except Exception:  # noqa: BLE001 - whatever it is, the other items get their answers and the log the rest
            _log.exception("a decision failed in a way nobody foresaw")
            outcome = InternalError()
        return Decided(id=item.id, caller=caller, outcome=outcome)


class _Standing:
    """Who the caller is, as of the latest change of credentials: found out once for all items."""

    def __init__(self, caller: Caller, rejudged: Callable[[], Awaitable[Caller]]) -> None:
        self.caller = caller
        self._rejudged = rejudged
        self._fault: PlacetError | None = None
        self._lock = asyncio.Lock()

    async def renewed(self, stale: Caller) -> Caller:
        """The caller after ``stale``.

        Raises:
            PlacetError: There is none: the credential counts no more, or not for this.
        """
        async with self._lock:
            if self._fault is not None:
                raise self._fault
            if self.caller is stale:
                try:
                    self.caller = await self._rejudged()
                except PlacetError as fault:
                    self._fault = fault
                    raise
            return self.caller

    def is_no_judgement(self, error: PlacetError) -> bool:
        """Whether it says nothing about an item."""
        return isinstance(error, StoreUnavailable) or error is self._fault


def _check(items: Sequence[DecideItem]) -> None:
    """Refuse what contradicts itself, or what a caller takes for more than it is.

    Raises:
        InputInvalid: An approval is named twice.
    """
    seen: set[str] = set()
    issues = []
    for place, item in enumerate(items):
        if item.id in seen:
            issues.append(Issue(path=f"/decisions/{place}/id", message="An earlier item has this id."))
        seen.add(item.id)
    if issues:
        raise InputInvalid(issues)
