"""From msgspec's words to ours: where a body is wrong and what was wanted, never what was sent.

msgspec stops at the first fault. Whoever has several should hear of them at once, so each member of a body
is looked at by itself: of each, its first fault is told.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import Struct, ValidationError, inspect, structs

from placet.domain.error_terms import Issue
from placet.domain.errors import InputInvalid
from placet.domain.faces import ISSUES_MAX

# A place is made of our own member names and of indices; whatever else looks like one is a caller's word.
_WHERE = re.compile(r"(?P<what>.*?)(?: - at `\$(?P<where>(?:\.[a-z_]+|\[(?:\d+|\.\.\.)\])*)`)?", re.DOTALL)
_STEP = re.compile(r"\.([a-z_]+)|\[(\d+|\.\.\.)\]")
_MEMBER = re.compile(r"Object (?P<kind>contains unknown|missing required) field `(?P<name>.*)`", re.DOTALL)
_FORM = re.compile(r"Expected `str` matching regex '\^\(\?:(.*)\)\$\(\?!.*\)'", re.DOTALL)
"""As :func:`placet.domain.limits.whole` has it."""
_TYPES = re.compile("`([a-z |]+)`")
_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "int": "a whole number",
        "float": "a number",
        "str": "text",
        "bool": "true or false",
        "array": "an array",
        "object": "an object",
    }
)


def invalid(fault: ValidationError, value: Any, shape: type[Struct]) -> InputInvalid:  # noqa: ANN401 - any JSON
    """The error for a body, or a query, that is JSON but not the one that was asked for.

    Args:
        fault: What is wrong with the whole.
        value: What was sent.
        shape: What was asked for.
    """
    found = _faults(value, shape) if isinstance(value, dict) else iter(())
    return InputInvalid(tuple(islice(found, ISSUES_MAX)) or [_issue(fault, shape)])


def _faults(members: Mapping[str, Any], shape: type[Struct]) -> Iterator[Issue]:
    """A fault of each member that has one, and of each that is missing or unknown."""
    fields = {field.encode_name: field for field in structs.fields(shape)}
    for name in members:
        if name not in fields:
            yield Issue(path=f"/{escape(name)}", message="There is no such member.")
    for name, field in fields.items():
        if name not in members:
            if field.required:
                yield Issue(path=f"/{name}", message="It is required.")
            continue
        alone = tuple[field.type]  # type: ignore[name-defined] # so the fault always ends with a place
        try:
            msgspec.convert((members[name],), alone)
        except ValidationError as fault:
            yield _issue(fault, alone, name)


def _issue(fault: ValidationError, kind: Any, name: str | None = None) -> Issue:  # noqa: ANN401 - any type
    """A fault of a value of some kind; of a member that stood alone, where it has a ``name``."""
    match = _WHERE.fullmatch(str(fault))
    what, where = (match["what"], match["where"] or "") if match else ("It is not valid", "")
    steps = [step or index for step, index in _STEP.findall(where)]
    path = "".join(f"/{step}" for step in (steps if name is None else [name, *steps[1:]]))
    member = _MEMBER.fullmatch(what)
    if member:
        missing = member["kind"] == "missing required"
        message = "It is required." if missing else "There is no such member."
        return Issue(path=f"{path}/{escape(member['name'])}", message=message)
    if what.startswith("Invalid enum value"):  # the rest of the sentence repeats what was sent
        return Issue(path=path, message=f"It is not one of {', '.join(_choices(kind, steps))}.")
    form = _FORM.fullmatch(what)
    if form:
        return Issue(path=path, message=f"It does not have the form {form[1]}.")
    plain = _TYPES.sub(lambda found: " or ".join(map(_word, found[1].split("|"))), what)
    return Issue(path=path, message=plain.replace("`", "") + ".")


def _word(kind: str) -> str:
    return _WORDS.get(kind.strip(), kind.strip())


def _choices(kind: Any, steps: Sequence[str]) -> list[str]:  # noqa: ANN401 - any type
    """The words that are allowed at the end of these steps."""
    found = _alternatives(inspect.type_info(kind))
    for step in steps:
        found = [each for above in found for below in _below(above, step) for each in _alternatives(below)]
    return [str(word) for each in found for word in _words(each)]


def _alternatives(kind: inspect.Type) -> list[inspect.Type]:
    if isinstance(kind, inspect.UnionType):
        return [each for one in kind.types for each in _alternatives(one)]
    return _alternatives(kind.type) if isinstance(kind, inspect.Metadata) else [kind]


def _below(kind: inspect.Type, step: str) -> list[inspect.Type]:
    match kind:
        case inspect.StructType():
            return [field.type for field in kind.fields if field.encode_name == step]
        case inspect.CollectionType():
            return [kind.item_type]
        case inspect.TupleType():
            return list(kind.item_types)
        case inspect.DictType():
            return [kind.value_type]
        case _:
            return []


def _words(kind: inspect.Type) -> list[Any]:
    match kind:
        case inspect.EnumType():
            return [member.value for member in kind.cls]
        case inspect.LiteralType():
            return list(kind.values)
        case _:
            return []


def escape(name: str) -> str:
    """A member's name as a JSON Pointer token (RFC 6901 §3)."""
    return name.replace("~", "~0").replace("/", "~1")
