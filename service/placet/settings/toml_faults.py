"""What is wrong with a document that is no TOML, as what to write instead.

:mod:`tomllib` tells it in the words of its parser, and where that gave up, which may be lines below the
mistake. The words are the same in CPython 3.11, 3.12 and 3.13 (``Lib/tomllib/_parser.py``); what is not known
here is told as it comes.
"""

import ast
import re
from collections.abc import Callable
from typing import Final

from placet.settings.remedies import FLAGS, dotted, quoted, shown

_Told = tuple[int, str]
"""The line of a mistake, and a sentence of what to write."""

_LISTS: Final = ("rules", "rules.stricter", "capabilities", "people", "people.oidc", "people.slack")
"""What begins with ``[[…]]`` in our files."""

_WHERE: Final = re.compile(r" \(at (?:line ([0-9]+), column ([0-9]+)|end of document)\)$")
_KEY: Final = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
_KEYS: Final = rf"{_KEY}(?:[ \t]*\.[ \t]*{_KEY})*"
_HEADER: Final = re.compile(rf"^[ \t]*(\[\[?)[ \t]*({_KEYS})[ \t]*\]\]?", re.MULTILINE)
_ASSIGNED: Final = re.compile(rf"^[ \t]*({_KEYS})[ \t]*=", re.MULTILINE)
_VALUE: Final = re.compile(r"[^,\]}#\n]*")
_GLUED: Final = re.compile(r"[\w.:+-]+")
_CURLY: Final = "\u201c\u201d\u201e\u2018\u2019\u201a\u00ab\u00bb"
_OTHER_SIGNS: Final = "A name of other signs than letters, digits, - and _ stands in quotes"
_LONG_NUMBER: Final = re.compile(r"[0-9]{4000}")


def told(fault: ValueError, text: str) -> _Told:
    """What :mod:`tomllib` says of a text, as the line of the mistake and a sentence of what to write."""
    said, place = _WHERE.sub("", str(fault)), _Place(text.replace("\r\n", "\n"), _WHERE.search(str(fault)))
    for words, tell in _KNOWN.items():
        match = re.fullmatch(words, said)
        if match is not None:
            return tell(place, match)
    return place.line, f"It is no TOML: {said.rstrip('.')}."


class _Place:
    """Where :mod:`tomllib` gave up; the beginning where it does not say.

    Args:
        text: The document, its lines ended as :mod:`tomllib` counts them.
        where: What it says of that.
    """

    def __init__(self, text: str, where: re.Match[str] | None) -> None:
        self.text = text
        self.at = 0 if where is None else len(text)
        if where is not None and where[1]:
            starts = [0, *(match.end() for match in re.finditer("\n", text))]
            self.at = starts[int(where[1]) - 1] + int(where[2]) - 1
        self.line = self.line_of(self.at)
        self._start = text.rfind("\n", 0, self.at) + 1
        self.before = text[self._start : self.at]
        """Its line, up to there."""
        self.rest = text[self.at :].partition("\n")[0]
        """What follows in its line."""
        self.header = _HEADER.match(self.before + self.rest)
        """The header that its line is."""

    def line_of(self, at: int) -> int:
        """The line of another place."""
        return self.text.count("\n", 0, at) + 1

    def headers_above(self) -> list[re.Match[str]]:
        """Those of the lines before, the nearest first."""
        return [*_HEADER.finditer(self.text[: self._start])][::-1]


def _declared_twice(place: _Place, match: re.Match[str]) -> _Told:
    name = dotted(ast.literal_eval(match[1]))
    return place.line, _once(name) if name in _LISTS else f"[{name}] is there already: put both into one."


def _once(name: str) -> str:
    return f"[{name}] can stand in a file once: write [[{name}]], each time."


def _overwritten(place: _Place, _: re.Match[str]) -> _Told:
    if place.header is None:
        return _overwritten_by_key(place)
    name, above = place.header[2], place.headers_above()
    for header in above:
        if header[2] == name and name in _LISTS:
            return place.line_of(header.start(2)), _once(name)
    for header in above:
        if header[2].startswith(f"{name}."):
            message = (
                f"{header[0].strip()} stands above the first [[{name}]]: put it below the one it is for."
            )
            return place.line_of(header.start(2)), message
    return place.line, f"{name} is there already: put both into one."


def _overwritten_by_key(place: _Place) -> _Told:
    """Where :mod:`tomllib` stopped is behind the value, which may have many lines."""
    key = next(reversed([*_ASSIGNED.finditer(place.text[: place.at])]), None)
    line, name = (place.line, "This") if key is None else (place.line_of(key.start(1)), key[1])
    header = next((each for each in place.headers_above() if each[1] == "[["), None)
    another = f", or begin another table with [[{header[2]}]] above this line" if header else ""
    return line, f"{name} is there already: remove one of the two{another}."


def _closed(place: _Place, match: re.Match[str]) -> _Told:
    name = dotted(ast.literal_eval(match[1]))
    return place.line, f"{name} is written out already, and takes nothing more: put all of it in one place."


def _twice(place: _Place, match: re.Match[str]) -> _Told:
    return place.line, f"{match[1]} is there twice: remove one."


def _no_value(place: _Place, _: re.Match[str]) -> _Told:
    found = _VALUE.match(place.text, place.at)
    word = "" if found is None else found[0].strip()
    bare = word.strip(f"\"'{_CURLY}")
    flag = FLAGS.get(bare.lower())
    if not bare:
        return place.line, 'A value is missing here: write one, a text as in "web".'
    if set(word) & set(_CURLY):
        return place.line, f"These quotes are not straight: write {quoted(bare)}."
    if flag == bare.lower():
        return place.line, f"{shown(bare)} is written in small letters: write {flag}."
    return place.line, _in_quotes(bare) if flag is None else f"{_in_quotes(bare)[:-1]}, or {flag} without."


