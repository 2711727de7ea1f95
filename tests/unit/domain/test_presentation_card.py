"""The card: what, who, for whom, why, when it dies, and what is hidden, cut or suspicious."""

import hashlib
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.domain.canonical import canonicalize
from placet.domain.presentation import (
    Budget,
    Card,
    ChangeKind,
    DeadlineKind,
    Dies,
    HazardKind,
    InputState,
    Level,
    Severity,
    heading,
    outline,
    present,
    read_seen,
)
from placet.domain.text import Kind, findings
from tests.hostile import close_values, hostile_texts

NOW_MS = 1_800_000_000_000
DIGEST = "ab" * 32
HASH = "cd" * 32
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
    "input_hash": HASH,
    "digest": DIGEST,
    "requested_at": "2027-01-15T08:00:00.000Z",
    "expires_at": "2027-01-15T08:14:32.000Z",
    "asked_by": "shop",
    "audience": "shop",
    "allowed_decisions": ["approve", "reject"],
    "quorum": {"required": 1, "approved": 0, "rejections": 1, "rejected": 0},
}
WEB = Budget(lines=1_000, whole_view=True)
CHAT = Budget(lines=20, columns=80, text_chars=500, items=4)
VOTE: dict[str, Any] = {
    "decision": "approve",
    "approver": {"id": "ann", "display_name": "Ann"},
    "channel": "web",
    "submitted_by": None,
    "comment": None,
    "digest": DIGEST,
    "at": "2027-01-15T08:01:00.000Z",
}
USE = {"execution_id": "run-1", "client": "runner", "at": "2027-01-15T08:02:00.000Z"}


def card(budget: Budget = WEB, **changes: Any) -> Card:
    """The card of a pending refund."""
    return present(read_seen(msgspec.json.encode({**WIRE, **changes})), budget)


