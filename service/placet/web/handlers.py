"""The routes of the pages. GET and HEAD change nothing; a POST is a form of this session and this origin."""

import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing, suppress
from functools import partial
from typing import Any, Final
from urllib.parse import parse_qsl

from litestar import HttpMethod, Request, Response, route
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath
from litestar.response import Stream
from msgspec import UNSET, Struct

from placet.application.commands import Decide
from placet.application.decide import DecideApproval
from placet.application.directory import Caller, Directory
from placet.application.event_lines import CONTENT_TYPE, begun, last_entry
from placet.application.feed import Feed
from placet.application.inbox import Inbox
from placet.application.query import Filters, ReadApprovals
from placet.application.sessions import Session, WebSessions
from placet.domain.error_terms import ForbiddenReason
from placet.domain.errors import ApprovalNotFound, Forbidden, PlacetError, StoreUnavailable, Unauthenticated
from placet.domain.limits import ID_PATTERN, JUDGED_MAX, Limits
from placet.domain.model import Status, Verdict
from placet.store.approvals import Rejudge
from placet.tokens.keyring_file import KeyringFile
from placet.web import pages
from placet.web.render import STATIC, stamp, static
from placet.web.security import HEADERS, Origin, receipt, same

_HTML: Final = "text/html"
_FORM: Final = "application/x-www-form-urlencoded"
_FORM_MAX_BYTES: Final = 64 * 1024
_FIELDS_MAX: Final = 12
_NEXT: Final = re.compile(rf"/(?:inbox|a/{ID_PATTERN})")
_DIGEST: Final = re.compile("[0-9a-f]{64}")
_VERDICTS: Final = {each.value: each for each in (Verdict.APPROVE, Verdict.REJECT)}
_NOT_SHOWN: Final = "Nothing was decided: you were not shown the whole card. Here it is as it is now."
_FOREVER: Final = "public, max-age=31536000, immutable"


class Pages(Struct, frozen=True, kw_only=True):
    """What the pages are made with."""

    sessions: WebSessions
    directory: Directory
    inbox: Inbox
    feed: Feed
    read: ReadApprovals
    decide: DecideApproval
    ring: KeyringFile
    limits: Limits
    origin: Origin


class Refused(Exception):  # noqa: N818 - answered by the page that it carries
    """Nothing is done; here is what to say."""

    def __init__(self, answer: Response[bytes]) -> None:
        super().__init__()
        self.answer = answer


Page = Callable[[Session], Awaitable[Response[Any]]]

_get = partial(route, http_method=(HttpMethod.GET, HttpMethod.HEAD))
_post = partial(route, http_method=HttpMethod.POST, status_code=200)


def handlers(use: Pages) -> Sequence[HTTPRouteHandler]:
    """All of them."""
    return [*_signing(use), *_reading(use), *_deciding(use), _following(use), _files()]


def _files() -> HTTPRouteHandler:
    @_get("/ui/{release:str}/{name:str}", sync_to_thread=False)
    def loaded(release: FromPath[str], name: FromPath[str]) -> Response[bytes]:
        if name not in STATIC or release != stamp():
            return _notice(
                "Nothing is here", "The page that asked for this may be of an earlier release.", 404
            )
        headers = {"cache-control": _FOREVER, "x-content-type-options": "nosniff"}
        return Response(static(name), media_type=STATIC[name], headers=headers)

    return loaded


def _following(use: Pages) -> HTTPRouteHandler:
    @route("/ui/events", http_method=HttpMethod.GET)
    async def events(request: Request) -> Response[Any]:  # type: ignore[type-arg]
        async def followed(session: Session) -> Response[Any]:
            async def renewed() -> Caller:
                return (await use.sessions.find(session.held)).caller

            after = last_entry(request.headers.get("last-event-id"))
            stream = await begun(use.feed.follow(session.caller, Filters(), after, renewed))
            headers = {**HEADERS, "x-accel-buffering": "no"}
            return Stream(_quietly(stream), media_type=CONTENT_TYPE.decode(), headers=headers)

        return await _signed_in(use, request, followed)

    return events


