"""The route table: every call of the API once. The transport, the OpenAPI document and the tests read it."""

import re
from collections.abc import Awaitable, Callable, Mapping

from msgspec import Struct

from placet.api import operations
from placet.api.call import Answer, Call
from placet.api.callbacks import CALLBACKS, Callback
from placet.api.queries import EventsQuery, ListQuery, NoQuery, ReadQuery
from placet.application import commands
from placet.domain.errors import MethodNotAllowed, RouteNotFound
from placet.domain.principals import Approver, Principal, Scope

Operation = Callable[[operations.UseCases, Call], Awaitable[Answer]]


class Route(Struct, frozen=True, kw_only=True):
    """One call.

    ``scopes`` are those of which a client needs one; ``approvers`` says whether people may call.
    ``conflicts`` are the codes it may answer with beside those that every call shares; ``streams`` says that
    its answer goes on for as long as somebody listens.
    """

    method: str
    path: str
    name: str
    summary: str
    operation: Operation
    scopes: frozenset[Scope]
    approvers: bool = False
    body: type[Struct] | None = None
    body_optional: bool = False
    query: type[Struct] = NoQuery
    statuses: tuple[int, ...] = (200,)
    conflicts: tuple[str, ...] = ()
    streams: bool = False

    @property
    def carries_token(self) -> bool:
        """Whether its body brings an approval token along."""
        return self.body is not None and "token" in self.body.__struct_fields__

    def admits(self, caller: Principal) -> bool:
        """Whether the caller's kind and scopes let it make this call at all."""
        if isinstance(caller, Approver):
            return self.approvers
        return bool(caller.scopes & self.scopes)


_READERS = frozenset(Scope)

