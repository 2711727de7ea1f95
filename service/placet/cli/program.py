"""From the command line to a command and back to an exit status; the one place where faults are told."""

import argparse
import importlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, TextIO

from placet.cli import parser, refusals
from placet.cli.console import Console, Unwritten
from placet.cli.context import Context
from placet.cli.exits import Exit, Stop
from placet.cli.layout import sentence
from placet.cli.streams import standard
from placet.domain.errors import PlacetError, StoreUnavailable
from placet.domain.text import visible
from placet.settings import SettingsError
from placet.settings.rule_files import RulesInvalid
from placet.tokens.keyring import KeyringError
from placet.tokens.keyring_file import KeyringMissingError

INSTALL_SERVER: Final = "pip install '.[server]'"
"""In a checkout of Placet: there is no package index that has it."""
_SERVER_LIBRARIES: Final = frozenset(
    {
        "hiredis",
        "httptools",
        "litestar",
        "prometheus_client",
        "redis",
        "standardwebhooks",
        "structlog",
        "uvicorn",
        "uvloop",
    }
)

Command = Callable[..., int]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line; the process's own by default.

    Returns:
        The exit status (:class:`~placet.cli.exits.Exit`).
    """
    argv = sys.argv[1:] if argv is None else argv
    return run(argv, *standard(), environ=os.environ)


def run(
    argv: Sequence[str],
    stdin: TextIO,
    out: TextIO,
    err: TextIO,
    *,
    environ: Mapping[str, str],
    transport: Any = None,  # noqa: ANN401 - see Context
) -> int:
    """Run a command line in a world of the caller's.

    Raises:
        SystemExit: The arguments are wrong, or ask for help; the parser has said so.
    """
    console = Console(out, err, environ)
    try:
        if not all(map(_is_text, argv)):
            console.fail("An argument is not valid UTF-8: type it anew.")
            return Exit.USAGE
        args = _parsed(argv, console)
        console = Console(out, err, environ, json=args.json)
        context = Context(console=console, environ=environ, stdin=stdin, transport=transport)
        return _ended(args, context)
    except Unwritten as end:
        return _unwritten(console, end)


def _parsed(argv: Sequence[str], console: Console) -> argparse.Namespace:
    """The command line, read; raises as :func:`run` does.

    Raises:
        Unwritten: It asks for help, which can't be written.
    """
    try:
        return parser.parse(argv)
    except OSError as fault:
        raise console.out.lost(fault) from fault


def _ended(args: argparse.Namespace, context: Context) -> int:
    """Run the command; its exit status."""
    try:
        return _load(args.command)(args, context)
    except KeyboardInterrupt:
        context.console.err.line()
        context.console.note("Interrupted.")
        return Exit.INTERRUPTED
    except (Stop, PlacetError, SettingsError, RulesInvalid, KeyringError, ModuleNotFoundError) as fault:
        return _told(context.console, fault)


def _unwritten(console: Console, end: Unwritten) -> int:
    """Tell that output is lost; where only its reader has left, no more than what is lost with it."""
    has_left = isinstance(end.fault, BrokenPipeError)
    with suppress(Unwritten):  # standard error may be what takes no more
        if end.lost or not has_left:
            console.fail(" ".join(filter(None, (f"The output could not be written ({end}).", end.lost))))
    return Exit.BROKEN_PIPE if has_left else Exit.UNWRITTEN


def _is_text(argument: str) -> bool:
    """Whether an argument is text; Python hands on bytes that are none as lone surrogates (PEP 383)."""
    try:
        argument.encode()
    except UnicodeEncodeError:
        return False
    return True


def _load(command: str) -> Command:
    """The function behind ``module:function``; the module's libraries are needed from here on."""
    module, _, name = command.partition(":")
    loaded: Command = getattr(importlib.import_module(f"placet.cli.{module}"), name)
    return loaded


def _told(console: Console, fault: Exception) -> int:
    """Tell a foreseeable fault: in words, and as JSON where results are JSON; its exit status.

    Raises:
        ModuleNotFoundError: A module is missing that is nobody's to install.
    """
    match fault:
        case PlacetError():
            console.fail(refusals.sentence(fault), *map(visible, refusals.notes(fault)))
            if console.json:
                console.document({"error": fault.problem()})
            return Exit.UNREACHABLE if isinstance(fault, StoreUnavailable) else Exit.FAILED
        case Stop():
            stop = fault
        case SettingsError() | RulesInvalid():
            what = "settings" if isinstance(fault, SettingsError) else "rules"
            told = tuple(visible(str(problem)) for problem in fault.problems)
            stop = Stop(f"The {what} can't be used.", Exit.USAGE, notes=told)
        case ModuleNotFoundError():
            if (fault.name or "").partition(".")[0] not in _SERVER_LIBRARIES:
                raise fault
            stop = Stop(f"This needs the server's libraries. In the checkout of Placet: {INSTALL_SERVER}")
        case KeyringMissingError():
            stop = Stop(f"{fault}: `placet keys create` makes it.")
        case _:
            stop = Stop(f"{str(fault).rstrip('.')}.")
    said = sentence(str(stop))
    console.fail(said, *stop.notes)
    if console.json:
        error = {"code": stop.status.name, "detail": said}
        console.document({"error": {**error, "notes": list(stop.notes)} if stop.notes else error})
    return stop.status
