"""The composition root: the one place that names concrete classes together."""

import logging
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

from msgspec import Struct, structs

from placet.application.activation import Activation
from placet.application.audit import Audit
from placet.application.bridge_callbacks import BridgeCallbacks
from placet.application.cancel import CancelApproval
from placet.application.clock import Clock, SystemClock
from placet.application.code_flow import CodeFlow
from placet.application.consume import ConsumeApproval
from placet.application.decide import DecideApproval
from placet.application.decide_many import DecideMany
from placet.application.directory import Directory
from placet.application.dispatch import Dispatcher
from placet.application.enroll import Enrolment
from placet.application.feed import Feed
from placet.application.grants import Seals
from placet.application.in_force import InForce
from placet.application.inbox import Inbox
from placet.application.intents import Intents
from placet.application.issuer_calls import IssuerCalls
from placet.application.issuer_configurations import IssuerConfigurations
from placet.application.issuer_documents import IssuerDocuments
from placet.application.issuer_keys import IssuerKeys
from placet.application.issuers import Issuers
from placet.application.query import ReadApprovals
from placet.application.readiness import Readiness
from placet.application.report import ReportExecution
from placet.application.request import RequestApproval
from placet.application.reset import ResetClock
from placet.application.rights import Rights
from placet.application.rulebooks import Rulebooks, Source
from placet.application.sessions import WebSessions
from placet.application.sign_on import SignOn
from placet.application.slack_callback import SlackCallback
from placet.application.slack_cards import SlackCards
from placet.application.slack_clicks import SlackClicks
from placet.application.spread import Spreader
from placet.application.statistics import ReadStatistics
from placet.application.strangers import Strangers
from placet.application.sweep import Sweeper
from placet.application.waiters import Waiters
from placet.application.webhook_events import WebhookEvents
from placet.application.withdraw import WithdrawOpen
from placet.channels.slack.api import SlackApi
from placet.channels.trust import Trust
from placet.channels.webhooks.addresses import networks_of
from placet.channels.webhooks.lookup import Lookup
from placet.channels.webhooks.sending import WebhookSender
from placet.domain.deliveries import SLACK, WEBHOOK
from placet.observability.metrics import Metrics
from placet.settings import Settings
from placet.settings.rule_files import RulesAt
from placet.store.callbacks import Callbacks
from placet.store.embedded import EmbeddedServer
from placet.store.opened import Store, open_store
from placet.store.past import Past
from placet.store.sessions import Sessions
from placet.store.stream import Transition
from placet.tokens.keyring import KeyringError
from placet.tokens.keyring_file import KeyringFile, load_or_create

KEYRING_NAME = "keyring.json"

_log = logging.getLogger(__name__)
_REPORTED = {"store.down": logging.WARNING, "store.lost": logging.ERROR, "store.up": logging.DEBUG}

OpenStore = Callable[[Callable[[Transition], None]], Store]
"""Opens a store that tells of every transition it hears; tests bring their own."""


class Services(Struct, frozen=True, kw_only=True):
    """Everything a running service is made of.

    ``store.stream`` and ``sweeper`` are started and stopped apart from the application, so that a test
    or another runner can drive every part with its own clock. ``embedded`` is the store's server where it
    is our own: whoever runs the service ends it when that is lost.
    """

    settings: Settings
    embedded: EmbeddedServer | None
    store: Store
    ring: KeyringFile
    directory: Directory
    issuers: Issuers
    configurations: IssuerConfigurations
    enrolment: Enrolment
    activation: Activation
    request: RequestApproval
    read: ReadApprovals
    decide: DecideApproval
    decide_many: DecideMany
    cancel: CancelApproval
    withdraw: WithdrawOpen
    audit: Audit
    reset_clock: ResetClock
    consume: ConsumeApproval
    report: ReportExecution
    readiness: Readiness
    waiters: Waiters
    feed: Feed
    sessions: WebSessions
    intents: Intents
    sign_on: SignOn
    inbox: Inbox
    statistics: ReadStatistics
    sweeper: Sweeper
    spreader: Spreader
    dispatcher: Dispatcher
    slack: SlackApi
    slack_callback: SlackCallback
    webhooks: WebhookEvents
    bridges: BridgeCallbacks
    metrics: Metrics
    clock: Clock
    exits: AsyncExitStack

    async def close(self) -> None:
        """Stop everything that was opened, in the reverse order."""
        await self.exits.aclose()


