"""Statistics of records: exact values, and days."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from placet.domain.counts import Decisions, Endings, Took
from placet.domain.facts import Ended, Ending, Fact, Said
from placet.domain.model import Person, Verdict
from placet.domain.statistics import DAY_MS, SPREAD_MS, Statistics, begin_ms, statistics
from tests.factories import T0_MS

MIDNIGHT_MS = T0_MS // DAY_MS * DAY_MS
"""The beginning of 2027-01-15, whose eight o'clock is ``T0_MS``."""
ANN, BOB = Person(id="ann", display_name="Ann"), Person(id="bob")
APPROVE, REJECT, EDIT = Verdict.APPROVE, Verdict.REJECT, Verdict.EDIT


def a_fact(*said: tuple[Person, Verdict, int], ended: Ended | None = None, **members: Any) -> Fact:
    """Asked at seven, and decided by the last who had their say, unless said otherwise."""
    members = {"approval_id": "apr_1", "capability": "orders.refund", **members}
    members.setdefault("requested_at_ms", T0_MS - 3_600_000)
    members.setdefault("decided_at_ms", said[-1][2] if said else None)
    return Fact(said=tuple(Said(*each) for each in said), ended=ended, **members)


def of(*facts: Fact, days: int = 7) -> Statistics:
    """As of ``T0_MS``."""
    return statistics(facts, now_ms=T0_MS, days=days)


class TestTook:
    """How long something took."""

    @pytest.mark.parametrize(
        ("times_ms", "median_ms", "p90_ms"),
        [
            ([5], 5, 5),
            ([1, 3], 2, 3),
            ([9, 1, 5], 5, 9),
            ([1, 2, 4, 100], 3, 100),
            ([10, 20, 30, 40, 50, 60, 70, 80, 90, 100], 55, 90),
            ([10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110], 60, 100),
        ],
    )
    def test_median_and_ninetieth_percentile(self, times_ms: list[int], median_ms: int, p90_ms: int) -> None:
        """Of an even number halfway between the middle two; nine of ten took no longer than the other."""
        assert Took.of(times_ms) == Took(count=len(times_ms), median_ms=median_ms, p90_ms=p90_ms)

    def test_of_nothing_there_is_neither(self) -> None:
        """And not a zero, which would be a time."""
        assert Took.of([]) == Took(count=0, median_ms=None, p90_ms=None)

    @given(st.lists(st.integers(0, 10**9), min_size=1, max_size=50))
    def test_nine_of_ten_took_no_longer(self, times_ms: list[int]) -> None:
        """And half no longer than the median; one of them took just as long as the nine."""
        took = Took.of(times_ms)
        assert took.median_ms is not None
        assert took.p90_ms in times_ms
        assert 10 * sum(each <= took.p90_ms for each in times_ms) >= 9 * len(times_ms)
        assert 2 * sum(each <= took.median_ms + 0.5 for each in times_ms) >= len(times_ms)
        assert min(times_ms) <= took.median_ms <= took.p90_ms <= max(times_ms)


class TestEndings:
    """How questions ended."""

    def test_what_expired_is_a_share_of_what_ended(self) -> None:
        """Whether it was unanswered or unused."""
        ended = Endings.of([Ending.USED, Ending.USED, Ending.UNANSWERED, Ending.UNUSED, Ending.REJECTED])
        assert ended == Endings(used=2, rejected=1, unanswered=1, unused=1)
        assert (ended.total, ended.expired, ended.share_expired) == (5, 2, 0.4)

    def test_of_nothing_there_is_no_share(self) -> None:
        """And not a zero."""
        assert (Endings().total, Endings().share_expired) == (0, None)


