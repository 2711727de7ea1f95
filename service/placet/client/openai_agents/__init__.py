"""Approvals for the function tools of the OpenAI Agents SDK (``openai-agents``).

.. code-block:: python

    approvals = Approvals(hook, actor=Actor(id="agent-7", kind="agent"), run=lambda run: run.context["id"])

    @approvals.requires_approval("orders.refund", effect="external")
    async def refund(order: str, amount: int = 5) -> str: ...

    result = await Runner.run(agent, "Refund A-1042.", context={"id": "run-7"})
    while result.interruptions:
        result = await Runner.run(agent, await approvals.answer(result))

A call of such a tool interrupts the run. :meth:`Approvals.answer` asks, waits for the decisions, and tells
them to the run's state, which ``state.to_json()`` keeps for another process. What a state says only lets a
tool be called: the tool finds its question again by the run and the call's id, proves the grant and spends
it. So a state that is forged, replayed or told ``always_approve`` runs nothing that is not approved, and
nothing twice. A refusal is the tool's output; so is that nobody knows whether a call ran, which is logged
too, since a person has to look.

What is approved is the JSON of the arguments as the framework validates them, with defaults; the function is
called with what the same validation makes of that JSON. Where the two would differ, nobody is asked.

What the framework can't do:

- Run other arguments than the model's: nobody can approve with changes.
- Give a run an id that outlives its process: ``run`` has to be said, and what it is found out from has to be
  the same in a restored state. States belong where only the runtime can write.
- Interrupt a run for a tool that is always approved: then the call is asked about, and the model told so.
- Gate what others run, such as hosted tools and those of MCP servers. They are gated where they run.

The SDK's tracing sends the inputs and outputs of tools to its vendor, unless it is switched off
(``set_tracing_disabled(True)``, ``OPENAI_AGENTS_DISABLE_TRACING=1``) or
``RunConfig(trace_include_sensitive_data=False)`` keeps them out.
"""

try:
    from agents import RunState as _RunState  # noqa: F401 - any package may be called "agents": this has it
except ImportError as missing:
    raise ImportError("this needs the SDK: pip install 'placet[openai-agents]'") from missing

from placet.client.openai_agents.approvals import Approvals

__all__ = ["Approvals"]
