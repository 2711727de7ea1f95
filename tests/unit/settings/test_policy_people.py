"""Rules beside a directory: whether who they name is there, and what is only doubtful."""

import pytest

from tests.rulefiles import DIRECTORY, POLICY, TREASURY, Files, rule

SLACK = """
[slack.T1A]
app = "A1A"
token_file = "/run/secrets/token"
signing_secret_files = ["/run/secrets/signing"]
channels = { treasury = "C1A" }
"""
TOO_LATE = (
    "A question waits {} where nothing longer is asked for, and is over by then: write a shorter time here, "
    "or a longer expires_in.default."
)
DOUBTS: dict[str, tuple[str, str | None, list[str]]] = {
    "a pattern like a shell's": (
        rule('surfaces = ["a?"]'),
        DIRECTORY,
        ["5: In 'a?' only * is special: ? and [ stand for themselves."],
    ),
    "a channel like one of ours": (
        rule('channels = ["slak"]'),
        DIRECTORY,
        ["5: 'slak' is taken for the name of a bridge's client; did you mean 'slack'?"],
    ),
    "a group without a directory": (
        rule(),
        None,
        ["4: Group 'treasury' is in no directory: only whose credential has it is meant."],
    ),
    "a person who is in none": (
        '[[rules]]\nname = "r"\ncapabilities = ["a"]\napprovers = { people = ["zoe", "dan"] }',
        DIRECTORY.replace("dana", "lin"),
        [
            "4: 'dan' is not in the directory: only a credential of this id is meant.",
            "4: 'zoe' is not in the directory: only a credential of this id is meant.",
        ],
    ),
    "people where there is no directory": (
        '[[rules]]\nname = "r"\ncapabilities = ["a"]\napprovers = { people = ["ann"] }',
        None,
        [],
    ),
    "an escalation that comes too late as a rule": (
        rule(
            'expires_in = { max = "2h", default = "30m" }', 'escalate = { after = "30m", groups = ["cfo"] }'
        ),
        DIRECTORY,
        [f"6: {TOO_LATE.format('30m')}"],
    ),
    "an escalation after the service's own wait": (
        rule('escalate = { after = "15m", groups = ["cfo"] }'),
        DIRECTORY,
        [f"5: {TOO_LATE.format('15m')}"],
    ),
    "a group that an issuer may name": (
        '[[rules]]\nname = "r"\ncapabilities = ["a"]\napprovers = { groups = ["ops"] }',
        DIRECTORY + '[issuers."https://login.example"]\naudience = "placet"\ngroups_claim = "groups"\n',
        ["4: Nobody in the directory is in group 'ops': add it to the groups of somebody."],
    ),
    "channels and people of Slack that no app has": (
        rule(
            'tell = ["slack:#treasurx", "slack:#board", "slack:C1A", "slack:#treasury", "webhook:x"]',
            "[rules.escalate]",
            'after = "5m"',
            'groups = ["cfo"]',
            'tell = ["slack:@ann", "slack:@zoe", "slack:@dana"]',
        ),
        DIRECTORY + 'slack = [{ team = "T1A", user = "U1A" }]\n' + SLACK,
        [
            "5: No Slack app has a channel 'treasurx'; did you mean 'treasury'?",
            "5: No Slack app has a channel 'board': add it to the channels of one.",
            "9: 'ann' has no user of a workspace with an app: give them one, as slack = [{ … }].",
            "9: 'zoe' is not in the directory: nobody is told.",
        ],
    ),
    "a channel of another tenant's Slack app": (
        rule('tell = ["slack:#treasury", "slack:C1A"]', 'tenants = ["other"]').replace(
            TREASURY, 'approvers = { people = ["ann"] }'
        ),
        DIRECTORY + SLACK,
        ["5: There is no Slack app for it: enter one in the directory, as [slack.T024BE7LD]."] * 2,
    ),
    "a channel where there is no directory": (
        rule('tell = ["slack:#treasury"]'),
        None,
        [
            "4: Group 'treasury' is in no directory: only whose credential has it is meant.",
            "5: There is no Slack app for it: enter one in the directory, as [slack.T024BE7LD].",
        ],
    ),
    "nothing at all": (POLICY, DIRECTORY, []),
}


@pytest.mark.parametrize(("policy", "directory", "expected"), DOUBTS.values(), ids=DOUBTS)
def test_doubts_keep_nothing_from_being_used(
    files: Files, policy: str, directory: str | None, expected: list[str]
) -> None:
    """They are told, and the rules hold."""
    files.write(policy, directory)
    assert files.warnings() == [f"policy.toml:{each}" for each in expected]
    assert files.rulebook.policies is not None


