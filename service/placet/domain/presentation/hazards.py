"""What on a card could mislead its reader: flags, each with its place, its kind and a sentence."""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from placet.domain.cutting import boundary
from placet.domain.presentation.writing import is_plain, quoted
from placet.domain.text import findings


class HazardKind(StrEnum):
    """What is suspicious: the kinds of :class:`placet.domain.text.Kind`, and what only names can do."""

    BIDI = "bidi"
    INVISIBLE = "invisible"
    BLANK = "blank"
    CONTROL = "control"
    CONFUSABLE = "confusable"
    OVERLAY = "overlay"
    COMBINING_FLOOD = "combining-flood"
    TWIN_NAMES = "twin-names"
    """Different names of one object that look the same, such as the two ways to compose an accent."""

    @property
    def words(self) -> str:
        """For people, in the plural."""
        return _WORDS[self]


_WORDS: Final[Mapping[HazardKind, str]] = MappingProxyType(
    {
        HazardKind.BIDI: "characters that reorder text",
        HazardKind.INVISIBLE: "invisible characters",
        HazardKind.BLANK: "blanks that are no plain spaces",
        HazardKind.CONTROL: "control characters",
        HazardKind.CONFUSABLE: "words with look-alike letters",
        HazardKind.OVERLAY: "marks drawn over other characters",
        HazardKind.COMBINING_FLOOD: "stacked or stray marks",
        HazardKind.TWIN_NAMES: "different names that look the same",
    }
)


class Hazard(Struct, frozen=True, kw_only=True):
    """One kind of hazard in one place.

    Attributes:
        where: The part of the card, in words: ``the input``.
        kind: What it is.
        count: How often: characters, or words, or names.
        path: Of the first one, a JSON Pointer made visible and cut short; None where it isn't in a tree.
    """

    where: str
    kind: HazardKind
    count: int
    path: str | None = None

    @property
    def sentence(self) -> str:
        """For people."""
        place = "" if self.path is None else f", first at {self.path or 'its root'}"
        return f"Look twice at {self.where}: {self.kind.words} ({self.count:,}){place}."


class Tally:
    """Counts the hazards of one place.

    Args:
        where: The place, in words.
    """

    def __init__(self, where: str) -> None:
        self._where = where
        self._counts: dict[HazardKind, int] = {}
        self._paths: dict[HazardKind, str] = {}

    def texts(self, texts: Iterable[str | None], *, prose: bool = False) -> "Tally":
        """Count in texts, each judged by itself: none can vouch for the script of another."""
        for text in texts:
            self.text(text or "", prose=prose)
        return self

    def text(
        self, text: str, path: Sequence[str] | None = None, *, prose: bool = False
    ) -> tuple[HazardKind, ...]:
        """Count in a text; the kinds that it has."""
        if is_plain(text):
            return ()
        found = [(HazardKind(finding.kind.value), finding.count) for finding in findings(text, prose=prose)]
        for kind, count in found:
            self.count(kind, count, path)
        return tuple(kind for kind, _ in found)

    def count(self, kind: HazardKind, count: int, path: Sequence[str] | None) -> None:
        """Count so many of a kind."""
        if kind not in self._counts and path is not None:
            self._paths[kind] = pointer([quoted(step)[1:-1] for step in path])
        self._counts[kind] = self._counts.get(kind, 0) + count

    def hazards(self) -> tuple[Hazard, ...]:
        """What was counted, in the order of :class:`HazardKind`."""
        return tuple(
            Hazard(where=self._where, kind=kind, count=self._counts[kind], path=self._paths.get(kind))
            for kind in HazardKind
            if kind in self._counts
        )


def pointer(steps: Sequence[str], *, most: int = 8, step_chars: int = 40) -> str:
    """A JSON Pointer (RFC 6901) in one line, with ``…`` for what would be too long to name a place.

    Args:
        steps: Names as :func:`placet.domain.presentation.writing.quoted` spells them, without the quotes.
        most: Most steps.
        step_chars: Most characters of a step.
    """
    shown = "".join(f"/{_step(step, step_chars)}" for step in steps[:most])
    return shown + ("/…" if len(steps) > most else "")


def _step(step: str, most: int) -> str:
    kept = step if len(step) <= most else step[: boundary(step, most)] + "…"
    return kept.replace("~", "~0").replace("/", "~1")
