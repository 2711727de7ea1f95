"""The guard: Valkey lives exactly as long as the owner, and is started again a bounded number of times."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import NoReturn

import pytest

from placet.store import guard

HEALTHY_S = guard.CALM_S
SHORT_S = guard.CALM_S - 1


class ScriptedProcesses(guard.Processes):
    """Runs of a child by script: how long each lasts and how it ends; None is "the owner goes"."""

    def __init__(self, runs: list[tuple[float, int | None]], *, owner_goes_in_pause: int = -1) -> None:
        self.runs = iter(runs)
        self.owner_goes_in_pause = owner_goes_in_pause
        self.clock_s = 1000.0
        self.spawned = 0
        self.told: list[str] = []
        self.stopped: list[int] = []
        self.pauses: list[float] = []

    def now_s(self) -> float:
        return self.clock_s

    def tell(self, line: str) -> None:
        self.told.append(line)

    def spawn(self) -> int:
        self.spawned += 1
        return self.spawned

    def wait(self, pid: int) -> int | None:
        lasts_s, status = next(self.runs)
        self.clock_s += lasts_s
        return status

    def stop(self, pid: int) -> None:
        self.stopped.append(pid)

    def owner_goes_within(self, pause_s: float) -> bool:
        self.pauses.append(pause_s)
        return len(self.pauses) == self.owner_goes_in_pause


class TestSupervise:
    """The laws, on scripted runs."""

    def test_the_end_of_the_owner_stops_the_child(self) -> None:
        """When the owner goes, the child is stopped and the guard ends well."""
        processes = ScriptedProcesses([(5.0, None)])
        assert guard.supervise(processes) == 0
        assert processes.stopped == [1]
        assert processes.told == ["up 1"]

    def test_a_child_that_ends_is_started_again(self) -> None:
        """A killed child comes back under a new process id, and the owner is told both."""
        processes = ScriptedProcesses([(5.0, -9), (5.0, None)])
        assert guard.supervise(processes) == 0
        assert processes.told == ["up 1", "down -9", "up 2"]
        assert processes.stopped == [2]

    def test_restarts_are_bounded(self) -> None:
        """A child that keeps ending is given up after RESTARTS restarts in a row."""
        processes = ScriptedProcesses([(SHORT_S, 1)] * 99)
        assert guard.supervise(processes) == 1
        assert processes.spawned == 1 + guard.RESTARTS
        assert processes.told[-1] == "lost 1"
        assert processes.stopped == []

    def test_the_pause_doubles(self) -> None:
        """Each restart in a row waits twice as long as the one before."""
        processes = ScriptedProcesses([(SHORT_S, 1)] * 99)
        guard.supervise(processes)
        assert processes.pauses == [guard.FIRST_PAUSE_S * 2**n for n in range(guard.RESTARTS)]

    def test_a_calm_run_clears_the_count(self) -> None:
        """After CALM_S of health an end counts as the first one again."""
        calm_between = [(HEALTHY_S, -9)] * (guard.RESTARTS * 3)
        processes = ScriptedProcesses([*calm_between, (5.0, None)])
        assert guard.supervise(processes) == 0
        assert set(processes.pauses) == {guard.FIRST_PAUSE_S}

    def test_the_end_of_the_owner_in_a_pause_ends_the_guard(self) -> None:
        """An owner that goes while the child is down gets no new child."""
        processes = ScriptedProcesses([(5.0, -9)] * 9, owner_goes_in_pause=2)
        assert guard.supervise(processes) == 0
        assert processes.spawned == 2


@pytest.fixture
def signals() -> Iterator[None]:
    """Puts back what ``guard.main`` does to this process's signals."""
    kept = {number: signal.getsignal(number) for number in (signal.SIGCHLD, signal.SIGHUP, signal.SIGINT)}
    kept[signal.SIGTERM] = signal.getsignal(signal.SIGTERM)
    wakeup_fd = signal.set_wakeup_fd(-1)
    yield
    signal.set_wakeup_fd(wakeup_fd)
    for number, handler in kept.items():
        signal.signal(number, handler)


