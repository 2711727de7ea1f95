"""``placet approvals``: look at approvals and withdraw them, over HTTP, as any other caller.

Deciding them is :mod:`placet.cli.deciding`'s.
"""

import argparse
from collections.abc import Iterator
from typing import Final

import msgspec

from placet.cli import card
from placet.cli.console import Ink
from placet.cli.context import Context
from placet.cli.deciding import rendered
from placet.cli.exits import Exit, Stop
from placet.cli.layout import GAP, Column, blocks, columns_of
from placet.cli.record import Event, Page, Record, Trail, at_ms, read
from placet.cli.remote import Remote, approval_path
from placet.cli.sheet import Sheet
from placet.domain.durations import duration
from placet.domain.presentation import Budget, heading
from placet.domain.text import visible

_PAGE_MAX: Final = 200
_COLUMNS: Final = (
    Column(title="ID"),
    Column(title="STATUS"),
    Column(title="AGE"),
    Column(title="LEFT"),
    Column(title="RISK"),
    Column(title="EFFECT"),
    Column(title="CAPABILITY", least=12),
    Column(title="ACTOR", least=10),
    Column(title="CLIENT", least=8),
    Column(title="INPUT", least=16),
)
_ROW: Final = Budget(lines=4, gist_chars=60, cost=columns_of)
_ALARMING_COLUMNS: Final = frozenset({"RISK", "EFFECT"})


def list_(args: argparse.Namespace, context: Context) -> int:
    """List approvals, page after page until there are enough."""
    console = context.console
    items: list[msgspec.Raw] = []
    cursor: str | None = args.cursor
    now_ms = 0
    with Remote.of(context, args.PLACET_URL) as remote:
        while True:
            with console.slowly(f"Waiting for {remote.url} …"):
                reply = remote.get(
                    "/v1/approvals",
                    status=args.status,
                    capability=args.capability,
                    actor_id=args.actor,
                    run=args.run,
                    limit=min(args.limit - len(items), _PAGE_MAX),
                    cursor=cursor,
                )
            page = read(reply.body, Page)
            now_ms = reply.now_ms or now_ms
            items += page.items
            cursor = page.next_cursor
            if cursor is None or len(items) >= args.limit:
                break
    document = {"items": [msgspec.json.decode(item) for item in items], "next_cursor": cursor}
    records = [read(bytes(item), Record) for item in items]
    console.result(document, *(_table(records, context, now_ms) if records else ["No approvals."]))
    if cursor is not None and not console.json:
        console.note(f"There are more: --cursor {visible(cursor)}")
    return Exit.OK


def _table(records: list[Record], context: Context, now_ms: int) -> list[str]:
    out = context.console.out
    rows = [
        (
            each.id,
            each.status,
            duration(now_ms - at_ms(each.requested_at)),
            card.when(each, now_ms).removeprefix("expires in ").removeprefix("usable for "),
            each.risk,
            each.effect,
            each.capability,
            each.actor.id,
            each.asked_by,
        )
        for each in records
    ]
    begun = [", ".join(fact.text for fact in heading(each, _ROW).gist) for each in records]
    columns = _COLUMNS if any(begun) else _COLUMNS[:-1]

    def paint(row: int, column: int, cell: str) -> str:
        title = _COLUMNS[column].title
        if row >= 0 and title == "STATUS":
            return out.paint(cell, *card.STATUS_INKS.get(records[row].status, ()))
        if title in _ALARMING_COLUMNS and cell.strip() in card.ALARMING:
            return out.paint(cell, Ink.RED)
        return cell

    shown = [[*map(visible, row), text][: len(columns)] for row, text in zip(rows, begun, strict=True)]
    heads, *below = blocks(columns, shown, out.room, paint=paint)
    return [
        *(out.paint(GAP.join(cells).rstrip(), Ink.DIM) for cells in heads),
        *(GAP.join(cells).rstrip() for block in below for cells in block),
    ]


def show(args: argparse.Namespace, context: Context) -> int:
    """Show the card of an approval, and with ``--events`` its trail."""
    console = context.console
    with Remote.of(context, args.PLACET_URL) as remote, console.slowly(f"Waiting for {remote.url} …"):
        reply = remote.get(approval_path(args.id))
        record = read(reply.body, Record)
        wanted = args.events or record.status == "cancelled"  # by whom, only the trail says
        events = remote.get(f"{approval_path(args.id)}/events") if wanted else None
    # Command lines, logs and screens are no place for a token (design §4).
    document = {name: value for name, value in reply.json().items() if name != "token"}
    full = args.full or not console.people.is_terminal  # what goes to a file is not cut
    lines = rendered(record, context, reply, full=full).lines
    trail = read(events.body, Trail).items if events is not None else ()
    ends = [event for event in trail if event.type == "cancelled"]
    lines = (*lines, *(line for end in ends for line in _cancelled(end, context)))
    if args.events and events is not None:
        document["events"] = events.json()["items"]
        lines = (*lines, "", *card.trail(trail, console.out))
    console.result(document, *lines)
    return Exit.OK


def _cancelled(end: Event, context: Context) -> Iterator[str]:
    return Sheet(context.console.people).field(
        "Cancelled", f"by {visible(end.by)} on {end.at:%Y-%m-%d %H:%M:%S} UTC"
    )


def outcome(args: argparse.Namespace, context: Context) -> int:
    """Record what became of an execution that nobody has told of."""
    console = context.console
    path = approval_path(args.id)
    with Remote.of(context, args.PLACET_URL) as remote, console.slowly(f"Waiting for {remote.url} …"):
        spent = read(remote.get(path).body, Record).consumption
        if spent is None:
            raise Stop(f"{visible(args.id)} was not used, so there is no outcome to record.")
        said = {"execution_id": spent.execution_id, "status": args.outcome}
        if args.summary is not None:
            said["summary"] = args.summary
        reply = remote.post(f"{path}/outcome", said)
    became = f"The outcome of {visible(args.id)} is recorded: {args.outcome}"
    mark = console.out.mark(Ink.GREEN)
    console.result(reply.json(), f"{mark} {became}.", unless_shown=f"{became}, all the same.")
    return Exit.OK


def cancel(args: argparse.Namespace, context: Context) -> int:
    """Withdraw a question, or a grant not yet used."""
    console = context.console
    with Remote.of(context, args.PLACET_URL) as remote, console.slowly(f"Waiting for {remote.url} …"):
        reply = remote.post(f"{approval_path(args.id)}/cancel", {})
    record = read(reply.body, Record)
    became = f"{visible(record.id)} is {visible(record.status)}"
    mark = console.out.mark(Ink.GREEN)
    console.result(reply.json(), f"{mark} {became}.", unless_shown=f"{became} all the same.")
    return Exit.OK
