"""Looking at approvals and deciding them, from a terminal."""

import json
import re
from typing import Any

import httpx
import pytest

from placet.domain.errors import ApprovalInputMismatch
from tests.unit.cli.conftest import TOKEN, Full, Screen, Type

DIGEST = "ab" * 32
GRANT = "eyJhbGciOiJFZERTQSJ9.e30.c2ln"
DATE = "Fri, 15 Jan 2027 08:00:00 GMT"

RECORD: dict[str, Any] = {
    "id": "apr_1",
    "status": "pending",
    "capability": "orders.refund",
    "actor": {"id": "bot", "kind": "agent"},
    "effect": "external",
    "risk": "high",
    "context": {},
    "input": {"amount": 5},
    "digest": DIGEST,
    "requested_at": "2027-01-15T07:59:00.000Z",
    "expires_at": "2027-01-15T08:14:32.000Z",
    "asked_by": "shop",
    "quorum": {"required": 1, "approved": 0},
}


class Service:
    """Answers with one record, and remembers what it was told."""

    def __init__(self, **changes: Any) -> None:
        self.record = {**RECORD, **changes}
        self.said: list[tuple[str, str, Any]] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        """One call."""
        body: Any = json.loads(request.content) if request.content else None
        self.said.append((request.method, request.url.raw_path.decode(), body))
        headers = {"date": DATE}
        match request.url.path.rpartition("/")[2]:
            case "events":
                line = {"seq": 1, "at": RECORD["requested_at"], "type": "requested", "by": "shop"}
                return httpx.Response(200, json={"items": [line]}, headers=headers)
            case "decision":
                if body["digest"] != self.record["digest"]:
                    headers["content-type"] = "application/problem+json"
                    return httpx.Response(409, json=ApprovalInputMismatch().problem(), headers=headers)
                self.record["status"] = {"approve": "approved", "reject": "rejected"}[body["decision"]]
                self.record["use_by"] = RECORD["expires_at"]
                self.record["quorum"] = {"required": 1, "approved": 1}
            case "cancel":
                self.record["status"] = "cancelled"
        return httpx.Response(200, json=self.record, headers=headers)

    @property
    def decisions(self) -> list[Any]:
        """The bodies of the decisions that were sent."""
        return [body for _, path, body in self.said if path.endswith("/decision")]


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


class TestCancel:
    """``cancel`` withdraws."""

    def test_it_withdraws_at_once(self, cli: Type) -> None:
        """Nothing can run by it, so nobody is asked."""
        service = Service()
        ran = cli("approvals", "cancel", "apr_1", answer=service)
        assert service.said == [("POST", "/v1/approvals/apr_1/cancel", {})]
        assert (ran.status, ran.out) == (0, "✓ apr_1 is cancelled.\n")

    def test_a_cancellation_that_can_not_be_told_stands(self, cli: Type) -> None:
        """And that is told."""
        ran = cli("approvals", "cancel", "apr_1", answer=Service(), out=Full())
        assert (ran.status, ran.said.endswith("apr_1 is cancelled all the same.")) == (4, True)


class TestShow:
    """``show`` prints the card."""

    def test_it_prints_what_an_approver_sees(self, cli: Type) -> None:
        """With the trail where that is asked for."""
        ran = cli("approvals", "show", "apr_1", "--events", answer=Service())
        assert ran.status == 0
        assert ran.out.splitlines()[0].split()[:2] == ["PENDING", "orders.refund"]
        assert ran.out.endswith("Trail  (UTC)\n  2027-01-15 07:59:00  requested  by shop\n")

    def test_of_a_cancelled_one_it_says_who_and_when(self, cli: Type) -> None:
        """Which is in the trail alone; that stays away unless it is asked for."""
        end = {"seq": 2, "at": "2027-01-15T07:59:30.000Z", "type": "cancelled", "by": "client:shop\u202e"}

        def answer(request: httpx.Request) -> httpx.Response:
            if request.url.path.endswith("/events"):
                return httpx.Response(200, json={"items": [{**end, "type": "requested"}, end]})
            return Service(status="cancelled")(request)

        ran = cli("approvals", "show", "apr_1", answer=answer)
        assert ran.out.endswith("Cancelled    by client:shop⟨U+202E⟩ on 2027-01-15 07:59:30 UTC\n")
        assert "events" not in cli("approvals", "show", "apr_1", "--json", answer=answer).json()

    def test_a_token_is_never_shown(self, cli: Type) -> None:
        """Neither the grant's nor the credential, in no form (design §4)."""
        service = Service(status="approved", token=GRANT)
        for argv in (["approvals", "show", "apr_1"], ["approvals", "show", "apr_1", "--json", "--events"]):
            ran = cli(*argv, answer=service)
            assert ran.status == 0
            assert GRANT not in ran.out + ran.err
            assert TOKEN not in ran.out + ran.err

    def test_off_a_terminal_an_input_is_not_cut(self, cli: Type) -> None:
        """A file has room for it; a terminal gets it with --full."""
        service = Service(input={"lines": [{"n": {"k": n}} for n in range(60)]})
        assert '"k": 59' in cli("approvals", "show", "apr_1", answer=service).out
        assert "cut here" in cli("approvals", "show", "apr_1", answer=service, terminal=True).out

    def test_json_has_the_record_and_its_events(self, cli: Type) -> None:
        """The record as it came, and the trail beside it."""
        shown = cli("approvals", "show", "apr_1", "--json", "--events", answer=Service()).json()
        assert shown["input"] == {"amount": 5}
        assert [line["type"] for line in shown["events"]] == ["requested"]


