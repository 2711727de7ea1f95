"""What a command says, and to whom."""

import threading
from collections.abc import Mapping

import pytest

from placet.cli import console as console_module
from placet.cli.console import Console, Ink, Terminal
from tests.unit.cli.conftest import Screen

RED = "\x1b[31mx\x1b[0m"


def terminal(environ: Mapping[str, str], *, is_one: bool = True) -> Terminal:
    """A terminal, or what is none, in an environment."""
    return Terminal(Screen(terminal=is_one), environ)


def console(*, json: bool = False, is_terminal: bool = False) -> tuple[Console, Screen, Screen]:
    """A console and its two streams."""
    out, err = Screen(terminal=is_terminal), Screen(terminal=is_terminal)
    return Console(out, err, {"NO_COLOR": "1"}, json=json), out, err


class TestColours:
    """When there are colours."""

    def test_a_terminal_has_them(self) -> None:
        """The SGR sequence around the text, and its end."""
        assert terminal({}).paint("x", Ink.RED) == RED

    @pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"NO_COLOR": "0"}, {"TERM": "dumb"}])
    def test_whoever_wants_none_gets_none(self, environ: dict[str, str]) -> None:
        """NO_COLOR counts whatever its value; a dumb terminal has none."""
        assert terminal(environ).paint("x", Ink.RED) == "x"

    def test_an_empty_no_color_says_nothing(self) -> None:
        """https://no-color.org: present and not an empty string."""
        assert terminal({"NO_COLOR": ""}).paint("x", Ink.RED) == RED

    def test_a_file_has_none(self) -> None:
        """What is piped on stays plain."""
        assert terminal({}, is_one=False).paint("x", Ink.RED) == "x"


class TestResults:
    """Results go to standard output."""

    def test_json_is_ascii_on_one_line(self) -> None:
        """Nothing in a document can steer a terminal or end a line."""
        spoken, out, _ = console(json=True)
        spoken.result({"name": "a\u202e\x9b\n"}, "for people")
        assert out.getvalue() == '{"name": "a\\u202e\\u009b\\n"}\n'

    def test_a_person_gets_json_indented(self) -> None:
        """At a terminal it is read by eye."""
        spoken, out, _ = console(json=True, is_terminal=True)
        spoken.document({"a": 1})
        assert out.getvalue() == '{\n  "a": 1\n}\n'

    def test_people_get_lines(self) -> None:
        """Without --json there is no JSON."""
        spoken, out, err = console()
        spoken.result({"a": 1}, "one", "two")
        assert (out.getvalue(), err.getvalue()) == ("one\ntwo\n", "")

    def test_texts_for_people_stand_beside_json(self) -> None:
        """With --json a card goes to standard error."""
        spoken, out, err = console(json=True)
        spoken.people.line("card")
        assert (out.getvalue(), err.getvalue()) == ("", "card\n")


class Ascii(Screen):
    """A stream in a locale that has ASCII only."""

    encoding = "ascii"


class TestMarks:
    """What lines begin with."""

    def test_a_stream_without_them_gets_plain_ones(self) -> None:
        """No escapes in their place; whatever else is not ASCII is the stream's to spell."""
        stream = Ascii(terminal=False)
        shown = Terminal(stream, {})
        shown.line(f"{shown.mark(Ink.GREEN)} {shown.mark(Ink.YELLOW)} {shown.mark(Ink.RED)} wait … │ é")
        assert stream.getvalue() == "+ ! x wait ... | é\n"

    def test_others_get_them_as_they_are(self) -> None:
        """In UTF-8, and where no encoding is known."""
        stream = Screen(terminal=False)
        Terminal(stream, {}).line("✓ …")
        assert stream.getvalue() == "✓ …\n"


class TestFaults:
    """Faults go to standard error."""

    def test_they_are_marked_and_wrapped(self) -> None:
        """The mark stands before the first line only; notes are listed."""
        spoken, out, err = console(is_terminal=True)
        spoken.fail("word " * 25 + "end", "a note")
        first, second, note = err.getvalue().splitlines()
        assert first.startswith("✗ word")
        assert second.startswith("  word")
        assert note == "  - a note"
        assert out.getvalue() == ""

    def test_off_a_terminal_each_stands_in_one_line(self) -> None:
        """A log takes lines; lines that were told apart stay apart."""
        spoken, _, err = console()
        spoken.fail("word " * 25 + "end\nmore", "note " * 30)
        assert err.getvalue().splitlines() == ["✗ " + "word " * 25 + "end", "  more", "  - " + "note " * 30]

    def test_warnings_are_marked_otherwise(self) -> None:
        """What should be looked at has not failed."""
        spoken, _, err = console()
        spoken.warn("careful")
        assert err.getvalue() == "! careful\n"


class TestWaiting:
    """Whoever waits is told what for."""

    def test_long_waits_are_explained(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Beyond the patience there is a note."""
        monkeypatch.setattr(console_module, "PATIENCE_S", 0.0)
        spoken, _, err = console()
        noted = threading.Event()
        write = err.write

        def noting(text: str) -> int:
            noted.set()
            return write(text)

        monkeypatch.setattr(err, "write", noting)
        with spoken.slowly("Opening the store …"):
            assert noted.wait(10)
            for thread in threading.enumerate():
                if isinstance(thread, threading.Timer):
                    thread.join(10)
        assert err.getvalue() == "Opening the store …\n"

    def test_short_waits_are_not(self) -> None:
        """Below it there is nothing, and nothing comes later."""
        spoken, _, err = console()
        before = threading.active_count()
        with spoken.slowly("Opening the store …"):
            pass
        for thread in threading.enumerate()[before:]:
            thread.join(10)
        assert err.getvalue() == ""
