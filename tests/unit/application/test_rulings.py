"""From rulings to errors: none without its error, none with another's."""

import re
from collections.abc import Iterable

import pytest
from msgspec import Raw, structs

from placet.application.rulings import error_for, pending_face, rfc3339
from placet.domain.machine import Ruling
from placet.domain.model import Approval, Consumption, Presentation, Status
from placet.store.codec import Refused, refused_of
from placet.store.scripts import load
from tests.factories import T0_MS, an_ask, digest_of, unsealed

ACCEPTED = {Ruling.OK, Ruling.UNCHANGED, Ruling.REPLAYED, Ruling.JOINED}
JUDGED_BY_THE_USE_CASE = {
    Ruling.REJUDGE: "the transport judges again",
    Ruling.STALE: "decide.py reads again",
    Ruling.CLOCK: "the store itself is unavailable then",
    Ruling.DEADLINE: "request.py names the member",
    Ruling.CLIENT_FULL: "request.py says how long to wait",
    Ruling.TENANT_FULL: "request.py says how long to wait",
    Ruling.RATE: "request.py says how long to wait",
    Ruling.REFUSED: "decide.py knows what it refused with",
}

EXPECTED = {
    Ruling.MISSING: ("APPROVAL_NOT_FOUND", None),
    Ruling.EXISTS: ("APPROVAL_ALREADY_EXISTS", None),
    Ruling.CONFLICT: ("INVOCATION_CONFLICT", None),
    Ruling.PENDING: ("APPROVAL_PENDING", None),
    Ruling.REJECTED: ("APPROVAL_REJECTED", None),
    Ruling.EXPIRED: ("APPROVAL_EXPIRED", None),
    Ruling.CANCELLED: ("APPROVAL_CANCELLED", None),
    Ruling.CONSUMED: ("APPROVAL_CONSUMED", None),
    Ruling.DECIDED: ("APPROVAL_ALREADY_DECIDED", None),
    Ruling.MISMATCH: ("APPROVAL_INPUT_MISMATCH", None),
    Ruling.TOKEN: ("APPROVAL_TOKEN_INVALID", None),
    Ruling.REVERSED: ("FORBIDDEN", "decision-not-allowed"),
    Ruling.NOT_AUDIENCE: ("FORBIDDEN", "not-the-audience"),
    Ruling.NOT_ASKER: ("FORBIDDEN", "not-the-asker"),
    Ruling.NOT_CONSUMER: ("FORBIDDEN", "not-the-consumer"),
}


def an_approval(status: Status = Status.CONSUMED, presentation: Presentation | None = None) -> Approval:
    """One that was consumed, or what is asked for."""
    ask = an_ask(id="apr_1", presentation=presentation or Presentation())
    return Approval(
        sealed=unsealed(ask),
        nonce=b"",
        ask=ask,
        status=status,
        digest=digest_of(ask),
        input_hash=ask.input_hash,
        input=Raw(b"{}"),
        requested_at_ms=T0_MS,
        expires_at_ms=T0_MS + 60_000,
        use_by_ms=None,
        required=1,
        counted=(),
        votes=(),
        consumption=Consumption(execution_id="e-1", client="runtime", at_ms=T0_MS),
        outcome=None,
        requested=None,
        now_ms=T0_MS,
    )


@pytest.mark.parametrize(("ruling", "expected"), EXPECTED.items())
def test_each_ruling_is_its_error(ruling: Ruling, expected: tuple[str, str | None]) -> None:
    """The code, and the reason where there is one."""
    error = error_for(ruling, an_approval())
    assert (error.code, error.details.get("reason")) == expected


def test_no_ruling_is_forgotten() -> None:
    """Every word of the store is a success, has an error, or is judged by its use case."""
    assert ACCEPTED | set(JUDGED_BY_THE_USE_CASE) | set(EXPECTED) == set(Ruling)
    assert not (ACCEPTED | set(JUDGED_BY_THE_USE_CASE)) & set(EXPECTED)


def words_of_scripts() -> Iterable[str]:
    """Every ruling that stands in a script as a text."""
    for script in load().values():
        yield from re.findall(r"(?:no\(|refuse\(id, |return \{ |answer\(|full\()'([a-z-]+)'", script.text)


def test_every_word_of_a_script_is_a_ruling() -> None:
    """No script can answer with a word that would be a fault here."""
    words = set(words_of_scripts())
    assert {"missing", "not-the-asker", "conflict", "client-full", "mismatch"} <= words
    assert words <= {ruling.value for ruling in Ruling}


@pytest.mark.parametrize(
    "ruling", [r for r in EXPECTED if r is not Ruling.MISSING and r is not Ruling.EXISTS]
)
def test_a_refusal_is_told_in_the_trail_by_the_same_code(ruling: Ruling) -> None:
    """What the caller hears and what the trail keeps is one code, and one reason."""
    assert refused_of(ruling.value) == EXPECTED[ruling]


def test_a_foreign_attempt_is_told_in_the_trail_alone() -> None:
    """The caller hears that there is nothing; the trail knows better."""
    assert refused_of(Ruling.MISSING.value) == Refused("APPROVAL_RESUME_MISMATCH")


def test_the_execution_is_told_to_parties_only() -> None:
    """Asker and audience learn which execution consumed it."""
    assert error_for(Ruling.CONSUMED, an_approval(), party=True).details == {"execution_id": "e-1"}
    assert error_for(Ruling.CONSUMED, an_approval()).details == {}
    bare = structs.replace(an_approval(), consumption=None)
    assert error_for(Ruling.CONSUMED, bare, party=True).details == {}


@pytest.mark.parametrize(
    ("presentation", "summary"),
    [
        (Presentation(title="T", summary="S"), "S"),
        (Presentation(title="T"), "T"),
        (Presentation(title="T", summary=""), "T"),
        (Presentation(), "orders.refund"),
    ],
)
def test_what_waits_is_told_in_the_runtimes_words(presentation: Presentation, summary: str) -> None:
    """The summary, else the title, else what the tool is called."""
    face = pending_face(an_approval(Status.PENDING, presentation))
    assert (face.summary, face.effect, face.approval_id) == (summary, "external", "apr_1")
    assert face.expires_at == "2027-01-15T08:01:00.000Z"


@pytest.mark.parametrize(
    ("at_ms", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (1, "1970-01-01T00:00:00.001Z"),
        (T0_MS + 999, "2027-01-15T08:00:00.999Z"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
    ],
)
def test_times_are_utc_with_milliseconds(at_ms: int, text: str) -> None:
    """RFC 3339, always with three digits and a Z."""
    assert rfc3339(at_ms) == text
