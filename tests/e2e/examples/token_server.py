"""The server of a tool, that runs it for a token which an agent in another process obtained.

In SERVER_TOKEN, the credential of a client ``tool-server`` with the scope ``consume``; in
PLACET_TOKEN, the agent's, which is given to that process alone.
"""

import json
import os
import subprocess
import sys
import time
from typing import Any

from placet.client import Actor, Client, ToolCall
from placet.client.refusals import ApprovalRefused
from placet.domain.canonical import canonicalize, sha256_hex
from placet.tokens.jwks import VerificationKeys
from placet.tokens.verify import verify

URL = os.environ["PLACET_URL"]


def call_of(order: str, amount: int) -> ToolCall:
    """The call, as both sides have it; a server knows the actor by who calls it."""
    return ToolCall(
        capability="orders.refund",
        actor=Actor(id="agent-7", kind="agent"),
        effect="external",
        input={"order": order, "amount": amount},
    )


# [readme]
def ask(call: ToolCall) -> str:  # in the agent's process
    with Client(URL, os.environ["PLACET_TOKEN"]) as placet:
        asked = placet.ask(call, audience="tool-server")
        decided = placet.wait(asked.id)
    if decided.token is None:
        raise ApprovalRefused.of(decided)
    return decided.token  # to be sent with the call


def serve(call: ToolCall, token: str) -> str:  # in the tool server's
    with Client(URL, os.environ["SERVER_TOKEN"]) as placet:
        keys = VerificationKeys.from_jwks(placet.jwks())  # fetch them every few minutes, not each time
        now_ms = time.time_ns() // 1_000_000
        claims = verify(token, keys, issuer=URL, audience="tool-server", tenant="default", now_ms=now_ms)
        due = (call.capability, call.actor.id, sha256_hex(canonicalize(call.input)))
        if (claims.cap, claims.sub, claims.ih) != due:
            return "This token is for another call."
        spent = placet.consume(claims.jti, call, token=token)
        if not spent.go_ahead:
            return "This token was used before."
        result = f"refunded {call.input['amount']} of {call.input['order']}"
        placet.report(claims.jti, spent.execution_id, "succeeded")
        return result


# [/readme]


def agent() -> None:
    """The agent's process: it prints what it would send."""
    try:
        print(json.dumps({"order": "A-1042", "amount": 5, "token": ask(call_of("A-1042", 5))}))
    except ApprovalRefused as refused:
        print(json.dumps({"refused": refused.text}))


def main() -> None:
    """The server's process: it has an agent started, and serves what that sends."""
    own = {name: value for name, value in os.environ.items() if name != "SERVER_TOKEN"}
    sent = subprocess.run([sys.executable, __file__, "agent"], env=own, stdout=subprocess.PIPE, check=True)
    said: dict[str, Any] = json.loads(sent.stdout)
    print(said.get("refused") or serve(call_of(said["order"], said["amount"]), said["token"]))


if __name__ == "__main__":
    agent() if sys.argv[1:] == ["agent"] else main()