async def _quietly(stream: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
    """What it brings, until it ends, also where that is because nobody is signed in any more."""
    async with aclosing(stream):
        with suppress(PlacetError):
            async for chunk in stream:
                yield chunk


def _signing(use: Pages) -> Sequence[HTTPRouteHandler]:
    @_get("/signin", sync_to_thread=False)
    def form(request: Request) -> Response[bytes]:  # type: ignore[type-arg]
        return _page(pages.sign_in(_next(request.query_params.get("next", ""))))

    @_post("/signin")
    async def sign_in(request: Request) -> Response[bytes]:  # type: ignore[type-arg]
        fields = await _form(use, request)
        onward = _next(fields.get("next", ""))
        if not use.origin.is_here(request.url.hostname, request.headers.keys()):
            words = "A link like this signs in on the machine that the service runs on, and nowhere else."
            return _notice("Nothing was done", words, 403)
        try:
            held = await use.sessions.redeem(fields.get("secret", "").strip())
        except Unauthenticated:
            problem = "This link was used already, is older than five minutes, or is none. Ask for another."
            return _page(pages.sign_in(onward, problem), 401)
        except PlacetError as error:
            return _trouble(error)
        return _onward(onward, {"set-cookie": use.origin.set_cookie(held)})

    @_post("/signout")
    async def sign_out(request: Request) -> Response[bytes]:  # type: ignore[type-arg]
        async def leave(session: Session) -> Response[bytes]:
            await use.sessions.end(session.held)
            return _onward("/signin", {"set-cookie": use.origin.end_cookie()})

        return await _changing(use, request, leave)

    return [form, sign_in, sign_out]


def _reading(use: Pages) -> Sequence[HTTPRouteHandler]:
    @_get("/inbox")
    async def inbox(request: Request) -> Response[bytes]:  # type: ignore[type-arg]
        async def shown(session: Session) -> Response[bytes]:
            awaiting = await use.inbox.of(session.caller)
            now_ms = awaiting[0].now_ms if awaiting else 0
            return _page(pages.inbox(session, awaiting, now_ms))

        return await _signed_in(use, request, shown)

    @_get("/a/{approval_id:str}")
    async def card(request: Request, approval_id: FromPath[str]) -> Response[bytes]:  # type: ignore[type-arg]
        async def shown(session: Session) -> Response[bytes]:
            return await _card(use, session, approval_id)

        return await _signed_in(use, request, shown)

    return [inbox, card]


def _deciding(use: Pages) -> Sequence[HTTPRouteHandler]:
    @_post("/a/{approval_id:str}")
    async def decide(request: Request, approval_id: FromPath[str]) -> Response[bytes]:  # type: ignore[type-arg]
        fields = await _form(use, request)

        async def decided(session: Session) -> Response[bytes]:
            digest, comment = fields.get("digest", ""), fields.get("comment", "").replace("\r\n", "\n")
            verdict = _VERDICTS.get(fields.get("decision", ""))
            if verdict is None or not _DIGEST.fullmatch(digest):
                return _notice("Nothing was decided", "The form was not complete: open the card again.", 422)
            if verdict is not Verdict.REJECT:
                prove = partial(receipt, use.ring.sealer, session.csrf, approval_id, digest)
                brought = fields.get("receipt", "")
                if not same(brought, prove(is_sure=True)):
                    if same(brought, prove(is_sure=False)):
                        return await _again(use, session, approval_id, digest, comment)
                    return await _card(
                        use, session, approval_id, problem=_NOT_SHOWN, comment=comment, status=409
                    )
            body = Decide(decision=verdict, digest=digest, comment=comment.strip() or None, approver=UNSET)
            try:
                await use.decide(session.caller, approval_id, body)
            except (Unauthenticated, ApprovalNotFound, StoreUnavailable):
                raise
            except PlacetError as error:
                return await _card(
                    use, session, approval_id, problem=_words(error), comment=comment, status=error.status
                )
            return _onward(f"/a/{approval_id}")

        return await _changing(use, request, decided, fields)

    return [decide]


async def _card(
    use: Pages, session: Session, approval_id: str, *, problem: str = "", comment: str = "", status: int = 200
) -> Response[bytes]:
    seen = await use.read.get(session.caller, approval_id)
    most = use.limits.comment_max_chars
    body = pages.card(session, seen, use.ring.sealer, comment_max=most, problem=problem, comment=comment)
    return _page(body, status)


async def _again(
    use: Pages, session: Session, approval_id: str, digest: str, comment: str
) -> Response[bytes]:
    """Ask once more, as long as it is still what the card showed."""
    seen = await use.read.get(session.caller, approval_id)
    if seen.approval.status is not Status.PENDING or not same(digest, seen.approval.digest):
        return await _card(use, session, approval_id, problem=_NOT_SHOWN, comment=comment, status=409)
    return _page(pages.again(session, seen, use.ring.sealer, comment=comment))


def _words(error: PlacetError) -> str:
    """What a refusal says to a person at a card."""
    if isinstance(error, Forbidden) and error.reason is ForbiddenReason.COMMENT_REQUIRED:
        return "Nothing was decided: the rule asks for a comment."
    return f"Nothing was decided. {error.detail}"


# --- What every page does -------------------------------------------------------------------------------


async def _signed_in(use: Pages, request: Request, shown: Page) -> Response[Any]:  # type: ignore[type-arg]
    """A page for whoever has signed in; others sign in first, and come back to it."""
    try:
        for _ in range(JUDGED_MAX):
            session = await use.sessions.find(_held(use, request))
            try:
                return await shown(session)
            except Rejudge:
                use.directory.forget(session.caller.tenant)
        raise StoreUnavailable
    except Unauthenticated:
        path = request.url.path
        onward = f"?next={path}" if request.method in {"GET", "HEAD"} and _NEXT.fullmatch(path) else ""
        return _onward(f"/signin{onward}")
    except PlacetError as error:
        return _trouble(error)


async def _changing(
    use: Pages,
    request: Request,  # type: ignore[type-arg]
    done: Page,
    fields: dict[str, str] | None = None,
) -> Response[bytes]:
    """The same, of what changes something."""
    form = await _form(use, request) if fields is None else fields

    async def checked(session: Session) -> Response[bytes]:
        if not same(form.get("csrf", ""), session.csrf):
            return _notice("Nothing was done", "The page was of another sign-in: open it again.", 403)
        return await done(session)

    return await _signed_in(use, request, checked)


async def _form(use: Pages, request: Request) -> dict[str, str]:  # type: ignore[type-arg]
    """The fields of a form of ours.

    Raises:
        Refused: It is of another origin, too large, or no form.
    """
    if not use.origin.sent_it(request.headers.get("origin"), request.headers.get("sec-fetch-site")):
        words = f"This has to come from a page of this service, under {use.origin.public}."
        raise Refused(_notice("Nothing was done", words, 403))
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
        raise Refused(_notice("Nothing was done", "This takes a form.", 415))
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _FORM_MAX_BYTES:
            raise Refused(_notice("Nothing was done", "That was too much text.", 413))
    try:
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_FIELDS_MAX
        )
    except ValueError:
        raise Refused(_notice("Nothing was done", "The form can't be read.", 422)) from None
    return dict(pairs)


