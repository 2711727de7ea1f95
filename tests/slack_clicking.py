"""People who click in the fake Slack, and what the service says to it."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from redis.asyncio import Redis

from tests.factories import ManualClock
from tests.harness import record
from tests.rulefiles import DIRECTORY
from tests.slack_bench import TELLS, Bench, bench
from tests.slack_fake import TEAM, USER, Handed, SlackMessage
from tests.slack_rules import view_faults

ANN, BOB, DANA, STRANGER = USER, "U0B0B0B0B", "U0DANA000", "U0N0B0DY0"
"""In the treasury the first two, dana in another group; nobody knows the last."""

PEOPLE = DIRECTORY
for _person, _user in (("ann", ANN), ("bob", BOB), ("dana", DANA)):
    PEOPLE = PEOPLE.replace(
        f'id = "{_person}"\n', f'id = "{_person}"\nslack = [{{ team = "{TEAM}", user = "{_user}" }}]\n'
    )


class Clicking(Bench):
    """The bench, with people who click."""

    async def send(self, handed: Handed, **headers: str) -> httpx.Response:
        """Have Slack send something."""
        sent, body = handed
        named = httpx.Headers(sent)
        named.update({name.replace("_", "-"): value for name, value in headers.items()})
        return await self.h.http.post("/v1/callbacks/slack", content=body, headers=named)

    async def settled(self) -> list[str]:
        """Wait until nobody is being answered: what was said to those who clicked, and to nobody else."""
        await self.h.services.slack_callback.drain()
        said, self.slack.answers[:] = list(self.slack.answers), []
        assert all(each["response_type"] == "ephemeral" and not each["replace_original"] for _, each in said)
        return [each["text"] for _, each in said]

    async def press(
        self,
        message: SlackMessage,
        action: str = "approve",
        *,
        user: str = ANN,
        team: str = TEAM,
        change: Callable[[dict[str, Any]], None] = lambda _: None,
    ) -> list[str]:
        """Press a button: what somebody is told."""
        handed = self.slack.press(message, f"placet.{action}", user=user, team=team, change=change)
        answer = await self.send(handed)
        assert (answer.status_code, answer.content) == (200, b""), answer.text
        return await self.settled()

    async def form(self, message: SlackMessage, action: str = "reject", *, user: str = ANN) -> dict[str, Any]:
        """Press a button that asks for a comment: the form."""
        assert await self.press(message, action, user=user) == []
        [(_, view)] = self.slack.views
        self.slack.views.clear()
        return view

    async def submit(
        self,
        view: dict[str, Any],
        comment: str | None = None,
        *,
        user: str = ANN,
        change: Callable[[dict[str, Any]], None] = lambda _: None,
    ) -> Any:
        """Send a form: what Slack is told to do with it, ``None`` for closing it."""
        answer = await self.send(self.slack.submit(view, comment, user=user, change=change))
        assert answer.status_code == 200, answer.text
        assert await self.settled() == []
        told = answer.json() if answer.content else None
        assert told is None or "view" not in told or view_faults(told["view"]) == []
        return told

    async def status(self, asked: dict[str, Any]) -> str:
        """How an approval stands."""
        return str((await self.runtime.seen(asked["id"]))["status"])

    async def trail(self, asked: dict[str, Any]) -> list[tuple[str, str, str | None]]:
        """What its trail says: the type, by whom, and the code; without what was delivered."""
        items = record(await self.runtime.trail(asked["id"]))["items"]
        return [
            (each["type"], each["by"], each.get("reason") or each.get("code"))
            for each in items
            if each["type"] != "delivered"
        ]


@asynccontextmanager
async def clicking(
    client: Redis, ring_directory: Path, clock: ManualClock, folder: Path, *lines: str, people: str = PEOPLE
) -> AsyncIterator[Clicking]:
    """A bench under a rule of these lines, where people click."""
    async with bench(client, ring_directory, clock, folder, TELLS, *lines, people=people) as found:
        yield Clicking(found.h, found.slack, found.runtime, found.ann, found.folder)
