"""What runs in this process: which grants are in hand here, and how a function is called that may block."""

import asyncio
from collections.abc import Callable
from threading import Lock
from typing import Any
from weakref import WeakValueDictionary

from placet.client.hook_values import GoAhead


class Running:
    """The grants that are in hand in this process, from before they are spent until that is reported.

    How one of them ends will be known, so that it is not unknown; and none is started beside itself, be its
    tool idempotent. One that is let go of without a report is none any more.
    """

    def __init__(self) -> None:
        self._those: WeakValueDictionary[str, GoAhead] = WeakValueDictionary()
        self._mutex = Lock()

    def takes(self, go: GoAhead) -> bool:
        """Take one in hand; False where another of its approval is."""
        with self._mutex:
            return self._those.setdefault(go.approval.id, go) is go

    def over(self, go: GoAhead) -> None:
        """It has ended."""
        with self._mutex:
            if self._those.get(go.approval.id) is go:
                del self._those[go.approval.id]

    def __contains__(self, approval_id: str) -> bool:
        return approval_id in self._those


async def in_thread(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - its own
    """Call what may block; as in ``asyncio.to_thread``, whatever it raises."""

    def call() -> Any:  # noqa: ANN401 - as above
        try:
            return function(*args, **kwargs)
        except StopIteration as stop:  # which no future takes: who waits for it would wait for ever
            raise RuntimeError("a tool raised StopIteration") from stop

    return await asyncio.to_thread(call)
