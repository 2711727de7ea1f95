"""A service under one rule of an operator's, which a test can change while it runs."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from redis.asyncio import Redis

from placet.domain.canonical import canonicalize, sha256_hex
from tests.factories import ManualClock
from tests.harness import Harness, Party, opened
from tests.rulefiles import DIRECTORY, Files

Opening = Callable[..., Awaitable["Ruled"]]
"""Opens a service under a rule of these lines."""

EDITABLE: Mapping[str, Any] = {"allowed_decisions": ["approve", "edit", "reject"], "effect": "write"}
"""Members of a request that can be approved with changes, and is not grave."""

LESS = {"order": "A-1", "amount": 4}
"""What an approver makes of its input."""

TREASURY = 'approvers = { groups = ["treasury"] }'
"""Ann, bob and cy of the directory."""


def hash_of(value: object) -> str:
    """The input hash of a value."""
    return sha256_hex(canonicalize(value))


def a_rule(*lines: str, floors: str = "") -> str:
    """A policy file of one rule for ``orders.*`` that the treasury decides, with these lines besides."""
    head = '[[rules]]\nname = "orders"\ncapabilities = ["orders.*"]'
    who = [] if any(line.startswith("approvers") for line in lines) else [TREASURY]
    return "\n".join([floors, head, *who, *lines])


class Ruled:
    """The service, and the files it has its rules from."""

    def __init__(self, h: Harness, files: Files) -> None:
        self.h = h
        self.files = files

    async def people(self, *names: str) -> list[Party]:
        """Approvers with credentials."""
        return [await self.h.approver(name) for name in names]

    async def parties(self, *names: str) -> tuple[Party, list[Party]]:
        """A runtime, and approvers: ann and bob unless named."""
        return await self.h.client(), await self.people(*(names or ("ann", "bob")))

    async def now(self, *lines: str, floors: str = "", directory: str = DIRECTORY) -> None:
        """Put a rule of other lines in force."""
        self.files.write(a_rule(*lines, floors=floors), directory)
        await self.h.services.activation.reload()


async def bridge(h: Harness, *people: str) -> Party:
    """A bridge that may speak for these people."""
    return await h.client("chat", "decide_as", people=people, max_risk="critical")


@asynccontextmanager
async def ruling(
    client: Redis, ring_directory: Path, clock: ManualClock, folder: Path
) -> AsyncIterator[Opening]:
    """What opens a service over ``client``, and closes it in the end."""
    async with AsyncExitStack() as exits:

        async def under(*lines: str, floors: str = "", directory: str = DIRECTORY) -> Ruled:
            files = Files(folder, a_rule(*lines, floors=floors), directory)
            h = await exits.enter_async_context(opened(client, ring_directory, clock, rules=files.source))
            return Ruled(h, files)

        yield under
