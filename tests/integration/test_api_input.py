"""What is bound: inputs as bytes on the wire, their hashes, and what can't be bound."""

import hashlib
import json

import pytest

from tests.harness import Harness, Party, call_of, record, refusal

JSON = {"content-type": "application/json"}


def question(spelled: str, member: str = "input") -> bytes:
    """A question with one member spelled by hand."""
    rest = {
        "capability": "orders.refund",
        "actor": {"id": "agent-7", "kind": "agent"},
        "effect": "external",
        **({} if member == "input" else {"input": 1}),
    }
    return f'{json.dumps(rest)[:-1]}, "{member}": {spelled}}}'.encode()


async def ask(party: Party, body: bytes) -> dict[str, object]:
    """The record of a question given as bytes."""
    return record(await party.call("POST", "/v1/approvals", content=body, headers=JSON), 201)


@pytest.mark.parametrize(
    ("spelled", "canonical"),
    [
        ("0.000001", "0.000001"),
        ("1e-7", "1e-7"),
        ("1e21", "1e+21"),
        ("5e-324", "5e-324"),
        ("4.35", "4.35"),
        ("-0.0", "0"),
        ("-0", "0"),
        ("1.0", "1"),
        ("1e2", "100"),
        ("9007199254740991", "9007199254740991"),
        ("333333333.33333329", "333333333.3333333"),
        ('"\\u20ac\\u2028\\u007f\\n\\"\\\\"', '"\u20ac\u2028\u007f\\n\\"\\\\"'),
        ('"\\u0000\\u001f\\/"', '"\\u0000\\u001f/"'),
        ('{"b":1,"a":{"d":[],"c":null}}', '{"a":{"c":null,"d":[]},"b":1}'),
        ('{"\\ufb33":1,"\\ud83d\\ude00":2}', '{"\U0001f600":2,"\ufb33":1}'),
        ('{"p":"\u00e9"}', '{"p":"\u00e9"}'),
        ('{"p":"e\u0301"}', '{"p":"e\u0301"}'),
    ],
)
async def test_the_hash_is_of_the_canonical_form(h: Harness, spelled: str, canonical: str) -> None:
    """B50, B51, B53: numbers, escapes, order of members as RFC 8785 says, and nothing normalised."""
    runtime = await h.client()
    asked = await ask(runtime, question(spelled))
    assert asked["input_hash"] == hashlib.sha256(canonical.encode()).hexdigest()


async def test_composed_and_decomposed_letters_are_two_inputs(h: Harness) -> None:
    """B53: the two forms of one letter have the hashes that were published for them."""
    runtime = await h.client()
    composed = await ask(runtime, question('{"p":"\u00e9"}'))
    decomposed = await ask(runtime, question('{"p":"e\u0301"}'))
    assert str(composed["input_hash"]).startswith("0ac25a8d")
    assert str(decomposed["input_hash"]).startswith("32b3537f")


@pytest.mark.parametrize(
    ("asked", "presented"),
    [
        ('{"p":"\u00e9"}', '{"p":"e\u0301"}'),
        ('{"amount":"1000"}', '{"amount":1000}'),
        ('{"a":1}', '{"a":1,"b":null}'),
        ('{"a":[1,2]}', '{"a":[2,1]}'),
        ("1", "true"),
        ("{}", "[]"),
        ('"a"', '"a "'),
        ("0.1", "0.1000000000000001"),
        ("null", "false"),
    ],
)
async def test_inputs_that_only_look_alike_do_not_match(h: Harness, asked: str, presented: str) -> None:
    """B53, B54: what is not the same JSON value is not what was approved."""
    runtime, ann = await h.client(), await h.approver()
    shown = await ask(runtime, question(asked))
    record(await ann.decide(shown))
    token = await runtime.token(str(shown["id"]))
    response = await runtime.consume(shown, token, input=json.loads(presented))
    assert refusal(response) == (409, "APPROVAL_INPUT_MISMATCH")
    record(await runtime.consume(shown, token, input=json.loads(asked)))


