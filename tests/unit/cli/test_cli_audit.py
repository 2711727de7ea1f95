"""``placet audit``: how lines are told, and what an export begins with."""

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from placet.application.audit import AuditLine
from placet.cli import audit
from placet.cli.exits import Exit, Stop
from placet.store.stream import Transition
from tests.factories import T0_MS
from tests.unit.cli.conftest import Type

LINE = AuditLine(
    tenant="default",
    approval="apr_1",
    seq=2,
    at="2027-01-15T08:00:00.000Z",
    type="refused",
    by="eve\u202e",
    capability="orders.refund",
    actor="agent-7",
    asked_by="shop",
    channel="api",
    credential="k" * 12,
    code="FORBIDDEN",
    reason="comment-required",
    count=3,
    rule="payments",
)
NEWS = Transition(tenant="default", entry="1-0", approval_id="apr_1", type="refused", at_ms=T0_MS)


class Audited:
    """Tells the same lines again and again, then ends the command."""

    def __init__(self, *lines: AuditLine) -> None:
        self._lines = lines
        self._told = 0

    async def told_by(self, transition: Transition) -> Sequence[AuditLine]:
        """As the real one."""
        assert transition == NEWS
        self._told += 1
        if self._told > 1:
            raise Stop("Enough.")
        return self._lines


@pytest.fixture
def following(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Has ``tail`` hear of two transitions, of which the first is told in these lines."""

    def follow(*lines: AuditLine) -> None:
        async def nothing(_tenant: str) -> None:
            pass

        @asynccontextmanager
        async def opening(*_: Any, heard: Callable[[Transition], None]) -> AsyncIterator[Any]:
            heard(NEWS)
            heard(NEWS)
            stream = SimpleNamespace(start=lambda: None, follow=nothing)
            yield SimpleNamespace(store=SimpleNamespace(stream=stream), audit=Audited(*lines))

        monkeypatch.setattr(audit, "opening", opening)

    return follow


def test_a_tail_tells_each_transition(cli: Type, following: Callable[..., None]) -> None:
    """In one line, with whatever is known of it, and nothing hidden."""
    following(LINE)
    ran = cli("audit", "tail")
    assert ran.status == Exit.FAILED
    assert ran.out == (
        "2027-01-15T08:00:00.000Z  apr_1  refused  by eve⟨U+202E⟩  over api"
        "  FORBIDDEN (comment-required)  3 times  rule payments  credential kkkkkkkkkkkk"
        "  (orders.refund for agent-7)\n"
    )
    assert "Following tenant default; Ctrl-C ends it." in ran.said


def test_a_tail_can_be_json_lines(cli: Type, following: Callable[..., None]) -> None:
    """One document a line; what was spoilt says so."""
    following(AuditLine(tenant="t", approval="a", seq=1, at="now", type="requested", by="x", spoilt=True))
    ran = cli("audit", "tail", "--json")
    assert json.loads(ran.out.splitlines()[0]) == {
        "tenant": "t",
        "approval": "a",
        "seq": 1,
        "at": "now",
        "type": "requested",
        "by": "x",
        "spoilt": True,
    }


def test_a_spoilt_record_is_not_overlooked(cli: Type, following: Callable[..., None]) -> None:
    """Whoever reads the line is told."""
    following(AuditLine(tenant="t", approval="a", seq=1, at="now", type="requested", by="x", spoilt=True))
    assert cli("audit", "tail").out == "now  a  THE RECORD WAS CHANGED IN THE STORE  requested  by x\n"


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Has ``show`` find a trail of these lines."""

    def show(*lines: AuditLine) -> None:
        async def trail(_tenant: str, _approval_id: str) -> Sequence[AuditLine]:
            return lines

        @asynccontextmanager
        async def opening(*_: Any) -> AsyncIterator[Any]:
            yield SimpleNamespace(audit=SimpleNamespace(trail=trail))

        monkeypatch.setattr(audit, "opening", opening)

    return show


def test_a_trail_says_once_what_it_is_about(
    cli: Type, shown: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In its head; the lines keep to the width of a terminal, parted between words."""
    monkeypatch.setenv("COLUMNS", "80")
    shown(LINE, LINE)
    head, about, first, second, *others = cli("audit", "show", "apr_1", terminal=True).out.splitlines()
    assert (head, about) == ("apr_1", "orders.refund for agent-7, asked by shop")
    assert first == "  2027-01-15T08:00:00.000Z  refused  by eve⟨U+202E⟩  over api  FORBIDDEN"
    assert second == "      (comment-required)  3 times  rule payments  credential kkkkkkkkkkkk"
    assert others == [first, second]
    assert len(cli("audit", "show", "apr_1").out.splitlines()) == 4


def test_a_trail_that_can_not_be_read_has_a_head_all_the_same(cli: Type, shown: Callable[..., None]) -> None:
    """Of what is known."""
    shown(AuditLine(tenant="t", approval="a", seq=0, at="now", type="unreadable", by="unknown", spoilt=True))
    told = "a\n  now  THE RECORD WAS CHANGED IN THE STORE  unreadable  by unknown\n"
    assert cli("audit", "show", "a").out == told


@pytest.mark.parametrize(
    ("text", "since_ms"),
    [
        (None, 0),
        ("7d", T0_MS - 7 * 86_400_000),
        ("90s", T0_MS - 90_000),
        ("2027-01-15", T0_MS - 8 * 3_600_000),
        ("2027-01-15T08:00", T0_MS),
        ("2027-01-15T08:00Z", T0_MS),
        ("2027-01-15T10:00:00.250+02:00", T0_MS + 250),
    ],
)
def test_an_export_begins_then(text: str | None, since_ms: int) -> None:
    """So long ago, or at a moment: UTC where nothing else is said."""
    assert audit._since_ms(text, T0_MS) == since_ms


@pytest.mark.parametrize("text", ["", "yesterday", "7", "-1d", "2027-13-01", "d7"])
def test_what_is_no_time_is_a_slip(text: str) -> None:
    """With how to write one."""
    with pytest.raises(Stop, match="write a duration such as 7d") as stopped:
        audit._since_ms(text, T0_MS)
    assert stopped.value.status == Exit.USAGE
