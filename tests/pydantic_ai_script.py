"""A model of pydantic-ai's that does as its script says, offline."""

import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

from pydantic_ai import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart, models
from pydantic_ai.messages import ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel

models.ALLOW_MODEL_REQUESTS = False


def call(tool: str, call_id: str = "c-1", **args: Any) -> ToolCallPart:
    """A call of a tool."""
    return ToolCallPart(tool, args, tool_call_id=call_id)


class Scripted:
    """A model that calls tools as its script says, a step each turn, and then says that it is done.

    Attributes:
        model: The model.
        tools: What it was told of tools.
        heard: The results that it was given.
        told: What else it was told in the course of it.
    """

    def __init__(self, *steps: Sequence[ToolCallPart]) -> None:
        self._steps = steps
        self.model = FunctionModel(self._says, stream_function=self._streams)
        self.tools: list[Any] = []
        self.heard: list[ToolReturnPart] = []
        self.told: list[str] = []

    @property
    def answers(self) -> list[tuple[Any, str]]:
        """The results and how each is called, in the order of calls."""
        return [
            (each.content, each.outcome) for each in sorted(self.heard, key=lambda each: each.tool_call_id)
        ]

    def _next(self, messages: list[ModelMessage], info: AgentInfo) -> Sequence[ToolCallPart]:
        self.tools = info.function_tools
        parts = [part for each in messages if isinstance(each, ModelRequest) for part in each.parts]
        self.heard = [each for each in parts if isinstance(each, ToolReturnPart)]
        self.told = [str(each.content) for each in parts if isinstance(each, UserPromptPart)][1:]
        said = sum(isinstance(each, ModelResponse) for each in messages)
        return self._steps[said] if said < len(self._steps) else ()

    def _says(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        calls = self._next(messages, info)
        return ModelResponse(parts=list(calls) or [TextPart("It is done.")])

    async def _streams(
        self, messages: list[ModelMessage], info: AgentInfo
    ) -> AsyncIterator[str | DeltaToolCalls]:
        calls = self._next(messages, info)
        if not calls:
            yield "It is done."
        for index, each in enumerate(calls):
            args = json.dumps(each.args)
            yield {index: DeltaToolCall(each.tool_name, args, tool_call_id=each.tool_call_id)}
