"""The hook against a plain model of what may run, before the service and through processes that end.

Calls are made, made again, changed, gone on with by their handle, two at a time; people decide, time passes,
answers get lost, and a process ends anywhere on its way: the next has its journal, another one's, or none.
After every step: what ran is exactly what was approved, under the execution that spent it, and once unless it
was declared idempotent; a call that is refused has run nothing; and where nothing was in the way, what the
call came to is what the model says.
"""

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)
from msgspec import structs

from placet.client.hook import HookRefusal
from tests.agents import FACES
from tests.companies import EDITABLE
from tests.hooks import RETRIES
from tests.mortal import POINTS
from tests.workplace import AGENT, CHANGES, FITTING, OTHER, Question, Said, Way, Workplace

MOST_QUESTIONS = 12
"""Few of them meet more calls each."""


lost = st.tuples(st.sampled_from(["approvals", "consume", "outcome"]), st.sampled_from([2, 9, 9]))
rarely = st.sampled_from([False] * 4 + [True])
mostly = rarely.map(lambda seldom: not seldom)
ways = st.builds(
    Way,
    input=st.sampled_from([None] * 6 + [OTHER]),
    idempotent=st.booleans(),
    edits=mostly,
    by_handle=rarely,
    suspend=st.booleans(),
    fails=rarely,
    trouble=st.one_of(st.none(), st.none(), lost),
)
granting = st.sampled_from(["approve", "approve", "fits"])
machines = st.sampled_from(["here"] * 5 + ["there", None])
decisions = st.sampled_from(["approve"] * 5 + ["reject", "fits", *CHANGES])
numbers = st.integers(0, 100)


