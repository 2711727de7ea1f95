"""One call of a gated tool: what LangChain makes of its arguments, what is asked, and what is answered."""

import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final, Generic, TypeVar

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, ToolException
from langgraph.types import Command
from pydantic_core import to_jsonable_python

from placet.client.hook_async import Grant, Hook
from placet.client.hook_options import known
from placet.client.hook_sync import SyncGrant, SyncHook
from placet.client.refusals import ApprovalPending, ApprovalRefused, HookRefusal, changed
from placet.client.reporting import Telling
from placet.domain.canonical import canonicalize
from placet.domain.errors import ApprovalUnserializableInput

H = TypeVar("H", Hook, SyncHook)
Turns = Callable[[str, object, str | None], Mapping[str, Any]]

KIND: Final = "placet.approval"
"""What the value of an interrupt says that is one of ours."""

LANGCHAINS: Final = frozenset({"run_manager", "callbacks"})
"""Parameters of its own: no caller gives them."""
_WRITTEN: Final = (str, int, float, list, tuple, dict, type(None))
"""What a model can write; whatever else a hidden parameter is given comes from the runtime."""
_NOT_JSON: Final = (ArithmeticError, RecursionError, TypeError, ValueError)
_log: Final = logging.getLogger("placet.client.langgraph")


class Gate(Generic[H]):
    """What stands before a tool.

    Args:
        hook: The hook.
        turn: Says for whom and within what a call is made: of the capability, the input, and the call's id.
        capability: The tool's name in questions.
        effect: Its effect.
        said: What else its questions say (:class:`~placet.client.hook_options.Decorating`).

    Raises:
        TypeError: An option is none.
    """

    def __init__(self, hook: H, turn: Turns, capability: str, effect: str, said: Mapping[str, Any]) -> None:
        known(said)
        self.hook: H = hook
        self._turn, self._capability, self._effect = turn, capability, effect
        self._asking: dict[str, Any] = {"suspend": True, **said}
        self.unbound = frozenset(self._asking.pop("unbound", ()))
        self.key: str | None = self._asking.pop("key", None)
        summary, errors = self._asking.pop("summary", None), self._asking.pop("tell_errors", False)
        self.telling = Telling(summary=summary, errors=errors)
        self.own: Callable[[Any], Any] | None = self._asking.pop("gate", None)
        self.pauses: bool = self._asking["suspend"]

    def question(self, value: object, call_id: str | None) -> dict[str, Any]:
        """What is asked about a call."""
        said = {"capability": self._capability, "input": value, "effect": self._effect}
        return {**self._asking, **said, **self._turn(self._capability, value, call_id)}


class Call:
    """One call of a gated tool: its arguments, validated, and those that are approved among them.

    Those are what a model gives; and what a hidden parameter was given that is not ``apart``, if a model can
    have written it.
    """

    def __init__(
        self, tool: BaseTool, gate: Gate[Any], apart: frozenset[str], value: object, call_id: str | None
    ) -> None:
        if not isinstance(value, dict):
            raise TypeError("a gated tool takes its arguments by name")
        self._tool, self._gate, self._id = tool, gate, call_id
        given = {**value, **({gate.key: ""} if gate.key else {})}
        self._own = {name for name, each in given.items() if isinstance(each, _WRITTEN)} - apart
        parsed: Any = tool._parse_input({**given}, call_id)  # noqa: SLF001 - what LangChain validates with
        self._named = self._approved(parsed)
        injected = parsed.keys() - self._named.keys() - LANGCHAINS
        self._injected = {name: given[name] for name in given.keys() & injected}

    def question(self) -> dict[str, Any]:
        """What is asked.

        Raises:
            ApprovalRefused: The arguments are no JSON from which they could be read back.
        """
        plain = None
        with suppress(*_NOT_JSON):
            plain = to_jsonable_python(self._named)
        if plain is None or self._read(plain) != self._named:
            _log.error("the arguments of %r are not the same when read back from JSON", self._tool.name)
            raise ApprovalRefused(ApprovalUnserializableInput("/input"))
        return {**self._gate.question(plain, self._id), "gate": self._passes}

    def card(self, pending: ApprovalPending) -> dict[str, Any]:
        """What the graph pauses with; anybody may read it."""
        return {
            "type": KIND,
            "approval": pending.approval.id,
            "capability": pending.approval.capability,
            "message": pending.text,
            "link": self._gate.hook.link(pending.approval),
            "expires_at": pending.approval.expires_at.isoformat(),
            "tool_call_id": self._id,
        }

    def arguments(self, grant: Grant | SyncGrant) -> dict[str, Any]:
        """What the tool is called with."""
        key = {self._gate.key: grant.execution_id} if self._gate.key else {}
        return {**self._injected, **grant.input, **key}

    def refused(self, refusal: HookRefusal) -> ToolMessage:
        """The answer in the tool's place.

        Raises:
            HookRefusal: It is no model that has called.
        """
        if self._id is None:
            raise refusal
        return ToolMessage(refusal.text, name=self._tool.name, tool_call_id=self._id, status="error")

    def ended(self, output: Any) -> tuple[str, str | None]:  # noqa: ANN401 - the tool's own result
        """How it ended, as the grant has it, and what is told of that."""
        telling, is_message = self._gate.telling, isinstance(output, ToolMessage)
        if is_message and output.status == "error":
            return "failed", telling.failure(ToolException(str(output.content)))
        return "succeeded", telling.result(output.content if is_message else output)

    def noted(self, output: Any, grant: Grant | SyncGrant) -> Any:  # noqa: ANN401 - as above
        """The result; with a note for the model, where it ran with something else than the model wrote."""
        if grant.approval.requested is None:
            return output
        if isinstance(output, list):
            return [self.noted(each, grant) for each in output]
        if isinstance(output, Command) and isinstance(output.update, dict):
            messages = self.noted(output.update.get("messages", []), grant)
            return replace(output, update={**output.update, "messages": messages})
        if not isinstance(output, ToolMessage) or output.tool_call_id != self._id:
            return output
        note, content = changed(grant.input), output.content
        block = {"type": "text", "text": note}
        noted = f"{note}\n{content}" if isinstance(content, str) else [block, *content]
        return output.model_copy(update={"content": noted})

    def _read(self, value: Mapping[str, Any]) -> object:
        """The arguments that the tool makes of a JSON value; None where that is not what they are in JSON."""
        try:
            parsed = self._tool._parse_input({**self._injected, **value}, self._id)  # noqa: SLF001 - as above
            named = self._approved(parsed)
            same = canonicalize(to_jsonable_python(named)) == canonicalize(value)
        except _NOT_JSON:
            return None
        return named if same else None

    def _approved(self, parsed: Any) -> dict[str, Any]:  # noqa: ANN401 - as LangChain has it
        shown = visible(self._tool, parsed)
        return {name: each for name, each in parsed.items() if name in shown or name in self._own}

    def _passes(self, value: Any) -> Any:  # noqa: ANN401 - any JSON
        if not isinstance(value, dict) or self._read(value) is None:
            return False
        return None if self._gate.own is None else self._gate.own(value)


def visible(tool: BaseTool, arguments: Any) -> dict[str, Any]:  # noqa: ANN401 - LangChain says it may be a text
    """Those that a model gives."""
    those: dict[str, Any] = tool._filter_injected_args(arguments)  # noqa: SLF001 - LangChain knows which it injects
    return those
