"""Plain words for what the record says in terms. A word that is not known here stands for itself."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class Severity(StrEnum):
    """How loudly a medium says it: in colour, and for whoever sees no colours in its words."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"

    @property
    def is_alarming(self) -> bool:
        """Whether it should catch the eye."""
        return self in {Severity.HIGH, Severity.CRITICAL}


RISKS: Final[Mapping[str, Severity]] = MappingProxyType({severity.value: severity for severity in Severity})
"""How severe a risk is; what is not known here is critical."""
EFFECTS: Final[Mapping[str, tuple[str, Severity]]] = MappingProxyType(
    {
        "none": ("changes nothing", Severity.LOW),
        "read": ("reads data", Severity.LOW),
        "write": ("changes data", Severity.MEDIUM),
        "destructive": ("destroys data", Severity.HIGH),
        "external": ("acts on the world outside", Severity.HIGH),
    }
)
"""What an effect does, as a verb after the capability, and how severe it is."""
ACTORS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "user": "a person",
        "service": "a service",
        "automation": "an automation",
        "agent": "an AI agent",
        "anonymous": "nobody in particular",
    }
)
VERDICTS: Final[Mapping[str, str]] = MappingProxyType(
    {"approve": "approved", "reject": "rejected", "edit": "approved with changes"}
)
STATES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "pending": "waits for a decision",
        "approved": "approved, and not used yet",
        "rejected": "rejected",
        "expired": "expired before it was decided",
        "cancelled": "withdrawn",
        "consumed": "used",
    }
)
USED_AND: Final[Mapping[str, str]] = MappingProxyType(
    {"succeeded": "used, and succeeded", "failed": "used, and failed"}
)
"""What became of one that was used, by the outcome that was reported."""
EVENTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "requested": "asked",
        "voted": "decided",
        "edited": VERDICTS["edit"],
        "approved": VERDICTS["approve"],
        "rejected": STATES["rejected"],
        "expired": "expired",
        "cancelled": STATES["cancelled"],
        "consumed": STATES["consumed"],
        "reported": "outcome reported",
        "refused": "refused an attempt",
        "escalated": "waits for so long that more people may decide it",
        "reminded": "will not wait much longer",
        "delivered": "told",
        "undelivered": "could not tell",
    }
)
"""What happened, as words before "by"; of a vote only where it is not known which."""
SUSPENDED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "no-rule": "no rule is for it any more",
        "hidden-input": "a rule wants the input to be seen by now",
        "approver-no-longer-entitled": "somebody whose approval counted may no longer give it",
        "quorum-no-longer-met": "a rule wants more people by now",
    }
)
"""Why a grant can't be used as things are."""
CHANGED_SINCE: Final = "before the input was changed: it counts no more"
MORE_DECIDE: Final = "which takes more people"
OTHERS_APPROVE: Final = "which others have to approve"
COUNTS_NO_MORE: Final = "which counts no more"
SIGNED_IN: Final = "after signing in for it"
EXPIRED_UNUSED: Final = "approved, and expired before it was used"

HASH_ONLY: Final = "Nobody here has seen it: the client sent only its hash."
ABSENT: Final = "It is not shown to you, or is no longer here."
REDACTED: Final = (
    "Parts of it are hidden from you. They are what was asked for all the same: nobody can change them."
)
NOT_DECIDING: Final = "You may look, but not decide."
NOT_ALLOWED: Final = "It can only be rejected."
CUT: Final = "Not all of it is shown here."
REDACTED_HERE: Final = "Parts of the input are hidden."
NOT_SHOWN_HERE: Final = "The input is not shown."
