"""Rules: which one is for a request, and that what is claimed only ever tightens its terms."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, structs

from placet.domain.checks import terms as checks
from placet.domain.checks.combining import combined
from placet.domain.limits import Limits
from placet.domain.model import ActorKind, Effect, Risk
from placet.domain.patterns import matches
from placet.domain.rules import (
    Approvers,
    Claims,
    CommentRule,
    EditRule,
    Floor,
    Policies,
    Rule,
    Stricter,
    Terms,
    When,
    applies,
    tightened,
)
from tests.rulestrategies import TYPES, blocks, claims, floors, is_as_strict, rules, terms

NAMES = st.text("ab", max_size=4)
TREASURY = Approvers(groups=frozenset({"treasury"}))


def some_claims(**members: Any) -> Claims:
    """A modest request of an agent's."""
    return Claims(
        **{
            "risk": Risk.LOW,
            "effect": Effect.READ,
            "types": (),
            "actor_kind": ActorKind.AGENT,
            **members,
        }
    )


class TestMatching:
    """The first rule that matches counts."""

    @given(st.lists(rules(), max_size=4), NAMES, NAMES, NAMES, NAMES)
    def test_the_first_that_matches(
        self, found: list[Rule], tenant: str, client: str, capability: str, surface: str
    ) -> None:
        """In all four of what it names; the ones before it miss one of them."""
        rule = Policies(version="", rules=tuple(found)).rule_for(tenant, client, capability, surface)

        def fits(each: Rule) -> bool:
            return (
                matches(tenant, each.tenants)
                and matches(client, each.clients)
                and matches(capability, each.capabilities)
                and matches(surface, each.surfaces)
            )

        assert rule is next(filter(fits, found), None)

    def test_a_rule_is_called_as_its_terms(self) -> None:
        """Records name it."""
        assert Rule(terms=Terms(rule="pay"), capabilities=("*",)).name == "pay"


class TestWhen:
    """When a block applies."""

    @pytest.mark.parametrize(
        ("when", "members", "does"),
        [
            ({}, {}, True),
            ({"risk": {Risk.MEDIUM}}, {}, False),
            ({"risk": {Risk.MEDIUM}}, {"risk": Risk.MEDIUM}, True),
            ({"risk": {Risk.MEDIUM}}, {"risk": Risk.CRITICAL}, True),
            ({"effect": {Effect.WRITE}}, {}, False),
            ({"effect": {Effect.WRITE}}, {"effect": Effect.EXTERNAL}, True),
            ({"effect": {Effect.EXTERNAL}}, {"effect": Effect.DESTRUCTIVE}, False),
            ({"effect": {Effect.EXTERNAL}}, {"effect": Effect.DESTRUCTIVE, "least": {Effect.EXTERNAL}}, True),
            ({"types": {"bulk"}}, {}, False),
            ({"types": {"bulk", "x"}}, {"types": ("y", "x")}, True),
            ({"actor_kind": {ActorKind.AGENT}}, {}, True),
            ({"actor_kind": {ActorKind.USER}}, {}, False),
            ({"risk": {Risk.LOW}, "types": {"bulk"}}, {}, False),
        ],
    )
    def test_every_member_that_is_there_must_hold(
        self, when: dict[str, Any], members: dict[str, Any], *, does: bool
    ) -> None:
        """Risks and effects for themselves and what is above them."""
        block = When(**{name: frozenset(values) for name, values in when.items()})
        if "least" in members:
            members = {**members, "least": frozenset(members["least"])}
        assert applies(block, some_claims(**members)) is does


