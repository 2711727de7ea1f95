"""The request id is kept if plain, made if not, and known while the request is served."""

import asyncio
import re

import pytest

from placet.observability.context import bound_request_id, request_id, request_id_or_new


@pytest.mark.parametrize("header", ["a", "req-1.2_3", "f" * 64])
def test_a_plain_foreign_id_is_kept(header: str) -> None:
    """Traces through other services stay connected."""
    assert request_id_or_new(header) == header


@pytest.mark.parametrize(
    "header",
    [None, "", "f" * 65, "a b", "a\n", "a\r\nSet-Cookie: x", "\u00e9", "<b>", "a/b", "\u0661", "a\x00"],
)
def test_any_other_id_is_replaced(header: str | None) -> None:
    """Nothing foreign reaches a header or a log line but letters, digits and three marks."""
    assert re.fullmatch("[0-9a-f]{32}", request_id_or_new(header))


def test_new_ids_differ() -> None:
    """Two requests without an id are told apart."""
    assert request_id_or_new(None) != request_id_or_new(None)


def test_outside_a_request_there_is_no_id() -> None:
    """A line of the sweeper carries none."""
    assert request_id() is None


def test_the_id_is_known_while_the_request_is_served() -> None:
    """And gone afterwards."""
    with bound_request_id("r-1") as bound:
        assert bound == "r-1"
        assert request_id() == "r-1"
    assert request_id() is None


def test_a_failure_forgets_the_id_too() -> None:
    """The next request of the same task starts clean."""
    with pytest.raises(RuntimeError), bound_request_id("r-1"):
        raise RuntimeError
    assert request_id() is None


async def test_concurrent_requests_keep_their_own_ids() -> None:
    """Each task sees the id it was started under."""
    both_bound = asyncio.Barrier(2)

    async def serve(header: str) -> str | None:
        with bound_request_id(header):
            await both_bound.wait()
            return request_id()

    assert tuple(await asyncio.gather(serve("a"), serve("b"))) == ("a", "b")
