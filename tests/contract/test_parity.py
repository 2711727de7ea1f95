"""The scripts and the reference judges never disagree: both are driven with the same verbs and times.

The model is :mod:`placet.domain.machine` with a dictionary for a store. After every step the ruling,
the compared fields and the status as of now must be those of the scripts.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar, cast

import pytest
from fakeredis import FakeAsyncRedis, FakeServer
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, precondition, rule, run_state_machine_as_test
from msgspec.structs import replace
from redis.asyncio import Redis

from placet.domain import machine
from placet.domain.canonical import canonicalize
from placet.domain.limits import CLOCK_BEHIND_MAX_MS
from placet.domain.machine import Change, Ruling, State
from placet.domain.model import Ask, Edited, OutcomeStatus, Status, Verdict
from placet.store.approvals import Answer
from placet.store.codec import Report, Who, person_mark
from tests.conftest import a_store
from tests.factories import INPUT, ManualClock, a_ballot, a_creation, a_spending, an_ask, call_of, digest_of
from tests.reference import Model
from tests.steps import TENANT

T = TypeVar("T")

OTHER_INPUT = canonicalize({"order": "A-2"})
WRONG = "0" * 64
DAY_MS = 86_400_000
MOST_RECORDS = 3
"""Few records meet more verbs each."""

CHANGES = [
    Change(digest=letter * 64, call=letter * 64, input=canonicalize({"order": letter}), counts=counts)
    for letter in "ab"
    for counts in (True, False)
]

Votes = tuple[tuple[str, Verdict], ...]

WEIGHINGS: dict[str, Callable[[Votes], Votes]] = {
    "nothing": lambda _: (),
    "all but the first": lambda votes: votes[1:],
    "approvals as mere changes": lambda votes: tuple(
        (person, Verdict.EDIT if verdict is Verdict.APPROVE else verdict) for person, verdict in votes
    ),
}
"""What rules that have changed may make of votes."""


def packed(votes: Votes) -> str:
    """Votes by the marks of people, as a record has them."""
    letters = {Verdict.APPROVE: "a", Verdict.REJECT: "r", Verdict.EDIT: "c"}
    return "".join(mark + letters[verdict] for mark, verdict in votes)


clients = st.sampled_from(["runtime", "tool-server", "other"])
people = st.sampled_from(["ann", "bob", "cid"])
executions = st.sampled_from(["exec-1", "exec-2"])
mostly = st.sampled_from([True] * 7 + [False])
rarely = mostly.map(lambda usual: not usual)
outcomes = st.tuples(st.sampled_from(OutcomeStatus), st.sampled_from([None, "done"]))


class Parity(RuleBasedStateMachine):
    """Both driven step by step.

    Args:
        connect: Makes a client of an empty store, inside the event loop that will use it.
    """

    asks = Bundle("asks")

    def __init__(self, connect: Callable[[], Coroutine[Any, Any, Redis]]) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.clock = ManualClock()
        self.model = Model()
        self.taken = Counter[str]()
        self.client = self.run(connect())
        self.store = a_store(self.client, self.clock).approvals

    def teardown(self) -> None:
        """Let the loop and its connections go."""
        self.run(self.client.aclose())
        self.runner.close()

    def run(self, step: Coroutine[Any, Any, T]) -> T:
        """One call of the store."""
        return self.runner.run(step)

    def now_ms(self) -> int:
        """What the model takes for now."""
        return self.model.now_ms(self.clock.now_ms())

    def compare(self, ask: Ask, ruling: Ruling, answer: Answer, now_ms: int) -> None:
        """Ruling, moment and record are the same."""
        assert (answer.ruling, answer.now_ms) == (ruling, now_ms)
        assert (answer.record is None) == (ruling is Ruling.MISSING)
        if answer.record is not None:
            self.compare_record(ask, answer)

    def compare_record(self, ask: Ask, answer: Answer) -> None:
        """The compared fields, and the status as of now."""
        state = self.model.states[ask.id]
        assert answer.record is not None
        assert answer.record.state() == state
        settled = machine.settle(state.status, state.expires_at_ms, state.use_by_ms, answer.now_ms)
        assert answer.record.approval().status is settled

    @precondition(lambda self: len(self.model.states) < MOST_RECORDS)
    @rule(
        target=asks,
        required=st.sampled_from([1, 1, 2, 3]),
        wait_ms=st.sampled_from([1_000, 60_000, 900_000, 900_000, 2 * DAY_MS]),
        use_within_ms=st.sampled_from([None, None, 1, 30_000, DAY_MS, DAY_MS + 1]),
        audience=st.sampled_from(["runtime", "tool-server"]),
        held=mostly,
    )
    def ask(
        self, *, required: int, wait_ms: int, use_within_ms: int | None, audience: str, held: bool
    ) -> Ask:
        """A new question."""
        now_ms = self.now_ms()
        ask = an_ask(
            id=f"q{len(self.model.states)}", audience=audience, use_within_ms=use_within_ms, input_held=held
        )
        self.model.states[ask.id] = State(
            status=Status.PENDING,
            digest=digest_of(ask),
            call=call_of(ask),
            asked_by="runtime",
            audience=audience,
            expires_at_ms=now_ms + wait_ms,
            use_within_ms=use_within_ms,
            required=required,
            input=INPUT if held else None,
        )
        self.model.high_ms = now_ms
        new = a_creation(ask, expires_in_ms=wait_ms, required=required)
        self.compare(ask, Ruling.OK, self.run(self.store.create(ask, new, epoch=0)), now_ms)
        return ask

    @rule(
        ask=asks,
        person=people,
        verdict=st.sampled_from([Verdict.APPROVE] * 3 + [Verdict.REJECT, Verdict.EDIT]),
        digest=st.sampled_from(["present", "present", "present", "asked", "wrong"]),
        allowed=mostly,
        takes=st.sampled_from([(1, 1)] * 3 + [(2, 1), (1, 2), (3, 2)]),
        change=st.sampled_from(CHANGES),
        weighing=st.sampled_from([None] * 5 + [*WEIGHINGS]),
    )
    def decide(
        self,
        *,
        ask: Ask,
        person: str,
        verdict: Verdict,
        digest: str,
        allowed: bool,
        takes: tuple[int, int],
        change: Change,
        weighing: str | None,
    ) -> None:
        """A vote, at times on another card or by someone who may not."""
        now_ms = self.now_ms()
        state = self.model.states[ask.id]
        if verdict is Verdict.EDIT and state.input is None:
            verdict = Verdict.APPROVE  # nobody changes what nobody here has
        weighed = state.votes if weighing is None else WEIGHINGS[weighing](state.votes)
        attempt = machine.Decide(
            person=person_mark(person),
            verdict=verdict,
            digest={"present": state.digest, "asked": digest_of(ask), "wrong": WRONG}[digest],
            refusal=None if allowed else "FORBIDDEN",
            required=takes[0],
            rejections=takes[1],
            weighed=weighed,
            change=change if verdict is Verdict.EDIT else None,
        )
        edited = Edited(input_hash=WRONG, digest=change.digest, counts=change.counts)
        ballot = a_ballot(
            ask,
            person,
            verdict,
            digest=attempt.digest,
            edited=edited if attempt.change else None,
            refusal=attempt.refusal,
            required=takes[0],
            rejections=takes[1],
            seen=self.taken[ask.id],
            weighed=packed(weighed),
            change=attempt.change,
        )
        ruling = self.model.decide(ask.id, attempt, now_ms)
        self.taken[ask.id] += ruling is Ruling.OK
        self.compare(ask, ruling, self.run(self.store.decide(TENANT, ask.id, ballot, epoch=0)), now_ms)

    @rule(ask=asks, client=clients, admin=rarely, sees=st.booleans())
    def cancel(self, *, ask: Ask, client: str, admin: bool, sees: bool) -> None:
        """A withdrawal."""
        now_ms = self.now_ms()
        ruling = self.model.cancel(ask.id, client, now_ms, admin=admin, sees=sees)
        who = Who(by=client)
        answer = self.run(self.store.cancel(TENANT, ask.id, who, admin=admin, sees=sees, epoch=0))
        self.compare(ask, ruling, answer, now_ms)

    @rule(
        ask=asks,
        client=st.sampled_from([None, None, None, "runtime", "other"]),
        execution_id=executions,
        right=mostly,
        presented=st.sampled_from([INPUT] * 5 + [OTHER_INPUT, None]),
        token=st.sampled_from([(-60_000, 60_000)] * 8 + [(0, 1), (1, 60_000), (-1, 0), (-1, -1), None]),
        refusal=st.sampled_from([None, None, None, "FORBIDDEN"]),
        sees=st.booleans(),
    )
    def consume(
        self,
        *,
        ask: Ask,
        client: str | None,
        execution_id: str,
        right: bool,
        presented: bytes | None,
        token: tuple[int, int] | None,
        refusal: str | None,
        sees: bool,
    ) -> None:
        """A consumption, by the audience unless someone else is named; ``token`` is when it lives."""
        now_ms = self.now_ms()
        begins_ms, ends_ms = token or (0, 0)
        attempt = machine.Consume(
            client=client or ask.audience,
            execution_id=execution_id,
            call=call_of(ask) if right else WRONG,
            input=presented,
            token_digest=digest_of(ask) if token else None,
            token_from_ms=now_ms + begins_ms,
            token_exp_ms=now_ms + ends_ms,
            refusal=refusal,
            sees=sees,
        )
        members = {name: getattr(attempt, name) for name in attempt.__struct_fields__}
        spending = a_spending(ask, **members)
        ruling = self.model.consume(ask.id, attempt, now_ms)
        self.compare(ask, ruling, self.run(self.store.consume(TENANT, ask.id, spending, epoch=0)), now_ms)

    @rule(
        ask=asks,
        client=st.sampled_from([None, None, None, "runtime", "other"]),
        execution_id=executions,
        outcome=outcomes,
        sees=st.booleans(),
    )
    def report(
        self,
        *,
        ask: Ask,
        client: str | None,
        execution_id: str,
        outcome: tuple[OutcomeStatus, str | None],
        sees: bool,
    ) -> None:
        """A report, by the audience unless someone else is named."""
        now_ms = self.now_ms()
        by = client or ask.audience
        ruling = self.model.report(ask.id, by, execution_id, outcome, now_ms, sees=sees)
        words = Report(by=by, status=outcome[0], summary=outcome[1])
        answer = self.run(self.store.report(TENANT, ask.id, execution_id, words, sees=sees, epoch=0))
        self.compare(ask, ruling, answer, now_ms)

    @rule(ask=asks, person=people)
    def approve(self, *, ask: Ask, person: str) -> None:
        """A plain approval, so that many records come to be granted."""
        self.decide(
            ask=ask,
            person=person,
            verdict=Verdict.APPROVE,
            digest="present",
            allowed=True,
            takes=(1, 1),
            change=CHANGES[0],
            weighing=None,
        )

    @rule(ask=asks, execution_id=executions, left_ms=st.sampled_from([60_000, 60_000, 1, 0]))
    def spend(self, *, ask: Ask, execution_id: str, left_ms: int) -> None:
        """A plain consumption, so that many grants come to be spent, some with a token at its end."""
        self.consume(
            ask=ask,
            client=None,
            execution_id=execution_id,
            right=True,
            presented=INPUT,
            token=(0, left_ms),
            refusal=None,
            sees=False,
        )

    @rule(ask=asks, outcome=outcomes)
    def tell(self, *, ask: Ask, outcome: tuple[OutcomeStatus, str | None]) -> None:
        """A plain report of the execution that consumed, so that many stand and are contradicted."""
        execution_id = self.model.states[ask.id].execution_id or "exec-1"
        self.report(ask=ask, client=None, execution_id=execution_id, outcome=outcome, sees=False)

    @rule(ask=asks)
    def read(self, *, ask: Ask) -> None:
        """A GET: it writes nothing, but what it said of a deadline stays said."""
        now_ms = self.now_ms()
        answer = self.run(self.store.get(TENANT, ask.id, epoch=0))
        assert (answer.ruling, answer.now_ms) == (Ruling.OK, now_ms)
        self.compare_record(ask, answer)
        if self.model.dead(ask.id, now_ms):
            self.model.high_ms = now_ms

    @rule()
    def sweep(self) -> None:
        """The sweeper settles what is dead, and only that."""
        now_ms = self.now_ms()
        settled = self.model.sweep(now_ms)
        assert self.run(self.store.sweep(TENANT, limit=1_000)).settled == settled

    @rule(ask=asks)
    def erase(self, *, ask: Ask) -> None:
        """An input's retention passes, which begins with the end of its record."""
        state = self.model.states[ask.id]
        if state.status in machine.TERMINAL:
            self.model.states[ask.id] = replace(state, input=None)
            self.run(self.forget("{placet:default}:i:" + ask.id))

    async def forget(self, key: str) -> None:
        """Take one key away."""
        await self.client.delete(key)

    @rule(by_ms=st.sampled_from([1, 999, 30_000, -1, -1, -60_000]))
    def move(self, *, by_ms: int) -> None:
        """Time passes; at times the clock is set back."""
        self.set_clock(self.clock.now_ms() + by_ms)

    @precondition(lambda self: any(machine.deadline_ms(state) for state in self.model.states.values()))
    @rule(data=st.data(), late_ms=st.sampled_from([-1, 0, 1]))
    def meet_deadline(self, *, data: st.DataObject, late_ms: int) -> None:
        """The clock stands at a deadline, just before or just after it."""
        deadlines = [machine.deadline_ms(state) for state in self.model.states.values()]
        deadline_ms = data.draw(st.sampled_from([each for each in deadlines if each is not None]))
        self.set_clock(deadline_ms + late_ms)

    def set_clock(self, now_ms: int) -> None:
        """Set it, though never so far back that nothing would be judged at all."""
        self.clock.move(max(now_ms, self.model.high_ms - CLOCK_BEHIND_MAX_MS) - self.clock.now_ms())


def drive(connect: Callable[[], Coroutine[Any, Any, Redis]], max_examples: int) -> None:
    """Run the state machine over stores that ``connect`` opens."""
    bounds = settings(max_examples=max_examples, stateful_step_count=40, deadline=None)
    run_state_machine_as_test(cast("Any", lambda: Parity(connect)), settings=bounds)


def test_the_fake_judges_as_the_reference() -> None:
    """On fakeredis."""

    async def connect() -> Redis:
        return FakeAsyncRedis(server=FakeServer(server_type="valkey"))

    drive(connect, max_examples=100)


@pytest.mark.real
def test_the_server_judges_as_the_reference(valkey_socket: Path) -> None:
    """On the embedded Valkey."""

    async def connect() -> Redis:
        client = Redis(unix_socket_path=str(valkey_socket))
        await client.flushall()
        return client

    drive(connect, max_examples=100)
