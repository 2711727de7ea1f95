"""Who could decide a request, as things stand, with a credential, or later, and whether they are enough.

It asks the very functions that judge votes, one way in after the other.
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct, structs

from placet.application.known_names import alias_of
from placet.application.rule_words import listed, people
from placet.domain.authority import Authority
from placet.domain.error_terms import ForbiddenReason
from placet.domain.errors import ApprovalSelfApproval, PlacetError
from placet.domain.model import Ask, Verdict
from placet.domain.people import STRANGER_PREFIX, Issuer, Member
from placet.domain.principals import Approver, Client, Scope
from placet.domain.rules import Terms
from placet.domain.tally import Tally
from placet.domain.voters import CHANNEL_API, CHANNEL_SLACK, CHANNEL_WEB, Voter
from placet.domain.vouched import Vouched

_COMMENT = "explained"  # what a decision may need, and whoever decides can give
_ON_THE_ASKING_SIDE = (
    "on the asking side, under this name or another: the actor, whom it acts for, or an owner"
)

_AFRESH = "has to sign in again for it, and there is no issuer here that signs them in"


class Decider(Struct, frozen=True, kw_only=True):
    """Somebody, and how they could approve it.

    Attributes:
        id: Who.
        name: What they are called.
        channels: Through which they could now.
        would: Through which they could if they had a credential of their own.
        why_not: Why neither.
        signs_in: Whether they have a credential, or an issuer knows them.
        alias_of: Whose alias the id is, where it is one: the two count once.
    """

    id: str
    name: str | None
    channels: tuple[str, ...]
    would: tuple[str, ...]
    why_not: str | None
    signs_in: bool
    alias_of: str | None = None

    @property
    def could(self) -> bool:
        """Whether they could, if only they had a credential."""
        return bool(self.channels or self.would)


class Deciders:
    """Everybody who is known, held against one request.

    Args:
        authority: Who may decide what.
        ask: The request.
        terms: What holds for it.
        looked_up: Whether credentials are known; if not, everybody is taken to have one.

    Attributes:
        now: Everybody, as things stand.
        later: Those who could besides, once it has escalated.
    """

    def __init__(self, authority: Authority, ask: Ask, terms: Terms | None, *, looked_up: bool) -> None:
        self._authority = authority
        self._ask = ask
        self._terms = terms
        self._looked_up = looked_up
        self._needed = 1 if terms is None else Tally().needed(ask, terms).approvals
        self.now = tuple(self._all(Tally()))
        after_ms = terms.escalation.after_ms if terms is not None and terms.escalation is not None else 0
        could = {each.id for each in self.now if each.could}
        then = self._all(Tally(waited_ms=after_ms))
        self.later = tuple(each for each in then if each.could and each.id not in could)

    def stuck(self) -> str | None:
        """Why there are never enough who could approve it; ``None`` where there may be."""
        could = self._people(each for each in (*self.now, *self.later) if each.could)
        is_open = self._needed == 1 and (not self._looked_up or bool(self.strangers))
        if len(could) >= self._needed or is_open:
            return None
        barred = self._people(each for each in self.now if each.why_not == _ON_THE_ASKING_SIDE) - could
        return f"It takes {people(self._needed)}, and {_too_few(len(could), barred=bool(barred))}."

    def lacking(self) -> str | None:
        """What it still takes, where some who could approve it need a credential or a time first."""
        now = self._people(each for each in self.now if each.channels)
        if len(now) >= self._needed or self.stuck() is not None or self.strangers:
            return None
        return f"It takes {people(self._needed)}, and now {f'only {len(now)}' if now else 'nobody'} could."

    def _people(self, found: Iterable[Decider]) -> set[str]:
        return {self._authority.people.key(self._authority.tenant, each.id) for each in found}

    def _all(self, tally: Tally) -> Iterator[Decider]:
        """Everybody whom the directory, a credential, a bridge or the rule knows."""
        authority, terms = self._authority, self._terms
        members = [member.id for member in authority.people.of(authority.tenant)]
        bridged = [person_id for bridge in _bridges(authority) for person_id in bridge.people]
        named = sorted({name for among in (terms.approvers if terms else ()) for name in among.people})
        for person_id in dict.fromkeys((*members, *authority.approvers, *bridged, *named)):
            yield self._judged(person_id, tally)

    def _judged(self, person_id: str, tally: Tally) -> Decider:
        authority = self._authority
        tenant, known = authority.tenant, authority.people
        member = known.member(tenant, person_id)
        has_one = person_id in authority.approvers or not self._looked_up
        vouching = _knowing(authority, person_id, member)
        has_token = any(issuer.audience is not None for issuer in vouching)
        judged = [(voter, own, self._refusal(voter, tally)) for voter, own in _ways_in(authority, person_id)]
        ways = [(voter.channel, own) for voter, own, refusal in judged if refusal is None]
        now = {each for each, own in ways if not own or has_one or (has_token and each == CHANNEL_API)}
        channels = tuple(dict.fromkeys(channel for channel, _ in ways if channel in now))
        would = tuple(dict.fromkeys(channel for channel, _ in ways if channel not in now))
        voter, _, refusal = judged[0]
        alias = alias_of(known, tenant, person_id)
        whose = None if alias is None else alias.id
        return Decider(
            id=person_id,
            name=voter.person.display_name,
            channels=channels,
            would=would,
            why_not=None if ways else _why_not(voter, refusal, self._terms, whose),
            signs_in=person_id in authority.approvers or bool(vouching),
            alias_of=whose,
        )

    def _refusal(self, voter: Voter, tally: Tally) -> PlacetError | None:
        """Why the person may not approve it: as it is or, where the request takes only that, with changes."""
        authority, ask = self._authority, self._ask
        changes = Verdict.APPROVE not in ask.allowed_decisions and Verdict.EDIT in ask.allowed_decisions
        counts = changes and self._needed == 1 and authority.edit_counts(ask, tally)
        return authority.judge_vote(voter, ask, Verdict.EDIT if counts else Verdict.APPROVE, _COMMENT, tally)

    @property
    def strangers(self) -> tuple[str, ...]:
        """Groups of the rule that are enough where only an issuer knows who is in them."""
        terms = self._terms
        claiming = [issuer for issuer in _issuers(self._authority) if issuer.groups_claim is not None]
        if terms is None or self._needed > 1:
            return ()
        groups = tuple(sorted({group for among in terms.approvers for group in among.groups}))
        word = Vouched(iss="", sub=STRANGER_PREFIX, groups=groups)
        stranger = Approver(tenant=self._authority.tenant, id=STRANGER_PREFIX, groups=groups, vouched=word)
        oneself = self._authority.voter(stranger)
        ways = [oneself for issuer in claiming if issuer.audience is not None]
        ways += [
            _afresh(self._authority, oneself, issuer) for issuer in claiming if issuer.sign_in is not None
        ]
        return groups if any(self._refusal(way, Tally()) is None for way in ways) else ()


def _too_few(could: int, *, barred: bool) -> str:
    if not could:
        return "all who may are on the asking side" if barred else "nobody who is known may approve it"
    are = "is" if could == 1 else "are"
    if barred:
        return f"of those who may approve it only {could} {are} not on the asking side"
    return f"only {could} who {are} known may approve it"


def _bridges(authority: Authority) -> Iterator[Client]:
    return (client for client in authority.clients.values() if client.may(Scope.DECIDE_AS))


def _ways_in(authority: Authority, person_id: str) -> Iterator[tuple[Voter, bool]]:
    """A person as each way in makes them, and whether it takes a credential of their own; that one first."""
    member = authority.people.member(authority.tenant, person_id)
    nobody_yet = Approver(tenant=authority.tenant, id=person_id)
    oneself = authority.voter(authority.approvers.get(person_id, nobody_yet))
    yield oneself, True
    on_the_web = _on_the_web(authority, oneself, member)
    if on_the_web is not None:
        yield on_the_web, not authority.sign_ins
    if authority.in_slack and member is not None and member.slack:
        yield structs.replace(authority.voter(nobody_yet), channel=CHANNEL_SLACK), False
    for bridge in _bridges(authority):
        bridged = authority.voter(bridge, person_id)
        if person_id in bridge.people or not bridged.groups.isdisjoint(bridge.groups):
            yield bridged, False


def _on_the_web(authority: Authority, oneself: Voter, member: Member | None) -> Voter | None:
    """A person who has signed in on the pages: by a link, or with the issuer that does it for everybody."""
    if not authority.sign_ins:
        return structs.replace(oneself, channel=CHANNEL_WEB)
    knowing = _knowing(authority, oneself.person.id, member)
    issuer = next((each for each in knowing if each.sign_in is not None), None)
    return None if issuer is None else _afresh(authority, oneself, issuer)


def _afresh(authority: Authority, oneself: Voter, issuer: Issuer) -> Voter:
    """A person whom an issuer has signed in on the pages, for the decision too."""
    word = Vouched(iss=issuer.iss, sub=oneself.person.id)
    return authority.afresh(structs.replace(oneself, channel=CHANNEL_WEB, vouched=word))


def _knowing(authority: Authority, person_id: str, member: Member | None) -> list[Issuer]:
    """The tenant's issuers that can say that somebody is this person."""
    subjects = () if member is None else member.subjects
    return [
        issuer
        for issuer in _issuers(authority)
        if person_id.startswith(STRANGER_PREFIX)
        or (member is not None and issuer.email_authoritative)
        or any(known.iss == issuer.iss for known in subjects)
    ]


def _issuers(authority: Authority) -> list[Issuer]:
    return [each for each in authority.issuers.values() if each.tenant == authority.tenant]


def _why_not(voter: Voter, refusal: PlacetError | None, terms: Terms | None, whose: str | None) -> str:
    """Why a person can't approve it, whichever way they come in."""
    if isinstance(refusal, ApprovalSelfApproval):
        return _ON_THE_ASKING_SIDE
    if whose is not None:
        return f"an alias of {whose!r}, whose own credential counts"
    open_to_web = terms is not None and (terms.channels is None or CHANNEL_WEB in terms.channels)
    match None if refusal is None or terms is None else refusal.details["reason"]:
        case ForbiddenReason.CHANNEL_NOT_ALLOWED if terms is not None:
            afresh = terms.step_up and open_to_web
            return _AFRESH if afresh else f"has no way in through {listed(terms.channels, 'or')}"
        case ForbiddenReason.DECISION_NOT_ALLOWED:
            return "the request does not let itself be approved"
        case _ if terms is not None and terms.quorum > 1 and not voter.is_member:
            return "not in the directory, and where it takes more than one person only its people count"
        case _:
            return "not among the approvers"
