"""The card: all that an approver judges by, in ten seconds (design §10), and nothing of any medium.

Who asks comes first, from authentication; then the actor, as that client says; then what would run, for
whom, why it was gated, and when it dies. The runtime's own words are quoted beside the input, never in its
place. Every text on a card is visible (:func:`placet.domain.text.visible`), cut to the room there is with a
mark where it was, and free of control characters. Nothing in it is markup; a medium escapes it its own way.
"""

from enum import StrEnum

from msgspec import Struct

from placet.domain.presentation.edits import Edits
from placet.domain.presentation.gist import Fact
from placet.domain.presentation.hazards import Hazard
from placet.domain.presentation.phrases import Severity
from placet.domain.presentation.tree import Tree
from placet.domain.presentation.writing import Listing, in_quotes


class Level(Struct, frozen=True, kw_only=True):
    """An effect or a risk.

    Attributes:
        word: The record's term.
        words: What it means, where that says more.
        severity: How much it matters.
        claimed: What the client said, where a rule of the operator raised it.
    """

    word: str
    words: str
    severity: Severity
    claimed: str | None

    @property
    def text(self) -> str:
        """All of it."""
        raised = f" (raised by the operator's rules; the client said {self.claimed})" if self.claimed else ""
        return (f"{self.word}: {self.words}" if self.words else self.word) + raised


class ActorLine(Struct, frozen=True, kw_only=True):
    """The actor: its kind in words, its id, and the name it is said to have; all of it the client's claim."""

    kind: str
    id: str
    claimed_name: str | None

    @property
    def text(self) -> str:
        """All of it."""
        name = f" {in_quotes(self.claimed_name)}" if self.claimed_name else ""
        return f"{self.id}{name} ({self.kind}, as the client says)"


class DeadlineKind(StrEnum):
    """What dies."""

    QUESTION = "question"
    GRANT = "grant"


class Dies(Struct, frozen=True, kw_only=True):
    """When it ends by itself: alive at that very moment, dead after it."""

    kind: DeadlineKind
    at_ms: int

    def left_ms(self, now_ms: int) -> int:
        """Time left; 0 where it is over."""
        return max(self.at_ms - now_ms, 0)


class Progress(Struct, frozen=True, kw_only=True):
    """How many people it takes to approve, or to reject, and how many have."""

    required: int
    approved: int
    rejections: int
    rejected: int

    @property
    def text(self) -> str:
        """All of it."""
        approvals = f"{self.approved} of {self.required} needed"
        return (
            approvals
            if self.rejections == 1
            else (f"{approvals}; rejections: {self.rejected} of {self.rejections}")
        )


class Decided(Struct, frozen=True, kw_only=True):
    """A decision of a person.

    Attributes:
        verdict: The record's term.
        words: What was done: ``approved``.
        person: Who, by id.
        name: And by name.
        channel: Through what.
        submitted_by: The bridge that spoke for them.
        at_ms: When.
        comment: Why, in lines; the agent reads it too.
        counts: Whether it counts; False where it was taken back, the input was changed after it, its author
            may not give it any more, or a change has to be approved by others.
        why_not: Why it does not, in words behind it; empty where it does.
        signed_in: How its author signed in for it, in words behind it; empty where they did not.
    """

    verdict: str
    words: str
    person: str
    name: str | None
    channel: str
    submitted_by: str | None
    at_ms: int | None
    comment: tuple[str, ...]
    counts: bool
    why_not: str
    signed_in: str

    @property
    def who(self) -> str:
        """The person, by name and id."""
        return f"{self.name} ({self.person})" if self.name else self.person


class Used(Struct, frozen=True, kw_only=True):
    """Who spent the grant, in which execution."""

    client: str
    execution_id: str
    at_ms: int | None


class Reported(Struct, frozen=True, kw_only=True):
    """What the runtime reported afterwards, its words in lines."""

    status: str
    summary: tuple[str, ...]
    at_ms: int | None


class Quote(Struct, frozen=True, kw_only=True):
    """The runtime's own words, in lines: to be shown as a quotation, beside the input."""

    title: tuple[str, ...]
    summary: tuple[str, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """Title and summary."""
        return self.title + self.summary


class InputState(StrEnum):
    """How much of the input an approver sees."""

    SHOWN = "shown"
    REDACTED = "redacted"
    """But for values that are visibly hidden."""
    WITHHELD = "withheld"
    """Nothing: the client sent only its hash."""
    ABSENT = "absent"
    """Nothing: this credential may not see it, or it is no longer there."""


class InputView(Struct, frozen=True, kw_only=True):
    """The effective input.

    Attributes:
        state: How much of it is shown.
        words: What there is to say about that, in whole sentences; empty where all is shown.
        tree: The input, where it is shown.
        hash: SHA-256 of its canonical form, where whoever looks may know it.
    """

    state: InputState
    words: str
    tree: Tree | None
    hash: str | None


class Heading(Struct, frozen=True, kw_only=True):
    """The part of a card that stands in a list too.

    Attributes:
        headline: Capability and effect, in words.
        status: The record's term.
        state: What it means.
        gist: How the effective input begins, where it is shown: to tell one line of a list from another.
        asked_by: The client, from authentication.
    """

    id: str
    status: str
    state: str
    headline: str
    gist: tuple[Fact, ...]
    capability: str
    effect: Level
    risk: Level
    asked_by: str
    actor: ActorLine
    run: str | None
    requested_at_ms: int
    dies: Dies | None
    quorum: Progress


class Card(Heading, frozen=True, kw_only=True):
    """A card.

    Attributes:
        follows: What comes of it next, in whole sentences; empty where nothing does.
        audience: The client that may run it, where that is not the one that asked.
        on_behalf_of: For whom the actor says to act.
        surface: Where the tool is reached, where that is not directly.
        rule: The operator's rule it was asked under, and the version of the file that has it.
        context: The further facts that are bound; None where there are none.
        edits: What an approver changed; None where nobody did.
        decided: The decisions, the latest ones where there are too many.
        decided_missing: How many more there are.
        digest: What a decision is bound to; None for whoever may not decide.
        allowed: The decisions that the client allowed, in the record's terms.
        was_cut: Whether anything on it was cut.
        why_not: Why it can't be approved here; None where it can, as far as the card goes: who may decide is
            another question.
        can_edit_here: Whether its input could be changed here: all of it is shown.
    """

    follows: str
    audience: str | None
    on_behalf_of: Listing
    reasons: Listing
    types: Listing
    surface: str | None
    rule: str | None
    policy: str | None
    input: InputView
    context: Tree | None
    quoted: Quote
    edits: Edits | None
    hazards: tuple[Hazard, ...]
    decided: tuple[Decided, ...]
    decided_missing: int
    used: Used | None
    outcome: Reported | None
    digest: str | None
    allowed: tuple[str, ...]
    was_cut: bool
    why_not: str | None
    can_edit_here: bool

    @property
    def can_approve_here(self) -> bool:
        """Whether a medium may offer to approve it."""
        return self.why_not is None