async def test_the_same_value_spelled_otherwise_matches(anywhere: Harness) -> None:
    """White space, escapes, order of members and the spelling of numbers don't change an input."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    shown = await ask(runtime, question('{"b": 1.50, "a": "\\u00e9\\/"}'))
    record(await ann.decide(shown))
    call = json.dumps({**call_of(shown), "execution_id": "e", "token": await runtime.token(str(shown["id"]))})
    body = call.replace(json.dumps(shown["input"]), '{"a":"\u00e9/",\n"b":15e-1}')
    assert body != call
    path = f"/v1/approvals/{shown['id']}/consume"
    record(await runtime.call("POST", path, content=body.encode(), headers=JSON))


UNBINDABLE = [
    ("duplicate", '{"a": 1, "a": 1}', "/a"),
    ("duplicate once unescaped", '{"a": 1, "\\u0061": 2}', "/a"),
    ("duplicate deep inside", '[0, {"x": {"b": 1, "b": 2}}]', "/1/x/b"),
    ("lone high surrogate", '{"a": "\\ud800"}', "/a"),
    ("lone low surrogate in a name", '{"\\udc00": 1}', ""),
    ("overflow", "[1e400]", "/0"),
    ("integer beyond", "9007199254740992", ""),
    ("negative integer beyond", '{"n": -9007199254740992}', "/n"),
    ("integer far beyond", "1" * 400, ""),
    ("a double that is spelled as such an integer", "1e20", ""),
    ("too deep", "[" * 65 + "]" * 65, "/0" * 64),
    ("much too deep", "[" * 20_000 + "]" * 20_000, "/0" * 64),
]


@pytest.mark.parametrize("member", ["input", "context"])
@pytest.mark.parametrize(
    ("spelled", "where"), [row[1:] for row in UNBINDABLE], ids=[row[0] for row in UNBINDABLE]
)
async def test_what_has_no_canonical_form_is_refused(
    h: Harness, member: str, spelled: str, where: str
) -> None:
    """A fault inside what would be bound: its own code and its place, the same at create and at consume."""
    runtime = await h.client()
    if member == "context" and not spelled.startswith("{"):
        spelled, where = f'{{"c": {spelled}}}', f"/c{where}"
        if "deep" in where or spelled.count("[") > 64:
            spelled, where = f'{{"c": {"[" * 64}{"]" * 64}}}', "/c" + "/0" * 63
    asked = await runtime.asked(id="there")
    for path, extra in (
        ("/v1/approvals", ""),
        (f"/v1/approvals/{asked['id']}/consume", ', "execution_id": "e"'),
    ):
        body = question(spelled, member)[:-1] + extra.encode() + b"}"
        response = await runtime.call("POST", path, content=body, headers=JSON)
        assert refusal(response) == (422, "APPROVAL_UNSERIALIZABLE_INPUT")
        assert response.json()["details"] == {"path": f"/{member}{where}"}
        assert response.json()["model"]["code"] == "INTERNAL_ERROR"


@pytest.mark.parametrize("member", ["extensions", "presentation", "actor", "run", "nonsense"])
@pytest.mark.parametrize("spelled", ['{"a": 1, "a": 2}', '"\\ud800"', "1e400", "9007199254740993"])
async def test_the_same_faults_elsewhere_are_faults_of_the_request(
    h: Harness, member: str, spelled: str
) -> None:
    """Outside of what is bound such a fault is INPUT_INVALID at its place, never repeated."""
    runtime = await h.client()
    body = question(spelled, member).replace(b'"actor": {"id": "agent-7", "kind": "agent"}, ', b"")
    response = await runtime.call("POST", "/v1/approvals", content=body, headers=JSON)
    assert refusal(response) == (422, "INPUT_INVALID")
    (issue,) = response.json()["model"]["issues"]
    assert issue["path"].startswith(f"/{member}")


async def test_the_deepest_input_is_taken(h: Harness) -> None:
    """Sixty-four levels, counted from the member's own root, are the bound."""
    runtime = await h.client()
    asked = await ask(runtime, question("[" * 64 + "]" * 64))
    assert json.dumps(asked["input"]) == "[" * 64 + "]" * 64
    deep_context = '{"c":' + "[" * 63 + "]" * 63 + "}"
    assert (await ask(runtime, question(deep_context, "context")))["status"] == "pending"


async def test_the_largest_question_works_like_a_small_one(anywhere: Harness) -> None:
    """B24: a body of exactly the bound is asked, approved and consumed, though the token comes on top."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    text = "x" * (256 * 1024 - len(question('""')))
    shown = await ask(runtime, question(f'"{text}"'))
    record(await ann.decide(shown))
    token = await runtime.token(str(shown["id"]))
    assert record(await runtime.consume(shown, token))["input"] == text


async def test_one_byte_more_is_too_large(h: Harness) -> None:
    """One byte over the bound is 413, whatever it would have said; the bound is named."""
    runtime = await h.client()
    body = question('"' + "y" * (256 * 1024 - len(question('""')) + 1) + '"')
    response = await runtime.call("POST", "/v1/approvals", content=body, headers=JSON)
    assert refusal(response) == (413, "INPUT_TOO_LARGE")
    response = await runtime.call("POST", "/v1/approvals", content=b" " * 262_145, headers=JSON)
    assert refusal(response) == (413, "INPUT_TOO_LARGE")
    assert response.json()["details"] == {"max_bytes": 262_144}


async def test_an_agreeing_hash_beside_the_input_is_fine(h: Harness) -> None:
    """A runtime may send the hash it computed; where it agrees nothing else changes."""
    runtime = await h.client()
    asked = await runtime.asked()
    assert (await runtime.ask(input_hash=asked["input_hash"])).json()["id"] == asked["id"]
