"""``placet policy``: faults told with their lines, and what the rules make of a request."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.rulefiles import DIRECTORY, POLICY, Files
from tests.unit.cli.conftest import Type, begun

REQUEST = {
    "capability": "orders.refund",
    "actor": {"id": "agent-7", "kind": "agent"},
    "effect": "write",
    "input": {"amount": 5},
}
SIGN_IN = """
[issuers."http://127.0.0.1:9".sign_in]
name = "example"
client_id = "c"
client_secret_file = "{file}"
"""


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """Right ones."""
    return Files(tmp_path)


@pytest.fixture
def request_file(tmp_path: Path) -> Path:
    """A request, as it would be sent."""
    path = tmp_path / "request.json"
    path.write_text(json.dumps(REQUEST), encoding="utf-8")
    return path


class TestCheck:
    """``placet policy check``."""

    def test_right_files_are_counted(self, cli: Type, files: Files) -> None:
        """What is in each, and what names them together."""
        ran = cli("policy", "check", str(files.policy), "--directory", str(files.directory))
        assert (ran.status, ran.err) == (0, "")
        assert ran.out.splitlines() == [
            f"✓ {files.policy}: 1 rule, 0 floors, no revision.",
            f"✓ {files.directory}: 4 people, 0 issuers, no revision.",
        ]

    def test_every_fault_is_told_with_its_line(self, cli: Type, files: Files) -> None:
        """Of both files, and the status is 1."""
        files.write(POLICY + "quorom = 2\ncomment = 7\n", DIRECTORY.replace("name =", "nme ="))
        ran = cli("policy", "check", str(files.policy), "--directory", str(files.directory))
        assert ran.status == 1
        words = '"never", "on-reject" or "always"'
        assert ran.out.splitlines() == [
            f"✗ {files.policy}:6: A rule has no 'quorom'; did you mean 'quorum'?",
            f"✗ {files.policy}:7: comment must be a text, not a whole number: write {words}.",
            f"✗ {files.directory}:4: A person has no 'nme'; did you mean 'name'?",
            "",
            "3 faults: a service would not start with this.",
        ]

    def test_doubts_are_told_too(self, cli: Type, files: Files) -> None:
        """They keep nothing from being used."""
        files.write(POLICY.replace('"bob"', '"zoe"'))
        ran = cli("policy", "check", str(files.policy), "--directory", str(files.directory))
        assert ran.status == 0
        assert "! " in ran.out
        assert "'zoe' is not in the directory: only a credential of this id is meant." in ran.out

    def test_a_secret_that_is_not_there_is_a_doubt(self, cli: Type, files: Files, tmp_path: Path) -> None:
        """The service may run elsewhere."""
        files.write(directory=SIGN_IN.format(file=tmp_path / "oidc") + DIRECTORY)
        ran = cli("policy", "check", str(files.policy), "--directory", str(files.directory))
        assert ran.status == 0
        assert f"! {files.directory}:5: {tmp_path / 'oidc'} can't be read (No such file" in ran.out

    def test_all_of_it_is_there_as_json(self, cli: Type, files: Files) -> None:
        """Faults by file and line; contents and version where there are none."""
        files.write("revision = 4\n" + POLICY)
        right = cli("policy", "check", str(files.policy), "--json").json()
        assert (right["ok"], right["policy"]["revision"], right["directory"]) == (True, 4, None)
        assert (
            right["version"] == files.source.read().rulebook.generation.version or len(right["version"]) == 64
        )
        files.write("x = 1\n" + POLICY)
        ran = cli("policy", "check", str(files.policy), "--json")
        assert (ran.status, ran.json()["ok"]) == (1, False)
        assert ran.json()["faults"][0] == {
            "file": str(files.policy),
            "line": 1,
            "message": "The policy file has no 'x'; there are capabilities, revision, rules.",
        }

    def test_the_variables_name_the_files_where_nothing_else_does(self, cli: Type, files: Files) -> None:
        """As they would for a service; without any, it says what it needs."""
        environ = {"PLACET_POLICY_FILE": str(files.policy), "PLACET_DIRECTORY_FILE": str(files.directory)}
        assert len(cli("policy", "check", environ=environ).out.splitlines()) == 2
        ran = cli("policy", "check")
        assert (ran.status, "set PLACET_POLICY_FILE" in ran.said) == (2, True)

    def test_a_file_that_is_not_there_is_a_fault(self, cli: Type, tmp_path: Path) -> None:
        """Told without a line."""
        ran = cli("policy", "check", str(tmp_path / "none.toml"))
        assert ran.status == 1
        assert f"✗ {tmp_path / 'none.toml'}: The policy file can't be read (No such file" in ran.out

    def test_what_is_in_a_file_can_not_steer_the_terminal(self, cli: Type, files: Files) -> None:
        """Messages that repeat it make it visible."""
        files.write(POLICY + '"\\u001b[2J\\u202e" = 1\n')
        ran = cli("policy", "check", str(files.policy))
        assert "\x1b[2J" not in ran.out
        assert "\u202e" not in ran.out

    def test_the_service_s_own_bounds_count(self, cli: Type, files: Files) -> None:
        """A rule can't let a question wait longer than PLACET_EXPIRES_IN_MAX_MS."""
        files.write(POLICY + 'expires_in = { max = "2d" }\n')
        environ = {"PLACET_EXPIRES_IN_MAX_MS": "86400000"}
        assert cli("policy", "check", str(files.policy)).status == 0
        ran = cli("policy", "check", str(files.policy), environ=environ)
        assert 'The service allows 1d at most (PLACET_EXPIRES_IN_MAX_MS): write "1d" or less.' in ran.out


