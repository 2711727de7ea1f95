"""The directory file: who people are, and every way to get it wrong, each told with its line and a remedy."""

import pytest

from placet.domain.chat import SlackApp
from placet.domain.people import DEFAULT_ALGORITHMS, DEFAULT_TYPES, Issuer, Member, SignIn, SlackUser, Subject
from tests.faulty import cases
from tests.rulefiles import Files

WHOLE = """
revision = 3

[issuers."https://login.example"]
tenant = "acme"
audience = "placet"
algorithms = ["ES256"]
types = ["at+jwt"]
jwks_url = "https://login.example/keys?v=1"
groups_claim = "roles"
name_claim = "preferred_username"
email_authoritative = true
clients = false

[issuers."http://127.0.0.1:9000/realms/x"]
audience = "placet"

[[people]]
id = "ann"
tenant = "acme"
name = "Ann Marsh"
groups = ["treasury", "cfo"]
aliases = ["ann@example.com", "amarsh"]
oidc = [{ iss = "https://login.example", sub = "00u1" }]
slack = [{ team = "T024BE7LD", user = "U2147483697" }, { team = "E1A", user = "W1A" }]
owns = ["nightly-batch"]

[[people]]
id = "ann"
"""


SIGN_IN = """
[issuers."https://login.example".sign_in]
name = "example"
client_id = "placet web"

[issuers."https://id.example".sign_in]
name = "id"
client_id = "c"
client_secret_file = "/run/secrets/oidc"
label = "Our login"
scopes = ["openid", "groups"]
acr_values = ["phr", "phrh"]
"""


SLACK = """
[slack.T024BE7LD]
app = "A024BE7LA"
token_file = "/run/secrets/token"
signing_secret_files = ["/run/secrets/new", "/run/secrets/old"]
channels = { treasury = "C024BE7LR", ops-2 = "G1A" }
[slack.T1A]
tenant = "acme"
app = "A024BE7LA"
token_file = "/run/secrets/token"
signing_secret_files = ["/run/secrets/new"]
api_url = "http://127.0.0.1:9000/api"
"""


def test_an_issuer_may_sign_people_in(files: Files) -> None:
    """Without being one whose tokens are credentials; it is known by its host where nothing else is said."""
    files.write(directory=SIGN_IN)
    plain, whole = files.rulebook.issuers.values()
    assert (plain.audience, plain.sign_in) == (
        None,
        SignIn(name="example", client_id="placet web", label="login.example"),
    )
    assert whole.sign_in == SignIn(
        name="id",
        client_id="c",
        client_secret_file="/run/secrets/oidc",
        label="Our login",
        scopes=("groups",),
        acr_values=("phr", "phrh"),
    )


def test_a_file_says_what_it_says(files: Files) -> None:
    """Every member there is; one id in two tenants is two people."""
    files.write(directory=WHOLE)
    found = files.rulebook
    assert found.generation.directory is not None
    assert found.generation.directory.revision == 3
    assert found.issuers == {
        "https://login.example": Issuer(
            iss="https://login.example",
            tenant="acme",
            audience="placet",
            algorithms=("ES256",),
            types=("at+jwt",),
            jwks_url="https://login.example/keys?v=1",
            groups_claim="roles",
            name_claim="preferred_username",
            email_authoritative=True,
        ),
        "http://127.0.0.1:9000/realms/x": Issuer(
            iss="http://127.0.0.1:9000/realms/x", tenant="default", audience="placet"
        ),
    }
    assert found.people.members == (
        Member(
            tenant="acme",
            id="ann",
            name="Ann Marsh",
            groups=frozenset({"treasury", "cfo"}),
            aliases=("ann@example.com", "amarsh"),
            subjects=(Subject(iss="https://login.example", sub="00u1"),),
            slack=(SlackUser(team="T024BE7LD", user="U2147483697"), SlackUser(team="E1A", user="W1A")),
            owns=("nightly-batch",),
        ),
        Member(tenant="default", id="ann"),
    )


def test_a_slack_app_is_told_by_its_workspace(files: Files) -> None:
    """Whose it is, where its secrets are, and what rules call its channels."""
    files.write(None, SLACK)
    assert files.rulebook.slack == {
        "T024BE7LD": SlackApp(
            team="T024BE7LD",
            tenant="default",
            app="A024BE7LA",
            token_file="/run/secrets/token",
            signing_secret_files=("/run/secrets/new", "/run/secrets/old"),
            channels={"treasury": "C024BE7LR", "ops-2": "G1A"},
        ),
        "T1A": SlackApp(
            team="T1A",
            tenant="acme",
            app="A024BE7LA",
            token_file="/run/secrets/token",
            signing_secret_files=("/run/secrets/new",),
            api_url="http://127.0.0.1:9000/api/",
        ),
    }


def test_secrets_of_a_slack_app_that_can_not_be_had_are_told(files: Files) -> None:
    """With what does not work without them."""
    files.write(None, SLACK.partition("[slack.T1A]")[0])
    missing = "can't be read (No such file or directory): where the service runs it must be there, or"
    assert files.told(files.load().unusable) == [
        f"directory.toml:4: /run/secrets/token {missing} nothing is posted there.",
        f"directory.toml:5: /run/secrets/new {missing} no click that is signed with it counts.",
        f"directory.toml:5: /run/secrets/old {missing} no click that is signed with it counts.",
    ]


def test_what_is_not_said_of_an_issuer_is_safe(files: Files) -> None:
    """Asymmetric signatures, the types of access tokens, and addresses that lead nowhere."""
    files.write(None, '[issuers."https://login.example"]\naudience = "placet"\n')
    issuer = files.rulebook.issuers["https://login.example"]
    assert (issuer.algorithms, issuer.types) == (DEFAULT_ALGORITHMS, DEFAULT_TYPES)
    assert (issuer.jwks_url, issuer.groups_claim, issuer.name_claim) == (None, None, "name")
    assert not issuer.email_authoritative


REFUSED = cases("directory_faults")


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_wrong_is_told(files: Files, name: str) -> None:
    """With its line, and what to write."""
    files.write(None, REFUSED[name].text)
    assert files.problems() == [f"directory.toml:{each}" for each in REFUSED[name].said]


def test_an_id_is_no_longer_than_an_id(files: Files) -> None:
    """As anywhere; a subject as the standard has it."""
    pair = f'{{ iss = "https://login.example", sub = "{"x" * 256}" }}'
    text = f'[issuers."https://login.example"]\naudience = "x"\n[[people]]\nid = "a"\noidc = [{pair}]\n'
    files.write(None, text + f'[[people]]\nid = "{"x" * 257}"\n')
    assert files.problems() == [
        "directory.toml:5: A sub has 255 ASCII characters at most.",
        "directory.toml:7: id must have at most 256 characters.",
    ]


def test_a_directory_holds_without_rules(files: Files) -> None:
    """The built-in rule, and people who are known by all their names."""
    files.write(None, WHOLE)
    assert files.rulebook.policies is None
    assert files.rulebook.people.key("acme", "AMarsh") == "ann"
