"""What each member of the wire means, once: the words of the OpenAPI document and of the reference page.

Markdown, but only paragraphs and code. The tests hold the table complete, without anything left over.
"""

from collections.abc import Mapping
from types import MappingProxyType

_QUESTION: Mapping[str, str] = {
    "actor": "On whose behalf the tool would run, as the authenticated runtime vouches for it.",
    "allowed_decisions": "What approvers may answer; contains `reject`.",
    "audience": "The client that may consume.",
    "CreateBody.audience": "Name of the client that may consume; the asking client where it is left out.",
    "capability": "What the tool does, e.g. `orders.refund`: visible ASCII without `*`.",
    "context": "Further facts that are bound, e.g. the version of a tool's schema.",
    "CreateBody.context": (
        "Further facts to bind, e.g. the version of a tool's schema: consume must present the same."
    ),
    "digest": "Hash of everything an approver decides on: the call and the words of the card.",
    "DecideBody.digest": "The record's `digest`, as the card was shown.",
    "DecideItem.digest": "The record's `digest`, as the card was shown.",
    "Decision.digest": "What the vote was on; null for callers who may not see it.",
    "effect": "What the call does to the world.",
    "expires_at": "When the question dies, if nobody has decided it.",
    "CreateBody.expires_at": "When the question dies, with an offset: in place of `expires_in_ms`.",
    "expires_in_ms": "How long the question waits, from now.",
    "extensions": "Anything else, returned as it was sent.",
    "id": "The approval's id, unique in its tenant.",
    "CreateBody.id": "An id of your choice; made up where it is left out. It makes nothing idempotent.",
    "input": "The effective input: what the tool gets.",
    "CreateBody.input": (
        "The effective input: what the tool gets. Send it, or `input_hash` alone where a policy allows that."
    ),
    "ConsumeBody.input": "The input about to run. Required where the service holds the approved one.",
    "IntrospectBody.input": "The input about to run. Required where the service holds the approved one.",
    "DecideBody.input": "The changed input; with the decision `edit` only.",
    "DecideItem.input": "The changed input; with the decision `edit` only.",
    "DecideItem.id": "The approval that it is about.",
    "Approval.input": "The effective input; null where the caller may not see it, or nobody here holds it.",
    "input_hash": "SHA-256 of the input's canonical JSON (RFC 8785), lower-case hex.",
    "Approval.input_hash": "Hash of the canonical input; null for callers who may not see all of it.",
    "presentation": "The runtime's own words for the card, shown as such, beside the input.",
    "reasons": "Why the call needs a person; shown on the card.",
    "risk": "How much is at stake, as the asker says.",
    "run": "The run of the agent that the call belongs to; whole runs can be cancelled.",
    "surface": "Where the tool is offered, e.g. `direct` or the name of a tool server.",
    "types": "Tags for policies and people; shown on the card.",
    "use_within_ms": (
        "How long a grant may wait to be used. Where it is null: until `expires_at`, at least a minute, at"
        " most a day."
    ),
}

