"""What a service says when it is ready: where it is, what it keeps its word with, what to do next."""

import logging
import os
import shlex
from contextlib import suppress
from typing import Final
from urllib.parse import urlsplit

from placet.bootstrap import Services
from placet.cli.acquainted import directory_here
from placet.cli.console import Ink, Terminal
from placet.cli.context import Context
from placet.cli.first_link import first_link
from placet.cli.info import placet_version
from placet.cli.invoked import placet
from placet.cli.layout import wrap
from placet.cli.opened import named
from placet.cli.running import Running
from placet.cli.ways_in import ways_in
from placet.domain.errors import InternalError, StoreUnavailable
from placet.domain.text import visible
from placet.settings import Environment
from placet.settings.rule_files import RulesInvalid
from placet.store.connection import Level

_LABEL_COLUMNS: Final = 12
_INDENT: Final = 6

_log = logging.getLogger(__name__)


async def announce(service: Running, context: Context) -> None:
    """Say it: to the person at the terminal, else to the log; and as JSON where that was asked for."""
    console, settings = context.console, service.settings
    document = {
        "url": settings.server.public_url,
        "port": settings.server.port,
        "metrics_url": service.metrics_url,
        "store": "embedded" if settings.store.embedded else "external",
        "data_dir": str(settings.store.data_dir.absolute()) if settings.store.embedded else None,
        "pid": os.getpid(),
        "version": placet_version(),
    }
    if console.json:
        console.document(document)
    newcomers = await _is_new(service.services)
    if console.err.is_terminal:
        lines = [*_banner(service, console.err), *(await _next(service, context) if newcomers else [])]
        lines += ways_in(service, await first_link(service), context)
        for line in (*lines, console.err.paint("Ctrl-C stops it.", Ink.DIM)):
            console.err.line(line)
        return
    _log.info("serving", extra={**document, "store": _store(service)})
    if newcomers:
        _log.info("nobody may ask yet", extra={"next": "placet clients create NAME --scopes request,consume"})


def _banner(service: Running, err: Terminal) -> list[str]:
    settings = service.settings
    server, url = settings.server, settings.server.public_url
    itself = url.endswith(f"//{server.host}:{server.port}")
    fields = {
        "API": url,
        "Listens on": "" if itself else f"{server.host} port {server.port}",
        "Reference": "" if server.environment is Environment.PRODUCTION else f"{url}/reference",
        "Store": _store(service),
        "Data": str(settings.store.data_dir.absolute()) if settings.store.embedded else "",
        "Metrics": service.metrics_url,
    }
    title = err.paint(f"Placet {placet_version()} is ready.", Ink.BOLD)
    lines = ["", f"{err.mark(Ink.GREEN)} {title}", ""]
    for label, text in fields.items():
        if text:
            # What has no blank, a URL or a path, is to be copied whole.
            room = err.width - _LABEL_COLUMNS - 2
            first, *others = wrap(text, room) if " " in text else [text]
            lines.append(f"  {err.paint(label.ljust(_LABEL_COLUMNS), Ink.DIM)}{first}")
            lines += [" " * (_LABEL_COLUMNS + 2) + line for line in others]
    for finding in service.services.store.findings:
        if finding.level is not Level.GOOD:
            first, *others = wrap(finding.text, err.width - 2)
            lines += [f"{err.mark(Ink.YELLOW)} {first}", *(f"  {line}" for line in others)]
    return [*lines, ""]


def _store(service: Running) -> str:
    """Which server, and what an answer has waited for."""
    found = {finding.subject: finding.text for finding in service.services.store.findings}
    version = found.get("version", "an unknown version")
    keeps = " ".join(found[subject] for subject in ("durability", "replication") if subject in found)
    url = service.settings.store.redis_url
    if url is None:
        return f"embedded {version}. {keeps}"
    parts = urlsplit(url.reveal())
    place = parts.path if parts.scheme == "unix" else f"{parts.hostname}:{parts.port or 6379}"
    return f"{version} at {place}. {keeps}"


async def _is_new(services: Services) -> bool:
    """Whether there is no client yet; a store that can't be asked, or is spoilt, had its chance to be new."""
    with suppress(StoreUnavailable, InternalError):
        for tenant in await services.store.registry.tenants():
            if (await services.directory.snapshot(tenant)).clients:
                return False
        return True
    return False


async def _person(service: Running) -> tuple[str, str]:
    """Who gets the first credential of a person, as it is typed, and in words: somebody of the directory."""
    if service.settings.rules.directory_file is None:
        return "you@example.com", "you"
    with suppress(StoreUnavailable, InternalError, RulesInvalid):
        here, services = directory_here(service.settings), service.services
        begun = await services.store.registry.tenants()
        for member in () if here is None else here.people.members:
            is_new = member.tenant not in begun
            if is_new or member.id not in (await services.directory.snapshot(member.tenant)).approvers:
                tenant = "" if member.tenant == "default" else f" --tenant {member.tenant}"
                return f"{shlex.quote(visible(member.id))}{tenant}", visible(member.name or member.id)
    return "ID", "an id of your directory"


async def _next(service: Running, context: Context) -> list[str]:
    """What whoever starts for the first time types next, in another terminal."""
    settings, (person, called) = service.settings, await _person(service)
    err, where = context.console.err, named(settings, context.environ)
    head = "Nobody may ask yet. In another terminal, with the same PLACET_ variables:"
    if settings.store.embedded:
        head = "Nobody may ask yet. In another terminal:"
    commands = {
        f"{placet()} {command}": why
        for command, why in {
            "demo": "# plays the whole story, once",
            "clients create agent --scopes request,consume": "# a credential for an agent",
            f"approvers create {person}": f"# and one for {called}",
        }.items()
    }
    room = max(map(len, commands)) + len(where)
    lines = [f"    {err.paint(each + where, Ink.CYAN)}" for each in commands]
    if _INDENT + room + max(map(len, commands.values())) <= err.width:
        lines = [
            f"    {err.paint((each + where).ljust(room), Ink.CYAN)}  {err.paint(why, Ink.DIM)}"
            for each, why in commands.items()
        ]
    return [*wrap(head, err.width), "", *lines, ""]
