"""Ready: whether this replica should be sent calls, and why not."""

import logging

from placet.application import reset
from placet.application.activation import Activation
from placet.domain.errors import StoreUnavailable
from placet.domain.text import visible
from placet.store.opened import Store
from placet.tokens.keyring import KeyringError
from placet.tokens.keyring_file import KeyringFile

_log = logging.getLogger(__name__)


class Readiness:
    """Looks at what every call needs: the store, and what all replicas must agree on.

    Args:
        store: The store.
        ring: The keyring.
        issuer: The ``iss`` of our tokens.
        activation: Knows which rules are in force.
    """

    def __init__(
        self, store: Store, ring: KeyringFile, issuer: str, activation: Activation | None = None
    ) -> None:
        self._activation = activation
        self._store = store
        self._ring = ring
        self._issuer = issuer
        self._serves = False
        self.stopping = False
        """Set when the service goes down, so that balancers send no more."""

    def announce(self) -> None:
        """Say that a service begins, beside which there may be others.

        From now on every look renews the name that tokens are issued under. A command that only works on
        the store issues none, and so has nothing to agree on.
        """
        self._serves = True

    async def faults(self) -> list[str]:
        """What is wrong, each a sentence that says what to do; empty where calls are welcome."""
        if self.stopping:
            return ["The service is stopping."]
        try:
            self._ring.refresh()
        except KeyringError as fault:
            _log.error("the keyring can't be taken up", extra={"fault": str(fault)})
            return ["The keyring can't be read; the log says why."]
        ring = self._ring.ring
        try:
            await self._store.ping()
            apart = await self._store.registry.agree_on_keyring(
                ring.generation, ring.fingerprint(), ring.seal_fingerprint()
            )
            lacking = await self._store.lacking()
            issuer = self._issuer
            if self._serves and apart is None:  # who has the wrong keyring names nothing
                issuer = await self._store.registry.hold_issuer(self._issuer)
            late = await self._late()
            ruled = None if self._activation is None else await self._activation.fault()
        except StoreUnavailable:
            return ["The store can't be reached."]
        faults = [each for each in (apart, lacking, ruled) if each is not None]
        if apart is None and self._ring.is_outdated:
            # The registry is only the store's word; what was heard of revocations was sealed.
            faults.append("Keys were revoked that this replica's keyring trusts: install the newer one here.")
        if issuer != self._issuer:
            faults.append(two_issuers(issuer, self._issuer))
        return faults + late

    async def _late(self) -> list[str]:
        """The tenants whose clock is too far behind to judge by, in one sentence.

        The sweeper asks for every tenant, every second, so what it has met is known without asking again.
        """
        lags = self._store.approvals.lags
        if not lags:
            return []
        tenants = await self._store.registry.tenants()
        if not all(tenant in lags for tenant in tenants):
            return []  # the others are served; the log and `placet doctor` tell of those that are not
        late = {tenant: lags[tenant] for tenant in tenants}
        # Anybody may ask whether this replica is ready, and need not hear who its tenants are.
        return [reset.sentence(late, named=False)] if late else []


def two_issuers(theirs: str, ours: str) -> str:
    """What is wrong where services on one store would issue tokens under two names, and what to do."""
    theirs = visible(theirs)
    return (
        f"Services that run on this store, or did a minute ago, issue tokens under {theirs}, this one would "
        f"under {ours}, and each would refuse the other's tokens: set PLACET_PUBLIC_URL={theirs} here. To "
        "change the name, stop all of them first; about a minute later it is free."
    )
