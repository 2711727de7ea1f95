"""What an approver sees: the card, built once, for every medium (design §10).

``present(seen, budget)`` makes a :class:`Card`, ``heading(seen, budget)`` the part of it that stands in
lists. A medium says what room it has (:class:`Budget`), lays the card out and escapes it its own way; what an
approver sees is not its to decide.
"""

from placet.domain.presentation.budget import COLUMNS_MIN, Budget
from placet.domain.presentation.card import (
    ActorLine,
    Card,
    DeadlineKind,
    Decided,
    Dies,
    Heading,
    InputState,
    InputView,
    Level,
    Progress,
    Quote,
    Reported,
    Used,
)
from placet.domain.presentation.edits import Change, ChangeKind, Edits
from placet.domain.presentation.gist import INPUT_BYTES_MAX as GIST_INPUT_BYTES_MAX
from placet.domain.presentation.gist import Fact
from placet.domain.presentation.happened import Happening, Happenings, happened
from placet.domain.presentation.hazards import Hazard, HazardKind
from placet.domain.presentation.nodes import Node, NodeKind
from placet.domain.presentation.outline import Line, outline
from placet.domain.presentation.phrases import Severity
from placet.domain.presentation.present import deadline, heading, present
from placet.domain.presentation.seen import Seen, at_ms, read_seen, seen_of
from placet.domain.presentation.tree import Tree
from placet.domain.presentation.writing import Listing, Piece, in_quotes, pieces

__all__ = [
    "COLUMNS_MIN",
    "GIST_INPUT_BYTES_MAX",
    "ActorLine",
    "Budget",
    "Card",
    "Change",
    "ChangeKind",
    "DeadlineKind",
    "Decided",
    "Dies",
    "Edits",
    "Fact",
    "Happening",
    "Happenings",
    "Hazard",
    "HazardKind",
    "Heading",
    "InputState",
    "InputView",
    "Level",
    "Line",
    "Listing",
    "Node",
    "NodeKind",
    "Piece",
    "Progress",
    "Quote",
    "Reported",
    "Seen",
    "Severity",
    "Tree",
    "Used",
    "at_ms",
    "deadline",
    "happened",
    "heading",
    "in_quotes",
    "outline",
    "pieces",
    "present",
    "read_seen",
    "seen_of",
]