class Running(Workplace, RuleBasedStateMachine):
    """A runtime's processes, and what should come of their calls."""

    def __init__(self, ring: Path) -> None:
        RuleBasedStateMachine.__init__(self)
        Workplace.__init__(self, ring)
        self.deaths = 0

    def teardown(self) -> None:
        """Let everything go."""
        self.close()

    @initialize(face=st.sampled_from(FACES), machine=machines, decided=st.tuples(*[decisions] * 4))
    def begin(self, *, face: str, machine: str | None, decided: tuple[str, ...]) -> None:
        """The service, an approver who may change things, a first process, and some questions of it."""
        self.open(face, machine)
        for number, decision in enumerate(decided):
            self.ask(has_id=number > 0, way=Way(), then=None, decision=decision)

    @rule(machine=machines)
    def restart(self, *, machine: str | None) -> None:
        """A process ends in good order, and there is another."""
        self.run(self.runtime.close())
        self.start(machine)

    @precondition(lambda self: len(self.questions) < MOST_QUESTIONS)
    @rule(has_id=mostly, way=ways, then=machines, decision=decisions)
    def ask(self, *, has_id: bool, way: Way, then: str | None, decision: str) -> None:
        """A new call; somebody may decide at once."""
        call_id = f"c-{len(self.questions)}" if has_id else None
        said = self.made(call_id, self.new_input(), way, None)
        if way.trouble is None:
            due = "INVOCATION_CONFLICT" if self.is_misplaced(call_id, way) else "APPROVAL_PENDING"
            assert said.code == due
        assert not said.effects, "nobody has approved it"
        if said.code == "APPROVAL_PENDING":
            self.decide(number=-1, comment=None, decision=decision)
        self.survive(then)

    @precondition(lambda self: self.questions)
    @rule(number=numbers, way=ways, then=machines)
    def call(self, *, number: int, way: Way, then: str | None) -> None:
        """A call that was made before."""
        self.called(self.questions[number % len(self.questions)], way, then)

    @precondition(lambda self: len(self.questions) < MOST_QUESTIONS)
    @rule(decision=granting, way=ways, point=st.sampled_from(POINTS), then=machines, again=ways, alike=mostly)
    def end(self, *, decision: str, way: Way, point: str, then: str | None, again: Way, alike: bool) -> None:
        """A process ends while it makes a call that is approved; the next one makes it again, and again."""
        self.ask(has_id=True, way=Way(), then=None, decision=decision)
        question = self.questions[-1]
        if alike:
            again = structs.replace(again, idempotent=way.idempotent, input=None)
        self.called(question, structs.replace(way, trouble=point), then)
        self.called(question, again, then)
        self.called(question, structs.replace(way, trouble=None), then)

    def called(self, question: Question, way: Way, then: str | None) -> None:
        """Make a call that was made before, and hold what came of it against the model."""
        if question.call_id is None:
            way = structs.replace(way, by_handle=True)
        before = self.seen(question)
        due = self.due(question, way, before)
        said = self.made(question.call_id, way.input or question.asked, way, question)
        if not self.is_troubled(way):
            assert said.code == due
        self.judge(question, way, said)
        has_learnt = due not in {"INVOCATION_CONFLICT", "APPROVAL_INPUT_MISMATCH"} and (
            way.trouble != ("approvals", 9)
        )
        if question.effects and has_learnt:
            assert "did not run" not in self.told
        if said.code in {"ran", "failed"} and way.trouble is None:
            outcome = self.seen(question)["outcome"]["status"]
            assert outcome == ("succeeded" if said.code == "ran" else "failed")
        self.survive(then)

    @precondition(lambda self: any(each.call_id for each in self.questions))
    @rule(number=numbers, idempotent=st.booleans())
    def call_twice(self, *, number: int, idempotent: bool) -> None:
        """The same call by two at once: one of them runs, unless it says that both may."""
        known = [each for each in self.questions if each.call_id]
        question, way = known[number % len(known)], Way(idempotent=idempotent)
        self.effects, self.told = [], ""
        runs = [self.attempt(question.call_id, question.asked, way, None) for _ in "ab"]

        async def both() -> list[str]:
            return await asyncio.gather(*runs)

        codes = self.run(both())
        assert sum(code == "ran" for code in codes) == len(self.effects)
        self.judge(question, way, Said("ran", self.effects))

    @precondition(lambda self: any(each.call_id for each in self.questions))
    @rule(number=numbers)
    def look(self, *, number: int) -> None:
        """It tells what was decided, and spends nothing."""
        known = [each for each in self.questions if each.call_id]
        question = known[number % len(known)]
        before = self.seen(question)["status"]
        said: Any = {"actor": AGENT, "run": "r-1", "call_id": question.call_id, "suspend": True, **EDITABLE}

        async def looked() -> str:
            try:
                record = await self.runtime.does("look", "orders.refund", question.asked, **said)
            except HookRefusal as refusal:
                return self.code_of(refusal)
            return f"APPROVAL_{record.status.upper()}"

        assert self.run(looked()) == f"APPROVAL_{before.upper()}"
        assert self.seen(question)["status"] == before

    @precondition(lambda self: self.questions)
    @rule(number=numbers, comment=st.sampled_from([None, "No."]), decision=decisions)
    def decide(self, *, number: int, comment: str | None, decision: str) -> None:
        """An approver decides what waits, at times with changes."""
        question = self.questions[number % len(self.questions)]
        shown = self.seen(question)
        if shown["status"] != "pending":
            return
        made = CHANGES.get(decision, question.asked)
        if made == question.asked:
            deciding = self.ann.decide(
                shown, "reject" if decision == "reject" else "approve", comment=comment
            )
        else:
            deciding = self.ann.decide(shown, "edit", input=made)
        answer = self.run(deciding)
        assert answer.status_code == 200, answer.text
        if answer.json()["status"] == "approved":
            question.granted = made

    @precondition(lambda self: self.questions)
    @rule(number=numbers, really=rarely)
    def cancel(self, *, number: int, really: bool) -> None:
        """Whoever asked takes it back; what is spent stays so."""
        if not really:
            return
        question = self.questions[number % len(self.questions)]
        before = self.seen(question)["status"]
        self.run(self.party.cancel(question.id))
        changed = {"pending": "cancelled", "approved": "cancelled"}
        assert self.seen(question)["status"] == changed.get(before, before)

    @rule(by_ms=st.sampled_from([1_000] * 5 + [60_000, 901_000]))
    def wait(self, *, by_ms: int) -> None:
        """Time passes; a question and a grant live for a quarter of an hour."""
        self.clock.move(by_ms)

    def due(self, question: Question, way: Way, seen: dict[str, Any]) -> str:
        """What a call should come to where nothing is in its way."""
        if self.is_misplaced(question.call_id, way):
            return "INVOCATION_CONFLICT"
        if (way.input or question.asked) != question.asked:
            handled = way.by_handle and question.handle
            return "APPROVAL_INPUT_MISMATCH" if handled else "INVOCATION_CONFLICT"
        if seen["status"] == "consumed":
            return self.due_when_spent(question, way, seen)
        if seen["status"] != "approved":
            return f"APPROVAL_{seen['status'].upper()}"
        refusal = self.refused_change(question, way)
        return refusal or ("failed" if way.fails else "ran")

    def due_when_spent(self, question: Question, way: Way, seen: dict[str, Any]) -> str:
        """The same of what is spent: only an idempotent call whose end nobody knows runs again."""
        kept = {} if self.journal is None else self.journal.kept
        phase, was_idempotent = kept.get((question.id, seen["consumption"]["execution_id"]), ("none", False))
        if seen["outcome"] is not None or phase == "ended":
            return "APPROVAL_CONSUMED"
        again = way.idempotent and was_idempotent and phase in {"begun", "started"}
        if not again or self.refused_change(question, way):
            return "EXECUTION_UNKNOWN"
        return "failed" if way.fails else "ran"

    @staticmethod
    def refused_change(question: Question, way: Way) -> str | None:
        """Why the tool does not take what an approver made of its call."""
        if question.granted == question.asked:
            return None
        if not way.edits:
            return "APPROVAL_EDITED"
        return None if question.granted == FITTING else "APPROVAL_INPUT_MISMATCH"

    def is_misplaced(self, call_id: str | None, way: Way) -> bool:
        """Whether a call is declared idempotent without what that takes."""
        return way.idempotent and (self.journal is None or call_id is None)

    def is_troubled(self, way: Way) -> bool:
        """Whether what a call comes to is open; an answer that gets lost twice is asked for again."""
        return self.runtime.life.over or (isinstance(way.trouble, tuple) and way.trouble[1] > RETRIES)

    def judge(self, question: Question, way: Way, said: Said) -> None:
        """What ran is what was approved, in the execution that spent it, and once unless idempotent."""
        seen = self.seen(question)
        if said.code not in {"ran", "failed", "killed"}:
            assert not said.effects, "it was refused, and ran"
        for input_, key in said.effects:
            assert input_ == question.granted, "what was approved is what runs"
            assert (seen["status"], seen["consumption"]["execution_id"]) == ("consumed", key)
            question.effects.append((key, way.idempotent))
            if not self.runtime.life.over:
                assert self.step_of(key) in {"ended", "over", None}, "and so is that it has ended"
        if len(question.effects) > 1:
            assert all(idempotent for _, idempotent in question.effects), "it has run twice"

    def survive(self, then: str | None) -> None:
        """Where the process has ended there is another."""
        if self.runtime.life.over:
            self.deaths += 1
            self.restart(machine=then)


