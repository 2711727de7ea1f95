"""Which rules are in force in the whole store: what a tenant begins with, and a service starts against.

A tenant's own roll says what it is judged by; this is where that comes from. It is sealed, so that nobody
who can only write the store can name rules. What a seal can't tell, an old word put back, is why a roll is
never followed by an older revision (:mod:`placet.application.activation`).
"""

from placet.store.registry import Registry
from placet.tokens.keyring_file import KeyringFile
from placet.tokens.seal import Sealer

SEAL_KIND = "generation"
_SEAL_CHARS = 43


class InForceSpoilt(Exception):  # noqa: N818 - reads as what happened
    """What the store says of the rules in force is not ours; the message says what an operator does."""


class InForce:
    """The generation in force, as text (:class:`placet.domain.generation.Generation`).

    Args:
        registry: Where it is kept.
        ring: Has the key to its seal.
    """

    def __init__(self, registry: Registry, ring: KeyringFile) -> None:
        self._registry = registry
        self._ring = ring

    async def text(self) -> str:
        """What is in force; empty where that is the built-in rule.

        Raises:
            InForceSpoilt: Somebody else wrote it.
            StoreUnavailable: The store can't be asked.
        """
        return _opened(self._ring.sealer, await self._registry.generation())

    async def replace(self, text: str, *, instead_of: str) -> bool:
        """Put other rules in force; False, and nothing is changed, where ``instead_of`` are not those.

        Raises:
            InForceSpoilt: Somebody else wrote what is there.
            StoreUnavailable: The store can't be asked.
        """
        sealer = self._ring.sealer
        held = await self._registry.generation()
        if _opened(sealer, held) != instead_of:
            return False
        return await self._registry.replace_generation(_sealed(sealer, text), instead_of=held)


def _sealed(sealer: Sealer, text: str) -> bytes:
    return f"{sealer.seal(SEAL_KIND, (text,))}{text}".encode()


def _opened(sealer: Sealer, held: bytes) -> str:
    if not held:
        return ""
    seal, text = held[:_SEAL_CHARS].decode("latin-1"), held[_SEAL_CHARS:].decode("utf-8", "surrogateescape")
    if not sealer.verify(SEAL_KIND, (text,), seal):
        raise InForceSpoilt(
            "What the store says of the rules in force is not as it was last sealed: something other than "
            "Placet wrote it. Delete the field `generation` of placet:registry, and start a service with the "
            "files that are meant."
        )
    return text
