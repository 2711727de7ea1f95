"""Explain: says what the judges do, because it asks them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from placet.application.commands import ActorBody, PresentationBody
from placet.application.rule_words import listed, sentences
from placet.domain.authority import BUILT_IN, Authority
from placet.domain.errors import InputInvalid
from placet.domain.limits import Limits
from placet.domain.model import ActorKind, Effect, Risk, Verdict
from placet.domain.people import Member, People
from placet.domain.principals import Approver, Client, Scope
from placet.domain.rules import (
    Approvers,
    CommentRule,
    EditRule,
    Escalation,
    Rule,
    Stricter,
    Terms,
    When,
)
from tests.explaining import ANN, BODY, TREASURY, a_rule, an_authority, explained, why_not
from tests.rulestrategies import GROUPS, PEOPLE, rules, terms


def test_every_channel_of_a_person_is_named() -> None:
    """Their own credential, the web, and bridges that speak for them; a user of Slack is no way in yet."""
    found = explained(an_authority(a_rule(), approvers={"ann": Approver(tenant="default", id="ann")}))
    by_id = {each.id: each for each in found.deciders}
    assert ANN.slack
    assert by_id["ann"].channels == ("api", "web", "chat")
    assert (by_id["ann"].signs_in, by_id["zoe"].signs_in) == (True, False)
    assert by_id["zoe"].why_not == "not among the approvers"


@pytest.mark.parametrize(
    ("rule", "body", "person_id", "why"),
    [
        (a_rule(channels=frozenset({"chat2"})), {}, "ann", "has no way in through chat2"),
        (
            a_rule(step_up=True, channels=frozenset({"web"})),
            {},
            "ann",
            "has to sign in again for it, and there is no issuer here that signs them in",
        ),
        (
            a_rule(quorum=2),
            {},
            "zoe",
            "not in the directory, and where it takes more than one person only its people count",
        ),
        (
            a_rule(),
            {"allowed_decisions": (Verdict.REJECT,)},
            "ann",
            "the request does not let itself be approved",
        ),
        (
            a_rule(),
            {"actor": ActorBody(id="ANN", kind=ActorKind.USER)},
            "ann",
            "on the asking side, under this name or another: the actor, whom it acts for, or an owner",
        ),
    ],
)
def test_why_somebody_can_not(rule: Rule, body: dict[str, Any], person_id: str, why: str) -> None:
    """The first thing in the order of judgement."""
    assert why_not(explained(an_authority(rule), structs.replace(BODY, **body)), person_id) == why


@pytest.mark.parametrize(
    ("authority", "body", "client", "why"),
    [
        (an_authority(), {"risk": Risk.CRITICAL}, None, "no rule is for it"),
        (
            an_authority(a_rule()),
            {"input": structs.replace(BODY).input_hash, "input_hash": "0" * 64},
            None,
            "its input is withheld, and somebody must see it",
        ),
        (
            an_authority(
                a_rule(),
                clients={
                    "shop": Client(
                        tenant="default",
                        name="shop",
                        scopes=frozenset({Scope.REQUEST}),
                        capabilities=("mail.*",),
                    )
                },
            ),
            {},
            "shop",
            "the client may not ask for this capability (`placet clients list`)",
        ),
    ],
)
def test_why_it_can_not_be_asked(
    authority: Authority, body: dict[str, Any], client: str | None, why: str
) -> None:
    """As the service would refuse it."""
    assert explained(authority, structs.replace(BODY, **body), client).refused == why


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"allowed_decisions": (Verdict.APPROVE,)}, "/allowed_decisions"),
        ({"actor": ActorBody(id="a\u200b", kind=ActorKind.USER)}, "/actor/id"),
        ({"presentation": PresentationBody(redact=("x",))}, "/presentation/redact/0"),
        ({"input": BODY.input_hash}, "/input"),
    ],
)
def test_what_could_never_be_asked_is_refused(body: dict[str, Any], path: str) -> None:
    """By the names of its members."""
    with pytest.raises(InputInvalid) as caught:
        explained(an_authority(a_rule()), structs.replace(BODY, **body))
    assert [issue.path for issue in caught.value.issues] == [path]


def test_rules_that_come_first_say_what_keeps_them_off() -> None:
    """The first of what they name, in the order of a rule."""
    first = structs.replace(a_rule(), tenants=("eu-*",), capabilities=("mail.*",))
    second = structs.replace(a_rule(), clients=("shop",))
    third = structs.replace(a_rule(), surfaces=("mcp", "web.*"))
    found = explained(an_authority(first, second, third, a_rule()), client="bot")
    assert [each.why for each in found.passed] == [
        "its tenants (eu-*) are not for default",
        "its clients (shop) are not for bot",
        "its surfaces (mcp, web.*) are not for direct",
    ]


@pytest.mark.parametrize(
    ("when", "words"),
    [
        (When(risk=frozenset({Risk.CRITICAL, Risk.HIGH})), "where risk is high or above"),
        (When(effect=frozenset({Effect.WRITE})), "where effect is write, or above"),
        (When(types=frozenset({"b", "a"})), "where types name a or b"),
        (
            When(actor_kind=frozenset({ActorKind.AGENT}), risk=frozenset({Risk.LOW})),
            "where risk is low or above and the actor is of kind agent",
        ),
    ],
)
def test_when_a_block_applies_is_said(when: When, words: str) -> None:
    """In words."""
    rule = structs.replace(a_rule(), stricter=(Stricter(when=when, quorum=1),))
    assert [each.when for each in explained(an_authority(rule)).blocks] == [words]


WORDS: list[tuple[dict[str, Any], str]] = [
    ({"approvers": ()}, "One person approves it, who is any approver of the tenant."),
    (
        {"approvers": (Approvers(groups=frozenset({"b", "a"}), people=frozenset({"cy"})), TREASURY)},
        "One person approves it, who is in one of the groups a or b, or cy; and is in group treasury.",
    ),
    (
        {"quorum": 2},
        "2 different people of the directory approve it, each of whom is in group treasury.",
    ),
    ({"rejections": 2}, "It takes 2 different people of them to reject it."),
    ({"channels": frozenset({"web", "api", "chat"})}, "They decide through api, chat or web."),
    ({"step_up": True}, "Whoever approves it has just signed in again."),
    ({"comment": CommentRule.ON_REJECT}, "Whoever rejects it says why."),
    ({"expires_in_ms": (60_000, 3_600_000)}, "The question waits 1m unless asked for longer, 1h at most."),
    ({"expires_in_ms": (None, 60_000)}, "The question waits 1m unless asked for longer, 1m at most."),
    ({"use_within_ms": (60_000, None)}, "A grant is used within 1m unless asked otherwise, 1d at most."),
    ({"use_within_ms": (None, 60_000)}, "A grant is used within 1m unless asked otherwise, 1m at most."),
    ({"edit": EditRule.YES}, "It can be approved with changes, which others then approve."),
    ({"self_approval": True}, "A person who acts in their own name may confirm it themselves."),
    (
        {"hidden_input": True},
        "Its input may be withheld, unless it is destructive, external, or of high or critical risk.",
    ),
    ({"escalation": Escalation(after_ms=60_000, gives_up=True)}, "After 1m it is over."),
    (
        {"escalation": Escalation(after_ms=60_000, groups=frozenset({"a", "b"}))},
        "After 1m the groups a and b may decide it too.",
    ),
    (
        {"escalation": Escalation(after_ms=60_000, groups=frozenset({"a"}), tell=("slack:#x", "slack:@c"))},
        "After 1m the groups a may decide it too; told of it then: slack:#x, slack:@c.",
    ),
    ({"tell": ("slack:#x", "webhook:y")}, "Told of it: slack:#x, webhook:y."),
]


@pytest.mark.parametrize(("members", "sentence"), WORDS)
def test_terms_are_sentences(members: dict[str, Any], sentence: str) -> None:
    """Each that is there."""
    assert sentence in list(sentences(a_rule(**members).terms, Limits()))


def test_the_built_in_rule_has_words_too() -> None:
    """As it holds without files."""
    first, *_ = sentences(BUILT_IN, Limits())
    assert first == "One person approves it, who is any approver of the tenant."
    assert listed((), "or") == "nobody"


@pytest.mark.parametrize(
    ("rule", "allowed", "said"),
    [
        (a_rule(), ("approve", "reject"), "It can't be approved with changes."),
        (a_rule(edit=EditRule.YES), ("approve", "reject"), 'it has to list "edit" in allowed_decisions.'),
        (a_rule(edit=EditRule.YES), ("approve", "edit", "reject"), "which others then approve."),
    ],
)
def test_what_is_said_of_changes_is_of_this_request(rule: Rule, allowed: tuple[str, ...], said: str) -> None:
    """The rule lets it, and the request has to list it."""
    body = structs.replace(BODY, allowed_decisions=tuple(map(Verdict, allowed)))
    assert any(each.endswith(said) for each in explained(an_authority(rule), body).terms)


def test_nobody_changes_what_is_redacted() -> None:
    """Whatever the request lists."""
    body = structs.replace(
        BODY,
        allowed_decisions=(Verdict.EDIT, Verdict.REJECT),
        presentation=PresentationBody(redact=("/amount",)),
    )
    terms_ = explained(an_authority(a_rule(edit=EditRule.COUNTS)), body).terms
    assert any("nobody changes an input that is withheld or redacted" in each for each in terms_)


@given(st.lists(rules(), min_size=1, max_size=3), st.sampled_from(Risk), st.sampled_from(Effect))
def test_it_says_what_the_judges_do(drawn: list[Rule], risk: Risk, effect: Effect) -> None:
    """Whoever is said to decide through the API can, and nobody else."""
    wide = tuple(structs.replace(each, tenants=("*",), clients=("*",), surfaces=("*",)) for each in drawn)
    members = [Member(tenant="default", id=each, groups=frozenset(GROUPS[:1])) for each in PEOPLE]
    authority = an_authority(*wide, people=People(members), clients={})
    body = structs.replace(BODY, capability="ab", risk=risk, effect=effect)
    found = explained(authority, body)
    ask_terms = found.rule
    for each in found.deciders:
        voter = authority.voter(Approver(tenant="default", id=each.id))
        assert (each.why_not is None) is each.could
        assert each.channels == ()
        if ask_terms is None:
            assert each.would == ()
        elif "api" in each.would:
            assert voter.is_member


@given(terms())
def test_every_term_has_words(drawn: Terms) -> None:
    """Whole sentences."""
    said = list(sentences(drawn, Limits()))
    assert all(each.endswith(".") and not each[0].islower() and "  " not in each for each in said)
