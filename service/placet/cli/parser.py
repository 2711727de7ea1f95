"""The command line's grammar: every command, what it takes, and which function it runs.

An option that overrides a ``PLACET_`` variable has the variable's name as its ``dest``; ``overrides``
hands those on. No option takes a secret: other users of a machine can read a command line.
"""

import argparse
from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from placet.cli.arguments import count, digest, listed, scopes
from placet.cli.grammar import Parser, add_command, add_group, add_store, add_url
from placet.cli.policy_grammar import add_files, add_policy
from placet.domain.model import Risk, Status

_EPILOG: Final = """\
environment:
  Every setting is a PLACET_ variable; an option wins over its variable.
  PLACET_URL      the service that `demo` and `approvals` talk to (http://127.0.0.1:8420)
  PLACET_TOKEN    the credential that `approvals` presents; never an option
  NO_COLOR        no colours, whatever its value

exit status:
  0    done
  1    refused, or did not succeed
  2    the command line or a PLACET_ variable is wrong
  3    the service or the store can't be reached, or was lost
  4    the output could not be written; standard error says what was done
  130  interrupted by Ctrl-C
  141  whoever read the output has gone
"""
_A: Mapping[str, str] = MappingProxyType({"client": "a client", "approver": "an approver"})


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Read a command line; ``command`` is ``module:function``.

    Raises:
        SystemExit: Status 2 where it is wrong, 0 where it asks for help; the text has been written.
    """
    return _parser().parse_args(argv)


def help_text() -> str:
    """What ``placet --help`` writes."""
    return _parser().format_help()


def overrides(args: argparse.Namespace) -> dict[str, str | None]:
    """What the command line says of the settings, by the name of the variable."""
    return {name: value for name, value in vars(args).items() if name.startswith("PLACET_")}


def option(name: str) -> str:
    """The option that overrides the variable of this name."""
    return "--" + name.removeprefix("PLACET_").removesuffix("_FILE").lower().replace("_", "-")


def _parser() -> Parser:
    parser = Parser(
        prog="placet",
        description="Human approval for AI agents: what was approved is what runs, once.",
        epilog=_EPILOG,
    )
    parser.add_argument(
        "--version", dest="command", action="store_const", const="info:version", help="print the version"
    )
    parser.set_defaults(command="info:overview", json=False)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    _serve(commands)
    _approvals(commands)
    _clients(commands)
    _approvers(commands)
    _keys(commands)
    add_policy(commands)
    _audit(commands)
    _doctor(commands)
    add_command(commands, "openapi", "openapi:run", "print the OpenAPI document of the HTTP API")
    add_command(commands, "version", "info:version", "print the version")
    return parser


def _words(choices: type[StrEnum]) -> list[str]:
    """The words themselves: argparse shows choices by their ``repr``."""
    return [each.value for each in choices]


def _serve(commands: Any) -> None:  # noqa: ANN401 - no public type
    serve = add_command(commands, "serve", "serve:run", "run the service, until Ctrl-C or SIGTERM")
    serve.add_argument("--host", dest="PLACET_HOST", metavar="HOST", help="address to listen on (127.0.0.1)")
    serve.add_argument(
        "--port", dest="PLACET_PORT", metavar="PORT", help="port to listen on, 0 for a free one (8420)"
    )
    serve.add_argument(
        "--metrics-bind",
        dest="PLACET_METRICS_BIND",
        metavar="HOST:PORT",
        help="where /metrics listens, port 0 for a free one (127.0.0.1, the API's port + 1000)",
    )
    add_files(serve)
    add_store(serve)
    demo = add_command(
        commands,
        "demo",
        "demo:run",
        "play a whole approval, in a tenant of its own",
        "It plays on the service that runs on the store, or starts one of its own on an",
        "empty store. Nothing of it stays behind.",
    )
    demo.add_argument("--yes", action="store_true", help="approve without asking, as it does off a terminal")
    add_url(demo, "where that service is, if not where it says itself (with --redis-url: as for `approvals`)")
    add_store(demo)


def _audit(commands: Any) -> None:  # noqa: ANN401 - as above
    audit = add_group(commands, "audit", "what happened to which approval, by whom")
    show = add_command(audit, "show", "audit:show", "show the trail of one approval")
    show.add_argument("id", metavar="ID", help="the approval")
    tail = add_command(audit, "tail", "audit:tail", "show transitions as they happen, until Ctrl-C")
    export = add_command(
        audit,
        "export",
        "audit:export",
        "write all trails as JSON Lines",
        "Transitions and refusals, approval by approval, the latest asked for first.",
    )
    export.add_argument("--since", metavar="WHEN", help="from then on: 7d, 12h, or a moment (everything)")
    for command in (show, tail, export):
        command.add_argument("--tenant", default="default", help="which tenant ('default')")
        add_store(command)


def _doctor(commands: Any) -> None:  # noqa: ANN401 - as above
    text = "look at settings, store, durability, keys and clock"
    doctor = add_command(commands, "doctor", "doctor:run", text)
    doctor.add_argument(
        "--reset-clock",
        action="store_true",
        help="where the store's clock is right again after a jump ahead: cancel what is open, and go by it",
    )
    doctor.add_argument("--tenant", help="--reset-clock: only this tenant's (all that are behind)")
    doctor.add_argument("--yes", action="store_true", help="--reset-clock: cancel without asking you")
    add_files(doctor)
    add_store(doctor)


def _approvals(commands: Any) -> None:  # noqa: ANN401 - as above
    group = add_group(commands, "approvals", "look at approvals and decide them, over HTTP")
    credential = "What there is to see and to do depends on the credential in PLACET_TOKEN."
    listing = add_command(group, "list", "approvals:list_", "list approvals, newest first", credential)
    listing.add_argument("--status", choices=_words(Status), help="only those in this state")
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
    for name in ("approve", "reject"):
        decide = add_command(
            group,
            name,
            f"approvals:{name}",
            f"{name} exactly what the card shows",
            "At a terminal it shows the card and asks. Elsewhere --digest says which card",
            "you have seen. PLACET_TOKEN holds an approver's credential, or that of a client",
            "with the scope decide_as; then --as says who decides.",
        )
        _add_approval(decide)
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


def _add_approval(command: Parser) -> None:
    command.add_argument("id", metavar="ID", help="the approval")
    add_url(command)


def _clients(commands: Any) -> None:  # noqa: ANN401 - as above
    group = add_group(commands, "clients", "make, list, rotate and revoke service clients")
    create = _principal(group, "create", "client")
    create.add_argument(
        "--scopes",
        required=True,
        type=scopes,
        metavar="A,B",
        help="what it may do: request (ask), consume (use what was approved), read (see the tenant's "
        "records), read_input (with their inputs), decide_as (decide for --people and --groups), admin (see "
        "and cancel everything)",
    )
    create.add_argument(
        "--owner",
        action="extend",
        nargs="+",
        type=listed,
        default=[],
        metavar="PERSON",
        help="the people behind it, who may not approve what it asks for",
    )
    create.add_argument(
        "--capabilities",
        type=listed,
        default=(),
        metavar="A,B",
        help="request: what it may ask for, as in 'orders.*,mail.send'; anything where absent",
    )
    create.add_argument(
        "--people", type=listed, default=(), metavar="A,B", help="decide_as: the people it speaks for"
    )
    create.add_argument(
        "--groups",
        type=listed,
        default=(),
        metavar="A,B",
        help="decide_as: the groups of people it speaks for",
    )
    create.add_argument("--max-risk", choices=_words(Risk), help="decide_as: the highest risk it may decide")
    for name in ("list", "rotate"):
        _principal(group, name, "client")
    _principal(group, "revoke", "client").add_argument(
        "--cancel-open", action="store_true", help="cancel all that it has open, too"
    )


def _approvers(commands: Any) -> None:  # noqa: ANN401 - as above
    group = add_group(commands, "approvers", "make, list, rotate and revoke approvers")
    create = _principal(group, "create", "approver")
    create.add_argument("--name", dest="display_name", metavar="NAME", help="the name that others see")
    create.add_argument("--groups", type=listed, default=(), metavar="A,B", help="the groups they are in")
    for name in ("list", "rotate"):
        _principal(group, name, "approver")
    _principal(group, "revoke", "approver").set_defaults(cancel_open=False)


def _principal(group: Any, name: str, kind: str) -> Parser:  # noqa: ANN401 - as above
    """Add one of the four commands that clients and approvers have in common."""
    text, *more = {
        "create": (f"make {_A[kind]}; its credential is shown once",),
        "list": (f"list the {kind}s that have a live credential",),
        "rotate": (
            "issue a further credential; of those before it only the newest lives on",
            "Two can be live at a time: where there are two, the older dies at once.",
        ),
        "revoke": (
            f"take back all credentials of {_A[kind]}, or one (--key)",
            "That holds at once, everywhere. The name stays taken; `rotate` brings it back.",
        ),
    }[name]
    function = {"create": f"create_{kind}", "list": "list_"}.get(name, name)
    command = add_command(group, name, f"principals:{function}", text, *more)
    command.set_defaults(kind=kind)
    if name != "list":
        command.add_argument("name", metavar="NAME" if kind == "client" else "ID", help=f"the {kind}")
    if name == "revoke":
        text = f"only the credential with this key id, as `placet {kind}s list` shows it"
        command.add_argument("--key", metavar="KID", help=text)
    command.add_argument("--tenant", default="default", help="which tenant ('default')")
    add_store(command)
    return command


def _keys(commands: Any) -> None:  # noqa: ANN401 - as above
    group = add_group(commands, "keys", "the keys that sign approval tokens")
    where = "The keyring is PLACET_KEYRING_FILE, or keyring.json in the data directory."
    for name, function, text in (
        ("list", "list_", "list the keys, without their secrets"),
        ("create", "create", "make a keyring where there is none"),
        ("rotate", "rotate", "let the next key sign; the one before verifies on"),
        ("revoke", "revoke", "take all trust from a key, at once"),
    ):
        command = add_command(group, name, f"keys:{function}", text, where)
        if name == "revoke":
            command.add_argument("kid", metavar="KID", help="the key, as `placet keys list` names it")
        add_store(command)
