"""``placet``, ``placet version``: what this is."""

import argparse
import platform
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version

from placet.cli import parser
from placet.cli.context import Context
from placet.cli.exits import Exit


def placet_version() -> str:
    """The version that is installed; a word in its place in a source tree that is not."""
    try:
        return installed_version("placet")
    except PackageNotFoundError:
        return "(source tree)"


def version(_: argparse.Namespace, context: Context) -> int:
    """Print the version."""
    found = placet_version()
    python = platform.python_version()
    context.console.result({"placet": found, "python": python}, f"placet {found} (Python {python})")
    return Exit.OK


def overview(_: argparse.Namespace, context: Context) -> int:
    """Say what there is, to whoever gave no command."""
    context.console.err.line(parser.help_text(), end="")
    return Exit.USAGE