def texts(value: Any) -> list[str]:
    """Every text in a card."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for member in value.values() for text in texts(member)]
    if isinstance(value, (list, tuple)):
        return [text for item in value for text in texts(item)]
    return []


def everything(shown: Card) -> list[str]:
    """Every text that a card and its parts say."""
    said = [shown.effect.text, shown.actor.text, shown.quorum.text, *(vote.who for vote in shown.decided)]
    return [*texts(msgspec.to_builtins(shown)), *said, *(hazard.sentence for hazard in shown.hazards)]


def prose(shown: Card) -> set[str]:
    """What somebody says on a card, in whole sentences: the blanks of everyday typography stay in it."""
    votes = [line for vote in shown.decided for line in vote.comment]
    summary = shown.outcome.summary if shown.outcome else ()
    return {*shown.quoted.lines, *shown.reasons.items, *votes, *summary}


class TestWhoAndWhat:
    """First who asks, from authentication; then the rest, as it was claimed."""

    def test_the_headline_is_a_sentence(self) -> None:
        """Capability and effect."""
        assert card().headline == "orders.refund acts on the world outside"
        assert card(effect="read").headline == "orders.refund reads data"
        assert card(effect="teleport").headline == 'orders.refund has the effect "teleport"'

    def test_the_client_is_who_asks(self) -> None:
        """And whoever else may run it is named."""
        assert (card().asked_by, card().audience) == ("shop", None)
        assert card(audience="runner").audience == "runner"

    def test_the_actor_is_a_claim(self) -> None:
        """Kind in words, id, and a name in quotes that it can't leave."""
        actor = {
            "id": "bot",
            "kind": "agent",
            "display_name": 'Ann" (a person)',
            "on_behalf_of": ["c1", "c2"],
        }
        shown = card(actor=actor)
        assert shown.actor.text == r'bot "Ann\" (a person)" (an AI agent, as the client says)'
        assert shown.on_behalf_of.items == ("c1", "c2")
        assert card().actor.claimed_name is None

    @pytest.mark.parametrize(
        ("kind", "words"),
        [("user", "a person"), ("anonymous", "nobody in particular"), ("robot\n", "robot⟨U+000A⟩")],
    )
    def test_an_unknown_kind_stands_for_itself(self, kind: str, words: str) -> None:
        """A newer service may know more of them."""
        assert card(actor={"id": "x", "kind": kind}).actor.kind == words

    @pytest.mark.parametrize(
        ("word", "severity"),
        [
            ("low", Severity.LOW),
            ("medium", Severity.MEDIUM),
            ("high", Severity.HIGH),
            ("critical", Severity.CRITICAL),
            ("apocalyptic", Severity.CRITICAL),
        ],
    )
    def test_a_risk_says_how_severe_it_is(self, word: str, severity: Severity) -> None:
        """In a word, for whoever sees no colours; one that is not known is the worst."""
        risk = card(risk=word).risk
        assert (risk.text, risk.severity) == (word, severity)

    def test_effects_say_what_they_do(self) -> None:
        """And how severe that is."""
        assert card(effect="none").effect.text == "none: changes nothing"
        assert [
            card(effect=word).effect.severity for word in ("none", "write", "destructive", "teleport")
        ] == [
            Severity.LOW,
            Severity.MEDIUM,
            Severity.HIGH,
            Severity.CRITICAL,
        ]
        assert Severity.HIGH.is_alarming
        assert not Severity.MEDIUM.is_alarming

    def test_what_a_rule_raised_is_told(self) -> None:
        """With what the client had said; what it had not understated is left out."""
        shown = card(claimed={"effect": "external", "risk": "low"})
        assert shown.risk.text == "high (raised by the operator's rules; the client said low)"
        assert shown.effect.claimed is None
        assert card(claimed=None).risk == Level(word="high", words="", severity=Severity.HIGH, claimed=None)

    def test_the_rule_is_named(self) -> None:
        """And the version of its file."""
        shown = card(rule={"name": "refunds", "policy": "ef" * 32})
        assert (shown.rule, shown.policy) == ("refunds", "ef" * 32)
        assert (card().rule, card().policy) == (None, None)

    def test_what_is_usual_is_left_out(self) -> None:
        """A card has ten seconds."""
        assert (card().surface, card().run, card().context, card().edits) == (None, None, None, None)
        assert card(surface="mcp", run="r1").surface == "mcp"

    def test_reasons_are_a_list(self) -> None:
        """An empty one is one too."""
        assert card(reasons=["above 100 EUR", ""], types=["refund"]).reasons.items == ("above 100 EUR", "")

    def test_the_runtimes_words_are_a_quotation(self) -> None:
        """In lines, beside the input."""
        shown = card(presentation={"title": "Refund", "summary": "a\n\nb", "redact": []})
        assert shown.quoted.lines == ("Refund", "a", "", "b")
        assert shown.input.tree is not None
        assert card(presentation={"title": None, "summary": "", "redact": []}).quoted.lines == ()


