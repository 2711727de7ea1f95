"""The pages for people: the front page, what error codes mean, and the API reference.

No script, nothing from outside.
"""

from placet.api.markup import Markup, code, el, inline, join, json_block, link, page, prose, table
from placet.api.openapi_bridges import DESCRIBED
from placet.api.openapi_errors import answering
from placet.api.reference import render
from placet.domain.error_docs import DOCS, ErrorDoc

_WHAT_IT_IS = (
    "Before a dangerous tool runs, the agent's runtime asks here; a person sees exactly what would run and"
    " decides; the runtime may then run that very call, once."
)

_BEGIN = (
    "A runtime asks with `POST /v1/approvals`, waits with `GET /v1/approvals/{id}?wait=30`, and consumes the"
    " grant before the tool runs. Whoever runs this service makes its credential:"
    " `placet clients create NAME --scopes request,consume`.\n\n"
    "An approver decides in the inbox, at `/inbox`. They sign in there with their organisation's login where"
    " this service knows one, else with a link, which whoever runs it makes on its machine:"
    " `placet signin ID`.\n\n"
    "In a terminal they list what waits with `placet approvals list --status pending`, and decide with"
    " `placet approvals approve ID` or `reject ID`. Their credential, from"
    " `placet approvers create ada@example.com`, goes into `PLACET_TOKEN`, this address into `PLACET_URL`."
)


def front(*, with_reference: bool) -> str:
    """What is here, for somebody who has only got the address. Shows nothing of what is kept."""
    reference = (link("/reference", "/reference"), "The API, call by call, with examples.")
    places = [
        (link("/inbox", "/inbox"), "What awaits you, if you are an approver."),
        *([reference] if with_reference else []),
        (link("/openapi.json", "/openapi.json"), "The API for machines (OpenAPI 3.1)."),
        (link("/errors", "/errors"), "What every error code means, and what to do."),
        (link("/healthz", "/healthz"), "Whether the service runs."),
    ]
    return page(
        "Start",
        el("h1", "Human approval for AI agents"),
        el("p", _WHAT_IT_IS, class_="lead"),
        el("h2", "Where to look"),
        el("dl", *(join((el("dt", place), el("dd", found))) for place, found in places)),
        el("h2", "How to begin"),
        prose(_BEGIN),
    )


def error_index() -> str:
    """All codes, a line each."""
    rows = [
        (
            el("a", code(doc.code), href=f"/errors/{doc.code}"),
            _statuses(doc),
            join((doc.meaning, el("span", " Repeat it later.", class_="quiet") if doc.retryable else "")),
        )
        for doc in DOCS.values()
    ]
    return page(
        "Errors",
        el("h1", "Errors"),
        prose(
            "Every refusal is a problem document (RFC 9457) with one of these as its `code`. Codes are"
            " stable: there may be new ones, and what one means never changes. A client takes a code that it"
            " does not know for a refusal."
        ),
        table(("Code", "HTTP", "Meaning"), rows),
    )


def error_page(name: str) -> str | None:
    """One code in full; ``None`` where there is none of this name."""
    doc = DOCS.get(name)
    if doc is None:
        return None
    facts = {
        "HTTP status": _statuses(doc),
        "May the same request succeed later?": inline(doc.retry),
        "Stage": doc.stage,
        "Category": doc.category,
        "May a model read it?": "Yes, with its message." if doc.exposed else "No: it reads INTERNAL_ERROR.",
        "Agent Surface": inline(doc.confirmation),
        "Answered by": _calls(name),
    }
    return page(
        doc.code,
        el("nav", link("All errors", "/errors"), class_="crumbs", aria_label="Errors"),
        el("h1", doc.title),
        el("p", code(doc.code)),
        el("p", doc.meaning, class_="lead"),
        el("h2", "What to do"),
        el("p", inline(doc.action)),
        *_reasons(doc),
        el("h2", "Facts"),
        el("dl", *(join((el("dt", name), el("dd", fact))) for name, fact in facts.items() if fact)),
        *_example(doc),
    )


def reference() -> str:
    """The API, operation by operation, as the OpenAPI document describes it."""
    return render()


def _statuses(doc: ErrorDoc) -> str:
    return " or ".join(str(status) for status in doc.statuses) or "audit trail only"


def _calls(name: str) -> Markup:
    calls = answering(name)
    if len(calls) == len(DESCRIBED):
        return Markup("Every call")
    return join(el("div", code(call)) for call in calls)


def _reasons(doc: ErrorDoc) -> tuple[Markup, ...]:
    if not doc.reasons:
        return ()
    rows = ((code(reason), sentence) for reason, sentence in doc.reasons.items())
    return (el("h2", "Reasons"), table(("details.reason, and what else is there", "What to do"), rows))


def _example(doc: ErrorDoc) -> tuple[Markup, ...]:
    if doc.example is None:
        return ()
    return (el("h2", "Example"), json_block(doc.example))
