"""The command line's grammar: every command, what it takes, and which function it runs.

An option that overrides a ``PLACET_`` variable has the variable's name as its ``dest``; ``overrides``
hands those on. No option takes a secret: other users of a machine can read a command line.
"""

import argparse
from collections.abc import Sequence
from typing import Any, Final

from placet.cli.approvals_grammar import add_approvals
from placet.cli.grammar import Parser, add_command, add_group, add_store, add_url
from placet.cli.policy_grammar import add_files, add_policy
from placet.cli.principals_grammar import add_principals, add_signin
from placet.cli.webhooks_grammar import add_deliveries, add_webhooks

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
    add_approvals(commands)
    add_principals(commands)
    add_signin(commands)
    add_webhooks(commands)
    add_deliveries(commands)
    _keys(commands)
    add_policy(commands)
    _audit(commands)
    _stats(commands)
    _doctor(commands)
    add_command(commands, "openapi", "openapi:run", "print the OpenAPI document of the HTTP API")
    add_command(commands, "version", "info:version", "print the version")
    return parser


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


def _stats(commands: Any) -> None:  # noqa: ANN401 - as above
    stats = add_command(
        commands,
        "stats",
        "stats:stats",
        "count decisions, how long they take, and what expires",
        "Of all records of a tenant. It also says who approved too fast to have read.",
    )
    stats.add_argument("--tenant", default="default", help="which tenant ('default')")
    stats.add_argument(
        "--days", type=int, choices=(7, 30), default=7, help="of how many days of UTC, today included (7)"
    )
    add_store(stats)


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