@pytest.fixture(autouse=True)
def _processes_end_and_machines_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """So nothing waits for a disk."""
    monkeypatch.setattr("os.fsync", lambda _file: None)


def test_what_runs_is_what_the_model_lets_run(tmp_path: Path) -> None:
    """Whatever is lost, changed or killed meanwhile."""
    phases = [Phase.explicit, Phase.reuse, Phase.generate]  # to make a failure short takes minutes
    bounds = settings(max_examples=20, stateful_step_count=20, deadline=None, phases=phases)
    run_state_machine_as_test(cast("Any", lambda: Running(tmp_path)), settings=bounds)


@pytest.mark.parametrize("face", FACES)
def test_a_process_may_end_anywhere(face: str, tmp_path: Path) -> None:
    """Each point in turn, with what may be in the way of the next one."""
    running = Running(tmp_path)
    running.begin(face=face, machine="here", decided=())
    plain = [(point, Way(idempotent=each), Way()) for point in POINTS for each in (False, True)]
    untold = [(point, Way(), Way(trouble=("outcome", 9))) for point in ("ended:>", "outcome:<", "outcome:>")]
    spent = ["begun:>", "consume:<", "consume:>", "started:<", "started:>", "body:<", "body:>", "ended:<"]
    hindered = [Way(trouble=("consume", 9)), Way(edits=False)]
    open_ = [(point, Way(idempotent=True), again) for point in spent for again in hindered]
    cases = plain + untold + open_
    for point, way, again in cases:
        running.restart(machine="here")  # which has no keys yet
        running.end(decision="fits", way=way, point=point, then="here", again=again, alike=True)
    running.teardown()
    assert running.deaths == len(cases)
