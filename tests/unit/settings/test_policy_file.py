"""The policy file: what it says, and every way to get it wrong, each told with its line and a remedy."""

import pytest
from msgspec import UNSET

from placet.domain.limits import Limits
from placet.domain.model import ActorKind, Effect, Risk
from placet.domain.rules import (
    Approvers,
    CommentRule,
    EditRule,
    Escalation,
    Floor,
    Policies,
    Rule,
    Stricter,
    Terms,
    When,
)
from placet.settings.rule_files import RulesInvalid
from tests.faulty import cases
from tests.rulefiles import DIRECTORY, TREASURY, Files, block, rule

WHOLE = """
revision = 7

[[capabilities]]
match = ["payments.*"]
least_effect = "external"
least_risk = "high"

[[rules]]
name = "payments"
tenants = ["default", "eu-*"]
clients = ["shop"]
capabilities = ["payments.*"]
surfaces = ["direct"]
approvers = { groups = ["treasury"], people = ["ann"] }
quorum = 2
rejections = 2
channels = ["web", "api", "chat-bridge"]
expires_in = { default = "15m", max = "1d" }
use_within = { default = "10m", max = "1h" }
comment = "on-reject"
edit = "yes"
step_up = true
tell = ["slack:#treasury", "slack:C024BE7LD", "slack:@ann", "webhook:pay"]
escalate = { after = "10m", groups = ["cfo"], tell = ["slack:#cfo"] }

[[rules.stricter]]
when = { risk = ["critical"], effect = ["external"], types = ["bulk"], actor_kind = ["agent"] }
approvers = { groups = ["treasury", "cfo"] }
quorum = 3
rejections = 1
channels = ["web"]
expires_in = { max = "1h" }
use_within = { max = "5m" }
comment = "always"
edit = "no"

[[rules]]
name = "notes"
capabilities = ["notes.*"]
approvers = { people = ["ann"] }
self_approval = true
hidden_input = true
escalate = { after = "10m", give_up = true }

[[rules.stricter]]
when = { actor_kind = ["agent"] }
self_approval = false
hidden_input = false
step_up = true
"""


def test_a_file_says_what_it_says(files: Files) -> None:
    """Every member there is."""
    files.write(WHOLE)
    found = files.rulebook
    assert found.generation.policy is not None
    assert found.generation.policy.revision == 7
    treasury = Approvers(groups=frozenset({"treasury"}), people=frozenset({"ann"}))
    assert found.policies == Policies(
        version=found.generation.version,
        floors=(Floor(capabilities=("payments.*",), effect=Effect.EXTERNAL, risk=Risk.HIGH),),
        rules=(
            Rule(
                tenants=("default", "eu-*"),
                clients=("shop",),
                capabilities=("payments.*",),
                surfaces=("direct",),
                terms=Terms(
                    rule="payments",
                    approvers=(treasury,),
                    quorum=2,
                    rejections=2,
                    channels=frozenset({"web", "api", "chat-bridge"}),
                    expires_in_ms=(900_000, 86_400_000),
                    use_within_ms=(600_000, 3_600_000),
                    comment=CommentRule.ON_REJECT,
                    edit=EditRule.YES,
                    step_up=True,
                    tell=("slack:#treasury", "slack:C024BE7LD", "slack:@ann", "webhook:pay"),
                    escalation=Escalation(after_ms=600_000, groups=frozenset({"cfo"}), tell=("slack:#cfo",)),
                ),
                stricter=(
                    Stricter(
                        when=When(
                            risk=frozenset({Risk.CRITICAL}),
                            effect=frozenset({Effect.EXTERNAL}),
                            types=frozenset({"bulk"}),
                            actor_kind=frozenset({ActorKind.AGENT}),
                        ),
                        approvers=Approvers(groups=frozenset({"treasury", "cfo"})),
                        quorum=3,
                        rejections=1,
                        channels=frozenset({"web"}),
                        expires_in_max_ms=3_600_000,
                        use_within_max_ms=300_000,
                        comment=CommentRule.ALWAYS,
                        edit=EditRule.NO,
                    ),
                ),
            ),
            Rule(
                capabilities=("notes.*",),
                terms=Terms(
                    rule="notes",
                    approvers=(Approvers(people=frozenset({"ann"})),),
                    self_approval=True,
                    hidden_input=True,
                    escalation=Escalation(after_ms=600_000, gives_up=True),
                ),
                stricter=(
                    Stricter(
                        when=When(actor_kind=frozenset({ActorKind.AGENT})),
                        self_approval=False,
                        hidden_input=False,
                        step_up=True,
                    ),
                ),
            ),
        ),
    )


def test_what_is_not_said_is_the_least(files: Files) -> None:
    """One person, any channel, no exception; for every tenant, client and surface."""
    assert files.rulebook.policies is not None
    (rule,) = files.rulebook.policies.rules
    assert rule.terms == Terms(rule="all", approvers=rule.terms.approvers)
    assert (rule.tenants, rule.clients, rule.surfaces, rule.stricter) == (("*",), ("*",), ("*",), ())
    assert rule.terms.approvers[0].people == {"ann", "bob"}


