"""Rules, epochs and votes against a plain model, through two replicas and HTTP.

The model knows nothing of the service's own judges: it is what the README says, in a few lines. Rules change,
credentials come and go, people vote in any order over any replica, and grants are used or not; after every
step the answer must be the model's.
"""

import asyncio
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar, cast

import httpx
from fakeredis import FakeAsyncRedis, FakeServer
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test
from msgspec import Struct, structs

from tests.factories import ManualClock
from tests.harness import Harness, Party, holder, opened
from tests.rulefiles import Files

T = TypeVar("T")

MEMBERS = ("ann", "bob", "cy")
OUTSIDER = "zoe"
PEOPLE = (*MEMBERS, OUTSIDER)
BRIDGE = "chat"
BRIDGED = ("ann", "zoe")
MOST_QUESTIONS = 4
"""Few of them meet more votes each."""
ACTORS = {"agent-7": None, "ANN@example.com": "ann", "bob": "bob"}
"""Who acts, and who that is."""


class Ruling(Struct, frozen=True):
    """The operator's files, as far as they vary: one rule for orders, and who is in its group."""

    quorum: int = 1
    rejections: int = 1
    channel: str | None = None
    comment: bool = False
    confirms: bool = False
    covers: bool = True
    ann_is_in: bool = True

    def texts(self, number: int) -> tuple[str, str]:
        """Policy and directory."""
        policy = [
            f"revision = {number}", "[[rules]]", 'name = "orders"',
            f'capabilities = ["{"orders" if self.covers else "other"}.*"]',
            'approvers = { groups = ["treasury"] }',
            f"quorum = {self.quorum}", f"rejections = {self.rejections}",
        ]  # fmt: skip
        policy += ["self_approval = true"] * self.confirms
        policy += ['comment = "always"'] * self.comment
        policy += [f'channels = ["{self.channel}"]'] * (self.channel is not None)
        groups = {"ann": "treasury" if self.ann_is_in else "leavers", "bob": "treasury", "cy": "treasury"}
        people = [f'[[people]]\nid = "{each}"\ngroups = ["{group}"]' for each, group in groups.items()]
        return "\n".join(policy), "\n".join([f"revision = {number}", *people]).replace(
            'id = "ann"', 'id = "ann"\naliases = ["ann@example.com"]'
        )

    def entitles(self, person: str, question: "Question", live: set[str]) -> bool:
        """Whether somebody is among those who decide. An outsider's groups are those of a live credential."""
        if not self.covers or (person == "ann" and not self.ann_is_in):
            return False
        return person in MEMBERS or (question.needed(self) == 1 and person in live)

    def refuses(self, person: str, vote: "Cast", question: "Question", live: set[str]) -> str | None:
        """Why a vote is refused."""
        if not self.entitles(person, question, live):
            return "not-an-approver"
        if self.channel not in {None, vote.channel}:
            return "channel-not-allowed"
        if self.comment and not vote.comment:
            return "comment-required"
        confirms = self.confirms and question.needed(self) == 1
        return (
            "APPROVAL_SELF_APPROVAL" if vote.approves and question.actor == person and not confirms else None
        )


class Cast(Struct, frozen=True):
    """A vote that counted; ``secret`` tells which of their credentials was shown for it."""

    approves: bool
    channel: str
    comment: bool
    secret: int = 0


class Question:
    """What the model knows of an approval."""

    def __init__(self, record: dict[str, Any], actor: str | None, ruling: Ruling) -> None:
        self.record = record
        self.actor = actor or ""
        self.required = ruling.quorum
        self.rejections = ruling.rejections
        self.status = "pending"
        self.votes: dict[str, Cast] = {}
        self.counted: dict[str, Cast] = {}
        self.token: str | None = None

    def needed(self, ruling: Ruling) -> int:
        """How many must approve, by the rules of then, of now, and of every vote in between."""
        return max(self.required, ruling.quorum)


def told(response: httpx.Response) -> str | None:
    """What an answer refuses with: the reason, where there is one, else the code."""
    if response.is_success:
        return None
    body = response.json()
    return str(body.get("details", {}).get("reason", body["code"]))


def _sensible(ruling: Ruling) -> Ruling:
    """Self-approval is of one; a file that says otherwise is refused."""
    return structs.replace(ruling, confirms=False) if ruling.quorum > 1 else ruling


rulings = st.builds(
    Ruling,
    quorum=st.sampled_from([1, 1, 2]),
    rejections=st.sampled_from([1, 1, 2]),
    channel=st.sampled_from([None, None, None, "api", BRIDGE]),
    comment=st.sampled_from([False, False, False, True]),
    confirms=st.booleans(),
    covers=st.sampled_from([True] * 5 + [False]),
    ann_is_in=st.sampled_from([True] * 3 + [False]),
).map(_sensible)
questions = st.integers(0, 100)
replicas = st.sampled_from([0, 1])


