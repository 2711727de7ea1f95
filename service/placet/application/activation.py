"""Activation: the rules of this process's files are put in force, for every tenant, on every replica.

1. The files replace those in force when a service starts, and when it is told to read them again.
2. What may replace what is :meth:`placet.domain.generation.Generation.objection`'s to say.
3. First the store's word is changed (:mod:`placet.application.in_force`), which new tenants begin with; then
   each tenant's roll, in one step with its epoch, so that whatever was judged by the rules before is judged
   again. Whoever began last finishes last: an interrupted activation is finished by the next start.
4. Replicas that have not got the rules of a tenant's roll answer none of its calls, and are unready.

Broken files keep no running service from judging by what it has: those rules are still the ones in force, and
taking every replica away for a slip of the pen would be the greater harm. They keep a service from starting.
"""

import logging
from collections.abc import Mapping
from contextlib import suppress

from placet.application.directory import Directory
from placet.application.enroll import Enrolment, EnrolmentRefused
from placet.application.in_force import InForce, InForceSpoilt
from placet.application.roll import RollSpoilt
from placet.application.rulebooks import Rulebooks, log_faults
from placet.domain.authority import Rulebook
from placet.domain.generation import Generation, generation_of
from placet.settings.rule_files import RulesInvalid
from placet.store.registry import Registry

_log = logging.getLogger(__name__)


class ActivationRefused(Exception):  # noqa: N818 - reads as what happened
    """The rules here can't be put in force; the message says what to do instead."""


class Activation:
    """The use cases of whoever runs the service.

    Args:
        rulebooks: What this process judges by.
        in_force: What the whole store does.
        registry: Names the tenants.
        directory: Reads their rolls.
        enrolment: Changes them.
    """

    def __init__(
        self,
        rulebooks: Rulebooks,
        in_force: InForce,
        registry: Registry,
        directory: Directory,
        enrolment: Enrolment,
    ) -> None:
        self._rulebooks = rulebooks
        self._in_force = in_force
        self._registry = registry
        self._directory = directory
        self._enrolment = enrolment
        self._has_started = False

    async def start(self) -> None:
        """Read the files and put them in force.

        Raises:
            RulesInvalid: They can't be used.
            ActivationRefused: What is in force is newer, or would be lost.
            StoreUnavailable: The store can't be asked.
        """
        await self._put_in_force(self._rulebooks.read())
        self._has_started = True

    async def reload(self) -> None:
        """The same where the service runs already. What can't be used changes nothing, and is logged.

        Raises:
            StoreUnavailable: The store can't be asked.
        """
        try:
            rulebook = self._rulebooks.read()
            await self._put_in_force(rulebook)
        except RulesInvalid as fault:
            log_faults(fault)
            _log.error("the rules in force stay: the files can't be used")
        except ActivationRefused as fault:
            _log.error("the rules in force stay", extra={"fault": str(fault)})
        else:
            if not rulebook.generation.version:
                _log.info("there are no rule files to read again")

    async def drop(self) -> None:
        """Take all files out of force: the built-in rule holds again, in every tenant.

        Raises:
            ActivationRefused: Others put rules in force meanwhile.
            StoreUnavailable: The store can't be asked.
        """
        if not await self._in_force.replace("", instead_of=await self._active()):
            raise ActivationRefused("Other rules were put in force meanwhile: look again.")
        faults = await self._carry()
        if faults:
            raise ActivationRefused(" ".join(faults.values()))

    async def in_force(self) -> Generation:
        """What the whole store is judged by, or is being changed to.

        Raises:
            ActivationRefused: What the store says of that is not ours.
            StoreUnavailable: The store can't be asked.
        """
        return generation_of(await self._active())

    async def fault(self) -> str | None:
        """What keeps this replica from judging by the rules in force, as a sentence that says what to do.

        Nothing, where it has not started: a command judges nobody.

        Raises:
            StoreUnavailable: The store can't be asked.
        """
        if not self._has_started:
            return None
        try:
            active = await self._active()
        except ActivationRefused as refused:
            return str(refused)
        if self._rulebooks.at(active) is not None:
            return None
        there, here = (_shown(text) for text in (active, self._rulebooks.own.generation.text))
        return (
            f"Requests are judged by {there}, and this replica has {here}: install the same files here, and "
            "send it SIGHUP or start it again."
        )

    async def _put_in_force(self, rulebook: Rulebook) -> None:
        ours = rulebook.generation
        while True:
            active = await self._active()
            for held in (active, *await self._held()):
                objection = ours.objection(generation_of(held))
                if objection is not None:
                    raise ActivationRefused(objection)
            if active == ours.text or await self._in_force.replace(ours.text, instead_of=active):
                break
        self._rulebooks.adopt(rulebook)
        for tenant, fault in (await self._carry()).items():
            _log.error("a tenant's rules can't be changed", extra={"tenant": tenant, "fault": fault})
        if ours.version:
            rules = () if rulebook.policies is None else rulebook.policies.rules
            facts = {"rules": len(rules), "people": len(rulebook.people.members)}
            _log.info("rules are in force", extra={"version": ours.version, **facts})

    async def _carry(self) -> Mapping[str, str]:
        """Have every tenant judged by what is in force; what went wrong, by tenant."""
        faults = {}
        for tenant in await self._registry.tenants():
            try:
                await self._enrolment.carry(tenant)
            except EnrolmentRefused as fault:  # one spoilt tenant is no other's trouble
                faults[tenant] = str(fault)
        return faults

    async def _active(self) -> str:
        try:
            return await self._in_force.text()
        except InForceSpoilt as fault:
            raise ActivationRefused(str(fault)) from fault

    async def _held(self) -> set[str]:
        """What the tenants are judged by; all of it the same, but while a change is under way."""
        held = set()
        for tenant in await self._registry.tenants():
            with suppress(RollSpoilt):
                held.add((await self._directory.roll(tenant))[0].generation)
        return held


def _shown(text: str) -> str:
    version = generation_of(text).version
    return f"the rules of version {version[:12]}…" if version else "no files"
