"""What all pages do: who has signed in, whether a form is ours, how an answer looks."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Final
from urllib.parse import parse_qsl, quote, urlsplit

from litestar import HttpMethod, Request, Response, route
from msgspec import Struct

from placet.application.decide import DecideApproval
from placet.application.directory import Directory
from placet.application.feed import Feed
from placet.application.inbox import Inbox
from placet.application.intents import Intents
from placet.application.query import ReadApprovals
from placet.application.sessions import Session, WebSessions
from placet.application.sign_on import SignOn
from placet.application.statistics import ReadStatistics
from placet.domain.errors import (
    InternalError,
    MethodNotAllowed,
    PlacetError,
    StoreUnavailable,
    Unauthenticated,
)
from placet.domain.limits import BODY_TIMEOUT_S, ID_PATTERN, JUDGED_MAX, Limits
from placet.observability.context import request_id
from placet.store.approvals import Rejudge
from placet.tokens.keyring_file import KeyringFile
from placet.web import pages
from placet.web.pace import RecentApprovals
from placet.web.security import HEADERS, Origin, same
from placet.web.words import title_of, words_of

_HTML: Final = "text/html"
_FORM: Final = "application/x-www-form-urlencoded"
FORM_MAX_BYTES: Final = 64 * 1024
"""The largest form, but for one that carries an input."""
DIGEST: Final = re.compile("[0-9a-f]{64}")
_FIELDS_MAX: Final = 128
_NEXT: Final = re.compile(
    rf"/(?:inbox|history|statistics|next|a/{ID_PATTERN}(?:/edit)?)(?:\?[\w=&%.+:~-]{{0,500}})?", re.ASCII
)
_PLAIN_PATH: Final = re.compile(r"/[a-z]+(?:/[\w.:-]+)*", re.ASCII)
_FOR_PROGRAMS: Final = ("/v1", "/.well-known", "/openapi.json", "/healthz", "/readyz", "/metrics")
_NOT_AT_ALL: Final = re.compile(r"q=0(?:\.0{0,3})?")


class Pages(Struct, frozen=True, kw_only=True):
    """What the pages are made with."""

    sessions: WebSessions
    directory: Directory
    inbox: Inbox
    feed: Feed
    intents: Intents
    sign_on: SignOn
    read: ReadApprovals
    statistics: ReadStatistics
    decide: DecideApproval
    ring: KeyringFile
    limits: Limits
    origin: Origin
    recent: RecentApprovals


class Refused(Exception):  # noqa: N818 - answered by the page that it carries
    """Nothing is done; here is what to say."""

    def __init__(self, answer: Response[bytes]) -> None:
        super().__init__()
        self.answer = answer


Page = Callable[[Session], Awaitable[Response[Any]]]

get = partial(route, http_method=(HttpMethod.GET, HttpMethod.HEAD))
post = partial(route, http_method=HttpMethod.POST, status_code=200)


async def signed_in(
    use: Pages,
    request: Request,  # type: ignore[type-arg]
    shown: Page,
    *,
    is_used: bool = True,
) -> Response[Any]:
    """A page for whoever has signed in; others sign in first, and come back to it."""
    session = None
    try:
        for _ in range(JUDGED_MAX):
            session = await use.sessions.find(_held(use, request), is_used=is_used)
            try:
                return await shown(session)
            except Rejudge:
                use.directory.forget(session.caller.tenant)
        raise StoreUnavailable
    except Unauthenticated:
        return _first_signed_in(use, request)
    except PlacetError as error:
        return trouble(request, error, session)


def _first_signed_in(use: Pages, request: Request) -> Response[bytes]:  # type: ignore[type-arg]
    """Where nobody has signed in: the page to do that on, and from there back."""
    query = request.url.query if _is_looking(request) else ""
    onward = request.url.path + (f"?{query}" if query else "")
    if _is_looking(request):
        return go_on(f"/signin?next={quote(onward)}" if _NEXT.fullmatch(onward) else "/signin")
    words = "Nothing was done: you are signed in no more. Sign in, and do it again."
    return page(pages.sign_in(safe_next(onward), use.directory.sign_ins, words), 401)


async def changing(
    use: Pages,
    request: Request,  # type: ignore[type-arg]
    done: Page,
    fields: dict[str, str] | None = None,
) -> Response[bytes]:
    """The same, of what changes something."""
    form = await form_of(use, request) if fields is None else fields

    async def checked(session: Session) -> Response[bytes]:
        if not same(form.get("csrf", ""), session.csrf):
            return notice("Nothing was done", "The page was of another sign-in: open it again.", 403)
        return await done(session)

    return await signed_in(use, request, checked)


async def form_of(
    use: Pages,
    request: Request,  # type: ignore[type-arg]
    most_bytes: int = FORM_MAX_BYTES,
) -> dict[str, str]:
    """The fields of a form of ours.

    Raises:
        Refused: It is of another origin, too large, or no form.
    """
    if not use.origin.sent_it(request.headers.get("origin"), request.headers.get("sec-fetch-site")):
        words = f"This has to come from a page of this service, under {use.origin.public}."
        raise Refused(notice("Nothing was done", words, 403))
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
        raise Refused(notice("Nothing was done", "This takes a form.", 415))
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_TIMEOUT_S):
            async for chunk in request.stream():
                body += chunk
                if len(body) > most_bytes:
                    raise Refused(notice("Nothing was done", "That was too much text.", 413))
    except TimeoutError:
        raise Refused(notice("Nothing was done", "The form did not arrive in time.", 408)) from None
    try:
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_FIELDS_MAX
        )
    except ValueError:
        raise Refused(notice("Nothing was done", "The form can't be read.", 422)) from None
    return dict(pairs)


def _held(use: Pages, request: Request) -> str:  # type: ignore[type-arg]
    """What the browser holds of its session."""
    if not is_private(use, request):
        raise Unauthenticated  # a cookie that others on the way could have read
    found = cookies_of(request, use.origin.cookie)
    if len(found) != 1:
        raise Unauthenticated
    return found[0]


async def session_of(use: Pages, request: Request) -> Session | None:  # type: ignore[type-arg]
    """The session of a browser, where it has one; looking is no use of it."""
    try:
        return await use.sessions.find(_held(use, request), is_used=False)
    except PlacetError:
        return None


def is_here(use: Pages, request: Request) -> bool:  # type: ignore[type-arg]
    """Whether a request comes from a browser on this very machine, as far as it can tell."""
    return use.origin.is_here(request.url.hostname, request.headers.keys())


def is_private(use: Pages, request: Request) -> bool:  # type: ignore[type-arg]
    """Whether nobody on the way can read along: over https, or on this very machine."""
    return use.origin.is_secure or is_here(use, request)


def address_of(request: Request) -> str:  # type: ignore[type-arg]
    """Where a request comes from, as far as that is known."""
    return request.client.host if request.client else ""


def came_from(use: Pages, request: Request) -> str:  # type: ignore[type-arg]
    """The page of ours that a form was sent from; empty where it does not say."""
    sent = urlsplit(request.headers.get("referer", ""))
    is_ours = f"{sent.scheme}://{sent.netloc}" == use.origin.public
    return f"{sent.path}{f'?{sent.query}' if sent.query else ''}" if is_ours else ""


def cookies_of(request: Request, name: str) -> Sequence[str]:  # type: ignore[type-arg]
    """What a browser sent under a name; given twice, nobody can tell which is meant."""
    sent = request.headers.getall("cookie", [])
    return [value for header in sent for known, value in _cookies(header) if known == name]


def _cookies(header: str) -> Sequence[tuple[str, str]]:
    return [
        (name.strip(), value.strip().strip('"'))
        for name, _, value in (part.partition("=") for part in header.split(";"))
    ]


def safe_next(path: str) -> str:
    """Where to go on: a page of ours, never another place."""
    return path if _NEXT.fullmatch(path) else "/inbox"


def page(body: bytes, status: int = 200) -> Response[bytes]:
    """A page."""
    return Response(body, status_code=status, media_type=_HTML, headers=dict(HEADERS))


def notice(title: str, words: str, status: int, session: Session | None = None) -> Response[bytes]:
    """A page that says one thing."""
    return page(pages.notice(title, words, session), status)


def go_on(path: str) -> Response[bytes]:
    """Go on to another page, with GET (RFC 9110 §15.4.4)."""
    return Response(b"", status_code=303, headers={**HEADERS, "location": path})


def wants_page(request: Request) -> bool:  # type: ignore[type-arg]
    """Whether a person asks: for HTML by its name (RFC 9110 §12.5.1), and not where only programs do."""
    path = request.scope["path"]
    if any(path == each or path.startswith(f"{each}/") for each in _FOR_PROGRAMS):
        return False
    asked = ",".join(request.headers.getall("accept", [])).lower().split(",")
    for kind, *parameters in ([part.strip() for part in each.split(";")] for each in asked):
        if kind == _HTML:
            return not any(map(_NOT_AT_ALL.fullmatch, parameters))
    return False


def trouble(
    request: Request,  # type: ignore[type-arg]
    error: PlacetError,
    session: Session | None = None,
) -> Response[bytes]:
    """A page that says why not, and what can be done about it."""
    body = pages.notice(
        title_of(error),
        words_of(error, was_sent=not _is_looking(request)),
        session,
        again=_again(request) if error.retryable else None,
        trace=request_id() if isinstance(error, InternalError) else None,
    )
    answer = page(body, error.status)
    if isinstance(error, MethodNotAllowed):
        answer.headers["allow"] = ", ".join(error.allow)
    if (wait_s := error.retry_after_s()) is not None:
        answer.headers["retry-after"] = str(wait_s)
    return answer


def _again(request: Request) -> str:  # type: ignore[type-arg]
    """Where to look again: the page itself, or that from which something was sent."""
    path = request.url.path
    if _is_looking(request) and _PLAIN_PATH.fullmatch(path):
        return path + (f"?{request.url.query}" if request.url.query else "")
    return safe_next(path.removesuffix("/edit"))


def _is_looking(request: Request) -> bool:  # type: ignore[type-arg]
    return request.method in {HttpMethod.GET, HttpMethod.HEAD}


def comment_of(fields: dict[str, str]) -> str:
    """The comment as it was written; browsers send line ends of their own."""
    return lines_of(fields.get("comment", ""))


def lines_of(text: str) -> str:
    """A text of a form with the line ends it was given (HTML, "constructing the entry list")."""
    return text.replace("\r\n", "\n")
