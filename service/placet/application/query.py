"""Read: one record, at once or when it changes; pages of them; a trail."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Protocol

from msgspec import Struct

from placet.application.callers import Caller
from placet.application.clock import Clock
from placet.application.cursors import cursor_of, cursor_to, member_of
from placet.application.grants import Seals
from placet.application.rights import Rights
from placet.application.rulings import error_for
from placet.application.views import Sight, sight_of
from placet.application.waiters import Waiters, resolve
from placet.domain.errors import ApprovalNotFound, Forbidden, InternalError
from placet.domain.model import Approval, Status, TrailEntry
from placet.domain.principals import Client, Principal, Scope
from placet.domain.tally import Tally
from placet.store import keys
from placet.store.approvals import Approvals
from placet.store.record import Record
from placet.tokens.claims import ApproverClaim
from placet.tokens.issue import mint
from placet.tokens.keyring import KeyringError
from placet.tokens.keyring_file import KeyringFile

FALLBACK_S = 15.0
"""How long a waiter trusts the stream before it looks for itself: the cost of a lost wake-up."""
_SCAN_PAGES = 5
_SCAN_CHUNK = 200
"""One filtered page looks through at most so many pages of so many records before it comes back short."""

REJECTED_MAX = 20
"""How many earlier rejections of what somebody decides are looked at."""

_log = logging.getLogger(__name__)

Gone = Callable[[], Coroutine[Any, Any, None]]


class Followed(Protocol):
    """The stream reader, as far as a waiter needs it."""

    async def follow(self, tenant: str) -> None:
        """Have every later transition of the tenant wake its waiters."""
        ...


class Seen(Struct, frozen=True, kw_only=True):
    """A record, how much of it the caller sees, and the token where there is one for them.

    ``suspended`` is what using its grant is refused with, where it is.
    """

    record: Record
    approval: Approval
    sight: Sight
    suspended: Forbidden | None = None
    token: str | None = None


class Filters(Struct, frozen=True, kw_only=True):
    """What a list is narrowed to; ``words``: each is a part of what stands in a list, in whatever case."""

    status: Status | None = None
    capability: str | None = None
    actor_id: str | None = None
    run: str | None = None
    words: tuple[str, ...] = ()

    def take(self, approval: Approval) -> bool:
        """Whether the record belongs in the list."""
        ask = approval.ask
        return (
            self.status in {None, approval.status}
            and self.capability in {None, ask.capability}
            and self.actor_id in {None, ask.actor.id}
            and self.run in {None, ask.run}
            and (not self.words or self._says(approval))
        )

    def _says(self, approval: Approval) -> bool:
        ask = approval.ask
        people = (cast.vote.approver for cast in approval.votes)
        named = (name for each in people for name in (each.id, each.display_name))
        actor = (ask.actor.id, ask.actor.display_name, *ask.actor.on_behalf_of)
        listed = (ask.id, ask.capability, ask.asked_by, ask.run, *actor, *named)
        text = "\n".join(filter(None, listed)).casefold()
        return all(word.casefold() in text for word in self.words)


class Listed(Struct, frozen=True, kw_only=True):
    """A page, newest first; it may be short while ``next_cursor`` is set."""

    items: tuple[Seen, ...]
    next_cursor: str | None


class ReadApprovals:
    """The use cases.

    Args:
        store: The approvals.
        seals: Prove what is shown, and what a token is minted for.
        rights: Remember what is found of a grant whose token is fetched.
        ring: Keys to mint tokens with.
        issuer: The ``iss`` of our tokens.
        waiters: Those of this process.
        stream: What wakes them.
        clock: For the timers of waiting.
    """

    def __init__(
        self,
        store: Approvals,
        seals: Seals,
        rights: Rights,
        ring: KeyringFile,
        issuer: str,
        waiters: Waiters,
        stream: Followed,
        clock: Clock,
    ) -> None:
        self._store = store
        self._seals = seals
        self._rights = rights
        self._ring = ring
        self._issuer = issuer
        self._waiters = waiters
        self._stream = stream
        self._clock = clock

    async def get(self, caller: Caller, approval_id: str, *, polled: bool = True) -> Seen:
        """One record as of now, with a fresh token where the caller may have one.

        ``polled``: as :meth:`placet.store.approvals.Approvals.get`.

        Raises:
            ApprovalNotFound: There is none, or none that the caller may see.
            Rejudge: Credentials changed meanwhile.
        """
        answer = await self._store.get(caller.tenant, approval_id, epoch=caller.epoch, polled=polled)
        if answer.record is None:
            raise error_for(answer.ruling)
        approval = self._seals.opened(answer.record)
        sight = sight_of(caller, approval)
        if sight is None:
            raise ApprovalNotFound
        check_shown(self._seals, answer.record, approval, sight)
        suspended = self._rights.judge(caller, approval).refusal
        return Seen(
            record=answer.record,
            approval=approval,
            sight=sight,
            suspended=suspended,
            token=self._token(caller, approval) if suspended is None else None,
        )

    async def wait(self, caller: Caller, approval_id: str, *, until_s: float, gone: Gone) -> Seen:
        """The record as soon as it is no longer pending, else as it is at ``until_s`` on ``monotonic_s``.

        The place is taken before the record is read, so a change in between is not missed. ``gone``
        returns when the client has hung up.
        """
        loop = asyncio.get_running_loop()
        await self._stream.follow(caller.tenant)
        hung_up: asyncio.Task[None] | None = None
        try:
            while True:
                changed = self._waiters.join(caller.tenant, approval_id)
                try:
                    # Next it is read when it has changed: to keep what it is would make each waiter larger.
                    seen = await self.get(caller, approval_id, polled=False)
                    left_s = until_s - self._clock.monotonic_s()
                    over = self._waiters.closing or left_s <= 0 or (hung_up is not None and hung_up.done())
                    if seen.approval.status is not Status.PENDING or over:
                        return seen
                    if hung_up is None:
                        hung_up = loop.create_task(gone())
                    dies_s = (seen.approval.expires_at_ms - seen.approval.now_ms + 1) / 1000
                    del seen  # whoever waits holds on to as little as can be
                    await self._changed(changed, hung_up, min(left_s, dies_s, FALLBACK_S))
                finally:
                    self._waiters.leave(caller.tenant, approval_id, changed)
        finally:
            if hung_up is not None:
                hung_up.cancel()

    async def _changed(
        self, changed: asyncio.Future[None], hung_up: asyncio.Task[None], seconds: float
    ) -> None:
        def wake(_: object = None) -> None:
            resolve(changed)

        timer = self._clock.call_later(seconds, wake)
        hung_up.add_done_callback(wake)
        try:
            await changed
        finally:
            timer.cancel()
            hung_up.remove_done_callback(wake)

    async def trail(self, caller: Caller, approval_id: str) -> tuple[list[TrailEntry], Sight]:
        """The record's audit trail, and how much of the record the caller sees.

        Raises:
            ApprovalNotFound: There is no such record, or the caller may not see it.
            Rejudge: Credentials changed meanwhile.
        """
        answer = await self._store.get(caller.tenant, approval_id, epoch=caller.epoch)
        record = answer.record
        sight = None if record is None else sight_of(caller, self._seals.opened(record))
        if record is None or sight is None:
            raise ApprovalNotFound
        return record.trail(), sight

    async def list(self, caller: Caller, filters: Filters, *, limit: int, cursor: str | None) -> Listed:
        """A page of what the caller may see.

        Raises:
            InputInvalid: The cursor is not one of ours.
            Rejudge: Credentials changed meanwhile.
        """
        index = _index(caller.principal, filters)
        after = None if cursor is None else member_of(cursor)
        chunk = limit if filters == Filters() else max(limit, _SCAN_CHUNK)
        items: list[Seen] = []
        for _ in range(_SCAN_PAGES):
            page = await self._store.page(caller.tenant, index, after=after, limit=chunk, epoch=caller.epoch)
            after = page.last
            for record in page.records:
                if not record.small:
                    await asyncio.sleep(0)  # checking a large card takes a while; others get their turn
                seen = self._listed(caller, record, filters)
                if seen is None:
                    continue
                if len(items) == limit:
                    return Listed(items=tuple(items), next_cursor=cursor_of(items[-1].approval))
                items.append(seen)
            if after is None or (items and len(page.records) < chunk):  # it ended early: these are large
                break
        return Listed(items=tuple(items), next_cursor=None if after is None else cursor_to(after))

    async def rejected_before(self, caller: Caller, digest: str) -> Sequence[Seen]:
        """What was rejected of this very digest, as far as the caller may see it; the latest asked for first.

        Raises:
            Rejudge: Credentials changed meanwhile.
        """
        index = keys.rejected_index(digest)
        page = await self._store.page(
            caller.tenant, index, after=None, limit=REJECTED_MAX, epoch=caller.epoch
        )
        found = (self._listed(caller, record, Filters(status=Status.REJECTED)) for record in page.records)
        return [each for each in found if each is not None and each.approval.digest == digest]

    def _listed(self, caller: Caller, record: Record, filters: Filters) -> Seen | None:
        """A record as it stands in a list, which one that was spoilt must not make unreadable."""
        try:
            approval = self._seals.opened(record)
            sight = sight_of(caller, approval)
            if sight is None or not filters.take(approval):
                return None
            check_shown(self._seals, record, approval, sight)
        except InternalError:
            return None
        suspended = self._rights.of(caller, approval).refusal
        return Seen(record=record, approval=approval, sight=sight, suspended=suspended)

    def _token(self, caller: Caller, approval: Approval) -> str | None:
        ask, who = approval.ask, caller.principal
        if approval.status is not Status.APPROVED or approval.use_by_ms is None:
            return None
        if not isinstance(who, Client) or who.name not in {ask.asked_by, ask.audience}:
            return None
        granting = frozenset(map(id, caller.authority.granting(ask, Tally.of(approval))))
        try:
            key = self._ring.signing_key()
        except KeyringError as fault:
            _log.error("no key to sign tokens with", extra={"fault": str(fault)})
            raise InternalError from fault
        return mint(
            key,
            issuer=self._issuer,
            audience=ask.audience,
            asker=ask.asked_by,
            actor_id=ask.actor.id,
            approval_id=ask.id,
            tenant=ask.tenant,
            capability=ask.capability,
            digest=approval.digest,
            input_hash=approval.input_hash,
            approvers=[
                ApproverClaim(id=each.vote.approver.id, at_ms=each.at_ms)
                for each in approval.votes
                if id(each.vote) in granting
            ],
            now_ms=approval.now_ms,
            use_by_ms=approval.use_by_ms,
            minted=self._ring.minted,
        )


def check_shown(seals: Seals, record: Record, approval: Approval, sight: Sight) -> None:
    """Nothing, where a caller may be shown this: it is what was asked, and an approver sees all of it.

    Raises:
        InternalError: It was changed in the store.
    """
    if sight is Sight.CARD and approval.status is Status.PENDING:
        seals.prove_card(approval)
    else:
        seals.prove_asked(record)


def _index(caller: Principal, filters: Filters) -> str:
    """The narrowest index that holds everything the caller may see under these filters.

    Whoever sees only their own reads only their own: a cursor names the last record that was looked at.
    """
    if isinstance(caller, Client) and not (caller.sees() or caller.may(Scope.DECIDE_AS)):
        return keys.client_index(caller.name)
    if filters.run is not None:
        return keys.run_index(filters.run)
    return keys.pending_index() if filters.status is Status.PENDING else keys.all_index()
