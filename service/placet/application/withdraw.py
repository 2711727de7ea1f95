"""Withdraw: an operator cancels whatever a client has open, as when its credentials are taken back.

Nobody's credential is judged here: it acts with the rights of whoever can open the store. The trail
names the operator.
"""

import asyncio

from placet.application.directory import Directory
from placet.application.grants import readable
from placet.domain.machine import Ruling
from placet.domain.model import Status
from placet.store import keys
from placet.store.approvals import Answer, Approvals, Page, Rejudge
from placet.store.codec import Who

OPERATOR = "operator"
"""How trails name whoever runs the service."""
_PAGE = 200
_OPEN = frozenset({Status.PENDING, Status.APPROVED})


class WithdrawOpen:
    """The use case. Revoke first, so that nothing new is asked meanwhile."""

    def __init__(self, store: Approvals, directory: Directory) -> None:
        self._store = store
        self._directory = directory

    async def __call__(self, tenant: str, client: str) -> tuple[str, ...]:
        """Cancel what ``client`` asked for and is pending, or approved and not yet consumed.

        Returns:
            The ids of what was cancelled by this call.

        Raises:
            StoreUnavailable: The store can't be asked; some may have been cancelled. Calling again is fine.
        """
        cancelled: list[str] = []
        after: str | None = None
        while True:
            page = await self._page(tenant, client, after)
            found = readable(page.records)
            open_ids = [each.ask.id for each in found if each.ask.asked_by == client and each.status in _OPEN]
            answers = await asyncio.gather(*(self._cancel(tenant, each) for each in open_ids))
            cancelled += [
                each for each, answer in zip(open_ids, answers, strict=True) if answer.ruling is Ruling.OK
            ]
            after = page.last
            if after is None:
                return tuple(cancelled)

    async def _page(self, tenant: str, client: str, after: str | None) -> Page:
        while True:
            try:
                return await self._store.page(
                    tenant,
                    keys.client_index(client),
                    after=after,
                    limit=_PAGE,
                    epoch=(await self._directory.snapshot(tenant)).epoch,
                )
            except Rejudge:
                self._directory.forget(tenant)

    async def _cancel(self, tenant: str, approval_id: str) -> Answer:
        while True:
            try:
                return await self._store.cancel(
                    tenant,
                    approval_id,
                    Who(by=OPERATOR),
                    admin=True,
                    sees=True,
                    epoch=(await self._directory.snapshot(tenant)).epoch,
                )
            except Rejudge:
                self._directory.forget(tenant)
