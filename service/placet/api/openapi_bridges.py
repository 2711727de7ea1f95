"""The callback of bridges in the OpenAPI document: described like a route, proved by a signature."""

from typing import Final

from placet.api import openapi_webhooks as webhooks
from placet.api import operations
from placet.api.openapi_schemas import Object
from placet.api.routes import ROUTES, Route
from placet.application import commands

_DECIDE: Final = next(route for route in ROUTES if route.name == "decide_approval")

BRIDGE: Final = Route(
    method="POST",
    path="/v1/callbacks/{name}",
    name="bridge_callback",
    summary="Decide for a person, from a chat of your own",
    operation=operations.decide,
    scopes=frozenset(),
    body=commands.CallBack,
    conflicts=(*_DECIDE.conflicts, "INVOCATION_CONFLICT"),
)
DESCRIBED: Final = (*ROUTES, BRIDGE)
"""Every call that is described."""

CALLERS: Final = "Who may call: a bridge, which is a client with the scope `decide_as`, by its signature."
SECURITY: Final[list[Object]] = [{"bridge": []}]


def parameters() -> list[Object]:
    """The headers that are signed."""
    return webhooks.headers()
