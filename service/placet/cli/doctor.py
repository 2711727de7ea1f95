"""``placet doctor``: look at all that a service needs, and say what to do about each.

It makes nothing, and changes nothing unless ``--reset-clock`` says what. A store that does not run is
started for the look, as for any other command, but only where there is one already.
"""

import argparse
import asyncio
import ssl
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

import httpx

from placet.application import reset
from placet.application.clock import SystemClock
from placet.application.readiness import two_issuers
from placet.bootstrap import KEYRING_NAME, Services
from placet.cli import clock, rule_findings, sign_in_findings
from placet.cli.console import Ink, Terminal
from placet.cli.context import Context
from placet.cli.exits import Exit, Stop
from placet.cli.layout import sentence, wrap
from placet.cli.opened import is_missing, open_socket, opening, settings_of, telling_faults
from placet.domain.authority import Rulebook
from placet.domain.durations import duration
from placet.domain.errors import StoreUnavailable
from placet.domain.text import visible
from placet.settings import Settings, SettingsError
from placet.store.binary import find_binary
from placet.store.connection import Finding, Level
from placet.store.embedded_errors import EmbeddedError
from placet.store.opened import inspect
from placet.store.ownership import owner_of
from placet.tokens import keyring_file
from placet.tokens.keyring import Keyring, KeyringError

_SUBJECT_COLUMNS: Final = 15
_MARKS: Mapping[Level, Ink] = MappingProxyType(
    {Level.GOOD: Ink.GREEN, Level.WARN: Ink.YELLOW, Level.FAIL: Ink.RED}
)


def run(args: argparse.Namespace, context: Context) -> int:
    """Look at everything; the exit status says whether anything failed.

    Raises:
        Stop: What only goes with ``--reset-clock`` was asked for without it.
    """
    if args.reset_clock:
        return clock.reset(args, context)
    if args.yes or args.tenant is not None:
        raise Stop("--tenant and --yes only go with --reset-clock.", Exit.USAGE)
    try:
        settings = settings_of(args, context)
    except SettingsError as error:
        findings = [_finding(Level.FAIL, "configuration", problem) for problem in error.problems]
    else:
        findings = [*_configuration(settings), *asyncio.run(_everything(settings, context))]
    failed = sum(finding.level is Level.FAIL for finding in findings)
    document = {
        "ok": not failed,
        "checks": [
            {"subject": each.subject, "level": each.level.value, "text": each.text} for each in findings
        ],
    }
    lines = [line for finding in findings for line in _lines(finding, context.console.out)]
    warned = sum(finding.level is Level.WARN for finding in findings)
    last = "Nothing stands in the way."
    if warned:
        deserve = "deserves" if warned == 1 else "deserve"
        last = f"Nothing stands in the way; {warned} of {len(findings)} {deserve} a look."
    if failed:
        last = f"{failed} of {len(findings)} failed."
    context.console.result(document, *lines, "", last)
    return Exit.FAILED if failed else Exit.OK


def _finding(level: Level, subject: str, text: str) -> Finding:
    return Finding(level=level, subject=subject, text=sentence(text))


def _lines(finding: Finding, out: Terminal) -> Iterator[str]:
    subject = out.paint(finding.subject.ljust(_SUBJECT_COLUMNS), Ink.BOLD)
    first, *others = wrap(visible(finding.text), out.width - _SUBJECT_COLUMNS - 2)
    yield f"{out.mark(_MARKS[finding.level])} {subject}{first}"
    for line in others:
        yield " " * (_SUBJECT_COLUMNS + 2) + line


def _configuration(settings: Settings) -> Iterator[Finding]:
    server = settings.server
    where = f"{server.host} port {server.port}"
    text = (
        f"A service started now listens on {where}, is reached at {server.public_url} ({server.environment})."
    )
    yield _finding(Level.GOOD, "configuration", text)
    if server.tls_cert_file is None or server.tls_key_file is None:
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(server.tls_cert_file, server.tls_key_file)
    except OSError as fault:  # ssl.SSLError is one
        text = f"PLACET_TLS_CERT_FILE and _KEY_FILE can't be used ({fault}): give a PEM chain and its key."
        yield _finding(Level.FAIL, "tls", text)
    else:
        yield _finding(Level.GOOD, "tls", "Certificate and key can be read, and fit.")


async def _everything(settings: Settings, context: Context) -> list[Finding]:
    findings = [*_embedded(settings)] if settings.store.embedded else []
    usable = all(each.level is not Level.FAIL for each in findings)
    ring = _read_ring(settings, findings)
    rulebook = rule_findings.of_files(settings, findings)
    if usable and is_missing(settings):
        text = "Not there yet: `placet serve` makes it when it first starts."
        findings.append(_finding(Level.GOOD, "store", text))
    elif usable:
        await _store(settings, context, ring, rulebook, findings)
    url = _served_at(settings) if settings.store.embedded else None
    if rulebook is not None:
        with context.console.slowly("Asking the issuers …"):
            findings += await sign_in_findings.of_issuers(rulebook, url or settings.server.public_url)
    if url is not None:
        findings.append(await _service(url))
    return findings


