"""The webhooks of the OpenAPI document: what the service sends to endpoints, for whoever receives it."""

from hashlib import sha256

import msgspec

from placet.api import openapi_story as story
from placet.api.call import encode
from placet.api.openapi_examples import Example, Examples, shown
from placet.api.openapi_schemas import REFERENCE, Object
from placet.application.record_shapes import WebhookTestDataView, WebhookTestView
from placet.application.rulings import rfc3339
from placet.application.standing import as_decided
from placet.application.webhook_events import TEST_TYPE, message
from placet.channels.webhooks import signing

TAG = "Webhooks"

_SECRET = sha256(b"placet example: webhook").digest()
_MESSAGE_ID = "msg_3f0c5a9d41e27b86c0d8f1a2b4e69753"
_APPROVED = next(line for line in story.TRAIL if line.type == "approved")
_SENT = message(story.APPROVED, _APPROVED, as_decided(story.APPROVED), with_input=False)
_WHOLE = message(story.APPROVED, _APPROVED, as_decided(story.APPROVED), with_input=True)
_TEST = WebhookTestView(
    type=TEST_TYPE,
    timestamp=rfc3339(story.ASKED_MS),
    data=WebhookTestDataView(tenant=story.TENANT, webhook="audit"),
)
_SIGNED = signing.headers([_SECRET], _MESSAGE_ID, story.DECIDED_MS // 1_000, encode(_SENT))

_DESCRIPTION = f"""\
Sent to every endpoint that hears of it (`placet webhooks create`), as Standard Webhooks 1.0.0 has it: \
prove it by `webhook-id`, `webhook-timestamp` and `webhook-signature` over the bytes as they came, \
with a library of the standard. While a secret is rotated there are two signatures, and one that fits \
is enough. The examples' secret is `{signing.written(_SECRET)}`, and their signature is that of the first.

Answer with any 2xx within ten seconds; whatever else comes back, redirects included, is a failure. A \
message is sent at least once: what has failed comes again, for some eight hours, with the same \
`webhook-id`, by which to know it. The events of one approval come in their order; those of several do \
not wait for each other. `data.approval` is the record as it is when the message is sent, and may be \
further on than the event."""


def webhooks() -> dict[str, Object]:
    """Its items, by what they are about."""
    return {
        "approval": _item(
            "receive_event",
            "Something happened to an approval",
            _DESCRIPTION,
            "WebhookEvent",
            {
                "approved": _example("To an endpoint that gets no inputs: as `read` sees it", _SENT),
                "whole": _example("To one that does: as `read_input` sees it", _WHOLE),
            },
        ),
        "test": _item(
            "receive_test",
            "An operator tries an endpoint out",
            "Sent by `placet webhooks test`, and signed like an event. It is about nothing: any 2xx will do.",
            "WebhookTest",
            {"test": _example("About nothing", _TEST)},
        ),
    }


def headers() -> list[Object]:
    """What every message of the standard comes with."""
    return [_header(*each) for each in _HEADERS]


def _item(name: str, summary: str, description: str, schema: str, examples: Examples) -> Object:
    return {
        "post": {
            "operationId": name,
            "tags": [TAG],
            "summary": summary,
            "description": description,
            "security": [],
            "parameters": headers(),
            "requestBody": {
                "required": True,
                "content": {
                    "application/json": {
                        "schema": {"$ref": f"{REFERENCE}{schema}"},
                        "examples": shown(examples),
                    }
                },
            },
            "responses": {
                "2XX": {"description": "It was taken."},
                "default": {"description": "It was not, and comes again where that may help."},
            },
        }
    }


def _example(summary: str, value: object) -> Example:
    return Example(summary=summary, value=msgspec.json.decode(encode(value)))


_HEADERS = (
    (signing.ID, "Names the message, for good: the same id again is the same message again."),
    (signing.TIMESTAMP, "When it was sent, in Unix seconds: refuse what is more than five minutes away."),
    (signing.SIGNATURE, "`v1,` and the signature in base64; several are separated by a blank."),
)


def _header(name: str, meaning: str) -> Object:
    return {
        "name": name,
        "in": "header",
        "required": True,
        "description": meaning,
        "schema": {"type": "string"},
        "example": _SIGNED[name],
    }
