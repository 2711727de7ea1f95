"""Tokens become proofs, are not verified again for a minute, and count no longer than they live."""

import json
import logging
from collections.abc import AsyncIterator, Mapping

import pytest

from placet.application.issuer_documents import KeySet
from placet.application.issuer_keys import IssuerKeys
from placet.application.issuers import KEPT_PROOFS, Issuers
from placet.domain.errors import Unauthenticated
from placet.domain.limits import Limits
from placet.domain.people import Issuer
from placet.tokens.foreign import Candidate
from placet.tokens.foreign_keys import ForeignKey, ForeignKeys
from tests.factories import ManualClock
from tests.issuer import ISS, OTHER, T0_S, a_key, an_issuer, claims, jwks, signed

ISSUERS: Mapping[str, Issuer] = {ISS: an_issuer()}


@pytest.fixture
def looked_for() -> list[str | None]:
    """The keys that were looked for, and so the verifications there were."""
    return []


@pytest.fixture
async def issuers(clock: ManualClock, looked_for: list[str | None]) -> AsyncIterator[Issuers]:
    """With one issuer, that has one key."""

    async def fetch(_: Issuer) -> KeySet:
        return KeySet(keys=ForeignKeys.from_jwks(json.dumps(jwks(a_key())).encode()), max_age_s=86_400)

    class Counted(IssuerKeys):
        async def find(self, issuer: Issuer, algorithm: str, kid: str | None) -> ForeignKey | None:
            looked_for.append(kid)
            return await super().find(issuer, algorithm, kid)

    issuers = Issuers(Counted(clock, fetch), clock, Limits())
    yield issuers
    await issuers.close()


async def test_a_token_is_verified_once_a_minute(
    issuers: Issuers, clock: ManualClock, looked_for: list[str | None]
) -> None:
    """Polling costs no signature; a key that was withdrawn is noticed within a minute."""
    token = signed(claims())
    for _ in range(3):
        assert (await issuers.prove(token, ISSUERS)).vouched.sub == "u-1"
        clock.move(29_999)
    assert len(looked_for) == 1
    clock.move(3)
    await issuers.prove(token, ISSUERS)
    assert len(looked_for) == 2


async def test_a_proof_ends_with_its_token(issuers: Issuers, clock: ManualClock) -> None:
    """However lately it was proven; five seconds are given."""
    token = signed(claims(exp=T0_S + 10))
    await issuers.prove(token, ISSUERS)
    clock.move(14_999)
    await issuers.prove(token, ISSUERS)
    clock.move(1)
    with pytest.raises(Unauthenticated):
        await issuers.prove(token, ISSUERS)


async def test_a_proof_does_not_count_before_its_token(issuers: Issuers, clock: ManualClock) -> None:
    """A clock that goes back takes it along."""
    token = signed(claims())
    await issuers.prove(token, ISSUERS)
    clock.move(-5_001)
    with pytest.raises(Unauthenticated):
        await issuers.prove(token, ISSUERS)


async def test_a_proof_is_of_an_issuer_as_it_was_configured(issuers: Issuers) -> None:
    """Another audience, another tenant, none at all: it is judged anew."""
    token = signed(claims())
    await issuers.prove(token, ISSUERS)
    changed = an_issuer(tenant="other")
    assert (await issuers.prove(token, {ISS: changed})).issuer is changed
    for configured in ({ISS: an_issuer(audience="x")}, {OTHER.iss: OTHER}, {}):
        with pytest.raises(Unauthenticated):
            await issuers.prove(token, configured)


async def test_whose_a_token_says_it_is(issuers: Issuers) -> None:
    """Proven before, or not at all."""
    token = signed(claims(), a_key(number=1))
    assert issuers.named_by(token, ISSUERS) is ISSUERS[ISS]
    good = signed(claims())
    await issuers.prove(good, ISSUERS)
    assert issuers.named_by(good, ISSUERS) is ISSUERS[ISS]
    for other in (signed(claims(iss=OTHER.iss)), signed(claims(iss=1)), "x", ""):
        with pytest.raises(Unauthenticated):
            issuers.named_by(other, ISSUERS)
    with pytest.raises(Unauthenticated):
        issuers.named_by(good, {})


async def test_the_log_has_the_reason_and_no_piece_of_the_token(
    issuers: Issuers, caplog: pytest.LogCaptureFixture
) -> None:
    """At a level that strangers don't reach."""
    caplog.set_level(logging.DEBUG)
    token = signed(claims(aud="elsewhere", email="ann@x.example"))
    with pytest.raises(Unauthenticated):
        await issuers.prove(token, ISSUERS)
    with pytest.raises(Unauthenticated):
        issuers.named_by("x.y.z", ISSUERS)
    told = [(line.levelname, line.__dict__["reason"], line.__dict__["iss"]) for line in caplog.records]
    assert told == [("INFO", "audience", ISS), ("DEBUG", "malformed", None)]
    everything = str([line.__dict__ for line in caplog.records])
    assert not any(piece in everything for piece in (*token.split("."), "elsewhere", "ann@x.example"))


async def test_so_many_proofs_are_kept(
    issuers: Issuers, looked_for: list[str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The oldest goes first, and is proven again."""

    def proven(candidate: Candidate, _: ForeignKey | None) -> object:
        return candidate.proof

    monkeypatch.setattr("placet.application.issuers.prove", proven)
    tokens = [signed(claims(jti=number), sign=lambda _: b"x") for number in range(KEPT_PROOFS + 1)]
    for token in tokens:
        await issuers.prove(token, ISSUERS)
    assert len(looked_for) == len(issuers._proven) + 1 == KEPT_PROOFS + 1
    await issuers.prove(tokens[-1], ISSUERS)
    assert len(looked_for) == KEPT_PROOFS + 1
    await issuers.prove(tokens[0], ISSUERS)
    assert len(looked_for) == KEPT_PROOFS + 2
