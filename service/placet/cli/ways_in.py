"""How people get to their inbox, for whoever has just started a service at a terminal."""

import shlex
from collections.abc import Iterator
from urllib.parse import urlsplit

from placet.application.rule_words import listed
from placet.cli.console import Ink
from placet.cli.context import Context
from placet.cli.first_link import Link
from placet.cli.invoked import placet
from placet.cli.layout import wrap
from placet.cli.opened import named
from placet.cli.running import Running
from placet.domain.durations import spell
from placet.domain.limits import SIGN_IN_LINK_MS
from placet.domain.people import Issuer, SignIn
from placet.domain.text import visible
from placet.settings import Settings
from placet.settings.parsing import is_loopback


def ways_in(service: Running, link: Link | None, context: Context) -> list[str]:
    """Where the inbox is and how one signs in: with an issuer, by a link, or not yet."""
    settings, err = service.settings, context.console.err
    lines = []
    for note, found in _told(service, link, settings, _signin(settings, context, link)):
        lines += wrap(note, err.width)
        lines += [f"    {err.paint(each, Ink.CYAN)}" for each in found]
    return [*lines, ""]


def redirect_uri(url: str, sign_in: SignIn) -> str:
    """What a provider has to know: where it sends people back to."""
    return f"{url}/signin/{sign_in.name}"


def _told(
    service: Running, link: Link | None, settings: Settings, signin: str
) -> Iterator[tuple[str, list[str]]]:
    """Sentences, each with what is to be copied below it."""
    url = settings.server.public_url
    signers = service.services.directory.sign_ins
    if signers:
        yield f"Approvers sign in with {_labels(signers)}:", [f"{url}/inbox"]
        uris = [redirect_uri(url, each.sign_in) for each in signers if each.sign_in]
        yield f"The redirect URI{'s' if len(uris) > 1 else ''} to register there:", uris
    elif link is not None:
        whose = "your inbox" if link.is_new else f"the inbox of {visible(link.person)}"
        new = f"You are an approver now, called {visible(link.person)}. " if link.is_new else ""
        within = spell(SIGN_IN_LINK_MS)
        yield f"{new}This link opens {whose}; it works once, within {within}:", [link.url]
        yield "Another link:", [signin]
    elif is_loopback(urlsplit(url).hostname or ""):
        same = "" if settings.store.embedded else ", with the same PLACET_ variables"
        yield f"Approvers' inbox: {url}/inbox. This prints a link that signs one of them in{same}:", [signin]
    else:
        missing = "that takes an OIDC issuer in the directory, with a table sign_in"
        yield f"Approvers' inbox: {url}/inbox. Nobody can sign in there yet: {missing}.", []


def _labels(signers: tuple[Issuer, ...]) -> str:
    return listed([visible(each.sign_in.label) for each in signers if each.sign_in], "or")


def _signin(settings: Settings, context: Context, link: Link | None) -> str:
    """The whole command that makes a link: it needs the files that this service has."""
    person = "ID" if link is None else shlex.quote(visible(link.person))
    files = {"--policy": settings.rules.policy_file, "--directory": settings.rules.directory_file}
    given = [f" {option} {shlex.quote(str(path.absolute()))}" for option, path in files.items() if path]
    return f"{placet()} signin {person}{''.join(given)}{named(settings, context.environ)}"
