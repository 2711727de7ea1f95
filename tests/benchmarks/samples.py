"""The calls that are measured: an agent's refund, of the size that such questions have."""

from typing import Any

import msgspec

from placet.domain.model import Effect

CAPABILITY = "orders.refund"
EFFECT = Effect.EXTERNAL


def presented(number: int) -> dict[str, Any]:
    """What asker and consumer both say of call ``number``; no two are the same."""
    return {
        "capability": CAPABILITY,
        "surface": "mcp",
        "actor": {"id": "agent-7", "kind": "agent", "display_name": "Support agent"},
        "effect": EFFECT.value,
        "context": {"tool_version": "3", "conversation": f"c-{number:09d}"},
        "input": {
            "order": f"A-{number:09d}",
            "amount": 129.5,
            "currency": "EUR",
            "lines": [{"sku": "9-2271", "quantity": 1}, {"sku": "9-0145", "quantity": 2}],
            "note": "Arrived damaged, photographs attached to the ticket.",
        },
    }


def question(number: int) -> dict[str, Any]:
    """The body of a create."""
    return {
        **presented(number),
        "risk": "high",
        "reasons": ["Refunds of more than 100 EUR need a person."],
        "presentation": {
            "title": f"Refund order A-{number:09d}",
            "summary": "The customer reports damage and asks for their money back.",
        },
        "run": run_of(number),
    }


def run_of(number: int) -> str:
    """The run that a question belongs to: ten of them each, of names equally long."""
    return f"run-{number // 10:09d}"


def consumption(number: int, token: str) -> dict[str, Any]:
    """The body of a consume."""
    return {**presented(number), "token": token, "execution_id": f"exec-{number:09d}"}


def request(method: str, path: str, credential: str, body: object = None) -> bytes:
    """A whole HTTP/1.1 request; the connection stays open."""
    head = f"{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {credential}\r\n"
    if body is None:
        return f"{head}\r\n".encode()
    content = msgspec.json.encode(body)
    head += f"content-type: application/json\r\ncontent-length: {len(content)}\r\n\r\n"
    return head.encode() + content
