"""Approving with changes, from a terminal and elsewhere."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.answering import DIGEST, Service
from tests.unit.cli.conftest import Type

EDITABLE: dict[str, Any] = {"allowed_decisions": ["approve", "edit", "reject"]}


@pytest.fixture
def less(tmp_path: Path) -> str:
    """A file with a smaller amount."""
    path = tmp_path / "less.json"
    path.write_text('{"amount": 4.50, "note": "l\u0435ss"}', encoding="utf-8")
    return str(path)


class TestEdit:
    """``edit`` approves what was changed, and shows what that is."""

    def test_it_shows_the_changes_and_sends_them(self, cli: Type, less: str) -> None:
        """On the card as it was; what could mislead in the new input stands right above the question."""
        service = Service(**EDITABLE)
        argv = ["approvals", "edit", "apr_1", "--input", less, "--comment", "half"]
        ran = cli(*argv, answer=service, typed="y\n", terminal=True)
        assert ran.status == 0
        assert service.decisions == [
            {
                "decision": "edit",
                "digest": DIGEST,
                "comment": "half",
                "input": {"amount": 4.5, "note": "l\u0435ss"},
            }
        ]
        assert '    "amount": 5' in ran.out
        below = ran.out.splitlines()
        below = below[below.index("Your changes") :]
        assert below[:9] == [
            "Your changes",
            "  changed /amount",
            "  -   5",
            "  +   4.50",
            "  added /note",
            '  +   "l⟨U+0435⟩ss"',
            "",
            "! Look twice at the new input: words with look-alike letters (1), first at /note.",
            'With the comment, which the agent can read: "half"',
        ]
        assert below[9].startswith("Approve it changed like this? [y/N] ")
        assert ran.out.endswith("is approved, with your changes (1 of 1 approvals; usable for 14m 32s).\n")

    def test_numbers_are_sent_as_they_are_written(self, cli: Type, less: str) -> None:
        """The very bytes of the file: what was shown is what is decided."""
        sent: list[bytes] = []
        service = Service(**EDITABLE)

        def answer(request: Any) -> Any:
            sent.append(request.content)
            return service(request)

        cli("approvals", "edit", "apr_1", "--input", less, "--digest", DIGEST, answer=answer)
        assert b'"input":{"amount": 4.50, "note"' in sent[0]

    @pytest.mark.parametrize(
        ("changes", "said"),
        [
            ({"status": "expired"}, "There is nothing to decide: it is expired."),
            ({"digest": None}, "This credential may look, but not decide."),
            ({"allowed_decisions": ["approve", "reject"]}, "it was asked without `edit`"),
            ({"input": None}, "Nobody can change an input that is hidden"),
            ({"input_redacted": True}, "Nobody can change an input that is hidden"),
            ({"presentation": {"redact": ["/x"]}}, "Nobody can change an input that is hidden"),
            ({"input": {"lines": [{"n": {"k": n}} for n in range(60)]}}, "Look at the whole of it first"),
        ],
    )
    def test_what_can_not_be_changed_is_not_asked_about(
        self, cli: Type, less: str, changes: dict[str, Any], said: str
    ) -> None:
        """It is said why, in words."""
        service = Service(**{**EDITABLE, **changes})
        ran = cli("approvals", "edit", "apr_1", "--input", less, answer=service, typed="y\n", terminal=True)
        assert (ran.status, service.decisions, said in ran.said) == (1, [], True)

    def test_an_input_that_changes_nothing_is_told(self, cli: Type, tmp_path: Path) -> None:
        """There is a command for that."""
        (tmp_path / "same.json").write_text('{ "amount": 5 }')
        service = Service(**EDITABLE)
        argv = ["approvals", "edit", "apr_1", "--input", str(tmp_path / "same.json")]
        ran = cli(*argv, answer=service, typed="y\n", terminal=True)
        assert (ran.status, service.decisions) == (1, [])
        assert "Approve it as it is, with `approve`." in ran.said

    def test_changes_that_were_cut_are_not_asked_about(self, cli: Type, tmp_path: Path) -> None:
        """--full shows them, and then they are."""
        path = tmp_path / "more.json"
        path.write_text(json.dumps({"amount": 5, "lines": [{"n": {"k": n}} for n in range(60)]}))
        service = Service(**EDITABLE)
        argv = ["approvals", "edit", "apr_1", "--input", str(path)]
        ran = cli(*argv, answer=service, typed="y\n", terminal=True)
        assert (ran.status, service.decisions) == (1, [])
        assert "Not all of the changes were shown." in ran.said
        assert cli(*argv, "--full", answer=service, typed="y\n", terminal=True).status == 0

    def test_more_places_than_there_is_room_for_are_counted(self, cli: Type, tmp_path: Path) -> None:
        """Below those that are shown; a place may be all there is."""
        path, service = tmp_path / "more.json", Service(**EDITABLE)
        argv = ["approvals", "edit", "apr_1", "--input", str(path)]
        path.write_text(json.dumps({f"n{n}": n for n in range(90)}))
        assert "more⟩" in cli(*argv, answer=service, terminal=True).out
        path.write_text("7")
        assert "  changed (the whole input)" in cli(*argv, answer=service, terminal=True).out

    def test_off_a_terminal_the_digest_is_needed(self, cli: Type, less: str) -> None:
        """Which the service then judges; an input may come through a pipe."""
        service = Service(**EDITABLE)
        ran = cli("approvals", "edit", "apr_1", "--input", less, answer=service)
        assert (ran.status, service.said, "--digest" in ran.said) == (2, [], True)
        ran = cli("approvals", "edit", "apr_1", "--input", "-", answer=service, typed="{}", terminal=True)
        assert (ran.status, service.said, "nobody can be asked there" in ran.said) == (2, [], True)
        argv = ["--input", "-", "--digest", DIGEST, "--as", "ann"]
        ran = cli("approvals", "edit", "apr_1", *argv, answer=service, typed='{"amount": 1}')
        assert ran.status == 0
        body = {"decision": "edit", "digest": DIGEST, "input": {"amount": 1}, "approver": {"id": "ann"}}
        assert service.decisions == [body]

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("{", "it is not JSON in UTF-8."),
            ('{"a": 1, "a": 2}', "a name is there twice (at /a)."),
            ('{"a": "\\ud800"}', "half a character"),
            ('{"a": 9007199254740993}', "beyond 2^53 - 1 (at /a)."),
            ('{"a": 1e999}', "a number is too large (at /a)."),
            ("[" * 300 + "]" * 300, "it is nested too deep"),
        ],
    )
    def test_an_input_that_can_not_be_used_is_not_sent(self, cli: Type, text: str, said: str) -> None:
        """What is wrong is said, and where."""
        service = Service(**EDITABLE)
        argv = ["approvals", "edit", "apr_1", "--digest", DIGEST, "--input", "-"]
        ran = cli(*argv, answer=service, typed=text)
        assert (ran.status, service.said, said in ran.said) == (2, [], True)

    def test_a_file_that_is_not_there_is_told(self, cli: Type) -> None:
        """Before anything is fetched."""
        ran = cli("approvals", "edit", "apr_1", "--input", "/none.json", answer=Service())
        assert (ran.status, "/none.json can't be read (No such file" in ran.said) == (2, True)
