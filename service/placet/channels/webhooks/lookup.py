"""Names to addresses, by the machine's own resolver, which can hang."""

import asyncio
import socket
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

LOOKUPS_MAX: Final = 32
"""Names that are asked for at a time, each in a thread: one that hangs keeps its thread for half a minute."""


class Lookup:
    """Asks the resolver, for each name once at a time.

    A lookup can't be taken back, only left: so those who ask for a name that is being asked for wait for the
    same answer, and threads of ours are used up, not those that others wait for.

    Args:
        ask: As `socket.getaddrinfo`.
    """

    def __init__(self, ask: Callable[..., Sequence[Any]] = socket.getaddrinfo) -> None:
        self._ask = ask
        self._threads = ThreadPoolExecutor(LOOKUPS_MAX, thread_name_prefix="webhook-lookup")
        self._asked: dict[str, asyncio.Future[tuple[str, ...]]] = {}

    async def __call__(self, host: str) -> tuple[str, ...]:
        """All its addresses, as the resolver orders them: those first that this machine can best reach.

        Raises:
            OSError: There are none, or nobody can tell.
        """
        asked = self._asked.get(host)
        if asked is None:
            asked = asyncio.get_running_loop().run_in_executor(self._threads, self._addresses, host)
            self._asked[host] = asked
            asked.add_done_callback(lambda done: self._answered(host, done))
        return await asyncio.shield(asked)

    def close(self) -> None:
        """Ask nothing any more."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _addresses(self, host: str) -> tuple[str, ...]:
        found = self._ask(host, None, type=socket.SOCK_STREAM)
        return tuple(dict.fromkeys(address[0] for *_, address in found))

    def _answered(self, host: str, done: asyncio.Future[tuple[str, ...]]) -> None:
        del self._asked[host]
        if not done.cancelled():
            done.exception()  # whoever asked may be gone, and has then heard that it took too long