class TestWhen:
    """When it dies, and what comes next."""

    def test_a_question_dies(self) -> None:
        """At its deadline; the medium counts down."""
        dies = card().dies
        assert dies == Dies(kind=DeadlineKind.QUESTION, at_ms=NOW_MS + 872_000)
        assert dies.left_ms(NOW_MS) == 872_000
        assert dies.left_ms(NOW_MS + 10**9) == 0

    def test_a_grant_dies(self) -> None:
        """If nobody uses it."""
        shown = card(status="approved", use_by="2027-01-15T08:05:00.000Z")
        assert shown.dies == Dies(kind=DeadlineKind.GRANT, at_ms=NOW_MS + 300_000)
        assert shown.follows == "shop may run exactly this, once."

    @pytest.mark.parametrize("status", ["rejected", "expired", "cancelled", "consumed", "approved"])
    def test_what_has_ended_dies_no_more(self, status: str) -> None:
        """Nor a grant of which nobody says until when."""
        assert card(status=status).dies is None

    @pytest.mark.parametrize(
        ("changes", "state"),
        [
            ({}, "waits for a decision"),
            ({"status": "approved"}, "approved, and not used yet"),
            ({"status": "expired"}, "expired before it was decided"),
            (
                {"status": "expired", "use_by": "2027-01-15T08:05:00Z"},
                "approved, and expired before it was used",
            ),
            ({"status": "cancelled"}, "withdrawn"),
            ({"status": "consumed"}, "used"),
            ({"status": "consumed", "outcome": {"status": "succeeded"}}, "used, and succeeded"),
            ({"status": "consumed", "outcome": {"status": "failed"}}, "used, and failed"),
            ({"status": "consumed", "outcome": {"status": "half done"}}, "used"),
            ({"status": "lost\x1b"}, "lost⟨U+001B⟩"),
        ],
    )
    def test_a_state_is_told_in_words(self, changes: dict[str, Any], state: str) -> None:
        """One that is not known stands for itself."""
        assert card(**changes).state == state

    @pytest.mark.parametrize(
        ("required", "approved", "follows"),
        [
            (1, 0, "One approval lets runner run exactly this, once."),
            (3, 0, "3 approvals let runner run exactly this, once."),
            (3, 1, "2 more approvals let runner run exactly this, once."),
            (3, 2, "One more approval lets runner run exactly this, once."),
            (1, 1, "One more approval lets runner run exactly this, once."),
        ],
    )
    def test_what_an_approval_does_is_told(self, required: int, approved: int, follows: str) -> None:
        """Whom it lets run it, and how many more it takes."""
        shown = card(audience="runner", quorum={"required": required, "approved": approved})
        assert shown.follows == follows

    def test_progress_is_told(self) -> None:
        """Of rejections only where one is not enough."""
        assert card(quorum={"required": 2, "approved": 1}).quorum.text == "1 of 2 needed"
        quorum = {"required": 2, "approved": 1, "rejections": 3, "rejected": 2}
        assert card(quorum=quorum).quorum.text == "1 of 2 needed; rejections: 2 of 3"


