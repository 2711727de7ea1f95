"""Several decisions in one body: what can't be read is refused as a whole, what makes no sense by itself."""

from typing import Any

import pytest

from tests.harness import Harness, issues, record, refusal, results, vote_on

GOOD = {"id": "q", "decision": "reject", "digest": "0" * 64}


class TestWhole:
    """What can't be read decides nothing: a caller who is not understood does not mean what is left."""

    WRONG: tuple[tuple[Any, str], ...] = (
        ({"digest": ...}, "/decisions/1/digest"),
        ({"id": ...}, "/decisions/1/id"),
        ({"decision": ...}, "/decisions/1/decision"),
        ({"decision": "Approve"}, "/decisions/1/decision"),
        ({"decision": True}, "/decisions/1/decision"),
        ({"decision": None}, "/decisions/1/decision"),
        ({"digest": "ABC"}, "/decisions/1/digest"),
        ({"id": "has space"}, "/decisions/1/id"),
        ({"id": 7}, "/decisions/1/id"),
        ({"comment": 7}, "/decisions/1/comment"),
        ({"approver": "ann"}, "/decisions/1/approver"),
        ({"decided_by": "bob"}, "/decisions/1/decided_by"),
        ({"approver": {"id": "ann", "kind": "user"}}, "/decisions/1/approver/kind"),
    )

    @pytest.mark.parametrize(("changes", "path"), WRONG)
    async def test_an_item_that_is_not_one(self, h: Harness, changes: dict[str, Any], path: str) -> None:
        """Whatever is wrong with its form is told with its place, and the good one is not decided."""
        runtime, ann = await h.client(), await h.approver()
        good, bad = await runtime.asked(input=1), await runtime.asked(input=2)
        item = {name: value for name, value in {**vote_on(bad), **changes}.items() if value is not ...}
        assert set(issues(await ann.decide_all(vote_on(good), item))) == {path}
        assert (await runtime.seen(good["id"]))["status"] == "pending"

    async def test_an_approval_named_twice(self, h: Harness) -> None:
        """Two votes of one person on one approval contradict each other, or one is too many."""
        runtime, ann = await h.client(), await h.approver()
        one, two = await runtime.asked(input=1), await runtime.asked(input=2)
        answer = await ann.decide_all(vote_on(one), vote_on(two), vote_on(one, "reject"), vote_on(one))
        told = "An earlier item has this id."
        assert issues(answer) == {"/decisions/2/id": told, "/decisions/3/id": told}
        assert (await runtime.seen(two["id"]))["status"] == "pending"

    @pytest.mark.parametrize(
        ("body", "path"),
        [
            ({}, "/decisions"),
            ({"decisions": []}, "/decisions"),
            ({"decisions": {}}, "/decisions"),
            ({"decisions": None}, "/decisions"),
            ({"decisions": [None]}, "/decisions/0"),
            ({"decisions": [[]]}, "/decisions/0"),
            ({"decisions": [GOOD], "decision": "approve"}, "/decision"),
            ([], ""),
        ],
    )
    async def test_a_body_that_is_no_batch(self, h: Harness, body: Any, path: str) -> None:
        """Neither empty, nor anything else."""
        ann = await h.approver()
        answer = await ann.call("POST", "/v1/decisions", json=body)
        assert issues(answer).keys() == {path}

    @pytest.mark.parametrize(
        ("spelled", "code", "path"),
        [
            ('"input": {"a": 1, "a": 2}', "APPROVAL_UNSERIALIZABLE_INPUT", "/decisions/0/input/a"),
            ('"input": 9007199254740993', "APPROVAL_UNSERIALIZABLE_INPUT", "/decisions/0/input"),
            ('"comment": "\\ud800"', "INPUT_INVALID", "/decisions/0/comment"),
            ('"digest": "x", "digest": "y"', "INPUT_INVALID", "/decisions/0/digest"),
        ],
    )
    async def test_json_that_nobody_reads_alike(self, h: Harness, spelled: str, code: str, path: str) -> None:
        """Inside an input it is the input's fault, elsewhere the request's; with the place in either case."""
        ann = await h.approver()
        body = f'{{"decisions": [{{"id": "q", "decision": "edit", {spelled}}}]}}'
        headers = {"content-type": "application/json"}
        answer = await ann.call("POST", "/v1/decisions", content=body, headers=headers)
        assert refusal(answer) == (422, code)
        details = answer.json().get("details", {})
        issues = answer.json()["model"].get("issues", [])
        assert path in {details.get("path"), *(issue["path"] for issue in issues)}

    @pytest.mark.parametrize(("depth", "code"), [(64, None), (65, "APPROVAL_UNSERIALIZABLE_INPUT")])
    async def test_an_input_may_be_as_deep_as_alone(self, h: Harness, depth: int, code: str | None) -> None:
        """Depth counts from the input's own root, not from the batch around it."""
        ann = await h.approver()
        deep: Any = 1
        for _ in range(depth):
            deep = [deep]
        item = {"id": "q", "decision": "edit", "digest": "0" * 64, "input": deep}
        answer = await ann.call("POST", "/v1/decisions", json={"decisions": [item]})
        if code is None:
            assert results(answer) == [("q", "APPROVAL_NOT_FOUND")]
        else:
            assert refusal(answer) == (422, code)

    async def test_it_is_as_large_as_any_body(self, h: Harness) -> None:
        """All items together have the room of one call."""
        ann = await h.approver()
        item = {"id": "q", "decision": "reject", "digest": "0" * 64, "comment": "x" * (256 * 1024)}
        answer = await ann.call("POST", "/v1/decisions", json={"decisions": [item]})
        assert refusal(answer) == (413, "INPUT_TOO_LARGE")


async def test_what_is_wrong_with_one_items_sense_is_told_in_its_place(h: Harness) -> None:
    """A comment too long, an input without an edit: refused alone, with the path from the body's root."""
    runtime, ann = await h.client(), await h.approver()
    good, long, odd = [await runtime.asked(input=n) for n in range(3)]
    answer = await ann.decide_all(
        vote_on(long, comment="x" * 2_001), vote_on(odd, input=1), vote_on(good, comment="x" * 2_000)
    )
    assert results(answer) == [
        (long["id"], "INPUT_INVALID"),
        (odd["id"], "INPUT_INVALID"),
        (good["id"], "approved"),
    ]
    told = [each.get("error") for each in record(answer)["results"]]
    paths = [[issue["path"] for issue in each["model"]["issues"]] for each in told if each]
    assert paths == [["/decisions/0/comment"], ["/decisions/1/input"]]
