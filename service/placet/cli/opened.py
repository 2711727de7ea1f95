"""The store as an operator's command uses it: with the data directory's rights, or over the URL.

A command works beside a service that runs, through its store, and where none runs, through a store that
lives as long as the command. Only a command that enters somebody begins a store where there is none.
"""

import argparse
import logging
import shlex
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path

from placet.bootstrap import KEYRING_NAME, Services, open_services
from placet.cli import parser
from placet.cli.console import Console
from placet.cli.context import Context
from placet.cli.exits import Exit, Stop
from placet.settings import Settings, SettingsError, load
from placet.store.embedded import has_begun, open_embedded
from placet.store.embedded_errors import EmbeddedError
from placet.store.opened import StoreRefused, open_store
from placet.store.stream import Transition


def settings_of(args: argparse.Namespace, context: Context) -> Settings:
    """The settings as command line and environment say them.

    Raises:
        SettingsError: They can't be used.
    """
    if "@" in (args.PLACET_REDIS_URL or ""):
        context.console.warn(
            "Other users of this machine can read the password on the command line: set PLACET_REDIS_URL."
        )
    given = parser.overrides(args)
    try:
        return load(context.environ, given)
    except SettingsError as error:
        typed = [name for name, text in given.items() if text is not None]
        raise SettingsError(tuple(_as_typed(problem, typed) for problem in error.problems)) from error


def _as_typed(problem: str, typed: Sequence[str]) -> str:
    """The problem of a setting, under the option's name where that is what was typed."""
    name, _, rest = problem.partition(" ")
    return f"{parser.option(name)} {rest}" if name in typed else problem


def is_missing(settings: Settings) -> bool:
    """Whether the store is one of our own that nobody has begun yet."""
    return settings.store.embedded and not has_begun(settings.store.data_dir)


def no_store(settings: Settings) -> Stop:
    """What is said where a store is missing that a command would have looked into."""
    return Stop(
        f"There is no store at {settings.store.data_dir.absolute()}. Name the data directory of the service "
        "with --data-dir or PLACET_DATA_DIR; or start it first: `placet serve`.",
        Exit.UNREACHABLE,
    )


def named(settings: Settings, environ: Mapping[str, str]) -> str:
    """What to add to a command so that it finds this data directory; nothing where it is the usual one."""
    home = {name: environ[name] for name in ("HOME", "XDG_STATE_HOME") if name in environ}
    if not settings.store.embedded or (home and settings.store.data_dir == load(home).store.data_dir):
        return ""
    return f" --data-dir {shlex.quote(str(settings.store.data_dir.absolute()))}"


def check_is_there(settings: Settings, *, store: bool = True) -> None:
    """Refuse to begin a store, or a keyring beside a store.

    Args:
        settings: Where they are.
        store: Whether the command needs more than the keyring.

    Raises:
        Stop: One of them is missing.
    """
    ring = settings.store.data_dir / KEYRING_NAME
    lacks_ring = settings.keys.keyring_file is None and not ring.exists()
    if is_missing(settings) and (store or lacks_ring):
        raise no_store(settings)
    if lacks_ring:
        raise Stop(f"{ring.absolute()} is missing, and without it the store there is of no use: put it back.")


@contextmanager
def telling_faults() -> Iterator[None]:
    """Turn what keeps a store from being used into a plain end."""
    try:
        yield
    except (EmbeddedError, StoreRefused) as fault:
        raise Stop(str(fault), Exit.UNREACHABLE) from fault


@asynccontextmanager
async def open_socket(settings: Settings) -> AsyncIterator[Path | None]:
    """The embedded store's socket, for as long as this lasts; None where the store is an external one."""
    if not settings.store.embedded:
        yield None
        return
    async with open_embedded(settings.store.data_dir) as socket_path:
        yield socket_path


@asynccontextmanager
async def opening(
    settings: Settings,
    console: Console,
    *,
    begins: bool = False,
    heard: Callable[[Transition], None] = lambda _: None,
) -> AsyncIterator[Services]:
    """Everything over the store, for the length of one command; nothing of it runs by itself.

    Args:
        settings: Where it is.
        console: Told what takes long.
        begins: The command may begin a store and a keyring where there are none.
        heard: Told of transitions, once the command has the stream read.

    Raises:
        Stop: The store is not there, or can't be reached or used.
        KeyringError: The keyring can't be used.
    """
    if not begins:
        check_is_there(settings)
    # A command says in its own words what went wrong below.
    logging.getLogger().addHandler(logging.NullHandler())
    where = "the store" if settings.store.embedded else "the store of PLACET_REDIS_URL"
    with telling_faults():
        async with AsyncExitStack() as exits:
            with console.slowly(f"Opening {where} …"):
                socket_path = await exits.enter_async_context(open_socket(settings))
                opened = await open_store(
                    settings.store,
                    settings.limits,
                    socket_path=socket_path,
                    clock=None,
                    heard=heard,
                    observe=lambda _calls, _seconds: None,
                )
                services = await open_services(settings, store=lambda _: opened)
                exits.push_async_callback(services.close)
            yield services


@asynccontextmanager
async def operating(settings: Settings, console: Console, *, begins: bool = False) -> AsyncIterator[Services]:
    """As :func:`opening`, for commands that write.

    Raises:
        Stop: Also where the keyring is not the one that the store is used with: what is sealed with
            another would be worth nothing.
        StoreUnavailable: The store has gone again.
    """
    async with opening(settings, console, begins=begins) as services:
        await services.store.ping()
        faults = await services.readiness.faults()
        if faults:
            raise Stop(" ".join(faults))
        yield services
