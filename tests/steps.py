"""Steps of store tests: records brought to a state, and everything that a server holds."""

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import structs
from redis.asyncio import Redis

from placet.domain.machine import Ruling
from placet.domain.model import Approval, Ask, OutcomeStatus, Status, TrailEntry, Verdict
from placet.store import keys
from placet.store.approvals import Answer
from placet.store.attempts import Ballot
from placet.store.codec import Report, Who
from placet.store.opened import Store
from placet.store.principals import Roll
from placet.store.record import Record
from tests.factories import ManualClock, a_ballot, a_creation, a_spending, an_ask

TENANT = "default"
WAIT_MS = 900_000
"""How long a question of ``a_creation`` waits."""

Moving = Callable[[Store, Ask], Awaitable[Any]]
"""A call about a record."""

REPORT = Report(by="runtime", status=OutcomeStatus.FAILED, summary=None)
CALLS: dict[str, Moving] = {
    "get": lambda store, ask: store.approvals.get(TENANT, ask.id, epoch=0),
    "list": lambda store, _: store.approvals.page(TENANT, "x", after=None, limit=9, epoch=0),
    "waiting": lambda store, _: store.approvals.waiting(TENANT, limit=9, most=9, epoch=0),
    "create": lambda store, _: store.approvals.create(an_ask(), a_creation(an_ask()), epoch=0),
    "decide": lambda store, ask: store.approvals.decide(TENANT, ask.id, a_ballot(ask, "bob"), epoch=0),
    "cancel": lambda store, ask: store.approvals.cancel(
        TENANT, ask.id, Who(by="runtime"), admin=False, sees=False, epoch=0
    ),
    "consume": lambda store, ask: store.approvals.consume(TENANT, ask.id, a_spending(ask), epoch=0),
    "outcome": lambda store, ask: store.approvals.report(
        TENANT,
        ask.id,
        "exec-1",
        REPORT,
        sees=False,
        epoch=0,
    ),
}
"""Every call that is judged under an epoch."""


def record_of(answer: Answer) -> Record:
    """The record an answer is about."""
    assert answer.record is not None, answer.ruling
    return answer.record


def approval_of(answer: Answer) -> Approval:
    """The approval an answer is about."""
    return record_of(answer).approval()


def trail_of(answer: Answer) -> list[TrailEntry]:
    """The trail of the record an answer is about."""
    return record_of(answer).trail()


async def asked(store: Store, *, new: dict[str, Any] | None = None, **members: Any) -> Ask:
    """A pending record; ``members`` are of the ask, ``new`` of the creation."""
    ask = an_ask(**members)
    answer = await store.approvals.create(ask, a_creation(ask, **(new or {})), epoch=0)
    assert answer.ruling is Ruling.OK
    return ask


async def voted(store: Store, ask: Ask, person: str = "ann", verdict: Verdict = Verdict.APPROVE) -> Answer:
    """A vote on it."""
    return await deliver(store, ask, a_ballot(ask, person, verdict))


async def deliver(store: Store, ask: Ask, ballot: Ballot) -> Answer:
    """A vote, on the record as it is: read again as often as others were faster."""
    while True:
        found = await store.approvals.get(ask.tenant, ask.id, epoch=0)
        if found.record is not None:
            weighed = found.record.fields.get(b"v", b"").decode()
            ballot = structs.replace(ballot, seen=found.record.votes, weighed=weighed)
        answer = await store.approvals.decide(ask.tenant, ask.id, ballot, epoch=0)
        if answer.ruling is not Ruling.STALE:
            return answer


async def several(store: Store, clock: ManualClock, count: int) -> list[Ask]:
    """Records asked for one millisecond after another."""
    asks = []
    for _ in range(count):
        clock.move(1)
        asks.append(await asked(store))
    return asks


async def approved(store: Store, *, new: dict[str, Any] | None = None, **members: Any) -> Ask:
    """An approved record."""
    ask = await asked(store, new=new, **members)
    assert (await voted(store, ask)).ruling is Ruling.OK
    return ask