@pytest.mark.parametrize(
    ("written", "known", "meant"),
    [
        ("mariah", "maria", "maria"),
        ("Mraia", "maria", "maria"),
        ("tim", "tom", None),
        ("ann", "ann@example.com", "ann@example.com"),
        ("anne@example.com", "ann", "ann"),
        ("anne@example.com", "ann@exmaple.com", "ann@exmaple.com"),
        ("bob@example.com", "ann@example.com", None),
        ("ann@example.com", "ann@other.test", None),
        ("oidc:0123456789abcdef", "oidc:0123456789abcdee", None),
    ],
)
def test_a_name_that_is_nearly_an_id_is_a_fault(
    files: Files, written: str, known: str, meant: str | None
) -> None:
    """Whoever comes to be called so would have the right; of addresses, one domain makes nobody alike."""
    people = f'approvers = {{ people = ["{written}"] }}'
    files.write(rule(approvers=people), f'[[people]]\nid = "{known}"\n')
    said = f"{written!r} is not in the directory: write {meant!r}, or enter {written!r} there."
    assert files.problems() == ([] if meant is None else [f"policy.toml:4: {said}"])


def test_one_name_of_several_people_is_told_with_all_of_them(files: Files) -> None:
    """Which of them is meant only its author knows."""
    directory = (
        '[[people]]\nid = "mk1"\nname = "Maria Keller"\n[[people]]\nid = "mk2"\nname = "maria keller"\n'
    )
    files.write(rule(approvers='approvers = { people = ["Maria Keller"] }'), directory)
    assert files.problems() == [
        "policy.toml:4: 'Maria Keller' is no id: the directory calls this person 'mk1' or 'mk2', write that."
    ]


def test_several_people_want_a_directory(files: Files) -> None:
    """Where none is given it says how to give one; where it is empty, to enter people."""
    files.write(rule("quorum = 2"), None)
    said = "policy.toml:5: It takes 2 people under this rule, all of them of "
    assert files.problems() == [
        f"{said}a directory, and none was given: give one with --directory or PLACET_DIRECTORY_FILE."
    ]
    files.write(rule("quorum = 2"), "")
    assert files.problems() == [f"{said}the directory, and that has nobody: enter them there."]
    files.write(rule("quorum = 2", 'tenants = ["eu", "us"]'))
    assert files.problems() == [
        f"{said}the directory, and that has nobody of tenant 'eu' or 'us': enter them there."
    ]


def test_an_issuer_s_groups_fill_no_quorum(files: Files) -> None:
    """Of more than one, only people of the directory are, with the groups it says."""
    issuer = '[issuers."https://login.example"]\naudience = "placet"\ngroups_claim = "groups"\n'
    files.write(rule("quorum = 4"), DIRECTORY + issuer)
    assert len(files.problems()) == 1


def test_people_who_are_called_later_are_counted(files: Files) -> None:
    """A quorum that is reached only once it has escalated can be reached."""
    lines = ('escalate = { after = "5m", groups = ["platform"] }', "quorum = 4")
    files.write(rule(*lines))
    assert files.problems() == []


@pytest.mark.parametrize(
    ("old", "new", "is_told"),
    [
        ("", "x = 1\n", True),
        ('name = "Ann Marsh"', "nme = 1", True),
        ('owns = ["nightly"]', "owns = 5", True),
        ('id = "cy"', 'id = "ann"', False),
        ('id = "cy"\n', "", False),
        ('groups = ["treasury", "cfo"]', "groups = 1", False),
        ('groups = ["treasury", "cfo"]', "grups = 1", False),
        ('id = "cy"', 'id = "cy"\ntenant = 1', False),
        ("", 'issuers."https://x" = 1\n', False),
        ("", "issuers = 1\n", False),
        ("", "peeple = 1\n", False),
        ("", 'issuers."https://x" = { audience = "p", groups_claim = 1 }\n', False),
        ("", 'issuers."https://x" = { audience = "p", label = 1 }\n', True),
        ("", "= 1\n", False),
    ],
)
def test_rules_are_held_against_a_directory_that_says_who_is_there(
    files: Files, old: str, new: str, *, is_told: bool
) -> None:
    """Where it can't be told who is in which group, nothing is said of that."""
    files.write(rule("quorum = 9"), DIRECTORY.replace(old, new) if old else new + DIRECTORY)
    found = ["policy.toml"] if is_told else []
    assert [each.partition(":")[0] for each in files.problems()] == [*found, "directory.toml"]