class TestDays:
    """Days are days of UTC."""

    @pytest.mark.parametrize(("days", "begins_ms"), [(1, MIDNIGHT_MS), (7, MIDNIGHT_MS - 6 * DAY_MS)])
    def test_today_is_the_last_of_them(self, days: int, begins_ms: int) -> None:
        """As far as it has come."""
        assert begin_ms(T0_MS, days) == begins_ms
        assert begin_ms(MIDNIGHT_MS, days) == begins_ms
        assert begin_ms(MIDNIGHT_MS + DAY_MS - 1, days) == begins_ms

    def test_a_day_begins_at_midnight(self) -> None:
        """What was decided a millisecond before it was decided the day before."""
        found = of(a_fact((ANN, APPROVE, MIDNIGHT_MS)), a_fact((ANN, REJECT, MIDNIGHT_MS - 1)))
        assert [day.from_ms for day in found.days] == [
            MIDNIGHT_MS - back * DAY_MS for back in range(6, -1, -1)
        ]
        assert [day.decisions for day in found.days] == [
            *[Decisions()] * 5,
            Decisions(rejected=1),
            Decisions(approved=1),
        ]

    def test_what_was_before_the_first_day_or_comes_after_now_is_not_counted(self) -> None:
        """Each part for itself: an old question may be decided within them."""
        first_ms = MIDNIGHT_MS - 6 * DAY_MS
        late = Ended(Ending.USED, T0_MS + 1)
        found = of(
            a_fact((ANN, APPROVE, first_ms - 1), requested_at_ms=first_ms - 2),
            a_fact((ANN, APPROVE, first_ms), requested_at_ms=first_ms - DAY_MS, ended=late),
            a_fact((ANN, APPROVE, T0_MS + 1)),
        )
        assert found.decisions == Decisions(approved=1)
        assert found.took == Took(count=1, median_ms=DAY_MS, p90_ms=DAY_MS)
        assert (found.asked, found.endings) == (1, Endings())


