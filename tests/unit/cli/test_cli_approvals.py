"""Looking at approvals and withdrawing them, from a terminal."""

import re
from collections.abc import Callable

import httpx
import pytest

from tests.unit.cli.answering import DATE, GRANT, RECORD, Service
from tests.unit.cli.conftest import TOKEN, Full, Type


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


class TestOutcome:
    """``outcome`` records what somebody has found out."""

    @pytest.mark.parametrize("more", [{}, {"summary": "The order is paid."}])
    def test_of_the_execution_that_used_it(self, cli: Type, more: dict[str, str]) -> None:
        """Nobody has to look its id up."""
        spent = {"execution_id": "exec-1", "client": "shop", "at": "2027-01-15T07:59:30.000Z"}
        service = Service(status="consumed", consumption=spent)
        argv = [part for name, value in more.items() for part in (f"--{name}", value)]
        ran = cli("approvals", "outcome", "apr_1", "succeeded", *argv, answer=service)
        told = {"execution_id": "exec-1", "status": "succeeded", **more}
        assert service.said[-1] == ("POST", "/v1/approvals/apr_1/outcome", told)
        assert (ran.status, ran.out) == (0, "✓ The outcome of apr_1 is recorded: succeeded.\n")

    def test_of_what_was_not_used_there_is_none(self, cli: Type) -> None:
        """And nothing is sent."""
        service = Service(status="approved")
        ran = cli("approvals", "outcome", "apr_1", "failed", answer=service)
        assert (ran.status, len(service.said)) == (1, 1)
        assert "apr_1 was not used, so there is no outcome to record." in ran.said


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
        assert " ".join(head.split()) == "ID STATUS AGE LEFT RISK EFFECT CAPABILITY ACTOR CLIENT INPUT"
        assert rows[0].split("  ")[-1] == "amount: 5"
        assert rows[0].split("  ")[:2] == ["apr_0⟨U+202E⟩", "pending"]
        assert "1m " in rows[0]
        assert "14m 32s" in rows[0]
        assert len(rows) == 3

    def test_how_inputs_begin_is_told_to_whoever_sees_them(self, cli: Type) -> None:
        """Made visible; a column of nothing is no column."""

        def answer(*inputs: object) -> Callable[[httpx.Request], httpx.Response]:
            items = [{**RECORD, "input": each, "input_hash": None} for each in inputs]
            page = {"items": items, "next_cursor": None}
            return lambda _: httpx.Response(200, json=page, headers={"date": DATE})

        ran = cli("approvals", "list", answer=answer({"n": 1, "to": "a\u0338b"}, None))
        told, untold = ran.out.splitlines()[1:]
        assert told.endswith('  n: 1, to: "a⟨U+0338⟩b"')
        assert untold.endswith("shop")
        ran = cli("approvals", "list", answer=answer(None, None))
        assert ran.out.splitlines()[0].endswith("CLIENT")

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
        assert row.split()[-5:] == ["c" * 200, "a" * 256, "shop", "amount:", "5"]

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
        assert ["".join(below).replace("amount: 5", "").count(char) for char in "cas"] == [60, 50, 40]

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
