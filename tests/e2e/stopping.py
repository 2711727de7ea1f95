"""What an agent's process is made of that may stop at a point, to be killed there, and be started again.

It reads its orders from standard input, as JSON, and says where it stopped, or how its call ended, in a line
of JSON.

=========  =====================================================================================
the point  where it stops
=========  =====================================================================================
asked      the question is approved, and nothing else has happened
begun      the grant is about to be spent, and the journal knows
spent      the grant is spent; the tool has not started
running    the tool is about to return (the tool's own body says so)
ended      the tool has returned, and the journal knows; nobody was told
reported   the service was told; the journal does not know
=========  =====================================================================================
"""

import asyncio
import json
import sys
import threading
from pathlib import Path
from typing import Any

from placet.client import Actor, AsyncClient, Client
from placet.client.hook import FileJournal, Hook, SyncHook
from placet.client.journal import Entry

AGENT = Actor(id="agent-7", kind="agent")
"""On whose behalf each calls."""

_BEFORE = {"begun": "asked", "started": "spent", "over": "reported"}


def say(**said: Any) -> None:
    """Say it."""
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()


def stop(here: str, at: str | None) -> None:
    """Stay here for good, where that is the point."""
    if here == at:
        say(at=here)
        threading.Event().wait()


class Stopping(FileJournal):
    """A journal that may stop before a step is written."""

    at: str | None = None

    def write(self, entry: Entry) -> None:
        """Keep it."""
        stop(_BEFORE.get(entry.phase, ""), self.at)
        super().write(entry)


class Halting(Client):
    """A client that may stop before it spends, and before it reports."""

    at: str | None = None

    def consume(self, *said: Any, **options: Any) -> Any:
        """Spend."""
        stop("begun", self.at)
        return super().consume(*said, **options)

    def report(self, *said: Any, **options: Any) -> Any:
        """Report."""
        stop("ended", self.at)
        return super().report(*said, **options)


class AsyncHalting(AsyncClient):
    """The same for asyncio."""

    at: str | None = None

    async def consume(self, *said: Any, **options: Any) -> Any:
        """Spend."""
        await self._stop("begun")
        return await super().consume(*said, **options)

    async def report(self, *said: Any, **options: Any) -> Any:
        """Report."""
        await self._stop("ended")
        return await super().report(*said, **options)

    async def _stop(self, here: str) -> None:
        if here == self.at:
            say(at=here)
            await asyncio.Event().wait()


class Orders:
    """What the process is to do.

    Args:
        line: The orders, where standard input is for something else.

    Attributes:
        at: Where it stops.
        idempotent: Whether its tool is.
        suspend: Whether it waits for nobody.
        handle: The question to go on with.
        directory: What outlives it.
        said: All of it.
    """

    def __init__(self, line: str | None = None) -> None:
        self.said: dict[str, Any] = json.loads(line or sys.stdin.readline())
        self.at: str | None = self.said["at"]
        self.idempotent: bool = self.said["idempotent"]
        self.suspend: bool = self.said["suspend"]
        self.handle: Any = self.said["handle"]
        self.directory = Path(self.said["directory"])
        self._names = {name: self.said[name] for name in ("tenant", "issuer")}

    def hook(self) -> SyncHook:
        """A hook for threads, over the journal of its machine."""
        client = Halting(self.said["url"], self.said["credential"])
        client.at = self.at
        return SyncHook(client, audience="runtime", journal=self._journal(), **self._names)

    def async_hook(self) -> Hook:
        """The same for asyncio."""
        client = AsyncHalting(self.said["url"], self.said["credential"])
        client.at = self.at
        return Hook(client, audience="runtime", journal=self._journal(), **self._names)

    def run(self, order: str, key: str) -> None:
        """What the tool does: a line for each time, and a stop before it returns."""
        with (self.directory / "effects").open("a") as effects:
            effects.write(f"{order} {key}\n")
        stop("running", self.at)

    def _journal(self) -> Stopping:
        journal = Stopping(self.directory / "journal")
        journal.at = self.at
        return journal
