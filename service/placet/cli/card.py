"""The card: an approval as its approver judges it, in ten seconds (design §10).

Who asks comes first, from authentication; then the actor, as that client says; then what would run. The
runtime's own words are quoted beside it, never in place of the input. Everything that came from outside
is made visible, and what could mislead is flagged.
"""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct

from placet.cli.console import Ink, Terminal
from placet.cli.layout import columns_of, duration, wrap
from placet.cli.record import Event, Record, Vote, at_ms
from placet.cli.tree import decode, tree
from placet.domain.text import Kind, findings, visible

LINES_MAX: Final = 60
"""Lines of an input that are shown before it is cut, unless all are asked for."""
_LABEL_COLUMNS: Final = 13

STATUS_INKS: Mapping[str, tuple[Ink, ...]] = MappingProxyType(
    {
        "pending": (Ink.YELLOW, Ink.BOLD),
        "approved": (Ink.GREEN, Ink.BOLD),
        "consumed": (Ink.CYAN,),
        "rejected": (Ink.RED,),
        "expired": (Ink.DIM,),
        "cancelled": (Ink.DIM,),
    }
)
ALARMING: Final = frozenset({"high", "critical", "destructive", "external"})
"""Risks and effects that are shown in red."""

_HAZARDS: Mapping[Kind, str] = MappingProxyType(
    {
        Kind.BIDI: "characters that reorder text",
        Kind.INVISIBLE: "invisible characters",
        Kind.CONTROL: "control characters",
        Kind.CONFUSABLE: "words with look-alike letters",
        Kind.COMBINING_FLOOD: "stacked marks",
    }
)


class Card(Struct, frozen=True, kw_only=True):
    """A rendered card.

    Attributes:
        lines: All of it.
        warnings: Those of its lines that say where something could mislead, for whoever has scrolled on.
        was_cut: Not all of the input is on it.
    """

    lines: tuple[str, ...]
    warnings: tuple[str, ...]
    was_cut: bool


def render(record: Record, terminal: Terminal, *, now_ms: int, full: bool = False) -> Card:
    """Render a card for a terminal.

    Args:
        record: What to show.
        terminal: Where; gives width and colours.
        now_ms: The service's present, for the countdown.
        full: Show an input to its end, however long.
    """
    writer = _Writer(terminal)
    shown, was_cut = _input(record, terminal, full=full)
    warnings = _warnings(record, terminal)
    lines = [
        *_head(record, terminal, now_ms),
        "",
        *writer.field("Asked by", _who(record)),
        *writer.field("Actor", _actor(record)),
        *writer.field("Effect", record.effect, *_alarm(record.effect)),
        *writer.field("Risk", record.risk, *_alarm(record.risk)),
        *writer.listing("On behalf of", record.actor.on_behalf_of),
        *writer.listing("Why", record.reasons),
        *writer.field("Types", ", ".join(record.types)),
        *writer.field("Surface", "" if record.surface == "direct" else record.surface),
        *writer.field("Run", record.run or ""),
        "",
        *shown,
        *_context(record, terminal),
        *_quoted(record, terminal),
        *([""] if warnings else []),
        *warnings,
        "",
        *writer.field("Approvals", f"{record.quorum.approved} of {record.quorum.required} needed"),
        *(line for vote in record.decisions for line in writer.field("", _vote(vote))),
        *writer.field("Used", _use(record)),
        *writer.field("Outcome", _outcome(record)),
        *writer.field("Id", record.id),
        *writer.field("Digest", record.digest or "(not shown to this credential)"),
    ]
    return Card(lines=tuple(lines), warnings=tuple(warnings), was_cut=was_cut)


def trail(events: Sequence[Event], terminal: Terminal) -> list[str]:
    """The lines of an audit trail."""
    lines = [terminal.paint("Trail", Ink.BOLD) + terminal.paint("  (UTC)", Ink.DIM)]
    for event in events:
        by = visible(event.by) + (f" ({visible(event.channel)})" if event.channel else "")
        code = f"  {visible(event.code)}" if event.code else ""
        count = f"  {event.count} times" if event.count > 1 else ""
        text = f"{event.at:%Y-%m-%d %H:%M:%S}  {visible(event.type).ljust(9)}  by {by}{code}{count}"
        lines += wrap(text, terminal.width, first="  ", rest="      ")
    return lines


