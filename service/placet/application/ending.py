"""How a task is ended."""

import asyncio
from typing import Any, Final

_AGAIN_S: Final = 0.05


async def end(task: asyncio.Task[Any]) -> None:
    """Cancel a task, and wait until it has ended; what it raised is nobody's.

    A cancellation can be lost on its way (``asyncio.wait_for`` before Python 3.12, which the store's client
    uses), so it is repeated. ``asyncio.wait``, unlike ``await task``, never takes our own end for the task's.
    """
    while not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=_AGAIN_S)
    if not task.cancelled():
        task.exception()  # or it would be told of as one that nobody has looked at
