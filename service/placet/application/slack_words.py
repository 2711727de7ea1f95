"""What a click in Slack is answered with: what happened, calmly, and what a person can do.

Only its author reads it. It says nothing of a record that its card does not, to whoever may not see it.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from placet.domain.error_terms import ForbiddenReason
from placet.domain.errors import InputInvalid, PlacetError

NOT_KNOWN: Final = (
    "It isn't certain whether this counted; the card will say. If it doesn't in a minute, click again:"
    " nothing is done twice."
)
NOTHING: Final = "Nothing was decided."
TOO_LATE: Final = f"{NOTHING} That took too long: click again."
NO_FORM: Final = f"{NOTHING} The form could not be shown: click again, or open the page."
NOT_CONNECTED: Final = f"{NOTHING} This app is not connected to this service any more."
UNKNOWN_BUTTON: Final = f"{NOTHING} This button is none of this service's."
NOT_OURS: Final = f"{NOTHING} This button was not made for this message, or too long ago: open its page."
NOT_THE_CARD: Final = f"{NOTHING} This message is not the one that counts. Find the other, or open its page."
NOT_THE_WORDS: Final = (
    f"{NOTHING} This message does not say what was posted here, and whoever runs this service has been told."
    " Open its page."
)
BEING_CHANGED: Final = f"{NOTHING} The card is just being changed: look at it again, and click again."
NOT_THE_AUTHOR: Final = f"{NOTHING} This form was opened by somebody else, or too long ago: click again."
STRANGER: Final = (
    f"{NOTHING} You are not known here. Whoever runs this service enters people in its directory, by their"
    " workspace and member id."
)

_NO_APPROVER: Final = "By the rules you are not among those who decide it."
_CODES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "APPROVAL_EXPIRED": "It expired before your decision came.",
        "APPROVAL_CANCELLED": "Whoever asked withdrew it before your decision came.",
        "APPROVAL_ALREADY_DECIDED": "It was decided before your decision came.",
        "APPROVAL_INPUT_MISMATCH": "It has changed since it was shown to you: look at it again.",
        "APPROVAL_SELF_APPROVAL": (
            "It is your own request, or was made on your behalf: somebody else has to approve it. You may"
            " reject it."
        ),
        "APPROVAL_NOT_FOUND": _NO_APPROVER,  # it is no secret to whoever has its card
        "STORE_UNAVAILABLE": "The store does not answer. Try again in a moment.",
        "FORBIDDEN": "You may not do this.",
    }
)
_REASONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        ForbiddenReason.NO_RULE: "By the rules of today nobody may approve it. Ask whoever writes them.",
        ForbiddenReason.NOT_AN_APPROVER: _NO_APPROVER,
        ForbiddenReason.CHANNEL_NOT_ALLOWED: "By the rules it is not decided in Slack: open its page.",
        ForbiddenReason.DECISION_NOT_ALLOWED: (
            "It does not take this decision from you: whoever has rejected it or changed its input does not"
            " approve it too, and some requests can only be rejected."
        ),
        ForbiddenReason.COMMENT_REQUIRED: "The rules ask for a comment: write one.",
        ForbiddenReason.HIDDEN_INPUT: "By the rules nobody may approve it without seeing its input.",
    }
)
_UNFORESEEN: Final = "Something went wrong here that nobody foresaw. Tell whoever runs this service."


def undecided(error: PlacetError) -> str:
    """What somebody's decision was refused with."""
    if is_about_comment(error) and isinstance(error, InputInvalid):
        return f"{NOTHING} The comment: {error.issues[0].message}"
    reason = str(error.details.get("reason", ""))
    return f"{NOTHING} {_REASONS.get(reason) or _CODES.get(error.code, _UNFORESEEN)}"


def is_about_comment(error: PlacetError) -> bool:
    """Whether another comment mends it."""
    if isinstance(error, InputInvalid):
        return [each.path for each in error.issues] == ["/comment"]
    return error.details.get("reason") == ForbiddenReason.COMMENT_REQUIRED
