"""What ``placet policy`` takes."""

from typing import Any

from placet.cli.grammar import Parser, add_command, add_group, add_store


def add_policy(commands: Any) -> None:  # noqa: ANN401 - no public type
    """Add the group."""
    group = add_group(commands, "policy", "the rules: who may decide what, and how")
    check = add_command(
        group,
        "check",
        "policy:check",
        "read a policy file for faults, each told with its line and what to write",
        "It needs no store and no service. The exit status is 1 where there is a fault.",
    )
    check.add_argument("file", metavar="FILE", nargs="?", help="the policy file (PLACET_POLICY_FILE)")
    add_directory(check)
    explain = add_command(
        group,
        "explain",
        "explain:run",
        "explain what the rules make of a request, and who could decide it now",
        "The request is a file with the JSON body of POST /v1/approvals, or a record of",
        "one that was asked, as `placet approvals show --json` prints it. Credentials are",
        "looked up where the store can be opened. The exit status is 1 where it would be",
        "refused, or could never be approved.",
    )
    explain.add_argument("file", metavar="REQUEST", help="the request; - reads it from standard input")
    explain.add_argument("--client", metavar="NAME", help="who asks (a client that no rule names)")
    explain.add_argument("--tenant", help="in which tenant ('default')")
    add_files(explain)
    add_store(explain)
    drop = add_command(
        group,
        "drop",
        "in_force:drop",
        "take the files out of force, so that the built-in rule holds again",
        "A service puts its files in force when it starts, and on SIGHUP; starting one",
        "without files does not take them out. This does, for every tenant.",
    )
    drop.add_argument("--yes", action="store_true", help="without asking you")
    add_store(drop)


def add_files(command: Parser) -> None:
    """Add where the operator's files are."""
    command.add_argument(
        "--policy", dest="PLACET_POLICY_FILE", metavar="FILE", help="the policy file (PLACET_POLICY_FILE)"
    )
    add_directory(command)


def add_directory(
    command: Parser, text: str = "the directory file beside it (PLACET_DIRECTORY_FILE)"
) -> None:
    """Add where the directory is."""
    command.add_argument("--directory", dest="PLACET_DIRECTORY_FILE", metavar="FILE", help=text)
