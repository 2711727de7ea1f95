"""How statistics are said."""

import pytest

from placet.domain.counts import Endings, Took
from placet.domain.facts import Ending
from placet.domain.model import Person
from placet.domain.pace import Haste
from placet.domain.statistics import DAY_MS, statistics
from placet.domain.statistics_words import (
    ENDINGS,
    called,
    classes,
    date_of,
    day_of,
    ended,
    endings,
    hasty,
    percent,
    time_of,
    took,
)
from tests.factories import T0_MS


@pytest.mark.parametrize(
    ("ms", "words"),
    [(None, "-"), (0, "under 1 s"), (999, "under 1 s"), (1_000, "1 s"), (124_000, "2 min 4 s")],
)
def test_a_time(ms: int | None, words: str) -> None:
    """Less than a second is some time all the same."""
    assert time_of(ms) == words


def test_classes_are_named_by_their_longest_time() -> None:
    """All of them, also where nothing is in them."""
    found = statistics([], now_ms=T0_MS, days=7)
    names = ["up to 10 s", "up to 1 min", "up to 5 min", "up to 15 min", "up to 1 h", "up to 1 day", "longer"]
    assert classes(found) == [(name, 0) for name in names]


def test_every_ending_has_a_name() -> None:
    """In one order."""
    assert set(ENDINGS) == set(Ending)
    assert endings(Endings(used=1, unanswered=2)) == [
        (Ending.USED, "used", 1),
        (Ending.REJECTED, "rejected", 0),
        (Ending.CANCELLED, "cancelled", 0),
        (Ending.UNANSWERED, "not answered", 2),
        (Ending.UNUSED, "never used", 0),
    ]


@pytest.mark.parametrize(
    ("times_ms", "words"),
    [
        ([], "Nothing was decided."),
        ([5_000], "The one that was decided took 5 s."),
        (
            [1_000, 3_000],
            "Half of the 2 that were decided took no longer than 2 s, nine of ten no longer than 3 s.",
        ),
    ],
)
def test_how_long_people_took(times_ms: list[int], words: str) -> None:
    """In a sentence."""
    assert took(Took.of(times_ms)) == words


@pytest.mark.parametrize(
    ("of", "words", "share"),
    [
        (Endings(), "Nothing ended.", "-"),
        (Endings(used=3), "None of the 3 that ended had expired.", "0 %"),
        (
            Endings(used=1, unanswered=2, unused=1),
            "3 of the 4 that ended had expired (75 %): 2 not answered, 1 approved and never used.",
            "75 %",
        ),
        (
            Endings(used=999, unanswered=1),
            "1 of the 1000 that ended had expired (under 1 %): 1 not answered, 0 approved and never used.",
            "under 1 %",
        ),
        (
            Endings(used=1, unused=299),
            "299 of the 300 that ended had expired (over 99 %): 0 not answered, 299 approved and never used.",
            "over 99 %",
        ),
    ],
)
def test_what_expired(of: Endings, words: str, share: str) -> None:
    """Of what ended; a little is not nothing."""
    assert (ended(of), percent(of)) == (words, share)


@pytest.mark.parametrize(
    ("took_ms", "words"),
    [
        (0, "5 in one second"),
        (1_000, "5 in one second"),
        (1_001, "5 in 2 seconds"),
        (40_000, "5 in 40 seconds"),
        (90_000, "5 in 90 seconds"),
        (124_000, "5 in 2 min 4 s"),
    ],
)
def test_how_fast(took_ms: int, words: str) -> None:
    """How many, in which time."""
    run = Haste(from_ms=T0_MS, to_ms=T0_MS + took_ms, approval_ids=("a", "b", "c", "d", "e"))
    assert hasty(run) == words


def test_people_by_name_and_id() -> None:
    """Either of which may hide something."""
    assert called(Person(id="ann")) == "ann"
    assert called(Person(id="a\u202en", display_name="Ann")) == "Ann (a⟨U+202E⟩n)"


def test_days() -> None:
    """Of UTC."""
    midnight_ms = T0_MS // DAY_MS * DAY_MS
    assert (date_of(midnight_ms), day_of(midnight_ms)) == ("15 Jan 2027", "Fri 15 Jan")
    assert (date_of(midnight_ms - 1), day_of(midnight_ms - 1)) == ("14 Jan 2027", "Thu 14 Jan")
