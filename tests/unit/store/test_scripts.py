"""The scripts as files: each keeps the contract in its head, and their words are the domain's."""

import hashlib
import re
from collections.abc import Sequence
from importlib.resources import files
from typing import Any, cast

import pytest

from placet.application import rulings
from placet.domain.deliveries import Delivery, DeliveryState
from placet.domain.errors import TABLE
from placet.domain.limits import (
    CLOCK_BEHIND_MAX_MS,
    UNDECIDED_INPUT_RETENTION_MS,
    USE_WITHIN_MAX_MS,
    Limits,
)
from placet.domain.machine import Ruling
from placet.domain.model import Status
from placet.store import scripts
from placet.store.approvals import Approvals
from placet.store.clock import Clocks
from placet.store.codec import PERSON_CHARS, Refused, Report, Who, refused_of
from placet.store.deliveries import Deliveries, Leased, Settlement
from placet.store.link import Argument, Link, Reply
from placet.store.principals import Principals, Roll
from placet.store.record import Record
from tests.factories import a_ballot, a_creation, a_spending, an_ask

_FOLDER = files(scripts)
_WORD = "'([a-z-]+)'"
_RULINGS = re.compile(
    rf"(?:return {{|\b(?:answer|no|meet|full)\()\s*{_WORD}"  # in the place of a ruling
    rf"|\b(?:answer|no)\([^,)]*(?:\(\))?[^,)]* and {_WORD} or (?:{_WORD})?"  # one of two
)
NOT_JUDGED = {Ruling.REJUDGE, Ruling.CLOCK, Ruling.STALE}
NOT_REFUSED = {Ruling.OK, Ruling.UNCHANGED, Ruling.REPLAYED, Ruling.JOINED, *NOT_JUDGED}
NOT_LOGGED = {
    *(Ruling.EXISTS, Ruling.DEADLINE, Ruling.CLIENT_FULL, Ruling.TENANT_FULL, Ruling.RATE),
    Ruling.REFUSED,
}
RAISED_ELSEWHERE = NOT_LOGGED - {Ruling.EXISTS}
"""Their errors carry more than a ruling says: bounds, a moment, or the code a vote was judged with."""


def text_of(name: str) -> str:
    """A script's file."""
    return (_FOLDER / f"{name}.lua").read_text(encoding="utf-8")


def head_of(name: str) -> str:
    """The comment that it begins with."""
    lines = text_of(name).splitlines()
    return "\n".join(lines[: next(i for i, line in enumerate(lines) if not line.startswith("--"))])


def code_of(name: str) -> str:
    """What is no comment."""
    return "\n".join(line.partition("--")[0] for line in text_of(name).splitlines())


def declared(name: str) -> set[str]:
    """The rulings that its head promises."""
    answer = re.sub(r"\}[^}\n]*(\n--|$)", "}", head_of(name).partition("Answer")[2])
    promised = re.findall(r"([a-z|\s-]+)\{ ruling", answer.replace("\n--", ""))
    return {word.strip() for words in promised for word in words.split("|") if word.strip()}


def spoken(name: str) -> set[str]:
    """The rulings that its code can answer with, as literals."""
    return {word for found in _RULINGS.findall(code_of(name)) for word in found if word}


class Recorder:
    """A link that only takes down what was called."""

    def __init__(self) -> None:
        self.calls: dict[str, Sequence[Argument]] = {}

    async def call(self, name: str, _key: str, args: Sequence[Argument], **_options: Any) -> Reply:
        self.calls[name] = args
        raise InterruptedError


@pytest.mark.parametrize("name", scripts.NAMES)
class TestHead:
    """A head says what the script does, what it is given and what it answers."""

    def test_it_begins_with_a_sentence(self, name: str) -> None:
        """The first line says what the script is for."""
        assert re.match(r"-- [A-Z].*[.:,]", head_of(name))

    def test_it_tells_every_argument(self, name: str) -> None:
        """Those that the code reads, and no others."""
        told = {int(n) for n in re.findall(r"\[(\d+)\]", head_of(name))}
        read = {int(n) for n in re.findall(r"ARGV\[(\d+)\]", code_of(name))}
        assert (told, min(told | {3})) == (read, 3)

    def test_it_tells_every_ruling(self, name: str) -> None:
        """Those that the code speaks, and states where it answers with the state."""
        states = set(Status) if re.search(r"\b(?:no|answer)\(r\.s", code_of(name)) else set()
        assert spoken(name) <= declared(name) <= spoken(name) | states

    def test_it_names_keys_by_the_tag(self, name: str) -> None:
        """The meta key is the only one handed in, and only the shared head reads it."""
        assert "KEYS" not in code_of(name)


@pytest.mark.parametrize("name", ["prelude", *scripts.NAMES])
def test_only_redis_call_is_used(name: str) -> None:
    """Other functions of the server differ between servers or are missing on the fake.

    But for one ``pcall`` in the shared head: an entry that the stream would refuse must not end a script
    that has written already.
    """
    used = re.findall(r"\b(?:redis|cjson|cmsgpack|bit|struct)\.(\w+)", code_of(name))
    assert set(used) <= {"call", "pcall"}
    assert used.count("pcall") == (1 if name == "prelude" else 0)


