"""The feed: every transition that a caller may see, as it happens, and from where they were left off.

1. One stream reader per process hears all of them (:mod:`placet.store.stream`); a record that changed is read
   once for everybody here who follows its tenant, and each follower is told what they may see.
2. A follower names the last entry they have, and is told all that came since, before anything new: nothing in
   between is missed, nothing is told twice. Where the stream no longer reaches back so far they hear of a gap
   first, and had better read what they need.
3. A follower's credential is looked at again at each heartbeat; one that does not count any more ends it.
4. Whoever is too slow is let go, and comes back for the rest.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress
from enum import StrEnum

from msgspec import Struct

from placet.application.callers import Caller
from placet.application.clock import Clock
from placet.application.grants import Seals
from placet.application.query import Filters, Followed
from placet.application.views import sight_of
from placet.application.waiters import resolve
from placet.domain.error_terms import RateLimitReason
from placet.domain.errors import InternalError, RateLimited, StoreUnavailable
from placet.domain.limits import SSE_HEARTBEAT_S, Limits
from placet.domain.model import Approval
from placet.store.approvals import Approvals
from placet.store.past import Past
from placet.store.stream import Transition, place_of

QUEUE_MAX = 1_000
"""Transitions that may wait for a follower: an hour of a busy tenant, or a second of a flood."""
KEPT_READINGS = 64
"""Records read for the latest transitions: followers are told of one at about the same time."""
CHUNK = 200

Renewed = Callable[[], Awaitable[Caller]]


class Told(Struct, frozen=True, kw_only=True):
    """A transition that somebody may see, and the record as it is by now."""

    transition: Transition
    approval: Approval


class Sign(StrEnum):
    """What else a follower hears."""

    GAP = "gap"
    """The stream does not reach back to where they were left off."""
    BEAT = "beat"
    """That is all so far, and their credential counts."""


class _Follower:
    """Somebody's place in the feed: what has happened and was not told yet."""

    def __init__(self) -> None:
        self.waiting: deque[Transition] = deque()
        self.is_too_slow = False
        self._woken: asyncio.Future[None] | None = None

    def hear(self, transition: Transition) -> None:
        if len(self.waiting) >= QUEUE_MAX:
            self.is_too_slow = True
            self.waiting.clear()
        if not self.is_too_slow:
            self.waiting.append(transition)
        self.wake()

    def wake(self) -> None:
        if self._woken is not None:
            resolve(self._woken)

    async def news(self, clock: Clock, seconds: float) -> None:
        """Wait until there is something, for so long at most."""
        if self.waiting or self.is_too_slow:
            return
        self._woken = woken = asyncio.get_running_loop().create_future()
        timer = clock.call_later(seconds, self.wake)
        try:
            await woken
        finally:
            timer.cancel()
            self._woken = None


