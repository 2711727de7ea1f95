"""Consume: spend a grant for exactly the call it was given for, once. And introspect: would it be?"""

import secrets

from msgspec import UNSET, Struct

from placet.application.callers import Caller
from placet.application.commands import Consume, Introspect
from placet.application.grants import Seals
from placet.application.rights import Judged, Rights
from placet.application.rulings import error_for, word_of
from placet.domain import binding, machine
from placet.domain.canonical import canonicalize
from placet.domain.error_terms import Issue
from placet.domain.errors import ApprovalTokenInvalid, InputInvalid, PlacetError
from placet.domain.machine import Ruling
from placet.domain.model import Approval
from placet.domain.principals import Client
from placet.store.approvals import Approvals
from placet.store.attempts import Spending
from placet.tokens.claims import TokenClaims
from placet.tokens.keyring_file import KeyringFile
from placet.tokens.verify import TokenInvalid, verify


class Consumed(Struct, frozen=True, kw_only=True):
    """The record, and whether this very execution had consumed it before."""

    approval: Approval
    replayed: bool


class Verdict(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Whether a token would be taken for a call, and the code it would be refused with."""

    active: bool
    error: str | None = None


class ConsumeApproval:
    """The use cases around a token.

    Args:
        store: The approvals.
        rights: Know whether those who approved still decide such a thing.
        seals: Prove that a grant is one.
        ring: Keys to verify tokens with.
        issuer: The ``iss`` of our tokens.
    """

    def __init__(
        self, store: Approvals, rights: Rights, seals: Seals, ring: KeyringFile, issuer: str
    ) -> None:
        self._store = store
        self._rights = rights
        self._seals = seals
        self._ring = ring
        self._issuer = issuer

    async def __call__(self, caller: Caller, client: Client, approval_id: str, body: Consume) -> Consumed:
        """Spend the grant.

        Raises:
            InputInvalid: Neither or both of ``input`` and ``input_hash`` were sent.
            PlacetError: Any refusal in the order of judgement (:func:`machine.judge_consume`).
            Rejudge: Credentials changed meanwhile.
        """
        judged = self._rights.known(caller, approval_id)
        if judged is None:  # it was granted elsewhere, or who may decide has changed since
            read = await self._store.get(caller.tenant, approval_id, epoch=caller.epoch)
            if read.record is not None:
                judged = self._rights.judge(caller, self._seals.opened(read.record))
        refusal = None if judged is None else judged.refusal
        call, canonical = presented(caller.tenant, body, judged)
        claims = None if body.token is None else self._claims(caller, body.token)
        if claims is not None and claims.jti != approval_id:
            claims = None
        spend = Spending(
            client=client.name,
            credential=caller.credential,
            sees=client.sees(),
            execution_id=body.execution_id,
            nonce=secrets.token_bytes(12),
            call=call,
            input=canonical,
            token_digest=None if claims is None else claims.dig,
            token_from_ms=0 if claims is None else claims.from_ms,
            token_exp_ms=0 if claims is None else claims.exp_ms,
            refusal=None if refusal is None else word_of(refusal),
        )
        answer = await self._store.consume(caller.tenant, approval_id, spend, epoch=caller.epoch)
        if refusal is not None and answer.ruling is Ruling.REFUSED:
            raise refusal
        approval = self._seals.taken(answer, client.name, call)
        return Consumed(approval=approval, replayed=answer.ruling is Ruling.REPLAYED)

    async def introspect(self, caller: Caller, client: Client, body: Introspect) -> Verdict:
        """Say whether :meth:`__call__` would spend the grant now. Changes nothing."""
        claims = self._claims(caller, body.token)
        # Asked in any case: the store alone knows whether the caller's own credential still counts.
        answer = await self._store.get(caller.tenant, claims.jti if claims else "", epoch=caller.epoch)
        if answer.record is None:
            presented(caller.tenant, body, None)  # a malformed call is named all the same
            return _refused(ApprovalTokenInvalid() if claims is None else error_for(answer.ruling))
        approval = self._seals.opened(answer.record)
        judged = self._rights.judge(caller, approval)
        call, canonical = presented(caller.tenant, body, judged)
        attempt = machine.Consume(
            client=client.name,
            execution_id=body.execution_id or "",
            call=call,
            input=canonical,
            token_digest=None if claims is None else claims.dig,
            token_from_ms=0 if claims is None else claims.from_ms,
            token_exp_ms=0 if claims is None else claims.exp_ms,
            refusal=None if judged.refusal is None else judged.refusal.code,
            sees=client.sees(),
        )
        ruling = machine.judge_consume(answer.record.state(), attempt, answer.now_ms)
        if judged.refusal is not None and ruling is Ruling.REFUSED:
            return _refused(judged.refusal)
        if ruling is Ruling.OK:
            self._seals.prove_grant(approval, call)
            return Verdict(active=True)
        return _refused(error_for(Ruling.CONSUMED if ruling is Ruling.REPLAYED else ruling, approval))

    def _claims(self, caller: Caller, token: str) -> TokenClaims | None:
        try:
            return verify(
                token,
                self._ring.verification_keys,
                issuer=self._issuer,
                audience=caller.name,
                tenant=caller.tenant,
                now_ms=None,
            )
        except TokenInvalid:
            return None


def presented(tenant: str, body: Consume | Introspect, judged: Judged | None) -> tuple[str, bytes | None]:
    """The call hash of what was presented, and its canonical input where it was sent.

    ``judged`` tells which effect the record has, where a rule raised the one that was asked with.

    Raises:
        InputInvalid: Neither or both of ``input`` and ``input_hash`` were sent.
    """
    if (body.input is UNSET) == (body.input_hash is UNSET):
        raise InputInvalid([Issue(path="/input", message="Send input, or input_hash alone.")])
    canonical = None if body.input is UNSET else canonicalize(body.input)
    call = binding.call_members(
        tenant=tenant,
        capability=body.capability,
        surface=body.surface,
        actor_id=body.actor.id,
        actor_kind=body.actor.kind,
        effect=body.effect if judged is None else judged.effective(body.effect),
        context=body.context,
        hash_of_input=str(body.input_hash) if canonical is None else binding.input_hash(canonical),
    )
    return binding.call_hash(call), canonical


def _refused(error: PlacetError) -> Verdict:
    return Verdict(active=False, error=error.code)
