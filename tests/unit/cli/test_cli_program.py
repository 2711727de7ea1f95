"""How commands end."""

import errno
import io
import sys
from collections.abc import Callable
from typing import Any

import pytest

import placet.cli
from placet.cli import parser, program
from placet.cli.exits import Exit, Stop
from placet.domain.error_terms import Issue
from placet.domain.errors import InputInvalid, StoreUnavailable, Unauthenticated
from placet.settings import SettingsError
from placet.tokens.keyring import KeyringError
from placet.tokens.keyring_file import KeyringMissingError
from tests.unit.cli.conftest import Full, Screen, Type

Raise = Callable[[BaseException], None]


@pytest.fixture
def raising(monkeypatch: pytest.MonkeyPatch) -> Raise:
    """Has every command end in a fault."""

    def in_every_command(fault: BaseException) -> None:
        def command(*_: Any) -> int:
            raise fault

        monkeypatch.setattr(program, "_load", lambda _: command)

    return in_every_command


FAULTS: list[tuple[BaseException, int, str]] = [
    (Stop("It was refused."), 1, "It was refused."),
    (KeyringError("the keyring is odd"), 1, "The keyring is odd."),
    (KeyringMissingError("there is no keyring at /k"), 1, "There is no keyring at /k: `placet keys create`"),
    (SettingsError(("PLACET_PORT must be a number",)), 2, "- PLACET_PORT must be a number"),
    (InputInvalid([Issue(path="/a", message="It is odd.")]), 1, "- /a: It is odd."),
    (Unauthenticated(), 1, "PLACET_TOKEN holds"),
    (StoreUnavailable(), 3, "STORE_UNAVAILABLE: "),
    (ModuleNotFoundError(name="redis.asyncio"), 1, "pip install '.[server]'"),
    (KeyboardInterrupt(), 130, "Interrupted."),
]


class TestFaults:
    """Foreseeable ends: a sentence and a status, never a traceback."""

    @pytest.mark.parametrize(
        ("fault", "status", "said"), FAULTS, ids=[type(row[0]).__name__ for row in FAULTS]
    )
    def test_each_has_its_status_and_says_what_to_do(
        self, cli: Type, raising: Raise, fault: BaseException, status: int, said: str
    ) -> None:
        """Words go to standard error, nothing to standard output."""
        raising(fault)
        ran = cli("version")
        assert ran.status == status
        assert said in ran.said
        assert ran.out == ""

    def test_json_has_them_too(self, cli: Type, raising: Raise) -> None:
        """Who reads JSON gets a code, the sentence and its notes."""
        raising(SettingsError(("PLACET_PORT must be a number",)))
        error = cli("version", "--json").json()["error"]
        assert error["code"] == "USAGE"
        assert error["notes"] == ["PLACET_PORT must be a number"]

    def test_refusals_are_their_problem_document_in_json(self, cli: Type, raising: Raise) -> None:
        """The same as HTTP has it."""
        raising(StoreUnavailable())
        assert cli("version", "--json").json()["error"]["code"] == "STORE_UNAVAILABLE"

    def test_a_missing_module_of_our_own_is_no_such_end(self, cli: Type, raising: Raise) -> None:
        """A broken installation must not be told to install what is there."""
        raising(ModuleNotFoundError(name="placet.nonsense"))
        with pytest.raises(ModuleNotFoundError):
            cli("version")


