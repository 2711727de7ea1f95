"""argparse as this command line uses it, and the options that several commands have."""

import argparse
from enum import StrEnum
from typing import Any, Final, NoReturn

from placet.cli.exits import Exit

_SHORT_EPILOG: Final = """\
exit status: 0 done, 1 refused or failed, 2 wrong usage or settings,
3 not reachable, 4 output not written, 130 interrupted, 141 reader gone;
`placet --help` says more.
"""


class Parser(argparse.ArgumentParser):
    """argparse's, which takes no abbreviations and shows the exit statuses everywhere."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 - argparse's own
        settings.setdefault("epilog", _SHORT_EPILOG)
        super().__init__(allow_abbrev=False, formatter_class=_Formatter, **settings)

    def print_help(self, file: Any = None) -> None:  # noqa: ANN401 - argparse's own
        """Write the help, and not in silence where that fails, as argparse's own.

        Raises:
            OSError: It can't be written.
        """
        print(self.format_help(), end="", file=file, flush=True)

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and where to read on."""
        self.exit(Exit.USAGE, f"{self.prog}: {message}\n`{self.prog} --help` says what it takes.\n")


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Keeps our line ends, and has room for the longest command beside its help."""

    def __init__(self, prog: str, **settings: Any) -> None:  # noqa: ANN401 - argparse's own
        super().__init__(prog, max_help_position=30, **settings)
        self._action_max_length = 15


def add_command(commands: Any, name: str, function: str, text: str, *more: str) -> Parser:  # noqa: ANN401 - no public type
    """Add a command.

    Args:
        commands: What :func:`add_group` or argparse's ``add_subparsers`` has given.
        name: What is typed.
        function: What runs, as ``module:function``.
        text: What it does, as the list of commands says it.
        more: Further lines for its own help, each at most 80 columns.
    """
    description = "\n".join((f"{text[0].upper()}{text[1:]}.", *more))
    command: Parser = commands.add_parser(name, help=text, description=description)
    command.set_defaults(command=function)
    command.add_argument("--json", action="store_true", help="results as JSON on standard output")
    return command


def add_group(commands: Any, name: str, text: str) -> Any:  # noqa: ANN401 - as above
    """Add a group of commands; give it to :func:`add_command`."""
    group: Parser = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
    return group.add_subparsers(title="commands", metavar="COMMAND", required=True, dest="_")


def add_store(command: Parser) -> None:
    """Add where the store is."""
    command.add_argument(
        "--data-dir",
        dest="PLACET_DATA_DIR",
        metavar="DIRECTORY",
        help="where the embedded store is ($XDG_STATE_HOME/placet, or ~/.local/state/placet)",
    )
    command.add_argument(
        "--redis-url",
        dest="PLACET_REDIS_URL",
        metavar="URL",
        help="a Valkey or Redis in place of the embedded store. Does it hold a password? Then set "
        "PLACET_REDIS_URL instead: other users of this machine can read a command line",
    )


def add_url(command: Parser, text: str = "where the service is (http://127.0.0.1:8420)") -> None:
    """Add where the service is."""
    command.add_argument("--url", dest="PLACET_URL", metavar="URL", help=text)


def words(choices: type[StrEnum]) -> list[str]:
    """The words themselves: argparse shows choices by their ``repr``."""
    return [each.value for each in choices]
