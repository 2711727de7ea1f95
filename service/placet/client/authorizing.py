"""From a question to the go-ahead, without talking itself: what a hook does, one step after another.

As in :mod:`placet.client.steps`: a generator yields what is to be done and is sent what came of it, so that
both hooks do the same. The laws are in :mod:`placet.client.hook`.
"""

import logging
from collections.abc import Callable
from contextlib import suppress
from inspect import isasyncgen, isawaitable, isgenerator
from secrets import token_hex
from typing import Any, Final, TypeVar

import msgspec
from msgspec import structs

from placet.client import hook_log
from placet.client.errors import StillPending
from placet.client.handles import Handle, handle_for, hash_of
from placet.client.hook_values import GoAhead, Judged, Kept, Keys, Question, Steps, Verb
from placet.client.journal import Entry, Journal
from placet.client.questions import ToolCall
from placet.client.quiet import Quiet
from placet.client.refusals import (
    ApprovalEdited,
    ApprovalPending,
    ApprovalRefused,
    ExecutionUnknown,
    HookRefusal,
)
from placet.client.reporting import name_of, unreported
from placet.client.running import Running
from placet.client.shapes import Approval, Outcome, Spent
from placet.client.verifying import Expected
from placet.client.writing import read_back
from placet.domain.canonical import canonicalize, sha256_hex
from placet.domain.errors import (
    ApprovalConsumed,
    ApprovalInputMismatch,
    ApprovalTokenInvalid,
    Forbidden,
    InternalError,
    InvocationConflict,
    PlacetError,
    from_problem,
)
from placet.domain.model import Status
from placet.tokens.verify import TokenFault, TokenInvalid

T = TypeVar("T")

Settling = Callable[[Question, Approval], Steps[T]]

_EXECUTION_BYTES: Final = 16
_WITHDRAWN_WITHIN_S: Final = 5.0
_log: Final = logging.getLogger("placet.client.hook")


