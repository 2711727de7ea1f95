"""How soon a click in Slack is acknowledged, also where the store or Slack take five seconds over each call.

In this process, over the fake Slack and a fake store whose calls are slowed down: what is measured is the
budget, not the machine. Slack itself gives up after three seconds.
"""

import asyncio
import math
import time
from collections.abc import Sequence
from functools import partial, wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fakeredis import FakeAsyncRedis, FakeServer

from placet.application.clock import SystemClock
from tests.benchmarks.report import Reach, Row, row
from tests.benchmarks.stage import Plan
from tests.factories import ManualClock
from tests.slack_bench import Bench
from tests.slack_clicking import clicking

SLOW_S = 5.0
_CLICKS = 60
_APART_S = 0.02
_WITHIN = Reach(at_most=3_000)
_CASES = {
    "nothing slow": (0.0, 0.0),
    "store slow": (SLOW_S, 0.0),
    "Slack slow": (0.0, SLOW_S),
    "both slow": (SLOW_S, SLOW_S),
}


class Now(ManualClock):
    """The machine's own, where a test has one to move."""

    def __init__(self) -> None:
        self._system = SystemClock()
        super().__init__(self._system.now_ms())

    def now_ms(self) -> int:
        """Wall time, Unix milliseconds."""
        return self._system.now_ms()

    def monotonic_s(self) -> float:
        """Seconds since some moment."""
        return self._system.monotonic_s()

    def call_later(self, seconds: float, callback: Any) -> Any:
        """Call back after ``seconds``."""
        return self._system.call_later(seconds, callback)


async def measure(plan: Plan) -> list[Row]:
    """The rows of this part."""
    rows = []
    for name, (store_s, slack_s) in _CASES.items():
        plan.told(f"slack: {_CLICKS} clicks, {name}")
        took_ms = await _clicks(store_s, slack_s)
        rows.append(row("slack", f"acknowledged, p99: {name}", "ms", [_p99(took_ms)], _WITHIN))
    return rows


def _p99(took_ms: Sequence[float]) -> float:
    return sorted(took_ms)[math.ceil(0.99 * len(took_ms)) - 1]


async def _clicks(store_s: float, slack_s: float) -> list[float]:
    """How long each of some clicks waited for its acknowledgement, in milliseconds."""
    with TemporaryDirectory(prefix="placet-slack-") as name:
        folder = Path(name)
        (folder / "ring").mkdir()
        client = FakeAsyncRedis(server=FakeServer(server_type="valkey"))
        async with clicking(client, folder / "ring", Now(), folder) as desk:
            desk.slack.is_paced = False
            cards = [(await desk.shown(input={"order": f"A-{n}"}))[1] for n in range(_CLICKS)]
            _slow_down(desk, store_s)
            desk.slack.delay_s = slack_s
            took_ms = await asyncio.gather(*map(partial(_click, desk), cards, range(_CLICKS)))
            await desk.h.services.slack_callback.close()
    return list(took_ms)


async def _click(desk: Any, card: Any, number: int) -> float:
    handed = desk.slack.press(card, ("placet.approve", "placet.reject")[number % 2])
    await asyncio.sleep(number * _APART_S)
    began_s = time.perf_counter()
    answer = await desk.send(handed)
    assert answer.status_code == 200
    return (time.perf_counter() - began_s) * 1_000


def _slow_down(desk: Bench, seconds: float) -> None:
    store: Any = desk.h.services.store.approvals
    for verb in ("get", "decide"):
        setattr(store, verb, _slowly(getattr(store, verb), seconds))


def _slowly(call: Any, seconds: float) -> Any:
    @wraps(call)
    async def slow(*args: Any, **options: Any) -> Any:
        await asyncio.sleep(seconds)
        return await call(*args, **options)

    return slow