RULES = """
[[capabilities]]
match = ["orders.*"]
least_risk = "high"

[[rules]]
name = "mail"
capabilities = ["mail.*"]
approvers = { people = ["ann"] }

[[rules]]
name = "shop"
clients = ["shop"]
capabilities = ["*"]
approvers = { people = ["ann"] }

[[rules]]
name = "orders"
capabilities = ["orders.*"]
approvers = { groups = ["treasury"] }
escalate = { after = "5m", groups = ["platform"] }

[[rules.stricter]]
when = { risk = ["high"] }
comment = "always"

[[rules.stricter]]
when = { types = ["bulk"], actor_kind = ["agent"] }
quorum = 2
"""


class TestExplain:
    """``placet policy explain``."""

    def test_which_rule_and_why(self, cli: Type, files: Files, request_file: Path) -> None:
        """The rules before it with what keeps them off, its blocks, its terms, and who decides."""
        files.write(RULES)
        ran = cli(
            "policy", "explain", str(request_file), "--policy", str(files.policy),
            "--directory", str(files.directory), "--data-dir", str(files.policy.parent / "none"),
        )  # fmt: skip
        assert ran.status == 0
        assert ran.err == (
            f"There is no store at {files.policy.parent / 'none'}, so credentials are taken to be there. "
            "--data-dir or PLACET_DATA_DIR names another.\n"
        )
        assert ran.out.splitlines() == [
            "orders.refund (direct), asked in tenant default by a client that no rule names.",
            "Raised by its floor: risk medium to high.",
            "",
            "  mail: no, its capabilities (mail.*) are not for orders.refund.",
            "  shop: no, its clients (shop) are not for an unnamed client.",
            "✓ Rule orders",
            "  stricter 1, where risk is high or above: applies.",
            "  stricter 2, where types name bulk and the actor is of kind agent: no.",
            "",
            "  One person approves it, who is in group treasury.",
            "  One of them is enough to reject it.",
            "  They decide through any channel.",
            "  Each decision needs a comment.",
            "  The question waits 15m unless asked for longer, 30d at most.",
            "  A grant is used within the time of the question, or as asked, 1d at most.",
            "  It can't be approved with changes.",
            "  After 5m the groups platform may decide it too.",
            "",
            "Who could approve it now:",
            "  Ann Marsh (ann): api, web",
            "  bob: api, web",
            "  cy: api, web",
            "Later also: dana",
            "Who could not:",
            "  dana: not among the approvers",
        ]

    @pytest.mark.parametrize(
        ("members", "why"),
        [
            ({"actor": {"id": "ANN@example.com", "kind": "user"}}, "on the asking side"),
            ({"types": ["bulk"]}, "not among the approvers"),
        ],
    )
    def test_who_could_not_and_why(
        self, cli: Type, files: Files, request_file: Path, members: dict[str, Any], why: str
    ) -> None:
        """The asking side under any name, and whoever no rule means."""
        files.write(RULES)
        request_file.write_text(json.dumps({**REQUEST, **members}), encoding="utf-8")
        found = cli(
            "policy", "explain", str(request_file), "--json", "--policy", str(files.policy),
            "--directory", str(files.directory), "--data-dir", str(files.policy.parent / "none"),
        ).json()  # fmt: skip
        assert (
            why
            in {each["id"]: each["why_not"] for each in found["deciders"]}[
                "ann" if "actor" in members else "dana"
            ]
        )

    def test_what_no_rule_is_for(self, cli: Type, files: Files, request_file: Path) -> None:
        """The status is 1, as the answer would be a refusal."""
        files.write(POLICY.replace('"*"', '"mail.*"'))
        ran = cli("policy", "explain", str(request_file), environ={"PLACET_POLICY_FILE": str(files.policy)})
        assert ran.status == 1
        assert ran.out.endswith("✗ No rule is for it: FORBIDDEN, no-rule.\n")

    def test_an_input_that_may_not_be_withheld(self, cli: Type, files: Files, request_file: Path) -> None:
        """Said where the rule is found."""
        hidden = {**REQUEST, "input_hash": "0" * 64}
        del hidden["input"]
        request_file.write_text(json.dumps(hidden), encoding="utf-8")
        ran = cli("policy", "explain", str(request_file), environ={"PLACET_POLICY_FILE": str(files.policy)})
        assert ran.status == 1
        assert "It can't be asked: its input is withheld, and somebody must see it." in ran.out

    def test_without_files_the_built_in_rule_is_explained(self, cli: Type, request_file: Path) -> None:
        """It holds until there are some."""
        ran = cli("policy", "explain", str(request_file))
        assert (ran.status, "✓ Rule built-in" in ran.out) == (0, True)
        assert "One person approves it, who is any approver of the tenant." in ran.out

    def test_a_request_is_judged_as_the_api_does(self, cli: Type, request_file: Path) -> None:
        """A wrong member is named; JSON that is none is refused; so is a file that is not there."""
        request_file.write_text(json.dumps({**REQUEST, "effects": "x"}), encoding="utf-8")
        ran = cli("policy", "explain", str(request_file))
        assert (ran.status, "INPUT_INVALID" in ran.said) == (1, True)
        request_file.write_text("{", encoding="utf-8")
        assert "not JSON" in cli("policy", "explain", str(request_file)).said
        assert cli("policy", "explain", str(request_file) + "x").status == 2

    def test_a_record_is_explained_as_it_was_asked(self, cli: Type, files: Files) -> None:
        """With the effect and risk that the client named, and under the rules of today."""
        files.write(RULES)
        record = {
            **REQUEST, "tenant": "default", "asked_by": "shop", "digest": "0" * 64, "surface": "direct",
            "risk": "high", "claimed": {"effect": "write", "risk": "low"}, "types": [], "status": "approved",
            "rule": {"name": "orders", "policy": "f" * 64},
        }  # fmt: skip
        environ = {"PLACET_POLICY_FILE": str(files.policy), "PLACET_DIRECTORY_FILE": str(files.directory)}
        ran = cli("policy", "explain", "-", typed=json.dumps(record), environ=environ)
        assert (
            "It was asked under rule orders of version ffffffffffff…. By the files here, this holds:"
            in ran.said
        )
        assert "orders.refund (direct), asked in tenant default by client shop." in ran.out
        assert "Raised by its floor: risk low to high." in ran.out
        assert "✓ Rule shop" in ran.out
        hidden = {**record, "input": None, "input_hash": "0" * 64}
        ran = cli("policy", "explain", "-", typed=json.dumps(hidden), environ=environ)
        assert (ran.status, "its input is withheld" in ran.out) == (1, True)

    def test_a_request_comes_through_a_pipe(self, cli: Type) -> None:
        """Where it is called -."""
        ran = cli("policy", "explain", "-", typed=json.dumps(REQUEST))
        assert (ran.status, ran.out.startswith("orders.refund")) == (0, True)


