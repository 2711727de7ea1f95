"""Whether there are people who can decide: groups that somebody is in, quorums that enough are there for.

Of a quorum above one only people of the directory are, so that can be counted. Others may come with a
credential's groups, or an issuer's: where those could be meant, what is found only warns.
"""

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import UNSET

from placet.domain.checks.combining import Case, combined
from placet.domain.identity import fold
from placet.domain.patterns import matches
from placet.domain.people import STRANGER_PREFIX, Fault, Issuer, Member, Path, People
from placet.domain.rules import Approvers, Rule, Terms
from placet.domain.voters import CHANNEL_SLACK

_SHOWN_MAX = 8
"""People that a message names."""

_NEAR = 0.75
"""How alike two ids are of which one is taken for a slip of the pen: one letter of four may be another."""


def faults_of(
    path: Path, rule: Rule, people: People, issuers: Mapping[str, Issuer], *, listed: bool
) -> Iterator[Fault]:
    """Groups, people and quorums of one rule that nobody fills; ``listed`` where there is a directory."""
    tenants = [tenant for tenant in people.tenants() if matches(tenant, rule.tenants)]
    claimed = any(
        issuer.groups_claim is not None and matches(issuer.tenant, rule.tenants)
        for issuer in issuers.values()
    )
    members = [member for tenant in tenants for member in people.of(tenant)]
    for place, among in _named(rule):
        yield from _faults_of_groups((*path, *place), among, members, claimed=claimed)
        yield from _faults_of_people((*path, *place), among, members)
    for case, message in _short(rule, tenants, people, listed=listed):
        member = "rejections" if case.terms.rejections > case.terms.quorum else "quorum"
        # Groups of an issuer's count for whoever is in no directory, and they for no quorum above one.
        warns = claimed and case.terms.quorum == 1 and member == "quorum"
        yield Fault(path=(*path, *case.place, member), message=message, warns=warns)


def _named(rule: Rule) -> Iterator[tuple[Path, Approvers]]:
    """Everybody that a rule names, by where."""
    for among in rule.terms.approvers:
        yield ("approvers",), among
    if rule.terms.escalation is not None:
        yield ("escalate",), Approvers(groups=rule.terms.escalation.groups)
    for number, block in enumerate(rule.stricter):
        if block.approvers is not UNSET:
            yield ("stricter", number, "approvers"), block.approvers


def _faults_of_groups(
    path: Path, among: Approvers, members: Iterable[Member], *, claimed: bool
) -> Iterator[Fault]:
    known = sorted({group for member in members for group in member.groups})
    for group in sorted(among.groups.difference(known)):
        hint = _meant(group, known) or ": add it to the groups of somebody."
        message = f"Nobody in the directory is in group {group!r}{hint}"
        if not members:
            message = f"Group {group!r} is in no directory: only whose credential has it is meant."
        yield Fault(path=(*path, "groups"), message=message, warns=claimed or not members)


def _faults_of_people(path: Path, among: Approvers, members: Sequence[Member]) -> Iterator[Fault]:
    """Names that are in the directory, but are no ids; ids that are not in it.

    One that is nearly an id there is a fault: it would be the right of whoever comes to be called so.
    """
    ids = {member.id for member in members}
    for person_id in sorted(among.people - ids) if ids else ():
        called = sorted({member.id for member in members if _goes_by(member, person_id)})
        near = _near(person_id, ids)
        if called:
            which = " or ".join(map(repr, called))
            message = f"{person_id!r} is no id: the directory calls this person {which}, write that."
        elif near is not None:
            message = f"{person_id!r} is not in the directory: write {near!r}, or enter {person_id!r} there."
        else:
            message = f"{person_id!r} is not in the directory: only a credential of this id is meant."
        yield Fault(path=(*path, "people"), message=message, warns=not called and near is None)


def _goes_by(member: Member, name: str) -> bool:
    folded = fold(name)
    return folded in member.names() or (member.name is not None and fold(member.name) == folded)


