"""What statistics take of a record."""

from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from placet.domain.facts import Ended, Ending, Said, fact_of
from placet.domain.model import Consumption, Person, Status, Verdict
from tests.factories import T0_MS
from tests.sealed import a_seals, asked, voted

USED = Consumption(execution_id="exec-1", client="runtime", at_ms=T0_MS + 9_000)


def approval(folder: Path, *verdicts: Verdict, **changes: Any) -> Any:
    """A record, with a vote a second for each of these."""
    seals = a_seals(folder)
    pending = asked(seals)
    votes = tuple(
        structs.replace(voted(seals, pending, f"p{place}", decision=each), at_ms=T0_MS + place * 1_000)
        for place, each in enumerate(verdicts, start=1)
    )
    return structs.replace(pending, **{"votes": votes, "use_by_ms": None, **changes})


def test_what_it_is_about_is_not_among_them(tmp_path: Path) -> None:
    """But for the capability: when it was asked, and who said what of it when."""
    fact = fact_of(approval(tmp_path, Verdict.APPROVE))
    assert fact.approval_id == "apr_1"
    assert (fact.capability, fact.requested_at_ms) == ("orders.refund", T0_MS)
    assert fact.said == (Said(Person(id="p1"), Verdict.APPROVE, T0_MS + 1_000, "api"),)
    assert (fact.decided_at_ms, fact.took_ms, fact.ended) == (None, None, None)


@pytest.mark.parametrize(
    ("members", "took_ms", "ended"),
    [
        ({"status": Status.PENDING}, None, None),
        ({"status": Status.APPROVED, "use_by_ms": T0_MS + 5_000}, 2_000, None),
        (
            {"status": Status.CONSUMED, "use_by_ms": T0_MS + 5_000, "consumption": USED},
            2_000,
            Ended(Ending.USED, T0_MS + 9_000),
        ),
        ({"status": Status.REJECTED}, 2_000, Ended(Ending.REJECTED, T0_MS + 2_000)),
        ({"status": Status.CANCELLED}, None, Ended(Ending.CANCELLED, T0_MS + 7_000)),
        (
            {"status": Status.CANCELLED, "use_by_ms": T0_MS + 5_000},
            2_000,
            Ended(Ending.CANCELLED, T0_MS + 7_000),
        ),
        ({"status": Status.EXPIRED}, None, Ended(Ending.UNANSWERED, T0_MS + 60_000)),
        ({"status": Status.EXPIRED, "use_by_ms": T0_MS + 5_000}, 2_000, Ended(Ending.UNUSED, T0_MS + 5_000)),
    ],
)
def test_people_decided_when_the_last_of_them_had_their_say(
    tmp_path: Path, members: dict[str, Any], took_ms: int | None, ended: Ended | None
) -> None:
    """What they decided, and how it ended, are two things: a grant may be cancelled, or expire unused."""
    fact = fact_of(approval(tmp_path, Verdict.APPROVE, Verdict.REJECT, **members), T0_MS + 7_000)
    assert (fact.took_ms, fact.ended) == (took_ms, ended)


@pytest.mark.parametrize("status", [Status.CONSUMED, Status.CANCELLED, Status.REJECTED])
def test_an_end_that_nothing_tells_the_time_of_is_none(tmp_path: Path, status: Status) -> None:
    """It can't be counted on a day."""
    assert fact_of(approval(tmp_path, status=status)).ended is None