class Pipes:
    """Both ends of the guard's three descriptors."""

    def __init__(self) -> None:
        self.owner_fd, self.owner_end = os.pipe()
        self.wakeup_fd, self.signalled_fd = os.pipe()
        self.told_fd, self.status_fd = os.pipe()
        os.set_blocking(self.signalled_fd, False)

    def processes(self, *command: str) -> guard.Processes:
        return guard.Processes(
            list(command), owner_fd=self.owner_fd, wakeup_fd=self.wakeup_fd, status_fd=self.status_fd
        )

    def close(self) -> None:
        for fd in (self.owner_fd, self.wakeup_fd, self.signalled_fd, self.status_fd):
            os.close(fd)
        for fd in (self.owner_end, self.told_fd):
            try:
                os.close(fd)
            except OSError:
                continue  # a test closed it


@pytest.fixture
def pipes(signals: None) -> Iterator[Pipes]:
    """Pipes, with this process's SIGCHLD waking as the guard's does."""
    pipes = Pipes()
    signal.set_wakeup_fd(pipes.signalled_fd)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    yield pipes
    signal.set_wakeup_fd(-1)
    pipes.close()


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    """A child that says "ready", ignores SIGTERM, and ends by SIGKILL or the end of its input."""
    script = (
        "import signal,sys; signal.signal(15, signal.SIG_IGN); print('ready', flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdin is not None
    assert process.stdout.readline() == b"ready\n"
    yield process
    process.stdin.close()
    process.stdout.close()
    process.kill()
    process.wait()


class TestProcesses:
    """What the guard asks of the operating system, on real pipes and children."""

    def test_the_clock_goes_on(self, pipes: Pipes) -> None:
        """The clock never goes back."""
        processes = pipes.processes("true")
        assert processes.now_s() <= processes.now_s()

    def test_lines_reach_the_owner(self, pipes: Pipes) -> None:
        """What is told arrives as a line."""
        pipes.processes("true").tell("up 1")
        assert os.read(pipes.told_fd, 100) == b"up 1\n"

    def test_telling_an_owner_that_has_gone_does_nothing(self, pipes: Pipes) -> None:
        """A broken pipe is no fault of the guard."""
        os.close(pipes.told_fd)
        pipes.processes("true").tell("up 1")

    def test_wait_sees_the_end_of_the_child(self, pipes: Pipes, child: subprocess.Popen[bytes]) -> None:
        """A child killed by a signal is reported as minus its number."""
        child.kill()
        assert pipes.processes("true").wait(child.pid) == -signal.SIGKILL

    def test_wait_outlasts_other_signals(self, pipes: Pipes, child: subprocess.Popen[bytes]) -> None:
        """A wake-up that is not the child's end ends nothing."""
        os.write(pipes.signalled_fd, b"\x01")
        os.close(pipes.owner_end)
        assert pipes.processes("true").wait(child.pid) is None
        assert child.poll() is None

    def test_wait_looks_again_after_a_wakeup_for_nothing(
        self, pipes: Pipes, child: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A wake-up while the child lives is consumed, and the wait goes on until the owner goes."""
        looks = iter([[pipes.wakeup_fd], [pipes.owner_fd]])
        monkeypatch.setattr(guard, "select", SimpleNamespace(select=lambda *_: (next(looks), [], [])))
        os.write(pipes.signalled_fd, b"\x01")
        assert pipes.processes("true").wait(child.pid) is None
        assert child.poll() is None

    def test_stop_is_gentle_first(self, pipes: Pipes) -> None:
        """SIGTERM ends a child that heeds it, and nothing is left to reap."""
        process = subprocess.Popen([sys.executable, "-I", "-S", "-c", "import signal; signal.pause()"])
        pipes.processes("true").stop(process.pid)
        with pytest.raises(ChildProcessError):
            os.waitpid(process.pid, 0)
        process.wait()

    def test_stop_is_certain(
        self, pipes: Pipes, child: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A child that ignores SIGTERM is killed once the grace is over."""
        monkeypatch.setattr(guard, "STOP_GRACE_S", 0.05)
        pipes.processes("true").stop(child.pid)
        with pytest.raises(ChildProcessError):
            os.waitpid(child.pid, 0)

    def test_a_pause_ends_when_the_owner_goes(self, pipes: Pipes) -> None:
        """A pause is cut short by the end of the owner, and else runs out."""
        processes = pipes.processes("true")
        assert not processes.owner_goes_within(0.0)
        os.close(pipes.owner_end)
        assert processes.owner_goes_within(60.0)


class ExitedError(Exception):
    """Stands for the end of the forked child."""


class StagedOs(SimpleNamespace):
    """The ``os`` of a fork: plays guard or child, and notes what the child does before it ends."""

    devnull = os.devnull
    O_RDONLY = os.O_RDONLY

    def __init__(self, *, forked: int, parent_pid: int = 11) -> None:
        super().__init__(fork=lambda: forked, getpid=lambda: 11, getppid=lambda: parent_pid)
        self.open = lambda path, flags: 77
        self.copied: list[tuple[int, int]] = []
        self.executed: list[list[str]] = []
        self.written: list[tuple[int, bytes]] = []

    def dup2(self, fd: int, onto_fd: int) -> None:
        self.copied.append((fd, onto_fd))

    def execv(self, path: str, argv: list[str]) -> NoReturn:
        assert path == argv[0]
        self.executed.append(argv)
        raise FileNotFoundError(2, "No such file or directory")

    def write(self, fd: int, text: bytes) -> None:
        self.written.append((fd, text))

    def _exit(self, status: int) -> NoReturn:
        raise ExitedError(status)


class TestSpawn:
    """Both sides of the fork, played in this one process."""

    @pytest.fixture(autouse=True)
    def _stage(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.monkeypatch = monkeypatch
        self.armed: list[int] = []
        libc = SimpleNamespace(prctl=lambda option, number: self.armed.append(number.value))
        self.processes = guard.Processes(["/nowhere", "--port", "0"], owner_fd=0, wakeup_fd=0, status_fd=1)
        monkeypatch.setattr(self.processes, "_libc", libc)

    def spawn(self, staged: StagedOs, platform: str = "linux") -> int:
        self.monkeypatch.setattr(guard, "os", staged)
        self.monkeypatch.setattr(guard, "sys", SimpleNamespace(platform=platform))
        return self.processes.spawn()

    def test_the_guard_learns_the_child(self) -> None:
        """In the guard, spawn gives the child's process id and runs nothing."""
        staged = StagedOs(forked=4321)
        assert self.spawn(staged) == 4321
        assert staged.executed == []

    def test_the_child_becomes_the_command(self) -> None:
        """The child arms its death signal, leaves the pipes to the guard, and runs the command."""
        staged = StagedOs(forked=0)
        with pytest.raises(ExitedError):
            self.spawn(staged)
        assert self.armed == [signal.SIGKILL]
        assert staged.copied == [(77, 0), (2, 1)]
        assert staged.executed == [["/nowhere", "--port", "0"]]

    def test_a_command_that_can_not_be_run_is_logged(self) -> None:
        """A child that can't become the command says so in the log and exits with 127."""
        staged = StagedOs(forked=0)
        with pytest.raises(ExitedError, match="127"):
            self.spawn(staged)
        assert staged.written == [(2, b"/nowhere can't be run: No such file or directory\n")]

    def test_no_death_signal_elsewhere(self) -> None:
        """Where the system has no such signal the command runs without."""
        staged = StagedOs(forked=0)
        with pytest.raises(ExitedError):
            self.spawn(staged, platform="darwin")
        assert self.armed == []
        assert len(staged.executed) == 1

    def test_a_child_whose_guard_has_died_runs_nothing(self) -> None:
        """A guard killed before the signal was armed leaves no Valkey."""
        staged = StagedOs(forked=0, parent_pid=1)
        with pytest.raises(ExitedError):
            self.spawn(staged)
        assert staged.executed == []


def test_main_outlives_the_terminals_signals(signals: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """SIGINT, SIGTERM and SIGHUP don't end the guard, and a child gets them at their defaults."""

    def supervise(processes: guard.Processes) -> int:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.raise_signal(number)
            assert callable(signal.getsignal(number))
        return 7

    monkeypatch.setattr(guard, "supervise", supervise)
    assert guard.main(["true"]) == 7
