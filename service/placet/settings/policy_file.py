"""The policy file: who may decide what, and how.

Rules are :class:`~placet.domain.rules.Rule`; what a file looks like shows ``deploy/policy.example.toml``.
Whether rules can do what their author means is :mod:`placet.domain.checks`'s to judge.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final, TypeVar

from msgspec import UNSET, Struct, UnsetType

from placet.domain.identity import check_id
from placet.domain.limits import ID_PATTERN, TYPE_MAX_CHARS
from placet.domain.model import ActorKind, Effect, Risk
from placet.domain.patterns import Names, never_matches
from placet.domain.people import Path
from placet.domain.rules import (
    Approvers,
    CommentRule,
    EditRule,
    Escalation,
    Floor,
    Rule,
    Stricter,
    Terms,
    When,
)
from placet.domain.voters import OWN_CHANNELS
from placet.settings.directory_file import REVISION_MAX, groups
from placet.settings.remedies import meant, shown
from placet.settings.tables import Table

_T = TypeVar("_T")

QUORUM_MAX: Final = 100
"""People that one question can take."""
TELL_MAX_ITEMS: Final = 32
_TOLD: Final = re.compile(
    r"slack:(?:#[a-z0-9_-]{1,80}|[CG][A-Z0-9]{1,31}|@[!-~]{1,128})|webhook:" + ID_PATTERN
)
_RULE_NAME: Final = re.compile(ID_PATTERN)
_ANY: Final = ("*",)
_EITHER: Final = "Write either further groups, or give_up = true (then the question is over)"


class PolicyFile(Struct, frozen=True, kw_only=True):
    """What a policy file says: rules and floors, by where they are in it."""

    rules: Mapping[Path, Rule] = {}
    floors: Mapping[Path, Floor] = {}
    revision: int = 0


def read(root: Table) -> PolicyFile:
    """What a policy file says, as far as it is right; what is wrong is noted in its table.

    A rule in which something is wrong is read as well as it can be: the rest of it can be judged.
    """
    revision = root.whole("revision", 1, REVISION_MAX)
    floors = {table.path: _floor(table) for table in root.tables("capabilities", "a floor")}
    rules = {}
    for table in root.tables("rules", "a rule"):
        rule = _rule(table)
        if rule is not None:
            rules[table.path] = rule
    if not root.has("rules"):
        root.fault("There is no rule, so that nothing could be asked: write at least one, [[rules]].")
    root.end()
    known = {path: floor for path, floor in floors.items() if floor is not None}
    return PolicyFile(rules=rules, floors=known, revision=revision or 0)


def _floor(table: Table) -> Floor | None:
    patterns = _patterns(table, "match", Names.CAPABILITIES)
    effect, risk = table.choice("least_effect", Effect), table.choice("least_risk", Risk)
    complete = table.required("match")
    table.one_of(
        "least_risk", "least_effect", otherwise="A floor raises something: write least_risk or least_effect"
    )
    table.end()
    if not complete or patterns is None:
        return None
    return Floor(capabilities=patterns, effect=effect or Effect.NONE, risk=risk or Risk.LOW)


def _rule(table: Table) -> Rule | None:
    name = table.text("name")
    if name is not None and not _RULE_NAME.fullmatch(name):
        message = "A rule's name has 128 letters, digits and ._:- at most, and begins with a letter or digit."
        table.fault(message, "name")
    lists = {names: _patterns(table, names, names) for names in Names}
    table.required("name", "capabilities", "approvers")
    approvers = _approvers(table)
    terms = Terms(
        rule=name or "",
        approvers=() if approvers is None else (approvers,),
        quorum=table.whole("quorum", 1, QUORUM_MAX) or 1,
        rejections=table.whole("rejections", 1, QUORUM_MAX) or 1,
        channels=_channels(table),
        expires_in_ms=_wait(table, "expires_in"),
        use_within_ms=_wait(table, "use_within"),
        comment=table.choice("comment", CommentRule) or CommentRule.NEVER,
        self_approval=table.flag("self_approval") or False,
        edit=table.choice("edit", EditRule) or EditRule.NO,
        hidden_input=table.flag("hidden_input") or False,
        step_up=_step_up(table),
        tell=_told(table),
        escalation=_escalation(table),
    )
    blocks = tuple(_stricter(each) for each in table.tables("stricter", "a stricter block"))
    table.end()
    capabilities = lists[Names.CAPABILITIES]
    if capabilities is None or approvers is None:
        return None
    return Rule(
        terms=terms,
        capabilities=capabilities,
        tenants=lists[Names.TENANTS] or _ANY,
        clients=lists[Names.CLIENTS] or _ANY,
        surfaces=lists[Names.SURFACES] or _ANY,
        stricter=blocks,
    )


def _step_up(table: Table) -> bool | None:
    step_up = table.flag("step_up")
    return False if step_up is None and table.has("step_up") else step_up  # what is wrong is told once


def _patterns(table: Table, member: str, names: Names) -> tuple[str, ...] | None:
    patterns = table.texts(member)
    for place, pattern in enumerate(patterns or ()):
        fault = never_matches(pattern, names)
        if fault is not None:
            table.fault(fault, member, place)
        elif set(pattern) & set("?["):
            table.fault(
                f"In {pattern!r} only * is special: ? and [ stand for themselves.", member, place, warns=True
            )
    return patterns


def _approvers(table: Table) -> Approvers | None:
    below = table.table("approvers", "the table of approvers")
    if below is None:
        return None
    people, named = below.texts("people") or (), groups(below, "groups")
    for place, person_id in enumerate(people):
        fault = check_id(person_id)
        if fault is not None:
            below.fault(f"A person's id {fault}.", "people", place)
    _no_patterns(below, "people", people)
    _no_patterns(below, "groups", named)
    found = Approvers(groups=frozenset(named), people=frozenset(people))
    below.one_of("groups", "people", otherwise="Nobody could decide: name groups or people")
    below.end()
    return found


def _no_patterns(table: Table, member: str, names: Iterable[str]) -> None:
    """Whoever writes ``*`` means many, and would name nobody."""
    for place, name in enumerate(names):
        if "*" in name:
            message = f"There are no patterns among {member}: name each one in place of {shown(name)}."
            table.fault(message, member, place)


def _channels(table: Table) -> frozenset[str] | None:
    channels = table.texts("channels")
    for place, channel in enumerate(channels or ()):
        if channel in OWN_CHANNELS:
            continue
        hint = meant(channel, OWN_CHANNELS)
        if channel.lower() in OWN_CHANNELS or not _RULE_NAME.fullmatch(channel):
            known = " or ".join(sorted(OWN_CHANNELS))
            table.fault(
                f"{channel!r} is no channel{hint or '.'} Write {known}, or the name of a bridge's client.",
                "channels",
                place,
            )
        elif hint:
            table.fault(
                f"{channel!r} is taken for the name of a bridge's client{hint}", "channels", place, warns=True
            )
    return None if channels is None else frozenset(channels)


def _wait(table: Table, member: str) -> tuple[int | None, int | None]:
    below = table.table(member, f"the table {member}")
    if below is None:
        return None, None
    bounds = below.duration_ms("default"), below.duration_ms("max")
    below.one_of("default", "max", otherwise="It says nothing: write default or max")
    below.end()
    return bounds


def _told(table: Table) -> tuple[str, ...]:
    told = table.texts("tell") or ()
    for place, whom in enumerate(told):
        if not _TOLD.fullmatch(whom):
            message = (
                f"{whom!r} is nobody to tell: write slack:#channel, slack:C… (a channel's id), slack:@person "
                "(an id of the directory) or webhook:name."
            )
            table.fault(message, "tell", place)
    if len(told) > TELL_MAX_ITEMS:
        table.fault(f"At most {TELL_MAX_ITEMS} can be told.", "tell")
    return told


def _escalation(table: Table) -> Escalation | None:
    below = table.table("escalate", "the table escalate")
    if below is None:
        return None
    after_ms, called = below.duration_ms("after"), groups(below, "groups")
    gives_up = below.flag("give_up") or False
    _no_patterns(below, "groups", called)
    told = _told(below)
    if below.required("after") and gives_up == below.has("groups"):
        if below.has("groups") or below.has("give_up"):
            below.fault(f"{_EITHER}.")
        below.one_of("groups", "give_up", otherwise=_EITHER)
    below.end()
    if after_ms is None:
        return None
    return Escalation(after_ms=after_ms, groups=frozenset(called), gives_up=gives_up, tell=told)


def _stricter(table: Table) -> Stricter:
    when = _when(table)
    table.required("when")
    approvers = _approvers(table)
    block = Stricter(
        when=when or When(),
        approvers=UNSET if approvers is None else approvers,
        quorum=_or_unset(table.whole("quorum", 1, QUORUM_MAX)),
        rejections=_or_unset(table.whole("rejections", 1, QUORUM_MAX)),
        channels=_or_unset(_channels(table)),
        expires_in_max_ms=_greatest(table, "expires_in"),
        use_within_max_ms=_greatest(table, "use_within"),
        comment=_or_unset(table.choice("comment", CommentRule)),
        self_approval=_or_unset(table.flag("self_approval")),
        edit=_or_unset(table.choice("edit", EditRule)),
        hidden_input=_or_unset(table.flag("hidden_input")),
        step_up=_or_unset(table.flag("step_up")),
    )
    if set(table.names()) <= {"when"}:
        message = "It tightens nothing: write what is stricter then, as in quorum = 2, or remove it."
        table.fault(message, unsure=())
    table.end()
    return block


def _greatest(table: Table, member: str) -> int | UnsetType:
    """The only one of a wait that a block tightens: the default follows."""
    below = table.table(member, f"the table {member} of a block")
    if below is None:
        return UNSET
    most_ms = below.duration_ms("max")
    below.required("max")
    below.end()
    return _or_unset(most_ms)


def _when(table: Table) -> When | None:
    below = table.table("when", "the table when")
    if below is None:
        return None
    types = below.texts("types") or ()
    for place, each in enumerate(types):
        if len(each) > TYPE_MAX_CHARS:
            below.fault(f"No type has more than {TYPE_MAX_CHARS} characters.", "types", place)
    when = When(
        risk=frozenset(below.choices("risk", Risk) or ()),
        effect=frozenset(below.choices("effect", Effect) or ()),
        types=frozenset(types),
        actor_kind=frozenset(below.choices("actor_kind", ActorKind) or ()),
    )
    if not below.names():
        below.fault(
            "It would always apply: put it into the rule itself, or write risk, effect, types or actor_kind, "
            'as in risk = ["high"].'
        )
    below.end()
    return when


def _or_unset(value: _T | None) -> _T | UnsetType:
    return UNSET if value is None else value
