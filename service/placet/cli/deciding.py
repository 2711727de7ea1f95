"""``placet approvals approve``, ``edit`` and ``reject``: a decision on a card that somebody has looked at.

What is sent is the digest of the card that was shown, or the one that was given: never of one that nobody
has looked at. The service judges it (design §1, law 2).
"""

import argparse
from typing import Any

from msgspec import Raw

from placet.cli import card
from placet.cli.changes import Changes, changes, read_input
from placet.cli.console import Ink
from placet.cli.context import Context
from placet.cli.exits import Exit, Stop
from placet.cli.record import Record, at_ms, read
from placet.cli.remote import Remote, Reply, approval_path
from placet.domain.error_terms import ForbiddenReason
from placet.domain.errors import Forbidden
from placet.domain.identity import fold
from placet.domain.presentation import in_quotes
from placet.domain.text import says_something, visible


def approve(args: argparse.Namespace, context: Context) -> int:
    """Approve what is shown."""
    return _decide(args, context, "approve")


def reject(args: argparse.Namespace, context: Context) -> int:
    """Reject what is shown."""
    return _decide(args, context, "reject")


def edit(args: argparse.Namespace, context: Context) -> int:
    """Approve what is shown with another input.

    Raises:
        Stop: The input can't be read, or comes from where the answer would.
    """
    if args.input == "-" and args.digest is None:
        raise Stop(
            "The input comes from standard input here, so nobody can be asked there: say which card you have "
            "seen, with --digest, or give a file.",
            Exit.USAGE,
        )
    return _decide(args, context, "edit", read_input(args.input, context.stdin))


def rendered(record: Record, context: Context, reply: Reply, *, full: bool) -> card.Card:
    """The card of a record, as of when the service answered."""
    now_ms = reply.now_ms or at_ms(record.requested_at)
    return card.render(record, context.console.people, now_ms=now_ms, full=full)


def _decide(args: argparse.Namespace, context: Context, decision: str, changed: Raw | None = None) -> int:
    console = context.console
    with Remote.of(context, args.PLACET_URL) as remote:
        digest = args.digest or _looked_at(args, context, remote, decision, changed)
        body: dict[str, Any] = {"decision": decision, "digest": digest}
        if changed is not None:
            body["input"] = changed
        if args.comment is not None:
            body["comment"] = args.comment
        if args.speaks_for is not None:
            body["approver"] = {"id": args.speaks_for}
        reply = _sent(body, args, context, remote)
    record = read(reply.body, Record)
    mark = console.out.mark(Ink.GREEN)
    more = f"; {card.when(record, reply.now_ms)}" if record.status == "approved" and reply.now_ms else ""
    quorum = f"{record.quorum.approved} of {record.quorum.required} approvals"
    became = f"{visible(record.id)} is {visible(record.status)}"
    became += "" if changed is None else ", with your changes"
    console.result(reply.json(), f"{mark} {became} ({quorum}{more}).", unless_shown=f"{became} all the same.")
    return Exit.OK


def _sent(body: dict[str, Any], args: argparse.Namespace, context: Context, remote: Remote) -> Reply:
    """The answer to a decision; where it lacks a comment, the person who is there is asked for one.

    Only the rule knows whether it needs one. The digest is sent again as it was, so that it is on the same
    card.
    """
    path = f"{approval_path(args.id)}/decision"
    with context.console.slowly(f"Waiting for {remote.url} …"):
        try:
            return remote.post(path, body)
        except Forbidden as refusal:
            lacks = refusal.details.get("reason") == ForbiddenReason.COMMENT_REQUIRED
            if not lacks or args.digest is not None or args.comment is not None:
                raise
    comment = context.ask_for("This decision needs a comment, which the agent can read:")
    if not says_something(comment):
        raise Stop("Nothing was decided: a comment has to say something.")
    with context.console.slowly(f"Waiting for {remote.url} …"):
        return remote.post(path, {**body, "comment": comment})


def _looked_at(
    args: argparse.Namespace, context: Context, remote: Remote, decision: str, changed: Raw | None
) -> str:
    """The digest of the card, once somebody has looked at it and said yes.

    Raises:
        Stop: Nobody is there, not all was shown, there is nothing to decide, or the answer is no.
    """
    if not context.can_ask:
        raise Stop(
            f"`{decision}` shows the card and asks, which needs a terminal. Elsewhere say which card you "
            "have seen: --digest, as `placet approvals show` prints it.",
            Exit.USAGE,
        )
    reply = remote.get(approval_path(args.id))
    record = read(reply.body, Record)
    shown = rendered(record, context, reply, full=args.full)
    people = context.console.people
    for line in (*shown.lines, ""):
        people.line(line)
    seen = _decidable(record, shown, decision, args.speaks_for)
    made = None if changed is None else _changes(record, changed, args, context)
    if made is not None:
        for line in made.lines:
            people.line(line)
        if made.were_cut:
            raise Stop("Not all of the changes were shown. Look at the whole of them first: --full.")
    for line in (*shown.warnings, *(made.warnings if made is not None else ())):
        people.line(line)  # once more: the card may have scrolled away
    if args.comment is not None:
        for line in people.wrapped(
            f"With the comment, which the agent can read: {in_quotes(visible(args.comment, prose=True))}"
        ):
            people.line(line)
    question = f"{decision.capitalize()} exactly this?" if made is None else "Approve it changed like this?"
    if not context.ask(question, default=False):
        raise Stop("Nothing was decided.")
    return seen


def _decidable(record: Record, shown: card.Card, decision: str, person: str | None) -> str:
    """The digest of a card that can be decided on.

    Raises:
        Stop: There is nothing to decide, not by this credential or person, or not all of it was shown.
    """
    if record.status != "pending":
        raise Stop(f"There is nothing to decide: it is {visible(record.status)}.")
    if record.digest is None:
        raise Stop("This credential may look, but not decide. Decide with an approver's.")
    if decision == "reject":  # saying no is never made harder
        return record.digest
    if person is not None and _asks(person, record):
        raise Stop(f"{visible(person)} is on the asking side: have another person approve it.")
    if shown.was_cut:
        raise Stop("Not all of the input was shown. Look at the whole of it first: --full.")
    return record.digest


def _changes(record: Record, changed: Raw, args: argparse.Namespace, context: Context) -> Changes:
    """What an edit would change.

    Raises:
        Stop: The request can't be changed, or nothing is.
    """
    if "edit" not in record.allowed_decisions:
        raise Stop("The request does not let itself be changed: it was asked without `edit`.")
    if not record.has_input or record.input_redacted or record.presentation.redact:
        raise Stop("Nobody can change an input that is hidden, in whole or in part. Reject it instead.")
    made = changes(record.input, changed, context.console.people, full=args.full)
    if made.are_none:
        raise Stop("The input is the same: nothing would be changed. Approve it as it is, with `approve`.")
    return made


def _asks(person: str, record: Record) -> bool:
    """Whether the card itself has somebody on the asking side, and no rule could make an exception."""
    actor = record.actor
    confirms = actor.kind == "user" and not actor.on_behalf_of
    return fold(person) in {fold(name) for name in (*actor.on_behalf_of, *([] if confirms else [actor.id]))}
