"""A text that must not be read by accident."""

import hmac
from typing import NoReturn, Self

_SHOWN = "Secret(hidden)"


class Secret:
    """A secret text that shows itself only when asked by name.

    It hides in `repr`, `str`, f-strings and `%` formatting, refuses to be pickled, and has no type that JSON,
    msgspec or structlog could encode.

    Args:
        value: the text to keep.
    """

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the text itself, for the one call that needs it."""
        return self._value

    def __repr__(self) -> str:
        return _SHOWN

    def __format__(self, spec: str) -> str:
        return format(_SHOWN, spec)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        own, others = (value.encode("utf-8", "surrogatepass") for value in (self._value, other._value))
        return hmac.compare_digest(own, others)

    def __hash__(self) -> int:
        return hash(self._value)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _memo: object) -> Self:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Secret is not written anywhere: reveal() it where it is used")