class Judging(RuleBasedStateMachine):
    """Two replicas of the service, and what they should say.

    Args:
        ring: A directory with a keyring for all of them: making keys is the slow part.
    """

    def __init__(self, ring: Path) -> None:
        super().__init__()
        self.ring = ring
        self.runner = asyncio.Runner()
        self.exits = AsyncExitStack()
        self.clock = ManualClock()
        self.folder = TemporaryDirectory()
        self.number = 1
        self.ruling = Ruling()
        self.files = Files(Path(self.folder.name), *self.ruling.texts(1))
        self.questions: list[Question] = []
        self.replicas: list[Harness] = []
        self.parties: dict[str, Party] = {}
        self.live = {*PEOPLE, BRIDGE}
        self.secrets = dict.fromkeys(self.live, 0)
        self.run(self._open())

    def teardown(self) -> None:
        """Let everything go."""
        self.run(self.exits.aclose())
        self.runner.close()
        self.folder.cleanup()

    def run(self, step: Coroutine[Any, Any, T]) -> T:
        """Something of the service's."""
        return self.runner.run(step)

    async def _open(self) -> None:
        redis = FakeAsyncRedis(server=FakeServer(server_type="valkey"))
        for _ in range(2):
            replica = opened(redis, self.ring, self.clock, rules=self.files.source)
            self.replicas.append(await self.exits.enter_async_context(replica))
        h = self.replicas[0]
        self.parties = {each: await h.approver(each) for each in MEMBERS}
        self.parties[OUTSIDER] = await h.approver(OUTSIDER, groups=("treasury",))
        self.parties[BRIDGE] = await h.client(BRIDGE, "decide_as", people=BRIDGED, max_risk="critical")
        self.parties["runtime"] = await h.client()

    def party(self, name: str, replica: int) -> Party:
        """Somebody before one of the replicas."""
        return holder(self.replicas[replica], name, self.parties[name].credential)

    @rule(ruling=rulings, replica=replicas)
    def change_the_rules(self, *, ruling: Ruling, replica: int) -> None:
        """Both replicas have the new files, and one of them is told."""
        self.number += 1
        self.ruling = ruling
        self.files.write(*ruling.texts(self.number))
        assert self.files.problems() == []
        self.run(self.replicas[replica].services.activation.reload())

    @rule(name=st.sampled_from([*PEOPLE, BRIDGE]), replica=replicas)
    def revoke_or_bring_back(self, *, name: str, replica: int) -> None:
        """A credential dies, or a new one is made."""
        enrolment = self.replicas[replica].services.enrolment
        field = f"{'client' if name == BRIDGE else 'approver'}:{name}"
        if name in self.live:
            self.run(enrolment.revoke("default", field))
            self.live.remove(name)
        else:
            issued = self.run(enrolment.rotate("default", field))
            self.parties[name].credential = issued.credential
            self.live.add(name)
            self.secrets[name] += 1

    @precondition(lambda self: len(self.questions) < MOST_QUESTIONS)
    @rule(actor=st.sampled_from(list(ACTORS)), replica=replicas)
    def ask(self, *, actor: str, replica: int) -> None:
        """A question of its own."""
        who = {"id": actor, "kind": "user"}
        # Nobody confirms a grave call of their own, whatever a rule says.
        asking = self.party("runtime", replica).ask(actor=who, input=len(self.questions), effect="write")
        response = self.run(asking)
        if not self.ruling.covers:
            assert told(response) == "no-rule"
            return
        assert response.status_code == 201, response.text
        self.questions.append(Question(response.json(), ACTORS[actor], self.ruling))

    @precondition(lambda self: self.questions)
    @rule(
        number=questions,
        person=st.sampled_from(PEOPLE),
        bridged=st.sampled_from([False, False, True]),
        approves=st.sampled_from([True, True, False]),
        comment=st.booleans(),
        replica=replicas,
    )
    def vote(
        self, *, number: int, person: str, bridged: bool, approves: bool, comment: bool, replica: int
    ) -> None:
        """Somebody decides, themselves or through the bridge; no two in the same millisecond."""
        self.clock.move(1)
        question = self.questions[number % len(self.questions)]
        name = BRIDGE if bridged else person
        members: dict[str, Any] = {"comment": "as agreed"} if comment else {}
        if bridged:
            members["approver"] = {"id": person}
        verdict = "approve" if approves else "reject"
        response = self.run(self.party(name, replica).decide(question.record, verdict, **members))
        vote = Cast(approves, BRIDGE if bridged else "api", comment, self.secrets[name])
        expected = self.judged(question, person, vote)
        assert told(response) == expected, response.text
        if expected is None:
            self.count(question, person, vote)
            assert response.json()["status"] == question.status
            if question.status == "approved":
                question.token = question.token or self.token(question)

    def judged(self, question: Question, person: str, vote: Cast) -> str | None:  # noqa: PLR0911 - one a line
        """What a vote is refused with, in the order of judgement."""
        bridged, voted = vote.channel == BRIDGE, person in question.votes
        if (BRIDGE if bridged else person) not in self.live:
            return "UNAUTHENTICATED"
        if not bridged and not voted and not self.ruling.entitles(person, question, self.live):
            return "APPROVAL_NOT_FOUND"
        counting = self.counting(question)
        mine = counting.get(person)
        rejections = [each for each in counting.values() if not each.approves]
        if question.status != "pending":
            mine = question.counted.get(person)
        elif len(rejections) >= min(question.rejections, self.ruling.rejections):
            question.status = "rejected"  # before this vote, which found that out
        if mine is not None and mine.approves is vote.approves:
            return None
        if question.status == "cancelled":
            return "APPROVAL_CANCELLED"
        if question.status != "pending":
            return "APPROVAL_ALREADY_DECIDED"
        refusal = self.refuses(question, person, vote)
        if refusal is None and mine is not None and not mine.approves:
            return "decision-not-allowed"
        return refusal

    def counts(self, question: Question, person: str, vote: Cast) -> bool:
        """Whether a vote is worth anything today: a yes that could be given, a no by a secret that counts."""
        way = person if vote.channel == "api" else BRIDGE
        if way not in self.live or self.secrets[way] != vote.secret:
            return False
        return not vote.approves or self.ruling.refuses(person, vote, question, self.live) is None

    def refuses(self, question: Question, person: str, vote: Cast) -> str | None:
        """Why somebody may not give a vote, whatever they said before."""
        if vote.channel == BRIDGE and person not in BRIDGED:
            return "not-an-approver"
        return self.ruling.refuses(person, vote, question, self.live)

    def counting(self, question: Question) -> dict[str, Cast]:
        """The votes that are worth anything today."""
        return {who: vote for who, vote in question.votes.items() if self.counts(question, who, vote)}

    def count(self, question: Question, person: str, vote: Cast) -> None:
        """A vote that is not refused. The same again is none, unless it finds enough approvals by now."""
        counting = self.counting(question)
        mine, needed = counting.get(person), question.needed(self.ruling)
        enough = len([each for each in counting.values() if each.approves]) >= needed
        new = mine is None or mine.approves is not vote.approves
        if question.status != "pending" or not (
            new or (vote.approves and enough and self.refuses(question, person, vote) is None)
        ):
            return
        question.votes[person] = vote
        question.counted = {**counting, person: vote}
        question.required = needed
        approves = [each.approves for each in question.counted.values()]
        if approves.count(False) >= min(question.rejections, self.ruling.rejections):
            question.status = "rejected"
        elif vote.approves and approves.count(True) >= question.required:
            question.status = "approved"

    def token(self, question: Question) -> str:
        """That of a grant which has just been given."""
        token: str = self.run(self.party("runtime", 0).token(question.record["id"]))
        return token

    @precondition(lambda self: self.questions)
    @rule(number=questions, replica=replicas)
    def consume(self, *, number: int, replica: int) -> None:
        """The runtime would use the grant, each time in another execution."""
        question = self.questions[number % len(self.questions)]
        self.number += 1
        runtime = self.party("runtime", replica)
        call = runtime.consume(question.record, question.token, execution=f"exec-{self.number}")
        response, expected = self.run(call), self.usable(question)
        assert told(response) == expected, response.text
        if expected is None:
            question.status = "consumed"

    def usable(self, question: Question) -> str | None:
        """What a use is refused with."""
        if question.status != "approved":
            return f"APPROVAL_{question.status.upper()}"
        if not self.ruling.covers:
            return "no-rule"
        approvals = [(person, vote) for person, vote in question.votes.items() if vote.approves]
        still = [person for person, vote in approvals if self.counts(question, person, vote)]
        if len(still) >= question.needed(self.ruling):
            return None
        return "quorum-no-longer-met" if len(still) == len(approvals) else "approver-no-longer-entitled"

    @precondition(lambda self: self.questions)
    @rule(number=questions, replica=replicas)
    def cancel(self, *, number: int, replica: int) -> None:
        """Withdrawn by whoever asked, whatever the rules are now."""
        question = self.questions[number % len(self.questions)]
        response = self.run(self.party("runtime", replica).cancel(question.record["id"]))
        if question.status in {"pending", "approved", "cancelled"}:
            assert response.status_code == 200, response.text
            question.status = "cancelled"
        else:
            assert told(response) == f"APPROVAL_{question.status.upper()}"


def test_the_service_judges_as_the_model(tmp_path: Path) -> None:
    """Whatever changes between asking, voting and using."""
    bounds = settings(max_examples=60, stateful_step_count=30, deadline=None)
    run_state_machine_as_test(cast("Any", lambda: Judging(tmp_path)), settings=bounds)