def _in_quotes(text: str) -> str:
    return f"A text stands in quotes: write {quoted(text)}."


def _no_assignment(place: _Place, _match: re.Match[str]) -> _Told:
    if place.rest.startswith(":"):
        return place.line, "Between name and value stands no colon: write = in its place."
    name, sign, _ = (place.before + place.rest).partition("=")
    if sign and "=" not in place.before:
        return place.line, f"{_OTHER_SIGNS}: write {quoted(name.strip())}."
    return place.line, 'There is no = here: a line is a name, = and a value, as in name = "refunds".'


def _too_much(place: _Place, match: re.Match[str]) -> _Told:
    """A statement has ended, and its line has not."""
    if place.header is not None:
        if place.rest.startswith("]"):
            return _brackets(place, match)
        return place.line, f"A header stands alone in its line: begin another before {shown(place.rest)}."
    if place.rest.startswith(("//", ";")):
        return place.line, f"A comment begins with #: write that before {shown(place.rest)}, or remove it."
    glued = _GLUED.match(place.rest)
    word = re.search(r"\w*$", place.before)
    if glued is None or word is None or not word[0]:
        message = (
            f"{shown(place.rest)} is too much: a line has one name and one value, and a text two quotes."
        )
        return place.line, message
    value = word[0] + glued[0]
    if value.isdigit():
        return place.line, f"A number begins with no 0: write {int(value)}."
    return place.line, _in_quotes(value)


def _brackets(place: _Place, _: re.Match[str]) -> _Told:
    name = (place.before + place.rest).partition("#")[0].strip(" \t[]")
    if re.fullmatch(_KEYS, name):
        header = f"[[{name}]]" if name in _LISTS else f"[{name}]"
        return place.line, f"The brackets don't match: write {header}."
    table, dot, below = name.partition(".")
    header = f"[{dotted([table])}{dot}{quoted(below.strip(chr(34)))}]" if dot else f"[{dotted([table])}]"
    return place.line, f"{_OTHER_SIGNS}: write {header}."


def _open_list(place: _Place, _: re.Match[str]) -> _Told:
    message = "A list has a comma between two values, and ] at its end: one is missing here."
    return _line_before(place), message


def _open_table(place: _Place, _: re.Match[str]) -> _Told:
    message = (
        "A table in { } has a comma between two members, and } at its end, all in one line: one is missing."
    )
    return _line_before(place), message


def _line_before(place: _Place) -> int:
    """The line in which something is missing before a place."""
    return place.line_of(len(place.text[: place.at].rstrip()))


def _no_name(place: _Place, _: re.Match[str]) -> _Told:
    if place.rest.startswith("}"):
        return place.line, "A table in { } ends without a comma: remove it before the }."
    if not place.rest or place.rest.startswith("#"):
        return place.line, "A table in { } stands in one line: write all of it here."
    return (
        place.line,
        f"A name is missing before {shown(place.rest)}: letters, digits, - and _, or any in quotes.",
    )


def _no_statement(place: _Place, _: re.Match[str]) -> _Told:
    message = f"{shown(place.rest)} is no TOML: a line is a name = value, a [header], or a comment led by #."
    return place.line, message


def _backslash(place: _Place, _: re.Match[str]) -> _Told:
    return place.line, r"In double quotes \ is written \\: write it so, or put the text in single quotes."


def _open_text(place: _Place, match: re.Match[str]) -> _Told:
    sign = '"' if match[0].startswith("Illegal") else "'"
    return place.line, f"The text is not closed: write {sign} at its end."


def _open_to_the_end(place: _Place, match: re.Match[str]) -> _Told:
    """The last sign of its kind is the one that nothing closes."""
    sign = match[1] or ('"' * 3 if place.text.count('"' * 3) % 2 else '"')
    return place.line_of(place.text.rfind(sign)), f"The text is not closed: write {sign} at its end."


def _control(place: _Place, _: re.Match[str]) -> _Told:
    return place.line, "There is a control character here: remove it."


def _long_number(place: _Place, _: re.Match[str]) -> _Told:
    """Python says neither where it is, nor that it is TOML."""
    found = _LONG_NUMBER.search(place.text)
    return place.line_of(found.start() if found else 0), "A number has too many digits: write a shorter one."


_KNOWN: Final[dict[str, Callable[[_Place, re.Match[str]], _Told]]] = {
    r"Cannot declare (\(.*\)) twice": _declared_twice,
    r"Cannot overwrite a value": _overwritten,
    r"Cannot (?:mutate immutable|redefine) namespace (\(.*\))": _closed,
    r"Duplicate inline table key (.*)": _twice,
    r"Invalid value": _no_value,
    r"Expected '=' after a key in a key/value pair": _no_assignment,
    r"Expected newline or end of document after a statement": _too_much,
    r"Expected '\]\]?' at the end of an? (?:array|table) declaration": _brackets,
    r"Unclosed array": _open_list,
    r"Unclosed inline table": _open_table,
    r"Invalid initial character for a key part": _no_name,
    r"Invalid statement": _no_statement,
    r"Unescaped '\\' in a string|Invalid hex value|Escaped character is not a Unicode .*": _backslash,
    r"(?:Illegal|Found invalid) character '\\n'": _open_text,
    r"(?:Illegal|Found invalid) character .*": _control,
    r"Exceeds the limit .*": _long_number,
    r"Unterminated string|Expected \"('+)\"": _open_to_the_end,
}
"""How to tell what :mod:`tomllib` says, by its words."""
