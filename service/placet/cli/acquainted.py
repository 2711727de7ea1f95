"""Whom the operator's directory knows, asked before somebody gets a credential.

A store knows which files are in force, and not what they say. That is read from the file that is named here,
as for a service; where none is, nobody can look, and that is said.
"""

from typing import Final

from placet.application.activation import ActivationRefused
from placet.application.known_names import alias_of, doubts, stranger
from placet.bootstrap import Services
from placet.cli.exits import Stop
from placet.cli.invoked import placet
from placet.cli.layout import sentence
from placet.domain.authority import Rulebook
from placet.domain.generation import Stamp
from placet.domain.principals import Approver, Client, Principal
from placet.domain.text import visible
from placet.settings import Settings
from placet.settings.rule_files import load

_NAME_IT: Final = "name it with --directory or PLACET_DIRECTORY_FILE."
_ALONE: Final = "Where it takes more than one person, only those of the directory count."


def directory_here(settings: Settings) -> Rulebook | None:
    """What the directory file says that is named here; ``None`` where none is.

    Raises:
        RulesInvalid: It can't be used.
    """
    path = settings.rules.directory_file
    return None if path is None else load(None, path, settings.limits).rulebook


def refuse_alias(approver: Approver, here: Rulebook | None) -> None:
    """Nothing, unless the credential would be of a name that has no rights.

    Raises:
        Stop: The directory knows the person by another id.
    """
    member = None if here is None else alias_of(here.people, approver.tenant, approver.id)
    if member is not None:
        raise Stop(
            f"The directory calls {visible(approver.id)} '{visible(member.id)}', and only that id has their "
            f"rights: `{placet()} approvers create {visible(member.id)}`."
        )


async def warnings(services: Services, principal: Principal, here: Rulebook | None) -> list[str]:
    """What to look at in the names of whoever is about to be made.

    Raises:
        Stop: What the store says of the rules in force is not Placet's.
        StoreUnavailable: The store can't be asked.
    """
    try:
        active = (await services.activation.in_force()).directory
    except ActivationRefused as refused:
        raise Stop(str(refused)) from refused
    if here is None:
        return [_not_looked(principal, active)] if active is not None and _names(principal) else []
    if isinstance(principal, Approver):
        found = [f"{text} {_ALONE}" for text in [stranger(here.people, principal)] if text]
    else:
        held = (await services.enrolment.all(principal.tenant)).approvers.values()
        found = list(doubts(here.people, principal, held))
    if active is not None and active != here.generation.directory:
        found.append(f"the directory in force ({active.sha256[:12]}…) is not the one that is named here.")
    return [visible(sentence(text)) for text in found]


def _names(principal: Principal) -> tuple[str, ...]:
    if isinstance(principal, Client):
        return (*principal.owners, *principal.people, *principal.groups)
    return (principal.id,)


def _not_looked(principal: Principal, active: Stamp) -> str:
    names = ", ".join(visible(name) for name in _names(principal))
    return (
        f"A directory is in force ({active.sha256[:12]}…) and not named here, so nobody has looked whether "
        f"it knows {names}: {_NAME_IT}"
    )
