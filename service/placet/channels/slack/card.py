"""The card as a message of Slack: what :mod:`placet.domain.presentation` says, in blocks.

Nothing is decided here about what an approver sees. Whatever is not all there (cut, redacted, withheld) can't
be decided from the message, only on the page (design §10). A label is in bold, which nothing from outside can
be, so that no text can pass for a line of ours.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

from msgspec import Struct

from placet.channels.slack.sheet import (
    BUDGET,
    BUTTON_URL_CHARS_MAX,
    BUTTON_VALUE_CHARS_MAX,
    Block,
    Row,
    Sheet,
)
from placet.channels.slack.words import TextObject, cost, moment, notification, plain
from placet.domain.presentation import (
    Card,
    DeadlineKind,
    Decided,
    Edits,
    InputState,
    Listing,
    in_quotes,
    outline,
)

APPROVE: Final = "placet.approve"
"""The buttons' ``action_id``."""
REJECT: Final = "placet.reject"
OPEN: Final = "placet.open"

_PENDING: Final = "pending"
_CRITICAL: Final = "critical"
_CONFIRM: Final = {
    "title": plain("Approve this critical call?"),
    "text": plain("It runs as the card shows it."),
    "confirm": plain("Yes, approve"),
    "deny": plain("Back"),
}
"""What Slack asks before it sends a click (https://docs.slack.dev/reference/block-kit/composition-objects)."""
_HAZARDS_MAX: Final = 6
_CUT: Final = "Not all of it is shown here."
_SEE_PAGE: Final = "Open the page to see all of it and to decide."
_DECIDE_THERE: Final = "It is decided on the page."
_MOMENT: Final = "%Y-%m-%d %H:%M:%S UTC"
_COLUMNS: Final = BUDGET.columns


class Buttons(Struct, frozen=True, kw_only=True):
    """What the buttons carry back, opaque to Slack and to this module.

    Raises:
        ValueError: A value is empty, or too long for Slack.
    """

    approve: str
    reject: str

    def __post_init__(self) -> None:
        for value in (self.approve, self.reject):
            if not 0 < cost(value) <= BUTTON_VALUE_CHARS_MAX:
                raise ValueError(f"a button's value has 1 to {BUTTON_VALUE_CHARS_MAX} characters")


class Message(Struct, frozen=True, kw_only=True):
    """A message.

    Attributes:
        text: What a notification says, and who reads no blocks.
        blocks: What is shown.
        is_whole: Whether all that there is to judge by stands in it.
    """

    text: str
    blocks: tuple[Block, ...]
    is_whole: bool


def message(card: Card, *, page_url: str, buttons: Buttons | None) -> Message:
    """Lay out a card.

    Args:
        card: Made with ``present(seen, BUDGET)``.
        page_url: Of the whole card, for people.
        buttons: What its buttons carry; None where nobody decides here.

    Raises:
        ValueError: The address is too long for a button.
    """
    if cost(page_url) > BUTTON_URL_CHARS_MAX:
        raise ValueError(f"a button's address has at most {BUTTON_URL_CHARS_MAX} characters")
    sheet, state = Sheet(), _state(card)
    sheet.header(state)
    is_open = card.status == _PENDING
    if not is_open:
        _decisions(card, sheet)
        _afterwards(card, sheet)
    sheet.rows(_facts(card))
    _hazards(card, sheet)
    _input(card, sheet)
    _more(card, sheet)
    sheet.rows(_standing(card))
    if is_open:
        _decisions(card, sheet)
    is_whole = not (card.was_cut or sheet.was_cut) and card.input.state is InputState.SHOWN
    why = _why(card, is_whole=is_whole, is_decided_here=buttons is not None)
    sheet.foot(why, _actions(card, page_url, buttons, is_whole=is_whole))
    about = f"{state}: {card.headline}, asked by {card.asked_by}, {card.risk.word} risk"
    return Message(text=notification(about, BUDGET), blocks=tuple(sheet.blocks), is_whole=is_whole)


def _state(card: Card) -> str:
    """How it stands, and by whom."""
    state = f"{card.state[:1].upper()}{card.state[1:]}"
    if card.status not in {"approved", "rejected"}:
        return state
    is_rejected = card.status == "rejected"
    who = [each.who for each in card.decided if each.counts and (each.verdict == "reject") is is_rejected]
    return f"{card.status.capitalize()} by {', '.join(who)}" if who else state


def _facts(card: Card) -> list[Row]:
    who = f"client {card.asked_by}" + (f", to be run by {card.audience}" if card.audience else "")
    return [
        ("Asked by", who),
        ("Actor", card.actor.text),
        ("What", card.capability),
        ("Effect", card.effect.text),
        ("Risk", card.risk.text),
        ("On behalf of", _listed(card.on_behalf_of)),
        ("Why", _listed(card.reasons)),
        ("Types", _listed(card.types)),
        ("Surface", card.surface or ""),
        ("Run", card.run or ""),
        ("Rule", (card.rule or "") if card.policy else ""),
    ]


def _listed(texts: Listing) -> str:
    items = [text or in_quotes(text) for text in texts.items]
    return "\n".join([*items, *([texts.mark] if texts.mark else [])])