class TestAfter:
    """Who decided, who used it, what came of it."""

    def test_decisions_say_who_what_and_through_what(self) -> None:
        """With their words, in lines."""
        (vote,) = card(decisions=[{**VOTE, "comment": "fine\nby me", "submitted_by": "bridge"}]).decided
        assert (vote.words, vote.who, vote.channel, vote.at_ms) == (
            "approved",
            "Ann (ann)",
            "web",
            NOW_MS + 60_000,
        )
        assert (vote.comment, vote.submitted_by, vote.counts) == (("fine", "by me"), "bridge", True)

    def test_an_unnamed_person_is_an_id(self) -> None:
        """And a decision of which less is known is shown all the same."""
        (vote,) = card(decisions=[{"decision": "abstain", "approver": {"id": "bob"}}]).decided
        assert (vote.words, vote.who, vote.at_ms, vote.counts) == ("abstain", "bob", None, True)

    @pytest.mark.parametrize(
        ("vote", "why_not"),
        [
            ({"digest": "00" * 32}, "before the input was changed: it counts no more"),
            ({}, "which counts no more"),
            ({"digest": None}, "which counts no more"),
            ({"decision": "edit"}, "which others have to approve"),
        ],
    )
    def test_what_does_not_count_says_why(self, vote: dict[str, Any], why_not: str) -> None:
        """As far as can be told; what does says nothing."""
        shown = card(decisions=[{**VOTE, **vote, "counts": False}, {**VOTE, **vote, "counts": True}])
        assert [(each.counts, each.why_not) for each in shown.decided] == [(False, why_not), (True, "")]

    @pytest.mark.parametrize(
        ("reason", "words"),
        [
            ("approver-no-longer-entitled", "somebody whose approval counted may no longer give it"),
            ("quorum-no-longer-met", "a rule wants more people by now"),
            ("of-a-later-release", "of-a-later-release"),
        ],
    )
    def test_a_grant_that_can_not_be_used_says_why(self, reason: str, words: str) -> None:
        """In place of what would follow."""
        follows = card(status="approved", suspended=reason).follows
        assert follows.endswith(f" may not run it as things are: {words}.")
        assert card(status="approved").follows.endswith(" may run exactly this, once.")

    def test_of_many_decisions_the_latest_are_shown(self) -> None:
        """And how many there were before."""
        votes = [{**VOTE, "approver": {"id": f"p{n}"}} for n in range(7)]
        shown = card(CHAT, decisions=votes)
        assert [vote.person for vote in shown.decided] == ["p3", "p4", "p5", "p6"]
        assert (shown.decided_missing, shown.was_cut) == (3, True)

    def test_use_and_outcome_are_told(self) -> None:
        """Nothing reported is not a success."""
        shown = card(status="consumed", consumption=USE)
        assert shown.used is not None
        assert (shown.used.client, shown.used.execution_id, shown.used.at_ms) == (
            "runner",
            "run-1",
            NOW_MS + 120_000,
        )
        assert (shown.outcome, shown.follows) == (None, "The outcome was not reported yet.")

    def test_an_outcome_is_told(self) -> None:
        """In the runtime's words."""
        outcome = {"status": "failed", "summary": "no\nfunds", "at": "2027-01-15T08:03:00.000Z"}
        shown = card(status="consumed", consumption={**USE, "at": None}, outcome=outcome)
        assert shown.outcome is not None
        assert (shown.outcome.status, shown.outcome.summary) == ("failed", ("no", "funds"))
        assert (shown.outcome.at_ms, shown.follows) == (NOW_MS + 180_000, "")
        assert card(outcome={"status": "failed"}).outcome is not None

    def test_what_an_approver_changed_is_told(self) -> None:
        """The effective input is on the card, the original beside it."""
        shown = card(requested={"input": {"amount": 9}, "input_hash": HASH, "digest": DIGEST})
        assert shown.edits is not None
        assert [(each.kind, each.path) for each in shown.edits.changes] == [(ChangeKind.CHANGED, "/amount")]

    def test_an_original_that_is_gone_is_not_compared(self) -> None:
        """Null stands for an absent one, unless its hash says otherwise."""
        gone = {"input": None, "input_hash": HASH, "digest": DIGEST}
        assert card(requested=gone).edits is None
        null = {**gone, "input_hash": hashlib.sha256(b"null").hexdigest()}
        assert card(requested=null).edits is not None
        assert card(input=None, requested=null).edits is None


class TestInput:
    """What is seen of the effective input."""

    def test_it_is_shown(self) -> None:
        """As a tree and as JSON, with nothing to say about it."""
        shown = card().input
        assert (shown.state, shown.words, shown.hash) == (InputState.SHOWN, "", HASH)
        assert shown.tree is not None
        assert shown.tree.json == '{"amount":5}'

    def test_parts_may_be_hidden(self) -> None:
        """Said in words, and marked where they are."""
        words = {"redact": ["/card"]}
        shown = card(
            input={"card": "[redacted]"}, input_redacted=True, input_hash=None, presentation=words
        ).input
        assert (shown.state, shown.hash) == (InputState.REDACTED, None)
        hidden = "Parts of it are hidden from you. They are what was asked for all the same: "
        assert shown.words == f"{hidden}nobody can change them."
        assert shown.tree is not None
        assert shown.tree.hidden == 1

    def test_whoever_sees_all_of_it_gets_no_marks(self) -> None:
        """The asker's own record has the pointers, and the values."""
        shown = card(input={"card": "4111"}, presentation={"redact": ["/card"]}).input
        assert shown.state is InputState.SHOWN
        assert shown.tree is not None
        assert shown.tree.hidden == 0

    def test_it_may_be_withheld_from_everybody(self) -> None:
        """The client sent its hash alone."""
        shown = card(input=None, input_hash=None).input
        assert (shown.state, shown.tree) == (InputState.WITHHELD, None)
        assert shown.words == "Nobody here has seen it: the client sent only its hash."

    @pytest.mark.parametrize("changes", [{"status": "rejected"}, {"digest": None}])
    def test_it_may_be_absent(self, changes: dict[str, Any]) -> None:
        """Erased, or not for this credential's eyes: that is something else."""
        assert card(input=None, input_hash=None, **changes).input.state is InputState.ABSENT

    def test_null_is_an_input(self) -> None:
        """Its hash tells it from an absent one."""
        shown = card(input=None, input_hash=hashlib.sha256(b"null").hexdigest()).input
        assert shown.state is InputState.SHOWN

    def test_the_context_is_bound_and_so_it_is_shown(self) -> None:
        """A further fact of the call."""
        context = card(context={"call": "c1"}).context
        assert context is not None
        assert [str(line) for line in outline(context.root, columns=80)] == ["{", '  "call": "c1"', "}"]


