"""An agent with one tool, as a process: it may stop at a point, to be killed there, and be started again.

Reads its orders from standard input, as JSON; says where it stopped, or how the call ended, in a line of it.
"""

import json
import sys
import threading
from pathlib import Path
from typing import Any

from placet.client import Actor, Client
from placet.client.hook import ApprovalPending, FileJournal, HookRefusal, SyncHook, Turn, during
from placet.client.journal import Entry


def say(**said: Any) -> None:
    """Say it."""
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()


def stop(here: str, at: str | None) -> None:
    """Stay here for good, where that is the point."""
    if here == at:
        say(at=here)
        threading.Event().wait()


class Stopping(FileJournal):
    """A journal that may stop before a step is written."""

    at: str | None = None

    def write(self, entry: Entry) -> None:
        """Keep it."""
        stop({"started": "spent", "over": "reported"}.get(entry.phase, ""), self.at)
        super().write(entry)


class Halting(Client):
    """A client that may stop before it reports."""

    at: str | None = None

    def report(self, *said: Any, **options: Any) -> Any:
        """Report."""
        stop("ended", self.at)
        return super().report(*said, **options)


def main() -> None:
    """One call."""
    orders = json.loads(sys.stdin.readline())
    at, directory = orders["at"], Path(orders["directory"])
    journal, client = Stopping(directory / "journal"), Halting(orders["url"], orders["credential"])
    journal.at, client.at = at, at
    hook = SyncHook(
        client, audience="runtime", tenant=orders["tenant"], issuer=orders["issuer"], journal=journal
    )

    @hook.requires_approval(
        "orders.refund",
        effect="external",
        key="key",
        idempotent=orders["idempotent"],
        suspend=orders["suspend"],
        timeout_s=30,
    )
    def refund(order: str, *, key: str = "") -> None:
        with (directory / "effects").open("a") as effects:
            effects.write(f"{order} {key}\n")
        stop("running", at)

    actor = Actor(id="agent-7", kind="agent")
    try:
        with hook, during(Turn(actor=actor, run="r", call_id="c", handle=orders["handle"])):
            refund("A-1")
    except ApprovalPending as pending:
        say(handle=pending.handle.json())
    except HookRefusal as refused:
        say(refused=refused.model()["code"])
    else:
        say(done=True)


if __name__ == "__main__":
    main()
