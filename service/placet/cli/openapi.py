"""``placet openapi``: the API's description, as it is served at ``/openapi.json``."""

import argparse

from placet.api.openapi import document
from placet.cli import parser
from placet.cli.context import Context
from placet.cli.exits import Exit
from placet.settings import load


def run(args: argparse.Namespace, context: Context) -> int:
    """Print the OpenAPI document; it is JSON with ``--json`` and without."""
    settings = load(context.environ, parser.overrides(args))
    context.console.document(document(settings.server.public_url, settings.limits))
    return Exit.OK
