"""The command line's grammar: every command, what it takes, and which function it runs.

An option that overrides a ``PLACET_`` variable has the variable's name as its ``dest``; ``overrides``
hands those on. No option takes a secret: other users of a machine can read a command line.
"""

import argparse
from collections.abc import Callable, Sequence
from typing import Any, Final, NoReturn

from placet.cli.exits import Exit
from placet.domain.model import Risk, Status
from placet.domain.principals import Scope

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
  130  interrupted by Ctrl-C
  141  whoever read the output has gone
"""
_SHORT_EPILOG: Final = """\
exit status: 0 done, 1 refused or failed, 2 wrong usage or settings,
3 not reachable, 130 interrupted; `placet --help` has the whole list.
"""
_SHA256_CHARS: Final = 64


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


class _Parser(argparse.ArgumentParser):
    """argparse's, which takes no abbreviations and shows the exit statuses everywhere."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 - argparse's own
        settings.setdefault("epilog", _SHORT_EPILOG)
        super().__init__(allow_abbrev=False, formatter_class=_Formatter, **settings)

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and where to read on."""
        self.exit(Exit.USAGE, f"{self.prog}: {message}\n`{self.prog} --help` says what it takes.\n")


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Keeps our line ends, and has room for the longest command beside its help."""

    def __init__(self, prog: str, **settings: Any) -> None:  # noqa: ANN401 - argparse's own
        super().__init__(prog, max_help_position=30, **settings)
        self._action_max_length = 15