def _hazards(card: Card, sheet: Sheet) -> None:
    kept, missing = card.hazards[:_HAZARDS_MAX], len(card.hazards) - _HAZARDS_MAX
    mark = [f"⟨cut: {missing:,} more⟩"] if missing > 0 else []
    sheet.was_cut |= missing > 0
    sheet.text("\n".join([*(hazard.sentence for hazard in kept), *mark]))


def _input(card: Card, sheet: Sheet) -> None:
    sheet.title("Input", card.input.words)
    tree = card.input.tree
    if tree is not None:
        sheet.code([str(line) for line in outline(tree.root, columns=_COLUMNS, cost=cost)])
        if tree.was_cut:
            sheet.text(f"⟨cut: {tree.size_bytes:,} bytes in all⟩")


def _more(card: Card, sheet: Sheet) -> None:
    """What else there is to judge by."""
    if card.edits is not None:
        sheet.title("Changed by an approver")
        sheet.code([*_changed(card.edits)])
    if card.context is not None:
        sheet.title("Context")
        sheet.code([str(line) for line in outline(card.context.root, columns=_COLUMNS, cost=cost)])
    if card.quoted.lines:
        sheet.title("The runtime's own words")
        sheet.text("\n".join(f"│ {line}" for line in card.quoted.lines))


def _changed(edits: Edits) -> Iterator[str]:
    for change in edits.changes:
        yield f"{change.kind} {change.path or '(the whole input)'}"
        for sign, node in (("-", change.before), ("+", change.after)):
            if node is not None:
                lines = outline(node, columns=_COLUMNS, cost=cost, depth=1)
                yield from (f"{sign} {line}" for line in lines)
    if edits.mark:
        yield edits.mark


def _standing(card: Card) -> list[Row]:
    """How far it has come, and what is next."""
    rows: list[Row] = [("Approvals", card.quorum.text)]
    if card.dies is not None:
        label = "Expires" if card.dies.kind is DeadlineKind.QUESTION else "Usable until"
        rows.append((label, _date(card.dies.at_ms)))
    return [*rows, ("Then", card.follows), ("Id", card.id), ("Digest", card.digest or "")]


def _decisions(card: Card, sheet: Sheet) -> None:
    if not card.decided:
        return
    sheet.title("Decisions")
    if card.decided_missing:
        sheet.text(f"⟨cut: {card.decided_missing:,} earlier⟩")
    for vote in card.decided:
        sheet.text("\n".join([_vote(vote), *(f"│ {in_quotes(line)}" for line in vote.comment)]))


def _vote(vote: Decided) -> str:
    through = f" (sent by {vote.submitted_by})" if vote.submitted_by else ""
    late = "".join(f", {words}" for words in (vote.signed_in, vote.why_not) if words)
    return f"{vote.words} by {vote.who} via {vote.channel}{through}{_on(vote.at_ms)}{late}"


def _afterwards(card: Card, sheet: Sheet) -> None:
    """Who used it, and what came of it."""
    if card.used is not None:
        used = f"by {card.used.client}, execution {card.used.execution_id}{_on(card.used.at_ms)}"
        outcome = card.outcome.status if card.outcome else "not reported yet"
        sheet.rows([("Used", used), ("Outcome", outcome)])
    if card.outcome is not None:
        sheet.text("\n".join(f"│ {in_quotes(line)}" for line in card.outcome.summary))


def _why(card: Card, *, is_whole: bool, is_decided_here: bool) -> str:
    """Why there is nothing to press, where somebody might look for it."""
    if card.status != _PENDING:
        return ""
    if not is_whole:  # what is hidden here is hidden there
        is_cut = card.input.state is InputState.SHOWN
        return f"{card.why_not or _CUT} {_SEE_PAGE if is_cut else _DECIDE_THERE}"
    return card.why_not or ("" if is_decided_here else _DECIDE_THERE)


def _actions(card: Card, page_url: str, buttons: Buttons | None, *, is_whole: bool) -> list[Block]:
    opens = _button(OPEN, "Open page", url=page_url)
    if buttons is None or not is_whole or card.status != _PENDING or card.digest is None:
        return [opens]
    found: list[Block] = []
    if card.can_approve_here:
        asks = {"confirm": _CONFIRM} if card.risk.word == _CRITICAL else {}
        found.append(_button(APPROVE, "Approve", value=buttons.approve, style="primary", **asks))
    if "reject" in (card.allowed or ("reject",)):
        found.append(_button(REJECT, "Reject", value=buttons.reject, style="danger"))
    return [*found, opens]


def _button(action: str, ours: str, **more: Any) -> Block:  # noqa: ANN401 - members of a block
    return {"type": "button", "action_id": action, "text": plain(ours), **more}


def _on(at_ms: int | None) -> str:
    return "" if at_ms is None else f" on {_utc(at_ms)}"


def _date(at_ms: int) -> TextObject:
    return moment(at_ms, _utc(at_ms))


def _utc(at_ms: int) -> str:
    return f"{datetime.fromtimestamp(at_ms // 1000, UTC):{_MOMENT}}"