class TestEntry:
    """The way in."""

    def test_without_a_command_it_says_what_there_is(self, cli: Type) -> None:
        """On standard error, and as a fault of usage."""
        ran = cli()
        assert ran.status == 2
        assert "serve" in ran.said
        assert "exit status:" in ran.said

    @pytest.mark.parametrize("argv", [["version"], ["--version"]])
    def test_the_version_can_be_asked_both_ways(self, cli: Type, argv: list[str]) -> None:
        """One line."""
        ran = cli(*argv)
        assert (ran.status, ran.out.startswith("placet ")) == (0, True)

    def test_the_version_is_there_in_json(self, cli: Type) -> None:
        """With the Python it runs on."""
        python = ".".join(map(str, sys.version_info[:3]))
        assert cli("version", "--json").json()["python"].startswith(python)

    def test_bytes_that_are_no_text_are_a_fault_of_usage(self, cli: Type) -> None:
        """They come as lone surrogates, which nothing could send on."""
        ran = cli("approvals", "show", "\udcff")
        assert (ran.status, ran.said) == (2, "✗ An argument is not valid UTF-8: type it anew.")

    def test_main_runs_the_process_s_own_command_line(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Characters that the locale lacks don't end it."""
        out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
        monkeypatch.setattr(sys, "argv", ["placet", "approvals", "list"])
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", out)
        monkeypatch.delenv("PLACET_TOKEN", raising=False)
        assert placet.cli.main() == 2
        out.seek(0)
        assert "PLACET_TOKEN is not set" in out.read()


def test_a_reader_that_has_gone_ends_it_quietly(tmp_path: Any) -> None:
    """Status 141 as a shell has it, and no complaint when the interpreter flushes at its end."""

    class Gone(Screen):
        def write(self, _: str) -> int:
            raise BrokenPipeError

        def fileno(self) -> int:
            return int(file.fileno())

    with (tmp_path / "out").open("w") as file:
        err = Screen(terminal=False)
        status = program.run(["version"], Screen(terminal=False), Gone(terminal=False), err, environ={})
        assert status == 141
        assert err.getvalue() == ""


class TestUnwritten:
    """Output that can't be written: a status of its own and one line, never a traceback."""

    def test_a_full_disk_is_told(self, cli: Type) -> None:
        """In the system's words, on standard error."""
        ran = cli("version", out=Full())
        assert ran.status == 4
        assert ran.err == "✗ The output could not be written (No space left on device).\n"

    @pytest.mark.parametrize(("number", "status"), [(errno.ENOSPC, 4), (errno.EPIPE, 141)])
    def test_a_fault_that_can_not_be_told_anywhere_is_a_status(
        self, cli: Type, number: int, status: int
    ) -> None:
        """With standard error gone as well there is nothing left but that."""
        assert cli("version", out=Full(number), err=Full(number)).status == status

    def test_a_fault_whose_json_is_lost_has_been_told_in_words(self, cli: Type) -> None:
        """The status then says that the JSON is missing."""
        ran = cli("approvals", "list", "--json", environ={"PLACET_TOKEN": ""}, out=Full())
        assert ran.status == 4
        assert "PLACET_TOKEN is not set" in ran.said

    def test_interrupted_without_anybody_to_tell(self, cli: Type, raising: Raise) -> None:
        """No traceback on the way out either."""
        raising(KeyboardInterrupt())
        assert cli("version", err=Full()).status == 4

    def test_help_is_output_too(self, cli: Type, monkeypatch: pytest.MonkeyPatch) -> None:
        """Left to argparse, nothing would be said, and that called a success."""
        monkeypatch.setattr(sys, "stdout", Full())
        ran = cli("clients", "--help")
        assert (ran.status, "could not be written" in ran.said) == (4, True)

    def test_the_exit_statuses_are_those_that_help_lists(self) -> None:
        """All of them, and no other."""
        listed = parser.help_text().partition("exit status:\n")[2].splitlines()
        assert [int(line.split()[0]) for line in listed] == [*Exit]


class TestStreams:
    """What the process was started with."""

    def test_a_closed_output_is_one_that_can_not_be_written(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Python has None in its place; the other two are used as they are."""
        err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        monkeypatch.setattr(sys, "stdout", None)
        monkeypatch.setattr(sys, "stderr", err)
        assert placet.cli.main(["version"]) == 4
        err.seek(0)
        assert err.read() == "✗ The output could not be written (Bad file descriptor).\n"

    def test_a_closed_input_has_nobody_at_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """What would ask says how to do without."""
        err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        monkeypatch.setattr(sys, "stdin", None)
        monkeypatch.setattr(sys, "stderr", err)
        monkeypatch.setenv("PLACET_TOKEN", "plc_x")
        assert placet.cli.main(["approvals", "approve", "apr_1"]) == 2
        err.seek(0)
        assert "--digest" in err.read()
