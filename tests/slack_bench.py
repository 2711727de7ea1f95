"""A service whose questions stand in a workspace of the fake Slack, and whose deliveries a test moves on."""

from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec import structs
from redis.asyncio import Redis

from placet.domain.limits import Limits
from placet.settings.rule_files import RuleFiles, RulesAt
from tests.factories import ManualClock
from tests.harness import Harness, Party, opened
from tests.ruled import a_rule
from tests.rulefiles import DIRECTORY
from tests.slack_fake import CHANNEL, SECRET, TEAM, TOKEN, USER, SlackFake, SlackMessage

TELLS = 'tell = ["slack:#treasury"]'
PEOPLE = DIRECTORY.replace(
    'aliases = ["ann@example.com"]',
    f'aliases = ["ann@example.com"]\nslack = [{{ team = "{TEAM}", user = "{USER}" }}]',
)
"""The directory, in which ann has an account of Slack."""


class Told:
    """Rules from files, and the app of the fake besides."""

    def __init__(self, folder: Path, slack: SlackFake, *lines: str, people: str = PEOPLE) -> None:
        self._slack, self._folder = slack, folder
        (folder / "token").write_text(TOKEN)
        (folder / "secret").write_text(SECRET)
        (folder / "policy.toml").write_text(a_rule(*lines))
        (folder / "directory.toml").write_text(people)
        self._files = RulesAt(folder / "policy.toml", folder / "directory.toml", Limits())

    def read(self) -> RuleFiles:
        """All of it, anew."""
        found = self._files.read()
        app = self._slack.app(str(self._folder / "token"), [str(self._folder / "secret")])
        return structs.replace(found, rulebook=structs.replace(found.rulebook, slack={app.team: app}))

    def look(self) -> Hashable:
        """What is another value whenever something has changed."""
        return self._files.look()


class Bench:
    """The service, the workspace, and who takes part."""

    def __init__(self, h: Harness, slack: SlackFake, runtime: Party, ann: Party) -> None:
        self.h, self.slack, self.runtime, self.ann = h, slack, runtime, ann

    async def deliver(self) -> None:
        """Tell Slack all that is due."""
        while await self.h.services.spreader.once():
            pass
        await self.h.services.dispatcher.look()
        await self.h.services.dispatcher.drain()

    async def shown(self, **members: Any) -> tuple[dict[str, Any], SlackMessage]:
        """Ask, and have the card that stands in the channel."""
        asked = await self.runtime.asked(**members)
        await self.deliver()
        return asked, self.slack.messages[-1]

    async def delivery(self, approval_id: str) -> dict[str, Any]:
        """How the one delivery of an approval stands."""
        [found] = (await self.ann.seen(approval_id))["deliveries"]
        return dict(found)


@asynccontextmanager
async def bench(
    client: Redis,
    ring_directory: Path,
    clock: ManualClock,
    folder: Path,
    *lines: str,
    people: str = PEOPLE,
) -> AsyncIterator[Bench]:
    """A bench under a rule of these lines."""
    with SlackFake(clock) as slack:
        slack.people.add(USER)
        rules = Told(folder, slack, *(lines or (TELLS,)), people=people)
        async with opened(client, ring_directory, clock, rules=rules) as h:
            yield Bench(h, slack, await h.client(), await h.approver())


__all__ = ["CHANNEL", "PEOPLE", "TELLS", "USER", "Bench", "bench"]
