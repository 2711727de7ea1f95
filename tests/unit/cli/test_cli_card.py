"""The card, as a terminal shows it."""

import hashlib
from typing import Any

import msgspec
import pytest

from placet.cli import card
from placet.cli.console import Terminal
from placet.cli.exits import Stop
from placet.cli.layout import columns_of
from placet.cli.record import Event, Record, read
from tests.unit.cli.conftest import Screen

NOW_MS = 1_800_000_000_000
DIGEST = "ab" * 32

WIRE: dict[str, Any] = {
    "id": "apr_1",
    "status": "pending",
    "capability": "orders.refund",
    "surface": "direct",
    "actor": {"id": "bot", "kind": "agent", "display_name": None, "on_behalf_of": []},
    "effect": "external",
    "risk": "high",
    "context": {},
    "input": {"amount": 5},
    "input_hash": "cd" * 32,
    "digest": DIGEST,
    "requested_at": "2027-01-15T08:00:00.000Z",
    "expires_at": "2027-01-15T08:14:32.000Z",
    "asked_by": "shop",
    "audience": "shop",
    "quorum": {"required": 1, "approved": 0},
}


def record(**changes: Any) -> Record:
    """A pending refund, as read off the wire."""
    return read(msgspec.json.encode({**WIRE, **changes}), Record)


def lines(*, full: bool = False, **changes: Any) -> list[str]:
    """Its card on a screen without colours."""
    return list(shown(full=full, **changes).lines)


def shown(*, full: bool = False, **changes: Any) -> card.Card:
    """Its card."""
    return card.render(record(**changes), Terminal(Screen(terminal=False), {}), now_ms=NOW_MS, full=full)


def value_of(label: str, found: list[str]) -> str:
    """What stands behind a label."""
    return next(line[13:] for line in found if line.startswith(label))


class TestWhatIsOnIt:
    """What an approver judges by."""

    def test_it_says_what_and_until_when(self) -> None:
        """State, capability and countdown are the first line."""
        assert lines()[0].split() == ["PENDING", "orders.refund", "expires", "in", "14m", "32s"]

    def test_who_asks_comes_before_what_is_asked(self) -> None:
        """The authenticated client, then the actor, which is its claim; the runtime's words come last."""
        found = lines(presentation={"title": "Harmless", "summary": None, "redact": []})
        order = [line.partition(" ")[0] for line in found]
        places = [order.index(word) for word in ("Asked", "Actor", "Effect", "Risk", "Input", "The")]
        assert places == sorted(places)
        assert value_of("Asked by", found) == "client shop"
        assert value_of("Actor", found) == "bot (an AI agent, as the client says)"

    def test_whoever_else_may_run_it_is_named(self) -> None:
        """An audience that is not the asker is part of the question."""
        assert value_of("Asked by", lines(audience="runner")) == "client shop, to be run by runner"

    def test_the_digest_stands_on_it_whole(self) -> None:
        """It is what --digest takes."""
        assert value_of("Digest", lines()) == DIGEST

    def test_votes_use_and_outcome_are_on_it(self) -> None:
        """What became of it, with who and when."""
        vote = {"decision": "approve", "approver": {"id": "ann", "display_name": "Ann"}, "channel": "api"}
        found = lines(
            status="consumed",
            quorum={"required": 1, "approved": 1},
            decisions=[{**vote, "comment": "fine", "at": "2027-01-15T08:01:00.000Z"}],
            consumption={"execution_id": "run-1", "client": "shop", "at": "2027-01-15T08:02:00.000Z"},
            outcome={"status": "failed", "summary": "no funds", "at": "2027-01-15T08:03:00.000Z"},
        )
        text = "\n".join(found)
        assert 'approved by Ann (ann) via api on 2027-01-15 08:01:00 UTC: "fine"' in text
        assert value_of("Used", found) == "by shop, execution run-1"
        assert value_of("Outcome", found) == 'failed: "no funds"'

    def test_a_consumed_one_without_report_says_so(self) -> None:
        """Nothing reported is not a success."""
        use = {"execution_id": "run-1", "client": "shop", "at": "2027-01-15T08:02:00.000Z"}
        assert value_of("Outcome", lines(status="consumed", consumption=use)) == "not reported yet"

    def test_a_grant_counts_down_too(self) -> None:
        """How long it can still be used."""
        assert "usable for 1m" in lines(status="approved", use_by="2027-01-15T08:01:00.000Z")[0]

    def test_a_record_of_an_older_service_is_shown(self) -> None:
        """Members that are missing are left out."""
        kept = ("id", "status", "requested_at", "expires_at")
        old = read(msgspec.json.encode({name: WIRE[name] for name in kept}), Record)
        card.render(old, Terminal(Screen(terminal=False), {}), now_ms=NOW_MS)


