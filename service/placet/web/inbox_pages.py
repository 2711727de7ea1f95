"""What awaits somebody: narrowed, together by run, in pages; and what came of deciding several."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Final
from urllib.parse import urlencode

from msgspec import Struct, structs

from placet.application.inbox import Awaiting
from placet.application.sessions import Session
from placet.application.views import Sight
from placet.domain.model import Approval, Verdict
from placet.domain.pace import Haste
from placet.domain.presentation import Heading
from placet.domain.presentation.phrases import VERDICTS
from placet.domain.statistics_words import hasty
from placet.domain.text import visible
from placet.store.codec import encode
from placet.web.pages import state_of, who
from placet.web.render import left, render
from placet.web.rows import row

ROWS_MAX = 50
"""Questions on one page of an inbox."""

NARROWED: Final[Mapping[str, str]] = {
    "capability": "Capability",
    "risk": "Risk",
    "asked_by": "Asked by",
    "run": "Run",
}
"""What an inbox can be narrowed by, and how that is called."""


class Wanted(Struct, frozen=True, kw_only=True):
    """What is wanted of an inbox; an empty text wants all."""

    capability: str = ""
    risk: str = ""
    asked_by: str = ""
    run: str = ""
    page: int = 1

    def takes(self, approval: Approval) -> bool:
        """Whether it is like that."""
        return all(getattr(self, name) in {"", _said(approval, name)} for name in NARROWED)

    def at(self, page: int) -> str:
        """The address of another page of the same."""
        asked = {name: value for name, value in structs.asdict(self).items() if value and name != "page"}
        query = urlencode({**asked, **({"page": page} if page > 1 else {})})
        return f"/inbox?{query}" if query else "/inbox"


class Row(Struct, frozen=True):
    """A line of the inbox."""

    card: Heading
    digest: str


class Group(Struct, frozen=True):
    """Lines that belong together: of one run, where there are several of it."""

    run: str | None
    rows: Sequence[Row]


class Choice(Struct, frozen=True):
    """Something to narrow by."""

    name: str
    label: str
    value: str
    options: Sequence[tuple[str, str]]


class Outcome(Struct, frozen=True, kw_only=True):
    """What came of deciding one of several."""

    id: str
    approval: Approval | None = None
    problem: str = ""


class Told(Struct, frozen=True, kw_only=True):
    """The same, as it is shown."""

    id: str
    card: Heading | None
    problem: str


def inbox(
    session: Session, found: Awaiting, wanted: Wanted, *, comment_max: int, haste: Haste | None = None
) -> bytes:
    """What awaits somebody; ``haste``: what they have just approved too fast to have read it."""
    awaiting = found.approvals
    taken = [each for run in _together(filter(wanted.takes, awaiting)) for each in run]
    last = max(1, -(-len(taken) // ROWS_MAX))
    number = min(wanted.page, last)
    shown = list(islice(taken, (number - 1) * ROWS_MAX, number * ROWS_MAX))
    now_ms = found.now_ms
    return render(
        "inbox.html",
        session=who(session),
        here="inbox",
        count=len(awaiting),
        is_all=found.is_all,
        haste=None if haste is None else hasty(haste),
        state=state_of(*(each.ask.id for each in shown)),
        taken=len(taken),
        groups=[_group(session, run) for run in _together(shown)],
        choices=_choices(awaiting, wanted),
        narrowed=any(getattr(wanted, name) for name in NARROWED),
        number=number,
        last=last,
        at=wanted.at,
        comment_max=comment_max,
        now_ms=now_ms,
        left=lambda dies: left(dies, now_ms),
    )


class News(Struct, frozen=True, kw_only=True):
    """What the script of an inbox asks: how much awaits somebody, and what of it came since and is wanted."""

    awaiting: int
    new: int


def news(found: Awaiting, wanted: Wanted, since_ms: int) -> bytes:
    """What came since an inbox was shown."""
    came = (each for each in filter(wanted.takes, found.approvals) if each.requested_at_ms > since_ms)
    return encode(News(awaiting=len(found.approvals), new=sum(1 for _ in came)))


def several(session: Session, verdict: Verdict, outcomes: Sequence[Outcome]) -> bytes:
    """What came of deciding several."""
    told = [
        Told(
            id=each.id,
            card=None if each.approval is None else row(session, each.approval, Sight.CARD),
            problem=each.problem,
        )
        for each in outcomes
    ]
    refused = sum(bool(each.problem) for each in told)
    return render(
        "several.html",
        session=who(session),
        here="inbox",
        words=VERDICTS[verdict],
        done=len(told) - refused,
        refused=refused,
        outcomes=told,
    )


def _together(approvals: Iterable[Approval]) -> list[list[Approval]]:
    """Those of one run follow the first of it; the others stay where they are."""
    runs: dict[tuple[str, str], list[Approval]] = {}
    for each in approvals:
        name = (each.ask.asked_by, each.ask.run) if each.ask.run is not None else ("", each.ask.id)
        runs.setdefault(name, []).append(each)
    return list(runs.values())


def _group(session: Session, approvals: Sequence[Approval]) -> Group:
    rows = [Row(row(session, each, Sight.CARD), each.digest) for each in approvals]
    return Group(rows[0].card.run if len(rows) > 1 else None, rows)


def _choices(awaiting: Sequence[Approval], wanted: Wanted) -> list[Choice]:
    """What there is to narrow by: all that differs, and what is narrowed by already."""
    choices = []
    for name, label in NARROWED.items():
        value = getattr(wanted, name)
        found = dict.fromkeys(_said(each, name) for each in awaiting if _said(each, name))
        if len(found) > 1 or value:
            options = [(each, visible(each)) for each in sorted({*found, *([value] if value else [])})]
            choices.append(Choice(name, label, value, options))
    return choices


def _said(approval: Approval, name: str) -> str:
    return str(getattr(approval.ask, name) or "")