class Desk(Quiet, frozen=True, kw_only=True):
    """What questions are judged with, and what goes on by that here."""

    expected: Expected
    journal: Journal | None = None
    running: Running = msgspec.field(default_factory=Running)

    def asked(self, question: Question) -> Steps[GoAhead]:
        """Ask, and go on until the tool may run.

        Raises:
            HookRefusal: It may not, or not yet.
        """
        return _closed(question, self._asked(question, self._settled))

    def looked(self, question: Question) -> Steps[Approval]:
        """Ask, and go on until it is decided; nothing is spent.

        Raises:
            HookRefusal: It may not run, or nobody has decided.
        """
        return _closed(question, self._asked(question, _decided))

    def resumed(self, question: Question, handle: object) -> Steps[GoAhead]:
        """Go on with a question that was asked before; the same call is presented."""
        return _closed(question, self._resumed(question, handle))

    def _asked(self, question: Question, settle: Settling[T]) -> Steps[T]:
        question = self._plain(question)
        yield from _passed(question, question.call.input)
        options = {**question.terms, "idempotency_key": question.key}
        approval = yield Verb(method="ask", said=(question.call,), options=options)
        if approval.audience != self.expected.audience:  # before anybody decides what could never be used
            yield from _withdrawn(approval.id)
            names = (self.expected.audience, approval.audience)
            _log.error("the hook is audience %r, and this is asked for %r: give it its client's name", *names)
            raise InternalError
        handle = handle_for(question.call, approval, run=question.run, call_id=question.call_id)
        return (yield from self._followed(question, handle, approval, settle))

    def _resumed(self, question: Question, handle: object) -> Steps[GoAhead]:
        question = self._plain(question)
        known = Handle.of(handle)
        same = (hash_of(question.call), question.call.capability, question.run, question.call_id)
        if same != (known.call, known.capability, known.run, known.call_id):
            raise ApprovalInputMismatch
        yield from _passed(question, question.call.input)
        approval = yield Verb(method="get", said=(known.approval,))
        return (yield from self._followed(question, known, approval, self._settled))

    def _plain(self, question: Question) -> Question:
        """The question about the input as it is bound: read back from its canonical form."""
        if question.idempotent and (self.journal is None or question.key is None):
            _log.error("an idempotent tool needs a journal, and an id for the call")
            raise InvocationConflict
        call = question.call
        plain = {"input": read_back("input", call.input), "context": read_back("context", call.context)}
        return structs.replace(question, call=structs.replace(call, **plain))

    def _followed(
        self, question: Question, handle: Handle, approval: Approval, settle: Settling[T]
    ) -> Steps[T]:
        if approval.is_pending:
            hook_log.waits(approval, self.expected.link(approval))
        try:
            if approval.is_pending and question.suspend:
                raise StillPending(approval)  # noqa: TRY301 - as when there is no time left
            if approval.is_pending or (approval.is_approved and approval.token is None):
                limit = {"timeout_s": question.timeout_s}
                approval = yield Verb(method="wait", said=(approval.id,), options=limit)
            handle.is_of(approval)
            return (yield from settle(question, approval))
        except StillPending as still:
            raise ApprovalPending(handle, still.approval or approval) from None
        except BaseException as gone:
            if question.withdraw and not isinstance(
                gone, Exception | GeneratorExit
            ):  # cancelled, interrupted
                yield from _withdrawn(handle.approval)
            raise

    def _settled(self, question: Question, approval: Approval) -> Steps[GoAhead]:
        if approval.status == Status.CONSUMED:
            return (yield from self._spent_before(question, approval))
        _granted(approval)
        call = yield from _effective(question, approval)
        yield from self._proven(approval, call)
        execution = _execution(question, approval)
        go = GoAhead(call=call, approval=approval, execution_id=execution)
        try:
            yield from self._consumed(question, go, approval.token)
        except ApprovalConsumed:
            pass
        else:
            return go
        return (yield from self._spent_meanwhile(question, go))

    def _spent_meanwhile(self, question: Question, go: GoAhead) -> Steps[GoAhead]:
        """What is to be done where another execution was first."""
        try:
            yield from self._kept(go.entry("over"))
            approval = yield Verb(method="get", said=(go.approval.id,))
        except Exception as fault:  # noqa: BLE001 - somebody has spent it, whatever goes wrong here
            _log.warning("who has spent approval %r is not known: %s", go.approval.id, name_of(fault))
        else:
            return (yield from self._spent_before(structs.replace(question, idempotent=False), approval))
        raise ExecutionUnknown(go.approval.id, None, None)

    def _consumed(self, question: Question, go: GoAhead, token: str | None) -> Steps[None]:
        if not self.running.takes(go) and question.idempotent:
            raise ApprovalRefused(ApprovalConsumed(go.execution_id))
        try:
            if token is not None:  # or it was written down before
                yield from self._kept(go.entry("begun"))
            yield from self._spent(question, go, token)
        except BaseException:
            self.running.over(go)
            raise

    def _spent(self, question: Question, go: GoAhead, token: str | None) -> Steps[None]:
        options = {"token": token, "execution_id": go.execution_id, "fresh": not question.idempotent}
        spent: Spent = yield Verb(method="consume", said=(go.approval.id, go.call), options=options)
        # That it was spent before starts nothing, but for who may be started twice, and said so beforehand.
        if not spent.go_ahead and (not question.idempotent or spent.approval.outcome is not None):
            raise ExecutionUnknown(go.approval.id, go.execution_id, None)
        yield from self._kept(go.entry("started"))

    def _spent_before(self, question: Question, approval: Approval) -> Steps[GoAhead]:
        """What is to be done about a grant that is spent: nothing, but for an idempotent tool's own."""
        spent = approval.consumption
        execution = None if spent is None else spent.execution_id
        if approval.outcome is not None or approval.id in self.running:
            raise ApprovalRefused(ApprovalConsumed(execution), approval.outcome)
        known = None if self.journal is None else self.journal.find(approval.id, execution or "")
        if known is None or known.digest != approval.digest:
            raise ExecutionUnknown(approval.id, execution, None)
        if known.phase == "ended":
            outcome = yield from self._reported(known)
            raise ApprovalRefused(ApprovalConsumed(execution), outcome)
        if not question.idempotent or known.execution != _execution(question, approval):
            raise ExecutionUnknown(approval.id, execution, known.phase)
        try:
            call = yield from _effective(question, approval)
            go = GoAhead(call=call, approval=approval, execution_id=known.execution)
            yield from self._consumed(question, go, None)
        except Exception as fault:  # noqa: BLE001 - it may have run before, whatever is in its way now
            _log.warning("the execution of approval %r does not go on: %s", approval.id, name_of(fault))
        else:
            return go
        raise ExecutionUnknown(approval.id, execution, known.phase)

    def _reported(self, known: Entry) -> Steps[Outcome | None]:
        """Report an end that nobody was told of; it is one, whether that can be done or not."""
        try:
            approval = yield Verb(method="report", said=(known.approval, known.execution, known.status))
            yield from self._kept(structs.replace(known, phase="over"))
        except Exception as fault:  # noqa: BLE001 - as above
            unreported(known.approval, fault)
            return None
        outcome: Outcome | None = approval.outcome
        return outcome

    def _proven(self, approval: Approval, call: ToolCall) -> Steps[None]:
        if approval.token is None:
            raise _withheld(approval)
        keys = None
        for _ in range(2):
            keys = yield Keys(refused=keys)
            try:
                self.expected.prove(approval.token, keys, approval, call)
            except TokenInvalid as fault:
                reason = fault.reason
            else:
                return
            if reason is not TokenFault.UNKNOWN_KEY:
                break
        _log.warning("the token of approval %r is refused: %s", approval.id, reason)
        raise ApprovalTokenInvalid

    def _kept(self, entry: Entry) -> Steps[None]:
        if self.journal is not None:
            yield Kept(entry=entry)