async def open_services(
    settings: Settings,
    *,
    clock: Clock | None = None,
    store: OpenStore | None = None,
    rules: Source | None = None,
) -> Services:
    """Open everything; nothing runs by itself yet.

    Args:
        settings: What the operator wants.
        clock: A test's own. The store then judges by it too.
        store: A test's own store.
        rules: A test's own rules, in place of files.

    Raises:
        EmbeddedError: The embedded store can't be started; the message says what to do.
        StoreRefused: The server can't be reached, or is not fit to keep approvals.
        KeyringError: The keyring can't be used.
    """
    async with AsyncExitStack() as exits:
        metrics = Metrics()
        timers = clock or SystemClock()
        waiters = Waiters(metrics.waiter_joined, metrics.waiter_left)
        services: Services | None = None

        def heard(transition: Transition) -> None:
            metrics.transition(transition.type)
            metrics.stream_lag(timers.now_ms() - transition.entry_ms)
            waiters.wake(transition.tenant, transition.approval_id)
            if services is not None:
                services.feed.heard(transition)

        now_ms = None if clock is None else clock.now_ms
        embedded = None
        if store is not None:
            opened = store(heard)
        else:
            if settings.store.embedded:
                embedded = await EmbeddedServer.start(
                    settings.store.data_dir, url_hint=settings.server.public_url, report=_report
                )
                exits.push_async_callback(embedded.stop)
            opened = await open_store(
                settings.store,
                settings.limits,
                socket_path=None if embedded is None else embedded.socket_path,
                clock=now_ms,
                heard=heard,
                observe=metrics.store_batch,
            )
        exits.push_async_callback(opened.close)
        files = RulesAt(settings.rules.policy_file, settings.rules.directory_file, settings.limits)
        lookup = Lookup()
        exits.callback(lookup.close)
        if settings.keys.keyring_file is None:
            path = settings.store.data_dir / KEYRING_NAME
            _begin_keyring(path, timers, is_used=await opened.registry.has_keyring())
        services = _compose(settings, opened, timers, metrics, waiters, rules or files, lookup)
        exits.push_async_callback(services.issuers.close)
        exits.push_async_callback(services.configurations.close)
        exits.push_async_callback(services.sweeper.stop)
        exits.callback(services.slack.close)
        exits.push_async_callback(services.slack_callback.close)
        exits.push_async_callback(services.dispatcher.stop)
        exits.push_async_callback(services.spreader.stop)
        return structs.replace(services, embedded=embedded, exits=exits.pop_all())


def _begin_keyring(path: Path, clock: Clock, *, is_used: bool) -> None:
    """Make the first keyring of a store, and no other.

    Raises:
        KeyringError: It is gone, and what the store has is sealed with it; or it can't be made.
    """
    if is_used and not path.exists():
        raise KeyringError(f"{path} is missing, and what the store there has is sealed with it: put it back")
    load_or_create(path, clock.now_ms())


