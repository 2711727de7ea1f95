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
from placet.domain.people import Fault, Issuer, Member, Path, People
from placet.domain.rules import Approvers, Rule, Terms
from placet.domain.voters import CHANNEL_SLACK

_SHOWN_MAX = 8
"""People that a message names."""


def faults_of(path: Path, rule: Rule, people: People, issuers: Mapping[str, Issuer]) -> Iterator[Fault]:
    """Groups, people and quorums of one rule that nobody fills."""
    tenants = [tenant for tenant in people.tenants() if matches(tenant, rule.tenants)]
    claimed = any(
        issuer.groups_claim is not None and matches(issuer.tenant, rule.tenants)
        for issuer in issuers.values()
    )
    members = [member for tenant in tenants for member in people.of(tenant)]
    for place, among in _named(rule):
        yield from _faults_of_groups((*path, *place), among, members, claimed=claimed)
        yield from _faults_of_people((*path, *place), among, members)
    found = _short(rule, tenants, people)
    if found is not None:
        case, message = found
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


def _faults_of_people(path: Path, among: Approvers, members: Iterable[Member]) -> Iterator[Fault]:
    ids = {member.id for member in members}
    for person_id in sorted(among.people - ids):
        close = [member.id for member in members if fold(person_id) in member.names()]
        if close:
            message = f"{person_id!r} is no id: the directory calls this person {close[0]!r}, write that."
            yield Fault(path=(*path, "people"), message=message)
        elif ids:
            hint = _meant(person_id, ids) or ": only a credential of this id is meant."
            message = f"{person_id!r} is not in the directory{hint}"
            yield Fault(path=(*path, "people"), message=message, warns=True)


def _meant(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, sorted(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _short(rule: Rule, tenants: list[str], people: People) -> tuple[Case, str] | None:
    """The simplest case in which there are not enough people, in words."""
    for case in combined(rule):
        entitled = {tenant: _entitled(people.of(tenant), case.terms) for tenant in tenants}
        if case.terms.quorum == 1:
            named = _named_only(case.terms)
            if named is not None and len(named) < case.terms.rejections:
                return case, (
                    f"It takes {case.terms.rejections} people to reject {case.when}, and "
                    f"{_listed(named)}: write a lower number."
                )
            if tenants and not any(entitled.values()) and _narrows_to_members(case.terms, people):
                return case, (
                    f"Nobody in the directory is among all whom this asks for {case.when}: whoever decides "
                    "must be among the approvers of the rule and of each block. Name some that are in both."
                )
            continue
        wanted = max(case.terms.quorum, case.terms.rejections)
        if not tenants:
            return case, (
                f"It takes {wanted} people {case.when}, and where it takes more than one only people of the "
                "directory count: there is nobody in one whom this is for. Enter them "
                "(PLACET_DIRECTORY_FILE), or write quorum = 1."
            )
        for tenant, members in entitled.items():
            if len(members) < wanted:
                able = _listed([member.id for member in members], " be among them")
                return case, (
                    f"It takes {wanted} people {case.when}, and in tenant {tenant!r} {able}: enter more in "
                    "the directory, or write a lower number."
                )
    return None


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
