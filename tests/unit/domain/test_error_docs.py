"""The documentation of errors is made from the table, whole and in its order."""

import json

import pytest

from placet.domain.error_docs import DOCS, error_page, markdown_table
from placet.domain.error_terms import FORBIDDEN_DETAILS, FORBIDDEN_MORE
from placet.domain.errors import TABLE, from_problem


def test_every_code_has_a_page_in_the_order_of_the_table() -> None:
    """No code is undocumented, and none is documented that does not exist."""
    assert list(DOCS) == list(TABLE)
    assert all(error_page(code) is DOCS[code] for code in TABLE)


@pytest.mark.parametrize("code", ["", "approval_expired", "NO_SUCH_CODE", "../TABLE"])
def test_an_unknown_code_has_no_page(code: str) -> None:
    """Only an exact code names a page."""
    assert error_page(code) is None


def test_a_page_says_what_happened_what_to_do_and_whether_to_retry() -> None:
    """The words of a page are those of the row."""
    page = DOCS["FORBIDDEN"]
    assert page.title == "Not allowed"
    assert page.statuses == (403,)
    assert (page.stage, page.category) == ("authorization", "authorization")
    assert page.meaning == "The credential is valid but does not allow this."
    assert page.action == "Read details.reason for what is missing, and use a credential that has it."
    assert page.retry == "No: repeating it does not help."
    assert page.confirmation == "`NOT_AUTHORIZED`, no"
    assert {reason: page.reasons[reason] for reason in FORBIDDEN_DETAILS} == FORBIDDEN_DETAILS
    assert {name for name in page.reasons if ", " in name} == {f"{r}, {m}" for r, m in FORBIDDEN_MORE}


@pytest.mark.parametrize(
    "code", [code for code in TABLE if code not in {"APPROVAL_REQUIRED", "APPROVAL_RESUME_MISMATCH"}]
)
def test_every_example_is_a_document_of_its_code(code: str) -> None:
    """An example could be an answer: it is JSON and reads back as its code."""
    example = json.loads(json.dumps(DOCS[code].example))
    assert from_problem(example).problem() == example
    assert example["code"] == code


def test_a_required_approval_is_shown_as_a_record_carries_it() -> None:
    """`APPROVAL_REQUIRED` is no problem document: its example is the two faces of a pending record."""
    example = DOCS["APPROVAL_REQUIRED"].example
    assert example is not None
    assert set(example) == {"model", "confirmation"}


def test_the_audit_only_code_is_shown_as_no_answer() -> None:
    """A code that is never answered has no status, no confirmation and no example."""
    page = DOCS["APPROVAL_RESUME_MISMATCH"]
    assert (page.statuses, page.confirmation, page.example) == ((), "", None)
    assert page.retry == "It is never an answer."


def test_the_markdown_table_has_a_line_for_every_code() -> None:
    """Header, rule and one line of seven cells per code."""
    lines = markdown_table().splitlines()
    assert [line.split("`")[1] for line in lines[2:]] == list(TABLE)
    assert {line.count(" | ") for line in lines[2:]} == {6}
    assert markdown_table().endswith(" |\n")


def test_a_line_of_the_markdown_table_reads_as_the_reference() -> None:
    """A line, whole."""
    assert (
        "| `APPROVAL_ALREADY_DECIDED` | 409 | approval | no | yes |"
        " `CONFIRMATION_INVALID` denied or consumed, no |"
        " The approval takes no more decisions; this one changed nothing."
        " Read the approval: details.status says how it stands. |"
    ) in markdown_table().splitlines()
