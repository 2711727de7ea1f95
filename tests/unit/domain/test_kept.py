"""What is kept, and what goes to make room."""

from placet.domain.kept import Kept


def test_what_was_put_there_first_goes_first() -> None:
    """However often it was looked at since."""
    kept: Kept[str, int] = Kept(2)
    for number, name in enumerate("abc"):
        kept.get("a")
        kept.put(name, number)
    assert (kept.get("a"), kept.get("b"), kept.get("c"), len(kept)) == (None, 1, 2, 2)


def test_a_new_value_takes_the_place_of_the_old() -> None:
    """It makes nothing else go."""
    kept: Kept[str, int] = Kept(2)
    for name, number in (("a", 1), ("b", 2), ("a", 3)):
        kept.put(name, number)
    assert (kept.get("a"), kept.get("b"), len(kept)) == (3, 2, 2)


def test_what_is_dropped_is_not_kept() -> None:
    """And what was not there can be dropped."""
    kept: Kept[str, int] = Kept(2)
    kept.put("a", 1)
    kept.drop("a")
    kept.drop("b")
    assert (kept.get("a"), len(kept)) == (None, 0)
