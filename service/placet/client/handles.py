"""Handles: how to go on with a question that still waits, as a JSON value that outlives its process.

A handle grants nothing. It names an approval, and the call that was asked about by a hash; whoever goes on
presents that call again.
"""

from typing import Annotated, Final, Literal, Self

import msgspec
from msgspec import Meta

from placet.client.questions import ToolCall
from placet.client.quiet import Quiet
from placet.client.shapes import Approval
from placet.client.writing import body, members
from placet.domain.canonical import sha256_hex
from placet.domain.errors import ApprovalInputMismatch

_Text = Annotated[str, Meta(min_length=1, max_length=1024)]
_Hash = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]

VERSION: Final = 1


class Handle(Quiet, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question that was asked.

    Attributes:
        approval: The approval's id.
        digest: What was asked about, card and all, as the service had it.
        call: What was asked about, as it was presented: a hash over all that is bound.
        capability: What would run.
        run: The run, where it has one.
        call_id: The call in that run, where it has an id.
    """

    version: Literal[1] = VERSION
    approval: _Text
    digest: _Hash
    call: _Hash
    capability: _Text
    run: _Text | None = None
    call_id: _Text | None = None

    def json(self) -> str:
        """The handle as JSON."""
        return msgspec.json.encode({**msgspec.to_builtins(self), "version": self.version}).decode()

    @classmethod
    def of(cls, value: object) -> Self:
        """A handle of its JSON, as text or read.

        Raises:
            ApprovalInputMismatch: That is none.
        """
        if isinstance(value, cls):
            return value
        try:
            return (
                msgspec.json.decode(value, type=cls)
                if isinstance(value, str)
                else msgspec.convert(value, cls)
            )
        except msgspec.DecodeError:
            raise ApprovalInputMismatch from None

    def is_of(self, approval: Approval) -> None:
        """Hold a record against it.

        Raises:
            ApprovalInputMismatch: It is of another question.
        """
        known = (self.approval, self.capability, self.digest)
        if (approval.id, approval.capability, _digest_of(approval)) != known:
            raise ApprovalInputMismatch


def handle_for(call: ToolCall, approval: Approval, *, run: str | None, call_id: str | None) -> Handle:
    """That of a question which has just been asked."""
    return Handle(
        approval=approval.id,
        digest=_digest_of(approval) or "",
        call=hash_of(call),
        capability=call.capability,
        run=run,
        call_id=call_id,
    )


def _digest_of(approval: Approval) -> str | None:
    """Of what was asked, whatever an approver has made of it."""
    return approval.requested.digest if approval.requested else approval.digest


def hash_of(call: ToolCall) -> str:
    """A hash over what is bound of a call.

    Raises:
        ApprovalUnserializableInput: It has no canonical form.
    """
    return sha256_hex(body(members(call)))
