"""The hook's parts by themselves: forms of functions, the journal, handles, keys, and what is shown."""

import json
import os
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from placet.client import AsyncClient, Client
from placet.client import journal as journal_module
from placet.client.decorating import Form
from placet.client.handles import Handle, hash_of
from placet.client.hook import FileJournal, Hook, HookRefusal, SyncHook
from placet.client.journal import Entry
from placet.client.verifying import KeyCache, wall_ms
from placet.domain.errors import ApprovalInputMismatch, ApprovalTokenInvalid
from placet.tokens.jwks import JWKS_MAX_AGE_S
from tests.agents import CALL, TOKEN, URL
from tests.factories import T0_MS

HANDLE = {
    "version": 1,
    "approval": "apr_1",
    "digest": "d" * 64,
    "call": hash_of(CALL),
    "capability": "orders.refund",
    "run": None,
    "call_id": "c-1",
}
BEGUN = Entry(approval="apr_1", execution="e-1", digest="d", phase="begun")


def step(phase: Any, **members: Any) -> Entry:
    """A later step."""
    return msgspec.structs.replace(BEGUN, phase=phase, **members)


class TestForm:
    """How functions are called."""

    def test_what_is_apart_is_given_as_it_is(self) -> None:
        """And is not bound; the key comes from the hook alone."""

        def tool(self: Any, a: int, *, key: str = "") -> Any:
            return self, a, key

        form, this = Form(tool, unbound=["self"], key="key"), object()
        bound = form.bind((this, 1), {"key": "mine"})
        assert bound.input == {"a": 1}
        how = form.call(bound, {"a": 2}, "e-1")
        assert tool(*how.args, **how.kwargs) == (this, 2, "e-1")

    def test_what_can_not_be_a_tool(self) -> None:
        """Is told where it is made."""

        def generator() -> Iterator[int]:
            yield 1

        async def asynchronous() -> AsyncIterator[int]:
            yield 1

        async def coroutine(_: object = None) -> None:
            pass

        class Reader:
            def __call__(self) -> Iterator[int]:
                yield 1

        for each in (generator, asynchronous, Reader()):
            with pytest.raises(TypeError, match="generator"):
                Form(each, unbound=(), key=None)
        with pytest.raises(TypeError, match="no such parameter: a, b"):
            Form(coroutine, unbound=["b"], key="a")
        nameless: list[Callable[..., Any]] = [lambda key, /: key, lambda *key: key, lambda **key: key]
        for one in nameless:
            with pytest.raises(TypeError, match="given by name"):
                Form(one, unbound=(), key="key")
        with Client(URL, TOKEN) as client, SyncHook(client, audience="me") as hook:
            with pytest.raises(TypeError, match="coroutine"):
                hook.requires_approval("x", effect="read")(coroutine)
            with pytest.raises(TypeError, match="coroutine"):
                hook.requires_approval("x", effect="read", gate=coroutine)(print)
            with pytest.raises(TypeError, match="'extern' is no effect: write one of none, read, write"):
                hook.requires_approval("x", effect="extern")(print)
            with pytest.raises(TypeError, match="'much' is no risk: write one of low, medium"):
                hook.requires_approval("x", effect="read", risk="much")(print)
            with pytest.raises(TypeError, match="for a Client there is SyncHook"):
                Hook(cast("Any", client), audience="me")
            with pytest.raises(TypeError, match="for an AsyncClient there is Hook"):
                SyncHook(cast("Any", AsyncClient(URL, TOKEN)), audience="me")
            with pytest.raises(TypeError, match="within a turn"):
                hook.requires_approval("x", effect="read")(print)()


