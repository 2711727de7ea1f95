"""Texts for Slack, so that it shows them as they are: escaped as it demands, and nothing left to turn.

1. Texts of a card are visible already (:mod:`placet.domain.text`). Those from outside stand in ``plain_text``
   objects with ``emoji: false``, or as literal text of ``rich_text``. ``mrkdwn`` is only for our own words.
2. Slack takes ``&``, ``<`` and ``>`` as control characters in text objects; they are escaped, and nothing
   else is (https://docs.slack.dev/messaging/formatting-message-text). Text of ``rich_text`` is not parsed,
   and is not escaped.
3. Two things Slack may still turn, on screen or on the way back: an entity that is part of the text
   (``&lt;``), and a picture, which it may write as ``:name:``. Both are spelt out like any character that
   misleads: the ``&`` of an entity as ``⟨U+0026⟩``. So what is shown never depends on how often somebody
   decoded it, and what comes back can be compared (:mod:`placet.channels.slack.texts`).

A client may make a bare address in a text clickable. It leads where it says; nothing prevents that.
"""

import re
from typing import Any, Final

from placet.domain.presentation import Budget

TextObject = dict[str, Any]

_ENTITY: Final = re.compile(r"&(?=(?:amp|lt|gt);)")
# Pictures of the Basic Multilingual Plane and what makes some of a plain sign (emoji-data.txt, Emoji=Yes);
# those beyond it lie in these blocks.
_PICTURE: Final = re.compile(
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u2199\u21a9\u21aa\u231a\u231b\u2328\u23cf\u23e9-\u23fa\u24c2"
    "\u25aa\u25ab\u25b6\u25c0\u25fb-\u25fe\u2600-\u27bf\u2934\u2935\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\u3030"
    "\u303d\u3297\u3299\u200d\u20e3\ufe0e\ufe0f\U0001f000-\U0001faff]"
)
_WIDE: Final = re.compile("[\U00010000-\U0010ffff]")
# What formats a text that is not in a text object: a notification has no `plain_text`.
_FORMAT: Final = re.compile(r"[*~`]|(?<![^\W_])_|_(?![^\W_])|:(?=[\w+'-]+:)")

_SPELT_CHARS: Final = len("⟨U+0026⟩")
_SPELT_PICTURE_CHARS: Final = len("⟨U+1F680⟩")
_TEXT_CHARS_MAX: Final = 600


def escape(text: str) -> str:
    """A text with Slack's control characters escaped."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def spelt(shown: str) -> str:
    """A visible text in which nothing is left that Slack could turn into something else."""
    if shown.isascii() and "&" not in shown:
        return shown
    return _PICTURE.sub(_name, _ENTITY.sub(_name, shown))


def cost(shown: str) -> int:
    """What a visible text takes at most of Slack's limits: spelt out, escaped, in UTF-16 units."""
    marked = (_SPELT_CHARS - 1) * shown.count("&") + 3 * (shown.count("<") + shown.count(">"))
    if shown.isascii():
        return len(shown) + marked
    pictures = (_SPELT_PICTURE_CHARS - 1) * len(_PICTURE.findall(shown))
    return len(shown) + marked + pictures + len(_WIDE.findall(shown))


def plain(shown: str) -> TextObject:
    """A visible text as a text object that nothing is read into: its cost, and two quotes at most."""
    return {"type": "plain_text", "text": escape(spelt(_said(shown))), "emoji": False}


def literal(shown: str) -> dict[str, Any]:
    """A visible text as an element of ``rich_text``, which keeps its blanks."""
    return {"type": "text", "text": spelt(shown)}


def bold(ours: str) -> TextObject:
    """Words of ours, in bold: a text from outside can't look like them."""
    return {"type": "mrkdwn", "text": f"*{ours}*", "verbatim": True}


def moment(at_ms: int, fallback: str) -> TextObject:
    """A time, in the reader's own zone.

    Args:
        at_ms: When; Unix milliseconds.
        fallback: The same in words of ours, for a client that can't tell.
    """
    date = f"<!date^{at_ms // 1000}^{{date_short_pretty}} at {{time_secs}}|{fallback}>"
    return {"type": "mrkdwn", "text": date, "verbatim": True}


def notification(shown: str, budget: Budget) -> str:
    """A visible text for where there are no text objects: nothing in it formats, links, calls or smiles."""
    kept = budget.within(shown, _TEXT_CHARS_MAX, of=len(shown))
    return escape(_FORMAT.sub(_name, spelt(kept)))


def _said(shown: str) -> str:
    """A text that nobody trims: Slack refuses one of nothing, and blanks around one can't be seen."""
    return shown if shown and shown == shown.strip() else f'"{shown}"'


def _name(match: re.Match[str]) -> str:
    return f"⟨U+{ord(match[0]):04X}⟩"
