"""Ask: a runtime's question becomes a pending record, or finds the one it already has."""

import logging
import os
from hashlib import sha256

from msgspec import UNSET, Struct

from placet.application.asking import Window, ask_of, faults_in, under, window_of
from placet.application.callers import Caller
from placet.application.commands import Create
from placet.application.grants import Seals, members_of
from placet.application.rulings import error_for
from placet.domain import binding
from placet.domain.canonical import canonicalize, sha256_hex
from placet.domain.error_terms import Issue, RateLimitReason
from placet.domain.errors import InputInvalid, InternalError, RateLimited
from placet.domain.limits import Limits
from placet.domain.machine import Ruling
from placet.domain.model import Approval, Ask
from placet.domain.principals import Client
from placet.store.approvals import Answer, Approvals
from placet.store.attempts import Creation
from placet.store.record import Record

_NONCE_BYTES = 12
_HASH_CHARS = 32
"""Of a hash that only tells one client's keys or questions apart."""
_QUEUE_RETRY_MAX_MS = 60_000

_log = logging.getLogger(__name__)


class Asked(Struct, frozen=True, kw_only=True):
    """The record, and whether this call made it."""

    record: Record
    approval: Approval
    created: bool


class RequestApproval:
    """The use case. Takes ``Create`` as admitted; judges all of it; one round trip."""

    def __init__(self, store: Approvals, seals: Seals, limits: Limits) -> None:
        self._store = store
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
            RateLimited: Too many questions are pending, or come too fast.
            Rejudge: Credentials changed meanwhile.
        """
        issues = faults_in(body, self._limits)
        authority = caller.authority
        audience = body.audience or client.name
        if audience not in authority.clients:
            issues.append(Issue(path="/audience", message="No client of this tenant has this name."))
        canonical = None if body.input is UNSET else canonicalize(body.input)
        computed = body.input_hash if canonical is None else binding.input_hash(canonical)
        if computed is UNSET:
            issues.append(Issue(path="/input", message="Send input, or input_hash where a policy allows it."))
        elif body.input_hash not in {UNSET, computed}:
            issues.append(Issue(path="/input_hash", message="It is not the hash of input."))
        if issues:
            raise InputInvalid(issues)
        ask = ask_of(authority, client, body, audience, str(computed), held=canonical is not None)
        terms = authority.judge_ask(client, ask)
        window = window_of(body, terms, self._limits)
        ask = under(ask, terms, authority.version, caller.credential)
        new = self._creation(ask, body, window, canonical, admitted, idempotency_key)
        return self._answered(client, await self._store.create(ask, new, epoch=caller.epoch), window)

    def _creation(
        self,
        ask: Ask,
        body: Create,
        window: Window,
        canonical: bytes | None,
        admitted: object,
        key: str | None,
    ) -> Creation:
        presented = members_of(ask, body.context)
        digest, call = binding.digest(presented, binding.display_hash(ask)), binding.call_hash(presented)
        nonce = os.urandom(_NONCE_BYTES)
        same = [ask.asked_by, digest, ask.deadline, body.actor.attributes, body.extensions]
        return Creation(
            sealed=self._seals.ask(ask, nonce, digest=digest, call=call),
            digest=digest,
            call=call,
            input=canonical,
            nonce=nonce,
            join=sha256_hex(canonicalize(same))[:_HASH_CHARS],
            chosen_id=body.id is not UNSET,
            expires_in_ms=window.expires_in_ms,
            expires_at_ms=window.expires_at_ms,
            expires_most_ms=window.most_ms,
            idempotency=_idempotency(key, admitted) if key else None,
            required=ask.required,
        )

    def _answered(self, client: Client, answer: Answer, window: Window) -> Asked:
        if answer.record is not None:
            if answer.written:
                approval = answer.record.approval()
            else:
                approval = self._seals.taken(answer)
                self._seals.prove_asked(answer.record)
            if approval.ask.asked_by != client.name:
                _log.error("a key of a client leads to another's record", extra={"client": client.name})
                raise InternalError
            return Asked(record=answer.record, approval=approval, created=answer.ruling is Ruling.OK)
        if answer.ruling is Ruling.DEADLINE:
            least, most = self._limits.expires_in_min_ms, window.most_ms
            raise InputInvalid(
                [Issue(path="/expires_at", message=f"It must be {least} to {most} milliseconds from now.")]
            )
        if answer.ruling is Ruling.RATE and answer.free_at_ms is not None:
            raise RateLimited(RateLimitReason.RATE, retry_after_ms=answer.free_at_ms - answer.now_ms)
        if answer.free_at_ms is not None:
            wait_ms = min(max(answer.free_at_ms - answer.now_ms, 1_000), _QUEUE_RETRY_MAX_MS)
            raise RateLimited(RateLimitReason.QUEUE_FULL, retry_after_ms=wait_ms)
        raise error_for(answer.ruling)


def _idempotency(key: str, admitted: object) -> tuple[str, bytes]:
    return sha256_hex(key.encode())[:_HASH_CHARS], sha256(canonicalize(admitted)).digest()
