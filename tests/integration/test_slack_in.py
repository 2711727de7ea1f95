"""Clicks in Slack: the right person's decides exactly what the card showed, everybody else's is refused."""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from placet.application import slack_words as words
from placet.domain.deliveries import LEASE_MS
from tests.harness import record
from tests.slack_clicking import ANN, BOB, DANA, PEOPLE, STRANGER, Clicking
from tests.slack_fake import SlackMessage

pytestmark = pytest.mark.real

MINUTE_MS = 60_000
NOTHING = "Nothing was decided."


async def test_a_click_approves_what_the_card_showed(desk: Clicking) -> None:
    """As whom the directory knows by their workspace and id; the card says so afterwards."""
    asked, message = await desk.shown()
    assert await desk.press(message) == []
    seen = await desk.runtime.seen(asked["id"])
    [decision] = seen["decisions"]
    assert (seen["status"], decision["digest"]) == ("approved", asked["digest"])
    assert decision["approver"] == {"id": "ann", "display_name": "Ann Marsh"}
    assert (decision["channel"], decision["submitted_by"]) == ("slack", None)
    await desk.deliver()
    assert "Approved by Ann Marsh" in str(message.blocks)
    spent = await desk.runtime.consume(asked, await desk.runtime.token(asked["id"]))
    assert record(spent)["status"] == "consumed"


async def test_a_rejection_asks_why_and_takes_no_answer_for_one(desk: Clicking) -> None:
    """It is done with the form, with a comment or without."""
    for comment in ("Not this customer.", None):
        asked, message = await desk.shown(input={"order": comment})
        view = await desk.form(message)
        assert await desk.status(asked) == "pending"
        assert await desk.submit(view, comment) is None
        [decision] = (await desk.runtime.seen(asked["id"]))["decisions"]
        assert (decision["decision"], decision["comment"]) == ("reject", comment)
        assert await desk.status(asked) == "rejected"
        desk.h.clock.move(2_000)


async def test_who_clicks_twice_decides_once(desk: Clicking) -> None:
    """Also where Slack says a click twice."""
    asked, message = await desk.shown()
    handed = desk.slack.press(message, "placet.approve")
    answers = await asyncio.gather(*(desk.send(handed, x_slack_retry_num=str(n)) for n in range(3)))
    assert [answer.status_code for answer in answers] == [200, 200, 200]
    assert await desk.settled() == []
    assert [each for each in await desk.trail(asked) if each[0] != "requested"] == [("approved", "ann", None)]


async def test_a_quorum_takes_two_people(opening: Any) -> None:
    """The second may have had the card of before the first: nothing that matters has changed."""
    async with opening("quorum = 2") as desk:
        asked, message = await desk.shown()
        second = desk.slack.press(message, "placet.approve", user=BOB)
        assert await desk.press(message) == []
        assert await desk.status(asked) == "pending"
        await desk.deliver()
        assert "1 of 2" in str(message.blocks)
        await desk.send(second)
        assert await desk.settled() == []
        assert await desk.status(asked) == "approved"


async def test_who_has_rejected_is_not_asked_why_again(opening: Any) -> None:
    """Where it takes others, too."""
    async with opening("rejections = 2") as desk:
        asked, message = await desk.shown()
        assert await desk.submit(await desk.form(message), "No.") is None
        assert await desk.press(message, "reject") == []
        assert desk.slack.views == []
        assert await desk.status(asked) == "pending"
        assert await desk.submit(await desk.form(message, user=BOB), user=BOB) is None
        assert await desk.status(asked) == "rejected"


async def test_two_people_at_once_decide_once(desk: Clicking) -> None:
    """One is told that the other was first."""
    asked, message = await desk.shown()
    handed = [desk.slack.press(message, "placet.approve", user=user) for user in (ANN, BOB)]
    await asyncio.gather(*map(desk.send, handed))
    assert await desk.settled() == [f"{NOTHING} It was decided before your decision came."]
    assert len((await desk.runtime.seen(asked["id"]))["decisions"]) == 1