ROUTES: tuple[Route, ...] = (
    Route(
        method="POST",
        path="/v1/approvals",
        name="create_approval",
        summary="Ask for approval",
        operation=operations.create,
        scopes=frozenset({Scope.REQUEST}),
        body=commands.Create,
        statuses=(201, 200),
        conflicts=(
            "APPROVAL_ALREADY_EXISTS",
            "INVOCATION_CONFLICT",
            "APPROVAL_UNSERIALIZABLE_INPUT",
        ),
    ),
    Route(
        method="GET",
        path="/v1/approvals",
        name="list_approvals",
        summary="List approvals, newest first",
        operation=operations.list_,
        scopes=_READERS,
        approvers=True,
        query=ListQuery,
    ),
    Route(
        method="GET",
        path="/v1/approvals/{id}",
        name="get_approval",
        summary="Read an approval, at once or when it leaves pending",
        operation=operations.read,
        scopes=_READERS,
        approvers=True,
        query=ReadQuery,
        conflicts=("APPROVAL_NOT_FOUND",),
    ),
    Route(
        method="GET",
        path="/v1/approvals/{id}/events",
        name="get_approval_events",
        summary="Read an approval's audit trail",
        operation=operations.trail,
        scopes=_READERS,
        approvers=True,
        conflicts=("APPROVAL_NOT_FOUND",),
    ),
    Route(
        method="POST",
        path="/v1/approvals/{id}/decision",
        name="decide_approval",
        summary="Approve or reject exactly what was shown",
        operation=operations.decide,
        scopes=frozenset({Scope.DECIDE_AS}),
        approvers=True,
        body=commands.Decide,
        conflicts=(
            "APPROVAL_NOT_FOUND",
            "APPROVAL_EXPIRED",
            "APPROVAL_CANCELLED",
            "APPROVAL_ALREADY_DECIDED",
            "APPROVAL_INPUT_MISMATCH",
            "APPROVAL_SELF_APPROVAL",
        ),
    ),
    Route(
        method="POST",
        path="/v1/decisions",
        name="decide_approvals",
        summary="Decide several, each by itself",
        operation=operations.decide_many,
        scopes=frozenset({Scope.DECIDE_AS}),
        approvers=True,
        body=commands.DecideMany,
        conflicts=("APPROVAL_UNSERIALIZABLE_INPUT",),
    ),
    Route(
        method="POST",
        path="/v1/approvals/{id}/cancel",
        name="cancel_approval",
        summary="Withdraw a question or an unused grant",
        operation=operations.cancel,
        scopes=frozenset({Scope.REQUEST, Scope.ADMIN}),
        body=commands.Cancel,
        body_optional=True,
        conflicts=(
            "APPROVAL_NOT_FOUND",
            "APPROVAL_REJECTED",
            "APPROVAL_EXPIRED",
            "APPROVAL_CONSUMED",
        ),
    ),
    Route(
        method="POST",
        path="/v1/runs/{run}/cancel",
        name="cancel_run",
        summary="Withdraw whatever a run still has open",
        operation=operations.cancel_run,
        scopes=frozenset({Scope.REQUEST, Scope.ADMIN}),
        body=commands.Cancel,
        body_optional=True,
    ),
    Route(
        method="POST",
        path="/v1/approvals/{id}/consume",
        name="consume_approval",
        summary="Spend a grant, once",
        operation=operations.consume,
        scopes=frozenset({Scope.CONSUME}),
        body=commands.Consume,
        conflicts=(
            "APPROVAL_NOT_FOUND",
            "APPROVAL_PENDING",
            "APPROVAL_REJECTED",
            "APPROVAL_EXPIRED",
            "APPROVAL_CANCELLED",
            "APPROVAL_CONSUMED",
            "APPROVAL_INPUT_MISMATCH",
            "APPROVAL_TOKEN_INVALID",
            "APPROVAL_UNSERIALIZABLE_INPUT",
        ),
    ),
    Route(
        method="POST",
        path="/v1/approvals/{id}/outcome",
        name="report_outcome",
        summary="Report how the execution ended",
        operation=operations.outcome,
        scopes=frozenset({Scope.CONSUME}),
        body=commands.ReportOutcome,
        conflicts=(
            "APPROVAL_NOT_FOUND",
            "APPROVAL_PENDING",
            "APPROVAL_REJECTED",
            "APPROVAL_EXPIRED",
            "APPROVAL_CANCELLED",
            "INVOCATION_CONFLICT",
        ),
    ),
    Route(
        method="GET",
        path="/v1/events",
        name="follow_events",
        summary="Follow what happens, as it happens",
        operation=operations.events,
        scopes=frozenset({Scope.READ, Scope.READ_INPUT, Scope.ADMIN}),
        approvers=True,
        query=EventsQuery,
        streams=True,
    ),
    Route(
        method="POST",
        path="/v1/tokens/introspect",
        name="introspect_token",
        summary="Say whether a token would be taken, without spending it",
        operation=operations.introspect,
        scopes=frozenset({Scope.CONSUME}),
        body=commands.Introspect,
        conflicts=("APPROVAL_UNSERIALIZABLE_INPUT",),
    ),
)


class Router:
    """Finds routes by path and method."""

    def __init__(self, routes: tuple[Route | Callback, ...] = (*ROUTES, *CALLBACKS)) -> None:
        self._plain: dict[str, dict[str, Route | Callback]] = {}
        self._patterns: list[tuple[re.Pattern[str], dict[str, Route | Callback]]] = []
        for route in routes:
            if "{" not in route.path:
                self._plain.setdefault(route.path, {})[route.method] = route
                continue
            # Any segment will do: an id that can't exist gets the same answer as one that does not.
            pattern = re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", route.path))
            known = next((by for known, by in self._patterns if known == pattern), None)
            if known is None:
                self._patterns.append((pattern, known := {}))
            known[route.method] = route

    def find(self, method: str, path: str) -> tuple[Route | Callback, Mapping[str, str]]:
        """The route and its path parameters; HEAD finds what GET does.

        Raises:
            RouteNotFound: No call has this path.
            MethodNotAllowed: None of its calls has this method.
        """
        parameters: Mapping[str, str] = {}
        methods = self._plain.get(path)
        if methods is None:
            for pattern, candidates in self._patterns:
                match = pattern.fullmatch(path)
                if match:
                    methods, parameters = candidates, match.groupdict()
                    break
            else:
                raise RouteNotFound
        route = methods.get("GET" if method == "HEAD" else method)
        if route is None:
            raise MethodNotAllowed([*methods, *(["HEAD"] if "GET" in methods else [])])
        return route, parameters