class _Writer:
    """Writes labelled fields; an empty one is left out."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def field(self, label: str, text: str, *inks: Ink) -> Iterator[str]:
        if text:
            paint = self._terminal.paint
            room = self._terminal.width - _LABEL_COLUMNS
            first, *others = wrap(visible(text), room)
            yield paint(label.ljust(_LABEL_COLUMNS), Ink.DIM) + paint(first, *inks)
            for line in others:
                yield " " * _LABEL_COLUMNS + paint(line, *inks)

    def listing(self, label: str, texts: Sequence[str]) -> Iterator[str]:
        for place, text in enumerate(texts):
            yield from self.field("" if place else label, text)


def _head(record: Record, terminal: Terminal, now_ms: int) -> list[str]:
    status, capability, left = (
        visible(record.status.upper()),
        visible(record.capability),
        when(record, now_ms),
    )
    shown = terminal.paint(status, *STATUS_INKS.get(record.status, ()))
    countdown = terminal.paint(left, Ink.YELLOW if record.status == "pending" else Ink.DIM)
    blank = terminal.width - columns_of(status + capability + left) - 2
    if blank < 2:  # noqa: PLR2004 - the gap of a table
        return [f"{shown}  {countdown}", *wrap(capability, terminal.width)]
    return [f"{shown}  {terminal.paint(capability, Ink.BOLD)}{' ' * blank}{countdown}"]


def when(record: Record, now_ms: int) -> str:
    """The countdown to what happens next by itself, or nothing."""
    if record.status == "pending":
        return f"expires in {duration(at_ms(record.expires_at) - now_ms)}"
    if record.status == "approved" and record.use_by is not None:
        return f"usable for {duration(at_ms(record.use_by) - now_ms)}"
    return ""


def _who(record: Record) -> str:
    client = f"client {record.asked_by}"
    return client if record.audience in {"", record.asked_by} else f"{client}, to be run by {record.audience}"


def _actor(record: Record) -> str:
    actor = record.actor
    name = f" “{actor.display_name}”" if actor.display_name else ""
    return f"{actor.id}{name} ({actor.kind}, as the client says)"


def _alarm(word: str) -> tuple[Ink, ...]:
    return (Ink.RED, Ink.BOLD) if word in ALARMING else ()


def _input(record: Record, terminal: Terminal, *, full: bool) -> tuple[list[str], bool]:
    head = terminal.paint("Input", Ink.BOLD)
    if not record.has_input:
        why = "The service does not show it to this credential, or no longer has it."
        if record.status == "pending" and record.digest is not None:
            why = "Nobody here has seen it: the client sent only its hash."
        return [f"{head}  {terminal.paint(why, Ink.YELLOW)}"], False
    redacted = record.presentation.redact if record.input_redacted else ()
    lines = tree(decode(record.input), terminal, redacted=redacted, indent="  ")
    if redacted:
        head += "  " + terminal.paint("parts are hidden, and bound all the same", Ink.YELLOW)
    if full or len(lines) <= LINES_MAX:
        return [head, *lines], False
    more, size = len(lines) - LINES_MAX, len(bytes(record.input))
    mark = f"  … cut here: {more:,} more lines ({size:,} bytes in all); --full shows them"
    return [head, *lines[:LINES_MAX], terminal.paint(mark, Ink.YELLOW, Ink.BOLD)], True


def _context(record: Record, terminal: Terminal) -> list[str]:
    context = decode(record.context)
    if not context:
        return []
    return ["", terminal.paint("Context", Ink.BOLD), *tree(context, terminal, indent="  ")]


def _quoted(record: Record, terminal: Terminal) -> list[str]:
    words = record.presentation
    texts = [text for text in (words.title, words.summary) if text]
    if not texts:
        return []
    bar = terminal.paint("│ ", Ink.DIM)
    room = terminal.width - 4
    lines = [
        f"  {bar}{line}"
        for text in texts
        for part in visible(text, multiline=True).expandtabs(4).split("\n")
        for line in wrap(part, room)
    ]
    return ["", terminal.paint("The runtime's own words", Ink.BOLD), *lines]


def _warnings(record: Record, terminal: Terminal) -> list[str]:
    """A line for each place in which something could mislead."""
    words = record.presentation
    places = {
        "the capability": record.capability,
        "the actor": _actor(record) + "".join(record.actor.on_behalf_of),
        "the reasons": "\n".join((*record.reasons, *record.types)),
        "the input": _text_of(decode(record.input)),
        "the context": _text_of(decode(record.context)),
        "the runtime's words": f"{words.title or ''}\n{words.summary or ''}",
    }
    lines = []
    for place, text in places.items():
        found = [f"{_HAZARDS[finding.kind]} ({finding.count})" for finding in findings(text)]
        if found:
            first, *others = wrap(f"Look twice at {place}: {', '.join(found)}.", terminal.width - 2)
            lines += [f"{terminal.mark(Ink.YELLOW)} {first}", *(f"  {line}" for line in others)]
    return lines


_DONE: Mapping[str, str] = MappingProxyType(
    {"approve": "approved", "reject": "rejected", "edit": "approved with changes"}
)


def _vote(vote: Vote) -> str:
    name = vote.approver.display_name
    who = f"{name} ({vote.approver.id})" if name else vote.approver.id
    when_ = f" on {vote.at:%Y-%m-%d %H:%M:%S} UTC" if vote.at else ""
    comment = f": “{vote.comment}”" if vote.comment else ""
    return f"{_DONE.get(vote.decision, vote.decision)} by {who} via {vote.channel}{when_}{comment}"


def _use(record: Record) -> str:
    use = record.consumption
    return "" if use is None else f"by {use.client}, execution {use.execution_id}"


def _outcome(record: Record) -> str:
    outcome = record.outcome
    if outcome is None:
        return "not reported yet" if record.consumption else ""
    return f"{outcome.status}: {outcome.summary}" if outcome.summary else outcome.status


def _text_of(value: Any) -> str:  # noqa: ANN401 - any JSON
    """All the texts in a value, names included, a line each."""
    if isinstance(value, dict):
        return "\n".join(f"{name}\n{_text_of(member)}" for name, member in value.items())
    if isinstance(value, list):
        return "\n".join(map(_text_of, value))
    return value if isinstance(value, str) else ""
