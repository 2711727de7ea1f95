"""What is known of one `PLACET_` variable, for people and for the loader."""

from collections.abc import Callable
from typing import Final, Generic, TypeVar, get_type_hints

from msgspec import Meta, Struct

from placet.domain.limits import Limits
from placet.settings import parsing

_T = TypeVar("_T")
_DURATION_MAX_MS: Final = 600_000


class SettingDoc(Struct, frozen=True, kw_only=True):
    """One setting, for people.

    Attributes:
        name: the environment variable.
        group: what it is about.
        meaning: what it does, one or two sentences.
        allowed: which values it takes.
        default: the value when it is not set, as it would be written; "" where there is none.
        rule: how the default is found, where it depends on other settings; else "".
        unit: "milliseconds", "bytes" …; None for what has none.
        secret: whether its value must never be shown.
    """

    name: str
    group: str
    meaning: str
    allowed: str
    default: str = ""
    rule: str = ""
    unit: str | None = None
    secret: bool = False


class Variable(Struct, Generic[_T], frozen=True, kw_only=True):
    """One setting, for the loader: how its text is read, and its value where it is not set.

    A default of None stands for "not given": the loader then derives a value, or there is none.
    """

    doc: SettingDoc
    parse: Callable[[str], _T]
    default: _T


def variable(
    name: str,
    group: str,
    parse: Callable[[str], _T],
    default: _T,
    meaning: str,
    *,
    allowed: str,
    rule: str = "",
    unit: str | None = None,
) -> Variable[_T]:
    """Make one row of the catalogue; `name` is without the prefix, the rest as in `SettingDoc`."""
    doc = SettingDoc(
        name=f"PLACET_{name}",
        group=group,
        meaning=meaning,
        allowed=allowed,
        default="" if default is None or default == () else str(default),
        rule=rule,
        unit=unit,
        secret=parse is parsing.store_url,
    )
    return Variable(doc=doc, parse=parse, default=default)


def duration(name: str, group: str, default_ms: int, meaning: str) -> Variable[int]:
    """Make the row of a time-out, in milliseconds."""
    return variable(
        name,
        group,
        parsing.whole_number(1, _DURATION_MAX_MS),
        default_ms,
        meaning,
        allowed=f"1 to {_DURATION_MAX_MS}",
        unit="milliseconds",
    )


def limit(name: str) -> Variable[int]:
    """Make the row of a field of `Limits`, of what the field says about itself."""
    annotation = get_type_hints(Limits, include_extras=True)[name]
    (meta,) = (note for note in annotation.__metadata__ if isinstance(note, Meta))
    low, high = int(meta.ge or 0), int(meta.le or 0)
    return variable(
        name.upper(),
        "Limits",
        parsing.whole_number(low, high),
        getattr(Limits(), name),
        f"{meta.description}.",
        allowed=f"{low} to {high}",
        unit=(meta.extra or {})["unit"],
    )
