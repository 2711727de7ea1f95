"""The roll: who a tenant's principals are, sealed so that only a holder of the keyring can have written it.

1. A row is a principal's document behind a seal over tenant, field and document.
2. The manifest is a seal over tenant, epoch, the revoked signing keys, the generation of the operator's rules
   that hold (:mod:`placet.domain.generation`), and every field with its row's seal.
   Each change writes it in one step with the row (``enroll.lua``), and only in place of the manifest that
   it was checked against. So no row counts that was exchanged, left out, or put back from the past.
3. An epoch is never used twice: it is one more than the last, or the store's time in milliseconds where that
   is later. A tenant that was removed and is made again goes on beyond all that was ever seen of it, and so
   does one whose server lost its latest writes: removal need leave nothing behind.
4. A process takes no epoch that is before one it has taken (:mod:`placet.application.directory`).

What seals can't tell: whoever can write the store can put *everything* of a tenant back to what it truly was.
A process that starts afterwards takes that for the present; one that has not noticed a change yet can be kept
from noticing. Which tenants there are is the store's own word too.
"""

from collections.abc import Mapping, Sequence

import msgspec
from msgspec import structs

from placet.domain.principals import Approver, Client, Endpoint, Enrolled
from placet.store import keys
from placet.store.principals import Roll
from placet.tokens.seal import Sealable, Sealer

SEAL_KIND = "principal"
MANIFEST_SEAL_KIND = "principals"
SEAL_CHARS = 43

REVOKED_KEPT = 1_000
"""Revoked signing keys that a roll remembers, the latest: 17 KB. A token lives a quarter of an hour, so those
that fall out have had none alive for long."""

_decode = msgspec.json.Decoder(Client | Approver | Endpoint).decode
_encode = msgspec.json.Encoder(order="deterministic").encode


class RollSpoilt(Exception):  # noqa: N818 - reads as what happened
    """A roll is not as it was last written; the message says what an operator does about it."""


def sealed(sealer: Sealer, principal: Enrolled) -> bytes:
    """A principal's row: its seal, then its document."""
    document = _encode(principal)
    seal = sealer.seal(SEAL_KIND, (principal.tenant, principal.field, document))
    return seal.encode() + document


def opened(sealer: Sealer, tenant: str, roll: Roll) -> Mapping[str, Enrolled]:
    """The principals of a roll by field, those without a live credential included.

    Raises:
        RollSpoilt: The manifest or a row is not ours, or not of this tenant, epoch or set of rows.
    """
    if roll.is_blank:
        return {}
    if not sealer.verify(MANIFEST_SEAL_KIND, _members(tenant, roll), roll.manifest):
        raise _spoilt(tenant)
    principals = {}
    for field, row in roll.rows.items():
        document = row[SEAL_CHARS:]
        if not sealer.verify(SEAL_KIND, (tenant, field, document), _seal_of(row)):
            raise _spoilt(tenant)
        principals[field] = _decode(document)
    return principals


def followed(
    sealer: Sealer,
    tenant: str,
    roll: Roll,
    *,
    revoked: Sequence[str],
    change: tuple[str, bytes] | None,
    generation: str | None = None,
) -> Roll:
    """The roll that comes after ``roll``, with its manifest.

    Args:
        sealer: Has the key.
        tenant: Whose roll it is.
        roll: What there is, as :func:`opened` has found it good: a spoilt one must not be sealed again.
        revoked: The signing keys that the keyring says are revoked, latest first.
        change: The field and the row that change, where one does.
        generation: The rules that hold from now on; ``None`` for those that held.
    """
    news = tuple(kid for kid in revoked if kid not in roll.revoked)
    after = Roll(
        epoch=max(roll.epoch + 1, roll.now_ms),
        rows={**roll.rows, **dict([change] if change else [])},
        revoked=(*news, *roll.revoked)[:REVOKED_KEPT],
        generation=roll.generation if generation is None else generation,
    )
    return structs.replace(after, manifest=sealer.seal(MANIFEST_SEAL_KIND, _members(tenant, after)))


def went_back(tenant: str) -> RollSpoilt:
    """The fault of a roll that is older than one that was seen before."""
    return RollSpoilt(
        f"The principals of tenant {tenant!r} in the store went back to what they were before: what was "
        "revoked since may count again. Services that saw it let nobody of the tenant in. Look at `placet "
        "clients list` and `placet approvers list`, and revoke again what has to be gone: they let its "
        "people in again after the next change."
    )


def _members(tenant: str, roll: Roll) -> Sequence[Sealable]:
    members: list[Sealable] = [tenant, roll.epoch, " ".join(roll.revoked)]
    if roll.generation:  # one member more than the pairs below: no field can pass for it
        members.append(roll.generation)
    for field in sorted(roll.rows):
        members += (field, _seal_of(roll.rows[field]))
    return members


def _seal_of(row: bytes) -> str:
    return row[:SEAL_CHARS].decode("latin-1")


def _spoilt(tenant: str) -> RollSpoilt:
    meta, rows, credentials = keys.meta(tenant), keys.principals(tenant), keys.credentials(tenant)
    return RollSpoilt(
        f"The principals of tenant {tenant!r} in the store are not as they were last sealed: something other "
        "than Placet wrote them, or an early version did. Nobody of the tenant is let in. Restore the store "
        f"from a backup; or delete {rows}, {credentials} and, of {meta}, the fields epoch, manifest, revoked "
        "and generation, and make its clients and approvers anew."
    )
