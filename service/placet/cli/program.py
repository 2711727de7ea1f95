"""From the command line to a command and back to an exit status; the one place where faults are told."""

import importlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TextIO

from placet.cli import parser
from placet.cli.console import Console
from placet.cli.context import Context
from placet.cli.exits import Exit, Stop
from placet.cli.layout import sentence
from placet.domain.errors import PlacetError, StoreUnavailable, Unauthenticated
from placet.domain.text import visible
from placet.settings import SettingsError
from placet.tokens.keyring import KeyringError
from placet.tokens.keyring_file import KeyringMissingError

INSTALL_SERVER: Final = "pip install 'placet[server]'"
_SERVER_LIBRARIES: Final = frozenset(
    {"hiredis", "httptools", "litestar", "prometheus_client", "redis", "structlog", "uvicorn", "uvloop"}
)

Command = Callable[..., int]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line; the process's own by default.

    Returns:
        The exit status (:class:`~placet.cli.exits.Exit`).
    """
    for stream in (sys.stdout, sys.stderr):
        # A locale without our marks must not end a command half-way.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr] # real streams can
    argv = sys.argv[1:] if argv is None else argv
    return run(argv, sys.stdin, sys.stdout, sys.stderr, environ=os.environ)


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
    if not all(map(_is_text, argv)):
        Console(out, err, environ).fail("An argument is not valid UTF-8: type it anew.")
        return Exit.USAGE
    args = parser.parse(argv)
    console = Console(out, err, environ, json=args.json)
    context = Context(console=console, environ=environ, stdin=stdin, transport=transport)
    try:
        return _load(args.command)(args, context)
    except KeyboardInterrupt:
        console.err.line()
        console.note("Interrupted.")
        return Exit.INTERRUPTED
    except BrokenPipeError:
        console.out.detach()
        return Exit.BROKEN_PIPE
    except (Stop, PlacetError, SettingsError, KeyringError, ModuleNotFoundError) as fault:
        return _told(console, fault)


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
            notes = [visible(f"{issue.path or 'the request'}: {issue.message}") for issue in fault.issues]
            if isinstance(fault, Unauthenticated):
                notes.append("What was sent is what PLACET_TOKEN holds.")
            console.fail(str(fault), *notes)
            if console.json:
                console.document({"error": fault.problem()})
            return Exit.UNREACHABLE if isinstance(fault, StoreUnavailable) else Exit.FAILED
        case Stop():
            stop = fault
        case SettingsError():
            stop = Stop("The settings can't be used.", Exit.USAGE, notes=fault.problems)
        case ModuleNotFoundError():
            if (fault.name or "").partition(".")[0] not in _SERVER_LIBRARIES:
                raise fault
            stop = Stop(f"This needs the server's libraries: {INSTALL_SERVER}")
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
