"""A chat model that says what it was told to say. Importing this keeps LangSmith from being told of it."""

import os
from collections.abc import Sequence
from typing import Any

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.messages.tool import ToolCall
from langchain_core.outputs import ChatGeneration, ChatResult

os.environ["LANGSMITH_TRACING"] = "false"


def call(name: str, call_id: str, **arguments: Any) -> ToolCall:
    """A tool call."""
    return ToolCall(name=name, args=arguments, id=call_id, type="tool_call")


class Scripted(BaseChatModel):
    """Calls these tools, one turn after another, and then says what they answered.

    Where it is in its script it reads from the conversation, so that it goes on in another process.
    """

    turns: list[list[ToolCall]]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        """It knows them already."""
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        turn = sum(isinstance(each, AIMessage) for each in messages)
        if turn < len(self.turns):
            said = AIMessage("", tool_calls=self.turns[turn])
        else:
            said = AIMessage(" | ".join(str(e.content) for e in messages if isinstance(e, ToolMessage)))
        return ChatResult(generations=[ChatGeneration(message=said)])
