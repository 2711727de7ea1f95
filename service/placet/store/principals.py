"""Principals in the store: sealed documents that only the application can read the meaning of."""

from collections.abc import Sequence

from placet.store import keys
from placet.store.link import Link


class Principals:
    """Clients and approvers as sealed documents; what they mean is :mod:`placet.application.directory`'s.

    Args:
        link: The door to the server.
    """

    def __init__(self, link: Link) -> None:
        self._link = link

    async def by_key(self, tenant: str, kid: str) -> tuple[int, bytes | None]:
        """The tenant's epoch and the document of the principal that key id ``kid`` belongs to."""
        _, _, epoch, document = await self._link.call(
            "principals", keys.meta(tenant), ("", "", kid), asserts=False
        )
        return int(epoch), document

    async def all(self, tenant: str) -> tuple[int, dict[str, bytes]]:
        """The tenant's epoch and all documents by field (``client:<name>``, ``approver:<id>``)."""
        _, _, epoch, flat = await self._link.call(
            "principals", keys.meta(tenant), ("", "", ""), asserts=False
        )
        fields = [field.decode() for field in flat[::2]]
        return int(epoch), dict(zip(fields, flat[1::2], strict=True))

    async def enroll(
        self, tenant: str, field: str, *, expected: bytes, document: bytes, kids: Sequence[str]
    ) -> int | None:
        """Replace ``expected`` by ``document`` (empty: none); the new epoch, ``None`` where it changed."""
        ruling, _, *rest = await self._link.call(
            "enroll", keys.meta(tenant), ("", "", field, expected, document, " ".join(kids))
        )
        return int(rest[0]) if ruling == b"ok" else None

    async def count_change(self, tenant: str) -> int:
        """Raise the epoch with nothing else: everything judged so far is judged again."""
        reply = await self._link.call("enroll", keys.meta(tenant), ("", "", "", "", "-", ""))
        return int(reply[2])
