"""What a card in Slack carries back: ours, of this place and this message, or nothing."""

from typing import Any

import pytest
from msgspec import structs

from placet.application.slack_messages import (
    CardPlace,
    CardReference,
    Opened,
    Pressed,
    button_value,
    form_metadata,
    new_nonce,
    opened_form,
    pressed_in,
)
from placet.domain.model import Verdict
from placet.tokens.keys import new_seal_key
from placet.tokens.seal import Sealer

SEALER = Sealer(new_seal_key())
NONCE = new_nonce()
PLACE = CardPlace(
    tenant="default",
    approval="apr_" + "x" * 124,
    digest="d1" * 32,
    team="T024BE7LD",
    app="A024BE7LA",
    channel="C024BE7LR",
    nonce=NONCE,
)
HERE = {"tenant": "default", "team": "T024BE7LD", "app": "A024BE7LA", "channel": "C024BE7LR"}
REFERENCE = CardReference(channel="C024BE7LR", ts="1800000000.000001", nonce=NONCE, fingerprint="f0" * 32)
OPENED = Opened(
    pressed=Pressed(approval="apr_1", digest="d1" * 32, verdict=Verdict.REJECT, nonce=NONCE),
    channel="C024BE7LR",
    ts="1800000000.000001",
    user_team="T024BE7LD",
    user="U024BE7LH",
    response_url="https://hooks.slack.com/actions/T1/2/é",
)
FORM = {"tenant": "default", "team": "T024BE7LD", "app": "A024BE7LA"}
SENDER = {"user_team": "T024BE7LD", "user": "U024BE7LH"}


@pytest.mark.parametrize("verdict", [Verdict.APPROVE, Verdict.REJECT])
def test_a_button_carries_a_decision(verdict: Verdict) -> None:
    """The longest id too, well within what Slack lets a value have, and nothing that it would escape."""
    value = button_value(SEALER, PLACE, verdict)
    assert len(value) < 400
    assert not set(value) & set("&<> ")
    assert pressed_in(SEALER, value, **HERE) == Pressed(
        approval=PLACE.approval, digest=PLACE.digest, verdict=verdict, nonce=NONCE
    )


def test_no_button_changes_the_input() -> None:
    """An approval with changes is given on the page."""
    with pytest.raises(KeyError):
        button_value(SEALER, PLACE, Verdict.EDIT)


@pytest.mark.parametrize("member", HERE)
def test_a_button_means_nothing_elsewhere(member: str) -> None:
    """In another tenant, app, workspace or conversation."""
    value = button_value(SEALER, PLACE, Verdict.APPROVE)
    assert pressed_in(SEALER, value, **{**HERE, member: "other"}) is None


@pytest.mark.parametrize("at", range(0, 260, 7))
def test_a_button_that_was_changed_is_none_of_ours(at: int) -> None:
    """Whatever part of it."""
    value = button_value(SEALER, PLACE, Verdict.APPROVE)
    other = "r" if value[at] != "r" else "a"
    assert pressed_in(SEALER, value[:at] + other + value[at + 1 :], **HERE) is None


@pytest.mark.parametrize("value", ["", "1", "1.a", "é" * 200, "\ud800", "1.a." * 500])
def test_anything_else_is_none_of_ours(value: str) -> None:
    """Without a fault."""
    assert pressed_in(SEALER, value, **HERE) is None
    assert opened_form(SEALER, value, **FORM, **SENDER) is None


def test_a_form_carries_the_decision_on() -> None:
    """With where it was pressed, and by whom."""
    metadata = form_metadata(SEALER, OPENED, **FORM)
    assert opened_form(SEALER, metadata, **FORM, **SENDER) == OPENED


@pytest.mark.parametrize("member", [*FORM, *SENDER])
def test_a_form_is_sent_by_whoever_opened_it(member: str) -> None:
    """In the same place, and by nobody else."""
    metadata = form_metadata(SEALER, OPENED, **FORM)
    given: dict[str, Any] = {**FORM, **SENDER, member: "other"}
    assert opened_form(SEALER, metadata, **given) is None


def test_a_form_that_was_changed_is_none_of_ours() -> None:
    """Nor one of another keyring, nor one that says what no release of ours does."""
    metadata = form_metadata(SEALER, OPENED, **FORM)
    assert opened_form(SEALER, metadata.replace("reject", "approve"), **FORM, **SENDER) is None
    assert opened_form(Sealer(new_seal_key()), metadata, **FORM, **SENDER) is None
    sealed = SEALER.seal("slack form", (*FORM.values(), b"{}")) + "{}"
    assert opened_form(SEALER, sealed, **FORM, **SENDER) is None


@pytest.mark.parametrize("reminded", [False, True])
def test_a_lane_keeps_where_its_message_is(reminded: bool) -> None:  # noqa: FBT001 - parametrized
    """In one word."""
    kept = structs.replace(REFERENCE, is_reminded=reminded)
    assert len(kept.text.split()) == 1
    assert CardReference.of(kept.text) == kept


def test_a_message_that_was_changed_has_said_both() -> None:
    """What stands there, and what stood there just before; nothing else, and nothing where nothing did."""
    changed = REFERENCE.saying("e0" * 32)
    assert CardReference.of(changed.text) == changed
    assert (changed.fingerprint, changed.previous) == ("e0" * 32, "f0" * 32)
    assert changed.has_said("e0" * 32)
    assert changed.has_said("f0" * 32)
    assert not changed.saying("d0" * 32).has_said("f0" * 32)
    assert REFERENCE.saying(REFERENCE.fingerprint) is REFERENCE
    assert not REFERENCE.has_said("d0" * 32)


@pytest.mark.parametrize("text", ["", "r 1", "2" + REFERENCE.text[1:], REFERENCE.text + "\n"])
def test_a_lane_may_keep_nothing(text: str) -> None:
    """Before anything was posted, and where another release wrote it."""
    assert CardReference.of(text) is None
