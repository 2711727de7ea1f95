"""The card in Slack: what it says, in which state, and what can be pressed."""

import re
from typing import Any

import pytest
from hypothesis import given, settings

from placet.channels.slack.card import Buttons, Message, message
from placet.channels.slack.sheet import SHEET_CHARS_MAX, Sheet
from placet.channels.slack.texts import normalised
from placet.channels.slack.words import cost
from tests import slack_rules
from tests.slack_cards import BUTTONS, DIGEST, PAGE, TRICKS, VOTE, card, changes, posted

USE = {"execution_id": "run-1", "client": "runner", "at": "2027-01-15T08:02:00.000Z"}
LABELS = {
    "Asked by", "Actor", "What", "Effect", "Risk", "On behalf of", "Why", "Types", "Surface", "Run", "Rule",
    "Approvals", "Id", "Digest", "Expires", "Usable until", "Then", "Decisions", "Used", "Outcome", "Input",
    "Context", "Changed by an approver", "The runtime's own words",
}  # fmt: skip
DATE = re.compile(r"<!date\^\d+\^\{date_short_pretty\} at \{time_secs\}\|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC>")
MARKUP = re.compile(r"<[^>]*>|[<>]|&(?!(?:amp|lt|gt);)")
FORMAT = re.compile(r"[*~`]|(?<![^\W_])_|_(?![^\W_])|:[\w+'-]+:")


def said(shown: Message) -> tuple[str, ...]:
    """What stands on it."""
    return normalised(list(shown.blocks))


def actions(shown: Message) -> list[str]:
    """What can be pressed."""
    return [each["action_id"] for each in shown.blocks[-1]["elements"]]


