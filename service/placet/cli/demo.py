"""``placet demo``: the whole story on a real service, in a tenant of its own that goes away afterwards.

It is played on the service that runs on the data directory (or on the store of PLACET_REDIS_URL), with
nothing but the right to open that store. Where no service runs, one is started for it on a free port and
a temporary directory.
"""

import argparse
import asyncio
import logging
import secrets
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

import httpx
from msgspec import Struct

from placet.application.activation import ActivationRefused
from placet.bootstrap import Services
from placet.cli.console import Ink
from placet.cli.context import Context
from placet.cli.exits import Exit, Stop
from placet.cli.opened import operating, settings_of, telling_faults
from placet.cli.remote import network, service_url
from placet.cli.running import running
from placet.cli.story import AGENT, PERSON, Story, Told
from placet.domain.principals import Approver, Client, Scope
from placet.settings import Settings, load
from placet.store.ownership import owner_of

_PAUSE_S: Final = 0.7
_EXPIRES_IN_MS: Final = 5 * 60 * 1_000
_WAIT_S: Final = 30
_TIMEOUT: Final = httpx.Timeout(_WAIT_S + 15, connect=5.0)


class _Stage(Struct, frozen=True, kw_only=True):
    """Where the story is played: the service's URL, and its store with an operator's rights."""

    url: str
    services: Services


def run(args: argparse.Namespace, context: Context) -> int:
    """Play the story."""
    return asyncio.run(_play(args, context))


async def _play(args: argparse.Namespace, context: Context) -> int:
    console, people = context.console, context.console.people
    async with AsyncExitStack() as exits:
        stage = await exits.enter_async_context(_stage(args, context))
        tenant = f"demo-{secrets.token_hex(4)}"
        exits.push_async_callback(stage.services.store.registry.remove_tenant, tenant)
        tokens = await _credentials(stage.services, tenant)
        people.line(f"{people.paint('Placet demo', Ink.BOLD)} on {stage.url}, in a tenant of its own.")
        http = httpx.AsyncClient(base_url=stage.url, timeout=_TIMEOUT, **network(stage.url))
        await exits.enter_async_context(http)
        limits = stage.services.settings.limits
        asks = context.can_ask and not args.yes
        story = Story(
            console,
            http,
            tokens,
            decide=_Person(context).decide if asks else _approve,
            wait_s=min(_WAIT_S, limits.wait_max_s),
            pause_s=_PAUSE_S if people.is_terminal else 0.0,
        )
        expires_in_ms = max(min(_EXPIRES_IN_MS, limits.expires_in_max_ms), limits.expires_in_min_ms)
        status = await story.tell(expires_in_ms=expires_in_ms)
    last = (
        "What was approved is what ran, once."
        if status == "consumed"
        else "What nobody approved did not run."
    )
    people.line()
    people.line(f"{people.mark(Ink.GREEN)} {people.paint(last, Ink.BOLD)} The demo's tenant is gone again.")
    if console.json:
        console.document(
            {"ok": True, "url": stage.url, "tenant": tenant, "status": status, "steps": story.steps}
        )
    return Exit.OK


@asynccontextmanager
async def _stage(args: argparse.Namespace, context: Context) -> AsyncIterator[_Stage]:
    settings = settings_of(args, context)
    if not settings.store.embedded:
        async with operating(settings, context.console) as services:
            yield _Stage(url=await _url_on_store(services, args, context), services=services)
        return
    url = _url_of_service(settings, args, context)
    why = f"No service runs on {settings.store.data_dir}"
    if url is not None:
        async with operating(settings, context.console) as services:
            if not await _is_ruled(services):
                yield _Stage(url=url, services=services)
                return
        why = f"The rules in force at {url} are not for the demo's people"
    logging.getLogger().addHandler(logging.NullHandler())
    context.console.note(f"{why}: starting a service for the demo.")
    with tempfile.TemporaryDirectory(prefix="placet-demo-", ignore_cleanup_errors=True) as folder:
        own = load({"PLACET_PORT": "0", "PLACET_DATA_DIR": str(Path(folder, "data"))})
        async with running(own) as service:
            yield _Stage(url=service.settings.server.public_url, services=service.services)


async def _url_on_store(services: Services, args: argparse.Namespace, context: Context) -> str:
    """Where a service answers that uses the external store: where it was said, or where it says itself.

    Raises:
        Stop: There is none.
    """
    chosen = args.PLACET_URL or context.environ.get("PLACET_URL")
    issuer = await services.store.registry.issuer()
    if issuer is None:
        raise Stop(
            "No service runs on the store of PLACET_REDIS_URL: start one with `placet serve`. Without that "
            "variable the demo starts one of its own.",
            Exit.UNREACHABLE,
        )
    return service_url(context, chosen or issuer)


async def _is_ruled(services: Services) -> bool:
    """Whether rules of the operator's hold there, which know nobody of the demo's.

    Raises:
        Stop: What the store says of that is not Placet's.
    """
    try:
        return (await services.activation.in_force()).version != ""
    except ActivationRefused as refused:
        raise Stop(str(refused)) from refused


def _url_of_service(settings: Settings, args: argparse.Namespace, context: Context) -> str | None:
    """Where the service answers that uses the embedded store; None where none does."""
    with telling_faults():
        owner = owner_of(settings.store.data_dir)
    if owner is None or owner.passing:
        return None
    chosen = args.PLACET_URL or context.environ.get("PLACET_URL")
    return service_url(context, chosen or owner.url)


async def _credentials(services: Services, tenant: str) -> dict[str, str]:
    """Make the agent and the person; their credentials by name."""
    agent = Client(tenant=tenant, name=AGENT, scopes=frozenset({Scope.REQUEST, Scope.CONSUME}))
    person = Approver(tenant=tenant, id=PERSON, display_name="Ada")
    return {
        AGENT: (await services.enrolment.create(agent)).credential,
        PERSON: (await services.enrolment.create(person)).credential,
    }


async def _approve(_question: str, _waiting: "asyncio.Task[Told]") -> bool:
    return True


class _Person:
    """Whoever sits at the terminal plays the approver."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def decide(self, question: str, waiting: "asyncio.Task[Told]") -> bool | None:
        """Ask, until there is an answer or the waiting call has come back without one."""
        asking = asyncio.create_task(self._context.ask_meanwhile(question, default=True))
        await asyncio.wait({asking, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if asking.done():
            return asking.result()
        asking.cancel()
        self._context.console.people.line()
        return None