async def test_slack_and_the_api_at_once_decide_once(desk: Clicking) -> None:
    """Whoever is first; the other is told."""
    asked, message = await desk.shown()
    handed = desk.slack.press(message, "placet.approve", user=BOB)
    _, decided = await asyncio.gather(desk.send(handed), desk.ann.decide(asked, "reject"))
    told = await desk.settled()
    by_slack = await desk.status(asked) == "approved"
    assert decided.status_code == (409 if by_slack else 200)
    assert told == ([] if by_slack else [f"{NOTHING} It was decided before your decision came."])


@pytest.mark.parametrize(
    ("user", "team", "words_of", "by"),
    [
        (DANA, "T024BE7LD", "By the rules you are not among those", "dana"),
        (STRANGER, "T024BE7LD", "You are not known here.", None),
        (ANN, "T0THER000", "You are not known here.", None),
        (ANN, "E024BE7LD", "You are not known here.", None),
    ],
)
async def test_nobody_else_decides(
    desk: Clicking, user: str, team: str, words_of: str, by: str | None
) -> None:
    """Whoever the rules don't name, a guest, somebody of another workspace: refused, told why, recorded."""
    asked, message = await desk.shown()
    for action in ("approve", "reject"):
        [told] = await desk.press(message, action, user=user, team=team)
        assert told.startswith(f"{NOTHING} {words_of}")
    assert desk.slack.views == []
    assert await desk.status(asked) == "pending"
    refused = [each[1] for each in await desk.trail(asked) if each[0] == "refused"]
    assert refused == [by or f"slack:{team}/{user}"] * 2


async def test_what_somebody_is_called_leads_to_nobody(desk: Clicking) -> None:
    """Nor does the workspace of the message."""
    asked, message = await desk.shown()

    def change(payload: dict[str, Any]) -> None:
        payload["user"] |= {"id": STRANGER, "name": "ann", "username": "ann", "email": "ann@example.com"}

    assert await desk.press(message, change=change) == [words.STRANGER]
    assert await desk.status(asked) == "pending"


async def test_nobody_approves_what_they_ask_for(desk: Clicking) -> None:
    """Under any name; rejecting it is theirs."""
    asked, message = await desk.shown(actor={"id": "ann@example.com", "kind": "user"})
    [told] = await desk.press(message)
    assert told == (
        f"{NOTHING} It is your own request, or was made on your behalf: somebody else has to approve it."
        " You may reject it."
    )
    assert ("refused", "ann", "APPROVAL_SELF_APPROVAL") in await desk.trail(asked)
    assert await desk.submit(await desk.form(message)) is None
    assert await desk.status(asked) == "rejected"


async def test_a_rule_may_ask_for_a_comment(opening: Any) -> None:
    """Then an approval has a form, too; blanks are none, and what was written is not lost."""
    async with opening('comment = "always"') as desk:
        asked, message = await desk.shown()
        view = await desk.form(message, "approve")
        assert view["title"]["text"] == "Approve"
        blank = await desk.submit(view, "  ")
        assert blank == {
            "response_action": "errors",
            "errors": {"placet.comment": f"{NOTHING} The rules ask for a comment: write one."},
        }
        long = await desk.submit(view, "x" * 2_001)
        assert long["errors"] == {
            "placet.comment": f"{NOTHING} The comment: It must be at most 2000 characters."
        }
        assert await desk.submit(view, "Checked with the customer.") is None
        [decision] = (await desk.runtime.seen(asked["id"]))["decisions"]
        assert (decision["decision"], decision["comment"]) == ("approve", "Checked with the customer.")


@pytest.mark.parametrize(("rule", "optional"), [("never", True), ("on-reject", False), ("always", False)])
async def test_a_form_says_whether_a_comment_is_needed(opening: Any, rule: str, optional: bool) -> None:  # noqa: FBT001 - parametrized
    """As the rule has it."""
    async with opening(f'comment = "{rule}"') as desk:
        _, message = await desk.shown()
        [block] = [each for each in (await desk.form(message))["blocks"] if each["type"] == "input"]
        assert block["optional"] is optional


