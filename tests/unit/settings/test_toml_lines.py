"""Lines of values: every one that tomllib finds, and where it stands."""

import random
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.domain.people import Path
from placet.settings.toml_lines import line_at, lines_of

DOCUMENT = '''\
# a comment with [brackets] and "quotes"
title = "x # no comment"
text = """
first = 1
[not.a.table]
ends with two quotes"""""

[owner]
name.first = 'it''s' # TOML has no doubled quotes, so this line is replaced below
dates = [
  1979-05-27 07:32:00, # a date with a blank
  # ] no end
  { day = 1, "month \\u00e9" = [ 2, 3 ] }
]
[[rules]]
name = "one"
[rules.when]
risk = ["high",
  "critical"]
[[rules]]
name = "two"
[[rules.stricter]]
quorum = 2
[[rules.stricter]]
quorum = 3
["quoted.key".'and another']
"" = 1
"a\\tb\\"c" = 2
'''.replace("'it''s'", "'its'")


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("title",), 2),
        (("text",), 3),
        (("owner",), 8),
        (("owner", "name", "first"), 9),
        (("owner", "dates"), 10),
        (("owner", "dates", 0), 11),
        (("owner", "dates", 1, "month é", 1), 13),
        (("rules",), 15),
        (("rules", 0, "name"), 16),
        (("rules", 0, "when", "risk", 0), 18),
        (("rules", 0, "when", "risk", 1), 19),
        (("rules", 1), 20),
        (("rules", 1, "stricter", 0), 22),
        (("rules", 1, "stricter", 1, "quorum"), 25),
        (("quoted.key", "and another", ""), 27),
        (("quoted.key", "and another", 'a\tb"c'), 28),
        (("rules", 1, "stricter", 1, "missing", 3), 24),
        (("missing",), 1),
    ],
)
def test_where_a_value_is(path: Path, line: int) -> None:
    """Its own line, that of the nearest which it is in, or the first."""
    tomllib.loads(DOCUMENT)
    assert line_at(lines_of(DOCUMENT), path) == line


def test_line_ends_of_windows_count_once() -> None:
    """CR LF is one line end, as for tomllib."""
    assert lines_of("a = 1\r\n\r\nb = 2\r\n") == {("a",): 1, ("b",): 3}


