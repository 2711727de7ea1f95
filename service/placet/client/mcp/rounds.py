"""Questions that are found by what they are about, for calls that have no ids of their own.

The id of a question is made of all that is bound of the call, and of a number: its *round*. So there is one
question at a time about a call, whoever calls from how many processes, and the next round begins once it is
over. By the newest question of a call:

==========================================  ===========================================================
the newest question                         the call
==========================================  ===========================================================
none; expired; withdrawn; the tool failed   asks
pending; approved                           goes on with it
rejected; has run                           is answered with that for a while, and asks then
spent, and nobody knows how it ended        is answered with that for a while, and asks then, unless the
                                            journal knows better or the tool is idempotent
==========================================  ===========================================================

Rounds follow each other without a gap, so the newest is found in a few reads, and nothing of it is kept here.
When the records of old rounds are dropped in the end, their numbers come into use again: somebody may be
asked once more than needed by this, and nothing runs by it.
"""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from weakref import WeakValueDictionary

from placet.client.handles import Handle, hash_of
from placet.client.hook_async import Grant, Hook
from placet.client.questions import ToolCall
from placet.client.refusals import ApprovalRefused, ExecutionUnknown
from placet.client.shapes import Approval
from placet.domain.canonical import canonicalize, sha256_hex
from placet.domain.errors import ApprovalNotFound
from placet.domain.model import OutcomeStatus, Status, Verdict

_NAME_CHARS: Final = 32
_REASONS_MAX: Final = 32


class Rounds:
    """The rounds of a hook's calls.

    Args:
        hook: The hook.
        again_after_s: How long a call that was rejected, or has run, is answered with that; the service's
            times are held against this machine's clock.
    """

    def __init__(self, hook: Hook, again_after_s: float) -> None:
        self._hook = hook
        self._again_after = timedelta(seconds=again_after_s)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def authorize(self, call: ToolCall, asking: Mapping[str, Any]) -> Grant:
        """The go-ahead for a call.

        Raises:
            HookRefusal: It may not run, or not yet.
            PlacetError: It can't be looked up.
        """
        which = [self._hook.expected.audience, asking.get("run"), hash_of(call)]
        name = sha256_hex(canonicalize(which))[:_NAME_CHARS]
        async with self._locks.setdefault(name, asyncio.Lock()):
            return await self._authorized(name, call, asking)

    def again_at(self, refusal: ApprovalRefused) -> datetime | None:
        """From when on a call that has run is a new one."""
        done = refusal.outcome
        return None if done is None or done.status != OutcomeStatus.SUCCEEDED else done.at + self._again_after

    async def _authorized(self, name: str, call: ToolCall, asking: Mapping[str, Any]) -> Grant:
        number, last = await self._newest(name)
        if last is not None and (_is_open(last) or self._is_recent(last)):
            try:
                return await self._resumed(last, call, asking)
            except ExecutionUnknown:
                if self._is_recent(last) or not _is_unknown(last):
                    raise
        return await self._asked(f"{name}-{number + 1}", last, call, asking)

    async def _newest(self, name: str) -> tuple[int, Approval | None]:
        """The number of the newest question, and its record; -1 where there is none."""
        newest, last, beyond = -1, None, 0
        while (found := await self._read(f"{name}-{beyond}")) is not None:
            newest, last, beyond = beyond, found, 2 * beyond + 1
            if _is_open(found):
                return newest, last
        while beyond - newest > 1:
            middle = (newest + beyond) // 2
            found = await self._read(f"{name}-{middle}")
            newest, last, beyond = (newest, last, middle) if found is None else (middle, found, beyond)
        return newest, last

    async def _read(self, approval_id: str) -> Approval | None:
        try:
            return await self._hook.client.get(approval_id)
        except ApprovalNotFound:
            return None

    async def _resumed(self, last: Approval, call: ToolCall, asking: Mapping[str, Any]) -> Grant:
        asked = last.requested.digest if last.requested else last.digest
        handle = Handle(
            approval=last.id,
            digest=asked or "",
            call=hash_of(call),
            capability=call.capability,
            run=asking.get("run"),
            call_id=last.id,
        )
        said: Any = asking
        return await self._hook.resume(
            handle, call.input, actor=call.actor, effect=call.effect, context=call.context, **said
        )

    async def _asked(
        self, approval_id: str, last: Approval | None, call: ToolCall, asking: Mapping[str, Any]
    ) -> Grant:
        said: Any = {**asking, "id": approval_id}
        if last is not None:
            reasons = list(asking.get("reasons", ()))[: _REASONS_MAX - 1]
            said["reasons"] = [*reasons, f"The same call was {_was(last)} before: approval {last.id}"]
        return await self._hook.authorize(
            call.capability,
            call.input,
            actor=call.actor,
            effect=call.effect,
            context=call.context,
            call_id=approval_id,
            **said,
        )

    def _is_recent(self, last: Approval) -> bool:
        """Whether a call is still answered with how its last question ended."""
        since = _since(last)
        if since is None:
            return False
        now = datetime.fromtimestamp(self._hook.expected.now_ms() / 1000, UTC)
        return now < since + self._again_after


def _is_open(last: Approval) -> bool:
    return last.is_pending or last.is_approved or _is_unknown(last)


def _is_unknown(last: Approval) -> bool:
    return last.status == Status.CONSUMED and last.outcome is None


def _was(last: Approval) -> str:
    return "spent, and its end never reported," if _is_unknown(last) else "asked about"


def _since(last: Approval) -> datetime | None:
    """Since when it has its answer; None where there is none that holds."""
    if last.status == Status.REJECTED:
        return max((each.at for each in last.decisions if each.decision == Verdict.REJECT), default=None)
    if last.outcome is not None:
        return last.outcome.at if last.outcome.status == OutcomeStatus.SUCCEEDED else None
    return None if last.consumption is None else last.consumption.at
