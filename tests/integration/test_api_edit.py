"""Approve with changes, from outside: who may, with what, and what the record says of it."""

from typing import Any

import httpx
import pytest

from tests.factories import ManualClock
from tests.harness import QUESTION, Harness, Party, quorum, reason, record, refusal, vote_on
from tests.ruled import EDITABLE, LESS, Opening, hash_of
from tests.tampering import original

NOT_ALLOWED = (403, "FORBIDDEN", "decision-not-allowed")


async def edited(party: Party, shown: dict[str, Any], text: str) -> httpx.Response:
    """Approve with changes, the input written like this."""
    return await party.call(
        "POST",
        f"/v1/approvals/{shown['id']}/decision",
        content=f'{{"decision":"edit","digest":"{shown["digest"]}","input":{text}}}',
        headers={"content-type": "application/json"},
    )


class TestWhetherOneMay:
    """Where the rule, the request and what is to be seen of it allow it."""

    @pytest.mark.parametrize(
        ("lines", "members"),
        [
            (['edit = "no"'], {}),
            ([], {}),
            (['edit = "yes"'], {"allowed_decisions": ["approve", "reject"]}),
            (['edit = "counts"'], {"presentation": {"redact": ["/amount"]}}),
            (
                ['edit = "yes"', "hidden_input = true"],
                {"input": ..., "input_hash": hash_of(QUESTION["input"])},
            ),
            (
                ['edit = "counts"', "[[rules.stricter]]", 'when = { effect = ["write"] }', 'edit = "no"'],
                {},
            ),
        ],
        ids=[
            "the rule says no",
            "the rule says nothing",
            "not asked for",
            "redacted",
            "hidden",
            "a block says no",
        ],
    )
    async def test_elsewhere_it_is_refused(
        self, under: Opening, lines: list[str], members: dict[str, Any]
    ) -> None:
        """The question stays as it is, the attempt is on record; a plain approval is still possible."""
        runtime, (ann, _) = await (ruled := await under(*lines)).parties()
        asked = await runtime.asked(**{**EDITABLE, **members})
        assert reason(await ann.decide(asked, "edit", input=LESS)) == NOT_ALLOWED
        assert await runtime.seen(asked["id"]) == asked
        last = record(await runtime.trail(asked["id"]))["items"][-1]
        assert (last["type"], last["code"], last["by"]) == ("refused", "FORBIDDEN", "ann")
        assert await ruled.h.redis.exists(original(asked)) == 0
        assert record(await ann.decide(asked))["status"] == "approved"

    async def test_the_built_in_rule_has_none_of_it(self, anywhere: Harness) -> None:
        """Whatever the asker allows."""
        runtime, ann = await anywhere.client(), await anywhere.approver()
        asked = await runtime.asked(**EDITABLE)
        assert reason(await ann.decide(asked, "edit", input=LESS)) == NOT_ALLOWED
        assert await runtime.seen(asked["id"]) == asked

    async def test_nobody_changes_their_own_request(self, under: Opening) -> None:
        """A change is a yes in other words."""
        runtime, (ann, bob) = await (await under('edit = "counts"')).parties()
        asked = await runtime.asked(**EDITABLE, actor={"id": "ann@example.com", "kind": "user"})
        assert refusal(await ann.decide(asked, "edit", input=LESS)) == (403, "APPROVAL_SELF_APPROVAL")
        assert record(await bob.decide(asked, "edit", input=LESS))["status"] == "approved"

    async def test_a_comment_is_asked_for_where_it_is_always(self, under: Opening) -> None:
        """As with any decision."""
        runtime, (ann, _) = await (await under('edit = "yes"', 'comment = "always"')).parties()
        asked = await runtime.asked(**EDITABLE)
        response = await ann.decide(asked, "edit", input=LESS)
        assert reason(response) == (403, "FORBIDDEN", "comment-required")
        changed = record(await ann.decide(asked, "edit", input=LESS, comment="too much"))
        assert changed["decisions"][0]["comment"] == "too much"

    async def test_a_fresh_sign_in_is_asked_for_as_with_a_yes(self, under: Opening) -> None:
        """A bearer can't show one."""
        runtime, (ann, _) = await (await under('edit = "yes"', "step_up = true")).parties()
        asked = await runtime.asked(**EDITABLE)
        response = await ann.decide(asked, "edit", input=LESS)
        assert reason(response) == (403, "FORBIDDEN", "channel-not-allowed")

    async def test_who_may_not_see_it_hears_of_none(self, under: Opening) -> None:
        """Not even that it could be changed."""
        runtime, (dana,) = await (await under('edit = "counts"')).parties("dana")
        asked = await runtime.asked(**EDITABLE)
        assert refusal(await dana.decide(asked, "edit", input=LESS)) == (404, "APPROVAL_NOT_FOUND")


