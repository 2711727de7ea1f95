"""How a call is written: bodies in canonical JSON, paths and queries with everything escaped."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, TypeVar
from urllib.parse import quote

import msgspec
from msgspec import UNSET, Raw

from placet.client.questions import Actor, ToolCall, Vote
from placet.domain.canonical import canonicalize
from placet.domain.error_terms import Issue
from placet.domain.errors import ApprovalUnserializableInput, InputInvalid

T = TypeVar("T")

_BOUND: Final = frozenset({"input", "context"})
_encode = msgspec.json.Encoder().encode
_walk = msgspec.json.Encoder(enc_hook=lambda _: None).encode


def members(call: ToolCall, actor: Actor | None = None) -> dict[str, object]:
    """What is bound; of the actor only that, where it is not given whole."""
    said = actor or {"id": call.actor.id, "kind": call.actor.kind}
    bound = {
        "capability": call.capability,
        "surface": call.surface,
        "actor": said,
        "effect": call.effect,
        "context": call.context,
        "input": call.input,
    }
    if call.input is UNSET:
        del bound["input"]
    return bound if call.input_hash is None else {**bound, "input_hash": call.input_hash}


def vote_members(vote: Vote) -> dict[str, object]:
    """What a decision says, but for what it is about."""
    said: dict[str, object] = {"decision": vote.decision, "digest": vote.digest}
    if vote.comment is not None:
        said["comment"] = vote.comment
    if vote.input is not UNSET:
        said["input"] = vote.input
    if vote.approver is not None:
        said["approver"] = {"id": vote.approver}
    return said


def body(said: Mapping[str, object]) -> bytes:
    """A body of these members.

    Raises:
        ApprovalUnserializableInput: There is no canonical form of the input or the context.
        InputInvalid: There is none of another member.
    """
    return _encode({name: Raw(_canonical(name, value)) for name, value in sorted(said.items())})


def _canonical(name: str, value: object) -> bytes:
    """A member in canonical form; raises as :func:`body` does."""
    try:
        # What runs must be what was approved: nothing that is no JSON is made into it on the way.
        plain = acyclic(value) if name in _BOUND else msgspec.to_builtins(value)
        return canonicalize(plain)
    except (ArithmeticError, TypeError, ValueError, RecursionError):
        pass
    # Raised out here, a fault drags no context along that holds the value.
    if name in _BOUND:
        raise ApprovalUnserializableInput(f"/{name}")
    raise InputInvalid([Issue(path=f"/{name}", message="It can't be written as JSON.")])


def acyclic(value: T) -> T:
    """The value; a ``RecursionError`` where it is part of itself, of which canonicalizing sees no end."""
    _walk(value)
    return value


def read_back(name: str, value: object) -> Any:  # noqa: ANN401 - any JSON
    """A value as its canonical form has it: a copy, and the same for whoever reads that form.

    Raises:
        ApprovalUnserializableInput: It has none, or none that can be read so.
    """
    with suppress(ArithmeticError, TypeError, ValueError, RecursionError):
        plain = msgspec.json.decode(canonicalize(acyclic(value)))
        canonicalize(plain)  # which 1e17 has no more, once it is spelt out
        return plain
    raise ApprovalUnserializableInput(f"/{name}")  # out here, nothing hangs on it that holds a value


def query(said: Mapping[str, object]) -> dict[str, str]:
    """The query; what is None is left out."""
    return {name: str(value) for name, value in said.items() if value is not None}


def path_of(approval_id: str, what: str | None = None) -> str:
    """The path of an approval, or of something of it."""
    path = f"/v1/approvals/{segment(approval_id, 'id')}"
    return path if what is None else f"{path}/{what}"


def segment(text: str, name: str) -> str:
    """One segment of a path, whatever is in it.

    Raises:
        InputInvalid: None that would stay one on every way.
    """
    if text in {"", ".", ".."}:
        raise InputInvalid([Issue(path=f"/{name}", message="It can't be part of a path.")])
    return quote(text, safe="")