@pytest.mark.parametrize("name", ["prelude", *scripts.NAMES])
def test_no_global_is_written(name: str) -> None:
    """Servers refuse it, the fake does not: what is assigned was declared local."""
    code = text_of("prelude") + text_of(name)
    declared_names = set(re.findall(r"\b(?:local|for)\s+(?:function\s+)?([\w, ]+?)\s*(?:=|\(|\n|in\b)", code))
    known = {each.strip() for names in declared_names for each in names.split(",")}
    assigned = set(re.findall(r"^\s*(\w+)(?:, \w+)* = ", code_of(name), flags=re.MULTILINE))
    assert assigned <= known


async def test_every_call_hands_over_what_its_head_tells() -> None:
    """The number of arguments is the same in Python and in Lua."""
    recorder = Recorder()
    link = cast("Link", recorder)
    store, people, clocks = Approvals(link, Limits()), Principals(link), Clocks(link, Limits())
    lanes = Deliveries(link)
    ask = an_ask()
    report = Report(by="runtime", status=cast("Any", "failed"), summary=None)
    for call in (
        store.create(ask, a_creation(ask), epoch=0),
        store.get("default", ask.id, epoch=0),
        store.page("default", "x", after=None, limit=1, epoch=0),
        store.waiting("default", limit=1, most=1, epoch=0),
        store.decide("default", ask.id, a_ballot(ask), epoch=0),
        store.cancel("default", ask.id, Who(by="runtime"), admin=False, sees=False, epoch=0),
        store.refuse("default", ask.id, Ruling.MISMATCH, Who(by="ann")),
        store.consume("default", ask.id, a_spending(ask), epoch=0),
        store.report("default", ask.id, "exec-1", report, sees=False, epoch=0),
        store.sweep("default", limit=1),
        store.trim("default", "x", after=None, limit=1, cutoff_ms=0),
        clocks.set_back("default", Who(by="operator"), limit=1),
        lanes.wake("default", ask.id, ["webhook:x"]),
        lanes.lease("default", "webhook:x", limit=1, lease_ms=1, nonce="a", epoch=0),
        lanes.settle(a_leased(), Settlement(state=DeliveryState.DELIVERED, covered=1, ref="")),
        lanes.ring("default", limit=1),
        lanes.pass_by("default", "g", epoch=0),
        lanes.failed("default", limit=1),
        lanes.queued("default", limit=1),
        lanes.retry("default", ask.id, "webhook:x"),
        people.all("default"),
        people.enroll("default", Roll(epoch=1, rows={}), instead_of=""),
    ):
        with pytest.raises(InterruptedError):
            await call
    told = {name: max(int(n) for n in re.findall(r"\[(\d+)\]", head_of(name))) for name in scripts.NAMES}
    assert {name: len(args) for name, args in recorder.calls.items()} == told


def a_leased() -> Leased:
    """A lane that is ours."""
    delivery = Delivery(
        target="webhook:x", state=DeliveryState.QUEUED, attempts=1, covered=0, error=None, at_ms=0
    )
    record = Record.of("default", 0, b"apr-1", (), (), None)
    return Leased(delivery=delivery, record=record, nonce="a")


class TestRulings:
    """One set of words: the scripts speak it, the machine declares it, the use cases answer for it."""

    def test_the_scripts_speak_all_of_them(self) -> None:
        """No ruling without a script, no script with a ruling of its own."""
        words = {word for name in scripts.NAMES for word in declared(name)} | spoken("prelude")
        assert words == set(Ruling)

    def test_every_refusal_has_an_error(self) -> None:
        """The one dict of the use cases knows every ruling that is a refusal, and nothing else."""
        known = {*rulings._WITH_RECORD, *rulings._WITHOUT_RECORD}
        assert known == set(Ruling) - NOT_REFUSED - RAISED_ELSEWHERE

    @pytest.mark.parametrize("ruling", sorted(set(Ruling) - NOT_REFUSED - NOT_LOGGED))
    def test_every_refusal_in_a_log_has_a_code(self, ruling: Ruling) -> None:
        """The audit trail shows codes of the error table."""
        assert refused_of(ruling).code in TABLE

    def test_a_code_stands_for_itself(self) -> None:
        """A vote is refused with the code it was judged with."""
        for refused in (Refused("APPROVAL_SELF_APPROVAL"), Refused("FORBIDDEN", "comment-required")):
            assert refused_of(refused.word) == refused


class TestFiles:
    """Scripts are package data."""

    def test_every_file_is_named(self) -> None:
        """All scripts in the folder are loaded, the shared head apart."""
        found = {each.name.removesuffix(".lua") for each in _FOLDER.iterdir() if each.name.endswith(".lua")}
        assert found == {*scripts.NAMES, "prelude"}

    @pytest.mark.parametrize("name", scripts.NAMES)
    def test_each_is_sent_behind_the_shared_head(self, name: str) -> None:
        """Which is told the bounds, and whether time matters; under the SHA-1 of what is sent."""
        script = scripts.load()[name]
        first, text = script.text.split("\n", 1)
        assert (script.name, text) == (name, text_of("prelude") + "\n" + text_of(name))
        timeless = "true" if name in {"clock", "enroll", "principals"} else "false"
        bounds = f"{CLOCK_BEHIND_MAX_MS}, {UNDECIDED_INPUT_RETENTION_MS}"
        assert first == f"local behind_max_ms, undecided_ms, timeless = {bounds}, {timeless}"
        assert script.sha1 == hashlib.sha1(script.text.encode(), usedforsecurity=False).hexdigest()

    def test_numbers_are_those_of_the_domain(self) -> None:
        """What Lua must know by heart: the longest grant, the width of a person."""
        assert f" {USE_WITHIN_MAX_MS} " in code_of("create")
        assert f"'({'.' * PERSON_CHARS})(%a)'" in code_of("decide")
