"""``placet serve``: run the service until a signal ends it.

SIGTERM and SIGINT stop it in good order, a second one at once (the store's guard then stops the store).
SIGHUP has it read the rules again and put them in force, and the keyring, which it does by itself twice a
minute.
"""

import argparse
import asyncio
import logging
import os
import signal
from contextlib import AsyncExitStack, suppress
from typing import Final

import uvloop

from placet.cli.announce import announce
from placet.cli.collecting import leave_alone_what_stays
from placet.cli.context import Context
from placet.cli.exits import Exit, Stop
from placet.cli.opened import settings_of
from placet.cli.running import Running, running
from placet.domain.errors import StoreUnavailable
from placet.observability import logs
from placet.settings import Settings

WATCH_EVERY_S: Final = 30.0
"""How often store and keyring are looked at (design §6: a revocation holds everywhere, soon)."""

_log = logging.getLogger(__name__)


def run(args: argparse.Namespace, context: Context) -> int:
    """Run the service; come back when it has stopped."""
    settings = settings_of(args, context)
    logs.configure(settings.logs, context.console.err.stream)
    command = _Serve(settings, context)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(command.run())


class _Serve:
    """One run of the service, from its start to its end."""

    def __init__(self, settings: Settings, context: Context) -> None:
        self._settings = settings
        self._context = context
        self._told_to_stop = asyncio.Event()
        self._look_again = asyncio.Event()
        self._read_again = False

    async def run(self) -> int:
        """Start, announce, wait for an end, stop.

        Raises:
            Stop: It can't be started, or its store is lost for good.
        """
        self._listen_to_signals()
        async with AsyncExitStack() as exits:
            starting = asyncio.create_task(exits.enter_async_context(running(self._settings)))
            stopping = asyncio.create_task(self._told_to_stop.wait())
            with self._context.console.slowly("Starting …"):
                await asyncio.wait({starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if not starting.done():
                starting.cancel()
                with suppress(asyncio.CancelledError):
                    await starting
                return Exit.OK
            service = starting.result()
            leave_alone_what_stays()
            watching = asyncio.create_task(self._watch(service))
            await announce(service, self._context)
            lost = await self._until_the_end(service, stopping)
            watching.cancel()
            if lost is None:
                self._tell_stopping()
        if lost is not None:
            raise lost
        self._context.console.note("Stopped.") if self._is_watched else _log.info("stopped")
        return Exit.OK

    @property
    def _is_watched(self) -> bool:
        return self._context.console.err.is_terminal

    def _listen_to_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop, number)
        loop.add_signal_handler(signal.SIGHUP, self._hung_up)

    def _stop(self, number: signal.Signals) -> None:
        if self._told_to_stop.is_set():
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        self._told_to_stop.set()

    def _hung_up(self) -> None:
        """End with the terminal that a person runs the service in; elsewhere read rules and keyring again."""
        if self._is_watched and not _has_terminal():
            self._told_to_stop.set()
        self._read_again = True
        self._look_again.set()

    async def _until_the_end(self, service: Running, stopping: asyncio.Task[bool]) -> Stop | None:
        """Wait for a signal (None), or for what the service can't go on without."""
        embedded = service.services.embedded
        losing = None if embedded is None else asyncio.create_task(embedded.wait_lost())
        ends = [task for task in (stopping, service.ended, losing) if task is not None]
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        if stopping.done():
            return None
        if losing is not None and losing.done():
            log_file = self._settings.store.data_dir / "valkey.log"
            return Stop(
                f"The embedded store is lost: {losing.result()}. Its log, {log_file}, says more; mend that "
                "and start again. What was acknowledged is on the disk.",
                Exit.UNREACHABLE,
            )
        service.ended.result()
        return Stop("The service stopped answering, and its log does not say why.")

    async def _watch(self, service: Running) -> None:
        """Look at store and keyring now and then, and tell what changes; calls find out by themselves."""
        known: list[str] = []
        while True:
            self._look_again.clear()
            if self._read_again:
                self._read_again = False
                try:
                    await service.services.activation.reload()
                except StoreUnavailable:  # which the look that follows tells; the next one tries again
                    self._read_again = True
            faults = await service.services.readiness.faults()
            if faults != known:
                for fault in faults:
                    _log.error("not ready", extra={"fault": fault})
                if not faults:
                    _log.info("ready again")
            known = faults
            with suppress(TimeoutError):
                await asyncio.wait_for(self._look_again.wait(), WATCH_EVERY_S)

    def _tell_stopping(self) -> None:
        grace_s = self._settings.server.shutdown_grace_ms / 1_000
        if self._is_watched:
            self._context.console.note(
                f"\nStopping; open requests have up to {grace_s:g} s. Ctrl-C again ends it at once."
            )
        else:
            _log.info("stopping", extra={"grace_s": grace_s})


def _has_terminal() -> bool:
    """Whether the terminal that this was started in is still there."""
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY))
    except OSError:
        return False
    return True