class TestDrop:
    """``placet policy drop``."""

    def test_it_opens_nothing_by_accident(self, cli: Type, tmp_path: Path) -> None:
        """Without a store there is nothing to do, and without a person it wants --yes."""
        ran = cli("policy", "drop")
        assert (ran.status, "There is no store at " in ran.said) == (3, True)
        begun(tmp_path / "data")
        ran = cli("policy", "drop", "--data-dir", str(tmp_path / "data"))
        assert (ran.status, "say --yes" in ran.said) == (2, True)

    def test_it_asks_first(self, cli: Type, tmp_path: Path) -> None:
        """No is the default."""
        begun(tmp_path / "data")
        ran = cli("policy", "drop", "--data-dir", str(tmp_path / "data"), typed="\n", terminal=True)
        assert (ran.status, "Nothing was changed." in ran.said) == (1, True)


class TestDoctor:
    """What ``placet doctor`` says of the files."""

    def test_faults_are_failures(self, cli: Type, files: Files, tmp_path: Path) -> None:
        """Each with its line."""
        files.write(POLICY + "x = 1\n")
        environ = {"PLACET_POLICY_FILE": str(files.policy)}
        ran = cli("doctor", "--data-dir", str(tmp_path / "data"), environ=environ)
        assert ran.status == 1
        assert "✗ rules" in ran.out
        assert "policy.toml:6:" in ran.out

    def test_signing_in_is_looked_at(self, cli: Type, files: Files, tmp_path: Path) -> None:
        """The secret, the issuer, and what that has to know."""
        files.write(directory=SIGN_IN.format(file=tmp_path / "oidc") + DIRECTORY)
        environ = {
            "PLACET_DIRECTORY_FILE": str(files.directory),
            "PLACET_PUBLIC_URL": "https://placet.example",
        }
        ran = cli("doctor", "--data-dir", str(tmp_path / "data"), "--json", environ=environ)
        checks = ran.json()["checks"]
        found = {each["text"]: each["level"] for each in checks if each["subject"] in {"rules", "sign-in"}}
        secret, uri, answer = (each for each in found if "4 people" not in each)
        assert (ran.status, [found[each] for each in (secret, uri, answer)]) == (1, ["fail", "good", "fail"])
        assert f"{tmp_path / 'oidc'} can't be read" in secret
        register = "The redirect URI to register at 127.0.0.1:9 is"
        assert uri == f"{register} https://placet.example/signin/example."
        assert answer.startswith("127.0.0.1:9 can't sign anybody in. http://127.0.0.1:9/.well-known/")

    def test_right_ones_are_counted(self, cli: Type, files: Files, tmp_path: Path) -> None:
        """And doubts deserve a look."""
        files.write(POLICY.replace('"bob"', '"zoe"'))
        environ = {"PLACET_POLICY_FILE": str(files.policy), "PLACET_DIRECTORY_FILE": str(files.directory)}
        ran = cli("doctor", "--data-dir", str(tmp_path / "data"), "--json", environ=environ)
        levels = [each["level"] for each in ran.json()["checks"] if each["subject"] == "rules"]
        assert (ran.status, levels) == (0, ["warn", "good", "good"])
