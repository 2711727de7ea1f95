"""A tool that is a plain function. In PLACET_TOKEN, the credential of a client named ``agent``."""

# [readme]
import logging
import os
from uuid import uuid4

from placet.client import Actor, Client
from placet.client.hook import HookRefusal, SyncHook, Turn, during

logging.basicConfig()
logging.getLogger("placet").setLevel("INFO")  # says who is waited for, and where
placet = Client(os.environ["PLACET_URL"], os.environ["PLACET_TOKEN"])
hook = SyncHook(placet, audience="agent")


@hook.requires_approval("orders.refund", effect="external", risk="high", timeout_s=900)
def refund(order: str, amount: int = 5) -> str:
    return f"refunded {amount} of {order}"


agent, run = Actor(id="agent-7", kind="agent"), f"run-{uuid4()}"  # after a restart: the run's id as it was
with placet, hook, during(Turn(actor=agent, run=run, call_id="call-1")):
    try:
        print(refund("A-1042"))
    except HookRefusal as refused:
        print(refused.text)  # all that a model may read of it
# [/readme]
