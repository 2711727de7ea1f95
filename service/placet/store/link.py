"""The narrow door to the server: script calls of one event-loop tick travel together.

Every call is one ``EVALSHA``; those made in the same tick share one exchange, so that with
``appendfsync always`` they also share one fsync. A batch is nobody's own: a caller that is cancelled takes
nothing with it and leaves no reply behind on a connection.

Faults: the client library never re-sends (it would do so blindly). ``NOSCRIPT`` is answered by one
load and one re-send. A broken connection, or one to a server that has become a replica, is answered by
one re-send of what nobody has heard of yet, which is sound because every script recognises its own earlier
call. Whatever remains is :class:`~placet.domain.errors.StoreUnavailable`: an unknown outcome, never a
verdict.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple

import hiredis
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as LinkDown
from redis.exceptions import NoScriptError, ReadOnlyError, RedisError

from placet.domain.errors import StoreUnavailable
from placet.store.scripts import Script, load
from placet.store.wires import Exchange, Wires

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
    packed: bytes
    asserts: bool
    reply: asyncio.Future[Reply]

    def answer(self, reply: Reply) -> None:
        if not self.reply.done():  # else its caller has gone
            self.reply.set_result(reply)

    def fail(self) -> None:
        if not self.reply.done():
            self.reply.set_exception(StoreUnavailable())


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
        self._wires = Wires(client)
        self._timeout_s = timeout_s
        self._scripts = load()
        self._confirmations = tuple(confirmations)
        self._observe = observe
        self._waiting: list[_Call] = []
        self._scheduled = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._under_way: set[asyncio.Future[None]] = set()

    def call(
        self, name: str, key: str, args: Sequence[Argument], *, asserts: bool = True
    ) -> Awaitable[Reply]:
        """Run script ``name`` on the tenant whose meta key is ``key``.

        ``asserts``: the reply asserts a state, which therefore has to be confirmed durable. Not so where
        a credential is looked up: that would let whoever makes one up write a key of its tenant's.

        Raises:
            StoreUnavailable: The outcome is unknown, or the state could not be confirmed durable.
        """
        loop = self._loop
        if loop is None:  # asking for it each time is a system call
            loop = self._loop = asyncio.get_running_loop()
        script = self._scripts[name]
        packed = _pack("EVALSHA", script.sha1, 1, key, *args)
        call = _Call(script, key, packed, asserts, loop.create_future())
        self._waiting.append(call)
        if not self._scheduled:
            self._scheduled = True
            loop.call_soon(self._flush)
        return call.reply

    async def drain(self) -> None:
        """Wait until every call made so far has been answered."""
        while self._waiting or self._under_way:
            await asyncio.sleep(0)
            await asyncio.gather(*map(asyncio.shield, self._under_way), return_exceptions=True)

    async def close(self) -> None:
        """Answer what was asked, then let the connections go."""
        await self.drain()
        await self._wires.close()
        await self._client.aclose()

    def _flush(self) -> None:
        self._scheduled = False
        while self._waiting and len(self._under_way) < MAX_BATCHES_IN_FLIGHT:
            calls, self._waiting = self._waiting[:MAX_BATCH_CALLS], self._waiting[MAX_BATCH_CALLS:]
            self._run(calls)

    def _run(self, calls: Sequence[_Call]) -> None:
        loop = asyncio.get_running_loop()
        began_s, landed = loop.time(), loop.create_future()
        self._under_way.add(landed)

        def land(_: object = None) -> None:
            for call in calls:  # whatever happened, no caller is left waiting
                call.fail()
            self._observe(len(calls), loop.time() - began_s)
            self._under_way.discard(landed)
            landed.set_result(None)
            self._flush()

        def ended(batch: _Batch, fault: Exception | None) -> None:
            if fault is None and not batch.is_refused:
                batch.settle()
                land()
            else:
                self._wires.work(self._mend(batch, fault)).add_done_callback(land)

        self._wires.carry(_Batch(calls, self._confirmations, began_s + self._timeout_s, ended))

    async def _mend(self, batch: "_Batch", fault: Exception | None) -> None:
        """Do for a batch what can be done without asking its callers again."""
        try:
            if fault is None:
                fault = await self._replaced(batch)
            waiting = batch.unanswered()
            if not waiting:
                return
            if isinstance(fault, LinkDown | ConnectionError):
                batch = await self._again(waiting)
            elif fault is not None:
                raise fault
            unknown = batch.settle()
            if unknown:
                unknown = (await self._again(unknown, load_first=True)).settle()
            if unknown:
                _log.error("store forgets the scripts it is given", extra={"calls": len(unknown)})
        except (RedisError, OSError) as fault:
            _log.error("store batch failed", extra={"fault": type(fault).__name__, "calls": len(batch.calls)})

    async def _again(self, calls: Sequence[_Call], *, load_first: bool = False) -> "_Batch":
        loop = asyncio.get_running_loop()
        landed: asyncio.Future[_Batch] = loop.create_future()

        def ended(batch: _Batch, fault: Exception | None) -> None:
            if fault is None:
                landed.set_result(batch)
            else:
                landed.set_exception(fault)

        until_s = loop.time() + self._timeout_s
        self._wires.carry(_Batch(calls, self._confirmations, until_s, ended, load_first=load_first))
        batch = await landed
        fault = await self._replaced(batch)
        if fault is not None:
            raise fault
        return batch

    async def _replaced(self, batch: "_Batch") -> LinkDown | None:
        """What is wrong with a server that only copies another by now."""
        if not any(isinstance(reply, ReadOnlyError) for reply in batch.replies):
            return None
        # A failover left us with a replica; the address may lead to the new primary by now.
        await self._wires.disconnect()
        return LinkDown("the server has become a replica")


class _Batch(Exchange):
    """Calls that travel together, and what makes sure of their durability.

    Where nothing has to be confirmed, each caller hears of its reply as it comes.
    """

    def __init__(
        self,
        calls: Sequence[_Call],
        confirmations: Sequence[Confirmation],
        until_s: float,
        ended: "Callable[[_Batch, Exception | None], None]",
        *,
        load_first: bool = False,
    ) -> None:
        self.calls = calls
        self.until_s = until_s
        self.replies: list[Any] = []
        self.is_refused = False  # anything of it, or answered with what no script answers
        self._ended = ended
        texts = {call.script.text for call in calls} if load_first else ()
        # A replay writes nothing of its own; the marker makes the waits cover what it asserts.
        marked = {call.key for call in calls if call.asserts} if confirmations else ()
        self._confirmations = confirmations if marked else ()
        self._first, self._after = len(texts), len(texts) + len(calls)
        commands = [_pack("SCRIPT", "LOAD", text) for text in texts]
        commands += [call.packed for call in calls]
        commands += [_pack("HSET", key, "mark", "1") for key in marked]
        commands += [_pack(*confirmation.command) for confirmation in self._confirmations]
        self.packed, self.count = b"".join(commands), len(commands)

    def replied(self, reply: Any) -> None:  # noqa: ANN401 - any reply
        """The next one."""
        place = len(self.replies) - self._first
        self.replies.append(reply)
        if not 0 <= place < len(self.calls):
            self.is_refused |= isinstance(reply, Exception)
        elif not _is_answer(reply):
            self.is_refused = True
        elif not self._confirmations:
            self.calls[place].answer(reply)

    def ended(self, fault: Exception | None) -> None:
        """That was it."""
        self._ended(self, fault)

    def unanswered(self) -> Sequence[_Call]:
        """The calls whose callers still wait: what the others go on to do must not be overtaken."""
        return [call for call in self.calls if not call.reply.done()]

    def settle(self) -> Sequence[_Call]:
        """Answer the callers; those whose script the server does not know are left, and returned."""
        if not (self._confirmations or self.is_refused):
            return ()  # each has heard already
        unknown = []
        is_confirmed = self._is_confirmed()
        answers = self.replies[self._first : self._after]
        for call, reply in zip(self.calls, answers, strict=True):
            if not is_confirmed:
                call.fail()
            elif isinstance(reply, NoScriptError):
                unknown.append(call)
            elif not _is_answer(reply):
                fault = str(reply)[:200] if isinstance(reply, Exception) else type(reply).__name__
                _log.error("store refused a script", extra={"fault": fault})
                call.fail()
            else:
                call.answer(reply)
        return unknown

    def _is_confirmed(self) -> bool:
        marks = self.replies[self._after : self.count - len(self._confirmations)]
        for mark in marks:
            if isinstance(mark, Exception):
                _log.error("store could not write a marker", extra={"fault": str(mark)[:200]})
                return False
        waits = self.replies[self.count - len(self._confirmations) :]
        for confirmation, reply in zip(self._confirmations, waits, strict=True):
            if isinstance(reply, Exception) or not confirmation.enough(reply):
                _log.error("store could not confirm durability", extra={"wait": str(confirmation.command[0])})
                return False
        return True


def _is_answer(reply: Any) -> bool:  # noqa: ANN401 - any reply
    """Whether it is what scripts answer: a list that begins with the ruling."""
    return type(reply) is list and len(reply) > 0 and type(reply[0]) is bytes


def _pack(*words: Argument) -> bytes:
    pack: Any = hiredis.pack_command  # its stub takes one-tuples only
    packed: bytes = pack(words)
    return packed