async def consumed(store: Store, *, new: dict[str, Any] | None = None, **members: Any) -> Ask:
    """A record consumed by its audience in the execution ``exec-1``."""
    ask = await approved(store, new=new, **members)
    assert (await spend(store, ask)).ruling is Ruling.OK
    return ask


async def in_status(store: Store, clock: ManualClock, status: Status, **members: Any) -> Ask:
    """A record in any state; an expired one is dead by a millisecond and nobody has written that down."""
    if status is Status.CONSUMED:
        return await consumed(store, **members)
    if status is Status.APPROVED:
        return await approved(store, **members)
    ask = await asked(store, **members)
    if status is Status.REJECTED:
        await voted(store, ask, verdict=Verdict.REJECT)
    elif status is Status.CANCELLED:
        await cancel(store, ask)
    elif status is Status.EXPIRED:
        clock.move(WAIT_MS + 1)
    return ask


async def read(store: Store, ask: Ask) -> Answer:
    """What a GET reads of it."""
    return await store.approvals.get(ask.tenant, ask.id, epoch=0)


async def cancel(
    store: Store, ask: Ask, by: str | None = None, *, admin: bool = False, sees: bool = False
) -> Answer:
    """A withdrawal, by its asker unless someone else is named."""
    who = Who(by=by or ask.asked_by)
    return await store.approvals.cancel(ask.tenant, ask.id, who, admin=admin, sees=sees, epoch=0)


async def spend(store: Store, ask: Ask, **changes: Any) -> Answer:
    """A consumption, by its audience in ``exec-1`` unless changed."""
    return await store.approvals.consume(ask.tenant, ask.id, a_spending(ask, **changes), epoch=0)


async def report(
    store: Store,
    ask: Ask,
    status: OutcomeStatus = OutcomeStatus.SUCCEEDED,
    *,
    by: str | None = None,
    execution_id: str = "exec-1",
    summary: str | None = None,
    sees: bool = False,
) -> Answer:
    """A report of how ``exec-1`` went, by its audience unless someone else is named."""
    words = Report(by=by or ask.audience, status=status, summary=summary)
    return await store.approvals.report(ask.tenant, ask.id, execution_id, words, sees=sees, epoch=0)


async def change_counted(store: Store, tenant: str = TENANT) -> int:
    """A change of the tenant's roll that changes nobody; the new epoch."""
    roll = await store.principals.all(tenant)
    after = Roll(epoch=roll.epoch + 1, rows=roll.rows, manifest=f"manifest {roll.epoch + 1}")
    assert await store.principals.enroll(tenant, after, instead_of=roll.manifest)
    return after.epoch


async def events(client: Redis, tenant: str = TENANT) -> list[tuple[str, str]]:
    """The tenant's stream of transitions, as pairs of approval id and event type."""
    entries: Any = await client.xrange(keys.stream(tenant))
    return [(fields[b"i"].decode(), fields[b"t"].decode()) for _, fields in entries]


async def dump(client: Redis) -> dict[str, Any]:
    """Everything the server holds: every key with its value, but for the buckets, which end by themselves."""
    held: dict[str, Any] = {}
    async for key in client.scan_iter():
        if not key.startswith(b"{placet:default}:b:"):
            held[key.decode()] = await _value(client, key)
    return held


async def high_water_ms(client: Redis, tenant: str = TENANT) -> int | None:
    """The tenant's clock as the store remembers it."""
    value: Any = await client.hget(keys.meta(tenant), "now")
    return None if value is None else int(value)


async def _value(client: Any, key: bytes) -> Any:
    kind = await client.type(key)
    if kind == b"hash":
        return await client.hgetall(key)
    if kind == b"list":
        return await client.lrange(key, 0, -1)
    if kind == b"zset":
        return await client.zrange(key, 0, -1, withscores=True)
    if kind == b"stream":
        return await client.xrange(key)
    return await client.get(key)
