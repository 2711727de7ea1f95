"""Approving with changes: another input is written, what it changes is shown, and exactly that is decided."""

from collections.abc import Sequence
from typing import Any, Final

from litestar import Request, Response
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath
from msgspec import UNSET

from placet.application.commands import Decide
from placet.application.query import Seen
from placet.application.sessions import Session
from placet.domain.admission import Fault, FaultKind, admit_value
from placet.domain.canonical import canonicalize
from placet.domain.fault_words import place_in, words_of
from placet.domain.limits import Limits
from placet.domain.model import Status, Verdict
from placet.web import card_pages, edit_pages
from placet.web.common import (
    DIGEST,
    FORM_MAX_BYTES,
    Pages,
    changing,
    comment_of,
    form_of,
    get,
    lines_of,
    notice,
    page,
    post,
    signed_in,
)
from placet.web.deciding import decide
from placet.web.security import receipt_of_changes, same
from placet.web.showing import Written, show_form

_BACK: Final = "back"
_STEPS: Final = frozenset({_BACK, "preview", Verdict.EDIT.value})
_FORM_FACTOR: Final = 3
"""A byte of an input takes up to three in a form (``%7B``)."""
_CHANGED_MEANWHILE: Final = (
    "Nothing was decided: it has changed since you began. Look at the card before you go on; what you wrote"
    " is kept here."
)
_SAME: Final = "This changes nothing. Change something, or approve it as it is on its card."
_NOT_SHOWN: Final = "Nothing was decided: you were not shown these changes. Here they are."


class _Unusable(Exception):  # noqa: N818 - told to whoever wrote it
    """What was written is no input."""

    def __init__(self, words: str, status: int) -> None:
        super().__init__()
        self.words = words
        self.status = status


def handlers(use: Pages) -> Sequence[HTTPRouteHandler]:
    """The routes."""

    @get("/a/{approval_id:str}/edit")
    async def form(request: Request, approval_id: FromPath[str]) -> Response[bytes]:  # type: ignore[type-arg]
        async def shown(session: Session) -> Response[bytes]:
            return show_form(use, session, await use.read.get(session.caller, approval_id))

        return await signed_in(use, request, shown)

    @post("/a/{approval_id:str}/edit", request_max_body_size=None)  # it has a bound of its own
    async def edit(request: Request, approval_id: FromPath[str]) -> Response[bytes]:  # type: ignore[type-arg]
        most = FORM_MAX_BYTES + _FORM_FACTOR * use.limits.max_body_bytes
        fields = await form_of(use, request, most)

        async def edited(session: Session) -> Response[bytes]:
            return await _edited(use, session, approval_id, fields)

        return await changing(use, request, edited, fields)

    return [form, edit]


async def _edited(use: Pages, session: Session, approval_id: str, fields: dict[str, str]) -> Response[bytes]:
    written = Written(
        digest=fields.get("digest", ""), text=lines_of(fields.get("input", "")), comment=comment_of(fields)
    )
    step = fields.get("decision", "")
    if step not in _STEPS or not DIGEST.fullmatch(written.digest):
        return notice("Nothing was decided", "The form was not complete: open the card again.", 422)
    seen = await use.read.get(session.caller, approval_id)
    if step == _BACK:
        return show_form(use, session, seen, written)
    try:
        value = _admitted(written.text, use.limits)
    except _Unusable as fault:
        return show_form(use, session, seen, written, fault.words, fault.status)
    problem = ""
    changed = canonicalize(value)
    proof = receipt_of_changes(use.ring.sealer, session.csrf, approval_id, written.digest, changed)
    if step == Verdict.EDIT:
        if same(fields.get("receipt", ""), proof):
            return await _decided(use, session, approval_id, written, value)
        problem = _NOT_SHOWN
    return _preview(use, session, seen, written, changed, problem)


def _admitted(text: str, limits: Limits) -> Any:  # noqa: ANN401 - JSON of any shape
    """The input that was written.

    Raises:
        _Unusable: It can't be one.
    """
    raw = text.encode()
    if len(raw) > limits.max_body_bytes:
        raise _Unusable(f"The input is too large: it may have {limits.max_body_bytes:,} bytes.", 413)
    try:
        return admit_value(raw, max_depth=limits.max_input_depth)
    except Fault as fault:
        place = place_in(raw) if fault.kind is FaultKind.NOT_JSON else ""
        raise _Unusable(f"The input can't be used: {words_of(fault)}{place}.", 422) from None


def _preview(
    use: Pages, session: Session, seen: Seen, written: Written, changed: bytes, problem: str
) -> Response[bytes]:
    """What the other input changes, as long as it is still what was to be changed."""
    approval = seen.approval
    if approval.status is not Status.PENDING or not same(written.digest, approval.digest):
        return show_form(use, session, seen, written, _CHANGED_MEANWHILE, 409)
    why_not = card_pages.why_not_edit(session, seen)
    if why_not:
        return show_form(use, session, seen, written)
    if approval.input is not None and changed == bytes(approval.input):
        return show_form(use, session, seen, written, _SAME, 422)
    body = edit_pages.preview(
        session,
        seen,
        use.ring.sealer,
        changed=changed,
        text=written.text,
        comment=written.comment,
        problem=problem,
    )
    return page(body, 409 if problem else 200)


async def _decided(
    use: Pages, session: Session, approval_id: str, written: Written, value: object
) -> Response[bytes]:
    body = Decide(
        decision=Verdict.EDIT,
        digest=written.digest,
        comment=written.comment.strip() or None,
        input=value,
        approver=UNSET,
    )
    return await decide(use, session, approval_id, body, written.text)
