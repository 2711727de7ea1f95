"""The decorator, and what a client is answered."""

import asyncio
import inspect
import logging
from collections.abc import Callable, Coroutine, Mapping
from functools import wraps
from typing import Any, Final, TypeVar, Unpack

import msgspec
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import principal_components
from mcp.server.mcpserver import Context
from mcp.types import CallToolResult, TextContent

from placet.client.decorating import given
from placet.client.hook_async import Grant, Hook
from placet.client.hook_options import Decorating, called, known
from placet.client.mcp.rounds import Rounds
from placet.client.mcp.shape import CONTEXT, Shape
from placet.client.questions import Actor, ToolCall
from placet.client.refusals import (
    CALL_AGAIN,
    ApprovalPending,
    ApprovalRefused,
    HookRefusal,
    again_after,
)
from placet.client.reporting import Telling
from placet.client.running import in_thread
from placet.domain.canonical import canonicalize
from placet.domain.errors import PlacetError

Here = Context[Any, Any]
Tool = Callable[..., Coroutine[Any, Any, Any]]
T = TypeVar("T")

_log: Final = logging.getLogger("placet.client.hook")


class Approvals:
    """The approvals of a tool server.

    Args:
        hook: The hook; its ``surface`` is "mcp", if you will.
        actor: For whom a call is, where that is not who is authenticated: on stdio, for instance.
        run: What groups calls, such as a conversation, where the server can tell.
        again_after_s: How long a call that was rejected, or has run, is answered with that.
    """

    def __init__(
        self,
        hook: Hook,
        *,
        actor: Actor | Callable[[Here], Actor] | None = None,
        run: str | Callable[[Here], str] | None = None,
        again_after_s: float = 300.0,
    ) -> None:
        self._hook = hook
        self._actor = actor
        self._run = run
        self._rounds = Rounds(hook, again_after_s)

    def requires_approval(
        self, capability: str, *, effect: str, **said: Unpack[Decorating]
    ) -> Callable[[Callable[..., Any]], Tool]:
        """Have a function run only when its call was approved; ``@server.tool()`` above makes it a tool.

        It goes directly above the function: above ``@server.tool()`` it would gate what the server does not
        call. :meth:`tool` does both, in that order.

        The options are those of the hook's decorator, but ``unbound``: each argument is the client's.

        Raises:
            TypeError: The function can't be used so, or an option is none.
        """
        known(said)
        if "unbound" in said:
            raise TypeError("what a client calls has no arguments that nobody approves")

        def decorate(function: Callable[..., Any]) -> Tool:
            asking: dict[str, Any] = {"suspend": True, **said}
            shape = Shape(function, asking.pop("key", None))
            asking["gate"] = shape.judge(asking.get("gate"))
            telling = Telling(summary=asking.pop("summary", None), errors=asking.pop("tell_errors", False))

            @wraps(function)
            async def tool(**given: Any) -> Any:  # noqa: ANN401 - the tool's own result
                context = given.pop(CONTEXT)
                actor, bound = self._who(context)
                bound["tool"] = function.__name__
                run = self._run_of(context)
                try:
                    plain = shape.plain(given)
                    call = called(capability, plain, actor, effect, bound, self._hook.surface)
                    grant = await self._rounds.authorize(call, {**asking, **run})
                except PlacetError as fault:
                    return self._told(ApprovalRefused(fault))
                except HookRefusal as refusal:
                    return self._told(refusal)
                return await self._ran(shape, telling, grant, call, context)

            tool.__signature__ = shape.signature  # type: ignore[attr-defined] # as the SDK reads it
            tool.__annotations__ = shape.annotations
            return tool

        return decorate

    def tool(
        self,
        register: Callable[[Callable[..., Any]], T],
        capability: str,
        *,
        effect: str,
        **said: Unpack[Decorating],
    ) -> Callable[[Callable[..., Any]], T]:
        """Gate a function and make a tool of it: ``@approvals.tool(server.tool(), "orders.refund", …)``."""
        gated = self.requires_approval(capability, effect=effect, **said)
        return lambda function: register(gated(function))

    def _who(self, context: Here) -> tuple[Actor, dict[str, Any]]:
        """For whom a call is, and what else of that is bound."""
        if self._actor is not None:
            return given(self._actor, context), {}
        token = get_access_token()
        if token is None:
            raise TypeError("nobody is authenticated here: say with actor=... for whom the calls are")
        client, issuer, subject = principal_components(token)
        actor = Actor(id=subject or client, kind="user" if subject else "service")
        return actor, {"client_id": client, "issuer": issuer}

    def _run_of(self, context: Here) -> dict[str, str]:
        """In which run, where the server tells runs apart."""
        if self._run is None:
            return {}
        if run := given(self._run, context):
            return {"run": run}
        raise TypeError("what is not to be shared has to be in a run: this call is in none")

    async def _ran(self, shape: Shape, telling: Telling, grant: Grant, call: ToolCall, context: Here) -> Any:  # noqa: ANN401 - the tool's own result
        running = self._reported(shape, telling, grant, context)
        # A thread goes on whatever becomes of who waits for it: so does what tells how it ended.
        result = await (running if shape.is_async else asyncio.shield(self._hook.aside(running)))
        is_edited = canonicalize(grant.input) != canonicalize(call.input)
        return shape.edited(result, grant.input) if is_edited else result

    async def _reported(self, shape: Shape, telling: Telling, grant: Grant, context: Here) -> Any:  # noqa: ANN401 - the tool's own result
        said = (grant.input, grant.execution_id, context)
        try:
            result = await (shape.call(*said) if shape.is_async else in_thread(shape.call, *said))
            if inspect.isawaitable(result):
                result = await result
        except BaseException as error:
            await grant.failed(telling.failure(error))
            raise
        else:
            failed = isinstance(result, CallToolResult) and result.is_error
            await (grant.failed if failed else grant.succeeded)(telling.result(result))
            return result

    def _told(self, refusal: HookRefusal) -> CallToolResult:
        """A refusal as the tool's answer."""
        if isinstance(refusal, ApprovalPending):
            return self._required(refusal)
        text = refusal.text
        if isinstance(refusal, ApprovalRefused) and (again := self._rounds.again_at(refusal)) is not None:
            text = f"{text} {again_after(again)}"
        return _error({**refusal.model(), "message": text}, text)

    def _required(self, pending: ApprovalPending) -> CallToolResult:
        approval, link = pending.approval, self._hook.link(pending.approval)
        expires = msgspec.to_builtins(approval.expires_at)
        said = {**CALL_AGAIN, "id": approval.id, "expires_at": expires, "link": link}
        return _error(
            said, f"{CALL_AGAIN['message']} Approval {approval.id} is decided at {link} until {expires}."
        )


def _error(said: Mapping[str, Any], text: str) -> CallToolResult:
    """An answer to a call that did not run; whatever a tool says that it returns does not hold of it."""
    return CallToolResult(
        content=[TextContent(type="text", text=text)], structured_content=dict(said), is_error=True
    )
