"""What pages say of refusals, held to the error table."""

import re

import pytest

from placet.domain.error_terms import ForbiddenReason, Issue, RateLimitReason
from placet.domain.errors import (
    TABLE,
    ApprovalAlreadyDecided,
    ApprovalExpired,
    Forbidden,
    InputInvalid,
    InvocationConflict,
    PlacetError,
    RateLimited,
    StoreUnavailable,
)
from placet.domain.model import Status
from placet.web.words import ELSEWHERE, FOR_PROGRAMS, REASONS, TITLES, WORDS, title_of, undecided, words_of

_TERMS = re.compile(r"digest|record|credential|client|idempotency|details|\w_\w", re.IGNORECASE)


def test_there_are_words_for_all_that_a_page_can_meet() -> None:
    """Each code of the table has some, or is for programs alone; each reason too; none is unknown."""
    assert WORDS.keys() | FOR_PROGRAMS == TABLE.keys()
    assert not WORDS.keys() & FOR_PROGRAMS
    assert REASONS.keys() == {*ForbiddenReason, *RateLimitReason}
    assert TITLES.keys() <= WORDS.keys()


@pytest.mark.parametrize("words", sorted({*WORDS.values(), *REASONS.values()}))
def test_they_are_sentences_for_people(words: str) -> None:
    """Short, whole, and without the terms of programs."""
    assert words[0].isupper()
    assert words.endswith(".")
    assert len(words) <= 160
    assert _TERMS.search(words) is None


@pytest.mark.parametrize(
    ("error", "title", "words"),
    [
        (ApprovalExpired(), "That did not work", "It expired before your decision came."),
        (Forbidden(ForbiddenReason.NOT_AN_APPROVER), "That did not work", "not among those who decide it"),
        (RateLimited(RateLimitReason.QUEUE_FULL), "Too much at once", "too many pages open"),
        (InvocationConflict(), "That did not work", ELSEWHERE),
        (StoreUnavailable(), "The store does not answer", "Nothing was lost, nothing was decided: the store"),
    ],
)
def test_a_reason_says_more_than_its_code(error: PlacetError, title: str, words: str) -> None:
    """And what is for programs alone is told in words of its own."""
    assert title_of(error) == title
    assert words in words_of(error)


def test_a_store_that_was_sent_something_may_have_done_it() -> None:
    """Nobody is told that nothing was decided where that is not known."""
    assert "it is not known whether what you sent was done" in words_of(StoreUnavailable(), was_sent=True)
    assert words_of(ApprovalExpired(), was_sent=True) == words_of(ApprovalExpired())


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ApprovalAlreadyDecided(Status.REJECTED), "It was rejected before your decision came."),
        (ApprovalAlreadyDecided(Status.CONSUMED), "It was approved before your decision came, and has run."),
        (InputInvalid([Issue(path="/comment", message="It is odd.")]), "The comment: It is odd."),
        (InputInvalid([Issue(path="/x", message="It is odd.")]), "What was written can't be used."),
    ],
)
def test_nothing_was_decided(error: PlacetError, words: str) -> None:
    """And why."""
    assert undecided(error).startswith(f"Nothing was decided. {words}")
