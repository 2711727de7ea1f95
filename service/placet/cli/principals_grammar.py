"""What ``placet clients`` and ``placet approvers`` take."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from placet.cli.arguments import listed, scopes
from placet.cli.grammar import Parser, add_command, add_group, add_store, words
from placet.cli.policy_grammar import add_directory, add_files
from placet.domain.model import Risk

_A: Mapping[str, str] = MappingProxyType({"client": "a client", "approver": "an approver"})


def add_principals(commands: Any) -> None:  # noqa: ANN401 - no public type
    """Add both groups."""
    _clients(commands)
    _approvers(commands)


def add_signin(commands: Any) -> None:  # noqa: ANN401 - no public type
    """Add the commands."""
    signin = add_command(
        commands,
        "signin",
        "signin:signin",
        "print a link that signs a person in on the web pages, once",
        "For whoever can read the data directory. Who has it can decide as that person.",
    )
    signout = add_command(
        commands,
        "signout",
        "signout:signout",
        "end all that a person has open on the web pages",
        "At once and on every replica; links that were not used yet are void too. Who may",
        "sign in can do so again: to keep somebody out, revoke their credentials, or take",
        "them out of the directory.",
    )
    for command in (signin, signout):
        command.add_argument("person", metavar="ID", help="the person, by their id")
        command.add_argument("--tenant", default="default", help="which tenant ('default')")
        add_store(command)
    add_files(signin)
    add_directory(signout, "the directory file, to know aliases by (PLACET_DIRECTORY_FILE)")


def _clients(commands: Any) -> None:  # noqa: ANN401 - no public type
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
    create.add_argument("--max-risk", choices=words(Risk), help="decide_as: the highest risk it may decide")
    for name in ("list", "rotate"):
        _principal(group, name, "client")
    _principal(group, "revoke", "client").add_argument(
        "--cancel-open", action="store_true", help="cancel all that it has open, too"
    )


def _approvers(commands: Any) -> None:  # noqa: ANN401 - no public type
    group = add_group(commands, "approvers", "make, list, rotate and revoke approvers")
    create = _principal(group, "create", "approver")
    create.add_argument("--name", dest="display_name", metavar="NAME", help="the name that others see")
    create.add_argument("--groups", type=listed, default=(), metavar="A,B", help="the groups they are in")
    for name in ("list", "rotate"):
        _principal(group, name, "approver")
    _principal(group, "revoke", "approver").set_defaults(cancel_open=False)


def _principal(group: Any, name: str, kind: str) -> Parser:  # noqa: ANN401 - no public type
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
    if name == "create":
        add_directory(command, "the directory file, to look names up in (PLACET_DIRECTORY_FILE)")
    command.add_argument("--tenant", default="default", help="which tenant ('default')")
    add_store(command)
    return command