class Feed:
    """The use case. :meth:`heard` is called by the process's stream reader.

    Args:
        store: The approvals.
        seals: Prove what is told.
        stream: What hears of a tenant's transitions.
        past: Reads those there were.
        clock: For the timers.
        limits: How many one caller may have.
        joined: Told of each place taken.
        left: Told of each place given back.
    """

    def __init__(
        self,
        store: Approvals,
        seals: Seals,
        stream: Followed,
        past: Past,
        clock: Clock,
        limits: Limits,
        *,
        joined: Callable[[], None] = lambda: None,
        left: Callable[[], None] = lambda: None,
    ) -> None:
        self._store = store
        self._seals = seals
        self._stream = stream
        self._past = past
        self._clock = clock
        self._limits = limits
        self._joined = joined
        self._left = left
        self._followers: dict[str, set[_Follower]] = {}
        self._places: dict[tuple[str, str], int] = {}
        self._readings: OrderedDict[tuple[str, str], asyncio.Task[Approval | None]] = OrderedDict()
        self._closing = False

    def heard(self, transition: Transition) -> None:
        """A transition has happened."""
        for follower in self._followers.get(transition.tenant, ()):
            follower.hear(transition)

    def close(self) -> None:
        """The process is going down: everybody is let go, and whoever comes later at once."""
        self._closing = True
        for followers in self._followers.values():
            for follower in followers:
                follower.wake()

    def __len__(self) -> int:
        return sum(map(len, self._followers.values()))

    async def follow(
        self, caller: Caller, filters: Filters, after: str | None, renewed: Renewed
    ) -> AsyncGenerator[Told | Sign]:
        """All that the caller may see, from now on or from behind an entry, until they hang up.

        Args:
            caller: Who follows.
            filters: What is left out.
            after: The last entry they have; ``None`` to begin now.
            renewed: Authenticates the caller again.

        Raises:
            RateLimited: They follow too often already.
            PlacetError: Their credential counts no more.
        """
        place = (caller.tenant, caller.name)
        if self._places.get(place, 0) >= self._limits.streams_per_credential:
            raise RateLimited(RateLimitReason.QUEUE_FULL)
        self._places[place] = self._places.get(place, 0) + 1
        follower = _Follower()
        self._followers.setdefault(caller.tenant, set()).add(follower)
        self._joined()
        try:
            async with aclosing(self._followed(follower, caller, filters, after, renewed)) as followed:
                async for each in followed:
                    yield each
        finally:
            self._left()
            self._leave(place, follower)

    def _leave(self, place: tuple[str, str], follower: _Follower) -> None:
        tenant, _ = place
        self._places[place] -= 1
        if not self._places[place]:
            del self._places[place]
        self._followers[tenant].discard(follower)
        if not self._followers[tenant]:
            del self._followers[tenant]

    async def _followed(
        self, follower: _Follower, caller: Caller, filters: Filters, after: str | None, renewed: Renewed
    ) -> AsyncGenerator[Told | Sign]:
        await self._stream.follow(caller.tenant)
        told = (0, 0)
        if after is not None:
            reached, after = await self._past.back_to(caller.tenant, after)
            if not reached:
                yield Sign.GAP
            told = place_of(after)
            async for transition in self._past.since(caller.tenant, after, CHUNK):
                told = place_of(transition.entry)
                if (each := await self._told(caller, filters, transition)) is not None:
                    yield each
        yield Sign.BEAT
        looked_s = self._clock.monotonic_s()
        while not (self._closing or follower.is_too_slow):
            await follower.news(self._clock, looked_s + SSE_HEARTBEAT_S - self._clock.monotonic_s())
            async for each in self._new(follower, caller, filters, told):
                told = max(told, place_of(each.transition.entry))
                yield each
            if self._clock.monotonic_s() - looked_s >= SSE_HEARTBEAT_S:
                caller = await renewed()
                looked_s = self._clock.monotonic_s()
                await self._stream.follow(caller.tenant)  # where the store could not be asked before
                yield Sign.BEAT

    async def _new(
        self, follower: _Follower, caller: Caller, filters: Filters, told: tuple[int, int]
    ) -> AsyncGenerator[Told]:
        """What has been heard since, but for what was told from the past."""
        while follower.waiting:
            transition = follower.waiting.popleft()
            if place_of(transition.entry) > told:
                each = await self._told(caller, filters, transition)
                if each is not None:
                    yield each

    async def _told(self, caller: Caller, filters: Filters, transition: Transition) -> Told | None:
        """The transition, where the caller may see the record and has not left it out."""
        approval = await self._read(transition)
        if approval is None or sight_of(caller, approval) is None or not filters.take(approval):
            return None
        return Told(transition=transition, approval=approval)

    async def _read(self, transition: Transition) -> Approval | None:
        """The record, read once for all who follow; ``None`` where there is none that can be told of."""
        name = (transition.tenant, transition.entry)
        reading = self._readings.get(name)
        if reading is None:
            reading = asyncio.ensure_future(self._reading(transition))
            self._readings[name] = reading
            if len(self._readings) > KEPT_READINGS:
                self._readings.popitem(last=False)
        try:
            return await asyncio.shield(reading)  # whoever hangs up takes it from nobody else
        except StoreUnavailable:
            self._readings.pop(name, None)
            raise

    async def _reading(self, transition: Transition) -> Approval | None:
        answer = await self._store.get(transition.tenant, transition.approval_id, epoch=None)
        if answer.record is None:
            return None
        with suppress(InternalError):  # of one that was spoilt the log has told
            self._seals.prove_asked(answer.record)
            return self._seals.opened(answer.record)
        return None