async def test_a_form_is_sent_by_whoever_opened_it(desk: Clicking) -> None:
    """Nobody else can send it, changed or not."""
    asked, message = await desk.shown()
    view = await desk.form(message)
    for user in (BOB, STRANGER):
        told = await desk.submit(view, user=user)
        assert told["response_action"] == "update"
        assert words.NOT_THE_AUTHOR in str(told["view"])

    def change(payload: dict[str, Any]) -> None:
        payload["view"]["private_metadata"] = view["private_metadata"].replace("reject", "approve")

    assert (await desk.submit(view, change=change))["response_action"] == "update"
    assert await desk.status(asked) == "pending"


async def test_a_form_is_judged_by_what_is_so_when_it_is_sent(desk: Clicking) -> None:
    """Somebody was faster, and it says so in its place."""
    asked, message = await desk.shown()
    view = await desk.form(message)
    record(await desk.ann.decide(asked, "approve"))
    told = await desk.submit(view, "too late")
    assert "It was decided before your decision came." in str(told["view"]["blocks"])
    assert await desk.status(asked) == "approved"


async def test_another_form_is_nothing_to_us(desk: Clicking) -> None:
    """It is acknowledged."""
    _, message = await desk.shown()
    view = await desk.form(message)
    assert await desk.submit({**view, "callback_id": "other"}) is None


@pytest.mark.parametrize(
    ("act", "said"),
    [
        ("approve", "It was decided before your decision came."),
        ("cancel", "Whoever asked withdrew it before your decision came."),
        ("expire", "It expired before your decision came."),
    ],
)
async def test_what_is_over_is_not_decided(desk: Clicking, act: str, said: str) -> None:
    """Its author hears how it ended."""
    asked, message = await desk.shown()
    if act == "cancel":
        record(await desk.runtime.cancel(asked["id"]))
    elif act == "approve":
        record(await desk.ann.decide(asked, "approve"))
    else:
        desk.h.clock.move(15 * MINUTE_MS + 1)
    for action in ("approve", "reject"):
        assert await desk.press(message, action, user=BOB) == [f"{NOTHING} {said}"]
    assert desk.slack.views == []


async def test_the_link_of_a_card_decides_nothing(desk: Clicking) -> None:
    """Slack tells of it all the same."""
    asked, message = await desk.shown()
    assert await desk.press(message, "open") == []
    assert await desk.status(asked) == "pending"


async def test_a_button_that_is_none_of_ours_does_nothing(desk: Clicking) -> None:
    """Whoever clicks it is told."""
    asked, message = await desk.shown()

    def change(payload: dict[str, Any]) -> None:
        payload["actions"][0]["action_id"] = "placet.edit"

    assert await desk.press(message, change=change) == [words.UNKNOWN_BUTTON]
    assert await desk.status(asked) == "pending"


