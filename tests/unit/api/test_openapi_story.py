"""The story of the examples is true: every hash, the token and each state are what the service would make."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from placet.api import openapi_examples as examples
from placet.api import openapi_story as story
from placet.application import cursors
from placet.application.asking import ask_of, under
from placet.application.commands import Consume, Create, Decide, Introspect
from placet.application.consume import presented
from placet.domain import machine
from placet.domain.authority import BUILT_IN
from placet.domain.canonical import canonicalize, sha256_hex
from placet.domain.machine import Ruling
from placet.domain.model import Approval, Verdict
from placet.domain.principals import Client, Scope
from placet.settings import ServerSettings
from placet.tokens.claims import TokenClaims
from placet.tokens.jwks import VerificationKeys
from placet.tokens.verify import verify
from tests.factories import a_caller

CLIENT = Client(tenant=story.TENANT, name=story.CLIENT, scopes=frozenset({Scope.REQUEST, Scope.CONSUME}))


def body(route: str, example: str) -> Any:
    """What a caller says in an example."""
    return examples.BODIES[route][example].value


def spending() -> Consume:
    """The example of a consumption."""
    return msgspec.convert(body("consume_approval", "spend"), Consume)


def claims() -> TokenClaims:
    """What the example's token says, once it is verified with the example's key set."""
    return verify(
        story.TOKEN,
        VerificationKeys.from_keyring(story.RING),
        issuer=ServerSettings().public_url,
        audience=story.CLIENT,
        tenant=story.TENANT,
        now_ms=story.CONSUMED_MS,
    )


def judged(approval: Approval, execution_id: str | None = None) -> Ruling:
    """What consume says of the example's call, of a record in this state."""
    call, canonical = presented(story.TENANT, spending(), None)
    state = machine.State(
        status=approval.status,
        digest=approval.digest,
        call=call,
        asked_by=approval.ask.asked_by,
        audience=approval.ask.audience,
        expires_at_ms=approval.expires_at_ms,
        use_by_ms=approval.use_by_ms,
        input=None if approval.input is None else bytes(approval.input),
        execution_id=execution_id,
    )
    attempt = machine.Consume(
        client=story.CLIENT,
        execution_id=story.EXECUTION,
        call=call,
        input=canonical,
        token_digest=claims().dig,
        token_exp_ms=claims().exp_ms,
    )
    return machine.judge_consume(state, attempt, story.CONSUMED_MS)


def test_the_question_is_the_one_that_asking_makes() -> None:
    """The record's words are those of the body, with the defaults that the service fills in."""
    said = msgspec.convert(body("create_approval", "refund"), Create)
    made = ask_of(a_caller(CLIENT).authority, CLIENT, said, story.CLIENT, story.PENDING.input_hash, held=True)
    assert under(replace(made, id=story.APPROVAL_ID), BUILT_IN, None) == story.PENDING.ask


def test_the_input_hash_is_that_of_the_canonical_input() -> None:
    """Which the record holds as well."""
    canonical = canonicalize(body("create_approval", "refund")["input"])
    assert bytes(story.PENDING.input or b"") == canonical
    assert story.PENDING.input_hash == sha256_hex(canonical)


@pytest.mark.parametrize("verdict", [Verdict.APPROVE, Verdict.REJECT])
def test_the_decisions_are_on_the_digest_of_the_record(verdict: Verdict) -> None:
    """So are the votes in the answers."""
    said = msgspec.convert(body("decide_approval", verdict.value), Decide)
    assert said.digest == story.PENDING.digest
    (vote,) = (story.APPROVED if verdict is Verdict.APPROVE else story.REJECTED).votes
    assert (vote.vote.decision, vote.vote.digest, vote.vote.comment) == (verdict, said.digest, said.comment)


def test_the_token_is_signed_for_the_grant() -> None:
    """Whoever takes the example's key set can verify the example's token."""
    said = claims()
    assert (said.jti, said.dig, said.ih) == (
        story.APPROVAL_ID,
        story.APPROVED.digest,
        story.APPROVED.input_hash,
    )


def test_the_consumption_is_one_that_would_be_granted() -> None:
    """The same again is a replay."""
    assert judged(story.APPROVED) is Ruling.OK
    assert judged(story.CONSUMED, story.EXECUTION) is Ruling.REPLAYED


def test_the_introspection_presents_the_same_call() -> None:
    """And the same token."""
    said = msgspec.convert(body("introspect_token", "ask"), Introspect)
    assert said.token == spending().token
    assert presented(story.TENANT, said, None) == presented(story.TENANT, spending(), None)


def test_the_cursor_is_one_that_a_list_takes() -> None:
    """It names the place of the record in the list."""
    page = examples.ANSWERS["list_approvals"][200]["page"].value
    assert cursors.member_of(page["next_cursor"]).endswith(story.APPROVAL_ID)


def test_an_approver_is_not_shown_what_is_redacted() -> None:
    """Nor a hash that would let them guess it; the asker is shown all."""
    card = examples.ANSWERS["get_approval"][200]["card"].value
    assert (card["input"]["iban"], card["input_redacted"], card["input_hash"]) == ("[redacted]", True, None)
    whole = examples.ANSWERS["get_approval"][200]["pending"].value
    assert whole["input"]["iban"] == "DE89370400440532013000"


def test_the_token_is_shown_where_the_record_is_read_and_nowhere_else() -> None:
    """Of all the answers only the approved record that its asker reads has one."""
    having = {
        (route, name)
        for route, by_status in examples.ANSWERS.items()
        for shown in by_status.values()
        for name, example in shown.items()
        if story.TOKEN in msgspec.json.encode(example.value).decode()
    }
    assert having == {("get_approval", "approved")}
