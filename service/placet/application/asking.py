"""From what a client says to what is asked: faults named, defaults filled in, deadlines under their rule."""

import secrets
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec import UNSET, Raw, Struct, structs

from placet.application.commands import Create
from placet.domain.authority import Authority
from placet.domain.error_terms import Issue
from placet.domain.errors import InputInvalid
from placet.domain.identity import check_id
from placet.domain.limits import Limits
from placet.domain.model import EMPTY_OBJECT, Actor, Ask, Claimed, Presentation, Verdict
from placet.domain.principals import Client
from placet.domain.redaction import parse_pointer
from placet.domain.rules import Terms
from placet.store.codec import encode

ID_PREFIX = "apr_"
_ID_BYTES = 15  # 120 bits: not to be guessed, though no right hangs on that
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Window(Struct, frozen=True, kw_only=True):
    """When a question dies: so long from now, or at a moment that is at most ``most_ms`` away."""

    expires_in_ms: int | None
    expires_at_ms: int | None
    most_ms: int


def faults_in(body: Create, limits: Limits) -> list[Issue]:
    """What is wrong with a request whatever rule it comes under."""
    issues = []
    if body.expires_in_ms is not UNSET:
        if body.expires_at is not UNSET:
            issues.append(Issue(path="/expires_at", message="Send it or expires_in_ms, not both."))
        if not limits.expires_in_min_ms <= body.expires_in_ms <= limits.expires_in_max_ms:
            bounds = f"{limits.expires_in_min_ms} to {limits.expires_in_max_ms}"
            issues.append(Issue(path="/expires_in_ms", message=f"It must be {bounds} milliseconds."))
    if body.use_within_ms is not None and body.use_within_ms > limits.use_within_max_ms:
        most = limits.use_within_max_ms
        issues.append(Issue(path="/use_within_ms", message=f"It must be at most {most} milliseconds."))
    if Verdict.REJECT not in body.allowed_decisions:
        issues.append(Issue(path="/allowed_decisions", message="It must contain reject."))
    if any(body.allowed_decisions.count(each) > 1 for each in body.allowed_decisions):
        issues.append(Issue(path="/allowed_decisions", message="It names a decision twice."))
    return issues + _faults_of_people(body) + _faults_of_pointers(body)


def ask_of(
    authority: Authority, client: Client, body: Create, audience: str, hash_of_input: str, *, held: bool
) -> Ask:
    """What the client asks, its effect and risk at least those of the capability."""
    actor, words = body.actor, body.presentation
    effect, risk = authority.raised(body.capability, body.effect, body.risk)
    raised = (effect, risk) != (body.effect, body.risk)
    ask = Ask(
        id=new_id() if body.id is UNSET else body.id,
        tenant=client.tenant,
        asked_by=client.name,
        audience=audience,
        capability=body.capability,
        surface=body.surface,
        actor=Actor(
            id=actor.id,
            kind=actor.kind,
            display_name=actor.display_name,
            on_behalf_of=actor.on_behalf_of,
            attributes=_raw(actor.attributes),
        ),
        effect=effect,
        context=_raw(body.context),
        input_hash=hash_of_input,
        input_held=held,
        risk=risk,
        reasons=body.reasons,
        types=body.types,
        allowed_decisions=body.allowed_decisions,
        presentation=Presentation(title=words.title, summary=words.summary, redact=words.redact),
        run=body.run,
        use_within_ms=body.use_within_ms,
        deadline=_deadline(body),
        extensions=_raw(body.extensions),
        owners=client.owners,
        claimed=Claimed(effect=body.effect, risk=body.risk) if raised else None,
    )
    return structs.replace(ask, parties=authority.parties(ask)) if authority.people.members else ask


def under(ask: Ask, terms: Terms, policy: str | None, credential: str | None = None) -> Ask:
    """The same, with what its rule says of it, and what the asker showed."""
    default_ms, most_ms = terms.use_within_ms
    use_within_ms = default_ms or most_ms if ask.use_within_ms is None else ask.use_within_ms
    return structs.replace(
        ask,
        use_within_ms=use_within_ms,
        rule=terms.rule,
        policy=policy,
        credential=credential,
        required=terms.quorum,
        rejections=terms.rejections,
    )


def window_of(body: Create, terms: Terms, limits: Limits) -> Window:
    """When the question dies.

    Raises:
        InputInvalid: It is to wait, or its grant is to be used, later than the rule lets it.
    """
    default_ms, most_ms = terms.expires_in_ms
    most_ms = limits.expires_in_max_ms if most_ms is None else min(most_ms, limits.expires_in_max_ms)
    if terms.escalation is not None and terms.escalation.gives_up:
        most_ms = min(most_ms, terms.escalation.after_ms)
    longest_use_ms = terms.use_within_ms[1] or limits.use_within_max_ms
    issues = []
    if body.expires_in_ms is not UNSET and body.expires_in_ms > most_ms:
        issues.append(_beyond("/expires_in_ms", most_ms))
    if body.use_within_ms is not None and body.use_within_ms > longest_use_ms:
        issues.append(_beyond("/use_within_ms", longest_use_ms))
    if issues:
        raise InputInvalid(issues)
    if body.expires_at is not UNSET:
        return Window(expires_in_ms=None, expires_at_ms=unix_ms(body.expires_at), most_ms=most_ms)
    usual_ms = min(default_ms or limits.expires_in_default_ms, most_ms)
    expires_in_ms = usual_ms if body.expires_in_ms is UNSET else body.expires_in_ms
    return Window(expires_in_ms=expires_in_ms, expires_at_ms=None, most_ms=most_ms)


def _beyond(path: str, most_ms: int) -> Issue:
    return Issue(path=path, message=f"The rule for this capability allows {most_ms} milliseconds at most.")


def _faults_of_people(body: Create) -> list[Issue]:
    ids = [("/actor/id", body.actor.id)]
    ids += [(f"/actor/on_behalf_of/{i}", name) for i, name in enumerate(body.actor.on_behalf_of)]
    return [Issue(path=path, message=f"It {fault}.") for path, name in ids if (fault := check_id(name))]


def _faults_of_pointers(body: Create) -> list[Issue]:
    issues = []
    for i, pointer in enumerate(body.presentation.redact):
        try:
            parse_pointer(pointer)
        except ValueError:
            issues.append(
                Issue(path=f"/presentation/redact/{i}", message="It is no JSON Pointer (RFC 6901).")
            )
    return issues


def _deadline(body: Create) -> str:
    if body.expires_in_ms is not UNSET:
        return f"in:{body.expires_in_ms}"
    return "default" if body.expires_at is UNSET else f"at:{unix_ms(body.expires_at)}"


def _raw(value: Mapping[str, Any]) -> Raw:
    return Raw(encode(value)) if value else EMPTY_OBJECT


def unix_ms(moment: datetime) -> int:
    """Unix milliseconds of an aware moment, exactly."""
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def new_id() -> str:
    """A fresh approval id."""
    return ID_PREFIX + secrets.token_urlsafe(_ID_BYTES)
