"""What was asked so far, of what whoever has signed in may see."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
from litestar import Request, Response
from litestar.handlers import HTTPRouteHandler

from placet.application.commands import Capability, PersonId, Run
from placet.application.query import Filters, Listed
from placet.application.sessions import Session
from placet.domain.errors import InputInvalid
from placet.domain.model import Status
from placet.web import history_pages
from placet.web.common import Pages, get, page, signed_in

ROWS: Final = 25
"""Lines on one page."""
_FILTERS: Final[Mapping[str, tuple[Any, str]]] = {
    "status": (Status, "There is no such status."),
    "capability": (Capability, "A capability is given by its whole name, without spaces or *."),
    "actor_id": (PersonId, "No actor has such an id: it is too long."),
    "run": (Run, "No run has such an id."),
}
"""What it can be narrowed to: what each is, and what to say of anything else."""

SEARCH_MAX_CHARS: Final = 200
_TOO_LONG: Final = f"That is too long to search for: {SEARCH_MAX_CHARS} characters at most."
_SEARCH: Final = "q"
_NO_CURSOR: Final = "This address does not say where to go on. Start at the newest."
_NOTHING: Final = Listed(items=(), next_cursor=None)


def handlers(use: Pages) -> Sequence[HTTPRouteHandler]:
    """The routes."""

    @get("/history")
    async def history(request: Request) -> Response[bytes]:  # type: ignore[type-arg]
        said = {name: request.query_params.get(name, "") for name in (_SEARCH, *_FILTERS, "cursor")}

        async def shown(session: Session) -> Response[bytes]:
            return await _history(use, session, said)

        return await signed_in(use, request, shown)

    return [history]


async def _history(use: Pages, session: Session, said: Mapping[str, str]) -> Response[bytes]:
    values, cursor = {name: said[name] for name in (_SEARCH, *_FILTERS)}, said["cursor"]
    filters, problems = _read(values)
    if not problems:
        try:
            listed = await use.read.list(session.caller, filters, limit=ROWS, cursor=cursor or None)
            asked = history_pages.Asked(values=values, cursor=cursor, problems=())
            return page(history_pages.history(session, asked, listed, search_max=SEARCH_MAX_CHARS))
        except InputInvalid:
            problems = [_NO_CURSOR]
    asked = history_pages.Asked(values=values, cursor=cursor, problems=problems)
    return page(history_pages.history(session, asked, _NOTHING, search_max=SEARCH_MAX_CHARS), 422)


def _read(values: Mapping[str, str]) -> tuple[Filters, list[str]]:
    """The filters, and what is wrong with those that are none; an empty field asks for nothing."""
    found: dict[str, Any] = {}
    problems = []
    for name, (shape, words) in _FILTERS.items():
        if not values[name]:
            continue
        try:
            found[name] = msgspec.convert(values[name], shape)
        except msgspec.ValidationError:
            problems.append(words)
    if len(values[_SEARCH]) > SEARCH_MAX_CHARS:
        problems.append(_TOO_LONG)
    return Filters(**found, words=tuple(values[_SEARCH].split())), problems