def _parser() -> _Parser:
    parser = _Parser(
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
    _store(_leaf(commands, "doctor", "doctor:run", "look at settings, store, durability, keys and clock"))
    _leaf(commands, "openapi", "openapi:run", "print the OpenAPI document of the HTTP API")
    _leaf(commands, "version", "info:version", "print the version")
    return parser


def _leaf(commands: Any, name: str, command: str, text: str) -> _Parser:  # noqa: ANN401 - no public type
    leaf: _Parser = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
    leaf.set_defaults(command=command)
    leaf.add_argument("--json", action="store_true", help="results as JSON on standard output")
    return leaf


def _group(commands: Any, name: str, text: str) -> Any:  # noqa: ANN401 - as above
    group: _Parser = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
    return group.add_subparsers(title="commands", metavar="COMMAND", required=True, dest="_")


def _serve(commands: Any) -> None:  # noqa: ANN401 - as above
    serve = _leaf(commands, "serve", "serve:run", "run the service")
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
    _store(serve)
    demo = _leaf(commands, "demo", "demo:run", "play a whole approval, in a tenant of its own")
    demo.add_argument("--yes", action="store_true", help="don't ask for the decision, approve")
    _remote(demo)
    _store(demo)


def _store(leaf: _Parser) -> None:
    leaf.add_argument(
        "--data-dir", dest="PLACET_DATA_DIR", metavar="DIRECTORY", help="where the embedded store is"
    )
    leaf.add_argument(
        "--redis-url",
        dest="PLACET_REDIS_URL",
        metavar="URL",
        help="a Valkey or Redis in place of the embedded store. Does it hold a password? Then set "
        "PLACET_REDIS_URL instead: other users of this machine can read a command line",
    )


def _approvals(commands: Any) -> None:  # noqa: ANN401 - as above
    group = _group(commands, "approvals", "look at approvals and decide them, over HTTP")
    listing = _leaf(group, "list", "approvals:list_", "list approvals, newest first")
    listing.add_argument("--status", choices=[*Status], help="only those in this state")
    listing.add_argument("--capability", help="only those of this capability")
    listing.add_argument("--actor", help="only those of the actor with this id")
    listing.add_argument("--run", help="only those of this run")
    listing.add_argument("--limit", type=_count, default=50, help="how many at most (50)")
    listing.add_argument("--cursor", help="go on where an earlier list ended")
    _remote(listing)
    show = _leaf(group, "show", "approvals:show", "show an approval as its approver sees it")
    _one(show)
    show.add_argument("--events", action="store_true", help="its audit trail too")
    show.add_argument("--full", action="store_true", help="a long input to its end")
    for name, text in (("approve", "approve exactly what is shown"), ("reject", "reject what is shown")):
        decide = _leaf(group, name, f"approvals:{name}", text)
        _one(decide)
        decide.add_argument(
            "--digest", type=_digest, help="digest of the card you have seen; without it the card is shown"
        )
        decide.add_argument("--comment", help="a word on it; the agent can read this")
        decide.add_argument(
            "--as", dest="speaks_for", metavar="PERSON", help="whom a client with decide_as speaks for"
        )
        decide.add_argument("--full", action="store_true", help="show a long input to its end")
    _one(_leaf(group, "cancel", "approvals:cancel", "withdraw a question, or a grant not yet used"))


def _one(leaf: _Parser) -> None:
    leaf.add_argument("id", metavar="ID", help="the approval")
    _remote(leaf)


def _remote(leaf: _Parser) -> None:
    leaf.add_argument(
        "--url", dest="PLACET_URL", metavar="URL", help="where the service is (http://127.0.0.1:8420)"
    )


def _clients(commands: Any) -> None:  # noqa: ANN401 - as above
    group = _group(commands, "clients", "make, list, rotate and revoke service clients")
    create = _principal(group, "create", "client", "make a client; its credential is shown once")
    create.add_argument(
        "--scopes", required=True, type=_scopes, metavar="A,B", help=f"what it may do: {', '.join(Scope)}"
    )
    create.add_argument(
        "--owner",
        action="extend",
        nargs="+",
        default=[],
        metavar="PERSON",
        help="a person behind it, who may not approve what it asks",
    )
    create.add_argument(
        "--capabilities", type=_listed, default=(), metavar="A,B", help="what it may ask for: 'orders.*,…'"
    )
    create.add_argument(
        "--people", type=_listed, default=(), metavar="A,B", help="decide_as: the people it speaks for"
    )
    create.add_argument("--max-risk", choices=[*Risk], help="decide_as: the highest risk it may decide")
    _principal(group, "list", "client", "list the clients of a tenant")
    _principal(group, "rotate", "client", "issue a further credential; the one before it lives on")
    revoke = _principal(group, "revoke", "client", "take back a credential, or the whole client")
    revoke.add_argument("--key", metavar="KID", help="only this credential")
    revoke.add_argument("--cancel-open", action="store_true", help="cancel what it has asked for, too")


def _approvers(commands: Any) -> None:  # noqa: ANN401 - as above
    group = _group(commands, "approvers", "make, list, rotate and revoke approvers")
    create = _principal(group, "create", "approver", "make an approver; the credential is shown once")
    create.add_argument("--name", dest="display_name", help="the name that others see")
    create.add_argument("--groups", type=_listed, default=(), metavar="A,B", help="the groups they are in")
    _principal(group, "list", "approver", "list the approvers of a tenant")
    _principal(group, "rotate", "approver", "issue a further credential; the one before it lives on")
    revoke = _principal(group, "revoke", "approver", "take back a credential, or the whole approver")
    revoke.add_argument("--key", metavar="KID", help="only this credential")
    revoke.set_defaults(cancel_open=False)


def _principal(group: Any, name: str, kind: str, text: str) -> _Parser:  # noqa: ANN401 - as above
    function = {"create": f"create_{kind}", "list": "list_"}.get(name, name)
    leaf = _leaf(group, name, f"principals:{function}", text)
    leaf.set_defaults(kind=kind)
    if name != "list":
        leaf.add_argument("name", metavar="NAME" if kind == "client" else "ID")
    leaf.add_argument("--tenant", default="default", help="the tenant (default)")
    _store(leaf)
    return leaf


def _keys(commands: Any) -> None:  # noqa: ANN401 - as above
    group = _group(commands, "keys", "the keys that sign approval tokens")
    _store(_leaf(group, "list", "keys:list_", "list the keys, without their secrets"))
    _store(_leaf(group, "create", "keys:create", "make a keyring where there is none"))
    _store(_leaf(group, "rotate", "keys:rotate", "let the next key sign; the one before verifies on"))
    revoke = _leaf(group, "revoke", "keys:revoke", "take all trust from a key, at once")
    revoke.add_argument("kid", metavar="KID", help="the key, as `placet keys list` names it")
    _store(revoke)


def _typed(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """A reader for argparse, which drops the sentence of a plain ValueError."""

    def reader(text: str) -> Any:  # noqa: ANN401 - whatever `read` gives
        try:
            return read(text)
        except ValueError as fault:
            raise argparse.ArgumentTypeError(str(fault)) from None

    return reader


def _read_list(text: str) -> tuple[str, ...]:
    items = tuple(item.strip() for item in text.split(","))
    if not all(items):
        raise ValueError("must be a list separated by commas, without empty places")
    return items


def _read_scopes(text: str) -> frozenset[Scope]:
    items = _read_list(text)
    unknown = [item for item in items if item not in set(Scope)]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is no scope; there are {', '.join(Scope)}")
    return frozenset(map(Scope, items))


def _read_count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise ValueError("must be a whole number from 1")
    return int(text)


def _read_digest(text: str) -> str:
    if len(text) != _SHA256_CHARS or set(text) - set("0123456789abcdef"):
        raise ValueError("must be the 64 hexadecimal digits that the card shows")
    return text


_listed, _scopes, _count, _digest = map(_typed, (_read_list, _read_scopes, _read_count, _read_digest))
