"""The small parts of asking."""

import re
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.application.asking import new_id, unix_ms
from placet.domain.limits import ID_PATTERN


@given(st.datetimes(timezones=st.timezones()))
def test_moments_are_milliseconds_exactly(moment: datetime) -> None:
    """Floored to the millisecond, whatever the offset and however long ago."""
    exact = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    assert unix_ms(moment) == exact // 1000


@pytest.mark.parametrize(
    ("moment", "at_ms"),
    [
        (datetime(1970, 1, 1, tzinfo=UTC), 0),
        (datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), -1),
        (datetime(2027, 1, 15, 10, 0, 0, 1_999, tzinfo=timezone(timedelta(hours=2))), 1_800_000_000_001),
        (datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), 253_402_300_799_999),
    ],
)
def test_moments_on_the_edge(moment: datetime, at_ms: int) -> None:
    """The epoch, the moment before it, an offset, the last moment there is."""
    assert unix_ms(moment) == at_ms


def test_fresh_ids_are_ids() -> None:
    """Each is admitted as a chosen one would be, and no two are alike."""
    made = {new_id() for _ in range(500)}
    assert len(made) == 500
    assert all(re.fullmatch(ID_PATTERN, each) for each in made)
