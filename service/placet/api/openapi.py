"""The OpenAPI 3.1 document, generated: from the route table, the types of the wire and the error table.

``python -m placet.api.openapi`` writes ``openapi/openapi.json``, and a test holds the two equal.
"""

import json
import re
import sys

from placet.api import openapi_bridges as bridges
from placet.api import openapi_callbacks as callbacks
from placet.api import openapi_errors as errors
from placet.api import openapi_examples as examples
from placet.api import openapi_parts as parts
from placet.api import openapi_public as public
from placet.api import openapi_schemas as schemas
from placet.api import openapi_story as story
from placet.api import openapi_webhooks as webhooks
from placet.api.openapi_bridges import DESCRIBED
from placet.api.openapi_schemas import Object
from placet.api.prose import OPERATIONS, TAGS
from placet.api.routes import Route
from placet.application.event_lines import CONTENT_TYPE
from placet.domain.limits import Limits
from placet.domain.principals import Scope

_RECORD = ("Approval", "The record as it is now.")
_ANSWERED = {
    "list_approvals": ("ApprovalPage", "A page of records."),
    "get_approval_events": ("Trail", "The trail."),
    "follow_events": ("Event", "Events, for as long as somebody listens: the data of each."),
    "decide_approvals": ("DecisionResults", "What became of each."),
    "cancel_run": ("RunCancelled", "What became of the run's approvals."),
    "introspect_token": ("Introspection", "The judgement."),
}
"""The type of a route's answer and what it is, where that is not the record."""

_CREATED = {
    201: ("Approval", "A new question, pending."),
    200: ("Approval", "The question that is there already, as it is now."),
}
"""The same of a question, by status."""

_PATH_PARAMETERS = {
    "id": ("The approval's id. One that can't exist is answered as one that does not.", story.APPROVAL_ID),
    "name": (
        "The bridge's name. Where its tenant is not `default`, the tenant and a full stop stand before it.",
        "chat",
    ),
    "run": ("The run's name. Of a run that nobody knows, nothing is open.", story.RUN),
}
"""What each means, and an example."""


def document(server_url: str | None, limits: Limits | None = None) -> Object:
    """The document.

    Args:
        server_url: Where the service is reached; without one, wherever the document was got from.
        limits: Those of the service; without them, the defaults.
    """
    limits = limits or Limits()
    paths: dict[str, Object] = {}
    for route in DESCRIBED:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, limits)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Placet",
            "version": "1",
            "summary": "Human approval for AI agents: what was approved is what runs, once.",
            "description": parts.DESCRIPTION,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": server_url or "/"}],
        "tags": [{"name": name, "description": description} for name, description in TAGS.items()],
        "paths": {**paths, **callbacks.paths(), **public.paths()},
        "webhooks": webhooks.webhooks(),
        "components": {
            "schemas": schemas.components(limits),
            "responses": errors.shared_responses(),
            "headers": parts.HEADERS,
            "parameters": parts.PARAMETERS,
            "examples": errors.shown(),
            "securitySchemes": parts.SECURITY_SCHEMES,
        },
    }


def text(described: Object) -> str:
    """The document as a file: indented JSON, in the same order every time."""
    return json.dumps(described, indent=2, ensure_ascii=False) + "\n"


def _callers(route: Route) -> str:
    """Who may call, in a sentence."""
    if not route.scopes:
        return bridges.CALLERS
    if route.scopes == frozenset(Scope):
        clients = "any client"
    else:
        clients = "a client with the scope " + " or ".join(f"`{scope}`" for scope in _scopes(route))
    return f"Who may call: {clients}{', or an approver' if route.approvers else ''}."


def _operation(route: Route, limits: Limits) -> Object:
    prose = OPERATIONS[route.name]
    described: Object = {
        "operationId": route.name,
        "tags": [prose.tag],
        "summary": route.summary,
        "description": f"{prose.description}\n\n{_callers(route)}",
        "security": _security(route),
        "parameters": _route_parameters(route, limits),
    }
    if route.body is not None:
        described["requestBody"] = {
            "required": not route.body_optional,
            "description": f"At most {limits.max_body_bytes} bytes.",
            "content": _content(schemas.BODIES[route.body], examples.BODIES[route.name]),
        }
    described["responses"] = {**_successes(route), **errors.answers(route)}
    return described


def _successes(route: Route) -> Object:
    created = route.name == "create_approval"
    answers: Object = {}
    for status in route.statuses:
        schema, meaning = _CREATED[status] if created else _ANSWERED.get(route.name, _RECORD)
        headers = ("Location", *errors.ON_EVERY_ANSWER) if created else errors.ON_EVERY_ANSWER
        answers[str(status)] = {
            "description": meaning,
            "headers": {name: {"$ref": f"#/components/headers/{name}"} for name in headers},
            "content": _content(schema, examples.ANSWERS[route.name][status], _media_type(route)),
            "links": parts.LINKS if created else {},
        }
    return answers


def _media_type(route: Route) -> str:
    return CONTENT_TYPE.decode() if route.streams else "application/json"


def _content(schema: str, shown: examples.Examples, media_type: str = "application/json") -> Object:
    return {
        media_type: {
            "schema": {"$ref": f"#/components/schemas/{schema}"},
            "examples": examples.shown(shown),
        }
    }


def _route_parameters(route: Route, limits: Limits) -> list[Object]:
    signed = [] if route.scopes else bridges.parameters()
    shared = ["X-Request-ID"]
    if route.name == "create_approval":
        shared.insert(0, "Idempotency-Key")
    if route.streams:
        shared.insert(0, "Last-Event-ID")
    return [
        *(_path_parameter(name) for name in re.findall(r"{(\w+)}", route.path)),
        *schemas.query(route.query, limits),
        *signed,
        *({"$ref": f"#/components/parameters/{name}"} for name in shared),
    ]


def _path_parameter(name: str) -> Object:
    meaning, example = _PATH_PARAMETERS[name]
    return {
        "name": name,
        "in": "path",
        "required": True,
        "description": meaning,
        "schema": {"type": "string", "minLength": 1},
        "example": example,
    }


def _security(route: Route) -> list[Object]:
    """One requirement for each way in; roles may be named for any scheme (Security Requirement Object)."""
    if not route.scopes:
        return bridges.SECURITY
    everybody = route.scopes == frozenset(Scope)
    clients = [{"client": []}] if everybody else [{"client": [scope.value]} for scope in _scopes(route)]
    return [*clients, *([{"approver": []}] if route.approvers else [])]


def _scopes(route: Route) -> list[Scope]:
    return [scope for scope in Scope if scope in route.scopes]


if __name__ == "__main__":
    sys.stdout.buffer.write(text(document(None)).encode())
