"""What a refusal says to a person on a page: what happened, calmly, and what they can do.

The sentences of the error table itself are for whoever writes programs.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from placet.domain.error_terms import DecidedStatus, ForbiddenReason, RateLimitReason
from placet.domain.errors import InputInvalid, PlacetError, StoreUnavailable
from placet.domain.presentation import Card

ELSEWHERE: Final = "This can't be done from a page."
"""Of what only programs do."""

WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "APPROVAL_EXPIRED": "It expired before your decision came.",
        "APPROVAL_CANCELLED": "Whoever asked withdrew it before your decision came.",
        "APPROVAL_ALREADY_DECIDED": "It was decided before your decision came.",
        "APPROVAL_INPUT_MISMATCH": "It has changed since it was shown to you: look at it again.",
        "APPROVAL_SELF_APPROVAL": (
            "It is your own request, or was made on your behalf: somebody else has to approve it. You may"
            " reject it."
        ),
        "APPROVAL_UNSERIALIZABLE_INPUT": "The input can't be used as it was written.",
        "APPROVAL_NOT_FOUND": "There is no such approval, or none that you may see.",
        "INPUT_INVALID": "What was written can't be used. Change it, and send it again.",
        "INPUT_TOO_LARGE": "What was written is too long. Make it shorter, and send it again.",
        "METHOD_NOT_ALLOWED": "This address is not opened like this. Go back to the page you came from.",
        "ROUTE_NOT_FOUND": "There is no such page. The address may be of an earlier release, or mistyped.",
        "HOST_NOT_ALLOWED": (
            "This service does not go by the name in the address. Ask whoever runs it for the right one."
        ),
        "UNAUTHENTICATED": "You are not signed in any more. Sign in again.",
        "ISSUER_UNAVAILABLE": "Who you are could not be looked up just now. Try again in a moment.",
        "FORBIDDEN": "You may not do this.",
        "RATE_LIMITED": "That was too much at once. Try again in a moment.",
        "STORE_UNAVAILABLE": (
            "Nothing was lost, nothing was decided: the store does not answer. Try again in a moment."
        ),
        "INTERNAL_ERROR": "Something went wrong here that nobody foresaw. Tell whoever runs this service.",
    }
)
"""Behind "Nothing was decided", where something was to be, or alone: by code."""

FOR_PROGRAMS: Final = frozenset(
    {
        "APPROVAL_REQUIRED",
        "APPROVAL_PENDING",
        "APPROVAL_REJECTED",
        "APPROVAL_CONSUMED",
        "APPROVAL_TOKEN_INVALID",
        "APPROVAL_RESUME_MISMATCH",
        "APPROVAL_ALREADY_EXISTS",
        "INVOCATION_CONFLICT",
        "UNSUPPORTED_MEDIA_TYPE",
    }
)
"""Codes that no page meets."""

REASONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        ForbiddenReason.SCOPE: "You may not do this.",
        ForbiddenReason.NO_RULE: "By the rules of today nobody may approve it. Ask whoever writes them.",
        ForbiddenReason.NOT_AN_APPROVER: "By the rules you are not among those who decide it.",
        ForbiddenReason.CHANNEL_NOT_ALLOWED: "By the rules it is not decided on these pages.",
        ForbiddenReason.DECISION_NOT_ALLOWED: (
            "It does not take this decision from you: whoever has rejected it or changed its input does not"
            " approve it too, and some requests can only be rejected."
        ),
        ForbiddenReason.COMMENT_REQUIRED: "The rules ask for a comment. Write one, and send it again.",
        ForbiddenReason.HIDDEN_INPUT: "By the rules nobody may approve it without seeing its input.",
        ForbiddenReason.NOT_THE_AUDIENCE: ELSEWHERE,
        ForbiddenReason.NOT_THE_ASKER: ELSEWHERE,
        ForbiddenReason.NOT_THE_CONSUMER: ELSEWHERE,
        ForbiddenReason.APPROVER_NO_LONGER_ENTITLED: "Somebody whose approval counted may no longer give it.",
        ForbiddenReason.QUORUM_NO_LONGER_MET: "By the rules of today it takes more people.",
        RateLimitReason.RATE: "That was too much at once. Try again in a moment.",
        RateLimitReason.QUEUE_FULL: "You have too many pages open at once. Close some of them.",
    }
)
"""The same by reason, which says more."""

TITLES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "APPROVAL_NOT_FOUND": "Nothing is here",
        "ROUTE_NOT_FOUND": "Nothing is here",
        "METHOD_NOT_ALLOWED": "That is not possible here",
        "HOST_NOT_ALLOWED": "Not under this name",
        "STORE_UNAVAILABLE": "The store does not answer",
        "RATE_LIMITED": "Too much at once",
        "INTERNAL_ERROR": "Something went wrong",
    }
)
"""Above them, where they have a page of their own."""
_ANY_TITLE: Final = "That did not work"

_NOT_KNOWN: Final = (
    "The store does not answer, so it is not known whether what you sent was done. Look again in a moment:"
    " nothing is done twice."
)
_DECIDED: Final[Mapping[str, str]] = MappingProxyType(
    {
        DecidedStatus.APPROVED: "It was approved{by} before your decision came.",
        DecidedStatus.REJECTED: "It was rejected{by} before your decision came.",
        DecidedStatus.CONSUMED: "It was approved{by} before your decision came, and has run.",
    }
)


def title_of(error: PlacetError) -> str:
    """What stands above."""
    return TITLES.get(error.code, _ANY_TITLE)


def words_of(error: PlacetError, *, was_sent: bool = False) -> str:
    """What a refusal says.

    Args:
        error: The refusal.
        was_sent: Whether something was to be done: then a store that does not answer may have done it.
    """
    if was_sent and isinstance(error, StoreUnavailable):
        return _NOT_KNOWN
    reason = str(error.details.get("reason", ""))
    return REASONS.get(reason) or WORDS.get(error.code, ELSEWHERE)


def undecided(error: PlacetError, card: Card | None = None) -> str:
    """What somebody's decision was refused with; ``card``: as it is by now, for who came before them."""
    if isinstance(error, InputInvalid) and [each.path for each in error.issues] == ["/comment"]:
        return f"Nothing was decided. The comment: {error.issues[0].message}"
    return f"Nothing was decided. {_too_late(error, card) or words_of(error)}"


def _too_late(error: PlacetError, card: Card | None) -> str:
    """By whom it was decided before; empty where it was not."""
    words = _DECIDED.get(str(error.details.get("status", "")), "")
    rejected = error.details.get("status") == DecidedStatus.REJECTED
    who = (
        []
        if card is None
        else [each.who for each in card.decided if each.counts and (each.verdict == "reject") is rejected]
    )
    *others, last = who or [""]
    by = f" by {', '.join(others)} and {last}" if others else f" by {last}" if last else ""
    return words.format(by=by)
