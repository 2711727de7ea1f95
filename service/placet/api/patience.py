"""A time limit that costs nothing where it is not needed.

``asyncio.timeout`` arms a timer for each use. Nearly every body is there before it is read, and a timer for
it took as long as the reading. Here all that is under way shares one timer, which looks now and then who is
late.
"""

import asyncio
from types import TracebackType
from typing import Final


class Patience:
    """Ends what takes too long, in whichever tasks; the limits should be alike."""

    def __init__(self) -> None:
        self._under_way: dict[Limit, None] = {}  # the first to be late before the others
        self._timer: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def limit(self, seconds: float) -> "Limit":
        """A context manager that what is done in it does not outlast.

        Raises:
            TimeoutError: It did, when it is left.
        """
        return Limit(self, seconds)

    def begin(self, limit: "Limit", loop: asyncio.AbstractEventLoop) -> None:
        """Watch over it."""
        self._under_way[limit] = None
        if self._timer is None or self._loop is not loop or limit.until_s < self._timer.when():
            self._look_at(limit.until_s, loop)

    def end(self, limit: "Limit") -> None:
        """It is over, or was ended."""
        self._under_way.pop(limit, None)

    def _look_at(self, at_s: float, loop: asyncio.AbstractEventLoop) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._loop, self._timer = loop, loop.call_at(at_s, self._look, loop)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        now_s = loop.time()
        for limit in [*self._under_way]:
            if limit.until_s > now_s:
                self._look_at(limit.until_s, loop)
                return
            self.end(limit)
            limit.expire()


class Limit:
    """What :meth:`Patience.limit` gives; used once."""

    __slots__ = ("_cancelling", "_is_late", "_patience", "_seconds", "_task", "until_s")

    def __init__(self, patience: Patience, seconds: float) -> None:
        self._patience: Final = patience
        self._seconds: Final = seconds
        self._is_late = False

    def __enter__(self) -> None:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("only what a task does can be ended")
        loop = task.get_loop()
        self._task, self._cancelling, self.until_s = task, task.cancelling(), loop.time() + self._seconds
        self._patience.begin(self, loop)

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, _: TracebackType | None
    ) -> None:
        self._patience.end(self)
        # As asyncio.timeout: a task that somebody else has cancelled too is cancelled.
        if self._is_late and self._task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise TimeoutError from fault

    def expire(self) -> None:
        """Its time is over."""
        self._is_late = True
        self._task.cancel()
