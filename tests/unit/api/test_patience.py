"""A time limit for many: whoever is late is ended, and nobody else."""

import asyncio

import pytest

from placet.api.patience import Patience


@pytest.fixture
def patience() -> Patience:
    """A limit of its own."""
    return Patience()


async def waiting(patience: Patience, seconds: float, done: asyncio.Event) -> str:
    """Wait for an event, so long at most."""
    try:
        with patience.limit(seconds):
            await done.wait()
    except TimeoutError:
        return "late"
    return "done"


async def test_whoever_is_late_is_ended(patience: Patience) -> None:
    """One after the other, whoever began first; those who are done are not."""
    never, done = asyncio.Event(), asyncio.Event()
    late = [asyncio.create_task(waiting(patience, 0.01, never)) for _ in range(3)]
    well = asyncio.create_task(waiting(patience, 5, done))
    assert [await each for each in late] == ["late"] * 3
    assert not well.done()
    done.set()
    assert await well == "done"


async def test_a_shorter_limit_does_not_wait_for_a_longer(patience: Patience) -> None:
    """Not even for one that was over long ago."""
    never = asyncio.Event()
    with patience.limit(60):
        pass
    assert await waiting(patience, 0.01, never) == "late"


async def test_one_timer_goes_on_to_the_next(patience: Patience) -> None:
    """Whoever began later is late later."""
    never = asyncio.Event()
    first = asyncio.create_task(waiting(patience, 0.01, never))
    second = asyncio.create_task(waiting(patience, 0.03, never))
    assert await first == "late"
    assert not second.done()
    assert await second == "late"


async def test_what_fails_fails_as_it_did(patience: Patience) -> None:
    """The limit has no part in it."""
    with pytest.raises(ValueError, match="mine"), patience.limit(5):
        raise ValueError("mine")


async def test_a_task_that_was_cancelled_is_cancelled(patience: Patience) -> None:
    """By somebody else, and also where that falls together with the limit."""
    never = asyncio.Event()
    task = asyncio.create_task(waiting(patience, 5, never))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    both = asyncio.create_task(waiting(patience, 0, never))
    asyncio.get_running_loop().call_later(0, both.cancel)
    with pytest.raises(asyncio.CancelledError):
        await both


async def test_what_is_over_is_left_alone(patience: Patience) -> None:
    """Its task goes on."""
    with patience.limit(0.01):
        pass
    await asyncio.sleep(0.03)


def test_another_loop_has_a_timer_of_its_own(patience: Patience) -> None:
    """That of a loop which is closed never fires."""
    for _ in range(2):
        assert asyncio.run(waiting(patience, 0.01, asyncio.Event())) == "late"
        with asyncio.Runner() as runner:
            runner.run(waiting(patience, 60, _set()))


def _set() -> asyncio.Event:
    done = asyncio.Event()
    done.set()
    return done


async def test_only_a_task_can_be_ended(patience: Patience) -> None:
    """A callback is in none."""
    found: asyncio.Future[BaseException] = asyncio.get_running_loop().create_future()

    def enter() -> None:
        with pytest.raises(RuntimeError) as caught, patience.limit(1):
            pass
        found.set_result(caught.value)

    asyncio.get_running_loop().call_soon(enter)
    assert "task" in str(await found)
