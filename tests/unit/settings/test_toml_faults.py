"""What is no TOML: told by the line of the mistake, as what to write instead of it."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.settings.toml_faults import told

ONE_RULE = '[[rules]]\nname = "a"\n'
NOT_CLOSED = "The text is not closed: write {} at its end."
OPEN_LIST = "A list has a comma between two values, and ] at its end: one is missing here."
OPEN_TABLE = (
    "A table in { } has a comma between two members, and } at its end, all in one line: one is missing."
)
NO_EQUALS = 'There is no = here: a line is a name, = and a value, as in name = "refunds".'
OTHER_SIGNS = "A name of other signs than letters, digits, - and _ stands in quotes: write {}."
BACKSLASH = r"In double quotes \ is written \\: write it so, or put the text in single quotes."
TWO_NAMES = "name is there already: remove one of the two"
RULES_ONCE = "[rules] can stand in a file once: write [[rules]], each time."

MISTAKES: dict[str, tuple[str, int, str]] = {
    # What stands twice.
    "one bracket, then two": ('[rules]\nname = "a"\n[[rules]]\n', 1, RULES_ONCE),
    "two brackets, then one": (ONE_RULE + "[rules]\n", 3, RULES_ONCE),
    "one bracket twice": ("[rules]\n[rules]\n", 2, RULES_ONCE),
    "one bracket twice, below a rule": (
        ONE_RULE + "[rules.stricter]\nquorum = 2\n[rules.other]\n[[rules.stricter]]\n",
        3,
        "[rules.stricter] can stand in a file once: write [[rules.stricter]], each time.",
    ),
    "a block above its rule": (
        "x = 1\n[[rules.stricter]] # first\nquorum = 2\n" + ONE_RULE,
        2,
        "[[rules.stricter]] stands above the first [[rules]]: put it below the one it is for.",
    ),
    "a list of what is a table": (
        "revision = 1\n[issuers]\n[[issuers]]\n",
        3,
        "issuers is there already: put both into one.",
    ),
    "one table twice": (
        '[issuers."https://a"]\naudience = "x"\n[issuers."https://a"]\n',
        3,
        '[issuers."https://a"] is there already: put both into one.',
    ),
    "a key twice": (
        ONE_RULE + '# another\nname = "b"\n',
        4,
        f"{TWO_NAMES}, or begin another table with [[rules]] above this line.",
    ),
    "a key twice, of many lines": (
        "x = 1\nx = [\n  1,\n  2,\n]\n",
        2,
        "x is there already: remove one of the two.",
    ),
    "a key twice that is spelled strangely": (
        '"\\"" = 1\n"\\"" = 2\n',
        2,
        "This is there already: remove one of the two.",
    ),
    "a key twice in a table": ("x = { a = 1, a = 2 }\n", 1, "'a' is there twice: remove one."),
    "a list, and its tables": (
        "rules = []\n[[rules]]\n",
        2,
        "rules is written out already, and takes nothing more: put all of it in one place.",
    ),
    # Quotes.
    "no quotes": ("name = refunds\n", 1, 'A text stands in quotes: write "refunds".'),
    "no quotes in a list": (
        'x = [\n  "a",\n  orders.*,\n]\n',
        3,
        'A text stands in quotes: write "orders.*".',
    ),
    "half of the quotes": ('name = refunds" # x\n', 1, 'A text stands in quotes: write "refunds".'),
    "no quotes around a duration": ("max = 15m\n", 1, 'A text stands in quotes: write "15m".'),
    "no closing quote": ('name = "refunds\nx = 1\n', 1, NOT_CLOSED.format('"')),
    "no closing single quote": ("name = 'refunds\nx = 'a'\n", 1, NOT_CLOSED.format("'")),
    "no closing quote at the end": ('x = 1\nname = "refunds', 2, NOT_CLOSED.format('"')),
    "no closing single quote to the end": ("name = 'refunds\nx = 1\n", 1, NOT_CLOSED.format("'")),
    "no closing quotes of many lines": ('x = """a"""\ny = """\n\n', 2, NOT_CLOSED.format('"""')),
    "quotes of a word processor": (
        "name = \u201crefunds\u201d\n",
        1,
        'These quotes are not straight: write "refunds".',
    ),
    "a backslash": ('x = "a\\d"\n', 1, BACKSLASH),
    "a path": ('x = "C:\\users"\n', 1, BACKSLASH),
    "no scalar": ('x = "\\ud800"\n', 1, BACKSLASH),
    "a control character": ('x = "a\x01"\n', 1, "There is a control character here: remove it."),
    # Values.
    "no value": ("x = 1\nname = # later\n", 2, 'A value is missing here: write one, a text as in "web".'),
    "true in capitals": ("step_up = True\n", 1, "'True' is written in small letters: write true."),
    "yes": ("edit = yes\n", 1, 'A text stands in quotes: write "yes", or true without.'),
    "a number after a naught": ("quorum = 02\n", 1, "A number begins with no 0: write 2."),
    "a long number": ("x = 1\ny = " + "9" * 5_000, 2, "A number has too many digits: write a shorter one."),
    "a long number in parts": (
        "x = 1\ny = " + "9_" * 5_000 + "9",
        1,
        "A number has too many digits: write a shorter one.",
    ),
    # Lists and tables.
    "a list that is not closed": ('x = ["a",\n "b"\ny = 1\n', 2, OPEN_LIST),
    "a list that nothing follows": ('x = ["a", "b"\n\n', 1, OPEN_LIST),
    "a list without a comma": ('x = ["a" "b"]\n', 1, OPEN_LIST),
    "a table that is not closed": ("x = { a = 1\ny = 2\n", 1, OPEN_TABLE),
    "a table of many lines": (
        "x = {\n  a = 1\n}\n",
        1,
        "A table in { } stands in one line: write all of it here.",
    ),
    "a table of many lines with a comment": (
        "x = { # so\n  a = 1\n}\n",
        1,
        "A table in { } stands in one line: write all of it here.",
    ),
    "a table with a comma at its end": (
        "x = { a = 1, }\n",
        1,
        "A table in { } ends without a comma: remove it before the }.",
    ),
    "a table without a name": (
        "x = { = 1 }\n",
        1,
        "A name is missing before '= 1 }': letters, digits, - and _, or any in quotes.",
    ),
    # Lines.
    "a colon": ('name: "refunds"\n', 1, "Between name and value stands no colon: write = in its place."),
    "no sign": ('name "refunds"\n', 1, NO_EQUALS),
    "no sign in a table": ("x = { a 1, b = 2 }\n", 1, NO_EQUALS),
    "a name of two words": ('display name = "a"\n', 1, OTHER_SIGNS.format('"display name"')),
    "two in a line": (
        "a = 1 b = 2\n",
        1,
        "'b = 2' is too much: a line has one name and one value, and a text two quotes.",
    ),
    "a quote in a text": (
        'a = "b"c"\n',
        1,
        "'c\"' is too much: a line has one name and one value, and a text two quotes.",
    ),
    "a comment of another language": (
        "x = 1 // why\n",
        1,
        "A comment begins with #: write that before '// why', or remove it.",
    ),
    "JSON": (
        '{ "rules": [] }\n',
        1,
        "'{ \"rules\": [] }' is no TOML: a line is a name = value, a [header], or a comment led by #.",
    ),
    # Headers.
    "a header with one bracket at its end": ("[[rules]\n", 1, "The brackets don't match: write [[rules]]."),
    "a header with one at its beginning": ("[rules]] # x\n", 1, "The brackets don't match: write [[rules]]."),
    "a table's header": ("[[issuers.x]\n", 1, "The brackets don't match: write [issuers.x]."),
    "a header that is not alone": (
        '[[rules]] name = "a"\n',
        1,
        "A header stands alone in its line: begin another before 'name = \"a\"'.",
    ),
    "an issuer without quotes": ("[issuers.https://a]\n", 1, OTHER_SIGNS.format('[issuers."https://a"]')),
    "a header of two words": ("[the rules]\n", 1, OTHER_SIGNS.format('["the rules"]')),
}


@pytest.mark.parametrize(("text", "line", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_told_with_its_line_and_a_remedy(text: str, line: int, message: str) -> None:
    """Whatever the ends of lines are."""
    for each in (text, text.replace("\n", "\r\n")):
        with pytest.raises(ValueError, match=r"at |limit") as caught:
            tomllib.loads(each)
        assert told(caught.value, each) == (line, message)


@pytest.mark.parametrize(
    ("said", "line", "message"),
    [
        ("Something new (at line 2, column 1)", 2, "It is no TOML: Something new."),
        ("Something new (at end of document)", 3, "It is no TOML: Something new."),
        ("Something new.", 1, "It is no TOML: Something new."),
    ],
)
def test_what_is_not_known_is_told_as_it_comes(said: str, line: int, message: str) -> None:
    """A parser may say more than ours does today."""
    assert told(ValueError(said), "a\nb\nc") == (line, message)


@given(st.text(alphabet="[]{}=.,#\"'\\ \t\n\rab1:/\u201c", max_size=60) | st.text(max_size=40))
def test_nothing_makes_it_stumble(text: str) -> None:
    """Whatever is no TOML has one sentence, and a line that is there."""
    try:
        tomllib.loads(text)
    except ValueError as fault:
        line, message = told(fault, text)
        assert 1 <= line <= text.count("\n") + 1
        assert message.endswith(".")
        assert "\n" not in message
