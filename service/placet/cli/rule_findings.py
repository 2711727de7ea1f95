"""What ``placet doctor`` says of the operator's rules: can they be used, and are they in force?"""

from placet.application.activation import ActivationRefused
from placet.application.enroll import EnrolmentRefused
from placet.application.known_names import alias_of, doubts
from placet.bootstrap import Services
from placet.cli.policy import read, summary
from placet.domain.authority import Rulebook
from placet.settings import RuleSettings, Settings
from placet.settings.rule_files import RulesInvalid
from placet.store.connection import Finding, Level

SUBJECT = "rules"


def of_files(settings: Settings, findings: list[Finding]) -> Rulebook | None:
    """Read the files, and add what is found; their rulebook, where they can be used."""
    if settings.rules == RuleSettings():
        return Rulebook()
    try:
        found = read(settings)
    except RulesInvalid as fault:
        findings += [_finding(Level.FAIL, str(problem)) for problem in fault.problems]
        findings += [_finding(Level.WARN, str(warning)) for warning in fault.warnings]
        return None
    findings += [_finding(Level.FAIL, str(problem)) for problem in found.unusable]
    findings += [_finding(Level.WARN, str(warning)) for warning in found.warnings]
    findings += [_finding(Level.GOOD, sentence) for sentence in summary(settings.rules, found.rulebook)]
    return found.rulebook


async def in_force(services: Services, rulebook: Rulebook, findings: list[Finding]) -> None:
    """Compare them with those that the store's tenants are judged by, and add what is found.

    Raises:
        StoreUnavailable: The store can't be asked.
    """
    ours = rulebook.generation
    try:
        active = await services.activation.in_force()
    except ActivationRefused as refused:
        findings.append(_finding(Level.FAIL, str(refused)))
        return
    objection = ours.objection(active)
    if objection is not None:
        findings.append(_finding(Level.FAIL, objection))
    elif active != ours:
        text = "They are not in force yet: a service puts them in force when it starts, and on SIGHUP."
        findings.append(_finding(Level.WARN, text))
    elif ours.version:
        findings.append(_finding(Level.GOOD, "They are in force."))


async def names(services: Services, rulebook: Rulebook, findings: list[Finding]) -> None:
    """Hold the names in every tenant's credentials against the directory, and add what is found.

    Raises:
        StoreUnavailable: The store can't be asked.
    """
    if rulebook.generation.directory is None:
        return
    people = rulebook.people
    for tenant in await services.store.registry.tenants():
        try:
            held = await services.enrolment.all(tenant)
        except EnrolmentRefused as refused:
            findings.append(Finding(level=Level.FAIL, subject="principals", text=str(refused)))
            continue
        where = "" if tenant == "default" else f" of tenant {tenant}"
        texts = [
            f"Approver {name!r}{where} is only an alias of {member.id!r}: the credential has none of their "
            f"rights. Make one for that id (`placet approvers create`), and revoke this one."
            for name in held.approvers
            for member in [alias_of(people, tenant, name)]
            if member is not None
        ]
        texts += [
            f"Client {name}{where}: {doubt}"
            for name, client in held.clients.items()
            for doubt in doubts(people, client, held.approvers.values())
        ]
        findings += [Finding(level=Level.WARN, subject="principals", text=text) for text in texts]


def _finding(level: Level, text: str) -> Finding:
    return Finding(level=level, subject=SUBJECT, text=text)