_RECORD: Mapping[str, str] = {
    "asked_by": "The client that asked.",
    "Approval.confirmation": "The same for a runtime of the Agent Surface kind; there while pending.",
    "consumption": "Who spent the grant; null until someone has.",
    "decisions": "The votes, oldest first.",
    "input_redacted": "True where values of `input` are hidden from the caller.",
    "links": "Where else to find it.",
    "Approval.model": "All that a model may read of it; there while pending.",
    "outcome": "What the runtime reported after the execution; null until it has.",
    "claimed": "Effect and risk as they were asked with, where the operator's rules raised them; else null.",
    "Claimed.effect": "The effect that the runtime named. To consume with it is to consume with the raised.",
    "Claimed.risk": "The risk that the runtime named.",
    "quorum": "How many people it takes, and how many have decided.",
    "rule": "The rule that says who may decide it.",
    "Rule.name": "Its name in the operator's file; `built-in` where there is none.",
    "Rule.policy": "SHA-256 of the operator's files that it was asked under; null where there are none.",
    "replayed": "Whether this very execution had consumed it before; there in the answer to consume.",
    "requested": "What was asked, where it was approved with changes; else null.",
    "requested_at": "When it was asked for.",
    "Approval.status": "How it stands, as of now.",
    "tenant": "The tenant it belongs to; nobody else sees it.",
    "suspended": (
        "Why using the grant is refused as things are: the `reason` that consume would be `FORBIDDEN` with;"
        " null where it is not, or there is no grant."
    ),
    "Decision.step_up": "The sign-in that its author did for this very decision; null where none was asked.",
    "StepUp.at": "When they proved who they are: the issuer's `auth_time`.",
    "StepUp.acr": "How sure the issuer is: an authentication context class (OpenID Connect Core §2).",
    "StepUp.amr": "How they proved it: authentication methods (RFC 8176).",
    "Decision.counts": "Whether it counts; false once it was taken back, overtaken by a change, or void.",
    "Approval.token": "The approval token: for its asker and its audience, when they read it while approved.",
    "use_by": "When the grant dies, if nobody has used it; null until it is granted.",
    "Quorum.required": "How many distinct people must approve.",
    "Quorum.approved": "How many have whose approval counts, of what the record is now.",
    "Quorum.rejections": "How many distinct people must reject.",
    "Quorum.rejected": "How many have whose rejection counts.",
    "Links.self": "Path of the record.",
    "Links.ui": "Path of its page for approvers.",
    "ApprovalPage.items": "The approvals, newest first; fewer than asked for is not the end.",
    "ApprovalPage.next_cursor": "Where to go on; null at the end.",
}

_PEOPLE: Mapping[str, str] = {
    "Actor.id": "Who it is; bound.",
    "ActorBody.id": "Who it is; bound. No control, invisible or mixed-script characters.",
    "kind": "What it is; bound.",
    "display_name": "A name to show.",
    "on_behalf_of": "The people it acts for; they can't approve.",
    "attributes": "Further facts about the actor: kept, not bound.",
    "ApproverBody.id": "The approver's id.",
    "Person.id": "The approver's id.",
    "title": "The runtime's headline.",
    "summary": "The runtime's summary.",
    "redact": "JSON Pointers (RFC 6901) to values of the input that approvers must not see.",
}

_AFTERWARDS: Mapping[str, str] = {
    "approver": "Who voted.",
    "DecideItem.approver": "Whom a `decide_as` client speaks for: required of it, refused from people.",
    "DecideManyBody.decisions": "The decisions, each about another approval.",
    "DecisionResult.id": "The approval that it was about.",
    "DecisionResult.approval": "The approval as it is now, where the decision was taken.",
    "DecisionResult.error": "Why it was refused, where it was.",
    "DecisionResults.results": "One for each decision.",
    "DecideBody.approver": "Whom a `decide_as` client speaks for: required of it, refused from people.",
    "at": "When it happened.",
    "channel": "How it came in: `api`, or the name of a bridge.",
    "credential": "Id of what was shown by whoever acted: a credential's key id, or an issuer's name.",
    "client": "The client that spent it.",
    "comment": "What the approver says about it. The agent can read it.",
    "decision": "The answer.",
    "execution_id": "A name for this one execution: a repeat under the same name is safe.",
    "Consumption.execution_id": "The execution that it was spent on.",
    "IntrospectBody.execution_id": "The execution that would consume.",
    "ReportOutcomeBody.execution_id": "The execution that consumed.",
    "Outcome.status": "How the execution ended.",
    "ReportOutcomeBody.status": "How the execution ended.",
    "Outcome.summary": "What came of it, in the runtime's words.",
    "ReportOutcomeBody.summary": "What came of it, in a few words.",
    "submitted_by": "The client that brought the vote; null where the person did.",
    "ConsumeBody.token": "The approval token, as the record carried it. Without one nothing is spent.",
    "IntrospectBody.token": "The approval token.",
    "Introspection.active": "Whether consume would take it now.",
    "Introspection.error": "The code it would be refused with.",
    "RunCancelled.cancelled": "Ids of what was withdrawn.",
    "RunCancelled.skipped": "What could not be, being in a final state.",
    "Skipped.status": "Its state.",
    "Trail.items": "The lines, oldest first.",
    "TrailEntry.seq": "Place in the trail, from 1.",
    "TrailEntry.decision": "What was decided, where the line is a vote.",
    "TrailEntry.rule": "Name of the rule that it was asked or judged under.",
    "TrailEntry.policy": "Version of the operator's files that it was asked or judged under.",
    "TrailEntry.digest": "The digest that the line is about; not for callers who see the frame only.",
    "TrailEntry.input_hash": "The hash of the input that it is about, for callers who see the input.",
    "TrailEntry.type": "What happened; `refused` is an attempt that changed nothing.",
    "TrailEntry.by": "Who did it: a client, a person, or `system` for a deadline.",
    "Event.id": "The approval that it happened to; the event's own id is its place in the stream.",
    "Event.type": "What happened; the event's name too.",
    "Event.status": "How the approval stands by now: it may have gone on since.",
    "TrailEntry.code": "Of a refusal: its code.",
    "TrailEntry.reason": "Of the refusal `FORBIDDEN`: its reason.",
    "TrailEntry.count": "How many refusals the line stands for, where they are counted only.",
}

