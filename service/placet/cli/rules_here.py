"""Whether a command has the files that are in force: a store knows which those are, and not what they say.

A service without them answers that its store is unavailable, for another replica may have them. Whoever has
typed a command is told which file to name.
"""

from placet.application.activation import ActivationRefused
from placet.application.callers import Snapshot
from placet.bootstrap import Services
from placet.cli.acquainted import directory_here
from placet.cli.exits import Exit, Stop
from placet.cli.policy import read
from placet.domain.authority import Rulebook
from placet.domain.errors import StoreUnavailable
from placet.domain.generation import Generation
from placet.domain.people import People
from placet.settings import RuleSettings


def lacking(ours: Generation, active: Generation) -> str:
    """What to name besides, where files are in force that are not given here; empty where all are."""
    return " ".join(
        f"A {name} file ({held.sha256[:12]}…) is in force there, and none is given here: name it with "
        f"--{name} or PLACET_{name.upper()}_FILE."
        for name, held in ours.lacking(active)
    )


async def snapshot_of(services: Services, tenant: str) -> Snapshot:
    """A tenant's principals, and who may decide what among them.

    Raises:
        Stop: The files here are not those in force.
        RulesInvalid: They can't be used.
        StoreUnavailable: The store can't be asked.
        InternalError: The tenant's roll is spoilt.
    """
    snapshot = await services.directory.snapshot(tenant)
    if snapshot.rules is None:
        raise Stop(await _why_not(services), Exit.USAGE)
    return snapshot


async def directory_of(services: Services) -> People | None:
    """The directory in force, which is nobody where none is; ``None`` where it is not the one given here.

    Raises:
        Stop: What the store says of the rules in force is not Placet's.
        RulesInvalid: The file given here can't be used.
        StoreUnavailable: The store can't be asked.
    """
    held, here = (await _active(services)).directory, directory_here(services.settings)
    if held is None:
        return People()
    return here.people if here is not None and here.generation.directory == held else None


async def _why_not(services: Services) -> str:
    active, rules = await _active(services), services.settings.rules
    ours = (Rulebook() if rules == RuleSettings() else read(services.settings).rulebook).generation
    if ours == active:  # they are being put in force just now, or a start that would have was cut short
        raise StoreUnavailable
    other = [
        f"The {name} file here ({given.sha256[:12]}…) is not the one in force ({held.sha256[:12]}…): name "
        f"that one with --{name} or PLACET_{name.upper()}_FILE."
        for (name, given), (_, held) in zip(ours.files(), active.files(), strict=True)
        if given is not None and held is not None and given != held
    ]
    more = [
        f"A {name} file is given here, and none is in force: leave out --{name} and "
        f"PLACET_{name.upper()}_FILE."
        for name, _ in active.lacking(ours)
    ]
    return " ".join(filter(None, (lacking(ours, active), *other, *more)))


async def _active(services: Services) -> Generation:
    try:
        return await services.activation.in_force()
    except ActivationRefused as refused:
        raise Stop(str(refused)) from refused
