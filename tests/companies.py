"""A company with a runtime and an approver: what tests of the hook do there, and what they look at."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from placet.client import StillPending
from placet.client.hook import ApprovalRefused, FileJournal, HookRefusal
from placet.domain.errors import PlacetError
from tests.harness import Harness, Party
from tests.hooks import People, Runtime

EDITABLE: dict[str, Any] = {"allowed_decisions": ("approve", "edit", "reject"), "effect": "write"}


class Company:
    """A runtime's machine, and who approves.

    Attributes:
        ran: What the tool was called with.
    """

    def __init__(self, h: Harness, face: str, party: Party, ann: Party, directory: Path) -> None:
        self.h, self.face, self.party, self.ann = h, face, party, ann
        self.people = People(ann)
        self.ran: list[Any] = []
        self._journal = directory / "journal"

    def runtime(self, *, journal: FileJournal | None = None, skew_ms: int = 0) -> Runtime:
        """A process."""
        return Runtime(self.h, self.party, self.face, journal, skew_ms)

    def journal(self) -> FileJournal:
        """The journal of this machine."""
        return FileJournal(self._journal)

    def refund(self, order: str, amount: int = 5) -> str:
        """The tool."""
        self.ran.append((order, amount))
        return f"refunded {amount}"

    async def only(self) -> dict[str, Any]:
        """The one question there is."""
        [item] = (await self.party.list()).json()["items"]
        return await self.party.seen(item["id"])


async def refused(calling: Awaitable[Any], kind: type[HookRefusal] = ApprovalRefused) -> Any:
    """The refusal of a call; it shows what a model may read and no more."""
    with pytest.raises(kind) as raised:
        await calling
    assert type(raised.value) is kind
    shown = f"{raised.value} {raised.value!r} {json.dumps(raised.value.model())}"
    assert "A-1" not in shown
    assert str(raised.value) == raised.value.model()["message"]
    chained(raised.value)
    return raised.value


def chained(refusal: HookRefusal) -> None:
    """No fault hangs on a refusal that may hold anything."""
    fault: BaseException | None = refusal
    while fault is not None:
        assert isinstance(fault, HookRefusal | PlacetError | StillPending), "no other fault hangs on it"
        fault = fault.__cause__ or fault.__context__


def said(**changes: Any) -> Callable[[httpx.Response], httpx.Response]:
    """Another answer: of a record that is no longer pending, with these changes."""

    def change(answer: httpx.Response) -> httpx.Response:
        body = answer.json()
        if body.get("status") == "pending":
            return answer
        return httpx.Response(answer.status_code, json={**body, **changes})

    return change


class Later:
    """Something to be awaited."""

    def __await__(self) -> Any:
        yield from asyncio.sleep(0).__await__()
        return "x"
