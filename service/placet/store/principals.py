"""Principals in the store: sealed rows that only the application can read the meaning of."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from placet.store import keys
from placet.store.link import Link


class Roll(Struct, frozen=True, kw_only=True):
    """A tenant's principals as the store has them; :mod:`placet.application.roll` says whether it is ours.

    Attributes:
        epoch: The count of its changes, that every judgement is made under.
        rows: Sealed documents by field (``client:<name>``, ``approver:<id>``).
        revoked: Ids of the signing keys that are trusted no more, latest first.
        generation: The operator's files that the tenant is judged by
            (:class:`placet.domain.generation.Generation` as text); empty where there are none.
        manifest: The seal over all of these; empty before the first change.
        now_ms: The store's time when it was read.
    """

    epoch: int
    rows: Mapping[str, bytes]
    revoked: tuple[str, ...] = ()
    generation: str = ""
    manifest: str = ""
    now_ms: int = 0

    @property
    def is_blank(self) -> bool:
        """Whether nobody was ever entered, or the tenant was removed."""
        return not (self.epoch or self.rows or self.revoked or self.generation or self.manifest)


class Principals:
    """Clients and approvers as sealed rows; what they mean is :mod:`placet.application.directory`'s.

    Args:
        link: The door to the server.
    """

    def __init__(self, link: Link) -> None:
        self._link = link

    async def by_key(self, tenant: str, kid: str) -> tuple[int, str | None]:
        """The tenant's epoch and the field of the principal that credential ``kid`` belongs to."""
        _, _, epoch, field = await self._link.call(
            "principals", keys.meta(tenant), ("", "", kid), asserts=False
        )
        return int(epoch), None if field is None else _text(field)

    async def all(self, tenant: str) -> Roll:
        """The tenant's roll, as of one moment."""
        _, now, epoch, flat, manifest, revoked, generation = await self._link.call(
            "principals", keys.meta(tenant), ("", "", ""), asserts=False
        )
        return Roll(
            epoch=int(epoch),
            rows=dict(zip(map(_text, flat[::2]), flat[1::2], strict=True)),
            revoked=tuple(_text(revoked).split()),
            generation=_text(generation),
            manifest=_text(manifest),
            now_ms=int(now),
        )

    async def enroll(
        self, tenant: str, roll: Roll, *, instead_of: str, field: str = "", kids: Sequence[str] = ()
    ) -> bool:
        """Put ``roll`` in the place of the one whose manifest is ``instead_of``.

        Args:
            tenant: Whose roll it is.
            roll: The roll from now on.
            instead_of: The manifest of the roll that it was made from.
            field: The one row that differs; none where only the epoch and the revoked keys do.
            kids: Ids of that principal's credentials from now on.

        Returns:
            Whether it is in place; it is not where another change came in between.
        """
        ruling, _ = await self._link.call(
            "enroll",
            keys.meta(tenant),
            (
                "",
                "",
                instead_of,
                roll.manifest,
                roll.epoch,
                " ".join(roll.revoked),
                field,
                roll.rows.get(field, b""),
                " ".join(kids),
                roll.generation,
            ),
        )
        return bool(ruling == b"ok")


def _text(stored: bytes) -> str:
    """Text as the store has it: what is spoilt stays different from everything that is not."""
    return stored.decode("utf-8", "surrogateescape")
