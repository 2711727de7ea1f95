"""Which files may take the place of those in force."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.domain.canonical import sha256_hex
from placet.domain.generation import NO_FILES, Generation, Stamp, generation_of


def a_stamp(content: str = "x", revision: int = 0) -> Stamp:
    """A file of this content."""
    return Stamp(sha256=sha256_hex(content.encode()), revision=revision)


STAMPS = st.none() | st.builds(a_stamp, st.sampled_from("abc"), st.integers(0, 3))
GENERATIONS = st.builds(Generation, policy=STAMPS, directory=STAMPS)


def test_without_files_there_is_no_version() -> None:
    """Nor a text."""
    assert (NO_FILES.version, NO_FILES.text) == ("", "")
    assert generation_of("") == NO_FILES


def test_the_version_names_both_files() -> None:
    """Which is which matters; a file that is not there is not an empty one."""
    one, other = a_stamp("a"), a_stamp("b")
    versions = {
        Generation(policy=one, directory=other).version,
        Generation(policy=other, directory=one).version,
        Generation(policy=one).version,
        Generation(directory=one).version,
        Generation(policy=one, directory=a_stamp("")).version,
    }
    assert len(versions) == 5
    assert all(len(version) == 64 for version in versions)


def test_the_version_can_be_computed_by_hand() -> None:
    """From what sha256sum says of the files."""
    policy, directory = sha256_hex(b"a"), sha256_hex(b"b")
    expected = sha256_hex(f"policy {policy}\ndirectory {directory}\n".encode())
    assert Generation(policy=a_stamp("a"), directory=a_stamp("b")).version == expected


@given(GENERATIONS)
def test_what_is_written_is_read_again(generation: Generation) -> None:
    """The store keeps it as a text."""
    assert generation_of(generation.text) == generation


def test_what_a_later_release_adds_is_left_out() -> None:
    """A text of its is read all the same."""
    text = a_stamp("a").sha256
    assert generation_of(f'{{"policy":{{"sha256":"{text}","more":1}},"more":2}}').policy == a_stamp("a")


@pytest.mark.parametrize(
    ("ours", "theirs", "objection"),
    [
        (a_stamp("a"), None, None),
        (None, None, None),
        (a_stamp("b"), a_stamp("a"), None),
        (a_stamp("a", 2), a_stamp("a", 2), None),
        (a_stamp("b", 3), a_stamp("a", 2), None),
        (a_stamp("b", 1), a_stamp("a"), None),
        (None, a_stamp("a"), "none is given here: set PLACET_POLICY_FILE to it"),
        (a_stamp("b", 1), a_stamp("a", 2), "is revision 1, and revision 2 is in force"),
        (a_stamp("b"), a_stamp("a", 2), "write revision = 3."),
        (
            a_stamp("b", 2),
            a_stamp("a", 2),
            "both are revision 2: install that one here, or write revision = 3.",
        ),
    ],
)
def test_what_may_follow(ours: Stamp | None, theirs: Stamp | None, objection: str | None) -> None:
    """No file follows nothing less; a revision follows lower ones; without one, the last start counts."""
    found = Generation(policy=ours).objection(Generation(policy=theirs))
    assert found is None if objection is None else objection in str(found)


def test_each_file_is_judged() -> None:
    """The directory like the policies."""
    ours = Generation(policy=a_stamp("a", 2), directory=a_stamp("a", 1))
    theirs = Generation(policy=a_stamp("b", 1), directory=a_stamp("b", 2))
    assert str(ours.objection(theirs)).startswith("The directory file here is revision 1")
    assert str(Generation(policy=a_stamp("a", 2)).objection(theirs)).startswith(
        "A directory file is in force"
    )


def test_what_is_lacking() -> None:
    """Whatever is in force of which nothing is given, by its kind."""
    one, other = a_stamp("a", 1), a_stamp("b", 2)
    active = Generation(policy=one, directory=other)
    assert NO_FILES.lacking(active) == (("policy", one), ("directory", other))
    assert Generation(policy=other).lacking(active) == (("directory", other),)
    assert active.lacking(active) == active.lacking(NO_FILES) == ()


@given(GENERATIONS, GENERATIONS)
def test_with_revisions_there_is_one_order(one: Generation, other: Generation) -> None:
    """Of two that differ and have revisions throughout, at most one can follow the other."""
    numbered = all(stamp is not None and stamp.revision for each in (one, other) for _, stamp in each.files())
    if numbered and one != other:
        assert not (one.objection(other) is None and other.objection(one) is None)
    assert one.objection(one) is None
    assert one.objection(NO_FILES) is None
