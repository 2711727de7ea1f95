"""Arguments of types that pydantic knows, as the JSON that is approved and back.

A tool gets dates, decimals and models, and people approve JSON. What would not come back from its JSON as it
was (a secret that is written as stars, a field that is left out) is refused before anybody is asked.
"""

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from copy import deepcopy
from inspect import Parameter, signature
from typing import Annotated, Any, Final, get_type_hints

from pydantic import TypeAdapter
from pydantic.fields import FieldInfo

from placet.domain.canonical import canonicalize

_JSON: Final[Mapping[str, Any]] = {"mode": "json", "by_alias": True, "round_trip": True, "warnings": "none"}


class Arguments:
    """The arguments of a function, by name: rest arguments are an array and an object under theirs.

    Args:
        function: Its annotations are the types.
        apart: Parameters that are no part of what is approved.
    """

    def __init__(self, function: Callable[..., Any], apart: Collection[str]) -> None:
        hints = get_type_hints(function, include_extras=True)
        parameters = {each.name: each for each in signature(function).parameters.values()}
        seen = {name: each for name, each in parameters.items() if name not in apart}
        self._types = {name: TypeAdapter(_type(each, hints.get(name, Any))) for name, each in seen.items()}
        self._defaults: dict[str, tuple[bytes, Any]] = {}
        for name, each in seen.items():
            with suppress(ArithmeticError, TypeError, ValueError):  # none, or one that has no JSON
                self._defaults[name] = canonicalize(self._written(name, each.default)), deepcopy(each.default)

    def json(self, given: Mapping[str, Any], context: object) -> dict[str, Any]:
        """What is to be approved of arguments; ``context`` is what validators are told.

        Raises:
            ValueError: One has no JSON, or would not come back from it as it is.
        """
        written = {name: self._written(name, each) for name, each in given.items()}
        if self.values(written, context) != given:
            raise ValueError("an argument would not come back as it is")
        return written

    def values(self, approved: Mapping[str, Any], context: object) -> dict[str, Any]:
        """The arguments that JSON stands for.

        Raises:
            ValueError: It stands for none.
        """
        return {name: self._read(name, canonicalize(each), context) for name, each in approved.items()}

    def _written(self, name: str, value: object) -> Any:  # noqa: ANN401 - any JSON
        return self._types[name].dump_python(value, **_JSON)

    def _read(self, name: str, written: bytes, context: object) -> Any:  # noqa: ANN401 - of its type
        known, default = self._defaults.get(name, (b"", None))
        if written == known:
            return deepcopy(default)  # which need not be of the type, as in `note: str = None`
        return self._types[name].validate_json(written, context=context)


def _type(parameter: Parameter, hint: Any) -> Any:  # noqa: ANN401 - whatever annotations are
    if parameter.kind is Parameter.VAR_POSITIONAL:
        return tuple[hint, ...]
    if parameter.kind is Parameter.VAR_KEYWORD:
        return dict[str, hint]
    return Annotated[hint, parameter.default] if isinstance(parameter.default, FieldInfo) else hint
