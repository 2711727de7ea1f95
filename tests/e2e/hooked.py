"""An agent with one tool, as a process."""

from placet.client.hook import ApprovalPending, HookRefusal, Turn, during
from tests.e2e.stopping import AGENT, Orders, say


def main() -> None:
    """One call."""
    orders = Orders()
    hook = orders.hook()

    @hook.requires_approval(
        "orders.refund",
        effect="external",
        key="key",
        idempotent=orders.idempotent,
        suspend=orders.suspend,
        timeout_s=30,
    )
    def refund(order: str, *, key: str = "") -> None:
        orders.run(order, key)

    try:
        with hook, during(Turn(actor=AGENT, run="r", call_id="c", handle=orders.handle)):
            refund("A-1")
    except ApprovalPending as pending:
        say(handle=pending.handle.json())
    except HookRefusal as refused:
        say(refused=refused.model()["code"])
    else:
        say(done=True)


if __name__ == "__main__":
    main()