LONG: dict[str, Any] = {"input": {"text": "x" * 9_000}}
REDACTED: dict[str, Any] = {"input_redacted": True, "presentation": {"redact": ["/amount"]}}
WITHHELD: dict[str, Any] = {"input": None, "input_hash": None}


class TestDecidingHere:
    """Whether a medium may offer to approve (design §10)."""

    @pytest.mark.parametrize("budget", [WEB, CHAT])
    def test_what_is_wholly_shown_can_be_approved(self, budget: Budget) -> None:
        """Everywhere."""
        assert (card(budget).can_approve_here, card(budget).why_not) == (True, None)

    @pytest.mark.parametrize(
        ("changes", "why_not"),
        [
            (LONG, "Not all of it is shown here."),
            (REDACTED, "Parts of the input are hidden."),
            (WITHHELD, "The input is not shown."),
            ({"reasons": ["x" * 501]}, "Not all of it is shown here."),
            ({"reasons": ["x"] * 5}, "Not all of it is shown here."),
            ({"context": LONG["input"]}, "Not all of it is shown here."),
            ({"presentation": {"summary": "x" * 501}}, "Not all of it is shown here."),
            ({"requested": {"input": {"text": "x" * 9_000}}}, "Not all of it is shown here."),
        ],
    )
    def test_a_chat_never_approves_what_it_does_not_show(self, changes: dict[str, Any], why_not: str) -> None:
        """Cut, redacted or withheld: there is only the way to the whole view."""
        shown = card(CHAT, **changes)
        assert (shown.can_approve_here, shown.why_not, shown.can_edit_here) == (False, why_not, False)

    @pytest.mark.parametrize("changes", [REDACTED, WITHHELD])
    def test_the_whole_view_approves_what_nobody_sees(self, changes: dict[str, Any]) -> None:
        """An approver can see no more of it, and is told so."""
        assert card(**changes).can_approve_here
        assert card(**changes).input.words

    def test_even_the_whole_view_does_not_approve_what_it_cut(self) -> None:
        """Not all of it was seen."""
        assert card(input=["x"] * 1_001).why_not == "Not all of it is shown here."
        assert present(read_seen(msgspec.json.encode({**WIRE, **LONG})), Budget.boundless()).can_approve_here

    @pytest.mark.parametrize(
        ("changes", "why_not"),
        [
            ({"status": "expired"}, "It is expired."),
            ({"digest": None}, "You may look, but not decide."),
            ({"allowed_decisions": ["reject"]}, "It can only be rejected."),
        ],
    )
    def test_there_may_be_nothing_to_approve(self, changes: dict[str, Any], why_not: str) -> None:
        """It is over, it is not theirs to decide, or the client does not ask for it."""
        assert card(**changes).why_not == why_not

    def test_a_service_that_names_no_decisions_allows_the_usual(self) -> None:
        """It is older."""
        assert card(allowed_decisions=[]).can_approve_here
        assert card().allowed == ("approve", "reject")

    def test_only_whoever_sees_all_of_it_can_change_it(self) -> None:
        """Where changing it is allowed at all."""
        allowed: dict[str, Any] = {"allowed_decisions": ["approve", "reject", "edit"]}
        assert card(**allowed).can_edit_here
        assert not card().can_edit_here
        assert not card(**allowed, **REDACTED).can_edit_here
        assert not card(**allowed, **WITHHELD).can_edit_here
        assert card(allowed_decisions=["reject", "edit"]).can_edit_here


