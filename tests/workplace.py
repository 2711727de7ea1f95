"""An agent's machines with a service and an approver: calls of a tool, and all that is seen of them.

Processes follow one another; each may end anywhere. What a model of the hook needs, without its judgement.
"""

import asyncio
import json
import logging
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from fakeredis import FakeAsyncRedis, FakeServer
from msgspec import Struct

from placet.client import Actor
from placet.client.hook import ApprovalPending, ApprovalRefused, HookRefusal, Turn
from tests.companies import EDITABLE, chained
from tests.factories import ManualClock
from tests.harness import Party, opened
from tests.mortal import Killed, Life, MortalJournal, MortalRuntime
from tests.ruled import a_rule
from tests.rulefiles import Files

T = TypeVar("T")
Input = dict[str, Any]

MARK = "zq-"
"""In every input, name and error: it may be in nothing that a model or a log is shown."""
AGENT = Actor(id="zq-agent", kind="agent")
DIRECTORY = '[[people]]\nid = "zq-ann"\ngroups = ["treasury"]'
OTHER: Input = {"order": "zq-b", "amount": 70_000}
FITTING: Input = {"order": "zq-a", "amount": 79_999}
CHANGES: dict[str, Any] = {
    "fits": FITTING,
    "is too much": {"order": "zq-a", "amount": 99_999},
    "is no call": {"order": "zq-a"},
}


class Question:
    """What the model knows of a question.

    Attributes:
        granted: What was approved.
        handle: For going on with it.
        effects: Under which keys it ran, and whether each time as an idempotent call.
    """

    def __init__(self, approval_id: str, call_id: str | None, asked: Input) -> None:
        self.id, self.call_id, self.asked = approval_id, call_id, asked
        self.granted: Any = None
        self.handle: Any = None
        self.effects: list[tuple[str, bool]] = []


class Way(Struct, frozen=True):
    """How a call is made.

    Attributes:
        input: As it is given; None for as it was asked.
        by_handle: Whether it goes on with its question's handle.
        trouble: A point at which the process ends, or a call whose answers get lost and how often.
    """

    input: Input | None = None
    idempotent: bool = False
    edits: bool = True
    by_handle: bool = False
    suspend: bool = True
    fails: bool = False
    trouble: str | tuple[str, int] | None = None


class Said(Struct, frozen=True):
    """What a call came to: ``ran``, ``failed``, ``killed`` or a refusal's code; and what ran."""

    code: str
    effects: list[tuple[Input, str]]


class Heard(logging.Handler):
    """Keeps what is logged."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__()
        self._lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it."""
        self._lines.append(record.getMessage())


