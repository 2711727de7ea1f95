"""Hypothesis strategies for JSON: values that are admitted, and many ways to spell them."""

import random
from typing import Any

from hypothesis import strategies as st

MAX_SAFE_INTEGER = 2**53 - 1

# Names whose order differs between code points and UTF-16 units, and characters that need an escape or look
# as if they did.
_TRICKY = '\x00\b\t\n\f\r\x1f !"/\\\x7f\x80éΩ\u2028\u2029\ud7ff\ue000\ufb33\uffff😀𐀀\U0010ffff'


def json_texts() -> st.SearchStrategy[str]:
    """Strings without surrogates, often of characters that canonical JSON treats with care."""
    return st.one_of(st.text(max_size=12), st.text(alphabet=_TRICKY, max_size=4))


def json_numbers() -> st.SearchStrategy[int | float]:
    """Numbers as they come out of admission: safe integers, and doubles with a fraction or from 1e21."""
    integers = st.integers(-MAX_SAFE_INTEGER, MAX_SAFE_INTEGER)
    doubles = st.one_of(
        st.floats(allow_nan=False, allow_infinity=False),
        st.floats(1e-8, 1e-3),  # where the notations of Python and ECMAScript part
        st.integers(-(10**9), 10**9).map(lambda hundredths: hundredths / 100),
    )
    return st.one_of(integers, doubles.filter(_has_safe_spelling).map(_without_empty_fraction))


def json_values(max_leaves: int = 16) -> st.SearchStrategy[Any]:
    """Values as they come out of admission, nested a little."""
    return st.recursive(
        st.one_of(st.none(), st.booleans(), json_numbers(), json_texts()),
        lambda inner: st.one_of(
            st.lists(inner, max_size=5), st.dictionaries(json_texts(), inner, max_size=5)
        ),
        max_leaves=max_leaves,
    )


def json_spellings() -> st.SearchStrategy[tuple[bytes, Any]]:
    """JSON texts with what they mean: any white space, escapes, order of members, notation of numbers."""
    return st.builds(
        lambda value, seed: (spell(value, random.Random(seed)).encode(), value),
        json_values(),
        st.integers(0, 2**32),
    )


def damaged_json() -> st.SearchStrategy[bytes]:
    """Texts near JSON: spellings in which a stretch was cut out, repeated, or replaced by something nasty."""
    return st.builds(_damage, json_spellings(), st.integers(0, 2**32), st.sampled_from(_NASTY))


def spell(value: Any, rng: random.Random) -> str:
    """Write a value down in one of the many ways that JSON allows."""
    gap = rng.choice(["", "", "", " ", "\n", "\t", "\r\n  "])
    match value:
        case dict():
            members = list(value.items())
            rng.shuffle(members)
            inside = ",".join(
                f"{gap}{_spell_text(name, rng)}{gap}:{spell(item, rng)}" for name, item in members
            )
            return f"{gap}{{{inside}{gap}}}"
        case list():
            return f"{gap}[{','.join(spell(item, rng) for item in value)}{gap}]{gap}"
        case str():
            return gap + _spell_text(value, rng)
        case None | bool():
            return gap + {None: "null", True: "true", False: "false"}[value] + gap
        case int():
            return gap + rng.choice([f"{value}", f"{value}.0", f"{value}E+0", f"{value * 10}e-1"])
        case _:
            return gap + rng.choice([repr(value), f"{value:.17g}", f"{value:.16E}"])


def _spell_text(text: str, rng: random.Random) -> str:
    return '"' + "".join(_spell_character(character, rng) for character in text) + '"'


def _spell_character(character: str, rng: random.Random) -> str:
    short = {
        '"': '\\"',
        "\\": "\\\\",
        "/": "\\/",
        "\b": "\\b",
        "\f": "\\f",
        "\n": "\\n",
        "\r": "\\r",
        "\t": "\\t",
    }
    units = character.encode("utf-16-be")
    escape = "".join(f"\\u{units[at]:02x}{units[at + 1]:02X}" for at in range(0, len(units), 2))
    choices = [escape]
    if character in short:
        choices.append(short[character])
    if character not in '"\\' and character >= " ":
        choices += [character] * 4
    return rng.choice(choices)


_NASTY = [
    b"",
    b",",
    b"}",
    b"[" * 70,
    b'"',
    b"\\",
    b"\\ud800",
    b"\xff",
    b"NaN",
    b"1e999",
    b"9007199254740992",
    b"0",
]


def _damage(spelling: tuple[bytes, Any], seed: int, nasty: bytes) -> bytes:
    raw, _ = spelling
    rng = random.Random(seed)
    start, stop = sorted((rng.randint(0, len(raw)), rng.randint(0, len(raw))))
    return raw[:start] + rng.choice([nasty, raw[start:stop] * 2]) + raw[rng.choice([start, stop]) :]


def _has_safe_spelling(number: float) -> bool:
    return abs(number) <= MAX_SAFE_INTEGER or abs(number) >= 1e21


def _without_empty_fraction(number: float) -> int | float:
    return int(number) if number.is_integer() and abs(number) <= MAX_SAFE_INTEGER else number