def _compose(
    settings: Settings,
    store: Store,
    clock: Clock,
    metrics: Metrics,
    waiters: Waiters,
    rules: Source,
    lookup: Lookup,
) -> Services:
    path = settings.keys.keyring_file
    if path is None:
        path = settings.store.data_dir / KEYRING_NAME
    ring = KeyringFile(path)
    seals, rights = Seals(ring), Rights()
    issuer, limits, approvals = settings.server.public_url, settings.limits, store.approvals
    strangers = Strangers(clock, store.registry.tenants, metrics.failed_authentication)
    calls = IssuerCalls()
    documents = IssuerDocuments(calls)
    configurations = IssuerConfigurations(clock, documents.configuration)
    issuers = Issuers(IssuerKeys(clock, documents.keys), clock, limits)
    rulebooks, in_force = Rulebooks(rules), InForce(store.registry, ring)
    directory = Directory(
        store.principals,
        ring,
        strangers,
        changed=lambda: _take_up(ring),
        rulebooks=rulebooks,
        issuers=issuers,
    )
    allowed = networks_of(settings.webhooks.allow)
    enrolment = Enrolment(store.principals, store.registry, directory, ring, in_force, clock, allowed)
    sender = WebhookSender(allowed=allowed, trust=Trust(), find=lookup, now_ms=clock.now_ms)
    webhooks = WebhookEvents(sender, ring, clock, limits)
    activation = Activation(rulebooks, in_force, store.registry, directory, enrolment)
    decide = DecideApproval(approvals, seals, limits, decided=metrics.decision)
    sweeper = Sweeper(
        approvals, directory, store.registry.tenants, limits, clock, pending=metrics.live_pending
    )
    slack = SlackApi()
    dispatcher = Dispatcher(
        store.deliveries,
        seals,
        directory,
        store.registry.tenants,
        {SLACK: SlackCards(slack, ring, issuer), WEBHOOK: webhooks},
        clock,
        came_of=metrics.delivery,
        standing=metrics.deliveries,
    )
    spreader = Spreader(
        store.outbox,
        store.deliveries,
        approvals,
        seals,
        directory,
        store.registry.tenants,
        clock,
        woken=dispatcher.wake,
    )
    return Services(
        settings=settings,
        embedded=None,
        store=store,
        ring=ring,
        directory=directory,
        issuers=issuers,
        configurations=configurations,
        enrolment=enrolment,
        activation=activation,
        request=RequestApproval(approvals, seals, limits),
        read=ReadApprovals(approvals, seals, rights, ring, issuer, waiters, store.stream, clock),
        decide=decide,
        decide_many=DecideMany(decide, refused=metrics.refusal),
        cancel=CancelApproval(approvals, seals),
        withdraw=WithdrawOpen(approvals, directory),
        audit=Audit(approvals, seals),
        reset_clock=ResetClock(store.clocks),
        consume=ConsumeApproval(approvals, rights, seals, ring, issuer),
        report=ReportExecution(approvals, seals, limits),
        readiness=Readiness(store, ring, issuer, activation),
        waiters=waiters,
        feed=Feed(
            approvals,
            seals,
            store.stream,
            Past(store.client),
            clock,
            limits,
            joined=metrics.follower_joined,
            left=metrics.follower_left,
        ),
        sessions=WebSessions(Sessions(store.client), ring, directory, clock, limits),
        intents=Intents(Sessions(store.client), ring),
        sign_on=SignOn(CodeFlow(calls, configurations), issuers, clock, limits),
        inbox=Inbox(approvals, seals),
        statistics=ReadStatistics(approvals, seals, directory, limits, clock),
        sweeper=sweeper,
        spreader=spreader,
        dispatcher=dispatcher,
        slack=slack,
        slack_callback=SlackCallback(
            directory,
            SlackClicks(approvals, seals, directory, decide, ring, refused=metrics.refusal),
            slack,
            clock,
            failed=metrics.failed_authentication,
        ),
        webhooks=webhooks,
        bridges=BridgeCallbacks(directory, ring, Callbacks(store.client), clock),
        metrics=metrics,
        clock=clock,
        exits=AsyncExitStack(),
    )


def _take_up(ring: KeyringFile) -> None:
    """Read the keyring again where it has changed. One that can't be read makes the replica unready."""
    try:
        ring.refresh()
    except KeyringError as fault:
        _log.error("the keyring can't be taken up", extra={"fault": str(fault)})


def _report(event: str, /, **facts: object) -> None:
    """Log what the embedded store tells of itself."""
    _log.log(_REPORTED.get(event, logging.INFO), event, extra=facts)
