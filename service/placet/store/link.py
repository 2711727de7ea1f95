"""The narrow door to the server: script calls of one event-loop tick travel together.

Every call is one ``EVALSHA``; those made in the same tick share one exchange, so that with
``appendfsync always`` they also share one fsync. A batch is run by a task of its own: a caller that
is cancelled takes nothing with it and leaves no reply behind on a connection.

Faults: the client library never re-sends (it would do so blindly). ``NOSCRIPT`` is answered by one
load and one re-send. A broken connection, or one to a server that has become a replica, is answered by
one re-send of the whole batch, which is sound because every script recognises its own earlier call.
Whatever remains is :class:`~placet.domain.errors.StoreUnavailable`: an unknown outcome, never a verdict.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple

import hiredis
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as LinkDown
from redis.exceptions import NoScriptError, ReadOnlyError, RedisError, ResponseError

from placet.domain.errors import StoreUnavailable
from placet.store.scripts import Script, load

MAX_BATCH_CALLS = 256
"""Calls in one exchange: bounds what one slow batch can hold up."""
MAX_BATCHES_IN_FLIGHT = 4
"""Exchanges at once. More would only make smaller batches, and so more fsyncs."""

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
    asserts: bool
    reply: asyncio.Future[Reply]


class Link:
    """Runs scripts by name.

    Args:
        client: A redis client built with no retries and no time-outs of its own.
        timeout_s: Longest wait for the replies of a batch.
        confirmations: What to wait for after each batch; none where the server syncs before it replies.
        observe: Told the number of calls and the seconds of each batch.
    """

    def __init__(
        self,
        client: Redis,
        *,
        timeout_s: float = 5.0,
        confirmations: Sequence[Confirmation] = (),
        observe: Callable[[int, float], None] = lambda _calls, _seconds: None,
    ) -> None:
        self._client = client
        self._timeout_s = timeout_s
        self._scripts = load()
        self._confirmations = tuple(confirmations)
        self._observe = observe
        self._waiting: list[_Call] = []
        self._scheduled = False
        self._batches: set[asyncio.Task[None]] = set()

    def call(
        self, name: str, key: str, args: Sequence[Argument], *, asserts: bool = True
    ) -> Awaitable[Reply]:
        """Run script ``name`` on the tenant whose meta key is ``key``.

        ``asserts``: the reply asserts a state, which therefore has to be confirmed durable. Not so where
        a credential is looked up: that would let whoever makes one up write a key of its tenant's.

        Raises:
            StoreUnavailable: The outcome is unknown, or the state could not be confirmed durable.
        """
        loop = asyncio.get_running_loop()
        call = _Call(self._scripts[name], key, args, asserts, loop.create_future())
        self._waiting.append(call)
        if not self._scheduled:
            self._scheduled = True
            loop.call_soon(self._flush)
        return call.reply

    async def drain(self) -> None:
        """Wait until every call made so far has been answered."""
        while self._waiting or self._batches:
            await asyncio.sleep(0)
            await asyncio.gather(*map(asyncio.shield, self._batches), return_exceptions=True)

    async def close(self) -> None:
        """Answer what was asked, then let the connections go."""
        await self.drain()
        await self._client.aclose()

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
        replies: Sequence[Reply | Exception] = [StoreUnavailable() for _ in batch]
        try:
            replies = await self._attempt(batch)
        except (RedisError, OSError) as fault:
            _log.error("store batch failed", extra={"fault": type(fault).__name__, "calls": len(batch)})
        finally:  # whatever happened, no caller is left waiting
            for call, reply in zip(batch, replies, strict=True):
                if call.reply.done():  # its caller has gone
                    continue
                if isinstance(reply, Exception):
                    call.reply.set_exception(reply)
                else:
                    call.reply.set_result(reply)
        self._observe(len(batch), asyncio.get_running_loop().time() - started)

    async def _attempt(self, batch: list[_Call]) -> list[Reply | Exception]:
        try:
            replies = await self._send(batch)
        except (LinkDown, ConnectionError):
            replies = await self._send(batch)
        unknown = [i for i, reply in enumerate(replies) if isinstance(reply, NoScriptError)]
        if unknown:
            again = await self._send([batch[i] for i in unknown], load_first=True)
            for i, reply in zip(unknown, again, strict=True):
                replies[i] = reply
        return [_unknown_outcome(reply) if isinstance(reply, Exception) else reply for reply in replies]

    async def _send(self, batch: list[_Call], *, load_first: bool = False) -> list[Any]:
        texts = {call.script.text for call in batch} if load_first else ()
        commands: list[tuple[Argument, ...]] = [("SCRIPT", "LOAD", text) for text in texts]
        commands += [("EVALSHA", call.script.sha1, 1, call.key, *call.args) for call in batch]
        # A replay writes nothing of its own; the marker makes the waits cover what it asserts.
        marked = {call.key for call in batch if call.asserts} if self._confirmations else ()
        commands += [("HSET", key, "mark", "1") for key in marked]
        commands += [confirmation.command for confirmation in self._confirmations if marked]
        replies = await self._exchange(commands)
        if any(isinstance(reply, ReadOnlyError) for reply in replies):
            # A failover left us with a replica; the address may lead to the new primary by now.
            await self._client.connection_pool.disconnect(inuse_connections=False)
            raise LinkDown("the server has become a replica")
        first, after = len(texts), len(texts) + len(batch)
        if self._confirmed(replies[after : after + len(marked)], replies[after + len(marked) :]):
            return replies[first:after]
        return [StoreUnavailable() for _ in batch]

    def _confirmed(self, marks: Sequence[Any], waits: Sequence[Any]) -> bool:
        for mark in marks:
            if isinstance(mark, Exception):
                _log.error("store could not write a marker", extra={"fault": str(mark)[:200]})
                return False
        for confirmation, reply in zip(self._confirmations if marks else (), waits, strict=True):
            if isinstance(reply, Exception) or not confirmation.enough(reply):
                _log.error("store could not confirm durability", extra={"wait": str(confirmation.command[0])})
                return False
        return True

    async def _exchange(self, commands: Sequence[tuple[Argument, ...]]) -> list[Any]:
        """Send all, then read all: the library's connection without its pipeline.

        The pipeline packs commands in Python and arms a timer for each reply, a quarter of the cost of
        a call; here commands are packed in C and one moment ends it all, the handshake of a new
        connection too: a server that has stopped still lets itself be connected to.
        """
        pool: Any = self._client.connection_pool
        pack: Any = hiredis.pack_command  # its stub takes one-tuples only
        ends_s = asyncio.get_running_loop().time() + self._timeout_s
        async with asyncio.timeout_at(ends_s):
            connection = await pool.get_connection()
        try:
            async with asyncio.timeout_at(ends_s):
                packed = b"".join(map(pack, commands))
                await connection.send_packed_command([packed], check_health=False)
                return [await _reply(connection) for _ in commands]
        except BaseException:
            # Replies that are still to come would be taken for those of the next batch.
            await connection.disconnect(nowait=True)
            raise
        finally:
            await pool.release(connection)


async def _reply(connection: Any) -> Any:  # noqa: ANN401 - the library's types, and any reply
    try:
        return await connection.read_response(disable_decoding=True)
    except ResponseError as refusal:
        return refusal


def _unknown_outcome(fault: Exception) -> StoreUnavailable:
    if isinstance(fault, StoreUnavailable):
        return fault
    _log.error("store refused a script", extra={"fault": str(fault)[:200]})
    return StoreUnavailable()
