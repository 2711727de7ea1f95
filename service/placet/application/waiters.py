"""Waiters: whoever waits for a record to change, woken by the stream and by nothing else.

A wake-up is a hint: whoever is woken reads the record again. A waiter is one future; a client that
hangs up, a deadline and a shutdown resolve the same future, so that nobody is left behind.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable


class Waiters:
    """Futures by record. One set per process, fed by its stream reader.

    Args:
        joined: Told of each place taken.
        left: Told of each place given back.
    """

    def __init__(
        self, joined: Callable[[], None] = lambda: None, left: Callable[[], None] = lambda: None
    ) -> None:
        self._joined = joined
        self._left = left
        self._by_record: defaultdict[tuple[str, str], set[asyncio.Future[None]]] = defaultdict(set)
        self.closing = False
        """The process is going down: answer with what is known instead of waiting."""

    def __len__(self) -> int:
        return sum(map(len, self._by_record.values()))

    def join(self, tenant: str, approval_id: str) -> asyncio.Future[None]:
        """A future that resolves when the record changes, or when :meth:`close` is called."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._joined()
        if self.closing:
            future.set_result(None)
        else:
            self._by_record[tenant, approval_id].add(future)
        return future

    def leave(self, tenant: str, approval_id: str, future: asyncio.Future[None]) -> None:
        """Give the place back, woken or not."""
        self._left()
        waiting = self._by_record.get((tenant, approval_id))
        if waiting is not None:
            waiting.discard(future)
            if not waiting:
                del self._by_record[tenant, approval_id]

    def wake(self, tenant: str, approval_id: str) -> None:
        """The record has changed."""
        for future in self._by_record.pop((tenant, approval_id), ()):
            resolve(future)

    def close(self) -> None:
        """Wake everyone, and whoever comes later at once."""
        self.closing = True
        for tenant, approval_id in list(self._by_record):
            self.wake(tenant, approval_id)


def resolve(future: asyncio.Future[None]) -> None:
    """Resolve a future that may have been resolved or abandoned before."""
    if not future.done():
        future.set_result(None)
