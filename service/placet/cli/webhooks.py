"""``placet webhooks``: where a tenant's events are sent, signed.

What these commands have in common with those of clients and approvers is in :mod:`placet.cli.principals`.
"""

import argparse

from placet.bootstrap import Services
from placet.cli.console import Ink
from placet.cli.context import Context
from placet.cli.exits import Stop
from placet.cli.invoked import placet
from placet.cli.issued import show
from placet.cli.opened import settings_of
from placet.cli.principals import run
from placet.domain.deliveries import Undelivered
from placet.domain.delivery_docs import REMEDIES
from placet.domain.principals import Endpoint
from placet.domain.text import visible


def create_webhook(args: argparse.Namespace, context: Context) -> int:
    """Make an endpoint."""
    endpoint = Endpoint(
        tenant=args.tenant,
        name=args.name,
        url=args.url,
        events=args.events,
        capabilities=args.capabilities,
        clients=args.clients,
        by_rule=args.by_rule,
        with_input=args.with_input,
    )

    async def work(services: Services) -> None:
        show(await services.enrolment.create(endpoint), context, done="made")

    return run(settings_of(args, context), args, context, work, begins=True)


def test(args: argparse.Namespace, context: Context) -> int:
    """Send an endpoint a message that is about nothing, now, and tell what came of it."""

    async def work(services: Services) -> None:
        console = context.console
        endpoint = (await services.enrolment.all(args.tenant)).endpoints.get(args.name)
        if endpoint is None:
            listing = f"`{placet()} webhooks list`"
            raise Stop(
                f"Tenant {visible(args.tenant)} has no webhook {visible(args.name)}; {listing} shows them."
            )
        shown = f"Webhook {visible(endpoint.name)}"
        try:
            with console.slowly(f"Sending to {visible(endpoint.url)} …"):
                named = await services.webhooks.try_out(endpoint)
        except Undelivered as fault:
            answered = "" if fault.status is None else f" It answered {fault.status}."
            what = f"{shown} did not take the message ({fault.failure}).{answered} {REMEDIES[fault.failure]}"
            raise Stop(what) from fault
        told = {"webhook": endpoint.name, "tenant": endpoint.tenant, "url": endpoint.url, "message_id": named}
        console.result(
            told,
            f"{console.out.mark(Ink.GREEN)} {shown} took a message of the type placet.test.",
            f"  {named}, sent to {visible(endpoint.url)}",
            "  Whether it proves signatures is another matter: see that it refuses those of another secret.",
        )

    return run(settings_of(args, context), args, context, work)