class TestStatistics:
    """All of it together."""

    def test_of_nothing(self) -> None:
        """There are days, and nothing in them."""
        found = of(days=30)
        assert (found.from_ms, found.to_ms) == (MIDNIGHT_MS - 29 * DAY_MS, T0_MS)
        assert [day.decisions for day in found.days] == [Decisions()] * 30
        assert (found.asked, found.waiting, found.took) == (0, 0, Took())
        assert (found.by_capability, found.by_person, found.too_fast) == ((), (), ())
        assert found.spread == (0,) * 7

    def test_each_persons_decision_counts(self) -> None:
        """A question of two people is two decisions, and takes as long as the latter of them."""
        asked_ms = T0_MS - 3_600_000
        found = of(
            a_fact((ANN, APPROVE, asked_ms + 1_000), (BOB, APPROVE, asked_ms + 5_000)),
            a_fact((BOB, EDIT, asked_ms + 60_000), (ANN, REJECT, asked_ms + 90_000)),
            a_fact((ANN, APPROVE, asked_ms + 2_000), decided_at_ms=None),
        )
        assert found.decisions == Decisions(approved=3, rejected=1, changed=1)
        assert found.decisions.total == 5
        assert found.took == Took(count=2, median_ms=47_500, p90_ms=90_000)
        assert [(each.person, each.decisions, each.took.median_ms) for each in found.by_person] == [
            (ANN, Decisions(approved=2, rejected=1), 2_000),
            (BOB, Decisions(approved=1, changed=1), 32_500),
        ]
        assert (found.asked, found.waiting) == (3, 1)

    def test_by_capability(self) -> None:
        """The most decided first; also those that nobody decided and that ended."""
        gone = Ended(Ending.UNANSWERED, T0_MS - 1)
        used = Ended(Ending.USED, T0_MS - 1)
        found = of(
            a_fact(capability="b", ended=gone),
            a_fact((ANN, REJECT, T0_MS - 1), capability="c", ended=Ended(Ending.REJECTED, T0_MS - 1)),
            a_fact((ANN, APPROVE, T0_MS - 1), capability="c", ended=used),
            a_fact((ANN, APPROVE, T0_MS - 1), capability="a"),
            a_fact(capability="waits"),
        )
        assert [(each.capability, each.decisions, each.endings) for each in found.by_capability] == [
            ("c", Decisions(approved=1, rejected=1), Endings(used=1, rejected=1)),
            ("a", Decisions(approved=1), Endings()),
            ("b", Decisions(), Endings(unanswered=1)),
        ]
        assert [each.took.count for each in found.by_capability] == [2, 1, 0]
        assert found.endings.share_expired == pytest.approx(1 / 3)

    @pytest.mark.parametrize(
        ("took_ms", "place"),
        [(0, 0), (10_000, 0), (10_001, 1), (60_000, 1), (3_600_000, 4), (DAY_MS, 5), (DAY_MS + 1, 6)],
    )
    def test_times_are_counted_in_classes(self, took_ms: int, place: int) -> None:
        """The longest time of a class is in it."""
        found = of(a_fact((ANN, APPROVE, T0_MS), requested_at_ms=T0_MS - took_ms))
        assert found.spread == tuple(int(each == place) for each in range(len(SPREAD_MS) + 1))

    def test_people_go_by_their_latest_name(self) -> None:
        """They are told apart by id."""
        renamed = structs.replace(ANN, display_name="Ann Marsh")
        found = of(a_fact((renamed, APPROVE, T0_MS - 1)), a_fact((ANN, APPROVE, T0_MS - 2)))
        assert [each.person for each in found.by_person] == [renamed]

    def test_only_approvals_are_too_fast(self) -> None:
        """Of one person; neither rejections nor changes count, or part a run. The latest run is on top."""
        quick = [a_fact((ANN, APPROVE, T0_MS - 1_000 * back), approval_id=f"a{back}") for back in range(4)]
        between = [a_fact((ANN, verdict, T0_MS - 1_500), approval_id="no") for verdict in (REJECT, EDIT)] * 5
        other = a_fact((BOB, APPROVE, T0_MS - 1_500))
        assert of(*quick, *between, other).too_fast == ()
        fifth = a_fact((ANN, APPROVE, T0_MS - 9_000), approval_id="a9")
        earlier = [a_fact((BOB, APPROVE, T0_MS - DAY_MS), approval_id=f"b{each}") for each in range(5)]
        found = of(*quick, *between, other, fifth, *earlier).too_fast
        assert [(each.person, each.haste.count) for each in found] == [(ANN, 5), (BOB, 5)]
        assert found[0].haste.approval_ids == ("a9", "a3", "a2", "a1", "a0")

    @given(st.data())
    def test_parts_add_up(self, data: st.DataObject) -> None:
        """Whatever the records and their order: of days, capabilities, people and classes."""
        moments = st.integers(T0_MS - 9 * DAY_MS, T0_MS + DAY_MS)
        facts = data.draw(st.lists(_facts(moments), max_size=12))
        found = of(*facts)
        assert statistics(data.draw(st.permutations(facts)), now_ms=T0_MS, days=7) == found
        for lines in (found.days, found.by_capability, found.by_person):
            assert sum(each.decisions.total for each in lines) == found.decisions.total
        assert sum(each.endings.total for each in found.by_capability) == found.endings.total
        assert sum(each.took.count for each in found.by_capability) == found.took.count == sum(found.spread)
        assert sum(each.took.count for each in found.by_person) == found.decisions.total
        first_ms = found.days[0].from_ms
        counted = [said for fact in facts for said in fact.said if first_ms <= said.at_ms <= T0_MS]
        assert found.decisions.total == len(counted)


def _facts(moments: st.SearchStrategy[int]) -> st.SearchStrategy[Fact]:
    said = st.tuples(st.sampled_from([ANN, BOB]), st.sampled_from(Verdict), moments)
    ended = st.none() | st.builds(Ended, st.sampled_from(Ending), moments)
    return st.builds(
        lambda said, ended, capability, asked_ms: a_fact(
            *said, ended=ended, capability=capability, requested_at_ms=asked_ms
        ),
        st.lists(said, max_size=3),
        ended,
        st.sampled_from(["a", "b"]),
        moments,
    )
