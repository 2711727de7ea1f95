"""Cancel: withdraw a question, or a grant not yet used; one, or all of a run."""

import asyncio

from msgspec import Struct

from placet.application.callers import Caller
from placet.application.grants import Seals, readable
from placet.domain.machine import Ruling
from placet.domain.model import Approval, Status
from placet.domain.principals import Client, Scope
from placet.store import keys
from placet.store.approvals import Answer, Approvals
from placet.store.codec import Who

_PAGE = 200


class Skipped(Struct, frozen=True, kw_only=True):
    """A record of the run that could not be cancelled, and why: its state."""

    id: str
    status: Status


class RunCancelled(Struct, frozen=True, kw_only=True):
    """What became of a run's records; only those the caller may cancel are named."""

    cancelled: tuple[str, ...]
    skipped: tuple[Skipped, ...]


class CancelApproval:
    """The use cases."""

    def __init__(self, store: Approvals, seals: Seals) -> None:
        self._store = store
        self._seals = seals

    async def __call__(self, caller: Caller, client: Client, approval_id: str) -> Approval:
        """Withdraw one.

        Raises:
            PlacetError: Any refusal in the order of judgement (:func:`machine.judge_cancel`).
            Rejudge: Credentials changed meanwhile.
        """
        answer = await self._cancel(caller, client, approval_id)
        return self._seals.taken(answer, client.name)

    async def run(self, caller: Caller, client: Client, run: str) -> RunCancelled:
        """Withdraw what is left of a run. An unknown run is an empty one."""
        cancelled: list[str] = []
        skipped: list[Skipped] = []
        after: str | None = None
        while True:
            page = await self._store.page(
                caller.tenant, keys.run_index(run), after=after, limit=_PAGE, epoch=caller.epoch
            )
            found = readable(page.records)
            mine = [approval for approval in found if _may_cancel(client, approval)]
            open_ids = [each.ask.id for each in mine if each.status in {Status.PENDING, Status.APPROVED}]
            answers = await asyncio.gather(*(self._cancel(caller, client, each) for each in open_ids))
            outcomes = dict(zip(open_ids, answers, strict=True))
            for approval in mine:
                answer = outcomes.get(approval.ask.id)
                if answer is not None and answer.ruling in {Ruling.OK, Ruling.UNCHANGED}:
                    cancelled.append(approval.ask.id)
                else:
                    now = [answer.record] if answer and answer.record else []
                    status = next((each.status for each in readable(now)), approval.status)
                    skipped.append(Skipped(id=approval.ask.id, status=status))
            after = page.last
            if after is None:
                return RunCancelled(cancelled=tuple(cancelled), skipped=tuple(skipped))

    async def _cancel(self, caller: Caller, client: Client, approval_id: str) -> Answer:
        return await self._store.cancel(
            caller.tenant,
            approval_id,
            Who(by=client.name, credential=caller.credential),
            admin=client.may(Scope.ADMIN),
            sees=client.sees(),
            epoch=caller.epoch,
        )


def _may_cancel(client: Client, approval: Approval) -> bool:
    return client.may(Scope.ADMIN) or client.name == approval.ask.asked_by