def _held(use: Pages, request: Request) -> str:  # type: ignore[type-arg]
    """What the browser holds. Given twice, nobody can tell which is meant."""
    sent = request.headers.getall("cookie", [])
    found = [value for header in sent for name, value in _cookies(header) if name == use.origin.cookie]
    if len(found) != 1:
        raise Unauthenticated
    return found[0]


def _cookies(header: str) -> Sequence[tuple[str, str]]:
    return [
        (name.strip(), value.strip().strip('"'))
        for name, _, value in (part.partition("=") for part in header.split(";"))
    ]


def _next(path: str) -> str:
    """Where to go on: a page of ours, never another place."""
    return path if _NEXT.fullmatch(path) else "/inbox"


def _page(body: bytes, status: int = 200) -> Response[bytes]:
    return Response(body, status_code=status, media_type=_HTML, headers=dict(HEADERS))


def _notice(title: str, words: str, status: int) -> Response[bytes]:
    return _page(pages.notice(title, words), status)


def _onward(path: str, headers: dict[str, str] | None = None) -> Response[bytes]:
    """Go on to another page, with GET (RFC 9110 §15.4.4)."""
    return Response(b"", status_code=303, headers={**HEADERS, "location": path, **(headers or {})})


def _trouble(error: PlacetError) -> Response[bytes]:
    if isinstance(error, ApprovalNotFound):
        words = "There is no such approval, or none that you may see."
        return _notice("Nothing is here", words, error.status)
    return _notice("That did not work", error.detail, error.status)
