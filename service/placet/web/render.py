"""Pages from templates: everything in them is escaped, and characters that hide or mislead are set off."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import Final

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup, escape

from placet.domain.durations import read_out
from placet.domain.presentation import Dies, in_quotes, pieces
from placet.domain.text import runs_right_to_left

STATIC: Final[Mapping[str, str]] = {
    "app.css": "text/css",
    "card.js": "text/javascript",
    "inbox.js": "text/javascript",
    "live.js": "text/javascript",
    "signin.js": "text/javascript",
    "times.js": "text/javascript",
}
"""What pages load, and what it is."""

SOON_MS: Final = 60_000
"""Time left that stands out."""
_PACKAGE: Final = "placet.web"
_STAMP_CHARS: Final = 12
_JSON_TEXT: Final = re.compile(r'("(?:[^"\\]|\\.)*")')


@cache
def static(name: str) -> bytes:
    """A file that pages load."""
    return files(_PACKAGE).joinpath("static", name).read_bytes()


@cache
def stamp() -> str:
    """What the files are, all of them: so that a browser never mixes those of two releases."""
    together = hashlib.sha256(b"".join(static(name) for name in sorted(STATIC)))
    return together.hexdigest()[:_STAMP_CHARS]


def render(template: str, **values: object) -> bytes:
    """A page."""
    return _environment().get_template(template).render(values).encode()


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(_source),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(asset=asset, code=code, in_quotes=in_quotes, moment=moment, text=text)
    return environment


def _source(name: str) -> str:
    return files(_PACKAGE).joinpath("templates", name).read_text(encoding="utf-8")


def asset(name: str) -> str:
    """Where a file that pages load is; under another address with each release."""
    return f"/ui/{stamp()}/{name}"


def text(shown: str) -> Markup:
    """A text of a card, its escapes set off; one that runs from right to left moves nothing beside it.

    ``bdi``: Unicode Standard Annex #9, "isolates".
    """
    made = Markup("").join(_pieces(shown))
    return Markup("<bdi>{}</bdi>").format(made) if runs_right_to_left(shown) else made


def code(shown: str) -> Markup:
    """JSON, as :func:`text`: each text of it by itself, so that no name changes places with its value."""
    if not runs_right_to_left(shown):
        return text(shown)
    return Markup("").join(map(text, _JSON_TEXT.split(shown)))


def _pieces(shown: str) -> Iterable[Markup]:
    for piece in pieces(shown):
        yield (
            Markup('<span class="escape">{}</span>').format(piece.text)
            if piece.is_escape
            else escape(piece.text)
        )


def moment(at_ms: int) -> Markup:
    """A time, for people and for machines."""
    at = datetime.fromtimestamp(at_ms // 1000, UTC)
    return Markup('<time datetime="{}">{}</time>').format(
        f"{at:%Y-%m-%dT%H:%M:%SZ}", f"{at:%Y-%m-%d %H:%M:%S} UTC"
    )


def left(dies: Dies | None, now_ms: int) -> str:
    """How long something lives, in words; the last minute stands out. ``static/live.js`` goes on with it."""
    if dies is None:
        return ""
    ms = dies.left_ms(now_ms)
    words = "expired" if ms == 0 else f"{read_out(ms, calm=True)} left"
    return Markup('<strong class="soon">{}</strong>').format(words) if 0 < ms <= SOON_MS else words