class Workplace:
    """The service, an approver who may change things, and a runtime's processes.

    Args:
        ring: A directory with a keyring for all of them: making keys is the slow part.
    """

    def __init__(self, ring: Path) -> None:
        self.ring = ring
        self.runner = asyncio.Runner()
        self.exits = AsyncExitStack()
        self.clock = ManualClock()
        self.folder = TemporaryDirectory()
        self.questions: list[Question] = []
        self.journals: dict[str, MortalJournal] = {}
        self.effects: list[tuple[Input, str]] = []
        self.asked = 0
        self.told = ""
        self.logged: list[str] = []
        self.log = Heard(self.logged)
        logging.getLogger("placet.client").addHandler(self.log)

    def run(self, step: Coroutine[Any, Any, T]) -> T:
        """Something of the service's or a process's."""
        return self.runner.run(step)

    def open(self, face: str, machine: str | None) -> None:
        """Begin, with a first process."""
        self.face = face
        self.run(self._open())
        self.start(machine)

    async def _open(self) -> None:
        folder = Path(self.folder.name)
        rules = Files(folder, a_rule('edit = "counts"'), DIRECTORY).source
        redis = FakeAsyncRedis(server=FakeServer(server_type="valkey"))
        self.h = await self.exits.enter_async_context(opened(redis, self.ring, self.clock, rules=rules))
        self.party: Party = await self.h.client("zq-runtime")
        self.ann = await self.h.approver("zq-ann")
        self.journals = {name: MortalJournal(folder / name) for name in ("here", "there")}

    def close(self) -> None:
        """Let everything go; nothing of the agent's has come into a log."""
        logging.getLogger("placet.client").removeHandler(self.log)
        self.run(self._close())
        self.runner.close()
        self.folder.cleanup()
        assert MARK not in " ".join(self.logged)

    async def _close(self) -> None:
        await self.runtime.close()
        for each in self.journals.values():
            each.close()
        await self.exits.aclose()

    def start(self, machine: str | None) -> None:
        """A process on a machine, with its journal; or one without any."""
        life = Life()
        self.journal = None if machine is None else self.journals[machine].reopened(life)

        async def started() -> MortalRuntime:
            return MortalRuntime(self.h, self.party, self.face, self.journal, life)

        self.runtime = self.run(started())

    def made(self, call_id: str | None, input_: Input, way: Way, question: Question | None) -> Said:
        """Make a call."""
        self.effects, self.told = [], ""
        match way.trouble:
            case str():
                self.runtime.life.until = way.trouble
            case (end, times):
                self.runtime.line.lose = {end: times}
        code = self.run(self.attempt(call_id, input_, way, question))
        self.runtime.life.until, self.runtime.line.lose = None, {}
        self.find(call_id, input_)
        return Said(code, self.effects)

    async def attempt(self, call_id: str | None, input_: Input, way: Way, question: Question | None) -> str:
        """A call, and the code of what it came to."""
        if self.journal is not None:
            self.journal.idempotent = way.idempotent
        handle = question.handle if question is not None and way.by_handle else None
        turn = Turn(actor=AGENT, run="r-1", call_id=call_id, handle=handle)

        def effect(got: Input, key: str) -> None:
            of_another = {"ended", "over"} if way.idempotent else set()  # which runs at the same time
            assert self.step_of(key) in {"started", None} | of_another, "it is written before it runs"
            self.effects.append((got, key))
            if way.fails:
                raise LookupError(MARK)

        tool = self.runtime.tool(
            self.runtime.body(effect),
            gate=lambda said: said["amount"] < 99_999,
            key="key",
            idempotent=way.idempotent,
            edits=way.edits,
            suspend=way.suspend,
            timeout_s=0,
            **EDITABLE,
        )
        try:
            assert await self.runtime.call(tool, **input_, turn=turn) == "done"
        except Killed:
            return "killed"
        except LookupError:
            return "failed"
        except HookRefusal as refusal:
            self.keep(refusal, call_id, input_)
            return self.code_of(refusal)
        return "ran"

    def step_of(self, execution: str) -> str | None:
        """The last step of an execution that is written down on this machine; None where nothing is."""
        if self.journal is None:
            return None
        [step] = [step for (_, each), (step, _) in self.journal.kept.items() if each == execution]
        return step

    def keep(self, refusal: HookRefusal, call_id: str | None, input_: Input) -> None:
        """The handle of what waits."""
        if isinstance(refusal, ApprovalPending):
            found = [each for each in self.questions if each.id == refusal.handle.approval]
            question = found[0] if found else Question(refusal.handle.approval, call_id, input_)
            question.handle = refusal.handle.json()
            if not found:
                self.questions.append(question)

    def new_input(self) -> Input:
        """What nobody has asked before: so a question is known by it."""
        self.asked += 1
        return {"order": "zq-a", "amount": 70_000 + self.asked}

    def find(self, call_id: str | None, input_: Input) -> None:
        """A question of which nobody has heard, because its answer got lost, can be asked again."""
        if call_id is None or any(each.call_id == call_id for each in self.questions):
            return
        known = {each.id for each in self.questions}
        for item in self.run(self.party.list()).json()["items"]:
            if item["id"] not in known and self.run(self.party.seen(item["id"]))["input"] == input_:
                self.questions.append(Question(item["id"], call_id, input_))
                return

    def code_of(self, refusal: HookRefusal) -> str:
        """The code of a refusal, which shows nothing that a model may not read."""
        self.told = refusal.text
        shown = f"{refusal} {refusal!r} {refusal.text} {json.dumps(refusal.model())} {refusal.args}"
        for hidden in (MARK, "700", "9999", "plc_", "eyJ", "apr_", "r-1"):
            assert hidden not in shown
        chained(refusal)
        if type(refusal) is ApprovalRefused:
            return refusal.error.code
        return str(refusal.model()["code"])

    def seen(self, question: Question) -> dict[str, Any]:
        """The record as it is now."""
        return self.run(self.party.seen(question.id))