class TestWhatIsSent:
    """An input belongs to an edit, is admitted like any input, and is another one."""

    @pytest.mark.parametrize(
        ("decision", "members"),
        [("edit", {}), ("approve", {"input": LESS}), ("reject", {"input": None})],
    )
    async def test_an_input_belongs_to_an_edit(
        self, under: Opening, decision: str, members: dict[str, Any]
    ) -> None:
        """And to nothing else; ``null`` is an input as well."""
        runtime, (ann, _) = await (await under('edit = "yes"')).parties()
        asked = await runtime.asked(**EDITABLE)
        response = await ann.decide(asked, decision, **members)
        assert refusal(response) == (422, "INPUT_INVALID")
        assert [issue["path"] for issue in response.json()["model"]["issues"]] == ["/input"]

    @pytest.mark.parametrize(
        "same",
        ['{"amount":5,"order":"A-1"}', '{"order":"A-1","amount":5.0}', '{"order":"A-1", "amount":5e0}'],
    )
    async def test_no_change_is_none(self, under: Opening, same: str) -> None:
        """However it is written: approve instead. Nothing is recorded."""
        runtime, (ann, _) = await (await under('edit = "yes"')).parties()
        asked = await runtime.asked(**EDITABLE)
        response = await edited(ann, asked, same)
        assert refusal(response) == (422, "INPUT_INVALID")
        assert await runtime.seen(asked["id"]) == asked

    @pytest.mark.parametrize(
        ("text", "path"),
        [
            ('{"a":1e999}', "/input/a"),
            ('{"a":9007199254740993}', "/input/a"),
            ('{"a":"\\ud800"}', "/input/a"),
            ('{"a":1,"a":2}', "/input/a"),
            ("[" * 100 + "]" * 100, None),
        ],
        ids=["too large a number", "no exact number", "half a character", "a member twice", "too deep"],
    )
    async def test_it_is_admitted_as_strictly_as_any(
        self, under: Opening, text: str, path: str | None
    ) -> None:
        """What has no canonical form changes nothing; where it is is said, not what."""
        runtime, (ann, _) = await (await under('edit = "yes"')).parties()
        asked = await runtime.asked(**EDITABLE)
        response = await edited(ann, asked, text)
        assert refusal(response) == (422, "APPROVAL_UNSERIALIZABLE_INPUT")
        if path is not None:
            assert response.json()["details"]["path"] == path
        assert await runtime.seen(asked["id"]) == asked

    async def test_it_may_be_anything_else(self, under: Opening) -> None:
        """Of whatever type: the runtime knows what it can run."""
        runtime, (ann, _) = await (await under('edit = "counts"')).parties()
        values: list[Any] = [None, 0, "", [], {"deep": [{"er": 1.5}]}]
        for value in values:
            asked = await runtime.asked(**EDITABLE, context={"n": repr(value)})
            changed = record(await ann.decide(asked, "edit", input=value))
            assert (changed["input"], changed["input_hash"]) == (value, hash_of(value))
            record(await runtime.consume(changed, await runtime.token(asked["id"]), execution=asked["id"]))

    async def test_it_is_bounded_like_any_body(self, under: Opening) -> None:
        """No larger than what could be asked."""
        runtime, (ann, _) = await (await under('edit = "yes"')).parties()
        asked = await runtime.asked(**EDITABLE)
        response = await ann.decide(asked, "edit", input="x" * 300_000)
        assert refusal(response) == (413, "INPUT_TOO_LARGE")


