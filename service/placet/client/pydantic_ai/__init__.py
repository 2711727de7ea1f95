"""Tools of pydantic-ai that take an approval: the run pauses until there is one.

.. code-block:: python

    approvals = Approvals(hook, actor=lambda ctx: Actor(id=ctx.deps.user, kind="user"))


    @approvals.tool(agent.tool, "orders.refund", effect="external")
    async def refund(ctx: RunContext[Deps], order: str, amount: Decimal) -> str: ...


    result = await agent.run("Refund A-1.", deps=deps)
    while isinstance(result.output, DeferredToolRequests):
        decided = await approvals.results(result.output)
        result = await agent.run(conversation=result.conversation, deferred_tool_results=decided, deps=deps)

``DeferredToolRequests`` is among the agent's output types. To wait within the run instead, for all calls of a
step at once, give the agent ``HandleDeferredToolCalls(lambda ctx, requests: approvals.results(requests))``.

The tool is called again when the run goes on, and looks for itself: what ``DeferredToolResults`` say is a
reason to look and opens nothing. Its question is known by the ids of the conversation and of the call, so
keep ``result.conversation``, and go on with it in whichever process. Arguments that fail validation are never
asked about. A tool that raises, ``ModelRetry`` too, has used its approval up; what the model tries next is
asked.

An approver's change is given to the framework (``override_args``), which validates it. Where that can't be (a
lone model or ``**kwargs``, ``suspend=False``, a run that goes on without ``results``) it is validated here,
by the same types, the tool's ``args_validator`` and its ``gate``.

What the framework can't do: tell a ``tool_plain`` which call it is in; go on while some calls have no answer
(those that wait pause again); change the call in its history to what an approver made of it (the model is
told of that beside the result).
"""

try:
    import pydantic_ai  # noqa: F401 - whether it is there
except ModuleNotFoundError as missing:
    raise ImportError("for tools of pydantic-ai: pip install 'placet[pydantic-ai]'") from missing

from placet.client.pydantic_ai.approvals import Approvals

__all__ = ["Approvals"]
