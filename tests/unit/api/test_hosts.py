"""Which names are ours, and that whoever uses others is heard of, though not too often."""

import logging

import pytest

from placet.api.hosts import LOG_EVERY_S, Hosts
from placet.domain.errors import HostNotAllowed
from tests.factories import ManualClock

SHOWN_MAX = 100


@pytest.fixture
def hosts(clock: ManualClock, caplog: pytest.LogCaptureFixture) -> Hosts:
    """A service that goes by one name."""
    caplog.set_level(logging.WARNING)
    return Hosts({"placet.example"}, clock)


def refused(hosts: Hosts, host: str | None) -> None:
    """Name a host that is not ours."""
    with pytest.raises(HostNotAllowed):
        hosts.check(host)


def lines(caplog: pytest.LogCaptureFixture) -> list[tuple[str, int]]:
    """The hosts of all lines, and for how many requests each stands."""
    return [(vars(record)["host"], vars(record)["refused"]) for record in caplog.records]


def test_our_own_is_let_through(hosts: Hosts, caplog: pytest.LogCaptureFixture) -> None:
    """And nobody needs to hear of it."""
    hosts.check("placet.example:8420")
    assert lines(caplog) == []


def test_a_stranger_is_logged_once_in_a_while(
    hosts: Hosts, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    """With how many there were since the last line."""
    for _ in range(5):
        refused(hosts, "evil.example")
    assert lines(caplog) == [("evil.example", 1)]
    clock.move(round(LOG_EVERY_S * 1_000))
    refused(hosts, "other.example")
    assert lines(caplog)[1:] == [("other.example", 5)]


@pytest.mark.parametrize(
    ("host", "shown"), [(None, ""), ("evil\u202e\x1b[2J", "evil⟨U+202E⟩⟨U+001B⟩[2J"), ("", "")]
)
def test_what_is_logged_steers_nothing(
    hosts: Hosts, caplog: pytest.LogCaptureFixture, host: str | None, shown: str
) -> None:
    """Hidden and control characters are spelled out."""
    refused(hosts, host)
    assert lines(caplog) == [(shown, 1)]


def test_a_long_one_is_cut(hosts: Hosts, caplog: pytest.LogCaptureFixture) -> None:
    """A line stays a line."""
    refused(hosts, "a" * 60_000)
    assert len(lines(caplog)[0][0]) <= SHOWN_MAX
