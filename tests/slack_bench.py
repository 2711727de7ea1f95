"""A service whose questions stand in a workspace of the fake Slack, and whose deliveries a test moves on."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from redis.asyncio import Redis

from placet.domain.limits import Limits
from placet.settings.rule_files import RulesAt
from tests.factories import ManualClock
from tests.harness import Harness, Party, opened
from tests.ruled import a_rule
from tests.rulefiles import DIRECTORY
from tests.slack_fake import APP, CHANNEL, SECRET, TEAM, TOKEN, USER, SlackFake, SlackMessage

TELLS = 'tell = ["slack:#treasury"]'
PEOPLE = DIRECTORY.replace(
    'aliases = ["ann@example.com"]',
    f'aliases = ["ann@example.com"]\nslack = [{{ team = "{TEAM}", user = "{USER}" }}]',
)
"""The directory, in which ann has an account of Slack."""


def rules(folder: Path, slack: SlackFake, *lines: str, people: str = PEOPLE) -> RulesAt:
    """One rule of these lines, and a directory with these people and the app."""
    files = {"token": TOKEN, "secret": SECRET, "policy.toml": a_rule(*lines)}
    app = f"""
[slack.{TEAM}]
app = "{APP}"
token_file = "{folder / "token"}"
signing_secret_files = ["{folder / "secret"}"]
channels = {{ treasury = "{CHANNEL}" }}
api_url = "{slack.api_url}"
"""
    for name, text in {**files, "directory.toml": people + app}.items():
        (folder / name).write_text(text)
    return RulesAt(folder / "policy.toml", folder / "directory.toml", Limits())


class Bench:
    """The service, the workspace, and who takes part."""

    def __init__(self, h: Harness, slack: SlackFake, runtime: Party, ann: Party, folder: Path) -> None:
        self.h, self.slack, self.runtime, self.ann = h, slack, runtime, ann
        self.folder = folder

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
        source = rules(folder, slack, *(lines or (TELLS,)), people=people)
        async with opened(client, ring_directory, clock, rules=source) as h:
            yield Bench(h, slack, await h.client(), await h.approver(), folder)


__all__ = ["CHANNEL", "PEOPLE", "TELLS", "USER", "Bench", "bench"]
