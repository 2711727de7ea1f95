"""Values that can be logged: their repr says which one it is, and nothing of what it holds."""

from typing import Final

from msgspec import Struct

_NAMED: Final = ("method", "id", "type", "capability", "decision", "status", "active", "replayed")


class Quiet(Struct, frozen=True, kw_only=True):
    """The base of all values here: inputs, comments and tokens are in many of them, and belong in no log."""

    def __repr__(self) -> str:
        said = {name: getattr(self, name) for name in _NAMED if name in self.__struct_fields__}
        shown = ", ".join(f"{name}={value!r}" for name, value in said.items() if value is not None)
        return f"{type(self).__name__}({shown})"
