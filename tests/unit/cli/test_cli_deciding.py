"""Deciding approvals, from a terminal and elsewhere."""

from typing import Any

import pytest

from tests.unit.cli.answering import DIGEST, Service
from tests.unit.cli.conftest import Full, Screen, Type


class TestApprove:
    """``approve`` never approves blind."""

    def test_it_shows_the_card_and_sends_its_digest(self, cli: Type) -> None:
        """What is approved is what was shown."""
        service = Service()
        ran = cli("approvals", "approve", "apr_1", answer=service, typed="y\n", terminal=True)
        assert ran.status == 0
        assert service.decisions == [{"decision": "approve", "digest": DIGEST}]
        assert '    "amount": 5' in ran.out
        assert "Approve exactly this? [y/N] " in ran.out
        assert ran.out.endswith("✓ apr_1 is approved (1 of 1 approvals; usable for 14m 32s).\n")

    @pytest.mark.parametrize("typed", ["n\n", "\n", "yess\n", "Y E S\n"])
    def test_anything_but_yes_decides_nothing(self, cli: Type, typed: str) -> None:
        """The default is no."""
        service = Service()
        ran = cli("approvals", "approve", "apr_1", answer=service, typed=typed, terminal=True)
        assert (ran.status, service.decisions) == (1, [])
        assert "Nothing was decided." in ran.said

    def test_ctrl_c_at_the_question_decides_nothing(self, cli: Type, monkeypatch: pytest.MonkeyPatch) -> None:
        """And that is said."""

        def interrupted(_: Screen) -> str:
            raise KeyboardInterrupt

        monkeypatch.setattr(Screen, "readline", interrupted)
        service = Service()
        ran = cli("approvals", "approve", "apr_1", answer=service, terminal=True)
        assert (ran.status, service.decisions) == (130, [])
        assert "nothing was decided" in ran.said

    @pytest.mark.parametrize(
        ("actor", "refused"),
        [
            ({"id": "ANN", "kind": "agent"}, True),
            ({"id": "bot", "kind": "agent", "on_behalf_of": ["bob", " ann"]}, True),
            ({"id": "ann", "kind": "user", "on_behalf_of": ["bob"]}, True),
            ({"id": "ann", "kind": "user"}, False),  # a rule may let people confirm what they do themselves
            ({"id": "bot", "kind": "agent"}, False),
        ],
    )
    def test_who_is_on_the_asking_side_is_not_asked(
        self, cli: Type, actor: dict[str, Any], *, refused: bool
    ) -> None:
        """Where the card says so, and the bridge says who decides; rejecting is allowed."""
        service = Service(actor=actor)
        argv = ["apr_1", "--as", "ann"]
        ran = cli("approvals", "approve", *argv, answer=service, typed="y\n", terminal=True)
        assert (ran.status, len(service.decisions)) == ((1, 0) if refused else (0, 1))
        assert ("on the asking side" in ran.said) == refused
        ran = cli("approvals", "reject", *argv, answer=Service(actor=actor), typed="y\n", terminal=True)
        assert ran.status == 0

    def test_an_input_that_ends_decides_nothing(self, cli: Type) -> None:
        """Ctrl-D is no answer."""
        service = Service()
        ran = cli("approvals", "approve", "apr_1", answer=service, terminal=True)
        assert (ran.status, service.decisions) == (1, [])

    def test_without_a_terminal_it_asks_for_the_digest(self, cli: Type) -> None:
        """Nobody is there to look: not even the record is fetched, whatever is piped in."""
        service = Service()
        ran = cli("approvals", "approve", "apr_1", answer=service, typed="y\n")
        assert (ran.status, service.said) == (2, [])
        assert "--digest" in ran.said

    def test_a_digest_that_was_seen_is_sent(self, cli: Type) -> None:
        """With a comment, and the person that a bridge speaks for."""
        service = Service()
        argv = ["approvals", "approve", "apr_1", "--digest", DIGEST, "--comment", "ok", "--as", "ann"]
        ran = cli(*argv, answer=service)
        assert ran.status == 0
        body = {"decision": "approve", "digest": DIGEST, "comment": "ok", "approver": {"id": "ann"}}
        assert service.decisions == [body]

    def test_a_digest_of_another_card_is_refused(self, cli: Type) -> None:
        """The service judges it."""
        ran = cli("approvals", "approve", "apr_1", "--digest", "00" * 32, answer=Service())
        assert ran.status == 1
        assert "APPROVAL_INPUT_MISMATCH" in ran.said

    def test_an_input_that_was_cut_can_not_be_approved(self, cli: Type) -> None:
        """Not all of it was seen; --full shows it, and then it can."""
        service = Service(input={"lines": [{"n": {"k": n}} for n in range(60)]})
        ran = cli("approvals", "approve", "apr_1", answer=service, typed="y\n", terminal=True)
        assert (ran.status, service.decisions) == (1, [])
        assert "--full" in ran.said
        ran = cli("approvals", "approve", "apr_1", "--full", answer=service, typed="y\n", terminal=True)
        assert (ran.status, len(service.decisions)) == (0, 1)

    def test_a_decided_one_is_not_asked_about(self, cli: Type) -> None:
        """The card is shown, and that there is nothing to decide."""
        service = Service(status="expired")
        ran = cli("approvals", "approve", "apr_1", answer=service, typed="y\n", terminal=True)
        assert (ran.status, service.decisions) == (1, [])
        assert "it is expired" in ran.said

    def test_whoever_may_only_look_is_told(self, cli: Type) -> None:
        """Without a digest there is nothing to bind a decision to."""
        service = Service(digest=None)
        ran = cli("approvals", "approve", "apr_1", answer=service, typed="y\n", terminal=True)
        assert (ran.status, service.decisions) == (1, [])

    def test_what_could_mislead_is_said_again_at_the_question(self, cli: Type) -> None:
        """A long card scrolls its flags away: they stand right above the question too."""
        context = {"lines": [{"n": {"k": n}} for n in range(60)]}
        service = Service(
            reasons=["a\u200bb"], input={"path": "\u0455\u0441\u043e\u0440\u0435"}, context=context
        )
        ran = cli("approvals", "approve", "apr_1", "--full", answer=service, typed="n\n", terminal=True)
        flags = [
            "! Look twice at the reasons: invisible characters (1).",
            "! Look twice at the input: words with look-alike letters (1), first at /path.",
        ]
        assert ran.out.splitlines()[-3:] == [*flags, "Approve exactly this? [y/N] "]
        assert [line for line in ran.out.splitlines() if line.startswith("!")] == [*flags, *flags]

    def test_nothing_is_said_again_where_nothing_could(self, cli: Type) -> None:
        """The question follows the card."""
        ran = cli("approvals", "approve", "apr_1", answer=Service(), typed="n\n", terminal=True)
        assert ran.out.splitlines()[-3:-1] == [f"Digest       {DIGEST}", ""]

    def test_a_card_that_can_not_be_shown_is_not_decided(self, cli: Type) -> None:
        """Whatever was typed ahead."""
        service = Service()
        screen = Full(terminal=True)
        ran = cli("approvals", "approve", "apr_1", answer=service, typed="y\n", terminal=True, out=screen)
        assert (ran.status, service.decisions) == (4, [])

    def test_a_decision_that_can_not_be_told_stands(self, cli: Type) -> None:
        """And that is told."""
        ran = cli("approvals", "approve", "apr_1", "--digest", DIGEST, answer=Service(), out=Full())
        assert (ran.status, ran.said.endswith("apr_1 is approved all the same.")) == (4, True)

    def test_with_json_the_card_stands_beside_the_result(self, cli: Type) -> None:
        """The document is all there is on standard output."""
        ran = cli("approvals", "approve", "apr_1", "--json", answer=Service(), typed="y\n", terminal=True)
        assert ran.json()["status"] == "approved"
        assert "orders.refund" in ran.said