class Pages:
    """A list of three in pages of what was asked for, and an empty page between them."""

    def __init__(self) -> None:
        self.queries: list[dict[str, str]] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        """One page."""
        query = dict(request.url.params)
        self.queries.append(query)
        place = int(query.get("cursor", "0"))
        items = [] if place == 1 else [{**RECORD, "id": f"apr_{place}\u202e"}]
        page = {"items": items, "next_cursor": None if place == 3 else str(place + 1)}
        return httpx.Response(200, json=page, headers={"date": DATE})


class TestList:
    """``list`` prints a table."""

    def test_it_goes_on_until_the_end(self, cli: Type) -> None:
        """A short page is not the last one."""
        pages = Pages()
        ran = cli("approvals", "list", answer=pages)
        assert [query["limit"] for query in pages.queries] == ["50", "49", "49", "48"]
        head, *rows = ran.out.splitlines()
        assert " ".join(head.split()) == "ID STATUS AGE LEFT RISK EFFECT CAPABILITY ACTOR CLIENT"
        assert rows[0].split("  ")[:2] == ["apr_0⟨U+202E⟩", "pending"]
        assert "1m " in rows[0]
        assert "14m 32s" in rows[0]
        assert len(rows) == 3

    def test_it_stops_when_there_are_enough(self, cli: Type) -> None:
        """And says how to go on."""
        pages = Pages()
        ran = cli("approvals", "list", "--limit", "2", answer=pages)
        assert len(ran.out.splitlines()) == 3
        assert ran.err == "There are more: --cursor 3\n"

    def test_a_list_that_is_piped_on_is_whole(self, cli: Type) -> None:
        """However long its lines get."""
        long = {**RECORD, "capability": "c" * 200, "actor": {"id": "a" * 256, "kind": "agent"}}
        page = {"items": [long], "next_cursor": None}
        row = cli("approvals", "list", answer=lambda _: httpx.Response(200, json=page)).out.splitlines()[1]
        assert row.split()[-3:] == ["c" * 200, "a" * 256, "shop"]

    def test_a_list_on_a_terminal_loses_nothing(self, cli: Type, monkeypatch: pytest.MonkeyPatch) -> None:
        """It keeps to the width; nothing foreign begins a line."""
        monkeypatch.setenv("COLUMNS", "80")
        names = {"id": "apr_" + "i" * 20, "capability": "c" * 60, "asked_by": "s" * 40}
        page = {
            "items": [{**RECORD, **names, "actor": {"id": "a" * 50, "kind": "agent"}}],
            "next_cursor": None,
        }
        told = httpx.Response(200, json=page, headers={"date": DATE})
        _, _, row, *below = cli("approvals", "list", answer=lambda _: told, terminal=True).out.splitlines()
        assert row.split() == [names["id"], "pending", "1m", "14m", "32s", "high", "external"]
        assert max(map(len, [row, *below])) <= 80
        assert all(line.startswith("    ") for line in below)
        assert ["".join(below).count(char) for char in "cas"] == [60, 50, 40]

    def test_a_narrow_terminal_gets_whole_lines_too(self, cli: Type, monkeypatch: pytest.MonkeyPatch) -> None:
        """Nothing wraps by itself, however narrow."""
        monkeypatch.setenv("COLUMNS", "40")
        record = {**RECORD, "id": "apr_" + "i" * 20, "risk": "critical", "effect": "destructive"}
        told = httpx.Response(200, json={"items": [record], "next_cursor": None}, headers={"date": DATE})
        ran = cli("approvals", "list", answer=lambda _: told, terminal=True, environ={"NO_COLOR": ""})
        plain = re.sub(r"\x1b\[[0-9;]*m", "", ran.out).splitlines()
        assert max(map(len, plain)) <= 40
        assert "\x1b[31mcritical\x1b[0m" in ran.out
        assert "\x1b[31mdestructive\x1b[0m" in ran.out
        assert "\x1b[33;1mpending" in ran.out

    def test_filters_are_the_services(self, cli: Type) -> None:
        """They are sent, not applied here."""
        pages = Pages()
        filters = ["--status", "pending", "--capability", "orders.refund", "--actor", "bot", "--run", "r1"]
        cli("approvals", "list", *filters, "--limit", "1", answer=pages)
        assert pages.queries[0] == {
            "status": "pending",
            "capability": "orders.refund",
            "actor_id": "bot",
            "run": "r1",
            "limit": "1",
        }

    def test_json_is_a_page(self, cli: Type) -> None:
        """Items and the cursor to go on with."""
        page = cli("approvals", "list", "--limit", "1", "--json", answer=Pages()).json()
        assert (len(page["items"]), page["next_cursor"]) == (1, "1")

    def test_nothing_is_said_to_be_nothing(self, cli: Type) -> None:
        """An empty table would be a riddle."""
        nothing = httpx.Response(200, json={"items": [], "next_cursor": None})
        assert cli("approvals", "list", answer=lambda _: nothing).out == "No approvals.\n"
