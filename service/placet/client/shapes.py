"""What comes back, as values.

Members that a newer service adds are left out, and words that it adds stay as they are: what the service has
an enumeration for (:mod:`placet.domain.model`) is text here, to be compared with its members or their text.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from msgspec import UNSET, structs

from placet.client.questions import Actor, Presentation, ToolCall
from placet.client.quiet import Quiet
from placet.domain.canonical import canonicalize, sha256_hex
from placet.domain.errors import ApprovalInputMismatch, PlacetError
from placet.domain.model import Status


class Rule(Quiet, frozen=True, kw_only=True):
    """The rule it was asked under, and the version of the operator's files that have it."""

    name: str
    policy: str | None = None


class Claimed(Quiet, frozen=True, kw_only=True):
    """Effect and risk as they were asked with, where the operator's rules raised them."""

    effect: str
    risk: str


class Quorum(Quiet, frozen=True, kw_only=True):
    """How many distinct people must approve, or reject, and how many have."""

    required: int
    approved: int
    rejections: int = 1
    rejected: int = 0


class Person(Quiet, frozen=True, kw_only=True):
    """An approver."""

    id: str
    display_name: str | None = None


class StepUp(Quiet, frozen=True, kw_only=True):
    """The sign-in that was done for a decision."""

    at: datetime
    acr: str | None = None
    amr: tuple[str, ...] = ()


class Decision(Quiet, frozen=True, kw_only=True):
    """One vote, and whether it counts. The comment is for people, and a model may read it."""

    decision: str
    approver: Person
    channel: str
    at: datetime
    submitted_by: str | None = None
    comment: str | None = None
    digest: str | None = None
    counts: bool = True
    step_up: StepUp | None = None


class Consumption(Quiet, frozen=True, kw_only=True):
    """Who spent the grant, in which execution."""

    execution_id: str
    client: str
    at: datetime


class Outcome(Quiet, frozen=True, kw_only=True):
    """What was reported of the execution."""

    status: str
    summary: str | None
    at: datetime


class Requested(Quiet, frozen=True, kw_only=True):
    """What was asked, of an approval that was approved with changes."""

    input: Any = None
    input_hash: str | None = None
    digest: str | None = None


class Links(Quiet, frozen=True, kw_only=True):
    """Paths on the service: of the record, and of its page for approvers."""

    self: str
    ui: str


class Delivery(Quiet, frozen=True, kw_only=True):
    """Who outside is told of an approval: how that stands, and why it failed last."""

    target: str
    state: str
    attempts: int
    at: datetime
    error: str | None = None


class Approval(Quiet, frozen=True, kw_only=True):
    """A record, as of the moment it was answered.

    ``input`` is what was approved, to the last digit: the values of the canonical JSON that is bound.
    ``token`` is there while it is approved, for the asker and the audience. ``suspended`` says why a grant
    can't be used by the rules of now. ``model`` and ``confirmation`` are there while it is pending, to be
    forwarded as they are.
    """

    id: str
    status: str
    capability: str
    actor: Actor
    effect: str
    requested_at: datetime
    expires_at: datetime
    tenant: str = ""
    surface: str = "direct"
    risk: str = ""
    context: Mapping[str, Any] = {}
    input: Any = None
    input_redacted: bool = False
    input_hash: str | None = None
    digest: str | None = None
    reasons: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    allowed_decisions: tuple[str, ...] = ()
    presentation: Presentation = Presentation()
    run: str | None = None
    asked_by: str = ""
    audience: str = ""
    use_within_ms: int | None = None
    use_by: datetime | None = None
    rule: Rule | None = None
    claimed: Claimed | None = None
    quorum: Quorum | None = None
    decisions: tuple[Decision, ...] = ()
    suspended: str | None = None
    consumption: Consumption | None = None
    outcome: Outcome | None = None
    requested: Requested | None = None
    deliveries: tuple[Delivery, ...] = ()
    extensions: Mapping[str, Any] = {}
    links: Links | None = None
    model: dict[str, Any] | None = None
    confirmation: dict[str, Any] | None = None
    token: str | None = None
    replayed: bool | None = None

    @property
    def is_pending(self) -> bool:
        """Whether it still waits for people."""
        return self.status == Status.PENDING

    @property
    def is_approved(self) -> bool:
        """Whether it is granted, and not spent."""
        return self.status == Status.APPROVED

    def effective(self, call: ToolCall) -> ToolCall:
        """The call to run: as it was asked about, or with the input that an approver made of it.

        Raises:
            ApprovalInputMismatch: This approval is about another input.
        """
        if self.requested is None or call.input is UNSET:
            return call
        if self.requested.input_hash != sha256_hex(canonicalize(call.input)):
            raise ApprovalInputMismatch
        return structs.replace(call, input=self.input)


class Spent(Quiet, frozen=True, kw_only=True):
    """A grant that was spent.

    Attributes:
        approval: The record.
        execution_id: The execution it was spent on.
        replayed: Whether the service had this execution already, as it says.
        go_ahead: Whether this very call spent the grant, so that the tool is to be run now.
    """

    approval: Approval
    execution_id: str
    replayed: bool
    go_ahead: bool


class Page(Quiet, frozen=True, kw_only=True):
    """Some of a list; ``next_cursor`` leads on, where there may be more."""

    items: tuple[Approval, ...]
    next_cursor: str | None = None


class TrailLine(Quiet, frozen=True, kw_only=True):
    """A line of an approval's audit trail; ``count`` above 1 stands for refusals of a kind."""

    seq: int
    at: datetime
    type: str
    by: str
    channel: str | None = None
    credential: str | None = None
    code: str | None = None
    reason: str | None = None
    count: int = 1
    decision: str | None = None
    rule: str | None = None
    policy: str | None = None
    digest: str | None = None
    input_hash: str | None = None
    target: str | None = None
    error: str | None = None


class Decided(Quiet, frozen=True, kw_only=True):
    """What became of one decision of several: the record, or why it was refused."""

    id: str
    approval: Approval | None = None
    error: PlacetError | None = None


class Skipped(Quiet, frozen=True, kw_only=True):
    """A record of a run that was not open, and its state."""

    id: str
    status: str


class RunCancelled(Quiet, frozen=True, kw_only=True):
    """What became of a run's records; only those that the caller may cancel are named."""

    cancelled: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()


class Introspection(Quiet, frozen=True, kw_only=True):
    """Whether a token would be taken for a call, and the code of the refusal where not."""

    active: bool
    error: str | None = None


class Event(Quiet, frozen=True, kw_only=True):
    """A transition. ``id`` is the approval's, ``status`` its state by now, ``entry`` where to go on from."""

    id: str
    type: str
    at: datetime
    status: str
    capability: str = ""
    run: str | None = None
    asked_by: str = ""
    entry: str = ""


class Gap(Quiet, frozen=True, kw_only=True):
    """Transitions may be missing here: read again what you follow."""