class TestTightening:
    """Blocks only tighten, whatever they say."""

    @given(terms(), blocks())
    def test_a_block_never_loosens(self, before: Terms, block: Stricter) -> None:
        """Also one that would."""
        assert is_as_strict(tightened(before, block), before)

    @given(terms(), blocks(), blocks())
    def test_the_order_of_blocks_does_not_matter(self, before: Terms, one: Stricter, other: Stricter) -> None:
        """But for the order in which approvers are asked for."""
        first, second = tightened(tightened(before, one), other), tightened(tightened(before, other), one)
        assert set(first.approvers) == set(second.approvers)
        assert structs.replace(first, approvers=()) == structs.replace(second, approvers=())

    @given(terms(), blocks())
    def test_a_block_twice_is_a_block_once(self, before: Terms, block: Stricter) -> None:
        """But for approvers asked for twice."""
        once = tightened(before, block)
        twice = tightened(once, block)
        assert set(twice.approvers) == set(once.approvers)
        assert structs.replace(twice, approvers=()) == structs.replace(once, approvers=())

    @given(rules(), claims())
    def test_terms_are_as_strict_as_their_rule(self, rule: Rule, claimed: Claims) -> None:
        """Whatever an asker claims."""
        assert is_as_strict(rule.terms_for(claimed), rule.terms)

    @given(rules(), claims(), st.sampled_from(Risk), st.sampled_from(TYPES))
    def test_claiming_more_never_loosens(self, rule: Rule, claimed: Claims, risk: Risk, another: str) -> None:
        """A higher risk, a higher effect, a further type."""
        before = rule.terms_for(claimed)
        if risk.rank >= claimed.risk.rank:
            assert is_as_strict(rule.terms_for(structs.replace(claimed, risk=risk)), before)
        for effect in Effect:
            if effect.rank > claimed.effect.rank:
                assert is_as_strict(rule.terms_for(structs.replace(claimed, effect=effect)), before)
        further = structs.replace(claimed, types=(*claimed.types, another))
        assert is_as_strict(rule.terms_for(further), before)

    @given(rules(), st.lists(floors(), max_size=3), NAMES, claims())
    def test_no_claim_gets_below_a_floor(
        self, rule: Rule, found: list[Floor], capability: str, claimed: Claims
    ) -> None:
        """Whatever is claimed, terms are as strict as for what the capability has at least."""
        policies = Policies(version="", rules=(rule,), floors=tuple(found))
        least = frozenset(floor.effect for floor in policies.floors_of(capability))
        effect, risk = policies.raised(capability, Effect.NONE, Risk.LOW)
        at_least = structs.replace(claimed, effect=effect, risk=risk, least=least)
        effect, risk = policies.raised(capability, claimed.effect, claimed.risk)
        as_raised = structs.replace(claimed, effect=effect, risk=risk, least=least)
        assert is_as_strict(rule.terms_for(as_raised), rule.terms_for(at_least))

    @given(rules(), claims())
    def test_the_strictest_cases_are_known(self, rule: Rule, claimed: Claims) -> None:
        """Whatever is claimed, one of them is as strict."""
        cases = [case.terms for case in combined(rule)]
        found = rule.terms_for(structs.replace(claimed, least=frozenset()))
        assert any(is_as_strict(case, found) for case in cases)

    @given(terms(), blocks())
    def test_a_block_without_a_fault_says_what_holds(self, before: Terms, block: Stricter) -> None:
        """Its own values, member by member: nothing that is written is quietly something else."""
        path = ("rules", 0)
        rule = Rule(terms=before, capabilities=("*",), stricter=(block,))
        found = [each for each in checks.faults_of(path, rule, (), Limits()) if "loosen" in each.message]
        if found:
            assert all(each.path[:3] == ("rules", 0, "stricter") for each in found)
            return
        after = tightened(before, block)
        for name in ("quorum", "rejections", "channels", "comment", "edit", "step_up"):
            said = getattr(block, name)
            assert said is UNSET or getattr(after, name) == said
        for name in ("expires_in", "use_within"):
            said = getattr(block, f"{name}_max_ms")
            assert said is UNSET or getattr(after, f"{name}_ms")[1] == said
        for name in ("self_approval", "hidden_input"):
            assert getattr(block, name) in {UNSET, getattr(after, name)} or not getattr(before, name)

    def test_a_default_of_the_service_s_stays_the_service_s(self) -> None:
        """A block that allows a day at most does not make a day the default."""
        after = tightened(Terms(rule="x"), Stricter(when=When(), expires_in_max_ms=86_400_000))
        assert after.expires_in_ms == (None, 86_400_000)

    def test_a_default_never_outlasts_the_greatest(self) -> None:
        """A block cuts both."""
        before = Terms(rule="x", expires_in_ms=(900_000, 3_600_000), use_within_ms=(60_000, None))
        block = Stricter(when=When(), expires_in_max_ms=60_000, use_within_max_ms=30_000)
        after = tightened(before, block)
        assert (after.expires_in_ms, after.use_within_ms) == ((60_000, 60_000), (30_000, 30_000))

    def test_approvers_narrow(self) -> None:
        """Whoever decides is among those of the rule and of the block."""
        block = Stricter(when=When(), approvers=Approvers(people=frozenset({"ann"})))
        after = tightened(Terms(rule="x", approvers=(TREASURY,)), block)
        assert after.approvers == (TREASURY, Approvers(people=frozenset({"ann"})))


class TestFloors:
    """The least effect and risk of a capability."""

    @given(st.lists(floors(), max_size=3), NAMES, st.sampled_from(Effect), st.sampled_from(Risk))
    def test_they_only_raise(self, found: list[Floor], capability: str, effect: Effect, risk: Risk) -> None:
        """To the highest that matches, once and for all."""
        policies = Policies(version="", rules=(), floors=tuple(found))
        raised = policies.raised(capability, effect, risk)
        assert raised[0].rank >= effect.rank
        assert raised[1].rank >= risk.rank
        assert policies.raised(capability, *raised) == raised
        for floor in policies.floors_of(capability):
            assert raised[0].rank >= floor.effect.rank
            assert raised[1].rank >= floor.risk.rank

    def test_what_no_floor_is_for_stays_as_it_is(self) -> None:
        """Nothing is said of it."""
        floor = Floor(capabilities=("pay.*",), effect=Effect.EXTERNAL, risk=Risk.HIGH)
        policies = Policies(version="", rules=(), floors=(floor,))
        assert policies.raised("mail.send", Effect.NONE, Risk.LOW) == (Effect.NONE, Risk.LOW)


def test_words_are_ranked_by_how_strict_they_are() -> None:
    """Comments from never to always, edits from no to counts."""
    assert [word.rank for word in CommentRule] == [0, 1, 2]
    assert [word.rank for word in EditRule] == [0, 1, 2]
