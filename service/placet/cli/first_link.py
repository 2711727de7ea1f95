"""The sign-in link that a person at the terminal gets when a service starts: their inbox, one click away.

Only where it can't be meant for anybody else: a service over its own store, with its pages on this machine,
in whose usual tenant there is one person; or nobody yet, and then whoever started it becomes the first.
"""

import getpass
from contextlib import suppress
from urllib.parse import urlsplit

from msgspec import Struct

from placet.application.enroll import EnrolmentRefused
from placet.cli.running import Running
from placet.domain.errors import InternalError, StoreUnavailable, Unauthenticated
from placet.domain.identity import check_id
from placet.domain.principals import Approver
from placet.settings.parsing import is_loopback

_TENANT = "default"
_NOBODY_S_NAME = "owner"


class Link(Struct, frozen=True, kw_only=True):
    """A link, and whom it signs in; ``is_new``: who was made an approver for it."""

    url: str
    person: str
    is_new: bool


async def first_link(service: Running) -> Link | None:
    """A link, where there is one person whom it must be for."""
    settings, services = service.settings, service.services
    if services.directory.sign_ins:
        return None  # people sign in as the directory has it
    if not settings.store.embedded or not is_loopback(urlsplit(settings.server.public_url).hostname or ""):
        return None
    with suppress(StoreUnavailable, InternalError, Unauthenticated, EnrolmentRefused):
        person, is_new = await _only_one(service)
        if person is not None:
            secret = await services.sessions.offer(_TENANT, person)
            return Link(url=f"{settings.server.public_url}/signin#{secret}", person=person, is_new=is_new)
    return None


async def _only_one(service: Running) -> tuple[str | None, bool]:
    services, rules = service.services, service.settings.rules
    if _TENANT in await services.store.registry.tenants():
        authority = (await services.directory.snapshot(_TENANT)).authority
        people = {*authority.approvers, *(member.id for member in authority.people.of(_TENANT))}
        if people:
            return (people.pop(), False) if len(people) == 1 else (None, False)
    if rules.directory_file is not None or rules.policy_file is not None:
        return None, False  # it says who people are
    name = _own_name()
    await services.enrolment.create(Approver(tenant=_TENANT, id=name))
    return name, True


def _own_name() -> str:
    """What the machine calls whoever started this."""
    with suppress(OSError, KeyError):
        name = getpass.getuser()
        if check_id(name) is None:
            return name
    return _NOBODY_S_NAME
