"""``placet policy drop``: take the operator's files out of force, so that the built-in rule holds again."""

import argparse
import asyncio

from placet.application.activation import ActivationRefused
from placet.application.enroll import EnrolmentRefused
from placet.cli.console import Ink
from placet.cli.context import Context
from placet.cli.exits import Exit, Stop
from placet.cli.opened import is_missing, no_store, operating, settings_of


def drop(args: argparse.Namespace, context: Context) -> int:
    """Ask, and drop them."""
    return asyncio.run(_drop(args, context))


async def _drop(args: argparse.Namespace, context: Context) -> int:
    settings, console = settings_of(args, context), context.console
    if is_missing(settings):
        raise no_store(settings)
    if not args.yes:
        if not context.can_ask:
            raise Stop(
                "This opens what rules keep shut, and nobody can be asked here: say --yes.", Exit.USAGE
            )
        console.warn(
            "From then on any approver of a tenant decides, one is enough, and questions of critical risk "
            "are refused. Services that have files answer nothing until they are started without them."
        )
        if not context.ask("Take the policy and directory files out of force?", default=False):
            raise Stop("Nothing was changed.")
    async with operating(settings, console) as services:
        try:
            await services.activation.drop()
        except (ActivationRefused, EnrolmentRefused) as fault:
            raise Stop(str(fault)) from fault
    console.result(
        {"dropped": True}, f"{console.out.mark(Ink.GREEN)} The built-in rule holds in every tenant."
    )
    return Exit.OK