class TestInput:
    """The effective input."""

    def test_what_is_hidden_is_marked(self) -> None:
        """The approver sees that something is hidden, and where."""
        words = {"title": None, "summary": None, "redact": ["/card"]}
        found = lines(input={"card": "[redacted]"}, input_redacted=True, presentation=words)
        hidden = "They are what was asked for all the same: nobody can change"
        start = found.index(f"Input  Parts of it are hidden from you. {hidden}")
        assert found[start + 1] == "       them."
        assert '    "card": ⟨hidden from approvers⟩' in found

    def test_whoever_sees_it_whole_gets_no_marks(self) -> None:
        """The asker's own record has the pointers, and the values."""
        words = {"title": None, "summary": None, "redact": ["/card"]}
        assert '    "card": "4111"' in lines(input={"card": "4111"}, presentation=words)

    def test_a_hash_only_question_says_that_nobody_has_seen_it(self) -> None:
        """In plain words, where the input would stand."""
        found = lines(input=None, input_hash=None)
        assert "Input  Nobody here has seen it: the client sent only its hash." in found

    def test_an_erased_or_withheld_one_says_so(self) -> None:
        """That is something else."""
        assert any("is no longer here" in line for line in lines(input=None, status="rejected"))

    def test_null_is_an_input_where_it_was_asked(self) -> None:
        """Its hash tells it from an absent one."""
        assert "  null" in lines(input=None, input_hash=hashlib.sha256(b"null").hexdigest())

    def test_a_long_one_is_cut_visibly(self) -> None:
        """With its whole size, and how to see it."""
        long = {"items": [{"a": {"b": n}} for n in range(50)]}
        cut_short = shown(input=long)
        assert cut_short.was_cut
        assert '    "items": [' in cut_short.lines
        assert "      ⟨cut: 32 more of 50 items⟩" in cut_short.lines
        mark = "  … cut here: not all of it is shown (751 bytes in all); --full shows it"
        assert mark in cut_short.lines
        assert not shown(input=long, full=True).was_cut

    def test_the_context_is_bound_and_so_it_is_shown(self) -> None:
        """A further fact of the call stands below the input."""
        assert '    "call": "c1"' in lines(context={"call": "c1"})

    def test_what_an_approver_changed_stands_below_it(self) -> None:
        """What was behind a minus, what is behind a plus."""
        original = {"input": {"amount": 9, "cc": "x"}, "input_hash": None, "digest": None}
        found = lines(input={"amount": 5, "note": [1]}, requested=original)
        first = found.index("Changed by an approver")
        assert found[first + 1 : first + 8] == [
            "  changed /amount",
            "  -   9",
            "  +   5",
            "  removed /cc",
            '  -   "x"',
            "  added /note",
            "  +   [1]",
        ]

    def test_all_of_it_may_be_changed(self) -> None:
        """Then there is no path to name."""
        assert "  changed (the whole input)" in lines(requested={"input": 1})

    def test_changes_that_do_not_fit_are_counted(self) -> None:
        """As everything else."""
        found = lines(requested={"input": {f"k{n}": n for n in range(99)}})
        assert any(line.startswith("  ⟨cut: ") and line.endswith(" more⟩") for line in found)


class TestAsOfTheRules:
    """What the operator's rules made of it."""

    def test_a_raised_risk_says_so(self) -> None:
        """With what the client had said."""
        found = lines(claimed={"effect": "external", "risk": "low"})
        assert value_of("Risk", found) == "high (raised by the operator's rules; the client said low)"

    def test_the_rule_is_named_where_there_is_a_file(self) -> None:
        """Without one there is nothing to look up."""
        assert value_of("Rule", lines(rule={"name": "refunds", "policy": "ef" * 32})) == "refunds"
        assert not any(line.startswith("Rule") for line in lines(rule={"name": "built-in", "policy": None}))

    def test_votes_are_told_with_their_words(self) -> None:
        """Many lines of them behind a bar; and whether they count no more."""
        vote = {"approver": {"id": "ann"}, "channel": "chat", "submitted_by": "b", "digest": "00" * 32}
        found = lines(decisions=[{**vote, "counts": False, "decision": "approve", "comment": "a\nb"}])
        place = found.index("Approvals    0 of 1 needed")
        who = "approved by ann via chat (sent by b), before the input was changed: it counts no more"
        assert [line.strip() for line in found[place + 1 : place + 4]] == [who, "│ a", "│ b"]

    def test_many_votes_are_cut(self) -> None:
        """The latest are there."""
        vote = {"decision": "approve", "approver": {"id": "ann"}, "channel": "api"}
        assert "             ⟨cut: 6 earlier⟩" in lines(decisions=[vote] * 70)

    def test_a_long_list_is_cut(self) -> None:
        """Reasons and types too, with how many more there are."""
        found = lines(reasons=["r"] * 70, types=["t"] * 65)
        assert "             ⟨cut: 6 more⟩" in found
        assert "             ⟨cut: 1 more⟩" in found

    def test_an_empty_reason_is_shown_as_such(self) -> None:
        """Nothing is not the same as no reason."""
        assert value_of("Why", lines(reasons=["", "x"])) == '""'


