"""Packed votes and the lines of a log, written and read back."""

import pytest

from placet.domain.model import Sealed, Verdict
from placet.store.codec import PERSON_CHARS, Line, person_mark, read_line, votes_of, write_line

ANN, BOB = person_mark("ann"), person_mark("bob")


class TestPeople:
    """Votes are packed by a mark that stands for the person."""

    def test_a_mark_has_a_fixed_width(self) -> None:
        """Of 128 bits, so that no two people are one."""
        assert {len(person_mark(name)) for name in ("a", "ann@example.org", "Ω" * 256)} == {PERSON_CHARS}

    def test_different_people_have_different_marks(self) -> None:
        """Nothing is folded here."""
        assert len({person_mark(name) for name in ("ann", "Ann", "ann ")}) == 3

    @pytest.mark.parametrize(
        ("packed", "votes"),
        [
            ("", ()),
            (f"{ANN}a", ((ANN, Verdict.APPROVE),)),
            (f"{ANN}a{BOB}r", ((ANN, Verdict.APPROVE), (BOB, Verdict.REJECT))),
            (f"{ANN}c", ((ANN, Verdict.EDIT),)),
        ],
    )
    def test_packed_votes_are_read_back(self, packed: str, votes: tuple[tuple[str, Verdict], ...]) -> None:
        """Each a person and a letter."""
        assert votes_of(packed) == votes


class TestLines:
    """When, what, by which document, under which seal."""

    @pytest.mark.parametrize("seal", ["", "A" * 43, "-_9"])
    @pytest.mark.parametrize("document", [b"{}", b'{"by":"a b","text":"{ x }"}'])
    def test_a_line_is_read_as_it_was_written(self, seal: str, document: bytes) -> None:
        """Spaces and braces in the document are the document's."""
        sealed = Sealed(document=document, seal=seal)
        line = write_line(1_800_000_000_000, "requested", sealed)
        assert read_line(line) == Line(1_800_000_000_000, b"requested", sealed)

    def test_a_line_that_was_spoilt_is_no_line(self) -> None:
        """Without a document, or without its parts."""
        for line in (b"1 voted AAAA", b"voted {}", b"", b"x voted {}"):
            with pytest.raises(ValueError):  # noqa: PT011 - several faults, one class
                read_line(line)
