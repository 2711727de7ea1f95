"""Hypothesis strategies for rules: small worlds, so that names meet."""

from hypothesis import strategies as st
from msgspec import UNSET

from placet.domain.model import ActorKind, Effect, Risk
from placet.domain.rules import (
    Approvers,
    Claims,
    CommentRule,
    EditRule,
    Escalation,
    Floor,
    Rule,
    Stricter,
    Terms,
    When,
)

GROUPS = ("treasury", "cfo", "platform")
PEOPLE = ("ann", "bob", "cy", "dana")
TYPES = ("bulk", "first")
_CHANNELS = ("api", "web", "slack", "chat")
_WAITS_MS = (1_000, 60_000, 900_000, 3_600_000)


def approvers() -> st.SearchStrategy[Approvers]:
    """Some groups, some people, at least one of them."""
    made = st.builds(
        Approvers,
        groups=st.frozensets(st.sampled_from(GROUPS)),
        people=st.frozensets(st.sampled_from(PEOPLE)),
    )
    return made.filter(lambda each: bool(each.groups or each.people))


def waits() -> st.SearchStrategy[tuple[int | None, int | None]]:
    """Default and greatest, in this order where both are there."""
    one = st.none() | st.sampled_from(_WAITS_MS)
    return st.tuples(one, one).map(_in_order)


def terms() -> st.SearchStrategy[Terms]:
    """What a rule may say."""
    escalation = st.builds(
        Escalation, after_ms=st.sampled_from(_WAITS_MS), groups=st.frozensets(st.sampled_from(GROUPS))
    )
    return st.builds(
        Terms,
        rule=st.just("rule"),
        approvers=st.tuples(approvers()),
        quorum=st.integers(1, 3),
        rejections=st.integers(1, 3),
        channels=st.none() | channels(),
        expires_in_ms=waits(),
        use_within_ms=waits(),
        comment=st.sampled_from(CommentRule),
        self_approval=st.booleans(),
        edit=st.sampled_from(EditRule),
        hidden_input=st.booleans(),
        step_up=st.sampled_from((None, False, True)),
        escalation=st.none() | escalation,
    )


def channels() -> st.SearchStrategy[frozenset[str]]:
    """Some channels."""
    return st.frozensets(st.sampled_from(_CHANNELS), min_size=1)


def whens() -> st.SearchStrategy[When]:
    """When a block applies."""
    return st.builds(
        When,
        risk=st.frozensets(st.sampled_from(Risk), max_size=2),
        effect=st.frozensets(st.sampled_from(Effect), max_size=2),
        types=st.frozensets(st.sampled_from(TYPES)),
        actor_kind=st.frozensets(st.sampled_from(ActorKind), max_size=2),
    )


def blocks() -> st.SearchStrategy[Stricter]:
    """Blocks that would tighten, and such that would not."""
    unset = st.just(UNSET)
    return st.builds(
        Stricter,
        when=whens(),
        approvers=unset | approvers(),
        quorum=unset | st.integers(1, 4),
        rejections=unset | st.integers(1, 4),
        channels=unset | channels(),
        expires_in_max_ms=unset | st.sampled_from(_WAITS_MS),
        use_within_max_ms=unset | st.sampled_from(_WAITS_MS),
        comment=unset | st.sampled_from(CommentRule),
        self_approval=unset | st.booleans(),
        edit=unset | st.sampled_from(EditRule),
        hidden_input=unset | st.booleans(),
        step_up=unset | st.booleans(),
    )


def patterns() -> st.SearchStrategy[str]:
    """Patterns of two letters and stars."""
    return st.text(alphabet="ab*", min_size=1, max_size=5)


def pattern_lists() -> st.SearchStrategy[tuple[str, ...]]:
    """A few of them, or all."""
    return st.lists(patterns(), min_size=1, max_size=3, unique=True).map(tuple) | st.just(("*",))


def rules(name: str = "rule") -> st.SearchStrategy[Rule]:
    """A rule with its blocks."""
    return st.builds(
        Rule,
        terms=terms(),
        capabilities=pattern_lists(),
        tenants=pattern_lists(),
        clients=pattern_lists(),
        surfaces=pattern_lists(),
        stricter=st.lists(blocks(), max_size=3).map(tuple),
    )


def claims() -> st.SearchStrategy[Claims]:
    """What an asker may say."""
    return st.builds(
        Claims,
        risk=st.sampled_from(Risk),
        effect=st.sampled_from(Effect),
        types=st.lists(st.sampled_from((*TYPES, "other")), unique=True).map(tuple),
        actor_kind=st.sampled_from(ActorKind),
        least=st.frozensets(st.sampled_from(Effect), max_size=1),
    )


def floors() -> st.SearchStrategy[Floor]:
    """A floor."""
    return st.builds(
        Floor, capabilities=pattern_lists(), effect=st.sampled_from(Effect), risk=st.sampled_from(Risk)
    )


def _in_order(pair: tuple[int | None, int | None]) -> tuple[int | None, int | None]:
    default, most = pair
    return (most, default) if default is not None and most is not None and default > most else pair


_STEPS = (False, None, True)
"""Whether approving needs a fresh sign-in: by no rule, by the service's own for critical calls, by each."""


def is_as_strict(one: Terms, other: Terms) -> bool:
    """Whether ``one`` lets through nothing that ``other`` would not."""
    return (
        set(one.approvers) >= set(other.approvers)
        and one.quorum >= other.quorum
        and one.rejections <= other.rejections
        and (other.channels is None or (one.channels is not None and one.channels <= other.channels))
        and _is_within(one.expires_in_ms, other.expires_in_ms)
        and _is_within(one.use_within_ms, other.use_within_ms)
        and one.comment.rank >= other.comment.rank
        and one.edit.rank <= other.edit.rank
        and one.self_approval <= other.self_approval
        and one.hidden_input <= other.hidden_input
        and _STEPS.index(one.step_up) >= _STEPS.index(other.step_up)
        and (one.rule, one.tell, one.escalation) == (other.rule, other.tell, other.escalation)
    )


def _is_within(one: tuple[int | None, int | None], other: tuple[int | None, int | None]) -> bool:
    """Whether default and greatest are as short; ``None`` is the service's own, which a rule cuts."""
    service_s_own = 900_000, 3_600_000
    usual, most = zip(*(_effective(each, *service_s_own) for each in (one, other)), strict=True)
    return bool(usual[0] <= usual[1] and most[0] <= most[1])


def _effective(wait: tuple[int | None, int | None], default_ms: int, most_ms: int) -> tuple[int, int]:
    most = most_ms if wait[1] is None else wait[1]
    return min(default_ms if wait[0] is None else wait[0], most), most
