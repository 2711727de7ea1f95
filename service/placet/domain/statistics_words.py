"""How statistics are said, to whoever reads them and in whatever medium."""

from datetime import UTC, datetime
from typing import Final

from placet.domain.counts import Endings, Took
from placet.domain.durations import read_out
from placet.domain.facts import Ending
from placet.domain.model import Person
from placet.domain.pace import Haste
from placet.domain.statistics import SPREAD_MS, Statistics
from placet.domain.text import visible

NONE: Final = "-"
"""What stands where there is nothing to tell."""
ENDINGS: Final = {
    Ending.USED: "used",
    Ending.REJECTED: "rejected",
    Ending.CANCELLED: "cancelled",
    Ending.UNANSWERED: "not answered",
    Ending.UNUSED: "never used",
}
"""How questions ended; the last two expired."""
_IN_SECONDS_MAX: Final = 90
_FEW: Final = 0.01


def classes(found: Statistics) -> list[tuple[str, int]]:
    """The classes that times to decide are counted in, each with how many there are in it."""
    names = [*(f"up to {read_out(each)}" for each in SPREAD_MS), "longer"]
    return list(zip(names, found.spread, strict=True))


def endings(ended: Endings) -> list[tuple[Ending, str, int]]:
    """How questions ended, and how many."""
    return [(each, words, getattr(ended, each.value)) for each, words in ENDINGS.items()]


def time_of(ms: int | None) -> str:
    """How long something took."""
    if ms is None:
        return NONE
    return "under 1 s" if ms < 1_000 else read_out(ms)  # noqa: PLR2004 - a second


def took(of: Took) -> str:
    """A sentence on how long people took to decide."""
    if not of.count:
        return "Nothing was decided."
    if of.count == 1:
        return f"The one that was decided took {time_of(of.median_ms)}."
    half = f"Half of the {of.count} that were decided took no longer than {time_of(of.median_ms)}"
    return f"{half}, nine of ten no longer than {time_of(of.p90_ms)}."


def ended(of: Endings) -> str:
    """A sentence on what expired."""
    if not of.total:
        return "Nothing ended."
    share = f"{of.expired} of the {of.total} that ended had expired ({percent(of)})"
    if not of.expired:
        return f"None of the {of.total} that ended had expired."
    return f"{share}: {of.unanswered} not answered, {of.unused} approved and never used."


def percent(of: Endings) -> str:
    """The share that expired; neither a few of many nor all but a few are rounded away."""
    share = of.share_expired
    if share is None:
        return NONE
    if 0 < share < _FEW:
        return "under 1 %"
    return "over 99 %" if 1 - _FEW < share < 1 else f"{100 * share:.0f} %"


def called(person: Person) -> str:
    """A person by name and id."""
    name = visible(person.id)
    return name if person.display_name is None else f"{visible(person.display_name)} ({name})"


def hasty(haste: Haste) -> str:
    """How many in which time: ``7 in 40 seconds``."""
    seconds = max(-(-haste.took_ms // 1000), 1)
    if seconds > _IN_SECONDS_MAX:
        return f"{haste.count} in {read_out(haste.took_ms)}"
    return f"{haste.count} in {'one second' if seconds == 1 else f'{seconds} seconds'}"


def date_of(at_ms: int) -> str:
    """A day of UTC: ``15 Jan 2027``."""
    at = datetime.fromtimestamp(at_ms // 1000, UTC)
    return f"{at.day} {at:%b %Y}"


def day_of(at_ms: int) -> str:
    """The same within a year: ``Fri 15 Jan``."""
    at = datetime.fromtimestamp(at_ms // 1000, UTC)
    return f"{at:%a} {at.day} {at:%b}"