REFUSED = cases("policy_faults")


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_wrong_is_told(files: Files, name: str) -> None:
    """With its line, and what to write: what is no rule, and rules that can't do what they are meant for."""
    files.write(REFUSED[name].text)
    assert files.problems() == [f"policy.toml:{each}" for each in REFUSED[name].said]


def test_what_is_no_toml_is_told(files: Files) -> None:
    """With the line of the mistake."""
    files.write(rule("name = refunds"))
    assert files.problems() == ['policy.toml:5: A text stands in quotes: write "refunds".']


def said(files: Files, text: str, directory: str | None = DIRECTORY) -> list[str]:
    """The line of each problem, with how it begins."""
    files.write(text, directory)
    problems = (each.removeprefix("policy.toml:") for each in files.problems())
    return [" ".join(each.split()[:4]) for each in problems]


def test_every_mistake_is_told_at_once(files: Files) -> None:
    """One in a member is no reason to be silent on others of the same rule."""
    text = rule('comment = "x"', "zzz = 1", "quorum = 9", *block("quorum = 10"))
    assert said(files, text) == [
        "5: comment can't be",
        "6: A rule has",
        "7: It takes 9",
        "10: It takes 10",
    ]
    text = rule(
        'comment = "x"', *block("rejections = 3", "zzz = 1"), approvers='approvers = { groups = ["x"] }'
    )
    assert said(files, text) == [
        "4: Nobody in the",
        "5: comment can't be",
        "8: A stricter block",
        "9: A stricter block",
    ]
    unnamed = rule("quorum = 9").replace("name =", "# name =") + rule(name="b", approvers="approvers = {}")
    assert said(files, unnamed) == ["1: A rule needs", "5: It takes 9", "9: Nobody could decide:"]


@pytest.mark.parametrize(
    "text",
    [
        rule("quorom = 3", 'channels = ["slack"]', "rejections = 2"),
        rule('quorum = "9"', "self_approval = true", *block("quorum = 1")),
        rule("rejectons = 3", *block("rejections = 2")),
        rule("quorum = 4", 'escalat = { after = "5m", groups = ["platform"] }'),
        rule("quorum = 4", 'escalate = { after = 5, groups = ["platform"] }'),
        rule('escalate = { after = "20m", groups = ["cfo"] }', 'expires_in = { defalt = "1h" }'),
        rule('escalate = { after = "20m", groups = ["cfo"] }', "expires_in = 1"),
        rule(*block('approvers = { groups = "cfo" }', "quorum = 2")),
        rule(*block("quorum = 9", when='risc = ["high"]')),
        rule('tenants = "eu"', "quorum = 9"),
        rule('capabilities = "a"', "quorum = 9", name="b").replace('capabilities = ["a.*"]\n', ""),
        rule('surfaces = "x"', name="a") + rule(name="b"),
        rule('surfaces = ["x"]', name="a") + rule('surfces = ["y"]', name="b") + rule(name="c"),
        rule('channels = "web"', "step_up = true"),
    ],
)
def test_what_rests_on_a_mistake_is_not_told(files: Files, text: str) -> None:
    """Mended, it would be gone, or another."""
    files.write(text)
    assert len(files.problems()) == 1


def test_a_rule_of_too_many_patterns_is_compared_whole(files: Files) -> None:
    """Single patterns are looked for as long as there are not too many combinations."""
    many = ", ".join(f'"a{n}"' for n in range(120))
    text = "\n".join(
        [
            "[[rules]]", 'name = "wide"', 'capabilities = ["a*"]', 'clients = ["a*"]', TREASURY,
            "[[rules]]", 'name = "many"', f"capabilities = [{many}]", f'clients = ["z", {many}]', TREASURY,
            "[[rules]]", 'name = "late"', f"capabilities = [{many}]", f"clients = [{many}]", TREASURY,
        ]
    )  # fmt: skip
    files.write(text)
    (problem,) = files.problems()
    assert problem.startswith("policy.toml:11: Rule 'late' can never match: rule 'wide' comes first")


def test_a_shorter_wait_than_the_service_takes_is_told(files: Files) -> None:
    """Nobody could ask for so little."""
    files.write(rule('expires_in = { default = "1s", max = "2s" }'))
    with pytest.raises(RulesInvalid) as caught:
        files.load(Limits(expires_in_min_ms=5_000))
    assert [str(each.message) for each in caught.value.problems] == [
        'The service asks for 5s at least: write "5s" or more.'
    ] * 2


def test_unset_is_what_a_block_does_not_say(files: Files) -> None:
    """So that it stays as it is."""
    files.write(rule(*block("quorum = 2")))
    assert files.rulebook.policies is not None
    (made,) = files.rulebook.policies.rules[0].stricter
    assert (made.quorum, made.channels, made.step_up, made.approvers) == (2, UNSET, UNSET, UNSET)
