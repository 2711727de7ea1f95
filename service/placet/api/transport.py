"""From an ASGI request to an answer: one pass in the order of judgement, the same for every call.

Credential 401, media type 415, size 413, JSON 400, scope 403, body 422; the rest is the use case's.
Knows nothing of Litestar, so that another server could carry it.
"""

import logging
from collections.abc import Mapping, MutableMapping
from functools import partial
from time import perf_counter
from typing import Any

from placet.api import bodies, queries
from placet.api.bodies import HungUp, Receive
from placet.api.call import Answer, Call, problem
from placet.api.callbacks import Arrival, Callback
from placet.api.hosts import Hosts
from placet.api.operations import UseCases
from placet.api.routes import Route, Router
from placet.api.streaming import Send, gone, headers_of, streamed
from placet.application.callers import Caller
from placet.application.clock import Clock
from placet.application.directory import Directory
from placet.domain.admission import Fault
from placet.domain.error_terms import ForbiddenReason
from placet.domain.errors import (
    ApprovalUnserializableInput,
    Forbidden,
    InputInvalid,
    InputTooLarge,
    InternalError,
    PlacetError,
    StoreUnavailable,
    Unauthenticated,
    UnsupportedMediaType,
)
from placet.domain.limits import JUDGED_MAX
from placet.observability.context import bound_request_id
from placet.observability.metrics import Metrics
from placet.store.approvals import Rejudge

Scope = MutableMapping[str, Any]

_BEARER = "bearer "
_SERVER_FAULT = 500
_UNASKED = (ApprovalUnserializableInput, Forbidden, InputInvalid, InputTooLarge, UnsupportedMediaType)
"""Refusals that may come before any script was told the caller's epoch: credentials and rules may be others
by now, and whether the credential counts comes before all else."""

_log = logging.getLogger("placet.api")


class Transport:
    """The API as an ASGI application.

    Args:
        use: The use cases.
        directory: Authenticates callers.
        clock: For how long a caller waits.
        metrics: Counts requests and refusals.
        hosts: The names that are ours.
    """

    def __init__(
        self,
        use: UseCases,
        directory: Directory,
        clock: Clock,
        metrics: Metrics,
        hosts: Hosts,
    ) -> None:
        self._use = use
        self._directory = directory
        self._clock = clock
        self._metrics = metrics
        self._router = Router()
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        began = perf_counter()
        headers: dict[bytes, str] = {}
        for name, value in scope["headers"]:
            # Given twice, nobody can tell which one was meant: what is left is refused everywhere.
            headers[name] = "" if name in headers else value.decode("latin-1")
        with bound_request_id(headers.get(b"x-request-id")) as request_id:
            name, head = "none", scope["method"] == "HEAD"
            try:
                route, parameters = self._find(scope, headers.get(b"host"))
                name = route.name
                if isinstance(route, Route):
                    answer = await self._serve(route, parameters, scope, headers, receive)
                else:
                    answer = await self._take(route, parameters, scope, headers, receive)
            except HungUp:
                return
            except PlacetError as error:
                answer = problem(error)
            except Exception:  # noqa: BLE001 - whatever it is, the caller gets an answer and the log the rest
                _log.exception("a call failed in a way nobody foresaw", extra={"route": name})
                answer = problem(InternalError())
            if answer.stream is not None:
                answer = await streamed(receive, send, answer, answer.stream, request_id, head=head)
            else:
                await _send(send, answer, request_id, head=head)
            self._metrics.request(name, answer.status, answer.code, perf_counter() - began)
            if answer.status >= _SERVER_FAULT:
                _log.error("call failed", extra={"route": name, "status": answer.status, "code": answer.code})
            elif _log.isEnabledFor(logging.DEBUG):
                _log.debug("call", extra={"route": name, "status": answer.status, "code": answer.code})

    def _find(self, scope: Scope, host: str | None) -> tuple[Route | Callback, Mapping[str, str]]:
        self._hosts.check(host)
        return self._router.find(scope["method"], scope["path"])

    async def _take(
        self,
        route: Callback,
        parameters: Mapping[str, str],
        scope: Scope,
        headers: Mapping[bytes, str],
        receive: Receive,
    ) -> Answer:
        arrival = Arrival(
            path=parameters,
            header=headers.get,
            receive=receive,
            began_s=self._clock.monotonic_s(),
            address=_address(scope),
        )
        return await route.take(self._use, arrival)

    async def _serve(
        self,
        route: Route,
        parameters: Mapping[str, str],
        scope: Scope,
        headers: Mapping[bytes, str],
        receive: Receive,
    ) -> Answer:
        authenticate = partial(self._directory.authenticate, _credential(headers), _address(scope))
        caller = await authenticate()
        try:
            admitted, fault = await self._body(route, headers, receive)
        except _UNASKED:
            if not await self._still_counts(caller):
                await authenticate()
            raise

        async def rejudged() -> Caller:
            self._directory.forget(caller.tenant)
            return _admitted(route, await authenticate())

        async def renewed() -> Caller:
            again = _admitted(route, await authenticate())
            return again if await self._still_counts(again) else await rejudged()

        began_s = self._clock.monotonic_s()
        for _ in range(JUDGED_MAX):
            try:
                call = Call(
                    caller=_admitted(route, caller),
                    path=parameters,
                    query=queries.parse(scope["query_string"], route.query, self._use.limits),
                    body=None if route.body is None else bodies.convert(admitted, fault, route.body),
                    admitted=admitted,
                    header=headers.get,
                    began_s=began_s,
                    gone=partial(gone, receive),
                    rejudged=rejudged,
                    renewed=renewed,
                )
                return await route.operation(self._use, call)
            except Rejudge:
                caller = await rejudged()
            except _UNASKED:
                if await self._still_counts(caller):
                    raise
                caller = await rejudged()
        raise StoreUnavailable

    async def _body(
        self, route: Route, headers: Mapping[bytes, str], receive: Receive
    ) -> tuple[Any, Fault | None]:
        """The body as admitted, with the fault that its members are refused for later, if there is one."""
        if route.body is None:
            return None, None
        limits = self._use.limits
        most_bytes = limits.max_body_bytes + (bodies.TOKEN_ROOM_BYTES if route.carries_token else 0)
        raw = await bodies.read(receive, headers.get, most_bytes, optional=route.body_optional)
        return ({}, None) if route.body_optional and not raw else bodies.parse(raw, limits, route.body)

    async def _still_counts(self, caller: Caller) -> bool:
        """Whether a refusal stands that no script was told of: the caller is judged by what is true today."""
        try:
            await self._directory.confirm(caller)
        except Rejudge:
            self._directory.forget(caller.tenant)
            return False
        return True


def _admitted(route: Route, caller: Caller) -> Caller:
    if not route.admits(caller.principal):
        raise Forbidden(ForbiddenReason.SCOPE, scopes=route.scopes)
    return caller


def _address(scope: Scope) -> str:
    """Where a request comes from: what a declared proxy says, where there is one."""
    client = scope.get("client")
    return str(client[0]) if client else ""


def _credential(headers: Mapping[bytes, str]) -> str:
    """The bearer credential (RFC 6750 §2.1); never a cookie, never the query."""
    authorization = headers.get(b"authorization")
    if authorization is None or authorization[: len(_BEARER)].lower() != _BEARER:
        raise Unauthenticated
    return authorization[len(_BEARER) :]


async def _send(send: Send, answer: Answer, request_id: str, *, head: bool) -> None:
    headers = headers_of(answer, request_id)
    headers.append((b"content-length", str(len(answer.body)).encode()))
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if head else answer.body})
