"""A bridge of a test's own, which calls back as Standard Webhooks has it."""

import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any

import httpx

from placet.application.callback_names import path_of
from placet.application.enroll import Issued
from placet.channels.webhooks.signing import headers, secret_of
from placet.domain.model import Risk
from placet.domain.principals import Client, Scope
from tests.harness import Harness

_NUMBERS = itertools.count(1)


class Bridge:
    """Somebody with a signing secret; every call gives the response.

    Attributes:
        issued: What was shown when it was made, or made another secret.
        path: Where it calls.
    """

    def __init__(self, h: Harness, issued: Issued) -> None:
        self._h = h
        self.issued = issued
        assert isinstance(issued.principal, Client)
        self.path = path_of(issued.principal)

    @property
    def kid(self) -> str:
        """The id of the key that its secret is made of."""
        return self.issued.principal.keys[-1].kid

    def said(
        self, shown: Mapping[str, Any], decision: Any = "approve", *, approver: Any = "ann", **members: Any
    ) -> dict[str, Any]:
        """What it says of a record as it was shown; a member given as ``...`` is left out."""
        body = {
            "approval_id": shown["id"],
            "decision": decision,
            "digest": shown["digest"],
            "approver": {"id": approver},
            **members,
        }
        return {name: value for name, value in body.items() if value is not ...}

    def signed(self, body: bytes, message_id: str = "msg_1", *, at_ms: int | None = None) -> dict[str, str]:
        """The headers of a message."""
        at_s = (self._h.clock.now_ms() if at_ms is None else at_ms) // 1_000
        return headers([secret_of(self.issued.signing_secret or "")], message_id, at_s, body)

    async def decide(
        self, shown: Mapping[str, Any], decision: Any = "approve", *, message_id: str = "", **members: Any
    ) -> httpx.Response:
        """Call back about a record."""
        body = json.dumps(self.said(shown, decision, **members)).encode()
        return await self.send(body, message_id=message_id)

    async def send(
        self,
        body: bytes,
        *,
        message_id: str = "",
        path: str = "",
        sent: Mapping[str, str] | Sequence[tuple[str, str]] | None = None,
        media_type: str = "application/json",
        at: Harness | None = None,
    ) -> httpx.Response:
        """Call back with these bytes; ``sent`` are the headers in place of good ones."""
        named = message_id or f"msg_{next(_NUMBERS)}"
        pairs = sent if sent is not None else self.signed(body, named)
        every = [*(pairs.items() if isinstance(pairs, Mapping) else pairs), ("content-type", media_type)]
        return await (at or self._h).http.post(path or self.path, content=body, headers=every)


async def a_bridge(
    h: Harness,
    name: str = "chat",
    *,
    tenant: str = "default",
    people: Sequence[str] = ("ann",),
    groups: Sequence[str] = (),
    max_risk: Risk = Risk.HIGH,
) -> Bridge:
    """One that is there."""
    client = Client(
        tenant=tenant,
        name=name,
        scopes=frozenset({Scope.DECIDE_AS}),
        people=tuple(people),
        groups=tuple(groups),
        max_risk=max_risk,
    )
    return Bridge(h, await h.services.enrolment.create(client))
