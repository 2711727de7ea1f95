"""A service whose people sign in with an OIDC provider."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from redis.asyncio import Redis

from tests.browsing import Browser, words
from tests.factories import ManualClock
from tests.harness import Harness, opened
from tests.issuer import Server, serving
from tests.provider import CLIENT_ID, SECRET, Provider, signed_on
from tests.rulefiles import Files

POLICY = """
[[rules]]
name = "all"
capabilities = ["*"]
approvers = { groups = ["ops"] }
"""
DIRECTORY = """
[issuers."{url}"]
groups_claim = "groups"

[issuers."{url}".sign_in]
name = "login"
client_id = "{client_id}"
client_secret_file = "{secret_file}"
label = "Example <login>"

[[people]]
id = "ann"
name = "Ann Marsh"
groups = ["ops"]
oidc = [{{ iss = "{url}", sub = "u-1" }}]

[[people]]
id = "zed"
tenant = "abroad"
"""


class Scene:
    """A service whose people sign in with a provider."""

    def __init__(self, h: Harness, files: Files, provider: Provider, secret_file: Path) -> None:
        self.h = h
        self.files = files
        self.provider = provider
        self.secret_file = secret_file

    def browser(self) -> Browser:
        """A new one."""
        return Browser(self.h)

    async def rewritten(self, *changes: tuple[str, str], policy: str = POLICY) -> None:
        """Put another directory in force."""
        self.files.write(policy, written(self.provider.server, self.secret_file, *changes))
        await self.h.services.activation.reload()

    async def without_sign_in(self) -> None:
        """Put a directory in force whose issuer has tokens for the API, and signs nobody in."""
        text = written(self.provider.server, self.secret_file)
        start, end = text.index(f'[issuers."{self.provider.server.url}".sign_in]'), text.index("[[people]]")
        self.files.write(POLICY, text[:start] + 'audience = "placet"\n' + text[end:])
        await self.h.services.activation.reload()

    async def refused(self, **claims: Any) -> str:
        """What a person is told who comes with these claims, and is not signed in."""
        self.provider.claimed = claims
        browser = self.browser()
        answer = await signed_on(browser, self.provider)
        assert (await browser.get("/inbox")).status_code == 303
        assert answer.status_code in {401, 403, 503}
        return words(answer)


def written(server: Server, secret_file: Path, *changes: tuple[str, str]) -> str:
    """The directory."""
    text = DIRECTORY.format(url=server.url, client_id=CLIENT_ID, secret_file=secret_file)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


@asynccontextmanager
async def signing_on(
    client: Redis, ring_directory: Path, folder: Path, clock: ManualClock, policy: str = POLICY
) -> AsyncIterator[Scene]:
    """The stage."""
    secret_file = folder / "oidc-secret"
    secret_file.write_text(f"{SECRET}\n")
    async with serving() as server:
        files = Files(folder, policy, written(server, secret_file))
        async with opened(client, ring_directory, clock, rules=files.source) as h:
            await h.client("runtime")
            await h.client("runtime", tenant="abroad")
            yield Scene(h, files, Provider(server, clock), secret_file)
