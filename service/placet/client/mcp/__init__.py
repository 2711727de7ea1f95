"""The gate for tool servers written with the MCP SDK (``mcp``).

.. code-block:: python

    approvals = Approvals(Hook(client, audience="tool-server", surface="mcp"))

    @approvals.tool(server.tool(), "orders.refund", effect="external")
    def refund(order: str, amount: int) -> str: ...

A call is answered at once: a person has to approve it first, on the page that the answer names. Once that is
done, the same call runs it, once. Nothing that a client sends decides: it only calls, and Placet is asked.

*Whose call it is* says the access token that the SDK has verified, by subject, client and issuer together;
or ``actor``, the server's own word. Arguments, ``_meta`` and what a client says of itself never do. An
approval is good in all sessions of its actor, and outlives them; ``run`` sets apart what is not to be shared.

*Which call it is* says what it is about: actor, run, tool and input. Calls that are sent again, or at once,
find one question and run once; a changed argument makes another call. What was rejected, or has run, is
answered with that for ``again_after_s``; from then on the same call is a new one
(:mod:`placet.client.mcp.rounds`).

A refusal is a tool error (``isError``), for the tool did not do its work. That nobody knows whether a call
ran is one too, and logged for a person. What a tool itself raises goes the SDK's way.

What MCP can't do:

- Tell a call that is sent again from one that is made again: the time between them has to.
- Have a client wait. ``suspend=False`` waits within a call, but many clients give up after a minute: with a
  ``timeout_s`` below that, the answer is as above after all.
- Ask for the decision. Whose client it is must not approve, so an elicitation that it accepts opens nothing.
- Show a client that an approver changed its call, but as a text beside the result.
"""

try:
    import mcp.server.mcpserver as _sdk  # noqa: F401 - it is new in the release that is needed
except ImportError as missing:
    raise ImportError("this needs the SDK: pip install 'placet[mcp]'") from missing

from placet.client.mcp.approvals import Approvals

__all__ = ["Approvals"]
