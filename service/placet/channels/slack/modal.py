"""Forms for what somebody says to their decision, and what became of it."""

from typing import Any, Final

from placet.channels.slack.sheet import BUDGET
from placet.channels.slack.words import plain

REJECTION: Final = "placet.rejection"
"""The form's ``callback_id``."""
APPROVAL: Final = "placet.approval"
"""The same where an approval takes a comment."""
FORMS: Final = frozenset({REJECTION, APPROVAL})
COMMENT_BLOCK: Final = "placet.comment"
COMMENT: Final = "placet.comment"
COMMENT_MAX_CHARS: Final = 2_000
METADATA_MAX_CHARS: Final = 3_000
"""Most of ``private_metadata`` (https://docs.slack.dev/reference/views/modal-views)."""
_HEADLINE_CHARS: Final = 300


def rejection(private_metadata: str, *, headline: str, is_required: bool = False) -> dict[str, Any]:
    """The view that asks for a comment on a rejection.

    Args:
        private_metadata: What comes back with it, as it is; the reader of the form does not see it.
        headline: What is to be rejected, a visible text.
        is_required: Whether it takes a comment.

    Raises:
        ValueError: There is too much to bring back.
    """
    return _form(REJECTION, "Reject", private_metadata, headline, is_required=is_required)


def approval(private_metadata: str, *, headline: str) -> dict[str, Any]:
    """The same for an approval that takes a comment."""
    return _form(APPROVAL, "Approve", private_metadata, headline, is_required=True)


def notice(text: str) -> dict[str, Any]:
    """The view that says what became of a form, in words of ours, in place of it."""
    return {
        "type": "modal",
        "title": plain("Not decided"),
        "close": plain("Close"),
        "blocks": [{"type": "section", "text": plain(text)}],
    }


def _form(
    callback_id: str, verb: str, private_metadata: str, headline: str, *, is_required: bool
) -> dict[str, Any]:
    if len(private_metadata) > METADATA_MAX_CHARS:
        raise ValueError(f"private_metadata takes at most {METADATA_MAX_CHARS} characters")
    what = BUDGET.within(headline, _HEADLINE_CHARS, of=len(headline))
    return {
        "type": "modal",
        "callback_id": callback_id,
        "private_metadata": private_metadata,
        "title": plain(verb),
        "submit": plain(verb),
        "close": plain("Back"),
        "blocks": [
            {"type": "section", "text": plain(what)},
            {
                "type": "input",
                "block_id": COMMENT_BLOCK,
                "optional": not is_required,
                "label": plain("Why"),
                "hint": plain("The agent that asked reads it, and so may whoever runs it."),
                "element": {
                    "type": "plain_text_input",
                    "action_id": COMMENT,
                    "multiline": True,
                    "max_length": COMMENT_MAX_CHARS,
                },
            },
        ],
    }


def comment_of(view: object) -> str | None:
    """What was written into the form that came back; ``None`` where nothing was, or it is another form."""
    match view:
        case {"state": {"values": {"placet.comment": {"placet.comment": {"value": str(text)}}}}}:
            return text.strip() or None
    return None