class Writer:
    """Writes a document of unlike words, and remembers in which line each of them stands."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.text = ""
        self.lines: dict[Path, int] = {}
        self.words = 0

    @property
    def line(self) -> int:
        """The line that is being written."""
        return self.text.count("\n") + 1

    def put(self, *choices: str) -> None:
        """Write one of these."""
        self.text += self.rng.choice(choices)

    def gap(self) -> None:
        """White space, comments and empty lines."""
        self.put("", " ", "\t", "\n", " # ]}[[x]] = \"'''\n", "\r\n")

    def key(self) -> tuple[str, str]:
        """A new key: as it is meant, and as it is written."""
        self.words += 1
        name = f"{self.rng.choice(['', 'a.b ', '#', 'é', '=', chr(92)])}k{self.words}"
        escaped = "".join(f"\\u{ord(char):04x}" if self.rng.random() < 0.3 else char for char in name)
        spellings = [f"'{name}'", '"' + escaped.replace("\\k", "\\\\k") + '"']
        if "\\" in name:
            spellings = [f"'{name}'"]
        bare = [name] if name == f"k{self.words}" else []
        return name, self.rng.choice([*spellings, *bare])

    def value(self, path: Path, depth: int) -> None:
        """A value of any kind."""
        kind = self.rng.randrange(8 if depth < 4 else 6)
        if kind == 6:
            self.put("[")
            for place in range(self.rng.randrange(4)):
                self.gap()
                self.lines[*path, place] = self.line
                self.value((*path, place), depth + 1)
                self.gap()
                self.put(",")
            self.gap()
            self.put("]")
        elif kind == 7:
            self.put("{")
            for place in range(self.rng.randrange(4)):
                self.put(", " if place else " ")
                self.member(path, depth + 1)
            self.put("}")
        else:
            self.put(
                *[
                    ("1", "0x1F", "1e3", "inf"),
                    ("true", "false"),
                    ("1979-05-27 07:32:00", "07:32:00", "1979-05-27"),
                    ('""', '"a#b]}"', '"\\"\\\\"', "''", "'\\'", "'#[['"),
                    ('"""\na = 1\n"" \\"" x"""', '""""""', '"""a"""""', '"""\\\n  b"""'),
                    ("'''\n[x]\n'''", "''''''", "'''a''b'''''", "'''\\'''"),
                ][kind]
            )

    def member(self, table: Path, depth: int) -> None:
        """``key = value``, dotted or not."""
        written: list[str] = []
        line, path = self.line, table
        for _ in range(self.rng.choice([1, 1, 1, 2, 3])):
            name, spelling = self.key()
            path, written = (*path, name), [*written, spelling]
            self.lines[path] = line
        self.text += self.rng.choice([".", " . "]).join(written)
        self.put("=", " = ", "\t=\t")
        self.value(path, depth)

    def members(self, table: Path) -> None:
        """Some of them, each on lines of its own."""
        for _ in range(self.rng.randrange(4)):
            self.member(table, 0)
            self.put("\n", " # = [\n", "\n\n", "\r\n")

    def header(self, above: Path, spelled: str) -> tuple[Path, str]:
        """A table or an element of an array of tables, below another."""
        name, spelling = self.key()
        path, spelled = (*above, name), f"{spelled}.{spelling}" if spelled else spelling
        times = self.rng.randrange(4)
        for place in range(times):
            self.lines.setdefault(path, self.line)
            self.lines[*path, place] = self.line
            self.text += f"[[ {spelled} ]]\n"
            self.members((*path, place))
            if self.rng.random() < 0.3:
                self.header((*path, place), spelled)
        if not times:
            self.lines[path] = self.line
            self.put(f"[{spelled}]\n", f"[ {spelled} ] # [\n")
            self.members(path)
            if self.rng.random() < 0.5:
                self.header(path, spelled)
        return path, spelled

    def document(self) -> str:
        """All of it."""
        self.members(())
        for _ in range(self.rng.randrange(4)):
            self.header((), "")
        return self.text


def paths(value: Any, path: Path = ()) -> set[Path]:
    """Every path of a document."""
    found = {path} if path else set()
    members = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for step, member in members:
        found |= paths(member, (*path, step))
    return found


@given(st.integers(0, 2**32))
def test_every_value_that_tomllib_finds_has_its_line(seed: int) -> None:
    """The same paths, and each on the line where it was written."""
    writer = Writer(seed)
    text = writer.document()
    found = lines_of(text)
    assert set(found) == paths(tomllib.loads(text))
    assert found == writer.lines


@given(st.text(alphabet="[]{}=.,#\"'\\ \t\n\rab1", max_size=60) | st.text(max_size=40))
def test_nothing_makes_it_stumble(text: str) -> None:
    """Whatever it is, TOML or not, there is an answer; where it is TOML, with every path."""
    found = lines_of(text)
    try:
        read = tomllib.loads(text)
    except (ValueError, RecursionError):
        return
    assert set(found) >= paths(read)


@given(st.integers(0, 2**32), st.data())
def test_what_was_cut_is_scanned_to_its_end(seed: int, data: st.DataObject) -> None:
    """Half a document is no TOML, and no trap either."""
    text = Writer(seed).document()
    lines_of(text[data.draw(st.integers(0, len(text))) :])


def test_depth_is_no_matter() -> None:
    """As deep as tomllib goes, and further."""
    text = "a = " + "[" * 3_000 + "]" * 3_000
    assert lines_of(text)["a", *[0] * 2_999] == 1
