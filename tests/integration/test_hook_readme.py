"""What the README shows of the hook."""

import asyncio
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from placet.client import AsyncClient
from tests.harness import BASE_URL, Harness
from tests.hooks import People

README = Path(__file__).parents[2] / "README.md"


@pytest.mark.parametrize(
    ("decision", "became"),
    [
        ("approve", "refunded 5 of A-1042"),
        ("reject", {"code": "APPROVAL_REJECTED", "retryable": False}),
    ],
)
async def test_its_example_runs_what_was_approved(
    h: Harness, monkeypatch: pytest.MonkeyPatch, decision: str, became: Any
) -> None:
    """As a reader would copy it, but for the machine's clock."""
    (told,) = re.findall(
        r"<!-- hook -->\n```python\n(.+?)^```$", README.read_text(), re.DOTALL | re.MULTILINE
    )
    names: dict[str, Any] = {}
    exec(told, names)  # noqa: S102 - our own README
    monkeypatch.setitem(names, "AsyncClient", partial(AsyncClient, http=h.http))
    monkeypatch.setitem(names, "Hook", partial(names["Hook"], now_ms=h.clock.now_ms))
    h.services.store.stream.start()
    runtime, ann = await h.client("agent"), await h.approver()
    playing = asyncio.ensure_future(names["agent"](BASE_URL, runtime.credential, "r-1", "c-1"))
    shown = await People(ann).decide(decision)
    assert (shown["input"], shown["risk"]) == ({"order": "A-1042", "amount": 5}, "high")
    got = await playing
    assert got == became if isinstance(became, str) else got.items() >= became.items()
