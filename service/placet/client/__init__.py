"""The agent's side: ask, wait, consume, report. It needs no server library.

:class:`AsyncClient` is for asyncio, :class:`Client` for threads; they are one client but for that.
"""

from placet.client.asynchronous import AsyncClient
from placet.client.errors import AnswerNotUnderstood, ServiceUnreachable, StillPending, UnknownRefusal
from placet.client.questions import Actor, Presentation, ToolCall, Vote
from placet.client.shapes import (
    Approval,
    Decided,
    Decision,
    Event,
    Gap,
    Introspection,
    Outcome,
    Page,
    RunCancelled,
    Spent,
    TrailLine,
)
from placet.client.steps import Retries
from placet.client.synchronous import Client
from placet.domain.errors import PlacetError

__all__ = [
    "Actor",
    "AnswerNotUnderstood",
    "Approval",
    "AsyncClient",
    "Client",
    "Decided",
    "Decision",
    "Event",
    "Gap",
    "Introspection",
    "Outcome",
    "Page",
    "PlacetError",
    "Presentation",
    "Retries",
    "RunCancelled",
    "ServiceUnreachable",
    "Spent",
    "StillPending",
    "ToolCall",
    "TrailLine",
    "UnknownRefusal",
    "Vote",
]
