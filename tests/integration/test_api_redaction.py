"""Redaction: what approvers are not shown, and that they see that it is hidden."""

from typing import Any

import pytest

from tests.harness import Harness, record

CARD = {"card": {"number": "4111", "cvc": "123"}, "to": ["a", "b"], "n": 1.5}


async def shown(h: Harness, redact: list[str], given: Any = CARD) -> tuple[dict[str, Any], dict[str, Any]]:
    """The record as the asker and as an approver see it."""
    runtime, ann = await h.client(), await h.approver()
    asked = await runtime.asked(input=given, presentation={"redact": redact})
    return await runtime.seen(asked["id"]), await ann.seen(asked["id"])


@pytest.mark.parametrize(
    ("redact", "card"),
    [
        (["/card/number"], {**CARD, "card": {"number": "[redacted]", "cvc": "123"}}),
        (["/card"], {**CARD, "card": "[redacted]"}),
        (["/card", "/card/number"], {**CARD, "card": "[redacted]"}),
        (["/to/1"], {**CARD, "to": ["a", "[redacted]"]}),
        (["/n", "/to/0"], {**CARD, "n": "[redacted]", "to": ["[redacted]", "b"]}),
        ([""], "[redacted]"),
    ],
)
async def test_what_is_named_is_hidden_from_approvers(
    anywhere: Harness, redact: list[str], card: Any
) -> None:
    """Approvers see the input but for the named places, are told so, and get no hash to guess with."""
    whole, seen = await shown(anywhere, redact)
    assert (whole["input"], "input_redacted" in whole) == (CARD, False)
    assert (seen["input"], seen["input_redacted"]) == (card, True)
    assert (whole["input_hash"] is None, seen["input_hash"]) == (False, None)
    assert seen["digest"] == whole["digest"]
    assert "4111" not in str(seen) or "/card" not in "".join(redact)


@pytest.mark.parametrize("redact", [[], ["/nothing"], ["/to/2"], ["/to/-"], ["/to/01"], ["/n/x"]])
async def test_what_names_nothing_hides_nothing(h: Harness, redact: list[str]) -> None:
    """Pointers to nowhere leave the input whole, and nothing is said to be hidden."""
    whole, seen = await shown(h, redact)
    assert (seen["input"], seen["input_hash"]) == (CARD, whole["input_hash"])
    assert "input_redacted" not in seen


async def test_numbers_survive_redaction(h: Harness) -> None:
    """What stays visible of a redacted input keeps its value exactly."""
    given = {"secret": 1, "n": [1e21, 5e-324, 0.1, 9007199254740991, -0.0, "1e21"]}
    _, seen = await shown(h, ["/secret"], given)
    assert seen["input"]["n"] == [1e21, 5e-324, 0.1, 9007199254740991, 0, "1e21"]


async def test_who_else_sees_it_whole_and_who_does_not(anywhere: Harness) -> None:
    """Audience, input readers and administrators see all; bridges what people see; readers nothing."""
    runtime = await anywhere.client()
    tools, auditor = await anywhere.client("tools", "consume"), await anywhere.client("auditor", "read_input")
    boss, reader = await anywhere.client("boss", "admin"), await anywhere.client("reader", "read")
    bridge = await anywhere.client("bridge", "decide_as", people=["ann"], max_risk="high")
    asked = await runtime.asked(input=CARD, audience="tools", presentation={"redact": ["/card"]})
    for party in (runtime, tools, auditor, boss):
        assert (await party.seen(asked["id"]))["input"] == CARD
    assert (await bridge.seen(asked["id"]))["input"]["card"] == "[redacted]"
    seen = await reader.seen(asked["id"])
    assert (seen["input"], "input_redacted" in seen) == (None, False)


async def test_lists_and_decisions_hide_it_too(anywhere: Harness) -> None:
    """No answer to an approver has the hidden value: list, decision, wait, or any later state."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    asked = await runtime.asked(input=CARD, presentation={"redact": ["/card/number"]})
    answers = [
        await ann.list(),
        await ann.read(asked["id"]),
        await ann.decide(asked),
        await ann.decide(asked),
    ]
    record(await runtime.consume(asked, await runtime.token(asked["id"])))
    answers += [
        await ann.read(asked["id"], wait=1),
        await ann.list(status="consumed"),
        await ann.trail(asked["id"]),
    ]
    for answer in answers:
        assert answer.status_code == 200
        assert "4111" not in answer.text


async def test_the_runtime_consumes_the_whole(anywhere: Harness) -> None:
    """What was hidden on the card is bound all the same."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    asked = await runtime.asked(input=CARD, presentation={"redact": ["/card/number"]})
    record(await ann.decide(await ann.seen(asked["id"])))
    token = await runtime.token(asked["id"])
    other = {**CARD, "card": {"number": "4242", "cvc": "123"}}
    assert (await runtime.consume(asked, token, input=other)).status_code == 409
    assert record(await runtime.consume(asked, token))["input"] == CARD
