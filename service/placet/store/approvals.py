"""Approvals in the store: one method, one script, one round trip.

Every method takes the ``epoch`` that its caller was judged under and raises :class:`Rejudge` where
credentials have changed since; nothing was written then. Refusals come back as rulings: turning them
into errors is the use case's.
"""

import logging
from collections.abc import Callable, Sequence

from msgspec import Struct

from placet.domain.errors import InternalError, StoreUnavailable
from placet.domain.limits import ASK_BYTES, GRANT_FLOOR_MS, Limits
from placet.domain.machine import Change, Ruling
from placet.domain.model import Ask
from placet.store import keys
from placet.store.attempts import Ballot, Creation, Spending
from placet.store.clock import Lag, Lags
from placet.store.codec import Report, Spent, Who, encode, person_mark
from placet.store.link import Argument, Link, Reply
from placet.store.record import Record

PAGE_BYTES = 2 * 1024 * 1024
"""A page of records ends early beyond this, so that 200 records of 256 KiB are not one answer."""
_WRITTEN_PARTS = 3
"""Parts of create.lua's answer about a record that it has just written."""

_log = logging.getLogger(__name__)


class Rejudge(Exception):  # noqa: N818 - an instruction to the caller, not an error
    """The tenant's epoch is no longer the one the caller was judged under."""


class Answer(Struct, frozen=True, kw_only=True):
    """What a script said: its ruling, when, and the record it is about where there is one.

    ``written``: the record is what this very call has just written, and not what was read of it.
    """

    ruling: Ruling
    now_ms: int
    record: Record | None = None
    free_at_ms: int | None = None
    written: bool = False


class Page(Struct, frozen=True, kw_only=True):
    """Records newest first; ``last`` is the member to continue after, ``None`` at the end."""

    records: tuple[Record, ...]
    last: str | None
    now_ms: int


class Waiting(Struct, frozen=True, kw_only=True):
    """Questions that wait, the first to expire before the others.

    Attributes:
        records: Those that were read; of what has ended since the ids were named, how it ended.
        rest: The ids of those to be read next.
        count: How many wait in all.
    """

    records: tuple[Record, ...]
    rest: tuple[str, ...]
    count: int
    now_ms: int


class Swept(Struct, frozen=True, kw_only=True):
    """What a sweep did, when the next deadline is, and how many questions are live."""

    now_ms: int
    settled: int
    next_due_ms: int | None
    live_pending: int


def _answer(tenant: str, reply: Reply, *, polled: bool = False) -> Answer:
    ruling, now, *rest = reply
    now_ms = int(now)
    record = Record.of(tenant, now_ms, *rest, polled=polled) if len(rest) > 1 else None
    free_at_ms = int(rest[0]) if len(rest) == 1 else None
    return Answer(ruling=_ruling(ruling), now_ms=now_ms, record=record, free_at_ms=free_at_ms)


def _ruling(word: bytes) -> Ruling:
    """The ruling; a record's state that nobody knows comes as a word that is none.

    Raises:
        InternalError: It is none. An alarm goes to the log.
    """
    try:
        return Ruling(word.decode())
    except ValueError:
        _log.error("the store rules by a state that nobody knows")
        raise InternalError from None


def _changes(change: Change | None) -> tuple[Argument, ...]:
    if change is None:
        return ("", "", "", "")
    return bytes.fromhex(change.digest), bytes.fromhex(change.call), change.input, _flag(change.counts)


def _texts(*values: int) -> tuple[Argument, ...]:
    return tuple(map(str, values))


def _text(value: int | str | None) -> Argument:
    return "" if value is None else str(value)


def _flag(value: object) -> Argument:
    return "1" if value else ""


