"""Statistics: how much was decided, how long that took, what expired, and what was approved too fast.

1. They are of the last so many days, days of UTC: today, as far as it has come, and those before it.
2. What people decided counts on the day of their decision, how a question ended on the day of that; when it
   was asked does not matter.
3. A decision is each person's: where two have to approve, that makes two.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple, Self, TypeVar

from msgspec import Struct, structs

from placet.domain.counts import Decisions, Endings, Took
from placet.domain.facts import Ending, Fact, Said
from placet.domain.model import Person, Verdict
from placet.domain.pace import Approved, Haste, hasty
from placet.domain.voters import CHANNEL_WEB

DAY_MS: Final = 86_400_000
SPREAD_MS: Final = (10_000, 60_000, 300_000, 900_000, 3_600_000, DAY_MS)
"""The longest times of the classes that times to decide are counted in; what took longer is one as well."""

T = TypeVar("T")


class Day(Struct, frozen=True, kw_only=True):
    """What was decided on a day, which begins at ``from_ms``."""

    from_ms: int
    decisions: Decisions


class OfCapability(Struct, frozen=True, kw_only=True):
    """What became of questions for one capability."""

    capability: str
    decisions: Decisions
    took: Took
    endings: Endings


class OfPerson(Struct, frozen=True, kw_only=True):
    """What one person decided; ``took`` is from when each question was asked to what they said."""

    person: Person
    decisions: Decisions
    took: Took


class TooFast(Struct, frozen=True, kw_only=True):
    """Whose approvals came too fast to have been read."""

    person: Person
    haste: Haste


class Left(NamedTuple):
    """How many lines are not there: of capabilities and people with fewer decisions, of older runs."""

    capabilities: int = 0
    people: int = 0
    runs: int = 0


class Statistics(Struct, frozen=True, kw_only=True):
    """Of some days.

    Attributes:
        from_ms: When the first of the days began.
        to_ms: As of when they are.
        asked: How many questions were asked.
        waiting: How many wait for people now, whenever they were asked.
        days: Each of the days, the earliest first.
        decisions: What people decided.
        took: From asking to the question no longer waiting, of those that people decided.
        spread: How many of these took how long, in the classes of :data:`SPREAD_MS`.
        endings: How questions ended.
        by_capability: The same of each capability, the most decided first.
        by_person: Of each person, who decided the most first.
        too_fast: The latest first.
        left: What was left out of the last three.
    """

    from_ms: int
    to_ms: int
    asked: int
    waiting: int
    days: tuple[Day, ...]
    decisions: Decisions
    took: Took
    spread: tuple[int, ...]
    endings: Endings
    by_capability: tuple[OfCapability, ...]
    by_person: tuple[OfPerson, ...]
    too_fast: tuple[TooFast, ...]
    left: Left = Left()

    def brief(self, lines_max: int) -> Self:
        """The same with so many lines of each kind at most."""
        left = (len(lines) - lines_max for lines in (self.by_capability, self.by_person, self.too_fast))
        return structs.replace(
            self,
            by_capability=self.by_capability[:lines_max],
            by_person=self.by_person[:lines_max],
            too_fast=self.too_fast[:lines_max],
            left=Left(*(max(each, 0) for each in left)),
        )


def begin_ms(now_ms: int, days: int) -> int:
    """When the first of the last so many days began, today being the last."""
    return (now_ms // DAY_MS - days + 1) * DAY_MS


def statistics(facts: Iterable[Fact], *, now_ms: int, days: int) -> Statistics:
    """The statistics of records, in any order, as of ``now_ms``."""
    facts = tuple(facts)
    from_ms = begin_ms(now_ms, days)
    within = range(from_ms, now_ms + 1)
    said = [(fact, each) for fact in facts for each in fact.said if each.at_ms in within]
    took = [(fact, took_ms) for fact, took_ms in _decided(facts, within)]
    ended = [(fact, fact.ended.how) for fact in facts if fact.ended and fact.ended.at_ms in within]
    by_person = _grouped(said, lambda each: each[1].person.id)
    return Statistics(
        from_ms=from_ms,
        to_ms=now_ms,
        asked=sum(fact.requested_at_ms in within for fact in facts),
        waiting=sum(fact.decided_at_ms is None and fact.ended is None for fact in facts),
        days=_days(from_ms, days, [each for _, each in said]),
        decisions=Decisions.of(each for _, each in said),
        took=Took.of(took_ms for _, took_ms in took),
        spread=_spread([took_ms for _, took_ms in took]),
        endings=Endings.of(how for _, how in ended),
        by_capability=_by_capability(said, took, ended),
        by_person=tuple(
            sorted(
                map(_of_person, by_person.values()), key=lambda each: (-each.decisions.total, each.person.id)
            )
        ),
        too_fast=_too_fast(by_person.values()),
    )


def _decided(facts: Iterable[Fact], within: range) -> Iterable[tuple[Fact, int]]:
    for fact in facts:
        if fact.took_ms is not None and fact.decided_at_ms in within:
            yield fact, fact.took_ms


def _grouped(items: Iterable[T], name: Callable[[T], str]) -> dict[str, list[T]]:
    groups: dict[str, list[T]] = {}
    for each in items:
        groups.setdefault(name(each), []).append(each)
    return groups


def _days(from_ms: int, days: int, said: Iterable[Said]) -> tuple[Day, ...]:
    by_day: list[list[Said]] = [[] for _ in range(days)]
    for each in said:
        by_day[(each.at_ms - from_ms) // DAY_MS].append(each)
    return tuple(
        Day(from_ms=from_ms + place * DAY_MS, decisions=Decisions.of(of_day))
        for place, of_day in enumerate(by_day)
    )


def _spread(times_ms: Iterable[int]) -> tuple[int, ...]:
    counts = Counter(bisect_left(SPREAD_MS, each) for each in times_ms)
    return tuple(counts[place] for place in range(len(SPREAD_MS) + 1))


def _by_capability(
    said: Sequence[tuple[Fact, Said]], took: Sequence[tuple[Fact, int]], ended: Sequence[tuple[Fact, Ending]]
) -> tuple[OfCapability, ...]:
    said_of, took_of, ended_of = (
        _grouped(said, _capability),
        _grouped(took, _capability),
        _grouped(ended, _capability),
    )
    lines = [
        OfCapability(
            capability=name,
            decisions=Decisions.of(each for _, each in said_of.get(name, ())),
            took=Took.of(each for _, each in took_of.get(name, ())),
            endings=Endings.of(each for _, each in ended_of.get(name, ())),
        )
        for name in {*said_of, *took_of, *ended_of}
    ]
    return tuple(sorted(lines, key=lambda each: (-each.decisions.total, each.capability)))


def _capability(of: tuple[Fact, object]) -> str:
    return of[0].capability


def _of_person(said: Sequence[tuple[Fact, Said]]) -> OfPerson:
    return OfPerson(
        person=_latest(said),
        decisions=Decisions.of(each for _, each in said),
        took=Took.of(each.at_ms - fact.requested_at_ms for fact, each in said),
    )


def _latest(said: Sequence[tuple[Fact, Said]]) -> Person:
    """A person as they were called last."""
    return max(
        (each for _, each in said), key=lambda each: (each.at_ms, each.person.display_name or "")
    ).person


def _too_fast(by_person: Iterable[Sequence[tuple[Fact, Said]]]) -> tuple[TooFast, ...]:
    found = [
        TooFast(person=_latest(said), haste=haste)
        for said in by_person
        for haste in hasty(
            Approved(each.at_ms, fact.approval_id, each.channel == CHANNEL_WEB)
            for fact, each in said
            if each.verdict is Verdict.APPROVE
        )
    ]
    return tuple(sorted(found, key=lambda each: (-each.haste.to_ms, each.person.id)))