class TestTheRecord:
    """What it says of a change."""

    async def test_the_effective_question_and_the_original(self, under: Opening, clock: ManualClock) -> None:
        """To the asker, the editor and other approvers alike, in readings and in lists."""
        runtime, (ann, bob) = await (await under('edit = "yes"')).parties()
        asked = await runtime.asked(**EDITABLE)
        clock.move(1_000)
        changed = record(await ann.decide(asked, "edit", input=LESS, comment="less"))
        assert (changed["status"], changed["quorum"]) == ("pending", quorum())
        assert (changed["input"], changed["input_hash"]) == (LESS, hash_of(LESS))
        assert changed["digest"] not in {asked["digest"], None}
        assert changed["requested"] == {
            "input": asked["input"],
            "input_hash": asked["input_hash"],
            "digest": asked["digest"],
        }
        assert changed["decisions"] == [
            {
                "decision": "edit",
                "approver": {"id": "ann", "display_name": "Ann Marsh"},
                "channel": "api",
                "submitted_by": None,
                "comment": "less",
                "digest": changed["digest"],
                "at": "2027-01-15T08:00:01.000Z",
                "counts": False,
                "step_up": None,
            }
        ]
        same = {*asked} - {"input", "input_hash", "digest", "requested", "decisions"}
        assert {name: changed[name] for name in same} == {name: asked[name] for name in same}
        for party in (runtime, ann, bob):
            assert await party.seen(asked["id"]) == changed
            assert record(await party.list())["items"] == [changed]

    async def test_its_trail_has_the_change(self, under: Opening) -> None:
        """By its author, apart from the approval."""
        runtime, (ann, bob) = await (await under('edit = "yes"')).parties()
        asked = await runtime.asked(**EDITABLE)
        changed = record(await ann.decide(asked, "edit", input=LESS))
        record(await bob.decide(changed))
        trail = await runtime.trail(asked["id"])
        assert [(line["type"], line["by"]) for line in record(trail)["items"]] == [
            ("requested", "runtime"),
            ("edited", "ann"),
            ("approved", "bob"),
        ]
        assert '"amount"' not in trail.text

    async def test_a_reader_of_frames_sees_neither_input(self, under: Opening) -> None:
        """Nor their hashes, nor that there was another."""
        ruled = await under('edit = "yes"')
        runtime, (ann, _) = await ruled.parties()
        asked = await runtime.asked(**EDITABLE)
        record(await ann.decide(asked, "edit", input=LESS, comment="less"))
        frame = await (await ruled.h.client("auditor", "read")).read(asked["id"])
        seen = record(frame)
        assert [seen[name] for name in ("input", "input_hash", "digest", "requested")] == [None] * 4
        (vote,) = seen["decisions"]
        assert (vote["decision"], vote["digest"], vote["comment"]) == ("edit", None, None)
        assert "amount" not in frame.text

    async def test_it_names_a_bridge(self, under: Opening) -> None:
        """A change can come over one."""
        ruled = await under('edit = "yes"')
        runtime, _ = await ruled.parties()
        chat = await ruled.h.client("chat", "decide_as", people=["cy"], max_risk="high")
        asked = await runtime.asked(**EDITABLE)
        changed = record(await chat.decide(asked, "edit", input=LESS, approver={"id": "cy"}))
        (vote,) = changed["decisions"]
        assert (vote["approver"]["id"], vote["channel"], vote["submitted_by"]) == ("cy", "chat", "chat")

    async def test_several_are_changed_in_one_call(self, under: Opening) -> None:
        """Each by itself."""
        runtime, (ann, _) = await (await under('edit = "yes"')).parties()
        first, second = await runtime.asked(**EDITABLE), await runtime.asked(**EDITABLE, input=1)
        response = await ann.decide_all(
            vote_on(first, "edit", input=LESS), vote_on(second, "edit", input=second["input"])
        )
        changed, refused = record(response)["results"]
        assert changed["approval"]["input"] == LESS
        assert refused["error"]["code"] == "INPUT_INVALID"
