"""Approvals for the tools of LangGraph and LangChain: in ``create_agent``, in a ``ToolNode``, in any node.

::

    approvals = Approvals(hook, actor=Actor(id="agent-7", kind="agent"))

    @approvals.requires_approval("orders.refund", effect="external")
    def refund(order: str, amount: int = 5) -> str:
        \"\"\"Refund an order.\"\"\"

    agent = create_agent(model, tools=[refund], checkpointer=saver)
    answer = await agent.ainvoke({"messages": [...]}, thread)
    while command := await approvals.decided(answer):
        answer = await agent.ainvoke(command, thread)

The decorator makes a tool of a function, or gates a tool that there is. The gate is in the tool itself, so
that nothing which calls it goes around it: a middleware, a node, a graph within a graph.

A call is asked about once, by its thread and the id of the tool call, and its graph pauses with
``interrupt``. What that is resumed with is a reason to look at Placet again, and nothing else: in another
process too, from the thread as it was saved. A refusal is the tool's answer, with status ``error``. So is
that nobody knows what became of an execution, which is logged as an error besides. Where no model has called
(``refund.ainvoke({...})`` in a node or a ``@task``), a call is known by its place in the graph and by what it
would run, and a refusal is raised.

What is approved are the arguments as the tool validates them, as JSON, but for those that a graph injects,
such as its state. They have to come out the same when they are validated again, and so has what an approver
makes of them. What a node of your own gives for an ``InjectedToolArg`` is approved too where it is
JSON, since a model may have written it, unless ``unbound`` names it, as for a secret. Such a node, which no
``ToolNode`` is, has to write over what the model wrote: ``{**call["args"], "token": token}``.

What the framework can't do: it runs a node from its start again, and keeps no part of it. After a gated call
neither its node may pause, nor may the tool's own body: the call has run, and is refused when it comes again.
So it is with several calls in one run of a ``ToolNode``; ``create_agent`` gives each a run of its own, and
elsewhere ``[Send("tools", [call]) for call in message.tool_calls]`` does. A thread in which a model uses the
id of a tool call twice has the second one refused. Leave gated tools out of a ``HumanInTheLoopMiddleware``:
what it is answered opens nothing here, and people would be asked twice.
"""

try:
    from placet.client.langgraph.approvals import Approvals, SyncApprovals
except ModuleNotFoundError as missing:
    raise ImportError("for tools of LangGraph: pip install 'placet[langgraph]'") from missing

__all__ = ["Approvals", "SyncApprovals"]
