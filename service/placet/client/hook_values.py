"""What hooks are made of, as values: a question, the steps that it takes, and the go-ahead."""

from collections.abc import Callable, Generator, Mapping
from typing import Any, TypeVar

from placet.client.journal import Entry, Phase
from placet.client.questions import Terms, ToolCall
from placet.client.quiet import Quiet
from placet.client.shapes import Approval
from placet.domain.canonical import canonicalize, sha256_hex
from placet.tokens.jwks import VerificationKeys

T = TypeVar("T")
Gate = Callable[[Any], Any]


class Verb(Quiet, frozen=True, kw_only=True):
    """Something that the client is to do."""

    method: str
    said: tuple[Any, ...]
    options: Mapping[str, Any] = {}
    within_s: float | None = None


class Keys(Quiet, frozen=True, kw_only=True):
    """The service's keys are wanted; ``refused`` are those that lack one."""

    refused: VerificationKeys | None = None


class Judged(Quiet, frozen=True, kw_only=True):
    """The tool's own gate is to judge an input."""

    gate: Gate
    input: Any


class Kept(Quiet, frozen=True, kw_only=True):
    """An entry is to be written to the journal."""

    entry: Entry


Step = Verb | Keys | Judged | Kept
Steps = Generator[Step, Any, T]


class Question(Quiet, frozen=True, kw_only=True):
    """A call, and in which way it is to be asked about and gone on with."""

    call: ToolCall
    terms: Terms
    call_id: str | None = None
    gate: Gate | None = None
    suspend: bool = False
    timeout_s: float | None = None
    idempotent: bool = False
    withdraw: bool = False
    edits: bool = True

    @property
    def run(self) -> str | None:
        """The run it belongs to."""
        return self.terms.get("run")

    @property
    def key(self) -> str | None:
        """The same for the same call of a run; None where calls have no ids: then each is its own."""
        if self.call_id is None:
            return None
        return sha256_hex(canonicalize(["placet.hook", self.run, self.call_id]))


class GoAhead(Quiet, frozen=True, kw_only=True, weakref=True):
    """The tool may run, now and with this call."""

    call: ToolCall
    approval: Approval
    execution_id: str

    def entry(self, phase: Phase, status: str | None = None) -> Entry:
        """A step of it for the journal."""
        digest = self.approval.digest or ""
        return Entry(
            approval=self.approval.id, execution=self.execution_id, digest=digest, phase=phase, status=status
        )
