"""Callbacks in the OpenAPI document: what other systems call, with a signature in place of a credential."""

from placet.api import openapi_errors as errors
from placet.api.openapi_schemas import Object
from placet.domain.limits import SLACK_BODY_MAX_BYTES

_FORM = "application/x-www-form-urlencoded"


def paths() -> dict[str, Object]:
    """Their path items."""
    return {"/v1/callbacks/slack": {"post": _slack()}}


def _slack() -> Object:
    answered = {"response_action": "errors", "errors": {"placet.comment": "Nothing was decided. …"}}
    return {
        "operationId": "slack_callback",
        "tags": ["Callbacks"],
        "summary": "What people do with cards in Slack",
        "description": (
            "The request URL of the Slack app: clicks, and forms that were sent. Whoever clicked is one of"
            " the directory, or is refused; whatever comes of it they are told in Slack.\n\n"
            "Signed by Slack over the body as it is, within five minutes of our clock either way, with one of"
            " the app's signing secrets. It is acknowledged within 2.5 seconds, also where the store is slow."
        ),
        "security": [{"slack": []}],
        "parameters": [{"$ref": "#/components/parameters/X-Request-ID"}],
        "requestBody": {
            "required": True,
            "description": f"At most {SLACK_BODY_MAX_BYTES} bytes.",
            "content": {
                _FORM: {
                    "schema": {
                        "type": "object",
                        "properties": {"payload": {"type": "string"}},
                        "required": ["payload"],
                        "additionalProperties": False,
                    },
                    "examples": {
                        "click": {
                            "summary": "A click, which Slack describes",
                            "value": {"payload": '{"type": "block_actions", …}'},
                        }
                    },
                }
            },
        },
        "responses": {
            "200": {
                "description": "It was taken; with a body, what Slack is to do with the form.",
                "headers": {
                    name: {"$ref": f"#/components/headers/{name}"} for name in errors.ON_EVERY_ANSWER
                },
                "content": {
                    "application/json": {
                        "schema": {"type": "object"},
                        "examples": {"not taken": {"summary": "A comment is missing", "value": answered}},
                    }
                },
            },
            **errors.callback_answers(),
        },
    }