def _closed(question: Question, steps: Steps[T]) -> Steps[T]:
    """The same, so that whatever is unclear is a refusal, and whoever runs this is told."""
    try:
        return (yield from steps)
    except HookRefusal as refused:
        hook_log.refused(question, refused)
        raise
    except PlacetError as error:
        refusal = ApprovalRefused(error)
    except Exception as fault:  # noqa: BLE001 - it may hold anything, so only its name is told
        _log.error("a call is refused because of a fault: %s", type(fault).__name__)
        refusal = ApprovalRefused(InternalError())
    hook_log.refused(question, refusal)
    raise refusal  # out here, nothing hangs on it that holds a value


def _decided(_: Question, approval: Approval) -> Steps[Approval]:
    """The record; of what is spent by now, the tool's own call judges."""
    yield from ()
    if approval.status != Status.CONSUMED:
        _granted(approval)
    return approval


def _granted(approval: Approval) -> None:
    if not approval.is_approved:
        raise ApprovalRefused.of(approval)


def _passed(question: Question, bound: Any) -> Steps[None]:  # noqa: ANN401 - any JSON
    """Have the tool's own gate judge a copy of an input: it says yes by None or True, and no by all else."""
    if question.gate is None:
        return
    copy = msgspec.json.decode(canonicalize(bound))
    try:
        said = yield Judged(gate=question.gate, input=copy)
    except ValueError:
        said = False
    if isawaitable(said) or isgenerator(said) or isasyncgen(said):
        getattr(said, "close", bool)()
        raise TypeError("a gate that has still to run has not judged")
    if said is not None and said != True:  # noqa: E712 - numpy's too
        raise ApprovalInputMismatch


def _effective(question: Question, approval: Approval) -> Steps[ToolCall]:
    """The call as it was approved; where that is another than was asked about, judged once more."""
    call = approval.effective(question.call)
    if call is question.call:
        return call
    try:
        if not question.edits:
            raise ApprovalEdited  # noqa: TRY301 - as what the gate says
        call = structs.replace(call, input=read_back("input", call.input))
        yield from _passed(question, call.input)
    except Exception:
        yield from _withdrawn(approval.id)
        raise
    return call


def _withdrawn(approval_id: str) -> Steps[None]:
    with suppress(Exception):
        yield Verb(method="cancel", said=(approval_id,), within_s=_WITHDRAWN_WITHIN_S)


def _execution(question: Question, approval: Approval) -> str:
    """Drawn for this attempt alone; or the one that an idempotent tool has for this call."""
    if not question.idempotent:
        return token_hex(_EXECUTION_BYTES)
    return sha256_hex(canonicalize([question.key, approval.id]))[: 2 * _EXECUTION_BYTES]


def _withheld(approval: Approval) -> PlacetError:
    """Why there is no token to a grant: the rules of now, where they are the reason."""
    if approval.suspended is None:
        return ApprovalTokenInvalid()
    told = {"code": Forbidden.code, "details": {"reason": approval.suspended}}
    return from_problem(told, status=Forbidden.status)
