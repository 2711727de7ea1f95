"""Marks on names: whoever goes by one was signed out everywhere by an operator.

What somebody has open keeps the marks that were there when it began, sealed: any other ends it. So no clock
has to agree with another's, and what begins meanwhile ends rather than lives. A mark is on every name of a
person that is known, and outlives all that can have begun before it.
"""

from collections.abc import Iterable
from typing import Final

from placet.application.sealing import hash_of, random_secret
from placet.domain.authority import Authority
from placet.domain.identity import fold
from placet.domain.limits import SESSION_LONGEST_MS, SIGN_IN_LINK_MS
from placet.domain.people import STRANGER_PREFIX, People
from placet.store.sessions import Sessions

_MARK: Final = "signed out"


class Marks:
    """The marks of all tenants.

    Args:
        store: Where they are.
    """

    def __init__(self, store: Sessions) -> None:
        self._store = store

    async def put(self, tenant: str, name: str, people: People, approvers: Iterable[str]) -> bool:
        """Put a mark on somebody; whether anybody goes by this name, as far as can be told here.

        Args:
            tenant: Whose person.
            name: Any name of theirs.
            people: The directory, for the others.
            approvers: Ids of those with a credential.

        Raises:
            StoreUnavailable: Whether it is there is unknown; putting another does no harm.
        """
        key = people.key(tenant, name)
        hashes = [hash_of(_MARK, each) for each in {fold(name), key, *people.names_of(tenant, [key])}]
        lives_ms = SESSION_LONGEST_MS + SIGN_IN_LINK_MS
        await self._store.mark(tenant, hashes, random_secret(), lives_ms=lives_ms)
        is_approver = key in map(fold, approvers)
        return is_approver or people.knows(tenant, name) or name.startswith(STRANGER_PREFIX)

    async def on(self, authority: Authority, called: str, person_id: str) -> tuple[str, ...]:
        """The marks on somebody.

        Args:
            authority: Knows the person.
            called: The id they signed in by.
            person_id: That of who they are today.

        Raises:
            StoreUnavailable: The store can't be asked.
        """
        names = {fold(called), authority.people.key(authority.tenant, person_id)}
        return await self._store.marks(authority.tenant, [hash_of(_MARK, each) for each in names])
