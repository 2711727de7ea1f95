"""The grammar of the command line."""

import argparse
import importlib
from collections.abc import Iterator

import pytest

from placet.application.enroll import LIVE_KEYS_MAX
from placet.cli import parser
from placet.domain.principals import Scope


def leaves(branch: argparse.ArgumentParser | None = None) -> Iterator[argparse.ArgumentParser]:
    """Every command's own parser."""
    branch = branch or parser._parser()
    groups = [action for action in branch._actions if isinstance(action, argparse._SubParsersAction)]
    if not groups:
        yield branch
    for group in groups:
        for below in group.choices.values():
            yield from leaves(below)


LEAVES = {leaf.prog: leaf for leaf in leaves()}


class TestEveryCommand:
    """What holds for all of them."""

    @pytest.mark.parametrize("name", LEAVES)
    def test_it_leads_to_a_function(self, name: str) -> None:
        """The command that the grammar names is there."""
        module, _, function = LEAVES[name].get_default("command").partition(":")
        assert callable(getattr(importlib.import_module(f"placet.cli.{module}"), function))

    @pytest.mark.parametrize("name", LEAVES)
    def test_it_takes_json_and_shows_its_exit_statuses(self, name: str) -> None:
        """--json everywhere; the epilog says how a command ends."""
        text = LEAVES[name].format_help()
        assert "--json" in text
        assert "exit status: 0 done" in text

    @pytest.mark.parametrize("name", LEAVES)
    def test_no_option_takes_a_token_or_password(self, name: str) -> None:
        """Secrets come from the environment; the one URL that may hold one says so."""
        options = {option for action in LEAVES[name]._actions for option in action.option_strings}
        assert not options & {"--token", "--password", "--secret"}
        if "--redis-url" in options:
            assert "PLACET_REDIS_URL instead" in " ".join(LEAVES[name].format_help().split())

    @pytest.mark.parametrize("name", LEAVES)
    def test_its_words_fit_a_terminal(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """The usual 80 columns; only a list of choices can be longer, which argparse never parts."""
        monkeypatch.setenv("COLUMNS", "80")
        lines = [line for line in LEAVES[name].format_help().splitlines() if "{" not in line]
        assert max(map(len, lines)) <= 80

    def test_every_scope_is_explained(self) -> None:
        """In a word each."""
        words = " ".join(LEAVES["placet clients create"].format_help().split())
        assert [scope for scope in Scope if f" {scope} (" not in words] == []

    @pytest.mark.parametrize("who", ["clients", "approvers"])
    def test_rotate_says_how_many_can_be_live(self, who: str) -> None:
        """The number of the use case."""
        assert LIVE_KEYS_MAX == 2
        assert "Two can be live at a time" in LEAVES[f"placet {who} rotate"].format_help()

    def test_the_issue_names_these(self) -> None:
        """The commands of the README."""
        assert set(LEAVES) == {
            "placet serve",
            "placet demo",
            *(f"placet webhooks {verb}" for verb in ("create", "list", "rotate", "revoke", "test")),
            *("placet deliveries list", "placet deliveries retry"),
            "placet doctor",
            "placet openapi",
            "placet version",
            "placet signin",
            "placet signout",
            "placet stats",
            *(
                f"placet approvals {verb}"
                for verb in ("list", "show", "approve", "edit", "reject", "cancel", "outcome")
            ),
            *(f"placet {who} {verb}" for who in ("clients", "approvers") for verb in ("create", "list")),
            *(f"placet {who} {verb}" for who in ("clients", "approvers") for verb in ("rotate", "revoke")),
            *(f"placet keys {verb}" for verb in ("create", "list", "rotate", "revoke")),
            *(f"placet policy {verb}" for verb in ("check", "explain", "drop")),
            *(f"placet audit {verb}" for verb in ("show", "tail", "export")),
        }


class TestArguments:
    """How they are read."""

    def test_options_override_the_variables_of_their_name(self) -> None:
        """What is not said is None, and stays out of the way."""
        args = parser.parse(["serve", "--port", "0", "--metrics-bind", "127.0.0.1:0"])
        assert parser.overrides(args) == {
            "PLACET_HOST": None,
            "PLACET_PORT": "0",
            "PLACET_METRICS_BIND": "127.0.0.1:0",
            "PLACET_POLICY_FILE": None,
            "PLACET_DIRECTORY_FILE": None,
            "PLACET_DATA_DIR": None,
            "PLACET_REDIS_URL": None,
        }

    def test_a_client_is_described_in_lists(self) -> None:
        """Owners may be given one by one or together."""
        described = "--scopes request,consume --owner a b --owner c --capabilities orders.*,pay"
        args = parser.parse(["clients", "create", "shop", *described.split()])
        assert args.scopes == {Scope.REQUEST, Scope.CONSUME}
        assert args.owner == [("a",), ("b",), ("c",)]
        assert args.capabilities == ("orders.*", "pay")
        assert (args.tenant, args.max_risk) == ("default", None)

    @pytest.mark.parametrize(
        "argv",
        [
            ["nonsense"],
            ["approvals"],
            ["approvals", "show"],
            ["approvals", "list", "--limit", "0"],
            ["approvals", "list", "--limit", "٣"],
            ["approvals", "list", "--status", "open"],
            ["approvals", "approve", "apr_1", "--digest", "ab"],
            ["approvals", "approve", "apr_1", "--digest", "AB" * 32],
            ["clients", "create", "shop"],
            ["clients", "create", "shop", "--scopes", "root"],
            ["clients", "create", "shop", "--scopes", "request,"],
            ["clients", "create", "shop", "--scopes", "decide_as", "--max-risk", "extreme"],
            ["serve", "--por", "1"],
        ],
    )
    def test_what_is_wrong_is_status_2(self, argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        """With what is wrong and where to read on; abbreviations are wrong too."""
        with pytest.raises(SystemExit) as ended:
            parser.parse(argv)
        assert ended.value.code == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert "--help` says what it takes." in said.err

    @pytest.mark.parametrize(
        ("argv", "said"),
        [
            (["approvals", "list", "--status", "open"], "'open' (choose from 'pending', 'approved'"),
            (
                ["clients", "create", "x", "--scopes", "read", "--max-risk", "x"],
                "(choose from 'low', 'medium'",
            ),
        ],
    )
    def test_choices_are_shown_as_they_are_typed(
        self, argv: list[str], said: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Not as Python has them."""
        with pytest.raises(SystemExit):
            parser.parse(argv)
        assert said in capsys.readouterr().err

    def test_a_variable_s_option_is_known_by_its_name(self) -> None:
        """For every option that overrides one."""
        found = {
            (action.dest, option)
            for leaf in LEAVES.values()
            for action in leaf._actions
            for option in action.option_strings
            if action.dest.startswith("PLACET_")
        }
        assert found == {(name, parser.option(name)) for name, _ in found}

    def test_an_unknown_scope_is_answered_with_those_there_are(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """The sentence names them."""
        with pytest.raises(SystemExit):
            parser.parse(["clients", "create", "shop", "--scopes", "root"])
        assert "'root' is no scope; there are request, consume, read" in capsys.readouterr().err