class TestHostileText:
    """Everything that came from outside."""

    @given(st.lists(hostile_texts(40), min_size=8, max_size=8))
    def test_no_text_of_a_card_hides_anything(self, words: list[str]) -> None:
        """In whatever member it came; only words that wholly look Latin stay, and are flagged."""
        a, b, c, d, e, f, g, h = words
        changes: dict[str, Any] = {
            "capability": a, "asked_by": b, "audience": c, "effect": d, "risk": e, "status": f, "run": g,
            "surface": h, "digest": a, "input_hash": b, "id": c, "reasons": [d, e], "types": [f],
            "input": {a: {b: c}}, "context": {d: [e]}, "allowed_decisions": [g],
            "actor": {"id": h, "kind": a, "display_name": b, "on_behalf_of": [c]},
            "presentation": {"title": d, "summary": e, "redact": ["/" + a]},
            "claimed": {"effect": f, "risk": g}, "rule": {"name": h, "policy": a},
            "decisions": [{**VOTE, "decision": b, "approver": {"id": c, "display_name": d}, "comment": e}],
            "consumption": {"client": g, "execution_id": h}, "outcome": {"status": a, "summary": b},
            "requested": {"input": {c: d}},
        }  # fmt: skip
        for budget in (WEB, CHAT):
            shown = card(budget, **changes)
            said = prose(shown)
            for text in everything(shown):
                assert {each.kind for each in findings(text, prose=text in said)} <= {Kind.CONFUSABLE}
                assert not set(text) & set("\n\t\r\x1b")

    @pytest.mark.parametrize(
        ("changes", "where"),
        [
            ({"asked_by": "\u202e"}, "the client"),
            ({"capability": "\u202e"}, "the capability"),
            ({"actor": {"id": "a", "on_behalf_of": ["\u202e"]}}, "the actor"),
            ({"reasons": ["\u202e"]}, "the reasons"),
            ({"types": ["\u202e"]}, "the reasons"),
            ({"run": "\u202e"}, "the run"),
            ({"input": "\u202e"}, "the input"),
            ({"context": {"\u202e": 1}}, "the context"),
            ({"requested": {"input": ["\u202e"]}}, "what was changed"),
            ({"presentation": {"summary": "\u202e"}}, "the runtime's words"),
            ({"decisions": [{**VOTE, "comment": "\u202e"}]}, "the decisions"),
            ({"outcome": {"summary": "\u202e"}}, "the outcome"),
        ],
    )
    def test_what_could_mislead_is_flagged_with_its_place(self, changes: dict[str, Any], where: str) -> None:
        """Once each, and nothing else is."""
        assert [(each.where, each.kind) for each in card(**changes).hazards] == [(where, HazardKind.BIDI)]

    def test_a_harmless_card_has_no_flags(self) -> None:
        """Nobody reads flags that are always there."""
        assert card(reasons=["Größer als 100 €"], input={"name": "שלום", "город": "Москва"}).hazards == ()

    def test_a_right_to_left_name_is_left_readable(self) -> None:
        """Letters are no hazard; a medium keeps them apart."""
        actor = {"id": "a", "kind": "user", "display_name": "דנה כהן"}
        assert card(actor=actor).actor.claimed_name == "דנה כהן"
        assert card(actor=actor).hazards == ()

    @pytest.mark.parametrize(
        "value",
        ["\u202e" * 87_000, "x" * 262_144, {f"k{n}": n for n in range(10_000)}, "e" + "\u0301" * 100_000,
         {"\u200b" * n: n for n in range(300)}, ["<!channel>" * 20_000]],
    )  # fmt: skip
    def test_a_flood_stays_within_its_room(self, value: Any) -> None:
        """Up to the body limit and beyond, whatever it is made of."""
        shown = card(CHAT, input=value, reasons=["\x1b" * 9_000] * 32)
        assert shown.was_cut
        assert shown.input.tree is not None
        found = "\n".join(str(line) for line in outline(shown.input.tree.root, columns=80))
        assert len(found) <= CHAT.lines * CHAT.columns
        assert len(shown.input.tree.json) <= CHAT.lines * CHAT.columns
        assert max(map(len, shown.reasons.items)) <= CHAT.text_chars

    @given(close_values(), close_values(), st.sampled_from([CHAT, WEB]))
    def test_different_inputs_have_different_cards(self, one: Any, other: Any, budget: Budget) -> None:
        """Unless both say that they are cut."""
        cards = [card(budget, input=["x" * 100, each] * 3) for each in (one, other)]
        said = [written(each) for each in cards]
        if said[0] == said[1] and canonicalize(one) != canonicalize(other):
            assert all(each.was_cut for each in cards)


