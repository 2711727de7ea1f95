"""The form for what somebody says to a rejection."""

from typing import Any, Final

from placet.channels.slack.sheet import BUDGET
from placet.channels.slack.words import plain

REJECTION: Final = "placet.rejection"
"""The form's ``callback_id``."""
COMMENT_BLOCK: Final = "placet.comment"
COMMENT: Final = "placet.comment"
COMMENT_MAX_CHARS: Final = 2_000
METADATA_MAX_CHARS: Final = 3_000
"""Most of ``private_metadata`` (https://docs.slack.dev/reference/views/modal-views)."""
_HEADLINE_CHARS: Final = 300


def rejection(private_metadata: str, *, headline: str, is_required: bool = False) -> dict[str, Any]:
    """The view that asks for a comment.

    Args:
        private_metadata: What comes back with it, as it is; the reader of the form does not see it.
        headline: What is to be rejected, a visible text.
        is_required: Whether it takes a comment.

    Raises:
        ValueError: There is too much to bring back.
    """
    if len(private_metadata) > METADATA_MAX_CHARS:
        raise ValueError(f"private_metadata takes at most {METADATA_MAX_CHARS} characters")
    what = BUDGET.within(headline, _HEADLINE_CHARS, of=len(headline))
    return {
        "type": "modal",
        "callback_id": REJECTION,
        "private_metadata": private_metadata,
        "title": plain("Reject"),
        "submit": plain("Reject"),
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
