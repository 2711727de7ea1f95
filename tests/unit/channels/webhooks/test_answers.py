"""How long a receiver asks for patience. What each status comes to is seen where something is sent."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.channels.webhooks.answers import failure_of, retry_after_ms
from placet.domain.deliveries import HOPELESS, RETRY_AFTER_MAX_MS, Failure
from tests.factories import T0_MS

T0 = datetime.fromtimestamp(T0_MS / 1_000, UTC)


@pytest.mark.parametrize(
    ("values", "wait_ms"),
    [
        ([], None),
        (["0"], 0),
        (["7"], 7_000),
        ([" 7 "], 7_000),
        (["3600"], 3_600_000),
        (["3601"], RETRY_AFTER_MAX_MS),
        (["9" * 9], RETRY_AFTER_MAX_MS),
        (["9" * 5_000], RETRY_AFTER_MAX_MS),
        (["7", "7"], None),
        (["7, 8"], None),
        (["-7"], None),
        (["7.5"], None),
        (["7s"], None),
        (["\N{ARABIC-INDIC DIGIT SEVEN}"], None),
        ([""], None),
        (["soon"], None),
        ([format_datetime(T0 + timedelta(seconds=90), usegmt=True)], 90_000),
        ([format_datetime(T0 - timedelta(seconds=90), usegmt=True)], 0),
        ([format_datetime(T0 + timedelta(days=90), usegmt=True)], RETRY_AFTER_MAX_MS),
        (["Fri, 15 Jan 2027 08:01:00 GMT"], 60_000),
        (["Friday, 15-Jan-27 08:01:00 GMT"], 60_000),
        (["Fri Jan 15 08:01:00 2027"], 60_000),
        (["Fri, 15 Jan 2027 08:01:00 -0000"], 60_000),
        (["Fri, 15 Jan 2027 09:01:00 +0100"], 60_000),
        (["Fri, 99 Jan 2027 08:01:00 GMT"], None),
        (["Fri, 15 Jan 99999 08:01:00 GMT"], None),
        (["Mon, 01 Jan 0001 00:00:00 +2300"], 0),
    ],
)
def test_how_long(values: list[str], wait_ms: int | None) -> None:
    """Seconds, or a date in any form that RFC 9110 §5.6.7 knows, on our clock; else nothing is asked."""
    assert retry_after_ms(values, T0_MS) == wait_ms


@given(
    st.lists(st.text(), max_size=2)
    | st.lists(st.from_regex(r"\w{3}, \d\d? \w{3} \d{1,6} \d\d:\d\d:\d\d .{0,5}"))
)
def test_any_text_is_a_wait_or_none(values: list[str]) -> None:
    """Nothing is raised, and nobody is waited for too long."""
    wait_ms = retry_after_ms(values, T0_MS)
    assert wait_ms is None or 0 <= wait_ms <= RETRY_AFTER_MAX_MS


@given(st.integers(200, 999))
def test_every_status_has_its_word(status: int) -> None:
    """Only 2xx is there, and what is for now only is tried again."""
    failure = failure_of(status)
    assert (failure is None) == (200 <= status < 300)
    again = status in {401, 403, 404, 408, 425, 429} or 500 <= status < 600
    assert (failure not in HOPELESS and failure is not None) == again
    assert (failure is Failure.UNREACHABLE) == (status == 404)
    assert failure not in {Failure.INTERRUPTED, Failure.UNREADABLE}