class Approvals:
    """The approvals of all tenants.

    Args:
        link: The door to the server.
        limits: Caps and retention.
        clock: Milliseconds under an injected test clock; ``None`` leaves the clock to the server.

    Attributes:
        lags: The tenants for which every method raises ``StoreUnavailable``, because the clock is behind.
    """

    def __init__(self, link: Link, limits: Limits, clock: Callable[[], int] | None = None) -> None:
        self._link = link
        self._limits = limits
        self._clock = clock
        self.lags = Lags()
        # Texts, once and for all: a number would be made one for each call.
        self._retain: tuple[Argument, ...] = _texts(limits.record_retention_ms, limits.input_retention_ms)
        self._keep: tuple[Argument, ...] = (*self._retain, str(limits.trail_refusals_kept))
        self._asks: tuple[Argument, ...] = (
            *_texts(limits.live_pending_per_client, limits.live_pending_per_tenant),
            *self._retain,
            *_texts(limits.ask_rate_per_minute, limits.ask_burst, ASK_BYTES),
        )

    async def _run(self, script: str, tenant: str, epoch: int | None, *args: Argument) -> Reply:
        now = "" if self._clock is None else str(self._clock())
        reply = await self._link.call(script, keys.meta(tenant), (now, _text(epoch), *args))
        if reply[0] == b"clock":
            self.lags.begin(tenant, Lag.of(reply[2]))
            raise StoreUnavailable
        self.lags.end(tenant)
        if reply[0] == b"rejudge":
            raise Rejudge
        return reply

    async def _judge(self, script: str, tenant: str, epoch: int | None, *args: Argument) -> Answer:
        return _answer(tenant, await self._run(script, tenant, epoch, *args))

    async def create(self, ask: Ask, new: Creation, *, epoch: int) -> Answer:
        """Write a pending record, or find the one this question already has.

        Rulings: ok, replayed, joined (with the record); conflict, exists, deadline; client-full,
        tenant-full, rate (with ``free_at_ms``, when there is a place again).
        """
        limits = self._limits
        key_hash, body_hash = new.idempotency or ("", b"")
        reply = await self._run(
            "create",
            ask.tenant,
            epoch,
            ask.id,
            new.nonce,
            ask.asked_by,
            ask.audience,
            bytes.fromhex(new.digest),
            bytes.fromhex(new.call),
            new.sealed.stored,
            new.input or b"",
            _flag(ask.input_held),
            _text(new.expires_in_ms),
            _text(new.expires_at_ms),
            limits.expires_in_min_ms,
            new.expires_most_ms,
            _text(ask.use_within_ms),
            new.required,
            ask.run or "",
            key_hash,
            body_hash,
            new.join,
            _flag(not (new.chosen_id or new.idempotency)),
            *self._asks,
        )
        if reply[0] == b"ok" and len(reply) == _WRITTEN_PARTS:
            now_ms = int(reply[1])
            record = Record.asked(ask, new, now_ms, expires_at_ms=int(reply[2]))
            return Answer(ruling=Ruling.OK, now_ms=now_ms, record=record, written=True)
        return _answer(ask.tenant, reply)

    async def get(self, tenant: str, approval_id: str, *, epoch: int | None, polled: bool = True) -> Answer:
        """Read one record as of now. Rulings: ok, missing.

        ``polled``: it may well be read again while it is as it is, so that what is made of it is kept.
        """
        return _answer(tenant, await self._run("get", tenant, epoch, approval_id), polled=polled)

    async def page(
        self, tenant: str, index: str, *, after: str | None, limit: int, epoch: int | None
    ) -> Page:
        """Read up to ``limit`` records of an index (:mod:`placet.store.keys`), newest first."""
        _, now, last, items = await self._run("list", tenant, epoch, index, after or "", limit, PAGE_BYTES)
        now_ms = int(now)
        records = tuple(Record.of(tenant, now_ms, *parts) for parts in items)
        return Page(records=records, last=last.decode() or None, now_ms=now_ms)

    async def waiting(
        self, tenant: str, ids: Sequence[str] = (), *, limit: int, most: int, epoch: int | None
    ) -> Waiting:
        """Read up to ``limit`` of the questions that wait, the first to expire before the others.

        Args:
            tenant: Whose they are.
            ids: Those to be read, of the ``rest`` of an earlier answer; none to begin.
            limit: How many are read at once.
            most: How many are named at the beginning.
            epoch: What the caller was judged under.
        """
        _, now, count, rest, items = await self._run(
            "waiting", tenant, epoch, limit, PAGE_BYTES, most, " ".join(ids)
        )
        now_ms = int(now)
        return Waiting(
            records=tuple(Record.of(tenant, now_ms, *parts) for parts in items),
            rest=tuple(each.decode() for each in rest),
            count=count,
            now_ms=now_ms,
        )

    async def decide(self, tenant: str, approval_id: str, ballot: Ballot, *, epoch: int) -> Answer:
        """Cast a vote. Rulings: ok, unchanged; or any refusal of ``judge_decide``, missing; stale."""
        vote = ballot.vote
        return await self._judge(
            "decide",
            tenant,
            epoch,
            approval_id,
            _flag(ballot.hidden),
            bytes.fromhex(vote.digest),
            person_mark(ballot.person),
            vote.decision.value,
            ballot.sealed.stored,
            ballot.refusal or "",
            encode(Who(by=vote.approver.id, channel=vote.channel, credential=vote.credential)),
            ballot.required,
            ballot.rejections,
            *self._keep,
            GRANT_FLOOR_MS,
            ballot.use_within_most_ms,
            ballot.seen,
            ballot.weighed,
            *_changes(ballot.change),
        )

    async def cancel(
        self, tenant: str, approval_id: str, who: Who, *, admin: bool, sees: bool, epoch: int
    ) -> Answer:
        """Withdraw. Rulings: ok, unchanged; not-the-asker, missing, or the state that forbids it."""
        return await self._judge(
            "cancel",
            tenant,
            epoch,
            approval_id,
            who.by,
            _flag(admin),
            _flag(sees),
            encode(who),
            *self._keep,
        )

    async def refuse(self, tenant: str, approval_id: str, ruling: Ruling, who: Who) -> Answer:
        """Have the log say that an attempt was refused which no script judged. Rulings: ok, missing."""
        return await self._judge(
            "refuse",
            tenant,
            None,
            approval_id,
            ruling,
            encode(who),
            *self._keep,
        )

    async def consume(self, tenant: str, approval_id: str, spend: Spending, *, epoch: int) -> Answer:
        """Spend a grant. Rulings: ok, replayed; or any refusal of ``judge_consume``."""
        return await self._judge(
            "consume",
            tenant,
            epoch,
            approval_id,
            spend.client,
            _flag(spend.sees),
            spend.execution_id,
            spend.nonce,
            bytes.fromhex(spend.call),
            spend.input or b"",
            _flag(spend.input is not None),
            bytes.fromhex(spend.token_digest or ""),
            spend.token_from_ms,
            spend.token_exp_ms,
            spend.refusal or "",
            encode(Who(by=spend.client, credential=spend.credential)),
            encode(Spent(by=spend.client, execution_id=spend.execution_id, credential=spend.credential)),
            *self._keep,
        )

    async def report(
        self, tenant: str, approval_id: str, execution_id: str, report: Report, *, sees: bool, epoch: int
    ) -> Answer:
        """Report an outcome. Rulings: ok, unchanged; conflict, not-the-consumer, missing, or the state's."""
        words = encode([report.status, report.summary]).decode()
        return await self._judge(
            "outcome",
            tenant,
            epoch,
            approval_id,
            report.by,
            _flag(sees),
            execution_id,
            person_mark(words),
            encode(report),
            encode(Who(by=report.by, credential=report.credential)),
            *self._keep,
        )

    async def sweep(self, tenant: str, *, limit: int) -> Swept:
        """Write down expiries that have happened, at most ``limit``."""
        _, now, settled, next_due, pending = await self._run("expire", tenant, None, limit, *self._retain)
        return Swept(
            now_ms=int(now),
            settled=settled,
            next_due_ms=int(next_due) if next_due else None,
            live_pending=pending,
        )

    async def trim(
        self, tenant: str, index: str, *, after: str | None, limit: int, cutoff_ms: int
    ) -> tuple[int, str | None]:
        """Take forgotten records out of an index (``""``: old entries out of the stream).

        Returns how many went and the member to continue after, ``None`` at the end.
        """
        _, _, removed, cursor = await self._run("trim", tenant, None, index, after or "", limit, cutoff_ms)
        return removed, cursor.decode() or None
