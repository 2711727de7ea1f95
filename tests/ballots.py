"""Votes in store tests, and what a consumer of a changed call presents."""

from typing import Any

from msgspec import structs

from placet.domain.machine import Change
from placet.domain.model import Ask, Verdict
from placet.store.approvals import Answer
from placet.store.opened import Store
from tests.factories import a_ballot, an_edit
from tests.steps import deliver


async def cast(
    store: Store,
    ask: Ask,
    name: str,
    verdict: Verdict = Verdict.APPROVE,
    *,
    key: str | None = None,
    **changes: Any,
) -> Answer:
    """A vote by whoever is called so, and told from others by ``key``; ``changes`` are of the ballot."""
    ballot = a_ballot(ask, name, verdict, **changes)
    return await deliver(store, ask, structs.replace(ballot, person=key or name))


async def edit(store: Store, ask: Ask, change: Change, person: str = "ann", **changes: Any) -> Answer:
    """Approve with changes."""
    return await deliver(store, ask, an_edit(ask, change, person, **changes))


def spending(change: Change, **changes: Any) -> dict[str, Any]:
    """What the consumer of the changed call presents."""
    return {"call": change.call, "input": change.input, "token_digest": change.digest, **changes}