class TestReject:
    """``reject`` is as careful."""

    def test_it_shows_the_card_and_sends_its_digest(self, cli: Type) -> None:
        """With the comment for the agent."""
        service = Service()
        argv = ["approvals", "reject", "apr_1", "--comment", "too much"]
        ran = cli(*argv, answer=service, typed="yes\n", terminal=True)
        assert ran.status == 0
        assert service.decisions == [{"decision": "reject", "digest": DIGEST, "comment": "too much"}]
        assert "Reject exactly this? [y/N] " in ran.out
        assert 'With the comment, which the agent can read: "too much"' in ran.out.splitlines()

    def test_a_comment_can_not_pass_for_a_line_of_ours(self, cli: Type) -> None:
        """It is quoted as any text from outside."""
        argv = ["approvals", "reject", "apr_1", "--comment", 'a"\u202e']
        ran = cli(*argv, answer=Service(), typed="n\n", terminal=True)
        assert "\u202e" not in ran.out
        assert "⟨U+202E⟩" in ran.out


class TestComment:
    """Where the rule wants one, which only the service knows."""

    def test_whoever_is_there_is_asked_for_it(self, cli: Type) -> None:
        """It is sent with the same digest."""
        service = Service(wants_comment=True)
        typed = "y\n  looked at it \n"
        ran = cli("approvals", "approve", "apr_1", answer=service, typed=typed, terminal=True)
        assert ran.status == 0
        assert service.decisions == [
            {"decision": "approve", "digest": DIGEST},
            {"decision": "approve", "digest": DIGEST, "comment": "looked at it"},
        ]
        assert "This decision needs a comment, which the agent can read: " in ran.out

    @pytest.mark.parametrize(
        ("typed", "said"),
        [("y\n\n", "a comment has to say something"), ("y\n", "The input ended before there was an answer")],
    )
    def test_without_one_nothing_is_decided(self, cli: Type, typed: str, said: str) -> None:
        """And that is said."""
        service = Service(wants_comment=True)
        ran = cli("approvals", "reject", "apr_1", answer=service, typed=typed, terminal=True)
        assert (ran.status, len(service.decisions)) == (1, 1)
        assert said in ran.said
        assert service.record["status"] == "pending"

    def test_elsewhere_it_is_an_option(self, cli: Type) -> None:
        """With a digest nobody is asked, at a terminal either."""
        argv = ["approvals", "approve", "apr_1", "--digest", DIGEST]
        ran = cli(*argv, answer=Service(wants_comment=True), typed="x\n", terminal=True)
        assert (ran.status, "give one with --comment" in ran.said) == (1, True)

    def test_other_refusals_are_told(self, cli: Type) -> None:
        """A card that changed under the eyes of whoever looked at it."""
        service = Service()

        def answer(request: Any) -> Any:
            if request.method == "POST":
                service.record["digest"] = "cd" * 32
            return service(request)

        ran = cli("approvals", "approve", "apr_1", answer=answer, typed="y\n", terminal=True)
        assert (ran.status, "APPROVAL_INPUT_MISMATCH" in ran.said) == (1, True)
