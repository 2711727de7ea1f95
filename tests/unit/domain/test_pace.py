"""Approvals that came too fast to have been read."""

from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.domain.pace import GAP_MS, RUN_MIN, TOGETHER_MS, Approved, Haste, hasty
from tests.factories import T0_MS


def approvals(*gaps_ms: int) -> list[Approved]:
    """One, and another after each of these gaps."""
    return [Approved(at_ms, f"apr_{place}") for place, at_ms in enumerate(accumulate(gaps_ms, initial=T0_MS))]


def test_the_numbers_are_these() -> None:
    """Ten seconds are what a card is made to be judged in."""
    assert (GAP_MS, RUN_MIN) == (10_000, 5)


def test_a_run_is_told_whole() -> None:
    """From its first to its last, with what was approved in it."""
    [run] = hasty(approvals(6_000, 7_000, 6_000, 7_000, 7_000, 7_000))
    assert run == Haste(
        from_ms=T0_MS, to_ms=T0_MS + 40_000, approval_ids=tuple(f"apr_{place}" for place in range(7))
    )
    assert (run.count, run.took_ms) == (7, 40_000)


@pytest.mark.parametrize(
    ("gaps_ms", "found"),
    [
        ([], []),
        ([0, 0, 0], []),
        ([0, 0, 0, 0], [5]),
        ([GAP_MS] * 4, [5]),
        ([GAP_MS, GAP_MS, GAP_MS + 1, GAP_MS], []),
        ([1_000] * 4 + [60_000] + [1_000] * 5, [5, 6]),
        ([60_000] * 9, []),
    ],
)
def test_five_each_within_ten_seconds_of_the_one_before(gaps_ms: list[int], found: list[int]) -> None:
    """At ten seconds still, a millisecond later no more; a pause parts a run."""
    assert [run.count for run in hasty(approvals(*gaps_ms))] == found


def test_what_is_approved_in_one_act_is_one() -> None:
    """On the pages, where one card's buttons can't work so soon after another's; elsewhere it is haste."""
    gaps_ms = [0, TOGETHER_MS - 1, 0, 0, TOGETHER_MS, 5_000, 5_000, 5_000]
    on_the_web = [Approved(at_ms, name, on_the_web=True) for at_ms, name, _ in approvals(*gaps_ms)]
    assert [run.count for run in hasty(on_the_web)] == [5]
    assert [run.count for run in hasty(approvals(*gaps_ms))] == [9]
    assert hasty(on_the_web[:5]) == []


def test_nobody_who_approved_nothing_was_hasty() -> None:
    """There is no run of none."""
    assert hasty([]) == []


@given(st.lists(st.integers(0, 3 * GAP_MS), max_size=30), st.randoms())
def test_runs_are_as_long_as_they_can_be(gaps_ms: list[int], chance: object) -> None:
    """Whatever the order they come in: each is in one run at most, and every quick one of a run is in it."""
    given_ = approvals(*gaps_ms)
    shuffled = list(given_)
    chance.shuffle(shuffled)  # type: ignore[attr-defined] # Hypothesis' own Random
    runs = hasty(shuffled)
    assert runs == hasty(given_)
    at_ms = {each.approval_id: each.at_ms for each in given_}
    inside = [each for run in runs for each in run.approval_ids]
    assert inside == sorted(set(inside), key=lambda each: (at_ms[each], each))
    for run in runs:
        times = [at_ms[each] for each in run.approval_ids]
        assert run.count >= RUN_MIN
        assert (times[0], times[-1]) == (run.from_ms, run.to_ms)
        assert all(after - before <= GAP_MS for before, after in pairwise(times))
    for place in range(len(gaps_ms) - RUN_MIN + 2):
        if all(gap <= GAP_MS for gap in gaps_ms[place : place + RUN_MIN - 1]):
            assert {f"apr_{place + each}" for each in range(RUN_MIN)} <= set(inside)
