"""The form for a comment."""

from typing import Any

import pytest

from placet.channels.slack.modal import (
    APPROVAL,
    COMMENT,
    COMMENT_BLOCK,
    REJECTION,
    approval,
    comment_of,
    notice,
    rejection,
)
from tests.slack_rules import view_faults


def test_it_asks_for_a_comment_that_the_agent_reads() -> None:
    """And brings back what it was given."""
    view = rejection("v1.metadata", headline="orders.refund acts on <!here>")
    said, asked = view["blocks"]
    assert view_faults(view) == []
    assert (view["callback_id"], view["private_metadata"]) == (REJECTION, "v1.metadata")
    assert said["text"]["text"] == "orders.refund acts on &lt;!here&gt;"
    assert asked["hint"]["text"] == "The agent that asked reads it, and so may whoever runs it."
    assert (asked["element"]["max_length"], asked["optional"]) == (2_000, True)


def test_an_approval_may_take_one() -> None:
    """Then it can't be sent without."""
    view = approval("v1.metadata", headline="orders.refund acts")
    assert view_faults(view) == []
    assert (view["callback_id"], view["title"]["text"], view["submit"]["text"]) == (
        APPROVAL,
        "Approve",
        "Approve",
    )
    assert view["blocks"][1]["optional"] is False


def test_it_says_what_became_of_it() -> None:
    """In place of the form."""
    view = notice("Nothing was decided. It expired before your decision came.")
    assert view_faults(view) == []
    assert view["blocks"][0]["text"]["text"].startswith("Nothing was decided.")


def test_a_rule_may_want_one() -> None:
    """Then it can't be sent without."""
    assert rejection("x", headline="x", is_required=True)["blocks"][1]["optional"] is False


def test_any_headline_fits() -> None:
    """Also one that is much longer escaped."""
    assert view_faults(rejection("x", headline="&\u2705" * 5_000)) == []


def test_there_is_a_limit_to_what_comes_back() -> None:
    """Slack's own."""
    with pytest.raises(ValueError, match="3000"):
        rejection("x" * 3_001, headline="x")


@pytest.mark.parametrize(
    ("view", "comment"),
    [
        ({"state": {"values": {COMMENT_BLOCK: {COMMENT: {"value": " too much "}}}}}, "too much"),
        ({"state": {"values": {COMMENT_BLOCK: {COMMENT: {"value": None}}}}}, None),
        ({"state": {"values": {COMMENT_BLOCK: {COMMENT: {"value": "  "}}}}}, None),
        ({"state": {"values": {"other": {COMMENT: {"value": "x"}}}}}, None),
        ({}, None),
        (None, None),
    ],
)
def test_what_was_written_is_found(view: Any, comment: str | None) -> None:
    """Whatever came back."""
    assert comment_of(view) == comment