@pytest.mark.parametrize("what", ["forged", "other verdict", "empty", "long", "other channel"])
async def test_a_button_counts_as_it_was_made(
    desk: Clicking, what: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Not a character otherwise, and nowhere else: an alarm."""
    asked, message = await desk.shown()

    def change(payload: dict[str, Any]) -> None:
        [action] = payload["actions"]
        if what == "forged":
            value = action["value"]
            action["value"] = value[:-1] + ("x" if value[-1] != "x" else "y")
        elif what == "other verdict":
            action["action_id"] = "placet.reject"
        elif what == "other channel":
            payload["channel"]["id"] = payload["container"]["channel_id"] = "C0OTHER00"
        else:
            action["value"] = "" if what == "empty" else "1.a." * 500

    with caplog.at_level(logging.ERROR, "placet.slack"):
        assert await desk.press(message, change=change) == [words.NOT_OURS]
    assert [each.message for each in caplog.records] == ["a button in Slack was not made for its place"]
    assert await desk.status(asked) == "pending"


async def test_a_button_means_nothing_on_another_message(desk: Clicking) -> None:
    """Of the same channel, of another approval or of none: recorded, and refused."""
    asked, message = await desk.shown()
    desk.h.clock.move(2_000)
    _, other = await desk.shown(input={"order": "A-2"})

    def moved(payload: dict[str, Any]) -> None:
        payload["message"] |= {"ts": other.ts, "blocks": other.blocks}
        payload["container"]["message_ts"] = other.ts

    assert await desk.press(message, change=moved) == [words.NOT_THE_CARD]
    assert await desk.status(asked) == "pending"
    assert (await desk.trail(asked))[-1] == ("refused", "ann", "APPROVAL_INPUT_MISMATCH")


async def test_a_message_that_was_posted_twice_counts_once(
    desk: Clicking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lane knows of one; the other, whose posting nobody knew the end of, says so to whoever clicks."""
    with monkeypatch.context() as patch:
        patch.setattr(desk.h.services.store.deliveries, "settle", _lost)
        asked, first = await desk.shown()
    assert await desk.press(first) == [words.NOT_THE_CARD]
    desk.h.clock.move(LEASE_MS + 1)
    await desk.deliver()
    [_, second] = desk.slack.messages
    assert await desk.press(first) == [words.NOT_THE_CARD]
    assert await desk.status(asked) == "pending"
    assert await desk.press(second) == []
    assert await desk.status(asked) == "approved"


async def _lost(*_: object) -> bool:
    """What a process that died did not write."""
    return False


def edited(message: SlackMessage) -> Callable[[dict[str, Any]], None]:
    """The message as somebody with the app's token has made it say something else."""

    def change(payload: dict[str, Any]) -> None:
        text = str(payload["message"]["blocks"]).replace("A-1", "A-2")
        assert text != str(message.blocks)
        payload["message"]["blocks"] = eval(text)  # noqa: S307 - our own

    return change


async def test_a_message_that_says_something_else_decides_nothing(
    desk: Clicking, caplog: pytest.LogCaptureFixture
) -> None:
    """An alarm, a line in the trail, and a word to whoever clicked."""
    asked, message = await desk.shown()
    with caplog.at_level(logging.ERROR, "placet.slack"):
        assert await desk.press(message, change=edited(message)) == [words.NOT_THE_WORDS]
    [line] = caplog.records
    assert line.message == "a message in Slack does not say what was posted"
    assert vars(line)["approval_id"] == asked["id"]
    assert await desk.trail(asked) == [
        ("requested", "runtime", None),
        ("refused", "ann", "APPROVAL_INPUT_MISMATCH"),
    ]
    assert await desk.status(asked) == "pending"


@pytest.mark.parametrize("member", ["attachments", "files"])
async def test_nothing_hangs_on_a_card(desk: Clicking, member: str) -> None:
    """What somebody with the app's token has put below it says something else as well."""
    asked, message = await desk.shown()

    def change(payload: dict[str, Any]) -> None:
        payload["message"][member] = [{"text": "Already checked by Bob."}]

    assert await desk.press(message, change=change) == [words.NOT_THE_WORDS]
    assert await desk.status(asked) == "pending"


def exchanged(payload: dict[str, Any]) -> None:
    """Whoever presses "Reject" presses the button that approves."""
    buttons = payload["message"]["blocks"][-1]["elements"]
    labels = {each["action_id"]: each["text"] for each in buttons}
    buttons[0]["text"], buttons[1]["text"] = labels["placet.reject"], labels["placet.approve"]
    buttons[:2] = buttons[1::-1]


def led_elsewhere(payload: dict[str, Any]) -> None:
    """The way to the page leads to somebody else's."""
    payload["message"]["blocks"][-1]["elements"][-1]["url"] = "https://evil.example/a/1"


def unasked(payload: dict[str, Any]) -> None:
    """Slack does not ask before it sends the click."""
    del payload["message"]["blocks"][-1]["elements"][0]["confirm"]


@pytest.mark.parametrize("change", [exchanged, led_elsewhere, unasked])
async def test_a_button_is_called_what_it_does(desk: Clicking, change: Any) -> None:
    """The same words on other buttons are no card of ours."""
    asked, message = await desk.shown(risk="critical")
    assert await desk.press(message, change=change) == [words.NOT_THE_WORDS]
    assert await desk.status(asked) == "pending"


async def test_a_card_that_is_just_being_changed_is_no_alarm(
    desk: Clicking, caplog: pytest.LogCaptureFixture
) -> None:
    """Its lane does not know yet what it says by now."""
    asked, message = await desk.shown()
    target = (await desk.delivery(asked["id"]))["target"]
    await desk.h.services.store.deliveries.wake("default", asked["id"], [target])
    with caplog.at_level(logging.ERROR, "placet.slack"):
        assert await desk.press(message, change=edited(message)) == [words.BEING_CHANGED]
    assert caplog.records == []


async def test_what_slack_makes_of_a_message_changes_nothing(desk: Clicking) -> None:
    """Ids of blocks, flags, entities: the texts are the same."""
    asked, message = await desk.shown(reasons=["a < b & c > d"])

    def change(payload: dict[str, Any]) -> None:
        for number, block in enumerate(payload["message"]["blocks"]):
            block["block_id"] = f"x{number}"
            for text in block.get("fields", []):
                text["verbatim"] = True

    assert await desk.press(message, change=change) == []
    assert await desk.status(asked) == "approved"


async def test_a_change_of_the_input_makes_its_card_another(opening: Any) -> None:
    """A click on the card of before is refused, and on the new one counts."""
    async with opening('edit = "yes"') as desk:
        asked, message = await desk.shown(allowed_decisions=["approve", "edit", "reject"], effect="write")
        before = desk.slack.press(message, "placet.approve", user=BOB)
        record(await desk.ann.decide(asked, "edit", input={"order": "A-1", "amount": 4}))
        await desk.deliver()
        await desk.send(before)
        assert await desk.settled() == [
            f"{NOTHING} It has changed since it was shown to you: look at it again."
        ]
        assert await desk.press(message, user=BOB) == []
        assert await desk.status(asked) == "approved"


async def test_what_a_card_said_before_is_not_approved_by_the_button_of_now(opening: Any) -> None:
    """Whoever has the app's token puts the texts of before back, above buttons for the input of now."""
    async with opening('edit = "yes"') as desk:
        asked, message = await desk.shown(allowed_decisions=["approve", "edit", "reject"], effect="write")
        before = list(message.blocks)
        record(await desk.ann.decide(asked, "edit", input={"order": "A-1", "amount": 4}))
        await desk.deliver()

        def put_back(payload: dict[str, Any]) -> None:
            now = payload["message"]["blocks"]
            payload["message"]["blocks"] = [*before[:-1], now[-1]]

        assert await desk.press(message, user=BOB, change=put_back) == [words.NOT_THE_WORDS]
        assert await desk.status(asked) == "pending"


async def test_a_rule_may_close_slack(opening: Any, tmp_path: Path) -> None:
    """Also after the card was posted: what counts is what is so at the click."""
    async with opening() as desk:
        asked, message = await desk.shown()
        policy = tmp_path / "policy.toml"
        policy.write_text(policy.read_text() + '\nchannels = ["web"]\n')
        await desk.h.services.activation.reload()
        [told] = await desk.press(message)
        assert told == f"{NOTHING} By the rules it is not decided in Slack: open its page."
        assert await desk.status(asked) == "pending"


async def test_who_is_taken_off_while_they_write_decides_nothing(opening: Any, tmp_path: Path) -> None:
    """A form is sent by who somebody is then."""
    async with opening() as desk:
        asked, message = await desk.shown()
        view = await desk.form(message)
        people = tmp_path / "directory.toml"
        people.write_text(people.read_text().replace(f'user = "{ANN}"', 'user = "U0NEW0000"'))
        await desk.h.services.activation.reload()
        told = await desk.submit(view, "No.")
        assert words.STRANGER in str(told["view"])
        assert await desk.status(asked) == "pending"


async def test_who_left_the_workspace_has_not_approved(opening: Any, tmp_path: Path) -> None:
    """A vote counts while its author has the account that it came from."""
    async with opening() as desk:
        asked, message = await desk.shown()
        assert await desk.press(message) == []
        people = tmp_path / "directory.toml"
        people.write_text(people.read_text().replace(f'user = "{ANN}"', 'user = "U0NEW0000"'))
        await desk.h.services.activation.reload()
        answer = await desk.runtime.consume(asked, None)
        assert answer.status_code == 403
        assert PEOPLE.count(ANN) == 1
