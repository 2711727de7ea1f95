"""What ``placet webhooks`` and ``placet deliveries`` take."""

from typing import Any

from placet.cli.arguments import events, listed
from placet.cli.grammar import Parser, add_command, add_group, add_store


def add_webhooks(commands: Any) -> None:  # noqa: ANN401 - no public type
    """Add the group."""
    group = add_group(commands, "webhooks", "make, list, rotate, revoke and try endpoints of events")
    create = _webhook(
        group,
        "create",
        "webhooks:create_webhook",
        "make an endpoint; its signing secret is shown once",
        "It is told of whatever happens to any approval of its tenant, as long as nothing",
        "narrows that: without inputs, comments or tokens.",
    )
    create.add_argument("url", metavar="URL", help="where events are sent: https, or what is allowed")
    create.add_argument(
        "--events", type=events, default=frozenset(), metavar="A,B", help="only these: approved,rejected"
    )
    create.add_argument(
        "--capabilities",
        type=listed,
        default=(),
        metavar="A,B",
        help="only what is about these, as in 'orders.*,mail.send'",
    )
    create.add_argument(
        "--clients",
        type=listed,
        default=(),
        metavar="A,B",
        help="only what these clients ask: 'shop-*'",
    )
    create.add_argument(
        "--by-rule", action="store_true", help='only what a rule tells it (tell = ["webhook:NAME"])'
    )
    create.add_argument(
        "--with-input",
        action="store_true",
        help="with inputs, contexts and comments, as read_input sees them",
    )
    _webhook(group, "list", "principals:list_", "list the endpoints that have a live secret")
    _webhook(
        group,
        "rotate",
        "principals:rotate",
        "make a further signing secret; of those before it only the newest lives on",
        "Both sign whatever is sent from then on: give the new one to the receiver, then",
        "`revoke --key` the older. Where there are two, the older dies at once.",
    )
    revoke = _webhook(
        group,
        "revoke",
        "principals:revoke",
        "send an endpoint nothing any more, or end one secret (--key)",
        "That holds at once, everywhere. The name stays taken; `rotate` brings it back.",
    )
    text = "only the secret with this key id, as `placet webhooks list` shows it"
    revoke.add_argument("--key", metavar="KID", help=text)
    revoke.set_defaults(cancel_open=False)
    _webhook(
        group,
        "test",
        "webhooks:test",
        "send an endpoint a message of the type placet.test, now",
        "From here, as the service would: signed, to the address that is judged here. It",
        "says what came of it and what to do.",
    )


def add_deliveries(commands: Any) -> None:  # noqa: ANN401 - no public type
    """Add the group."""
    group = add_group(commands, "deliveries", "what is still to be told to Slack and webhooks")
    show = add_command(
        group,
        "list",
        "deliveries:list_",
        "list what has failed, and what waits",
        "A delivery decides nothing: the questions go on as they are.",
    )
    only = show.add_mutually_exclusive_group()
    only.add_argument("--failed", action="store_true", help="only what is not tried again by itself")
    only.add_argument("--waiting", action="store_true", help="only what is still to be told")
    retry = add_command(
        group,
        "retry",
        "deliveries:retry",
        "have deliveries tried at once",
        "Those that have failed, and those that wait for their next attempt.",
    )
    retry.add_argument("id", nargs="?", metavar="ID", help="only those of this approval")
    retry.add_argument("--target", metavar="TARGET", help="only those to this target, as the list names it")
    retry.add_argument("--all", action="store_true", help="all there are")
    for command in (show, retry):
        command.add_argument("--tenant", default="default", help="which tenant ('default')")
        add_store(command)


def _webhook(group: Any, name: str, function: str, text: str, *more: str) -> Parser:  # noqa: ANN401 - no public type
    command = add_command(group, name, function, text, *more)
    command.set_defaults(kind="webhook")
    if name != "list":
        command.add_argument("name", metavar="NAME", help="the endpoint")
    command.add_argument("--tenant", default="default", help="which tenant ('default')")
    add_store(command)
    return command
