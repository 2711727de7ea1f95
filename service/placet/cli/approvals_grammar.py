"""What ``placet approvals`` takes."""

from typing import Any

from placet.cli.arguments import count, digest
from placet.cli.grammar import Parser, add_command, add_group, add_url, words
from placet.domain.model import OutcomeStatus, Status


def add_approvals(commands: Any) -> None:  # noqa: ANN401 - no public type
    """Add the group."""
    group = add_group(commands, "approvals", "look at approvals and decide them, over HTTP")
    credential = "What there is to see and to do depends on the credential in PLACET_TOKEN."
    listing = add_command(group, "list", "approvals:list_", "list approvals, newest first", credential)
    listing.add_argument("--status", choices=words(Status), help="only those in this state")
    listing.add_argument("--capability", metavar="NAME", help="only those of this capability")
    listing.add_argument("--actor", metavar="ID", help="only those of the actor with this id")
    listing.add_argument("--run", help="only those of this run")
    listing.add_argument("--limit", type=count, metavar="N", default=50, help="how many at most (50)")
    listing.add_argument("--cursor", help="go on where an earlier list ended: what it said then")
    add_url(listing)
    show = add_command(group, "show", "approvals:show", "show the card of an approval", credential)
    _add_approval(show)
    show.add_argument("--events", action="store_true", help="its audit trail too")
    show.add_argument("--full", action="store_true", help="a long input to its end (always, off a terminal)")
    for name, text, more in (
        ("approve", "approve exactly what the card shows", ()),
        ("edit", "approve it with another input", ("It shows what would be changed, too.",)),
        ("reject", "reject exactly what the card shows", ()),
    ):
        decide = add_command(
            group,
            name,
            f"deciding:{name}",
            text,
            "At a terminal it shows the card and asks. Elsewhere --digest says which card",
            "you have seen. PLACET_TOKEN holds an approver's credential, or that of a client",
            "with the scope decide_as; then --as says who decides.",
            *more,
        )
        _add_approval(decide)
        if name == "edit":
            decide.add_argument(
                "--input",
                required=True,
                metavar="FILE",
                help="the new input, in JSON; - reads standard input",
            )
        decide.add_argument(
            "--digest",
            type=digest,
            help="decide at once, on the card you have seen: its 64 digits, as `placet approvals show` "
            "prints them",
        )
        decide.add_argument("--comment", metavar="TEXT", help="a word on it; the agent can read this")
        decide.add_argument(
            "--as",
            dest="speaks_for",
            metavar="PERSON",
            help="who decides; only with a decide_as client's credential",
        )
        decide.add_argument("--full", action="store_true", help="show a long input to its end")
    cancel = add_command(
        group,
        "cancel",
        "approvals:cancel",
        "withdraw a question, or a grant not yet used",
        "The client that asked may, and one with the scope admin: PLACET_TOKEN says who.",
    )
    _add_approval(cancel)
    outcome = add_command(
        group,
        "outcome",
        "approvals:outcome",
        "record what became of an execution, where nobody has said so",
        "For whoever has looked: an agent that ended in the middle can't say.",
        "The client that used it may: PLACET_TOKEN says who.",
    )
    _add_approval(outcome)
    outcome.add_argument("outcome", choices=words(OutcomeStatus), help="how it ended")
    outcome.add_argument("--summary", metavar="TEXT", help="what was found, in a few words")


def _add_approval(command: Parser) -> None:
    command.add_argument("id", metavar="ID", help="the approval")
    add_url(command)
