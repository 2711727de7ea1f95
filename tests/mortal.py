"""A runtime whose process ends at a point of its way: what it had told and written until then stays."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from placet.client.hook import FileJournal
from placet.client.journal import Entry
from tests.harness import Harness, Party
from tests.hooks import Line, Runtime

POINTS = [
    *(f"{call}:{when}" for call in ("approvals", "get", "jwks.json", "consume", "outcome") for when in "<>"),
    *(f"{phase}:{when}" for phase in ("begun", "started", "ended", "over") for when in "<>"),
    *(f"body:{when}" for when in "<>"),
]
"""Where a process can end: before (``<``) or after (``>``) a call is done, a step written, or the effect."""


class Killed(BaseException):
    """The process has ended: nothing in it goes on."""


class Life:
    """Of a process.

    Attributes:
        until: The point at which it ends.
        over: Whether it has.
    """

    def __init__(self) -> None:
        self.until: str | None = None
        self.over = False

    def reaches(self, point: str) -> None:
        """Go on, if it may."""
        self.over = self.over or point == self.until
        if self.over:
            raise Killed


class MortalLine(Line):
    """A line that is cut when the process ends."""

    def __init__(self, app: Any, life: Life) -> None:
        super().__init__(app)
        self._life = life

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Carry a call, as long as there is somebody."""
        end = request.url.path.rpartition("/")[2]
        name = "get" if request.method == "GET" and end != "jwks.json" else end
        self._life.reaches(f"{name}:<")
        answer = await super().handle_async_request(request)
        self._life.reaches(f"{name}:>")
        return answer


class MortalJournal:
    """A machine's journal, which outlives the processes on it.

    Attributes:
        kept: The last step of each execution, and of what kind of call it was: what is in the file.
        idempotent: Of what kind the call is that is made now.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = FileJournal(path)
        self.life = Life()
        self.kept: dict[tuple[str, str], tuple[str, bool]] = {}
        self.idempotent = False

    def reopened(self, life: Life) -> "MortalJournal":
        """For the next process."""
        self._file.close()
        self._file = FileJournal(self._path)
        self.life = life
        return self

    def write(self, entry: Entry) -> None:
        """Keep it, or end before or after."""
        self.life.reaches(f"{entry.phase}:<")
        self._file.write(entry)
        self.kept[entry.approval, entry.execution] = (entry.phase, self.idempotent)
        self.life.reaches(f"{entry.phase}:>")

    def find(self, approval: str, execution: str) -> Entry | None:
        """What the file has."""
        return self._file.find(approval, execution)

    def close(self) -> None:
        """Let the file go."""
        self._file.close()


class MortalRuntime(Runtime):
    """A process that may end."""

    def __init__(
        self, h: Harness, party: Party, face: str, journal: MortalJournal | None, life: Life
    ) -> None:
        super().__init__(h, party, face, journal, line=MortalLine(h.app, life))
        self.life = life

    async def close(self) -> None:
        """Let go of its threads."""
        await self.does("aclose" if self.is_async else "close")

    def body(self, effect: Callable[..., Any]) -> Callable[..., Any]:
        """A tool's body, of which only the effect outlives the process."""

        def run(order: str, amount: int, *, key: str = "") -> str:
            self.life.reaches("body:<")
            effect({"order": order, "amount": amount}, key)
            self.life.reaches("body:>")
            return "done"

        return run
