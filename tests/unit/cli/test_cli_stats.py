"""``placet stats``: the numbers of a tenant, for people and as JSON."""

import io
import re
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.application.statistics import Counted
from placet.cli import stats, tally
from placet.cli.console import Terminal
from placet.domain.facts import Ended, Ending, Fact, Said
from placet.domain.model import Person, Verdict
from placet.domain.statistics import DAY_MS, statistics
from tests.factories import T0_MS
from tests.unit.cli.conftest import Type

ANN, BOB = Person(id="ann", display_name="Ann"), Person(id="b\u202eob")

Finding = Callable[..., None]


def a_fact(number: int, person: Person, verdict: Verdict, back_ms: int, **members: Any) -> Fact:
    """Decided so long ago, two seconds after it was asked."""
    at_ms = T0_MS - back_ms
    return Fact(
        **{
            "approval_id": f"apr_{number}",
            "capability": "orders.refund",
            "requested_at_ms": at_ms - 2_000,
            "said": (Said(person, verdict, at_ms),),
            "decided_at_ms": at_ms,
            **members,
        }
    )


FACTS = (
    *[a_fact(number, ANN, Verdict.APPROVE, 10_000 - number * 1_000) for number in range(5)],
    a_fact(6, BOB, Verdict.REJECT, DAY_MS, ended=Ended(Ending.REJECTED, T0_MS - DAY_MS)),
    a_fact(7, BOB, Verdict.EDIT, DAY_MS, capability="mail.send", ended=Ended(Ending.UNUSED, T0_MS - 1)),
)


@pytest.fixture
def finding(monkeypatch: pytest.MonkeyPatch) -> Finding:
    """Has the command find a tenant of these records."""

    def find(facts: Iterable[Fact] = FACTS, *, spoilt: int = 0) -> None:
        async def of_tenant(tenant: str, days: int) -> Counted:
            assert tenant == "default"
            found = statistics(facts, now_ms=T0_MS, days=days)
            return Counted(statistics=found, looked_at=9, is_all=True, spoilt=spoilt)

        @asynccontextmanager
        async def opening(*_: Any) -> AsyncIterator[Any]:
            yield SimpleNamespace(statistics=SimpleNamespace(of_tenant=of_tenant))

        monkeypatch.setattr(stats, "opening", opening)

    return find


def test_it_is_told_to_people(cli: Type, finding: Finding) -> None:
    """In sentences, and in tables with bars that differ without colours."""
    finding()
    ran = cli("stats")
    assert (ran.status, ran.err) == (0, "")
    full = "█" * 40
    assert ran.out.splitlines() == [
        "Tenant default: 9 Jan 2027 to 15 Jan 2027, days of UTC.",
        "! Ann (ann) approved 5 in 4 seconds, from 2027-01-15T07:59:50.000Z on: too fast to have read them.",
        "7 asked, 0 waiting now; 7 decisions: 5 approved, 1 rejected, 1 approved with changes.",
        "Half of the 7 that were decided took no longer than 2 s, nine of ten no longer than 2 s.",
        "1 of the 2 that ended had expired (50 %): 0 not answered, 1 approved and never used.",
        "",
        "DAY         APPROVED █  REJECTED ▒  CHANGED ░",
        "Sat 9 Jan            0           0          0",
        "Sun 10 Jan           0           0          0",
        "Mon 11 Jan           0           0          0",
        "Tue 12 Jan           0           0          0",
        "Wed 13 Jan           0           0          0",
        "Thu 14 Jan           0           1          1  ▒▒▒▒▒▒▒▒░░░░░░░░",
        f"Fri 15 Jan           5           0          0  {full}",
        "",
        "TOOK          QUESTIONS",
        f"up to 10 s            7  {full}",
        *[
            f"{name:12}          0"
            for name in ("up to 1 min", "up to 5 min", "up to 15 min", "up to 1 h", "up to 1 day", "longer")
        ],
        "",
        "ENDED         QUESTIONS",
        "used                  0",
        f"rejected              1  {full}",
        "cancelled             0",
        "not answered          0",
        f"never used            1  {full}",
        "",
        "CAPABILITY     APPROVED  REJECTED  CHANGED  MEDIAN  EXPIRED",
        "orders.refund         5         1        0     2 s      0 %",
        "mail.send             0         0        1     2 s    100 %",
        "",
        "PERSON       APPROVED  REJECTED  CHANGED  MEDIAN",
        "Ann (ann)           5         0        0     2 s",
        "b⟨U+202E⟩ob         0         1        1     2 s",
    ]


