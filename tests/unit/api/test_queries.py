"""Query strings: what they may say, strictly."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from placet.api.queries import ListQuery, NoQuery, ReadQuery, parse
from placet.domain.error_terms import Issue
from placet.domain.errors import InputInvalid
from placet.domain.limits import Limits
from placet.domain.model import Status

LIMITS = Limits()


def test_nothing_is_the_defaults() -> None:
    """Without a query every filter is off and nobody waits."""
    assert parse(b"", ListQuery, LIMITS) == ListQuery()
    assert parse(b"", ReadQuery, LIMITS) == ReadQuery(wait=0)
    assert parse(b"", NoQuery, LIMITS) == NoQuery()


def test_every_filter_is_read() -> None:
    """Values are percent-decoded, numbers are numbers, names that look like words of JSON are names."""
    raw = b"status=consumed&capability=a%2Eb&actor_id=%C3%A9+x&run=null&limit=7&cursor=c"
    assert parse(raw, ListQuery, LIMITS) == ListQuery(
        status=Status.CONSUMED, capability="a.b", actor_id="é x", run="null", limit=7, cursor="c"
    )
    assert parse(b"run=5", ListQuery, LIMITS) == ListQuery(run="5")


@pytest.mark.parametrize(("raw", "wait"), [(b"wait=0", 0), (b"wait=60", 60), (b"wait=%36", 6)])
def test_whole_seconds_are_read(raw: bytes, wait: int) -> None:
    """Plain digits without a leading zero."""
    assert parse(raw, ReadQuery, LIMITS) == ReadQuery(wait=wait)


@pytest.mark.parametrize(
    ("raw", "shape", "path"), [(b"wait=abc", ReadQuery, "/wait"), (b"limit=007", ListQuery, "/limit")]
)
def test_what_is_no_number_is_told_in_plain_words(raw: bytes, shape: type[Struct], path: str) -> None:
    """Which member it is, and how a number is written."""
    with pytest.raises(InputInvalid) as caught:
        parse(raw, shape, LIMITS)
    assert caught.value.issues == (Issue(path=path, message="It must be a whole number, in digits."),)


def test_the_bounds_are_the_operators() -> None:
    """The longest wait and the largest page are settings."""
    limits = Limits(wait_max_s=5, page_max=60)
    assert parse(b"wait=5", ReadQuery, limits) == ReadQuery(wait=5)
    assert parse(b"limit=60", ListQuery, limits) == ListQuery(limit=60)
    for raw, shape in ((b"wait=6", ReadQuery), (b"limit=61", ListQuery)):
        with pytest.raises(InputInvalid):
            parse(raw, shape, limits)


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(raw: bytes) -> None:
    """Nothing that can stand in a request line is more than a fault of the request."""
    for shape in (NoQuery, ReadQuery, ListQuery):
        with suppress(InputInvalid):
            parse(raw, shape, LIMITS)
