"""Slack apps in the directory file: ``[slack.<workspace>]``, one table each."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from placet.domain.chat import SLACK_API_URL, SlackApp
from placet.domain.people import Path
from placet.settings.parsing import is_safe_url
from placet.settings.tables import Table

SECRETS_MAX: Final = 2
"""Signing secrets that count at the same time: two, while they are rotated."""

_WORKSPACE: Final = re.compile(r"T[A-Z0-9]{1,31}")
_APP: Final = re.compile(r"A[A-Z0-9]{1,31}")
_CHANNEL: Final = re.compile(r"[CG][A-Z0-9]{1,31}")
_CHANNEL_NAME: Final = re.compile(r"[a-z0-9_-]{1,80}")
TenantOf = Callable[[Table], str]


def apps(root: Table, tenant_of: TenantOf) -> Iterator[SlackApp]:
    """The apps of a directory file; ``tenant_of`` reads whose each is."""
    tables = root.table("slack", "the table of Slack apps")
    if tables is None:
        return
    named: dict[tuple[str, str], str] = {}
    for team in tables.names():
        table = tables.table(team, "a Slack app")
        app = None if table is None else _app(team, table, tenant_of)
        if table is None or app is None:
            continue
        for name in app.channels:
            other = named.setdefault((app.tenant, name), team)
            if other != team:
                message = (
                    f"{name!r} is a channel of [slack.{other}] already, and rules of tenant "
                    f"{app.tenant!r} mean one of the two: call this one something else."
                )
                table.fault(message, "channels", name)
        yield app


def secrets(found: Mapping[str, SlackApp]) -> Iterator[tuple[Path, str, str]]:
    """Every file with a secret of an app: where it is named, its path, and what comes of it else."""
    for team, app in found.items():
        path: Path = ("slack", team)
        yield (*path, "token_file"), app.token_file, "nothing is posted there"
        for place, file in enumerate(app.signing_secret_files):
            yield (*path, "signing_secret_files", place), file, "no click that is signed with it counts"


def _app(team: str, table: Table, tenant_of: TenantOf) -> SlackApp | None:
    if not _WORKSPACE.fullmatch(team):
        table.fault("A Slack app is named by its workspace's id, which begins with T: [slack.T024BE7LD].")
    complete = table.required("app", "token_file", "signing_secret_files")
    app, token_file = table.text("app"), table.text("token_file")
    if app is not None and not _APP.fullmatch(app):
        table.fault("An app's id begins with A: copy it from its Basic Information.", "app")
    secret_files = table.texts("signing_secret_files") or ()
    if len(secret_files) > SECRETS_MAX:
        message = "An app has one signing secret, and two while they are rotated: remove the others."
        table.fault(message, "signing_secret_files")
    found = SlackApp(
        team=team,
        tenant=tenant_of(table),
        app=app or "",
        token_file=token_file or "",
        signing_secret_files=secret_files,
        channels=dict(_channels(table)),
        api_url=_api_url(table),
    )
    table.end()
    return found if complete and app and token_file and secret_files else None


def _channels(table: Table) -> Iterator[tuple[str, str]]:
    below = table.table("channels", "the table channels")
    if below is None:
        return
    for name in below.names():
        channel = below.text(name)
        if not _CHANNEL_NAME.fullmatch(name):
            message = "A channel is called by 1 to 80 of a to z, 0 to 9, - and _, and without #."
            below.fault(message, name)
        elif channel is not None and not _CHANNEL.fullmatch(channel):
            message = "A channel's id begins with C or G, and is no name: copy it from its details."
            below.fault(message, name)
        elif channel is not None:
            yield name, channel


def _api_url(table: Table) -> str:
    url = table.text("api_url")
    if url is None:
        return SLACK_API_URL
    if not is_safe_url(url):
        message = "Slack is called over https only, or http on a loopback host, by an address without query."
        table.fault(message, "api_url")
    return url.removesuffix("/") + "/"