class TestJournal:
    """In a file."""

    def test_outlives_its_process(self, tmp_path: Path) -> None:
        """The last step of each execution; those that are over are dropped, and nobody else reads it."""
        path = tmp_path / "journal"
        journal = FileJournal(path)
        other = step("begun", execution="e-2")
        for entry in (BEGUN, other, step("started"), step("ended", status="failed", execution="e-2")):
            journal.write(entry)
        journal.write(step("over", execution="e-2"))
        assert journal.find("apr_1", "e-2") is None
        journal.close()
        again = FileJournal(path)
        assert (again.find("apr_1", "e-1"), again.find("apr_1", "e-2")) == (step("started"), None)
        assert path.read_bytes() == msgspec.json.encode(step("started")) + b"\n"
        assert path.stat().st_mode & 0o777 == 0o600
        again.close()

    def test_a_last_line_that_was_cut_does_not_count(self, tmp_path: Path) -> None:
        """Any other that is none does."""
        path = tmp_path / "journal"
        path.write_bytes(msgspec.json.encode(BEGUN) + b'\n{"approval":')
        journal = FileJournal(path)
        assert journal.find("apr_1", "e-1") == BEGUN
        journal.close()
        path.write_bytes(b"{}\n")
        for _ in range(2):
            with pytest.raises(msgspec.DecodeError):
                FileJournal(path)

    def test_it_is_one_process_s(self, tmp_path: Path) -> None:
        """A second is told."""
        journal = FileJournal(tmp_path / "journal")
        with pytest.raises(BlockingIOError):
            FileJournal(tmp_path / "journal")
        journal.close()

    def test_a_disk_that_is_full(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """From there on nothing is believed to be kept."""
        journal = FileJournal(tmp_path / "journal")
        with monkeypatch.context() as full:
            full.setattr(os, "write", lambda _file, _line: 3)
            with pytest.raises(OSError, match="full"):
                journal.write(BEGUN)
        with pytest.raises(OSError, match="not known"):
            journal.write(BEGUN)
        assert journal.find("apr_1", "e-1") is None
        journal.close()

    def test_what_is_closed_is_not_written_to(self, tmp_path: Path) -> None:
        """Its number is another file's by then. It can be closed twice."""
        journal = FileJournal(tmp_path / "journal")
        journal.close()
        with (tmp_path / "other").open("w+b") as first, (tmp_path / "another").open("w+b") as second:
            with pytest.raises(OSError, match="closed"):
                journal.write(BEGUN)
            journal.close()
            assert (first.read(), second.read()) == (b"", b"")

    def test_a_fork_has_none(self, tmp_path: Path) -> None:
        """What this process learns from there on, the other one doesn't."""
        journal = FileJournal(tmp_path / "journal")
        child = os.fork()
        if child == 0:  # pragma: no cover - in the other process
            try:
                journal.write(BEGUN)
            except OSError as refused:
                os._exit(7 if "forked" in str(refused) else 1)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        journal.write(BEGUN)
        journal.close()

    @pytest.mark.parametrize("name", ["journal", "journal.lock"])
    def test_what_stands_elsewhere_is_not_written(self, tmp_path: Path, name: str) -> None:
        """A link leads where others may write, or where something else is."""
        elsewhere = tmp_path / "elsewhere"
        elsewhere.write_bytes(b"")
        (tmp_path / name).symlink_to(elsewhere)
        with pytest.raises(OSError, match="symbolic"):
            FileJournal(tmp_path / "journal")
        assert elsewhere.read_bytes() == b""

    def test_another_user_s(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Might say anything."""
        FileJournal(tmp_path / "journal").close()
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        with pytest.raises(PermissionError, match="another user"):
            FileJournal(tmp_path / "journal")

    @pytest.mark.parametrize("mode", [0o620, 0o602], ids=oct)
    @pytest.mark.parametrize("name", ["journal", "journal.lock"])
    def test_what_others_may_write(self, tmp_path: Path, name: str, mode: int) -> None:
        """Might say anything too; that others read it gives nothing away."""
        FileJournal(tmp_path / "journal").close()
        (tmp_path / name).chmod(mode)
        with pytest.raises(PermissionError, match="to write"):
            FileJournal(tmp_path / "journal")
        (tmp_path / name).chmod(0o644)
        FileJournal(tmp_path / "journal").close()

    def test_it_stays_small(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """What is over is dropped on the way, and what counts is kept."""
        monkeypatch.setattr(os, "fsync", lambda _file: None)
        path = tmp_path / "journal"
        journal = FileJournal(path)
        journal.write(BEGUN)
        for number in range(10_001):
            journal.write(step("begun", execution=f"e-x-{number}"))
            journal.write(step("over", execution=f"e-x-{number}"))
        assert path.read_bytes().count(b"\n") < 10_001
        journal.write(step("started"))
        journal.close()
        again = FileJournal(path)
        assert again.find("apr_1", "e-1") == step("started")
        again.close()

    def test_a_rewrite_that_fails(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Leaves the old file, and nothing is believed to be kept from there on."""
        journal = FileJournal(tmp_path / "journal")
        monkeypatch.setattr(journal_module, "_LINES_MIN", 1)
        monkeypatch.setattr(journal_module, "_LINES_EACH", 0)
        journal.write(BEGUN)
        with monkeypatch.context() as broken:
            broken.setattr(Path, "replace", lambda _from, _to: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                journal.write(step("started"))
        with pytest.raises(OSError, match="not known"):
            journal.write(step("ended"))
        journal.close()
        again = FileJournal(tmp_path / "journal")
        assert again.find("apr_1", "e-1") == step("started")
        again.close()


class TestHandle:
    """As JSON."""

    def test_there_and_back(self) -> None:
        """It is what it was."""
        handle = Handle.of(HANDLE)
        assert json.loads(handle.json()) == HANDLE
        assert Handle.of(handle.json()) == Handle.of(handle) == handle

    @pytest.mark.parametrize("change", [{"version": 2}, {"digest": "d"}, {"x": 1}, {"approval": ""}], ids=str)
    def test_what_is_none(self, change: dict[str, Any]) -> None:
        """Is refused."""
        with pytest.raises(ApprovalInputMismatch):
            Handle.of({**HANDLE, **change})


class TestKeys:
    """Fetched seldom."""

    def test_for_a_key_that_nobody_knows_once_in_a_while(self) -> None:
        """Whatever tokens there are; and when they are old."""
        now_s = 100.0
        cache = KeyCache(lambda: now_s)
        assert cache.wants(None)
        cache.keep(b'{"keys": []}')
        first = cache.keys
        assert (cache.wants(None), cache.wants(first)) == (False, False)
        now_s += 5
        assert (cache.wants(None), cache.wants(first)) == (False, True)
        cache.keep(b'{"keys": []}')
        now_s += 5
        assert not cache.wants(first), "others have fetched them since"
        now_s += JWKS_MAX_AGE_S
        assert cache.wants(None)
        with pytest.raises(ApprovalTokenInvalid):
            cache.keep(b"[]")

    def test_the_machine_s_clock(self) -> None:
        """Is in milliseconds."""
        assert wall_ms() > T0_MS - 10 * 365 * 86_400_000


def test_a_refusal_says_what_a_model_may_read() -> None:
    """Whichever it is."""
    with pytest.raises(NotImplementedError):
        HookRefusal().model()