def _embedded(settings: Settings) -> Iterator[Finding]:
    data_dir = settings.store.data_dir
    try:
        binary = find_binary()
        owner = owner_of(data_dir)
    except EmbeddedError as fault:
        yield _finding(Level.FAIL, "data directory", str(fault))
        return
    yield _finding(Level.GOOD, "server", f"The embedded Valkey is installed ({binary.name}).")
    state = f"used by {owner}" if owner else "not in use" if data_dir.exists() else "to be made"
    yield _finding(Level.GOOD, "data directory", f"{data_dir.absolute()}, {state}.")


def _served_at(settings: Settings) -> str | None:
    try:
        owner = owner_of(settings.store.data_dir)
    except EmbeddedError:
        return None
    return None if owner is None or owner.passing else owner.url


def _read_ring(settings: Settings, findings: list[Finding]) -> Keyring | None:
    path: Path = settings.keys.keyring_file or settings.store.data_dir / KEYRING_NAME
    try:
        ring = keyring_file.load(path)
    except KeyringError as fault:
        to_be_made = isinstance(fault, keyring_file.KeyringMissingError) or not path.parent.exists()
        if to_be_made and settings.keys.keyring_file is None:
            findings.append(_finding(Level.GOOD, "keys", "`placet serve` makes them when it first starts."))
        else:
            hint = ": `placet keys create` makes it" if to_be_made else ""
            findings.append(_finding(Level.FAIL, "keys", f"{str(fault).rstrip('.')}{hint}."))
        return None
    age = duration(SystemClock().now_ms() - ring.active.published_at_ms)
    text = f"Generation {ring.generation}; key {ring.active.kid} signs, published {age} ago ({path})."
    findings.append(_finding(Level.GOOD, "keys", text))
    return ring


async def _store(
    settings: Settings,
    context: Context,
    ring: Keyring | None,
    rulebook: Rulebook | None,
    findings: list[Finding],
) -> None:
    try:
        with telling_faults():
            async with open_socket(settings) as socket_path:
                found = (await inspect(settings.store, socket_path))[1]
        findings += found
        if ring is None or any(each.level is Level.FAIL for each in found):
            return
        async with opening(settings, context.console) as services:
            faults = await services.readiness.faults()
            findings += [_finding(Level.FAIL, "seals", fault) for fault in faults]
            if not faults:
                text = "The keyring is the one that the store's votes are sealed with."
                findings.append(_finding(Level.GOOD, "seals", text))
            if not settings.store.embedded:
                findings.append(await _issuer(services))
            if rulebook is not None and not faults:
                await rule_findings.in_force(services, rulebook, findings)
                await rule_findings.names(services, rulebook, findings)
            findings.append(await _clock(services))
    except (Stop, KeyringError, StoreUnavailable) as fault:
        findings.append(_finding(Level.FAIL, "store", str(fault)))


async def _issuer(services: Services) -> Finding:
    """Compare the name that tokens are issued under with that of a service started now."""
    ours = services.settings.server.public_url
    theirs = await services.store.registry.issuer()
    if theirs is None:
        text = f"No service runs on this store; one started now issues tokens under {ours}."
        return _finding(Level.GOOD, "issuer", text)
    if theirs != ours:
        return _finding(Level.FAIL, "issuer", two_issuers(theirs, ours))
    return _finding(Level.GOOD, "issuer", f"Services on this store issue tokens under {ours}.")


async def _clock(services: Services) -> Finding:
    """Compare this machine's clock, the store's, and the latest moment each tenant was judged by."""
    late = await services.reset_clock.late(await services.store.registry.tenants())
    if late:
        return _finding(Level.FAIL, "clock", reset.sentence(late))
    _, skew_ms = await clock.store_clock(services)
    if skew_ms > clock.SKEW_MAX_MS:
        text = f"This machine's clock and the store's differ by {duration(skew_ms)}: mend their NTP."
        return _finding(Level.WARN, "clock", text)
    return _finding(Level.GOOD, "clock", f"The store's and this machine's differ by {skew_ms} ms.")


async def _service(url: str) -> Finding:
    try:
        async with httpx.AsyncClient(base_url=url, timeout=5.0, trust_env=False) as client:
            answer = await client.get("/readyz")
            faults = answer.json()["faults"]
    except (httpx.HTTPError, ValueError, KeyError, TypeError) as fault:
        text = f"{url} does not answer from here ({type(fault).__name__}): see that it should."
        return _finding(Level.WARN, "service", text)
    if faults:
        return _finding(Level.FAIL, "service", f"{url} is not ready. {' '.join(map(str, faults))}")
    return _finding(Level.GOOD, "service", f"{url} is ready.")
