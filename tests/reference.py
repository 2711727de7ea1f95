"""The reference: records in a dictionary, judged by :mod:`placet.domain.machine`."""

from msgspec.structs import replace

from placet.domain import machine
from placet.domain.machine import Ruling, State
from placet.domain.model import OutcomeStatus, Status, Verdict


class Model:
    """Records in a dictionary, judged by the reference; what the scripts write, it writes."""

    def __init__(self) -> None:
        self.states: dict[str, State] = {}
        self.high_ms = 0

    def now_ms(self, clock_ms: int) -> int:
        """The store's clock: never before a moment that anything was judged by."""
        return max(clock_ms, self.high_ms)

    def meet(self, name: str, now_ms: int) -> State:
        """The record as a POST meets it: an expiry that has happened is written down first."""
        state = self.states[name]
        status = machine.settle(state.status, state.expires_at_ms, state.use_by_ms, now_ms)
        self.high_ms = now_ms
        self.states[name] = state = replace(state, status=status)
        return state

    def decide(self, name: str, attempt: machine.Decide, now_ms: int) -> Ruling:
        """A vote."""
        state = self.meet(name, now_ms)
        ruling = machine.judge_decide(state, attempt, now_ms)
        if machine.is_rejected_by_now(state, attempt, now_ms):
            self.states[name] = replace(state, status=Status.REJECTED)
        if ruling is Ruling.OK:
            state = _counted(state, attempt)
            verdicts = [verdict for _, verdict in state.votes]
            if verdicts.count(Verdict.REJECT) >= attempt.rejections:
                state = replace(state, status=Status.REJECTED)
            elif attempt.verdict is not Verdict.REJECT and verdicts.count(Verdict.APPROVE) >= state.required:
                deadline_ms = machine.use_by_ms(
                    expires_at_ms=state.expires_at_ms, use_within_ms=state.use_within_ms, now_ms=now_ms
                )
                state = replace(state, status=Status.APPROVED, use_by_ms=deadline_ms)
            self.states[name] = state
        return ruling

    def cancel(self, name: str, client: str, now_ms: int, *, admin: bool, sees: bool) -> Ruling:
        """A withdrawal."""
        state = self.meet(name, now_ms)
        ruling = machine.judge_cancel(state, client, now_ms, admin=admin, sees=sees)
        if ruling is Ruling.OK:
            self.states[name] = replace(state, status=Status.CANCELLED)
        return ruling

    def consume(self, name: str, attempt: machine.Consume, now_ms: int) -> Ruling:
        """A consumption."""
        state = self.meet(name, now_ms)
        ruling = machine.judge_consume(state, attempt, now_ms)
        if ruling is Ruling.OK:
            self.states[name] = replace(state, status=Status.CONSUMED, execution_id=attempt.execution_id)
        return ruling

    def report(
        self,
        name: str,
        client: str,
        execution_id: str,
        outcome: tuple[OutcomeStatus, str | None],
        now_ms: int,
        *,
        sees: bool,
    ) -> Ruling:
        """A report."""
        state = self.meet(name, now_ms)
        ruling = machine.judge_outcome(state, client, execution_id, outcome, now_ms, sees=sees)
        if ruling is Ruling.OK:
            self.states[name] = replace(state, outcome=outcome)
        return ruling

    def sweep(self, now_ms: int) -> int:
        """All expiries that have happened; how many."""
        dead = [name for name in self.states if self.dead(name, now_ms)]
        for name in dead:
            self.meet(name, now_ms)
        return len(dead)

    def dead(self, name: str, now_ms: int) -> bool:
        """Whether the deadline has passed and nobody has written that down."""
        deadline_ms = machine.deadline_ms(self.states[name])
        return deadline_ms is not None and now_ms > deadline_ms


def _counted(state: State, attempt: machine.Decide) -> State:
    """The record with a vote on it: a change makes it another question, on which nobody else has voted."""
    votes = [vote for vote in attempt.counting(state) if vote[0] != attempt.person]
    verdict, change = attempt.verdict, attempt.change
    state = replace(state, required=max(state.required, attempt.required))
    if change is not None:
        votes, verdict = [], Verdict.APPROVE if change.counts else Verdict.EDIT
        state = replace(state, digest=change.digest, call=change.call, input=change.input)
    return replace(state, votes=(*votes, (attempt.person, verdict)))
