"""What each operation is for: the words that no code says, for the OpenAPI document and the reference page.

Markdown, but only paragraphs and code. A test holds the table equal to the routes.
"""

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct


class OperationProse(Struct, frozen=True, kw_only=True):
    """A route for readers: the heading they find it under, and what it is for."""

    tag: str
    description: str


TAGS: Mapping[str, str] = MappingProxyType(
    {
        "Ask": "The runtime's side before a decision: put a question, withdraw it.",
        "Read": "Look at approvals, or wait for one to be decided.",
        "Decide": "The approver's side.",
        "Execute": "The tool's side after a decision: spend the grant, report what came of it.",
        "Callbacks": "What other systems call, with a signature in place of a credential.",
        "Webhooks": "What is sent to endpoints of yours, signed.",
        "Service": "Public documents, without a credential.",
    }
)
"""The headings, in the order of a first reading."""

OPERATIONS: Mapping[str, OperationProse] = MappingProxyType(
    {
        "create_approval": OperationProse(
            tag="Ask",
            description=(
                "A runtime asks before it runs a tool. The answer is the record, `pending`: wait for it"
                " with `GET /v1/approvals/{id}?wait=30`, and consume it before the tool runs.\n\n"
                "200 where the question is there already: the same `Idempotency-Key` with the same body,"
                " or, where neither `id` nor a key was sent, the same question of the same client that still"
                " waits."
            ),
        ),
        "cancel_approval": OperationProse(
            tag="Ask",
            description=(
                "By the client that asked, or an administrator. Cancelling again changes nothing and"
                " answers alike. The body may be empty."
            ),
        ),
        "cancel_run": OperationProse(
            tag="Ask",
            description=(
                "Cancels whatever of the run is pending or approved and the caller may cancel; the rest is"
                " skipped. A run that nobody knows is an empty one. The body may be empty."
            ),
        ),
        "list_approvals": OperationProse(
            tag="Read",
            description=(
                "Pages of what the caller may see, ordered by `requested_at` and `id`, descending, and"
                " stable while records come and go. A page may be short, even empty, while `next_cursor` is"
                " set; the end is where it is null.\n\n"
                "A list never carries tokens."
            ),
        ),
        "get_approval": OperationProse(
            tag="Read",
            description=(
                "With `wait`, the answer comes as soon as the record leaves `pending`, else at the end of"
                " the wait with the record as it is: ask again as long as it waits.\n\n"
                "While it is `approved`, its asker and its audience find the `token` here, freshly minted,"
                " and nowhere else. Where the rules of now would refuse its use, `suspended` says why, and"
                " there is no token until they would not.\n\n"
                "Asker, audience, `read_input` and `admin` see all of a record; whoever may decide it sees"
                " the input but for what is redacted; `read` sees neither input, context, attributes,"
                " comments, extensions nor their hashes."
            ),
        ),
        "get_approval_events": OperationProse(
            tag="Read",
            description=(
                "What happened to the approval, oldest first, refused attempts included. Past a limit,"
                " refusals are only counted, one line for each code."
            ),
        ),
        "follow_events": OperationProse(
            tag="Read",
            description=(
                "Server-sent events: every transition of what the caller may see, as it happens. The name of"
                " an event is its type, its id the place in the stream, its data as below; what a question"
                " is about is not in it. A comment at least every 15 seconds says that the connection lives"
                " and that the credential counts; one that does not any more ends the stream.\n\n"
                "`Last-Event-ID` goes on behind an event; where the stream no longer reaches back so far an"
                " event `gap` comes first: read what you need. Who reads too slowly is let go, and goes on"
                " like that. Votes that did not decide are told too (`voted`, `edited`); refusals are in"
                " trails alone."
            ),
        ),
        "decide_approval": OperationProse(
            tag="Decide",
            description=(
                "A vote on exactly the card that was shown: `digest` is the record's, as it was read. Where"
                " the record has another by now, nothing is decided. The same vote again gets the record as"
                " it is.\n\n"
                "An approver speaks with a credential of their own; a client with the scope `decide_as`"
                " names the person it speaks for in `approver`.\n\n"
                "With `edit` the input is approved as changed, where the rule allows that, the request lists"
                " it in `allowed_decisions`, and the editor sees the whole input. The record has another"
                " digest from then on, earlier votes count no more, and what was asked stays in `requested`."
                " Whether the change counts as its author's approval is the rule's to say."
            ),
        ),
        "decide_approvals": OperationProse(
            tag="Decide",
            description=(
                "Up to a hundred decisions in one call, each judged and recorded as if it had come alone, and"
                " answered with the approval or with the problem document that it would have got alone. One"
                " that is refused is no reason to refuse the others.\n\n"
                "A body that is not as described, or names an approval twice, is refused as a whole before"
                " anything is decided. Where the store goes away in between, what is known is answered, and"
                " the rest is `STORE_UNAVAILABLE`: the same call again is safe.\n\n"
                "`path` in the issues of an item, and `details.path`, start at the root of the whole body."
            ),
        ),
        "bridge_callback": OperationProse(
            tag="Callbacks",
            description=(
                "A bridge of yours, between Placet and a chat or any other system, brings what a person"
                " has decided there. The message is signed as Standard Webhooks 1.0.0 has it, with the"
                " secret that was shown with the bridge's credential (`placet clients create NAME"
                " --scopes decide_as`); either secret is good while it is rotated. `webhook-timestamp`"
                " is within five minutes of our clock.\n\n"
                "It is judged as if it had come to `/v1/approvals/{id}/decision` with the credential:"
                " for the people, groups and highest risk that the bridge was made for, over a channel"
                " of its name.\n\n"
                "The same `webhook-id` again decides nothing and is answered as it was, with the record"
                " as it is; with another body it is `INVOCATION_CONFLICT`. What was answered 503 is sent"
                " again under the same id. A name that nobody has and a signature that nobody made are"
                " one 401."
            ),
        ),
        "consume_approval": OperationProse(
            tag="Execute",
            description=(
                "Whoever runs the tool presents the approval token and the call about to run. Only where"
                " that is what was approved, and nobody has spent the grant, the answer is 200, and the tool"
                " may run. A refused attempt never burns the grant.\n\n"
                "The same `execution_id` with the same call gets the same answer again, with `replayed`"
                " true: safe to repeat when an answer was lost."
            ),
        ),
        "report_outcome": OperationProse(
            tag="Execute",
            description=(
                "By the client that consumed, after the tool has run. The first report stands: the same"
                " again changes nothing, another is refused."
            ),
        ),
        "introspect_token": OperationProse(
            tag="Execute",
            description=(
                "Judges token and call as consume would, for the approval that the token names, and changes"
                " nothing. A refusal is an answer here: `active` is false, and `error` is the code."
            ),
        ),
    }
)
"""By the name of the route."""