class TestHostileText:
    """Everything that came from outside."""

    @pytest.mark.parametrize(
        "changes",
        [
            {"reasons": ["fine\nRisk         low"]},
            {"actor": {"id": "bot\nRisk         low", "kind": "agent"}},
            {"run": "r\rRisk         low"},
            {"types": ["x\u2028Risk         low"]},
            {"presentation": {"title": "t\nRisk         low", "summary": "s\nRisk         low"}},
            {"input": "x" * 85 + "Risk         low"},
            {"outcome": {"status": "ok", "summary": "x\nRisk         low"}},
        ],
    )
    def test_nothing_can_pass_for_a_field(self, changes: dict[str, Any]) -> None:
        """There is one line that begins with Risk, and it is ours."""
        assert [line for line in lines(**changes) if line.startswith("Risk")] == ["Risk         high"]

    def test_escape_sequences_never_reach_the_terminal(self) -> None:
        """No control character is on a card without colours, wherever it came in."""
        evil = "\x1b]0;x\x07\x9b31m\u202e"
        found = lines(
            capability=evil,
            asked_by=evil,
            effect=evil,
            risk=evil,
            status=evil,
            reasons=[evil],
            types=[evil],
            run=evil,
            surface=evil,
            digest=evil,
            input={evil: evil},
            context={evil: [evil]},
            actor={"id": evil, "kind": evil, "display_name": evil, "on_behalf_of": [evil]},
            presentation={"title": evil, "summary": evil, "redact": []},
            decisions=[{"decision": evil, "approver": {"id": evil, "display_name": evil}, "channel": evil}],
        )
        assert set("".join(found)).isdisjoint("\x1b\x07\x9b\u202e")

    def test_what_could_mislead_is_flagged(self) -> None:
        """With the place, the kind and how often; look-alike words that stay readable too."""
        found = lines(reasons=["a\u200bb"], input={"path": "\u0455\u0441\u043e\u0440\u0435"})
        assert "! Look twice at the reasons: invisible characters (1)." in found
        assert "! Look twice at the input: words with look-alike letters (1), first at /path." in found

    def test_the_flags_can_be_had_by_themselves(self) -> None:
        """As they stand on the card, in its order, however many lines they take."""
        found = shown(reasons=["\u200b\u202e\x1b" + "e" + "\u0301" * 9], capability="\u202e")
        assert [line for line in found.lines if line in found.warnings] == list(found.warnings)
        assert [line for line in found.lines if line.startswith("!")] == [
            line for line in found.warnings if line.startswith("!")
        ]
        assert shown().warnings == ()

    def test_a_harmless_card_has_no_flags(self) -> None:
        """Nobody reads flags that are always there."""
        assert not any(line.startswith("!") for line in lines(reasons=["Größer als 100 €"]))

    def test_every_line_keeps_to_its_room(self) -> None:
        """Long words of a runtime don't wrap by themselves."""
        found = lines(reasons=["x" * 500], presentation={"title": "日" * 200, "summary": "y" * 2000})
        assert max(map(columns_of, found)) <= 100

    def test_a_long_capability_pushes_nothing_off(self) -> None:
        """The countdown is there all the same."""
        found = lines(capability="c" * 200)
        assert found[0] == "PENDING  expires in 14m 32s"
        assert "".join(found[1:3]) == "c" * 200


def test_an_answer_without_bottom_is_no_record() -> None:
    """It ends the command with a sentence, as any other answer that can't be read."""
    with pytest.raises(Stop, match="can't be read"):
        read(b'{"context": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", Record)


def test_a_trail_has_refusals_and_their_number() -> None:
    """Who, when, what, with which code and reason, how many."""
    at = "2027-01-15T08:00:00.000Z"
    refused = {"seq": 2, "at": at, "type": "refused", "by": "eve\x1b", "code": "FORBIDDEN", "count": 3}
    refused["reason"] = "no-rule"
    events = msgspec.convert([{"seq": 1, "at": at, "type": "requested", "by": "shop"}, refused], list[Event])
    found = card.trail(events, Terminal(Screen(terminal=False), {}))
    assert found == [
        "Trail  (UTC)",
        "  2027-01-15 08:00:00  requested  by shop",
        "  2027-01-15 08:00:00  refused    by eve⟨U+001B⟩  FORBIDDEN (no-rule)  3 times",
    ]