def written(shown: Card) -> list[str]:
    """The input of a card, in lines."""
    assert shown.input.tree is not None
    return [str(line) for line in outline(shown.input.tree.root, columns=80)]


def test_a_list_shows_headings() -> None:
    """The same words as on the card; the input is not looked at."""
    seen = read_seen(msgspec.json.encode({**WIRE, **LONG}))
    shown, whole = heading(seen, CHAT), present(seen, CHAT)
    assert msgspec.structs.asdict(shown).items() <= msgspec.structs.asdict(whole).items()
    assert shown.headline == "orders.refund acts on the world outside"


def test_a_record_of_an_older_service_has_a_card() -> None:
    """Members that are missing are left out."""
    kept = ("id", "status", "requested_at", "expires_at")
    shown = present(read_seen(msgspec.json.encode({name: WIRE[name] for name in kept})), WEB)
    assert (shown.input.state, shown.why_not) == (
        InputState.ABSENT,
        "You may look, but not decide.",
    )


class TestBlanksAndMarks:
    """What is drawn as something else, on the card as a whole."""

    @pytest.mark.parametrize("blank", ["\u00a0", "\u202f", "\u3000"])
    def test_everyday_blanks_are_told_apart_from_spaces_where_they_are_values(self, blank: str) -> None:
        """In the input, in names and ids; in comments, reasons and summaries they are typography."""
        said, spelt = f"5{blank}%", f"5⟨U+{ord(blank):04X}⟩%"
        shown = card(
            input={"note": said},
            actor={"id": said, "kind": "agent"},
            reasons=[said],
            presentation={"title": said, "summary": said},
            decisions=[{**VOTE, "comment": said}],
            consumption=USE,
            outcome={"status": "succeeded", "summary": said, "at": None},
        )
        assert f'  "note": "{spelt}"' in written(shown)
        assert shown.actor.id == spelt
        assert shown.reasons.items == shown.quoted.title == shown.quoted.summary == (said,)
        assert shown.decided[0].comment == (said,)
        assert shown.outcome is not None
        assert shown.outcome.summary == (said,)
        assert [each.sentence for each in shown.hazards] == [
            "Look twice at the actor: blanks that are no plain spaces (1).",
            "Look twice at the input: blanks that are no plain spaces (1), first at /note.",
        ]

    def test_marks_that_strike_out_are_told(self) -> None:
        """In prose too: nobody writes like that."""
        shown = card(input={"path": "a\u0338b"}, presentation={"title": "1\u03360\u0336"})
        assert '  "path": "a⟨U+0338⟩b"' in written(shown)
        assert shown.quoted.title == ("1⟨U+0336⟩0⟨U+0336⟩",)
        assert [each.sentence for each in shown.hazards] == [
            "Look twice at the input: marks drawn over other characters (1), first at /path.",
            "Look twice at the runtime's words: marks drawn over other characters (2).",
        ]
        assert card(input={"path": "5\u0301"}).hazards[0].sentence == (
            "Look twice at the input: stacked or stray marks (1), first at /path."
        )