def test_it_is_told_to_programs(cli: Type, finding: Finding) -> None:
    """All of it, with units in names, moments in UTC, and shares from 0 to 1."""
    finding()
    told = cli("stats", "--json", "--days", "30").json()
    assert (told["tenant"], told["days"], told["records"], told["spoilt"]) == ("default", 30, 9, 0)
    assert (told["from"], told["to"]) == ("2026-12-17T00:00:00.000Z", "2027-01-15T08:00:00.000Z")
    assert (told["asked"], told["waiting"]) == (7, 0)
    assert told["decisions"] == {"approved": 5, "rejected": 1, "changed": 1}
    spread = told["time_to_decide"].pop("spread")
    assert told["time_to_decide"] == {"count": 7, "median_ms": 2_000, "p90_ms": 2_000}
    assert [each["up_to_ms"] for each in spread] == [
        10_000,
        60_000,
        300_000,
        900_000,
        3_600_000,
        DAY_MS,
        None,
    ]
    assert [each["count"] for each in spread] == [7, 0, 0, 0, 0, 0, 0]
    assert told["endings"] == {
        "used": 0,
        "rejected": 1,
        "cancelled": 0,
        "unanswered": 0,
        "unused": 1,
        "share_expired": 0.5,
    }
    assert len(told["per_day"]) == 30
    assert told["per_day"][-1] == {"day": "2027-01-15", "approved": 5, "rejected": 0, "changed": 0}
    assert [each["capability"] for each in told["by_capability"]] == ["orders.refund", "mail.send"]
    assert told["by_capability"][1]["endings"]["share_expired"] == 1
    assert told["by_person"][0] == {
        "person": {"id": "ann", "display_name": "Ann"},
        "decisions": {"approved": 5, "rejected": 0, "changed": 0},
        "time_to_decide": {"count": 5, "median_ms": 2_000, "p90_ms": 2_000},
    }
    assert told["too_fast"] == [
        {
            "person": {"id": "ann", "display_name": "Ann"},
            "count": 5,
            "from": "2027-01-15T07:59:50.000Z",
            "to": "2027-01-15T07:59:54.000Z",
            "approvals": ["apr_0", "apr_1", "apr_2", "apr_3", "apr_4"],
        }
    ]


def test_of_nothing_there_is_little_to_say(cli: Type, finding: Finding) -> None:
    """And nothing to divide by."""
    finding([])
    ran = cli("stats")
    assert ran.status == 0
    assert "0 asked, 0 waiting now; 0 decisions" in ran.out
    assert "Nothing was decided.\nNothing ended.\n" in ran.out
    assert "CAPABILITY" not in ran.out
    told = cli("stats", "--json").json()
    assert told["endings"]["share_expired"] is None
    assert told["time_to_decide"]["median_ms"] is None
    assert (told["by_capability"], told["by_person"], told["too_fast"]) == ([], [], [])


def test_it_fits_a_narrow_terminal(cli: Type, finding: Finding, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names are wrapped, bars are shorter or left out; no line goes on at the margin."""
    name = "payments.transfer.international.to-a-bank"
    finding([*FACTS, a_fact(8, ANN, Verdict.APPROVE, 2 * DAY_MS, capability=name)])
    told = {}
    for columns in (100, 60, 48, 30):
        monkeypatch.setenv("COLUMNS", str(columns))
        told[columns] = cli("stats", terminal=True).out
        assert max(map(len, told[columns].splitlines())) <= columns, told[columns]
    bars = {columns: len(re.findall("█{2,}", out)) for columns, out in told.items()}
    assert bars == {100: 5, 60: 5, 48: 3, 30: 0}
    assert "payments.transfer.international.to-a-bank" in re.sub(r"\s+", "", told[30])


def test_only_so_many_lines_are_shown(cli: Type, finding: Finding, monkeypatch: pytest.MonkeyPatch) -> None:
    """And how to see the others."""
    monkeypatch.setattr(tally, "LINES_MAX", 1)
    earlier = [a_fact(number, BOB, Verdict.APPROVE, DAY_MS + number) for number in range(10, 15)]
    finding([*FACTS, *earlier])
    told = cli("stats").out
    assert "And 1 more such runs: --json has them all." in told
    assert "And 1 more capabilities: --json has them all." in told
    assert "And 1 more people: --json has them all." in told
    assert "mail.send" not in told


@pytest.mark.parametrize(
    ("spoilt", "words"),
    [(1, "1 record was changed in the store, and not counted"), (2, "2 records were changed in the store")],
)
def test_what_was_spoilt_is_said(cli: Type, finding: Finding, spoilt: int, words: str) -> None:
    """Beside the numbers, which are without it."""
    finding(spoilt=spoilt)
    assert words in cli("stats").said
    ran = cli("stats", "--json")
    assert (ran.json()["spoilt"], words in ran.said) == (spoilt, True)


@pytest.mark.parametrize("days", ["8", "x", "0"])
def test_there_are_no_other_days(cli: Type, days: str) -> None:
    """As on the page."""
    ran = cli("stats", "--days", days)
    assert ran.status == 2


@given(st.lists(st.tuples(*[st.integers(0, 10**6)] * 3), min_size=1, max_size=8), st.integers(0, 60))
def test_a_bar_is_as_long_as_it_should_be(rows: list[tuple[int, int, int]], room: int) -> None:
    """Never longer than there is room, the greatest as long; each kind that there is can be seen."""
    out = Terminal(io.StringIO(), {})
    most = max(map(sum, rows))
    bars = [tally._bar(counts, most, room, out) for counts in rows]
    assert max(map(len, bars)) == (room if most and room >= 8 else 0)
    if room >= 8:
        for counts, bar in zip(rows, bars, strict=True):
            assert [fill in bar for fill in "█▒░"] == [count > 0 for count in counts]