_PROBLEM: Mapping[str, str] = {
    "code": "The code: stable, its meaning never changes.",
    "message": "A sentence to go with it; fixed text.",
    "retryable": "Whether the same request, unchanged, may succeed later.",
    "issues": "The faults of the request; of `INPUT_INVALID` only.",
    "Problem.type": "Path of the page about the code.",
    "Problem.title": "A short name of the code.",
    "Problem.status": "The status of the answer.",
    "Problem.detail": "What happened and what to do next; fixed text.",
    "Problem.stage": "Where in the order of judgement the request was refused.",
    "Problem.details": "Facts about this case, where the code has any: for the developer, not for the model.",
    "Problem.model": "All that a model may read: forward it as it is.",
    "Problem.confirmation": "The error for an Agent Surface runtime: forward it as it is.",
    "Problem.failure": "The error for a Kortyx runtime: forward it as it is.",
    "ConfirmationFace.code": "A code of Agent Surface's list.",
    "ConfirmationFace.retry": "What the runtime may do next.",
    "ConfirmationFace.details": "Members that belong to the code.",
    "FailureFace.version": "Version of the descriptor.",
    "FailureFace.category": "What kind of failure it is.",
    "FailureFace.status": "The HTTP status.",
    "FailureFace.retryAfterMs": "How long to wait before the same request makes sense.",
    "FailureIssue.code": "What kind of fault it is.",
    "FailureIssue.path": "Where: member names and array indices.",
    "Issue.path": "Where: a JSON Pointer (RFC 6901) from the body's root, or to a query parameter.",
    "Issue.message": "What is wanted there; never a value that was sent.",
}

_SERVICE: Mapping[str, str] = {
    "Health.status": "Always `ok`.",
    "Ready.status": "Whether calls are welcome.",
    "Ready.faults": "What is wrong, each a sentence; empty where calls are welcome.",
    "JwkSet.keys": "Keys that sign, will sign, or may have signed a token that is still alive.",
    "Jwk.kty": "Key type.",
    "Jwk.crv": "Curve.",
    "Jwk.x": "The public key, base64url.",
    "Jwk.use": "What it is for.",
    "Jwk.alg": "The algorithm.",
    "Jwk.kid": "The name by which a token's header calls it.",
}

_QUERY: Mapping[str, str] = {
    "ListQuery.status": "Only those that stand so, as of now.",
    "ListQuery.capability": "Only those for this capability.",
    "ListQuery.actor_id": "Only those of this actor.",
    "ListQuery.run": "Only those of this run.",
    "ListQuery.limit": "Most approvals in the page.",
    "EventsQuery.capability": "Only what is about this capability.",
    "EventsQuery.actor_id": "Only what is about this actor.",
    "EventsQuery.run": "Only what is about this run.",
    "ListQuery.cursor": "`next_cursor` of the page before; without it the list begins anew.",
    "ReadQuery.wait": "Seconds to wait for the record to leave `pending`; 0 answers at once.",
}

MEANINGS: Mapping[str, str] = MappingProxyType(
    {**_QUESTION, **_RECORD, **_PEOPLE, **_AFTERWARDS, **_PROBLEM, **_SERVICE, **_QUERY}
)
"""By the member's name; by type and member (``Outcome.summary``) where the name alone says too little."""