def objects(value: Any) -> list[dict[str, Any]]:
    """Every text object of blocks, and every text of rich text."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    own = [value] if isinstance(value, dict) and isinstance(value.get("text"), str) else []
    return own + [found for member in inside for found in objects(member)]


CUT = "Not all of it is shown here. Open the page to see all of it and to decide."


class TestWhatItSays:
    """In the order of the card."""

    def test_who_asks_stands_before_what(self) -> None:
        """Client and actor first, then what would run, how severe it is, and the input."""
        assert said(posted()) == (
            "Waits for a decision",
            "*Asked by*",
            "client shop",
            "*Actor*",
            "bot (an AI agent, as the client says)",
            "*What*",
            "orders.refund",
            "*Effect*",
            "external: acts on the world outside",
            "*Risk*",
            "high",
            "*Input*",
            '{\n  "amount": 5\n}',
            "*Approvals*",
            "0 of 1 needed",
            "*Expires*",
            "<!date^1800000872^{date_short_pretty} at {time_secs}|2027-01-15 08:14:32 UTC>",
            "*Then*",
            "One approval lets shop run exactly this, once.",
            "*Id*",
            "apr_1",
            "*Digest*",
            DIGEST,
            "Approve",
            "Reject",
            "Open page",
        )

    def test_whatever_there_is_stands_on_it(self) -> None:
        """For whom, why, where, under which rule, with which context, in which words."""
        shown = said(
            posted(
                audience="runner",
                actor={"id": "bot", "kind": "agent", "display_name": "Bot", "on_behalf_of": ["c1", "c2"]},
                reasons=["it is much", ""],
                types=["money"],
                surface="mcp",
                run="r-1",
                rule={"name": "refunds", "policy": "v3"},
                context={"tries": 1},
                presentation={"title": "Refund", "summary": "five\neuros"},
                claimed={"effect": "external", "risk": "low"},
            )
        )
        for text in (
            "client shop, to be run by runner",
            'bot "Bot" (an AI agent, as the client says)',
            "c1\nc2",
            'it is much\n""',
            "money",
            "mcp",
            "r-1",
            "refunds",
            "high (raised by the operator's rules; the client said low)",
            '{\n  "tries": 1\n}',
            "│ Refund\n│ five\n│ euros",
        ):
            assert text in shown

    def test_the_notification_says_what_waits(self) -> None:
        """Who reads no blocks knows what to open."""
        assert posted().text == (
            "Waits for a decision: orders.refund acts on the world outside, asked by shop, high risk"
        )

    def test_a_hazard_is_told_above_the_input(self) -> None:
        """It does not keep anybody from judging."""
        shown = posted(input={"to": "a\u202eb"})
        assert (
            said(shown).index("Look twice at the input: characters that reorder text (1), first at /to.")
            == 11
        )
        assert '{\n  "to": "a⟨U+202E⟩b"\n}' in said(shown)
        assert actions(shown) == ["placet.approve", "placet.reject", "placet.open"]

    def test_what_an_approver_changed_stands_on_it(self) -> None:
        """What was, and what is."""
        shown = said(posted(requested={"input": {"amount": 7}}))
        assert "changed /amount\n-   7\n+   5" in shown


class TestWhatBecameOfIt:
    """Every later state, whichever channel it came by."""

    @pytest.mark.parametrize(
        ("changed", "title"),
        [
            ({"status": "approved", "decisions": [VOTE]}, "Approved by Ann (ann)"),
            ({"status": "rejected", "decisions": [{**VOTE, "decision": "reject"}]}, "Rejected by Ann (ann)"),
            ({"status": "rejected"}, "Rejected"),
            ({"status": "expired"}, "Expired before it was decided"),
            ({"status": "cancelled"}, "Withdrawn"),
            ({"status": "consumed", "decisions": [VOTE], "consumption": USE}, "Used"),
            (
                {"status": "consumed", "consumption": USE, "outcome": {"status": "failed", "summary": "no"}},
                "Used, and failed",
            ),
        ],
    )
    def test_it_is_the_title_and_nothing_can_be_pressed(self, changed: dict[str, Any], title: str) -> None:
        """But the link to the page."""
        shown = posted(**changed)
        assert (said(shown)[0], actions(shown)) == (title, ["placet.open"])
        assert shown.text.startswith(f"{title}: orders.refund")

    def test_who_decided_and_why_stands_first(self) -> None:
        """With channel and time; a comment is quoted."""
        vote = {**VOTE, "decision": "reject", "comment": 'too "much"\nreally', "submitted_by": "bridge"}
        shown = said(posted(status="rejected", decisions=[vote]))
        told = "rejected by Ann (ann) via web (sent by bridge) on 2027-01-15 08:01:00 UTC"
        quoted = '│ "too \\"much\\""\n│ "really"'
        assert shown[:3] == ("Rejected by Ann (ann)", "*Decisions*", f"{told}\n{quoted}")

    def test_votes_so_far_stand_on_an_open_one(self) -> None:
        """A quorum is told as it grows."""
        quorum = {"required": 2, "approved": 1, "rejections": 1, "rejected": 0}
        shown = posted(decisions=[VOTE], quorum=quorum)
        assert "1 of 2 needed" in said(shown)
        assert "approved by Ann (ann) via web on 2027-01-15 08:01:00 UTC" in said(shown)
        assert actions(shown) == ["placet.approve", "placet.reject", "placet.open"]

    def test_a_vote_that_counts_no_more_decided_nothing(self) -> None:
        """It is no part of the title."""
        lost = {**VOTE, "approver": {"id": "eve"}, "counts": False}
        shown = said(posted(status="approved", decisions=[lost, VOTE]))
        assert shown[0] == "Approved by Ann (ann)"
        assert shown[2].endswith("which counts no more")

    def test_an_outcome_is_told(self) -> None:
        """Who used it, and what came of it, or that nobody said."""
        outcome = {"status": "failed", "summary": "card declined"}
        shown = said(posted(status="consumed", consumption=USE, outcome=outcome))
        assert "by runner, execution run-1 on 2027-01-15 08:02:00 UTC" in shown
        assert "failed" in shown
        assert '│ "card declined"' in shown
        assert "not reported yet" in said(posted(status="consumed", consumption=USE))


class TestWhatCanBePressed:
    """Only what can be judged."""

    def test_the_values_are_the_callers(self) -> None:
        """As they were given."""
        approve, reject, page = posted().blocks[-1]["elements"]
        assert (approve["value"], approve["style"]) == ("v1.approve", "primary")
        assert (reject["value"], reject["style"]) == ("v1.reject", "danger")
        assert (page["url"], "value" in page) == (PAGE, False)

    @pytest.mark.parametrize(
        ("changed", "why"),
        [
            ({"input": {"a": "x" * 10_000}}, CUT),
            ({"input": {"a": "&<" * 5_000}}, CUT),
            ({"reasons": ["x"] * 50}, CUT),
            ({"input_redacted": True}, "Parts of the input are hidden. It is decided on the page."),
            ({"input": None}, "The input is not shown. It is decided on the page."),
        ],
    )
    def test_what_is_not_all_there_is_decided_on_the_page(self, changed: dict[str, Any], why: str) -> None:
        """There is a link to it, and nothing else."""
        shown = posted(**changed)
        assert (shown.is_whole, actions(shown)) == (False, ["placet.open"])
        assert why in said(shown)

    def test_a_cut_says_how_much_there_is(self) -> None:
        """10 KB that take far more once they are escaped."""
        shown = posted(input={"a": "&<" * 5_000})
        assert slack_rules.faults(list(shown.blocks)) == []
        assert any("⟨cut: 10,000 characters in all⟩" in text for text in said(shown))
        assert "⟨cut: 10,008 bytes in all⟩" in said(shown)

    def test_an_ordinary_input_is_whole(self) -> None:
        """Some pages of a script."""
        shown = posted(input={"script": "echo 'a line of a script' >> log\n" * 70})
        assert (shown.is_whole, actions(shown)[0]) == (True, "placet.approve")

    def test_who_may_only_look_gets_a_link(self) -> None:
        """Without the digest nothing could be decided."""
        assert actions(posted(digest=None)) == ["placet.open"]

    def test_what_can_only_be_rejected_has_no_other_button(self) -> None:
        """And says so."""
        shown = posted(allowed_decisions=["reject"])
        assert actions(shown) == ["placet.reject", "placet.open"]
        assert "It can only be rejected." in said(shown)

    @pytest.mark.parametrize(("risk", "asks"), [("critical", True), ("high", False)])
    def test_slack_asks_once_more_before_a_critical_call_is_approved(self, risk: str, *, asks: bool) -> None:
        """And before nothing else; what it asks is no part of what the card says."""
        shown = posted(risk=risk)
        [pressed] = [block for block in shown.blocks if block["type"] == "actions"]
        asking = [each["action_id"] for each in pressed["elements"] if "confirm" in each]
        assert asking == (["placet.approve"] if asks else [])
        assert "Approve this critical call?" not in normalised(shown.blocks)

    def test_without_values_it_is_decided_on_the_page(self) -> None:
        """Where nobody decides in the chat."""
        shown = message(card(), page_url=PAGE, buttons=None)
        assert (shown.is_whole, actions(shown)) == (True, ["placet.open"])
        assert "It is decided on the page." in said(shown)

    @pytest.mark.parametrize("value", ["", "x" * 2_001, "\u2705" * 300])
    def test_a_value_has_to_fit(self, value: str) -> None:
        """Slack would refuse it."""
        with pytest.raises(ValueError, match="2000 characters"):
            Buttons(approve="a", reject=value)

    def test_an_address_has_to_fit(self) -> None:
        """Slack would refuse it."""
        with pytest.raises(ValueError, match="3000 characters"):
            message(card(), page_url=f"https://x/{'y' * 3_000}", buttons=BUTTONS)


class TestAnyRecord:
    """Whatever is in it."""

    @settings(max_examples=60)
    @given(changes())
    def test_slack_takes_it(self, changed: dict[str, Any]) -> None:
        """Each limit holds, after escaping."""
        shown = posted(**changed)
        blocks = list(shown.blocks)
        assert slack_rules.faults(blocks) == []
        assert not slack_rules.is_too_long(blocks)
        assert sum(slack_rules.units(text) for text in slack_rules.said(blocks)) <= SHEET_CHARS_MAX + 1_000
        assert slack_rules.units(shown.text) <= 4_000

    @settings(max_examples=60)
    @given(changes())
    def test_nothing_in_it_is_more_than_a_text(self, changed: dict[str, Any]) -> None:
        """No mention, link, emoji or formatting: only words of ours are in markup."""
        shown = posted(**changed)
        for each in objects(list(shown.blocks)):
            text = each["text"]
            if each["type"] == "mrkdwn":
                assert text.strip("*") in LABELS or DATE.fullmatch(text)
            elif each["type"] == "plain_text":
                assert each["emoji"] is False
                assert not MARKUP.search(text)
            else:
                assert set(each) == {"type", "text"}
                assert not re.search("&(?:amp|lt|gt);", text)
            assert not re.search("[\u2600-\u27bf\ufe0f\u200d\U0001f000-\U0001faff]", text)
        assert not MARKUP.search(shown.text)
        assert not FORMAT.search(shown.text)

    @settings(max_examples=60)
    @given(changes())
    def test_only_what_is_whole_can_be_approved(self, changed: dict[str, Any]) -> None:
        """A mark of a cut and a button to approve never stand together."""
        shown = posted(**changed)
        is_cut = any("⟨cut: " in text for text in said(shown))
        assert shown.is_whole or actions(shown) == ["placet.open"]
        if "placet.approve" in actions(shown):
            assert changed.get("status", "pending") == "pending"
            assert not is_cut

    @pytest.mark.parametrize("trick", TRICKS)
    def test_a_trick_is_shown_as_it_is(self, trick: str) -> None:
        """Character for character, but for what is spelt out."""
        shown = posted(reasons=[trick], input={"a": trick})
        line = trick.replace("\n", "⟨U+000A⟩")
        spelt = re.sub(
            "&(?=(?:amp|lt|gt);)|[\u2122\u2705\ufe0f\u20e3]", lambda found: f"⟨U+{ord(found[0]):04X}⟩", line
        )
        assert spelt in said(shown)


def test_changes_that_have_no_room_are_counted() -> None:
    """And keep it from being whole."""
    was, now = ({str(n): each for n in range(200)} for each in (1, 2))
    shown = posted(input=now, requested={"input": was})
    assert any("more⟩" in text for text in said(shown))
    assert not shown.is_whole


def test_a_sheet_takes_no_more_blocks_than_slack() -> None:
    """What stands below has its room; the rest is cut."""
    sheet = Sheet()
    for _ in range(60):
        sheet.text("x")
    sheet.foot("why", [{"type": "button", "text": {"type": "plain_text", "text": "x"}}])
    assert (len(sheet.blocks), sheet.was_cut) == (50, True)
    assert slack_rules.faults(sheet.blocks) == []


def test_room_is_counted_as_it_is_taken() -> None:
    """Escaped, spelt out, in UTF-16 units; never less than it takes."""
    assert [cost(text) for text in ("abc", "<&>", "\u2705", "\U00020000", "ä")] == [3, 16, 9, 2, 1]
