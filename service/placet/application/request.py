"""Ask: a runtime's question becomes a pending record, or finds the one it already has."""

import secrets
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from msgspec import UNSET, Raw, Struct

from placet.application.commands import Create
from placet.application.directory import Caller, Directory
from placet.application.grants import Seals, members_of
from placet.application.rulings import error_for
from placet.domain import binding, policy
from placet.domain.canonical import canonicalize, sha256_hex
from placet.domain.error_terms import Issue, RateLimitReason
from placet.domain.errors import InputInvalid, RateLimited
from placet.domain.identity import check_id
from placet.domain.limits import Limits
from placet.domain.machine import Ruling
from placet.domain.model import EMPTY_OBJECT, Actor, Approval, Ask, Presentation, Verdict
from placet.domain.principals import Client
from placet.domain.redaction import parse_pointer
from placet.store.approvals import Answer, Approvals, Creation
from placet.store.codec import encode
from placet.store.record import Record

ID_PREFIX = "apr_"
_ID_BYTES = 15  # 120 bits: not to be guessed, though no right hangs on that
_NONCE_BYTES = 12
_HASH_CHARS = 32
"""Of a hash that only tells one client's keys or questions apart."""
_QUEUE_RETRY_MAX_MS = 60_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Asked(Struct, frozen=True, kw_only=True):
    """The record, and whether this call made it."""

    record: Record
    approval: Approval
    created: bool


class RequestApproval:
    """The use case. Takes ``Create`` as admitted; judges all of it; one round trip."""

    def __init__(self, store: Approvals, directory: Directory, seals: Seals, limits: Limits) -> None:
        self._store = store
        self._directory = directory
        self._seals = seals
        self._limits = limits

    async def __call__(
        self, caller: Caller, client: Client, body: Create, admitted: object, idempotency_key: str | None
    ) -> Asked:
        """Ask.

        Args:
            caller: Who is asking; ``client`` is its principal.
            client: The asking client.
            body: The request.
            admitted: The same body as it was admitted, for the idempotency key to compare.
            idempotency_key: The header, if sent.

        Raises:
            InputInvalid: A member is out of bounds, or members contradict each other.
            Forbidden: The client may not ask this, or nobody could decide it.
            ApprovalAlreadyExists: The chosen id is taken.
            InvocationConflict: The idempotency key was used for another body.
            RateLimited: Too many questions are pending.
            Rejudge: Credentials changed meanwhile.
        """
        issues = self._issues(body)
        snapshot = await self._directory.known_to(caller)
        audience = body.audience or client.name
        if audience not in snapshot.clients:
            await self._directory.confirm(caller)  # it may have been entered since
            issues.append(Issue(path="/audience", message="No client of this tenant has this name."))
        canonical = None if body.input is UNSET else canonicalize(body.input)
        computed = body.input_hash if canonical is None else binding.input_hash(canonical)
        if computed is UNSET:
            issues.append(Issue(path="/input", message="Send input, or input_hash where a policy allows it."))
        elif body.input_hash not in {UNSET, computed}:
            issues.append(Issue(path="/input_hash", message="It is not the hash of input."))
        if issues:
            raise InputInvalid(issues)
        ask = _ask(client, body, audience, str(computed), held=canonical is not None)
        refusal = policy.judge_ask(client, ask)
        if refusal is not None:
            raise refusal
        new = self._creation(ask, body, canonical, admitted, idempotency_key)
        return self._answered(await self._store.create(ask, new, epoch=caller.epoch))

    def _issues(self, body: Create) -> list[Issue]:
        limits = self._limits
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
        if len(set(body.allowed_decisions)) < len(body.allowed_decisions):
            issues.append(Issue(path="/allowed_decisions", message="It names a decision twice."))
        return issues + _faults_of_people(body) + _faults_of_pointers(body)

    def _creation(
        self, ask: Ask, body: Create, canonical: bytes | None, admitted: object, key: str | None
    ) -> Creation:
        members = members_of(ask, body.context)
        digest, call = binding.digest(members, binding.display_hash(ask)), binding.call_hash(members)
        nonce = secrets.token_bytes(_NONCE_BYTES)
        same = [ask.asked_by, digest, ask.deadline, body.actor.attributes, body.extensions]
        expires_in_ms = None if body.expires_in_ms is UNSET else body.expires_in_ms
        expires_at_ms = None if body.expires_at is UNSET else unix_ms(body.expires_at)
        if expires_in_ms is None and expires_at_ms is None:
            expires_in_ms = self._limits.expires_in_default_ms
        return Creation(
            sealed=self._seals.ask(ask, nonce, digest=digest, call=call),
            digest=digest,
            call=call,
            input=canonical,
            nonce=nonce,
            join=sha256_hex(canonicalize(same))[:_HASH_CHARS],
            chosen_id=body.id is not UNSET,
            expires_in_ms=expires_in_ms,
            expires_at_ms=expires_at_ms,
            idempotency=_idempotency(key, admitted) if key else None,
            required=policy.REQUIRED_APPROVALS,
        )

    def _answered(self, answer: Answer) -> Asked:
        if answer.record is not None:
            return Asked(
                record=answer.record,
                approval=answer.record.approval(),
                created=answer.ruling is Ruling.OK,
            )
        if answer.ruling is Ruling.DEADLINE:
            least, most = self._limits.expires_in_min_ms, self._limits.expires_in_max_ms
            raise InputInvalid(
                [Issue(path="/expires_at", message=f"It must be {least} to {most} milliseconds from now.")]
            )
        if answer.free_at_ms is not None:
            wait_ms = min(max(answer.free_at_ms - answer.now_ms, 1_000), _QUEUE_RETRY_MAX_MS)
            raise RateLimited(RateLimitReason.QUEUE_FULL, retry_after_ms=wait_ms)
        raise error_for(answer.ruling)


def _idempotency(key: str, admitted: object) -> tuple[str, bytes]:
    return sha256_hex(key.encode())[:_HASH_CHARS], sha256(canonicalize(admitted)).digest()


def _faults_of_people(body: Create) -> list[Issue]:
    ids = {"/actor/id": body.actor.id}
    ids |= {f"/actor/on_behalf_of/{i}": name for i, name in enumerate(body.actor.on_behalf_of)}
    faults = {path: check_id(name) for path, name in ids.items()}
    return [Issue(path=path, message=f"It {fault}.") for path, fault in faults.items() if fault]


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


def _ask(client: Client, body: Create, audience: str, hash_of_input: str, *, held: bool) -> Ask:
    actor, words = body.actor, body.presentation
    return Ask(
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
        effect=body.effect,
        context=_raw(body.context),
        input_hash=hash_of_input,
        input_held=held,
        risk=body.risk,
        reasons=body.reasons,
        types=body.types,
        allowed_decisions=body.allowed_decisions,
        presentation=Presentation(title=words.title, summary=words.summary, redact=words.redact),
        run=body.run,
        use_within_ms=body.use_within_ms,
        deadline=_deadline(body),
        extensions=_raw(body.extensions),
        owners=client.owners,
    )


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