def _near(person_id: str, ids: Iterable[str]) -> str | None:
    """The id that was probably meant: of addresses both parts must be near, for many have one domain."""
    name, _, domain = person_id.lower().partition("@")
    named: dict[str, str] = {}
    for each in sorted(ids):
        other, _, other_domain = each.lower().partition("@")
        if not domain or not other_domain or difflib.get_close_matches(domain, [other_domain], 1, _NEAR):
            named.setdefault(other, each)
    close = difflib.get_close_matches(name, named, 1, _NEAR)
    return named[close[0]] if close and not person_id.startswith(STRANGER_PREFIX) else None


def _meant(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, sorted(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _short(rule: Rule, tenants: list[str], people: People, *, listed: bool) -> Iterator[tuple[Case, str]]:
    """The simplest case in which there are not enough people, and blocks that want too many by themselves."""
    is_first = True
    for case in combined(rule):
        block, wanted = case.block, _wanted(case.terms)
        if is_first or (block is not None and wanted in {block.quorum, block.rejections}):
            message = _too_few(rule, case, tenants, people, listed=listed)
            if message is not None:
                is_first = False
                yield case, message


def _wanted(terms: Terms) -> int:
    return max(terms.quorum, terms.rejections)


def _too_few(rule: Rule, case: Case, tenants: list[str], people: People, *, listed: bool) -> str | None:
    """That there are not enough people in a case; ``None`` where there may be."""
    entitled = {tenant: _entitled(people.of(tenant), case.terms) for tenant in tenants}
    if case.terms.quorum == 1:
        return _nobody(case, entitled, people)
    wanted = _wanted(case.terms)
    if not tenants:
        return f"It takes {wanted} people {case.when}, all of {_nowhere(rule, listed=listed)}."
    for tenant, members in entitled.items():
        if len(members) < wanted:
            able = _listed([member.id for member in members], " be among them")
            return (
                f"It takes {wanted} people {case.when}, and in tenant {tenant!r} {able}: enter more in "
                "the directory, or write a lower number."
            )
    return None


def _nobody(case: Case, entitled: Mapping[str, Sequence[Member]], people: People) -> str | None:
    """The same where one person approves."""
    named = _named_only(case.terms)
    if named is not None and len(named) < case.terms.rejections:
        rejections = case.terms.rejections
        return (
            f"It takes {rejections} people to reject {case.when}, and {_listed(named)}: write a lower number."
        )
    if entitled and not any(entitled.values()) and _narrows_to_members(case.terms, people):
        return (
            f"Nobody in the directory is among all whom this asks for {case.when}: whoever decides must be "
            "among the approvers of the rule and of each block. Name some that are in both."
        )
    return None


def _nowhere(rule: Rule, *, listed: bool) -> str:
    """Where people are looked for in vain, and what to do about it, to end a sentence with."""
    if not listed:
        return "them of a directory, and none was given: give one with --directory or PLACET_DIRECTORY_FILE"
    named = "" if "*" in rule.tenants else f" of tenant {' or '.join(map(repr, rule.tenants))}"
    return f"them of the directory, and that has nobody{named}: enter them there"


def _listed(able: Sequence[str], what: str = "") -> str:
    names = ", ".join(map(repr, able[:_SHOWN_MAX]))
    return f"only {len(able)} could{what} ({names})" if able else "nobody could"


def _named_only(terms: Terms) -> list[str] | None:
    """Those who could decide, where every one of them is named; ``None`` where groups may bring others."""
    among, *others = terms.approvers
    if among.groups or (terms.escalation is not None and terms.escalation.groups):
        return None
    able = (each for each in among.people if all(each in other.people or other.groups for other in others))
    return sorted(able)


def _narrows_to_members(terms: Terms, people: People) -> bool:
    """Whether blocks name approvers too, and nobody is named whom the directory does not know."""
    named = {person_id for among in terms.approvers for person_id in among.people}
    return len(terms.approvers) > 1 and named <= {member.id for member in people.members}


def _entitled(members: Iterable[Member], terms: Terms) -> tuple[Member, ...]:
    """Those who are among the approvers, at the latest once it has escalated."""
    called = terms.escalation.groups if terms.escalation is not None else frozenset()
    only_slack = terms.channels == frozenset({CHANNEL_SLACK})
    return tuple(
        member
        for member in members
        if (member.slack or not only_slack)
        and all(
            member.id in among.people
            or not member.groups.isdisjoint(among.groups | (called if place == 0 else frozenset()))
            for place, among in enumerate(terms.approvers)
        )
    )
