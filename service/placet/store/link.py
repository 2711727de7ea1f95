"""The narrow door to the server: script calls of one event-loop tick travel together.

Every call is one ``EVALSHA``; those made in the same tick share one pipeline, so that with
``appendfsync always`` they also share one fsync. A batch is run by a task of its own: a caller that
is cancelled takes nothing with it and leaves no reply behind on a connection.

Faults: the client library never re-sends (it would do so blindly). ``NOSCRIPT`` is answered by one
load and one re-send. A broken connection is answered by one re-send of the whole batch, which is
sound because every script recognises its own earlier call. Whatever remains is
:class:`~placet.domain.errors.StoreUnavailable`: an unknown outcome, never a verdict.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple

from redis.asyncio import Redis
from redis.exceptions import ConnectionError as LinkDown
from redis.exceptions import NoScriptError, RedisError
from redis.exceptions import TimeoutError as LinkTimeout

from placet.domain.errors import StoreUnavailable
from placet.store.scripts import Script, load

MAX_BATCH_CALLS = 256
"""Calls in one pipeline: bounds what one slow batch can hold up."""
MAX_BATCHES_IN_FLIGHT = 4
"""Pipelines at once. More would only make smaller batches, and so more fsyncs."""

Argument = str | bytes | int
Reply = list[Any]

_log = logging.getLogger(__name__)


class Confirmation(NamedTuple):
    """How a batch is confirmed durable on its own connection before anything is answered.

    ``command`` is ``WAITAOF`` or ``WAIT`` with its arguments; ``enough`` judges its reply.
    """

    command: tuple[Argument, ...]
    enough: Callable[[Any], bool]


class _Call(NamedTuple):
    script: Script
    key: str
    args: Sequence[Argument]
    reply: asyncio.Future[Reply]


class Link:
    """Runs scripts by name.

    Args:
        client: A redis client built with no retries of its own.
        confirmations: What to wait for after each batch; none where the server syncs before it replies.
        observe: Told the number of calls and the seconds of each batch.
    """

    def __init__(
        self,
        client: Redis,
        *,
        confirmations: Sequence[Confirmation] = (),
        observe: Callable[[int, float], None] = lambda _calls, _seconds: None,
    ) -> None:
        self._client = client
        self._scripts = load()
        self._confirmations = tuple(confirmations)
        self._observe = observe
        self._waiting: list[_Call] = []
        self._scheduled = False
        self._batches: set[asyncio.Task[None]] = set()

    def call(self, name: str, key: str, args: Sequence[Argument]) -> Awaitable[Reply]:
        """Run script ``name`` on the tenant whose meta key is ``key``.

        Raises:
            StoreUnavailable: The outcome is unknown, or the state could not be confirmed durable.
        """
        loop = asyncio.get_running_loop()
        call = _Call(self._scripts[name], key, args, loop.create_future())
        self._waiting.append(call)
        if not self._scheduled:
            self._scheduled = True
            loop.call_soon(self._flush)
        return call.reply

    async def drain(self) -> None:
        """Wait until every call made so far has been answered."""
        while self._waiting or self._batches:
            await asyncio.sleep(0)
            await asyncio.gather(*self._batches)

    def _flush(self) -> None:
        self._scheduled = False
        while self._waiting and len(self._batches) < MAX_BATCHES_IN_FLIGHT:
            batch, self._waiting = self._waiting[:MAX_BATCH_CALLS], self._waiting[MAX_BATCH_CALLS:]
            task = asyncio.get_running_loop().create_task(self._run(batch))
            self._batches.add(task)
            task.add_done_callback(self._landed)

    def _landed(self, task: asyncio.Task[None]) -> None:
        self._batches.discard(task)
        self._flush()

    async def _run(self, batch: list[_Call]) -> None:
        started = asyncio.get_running_loop().time()
        try:
            replies = await self._attempt(batch)
        except (RedisError, OSError) as fault:
            _log.error("store batch failed", extra={"fault": type(fault).__name__, "calls": len(batch)})
            replies = [StoreUnavailable() for _ in batch]
        self._observe(len(batch), asyncio.get_running_loop().time() - started)
        for call, reply in zip(batch, replies, strict=True):
            if call.reply.done():  # its caller has gone
                continue
            if isinstance(reply, Exception):
                call.reply.set_exception(reply)
            else:
                call.reply.set_result(reply)

    async def _attempt(self, batch: list[_Call]) -> list[Reply | Exception]:
        try:
            replies = await self._send(batch)
        except LinkTimeout:
            raise
        except LinkDown:
            replies = await self._send(batch)
        unknown = [i for i, reply in enumerate(replies) if isinstance(reply, NoScriptError)]
        if unknown:
            again = await self._send([batch[i] for i in unknown], load_first=True)
            for i, reply in zip(unknown, again, strict=True):
                replies[i] = reply
        return [_unknown_outcome(reply) if isinstance(reply, Exception) else reply for reply in replies]

    async def _send(self, batch: list[_Call], *, load_first: bool = False) -> list[Any]:
        pipeline = self._client.pipeline(transaction=False)
        texts = {call.script.text for call in batch} if load_first else ()
        for text in texts:
            pipeline.execute_command("SCRIPT", "LOAD", text)
        for call in batch:
            pipeline.execute_command("EVALSHA", call.script.sha1, 1, call.key, *call.args)
        if self._confirmations:
            # A replay writes nothing of its own; the marker makes the wait cover what it asserts.
            for key in {call.key for call in batch}:
                pipeline.execute_command("HSET", key, "mark", "1")
            for confirmation in self._confirmations:
                pipeline.execute_command(*confirmation.command)
        replies = await pipeline.execute(raise_on_error=False)
        first = len(texts)
        answers = replies[first : first + len(batch)]
        waits = replies[len(replies) - len(self._confirmations) :]
        for confirmation, reply in zip(self._confirmations, waits, strict=True):
            if isinstance(reply, Exception) or not confirmation.enough(reply):
                _log.error("store could not confirm durability", extra={"wait": str(confirmation.command[0])})
                return [StoreUnavailable() for _ in batch]
        return list(answers)


def _unknown_outcome(fault: Exception) -> StoreUnavailable:
    if isinstance(fault, StoreUnavailable):
        return fault
    _log.error("store refused a script", extra={"fault": str(fault)[:200]})
    return StoreUnavailable()
