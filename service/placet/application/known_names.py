"""Names that an operator has typed, held against the directory: a slip in one is no error, and does harm.

Whoever is called by an alias has no rights of the person's, and an owner whom nobody knows keeps nobody from
approving.
"""

from collections.abc import Iterable, Iterator

from placet.domain.identity import fold
from placet.domain.people import Member, People
from placet.domain.principals import Approver, Client
from placet.settings.remedies import meant


def alias_of(people: People, tenant: str, name: str) -> Member | None:
    """The person whom the directory knows by this name, where their id is another."""
    if people.member(tenant, name) is not None or not people.knows(tenant, name):
        return None
    key = people.key(tenant, name)
    return next(member for member in people.of(tenant) if fold(member.id) == key)


def stranger(people: People, approver: Approver) -> str | None:
    """What to say of an approver whom the directory does not know; ``None`` where it does."""
    if people.knows(approver.tenant, approver.id):
        return None
    return f"{approver.id!r} is not in the directory{_near(approver.id, _ids(people, approver.tenant))}"


def doubts(people: People, client: Client, approvers: Iterable[Approver]) -> Iterator[str]:
    """What to look at in a client's owners, people and groups; each goes on from the client's name.

    Args:
        people: The directory.
        client: The client.
        approvers: Those of its tenant with a credential, which may be in groups of their own.
    """
    members = people.of(client.tenant)
    ids = _ids(people, client.tenant)
    for owner in client.owners:
        if not people.knows(client.tenant, owner):
            spelled = [name for member in members for name in member.spelled()]
            yield f"the owner {owner!r} is not in the directory{_near(owner, spelled)}"
    for name in client.people:
        member = alias_of(people, client.tenant, name)
        if member is not None:
            yield f"{name!r} is only an alias of {member.id!r}, and decides nothing in that name: use the id."
        elif not people.knows(client.tenant, name):
            yield f"the person {name!r} is not in the directory{_near(name, ids)}"
    groups = {group for member in members for group in member.groups}
    strangers = (each for each in approvers if people.member(client.tenant, each.id) is None)
    groups |= {group for each in strangers for group in each.groups}
    for group in client.groups:
        if group not in groups:
            yield f"nobody in the directory is in the group {group!r}{_near(group, groups)}"


def _ids(people: People, tenant: str) -> list[str]:
    return [member.id for member in people.of(tenant)]


def _near(name: str, known: Iterable[str]) -> str:
    return meant(name, known) or "."
