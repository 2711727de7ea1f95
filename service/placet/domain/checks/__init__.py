"""Whether rules can do what their author means: what is found is told with its place and a remedy.

Paths begin at the file's root, as the file has them: ``("rules", 2, "stricter", 0, "quorum")``.
"""

from collections.abc import Iterator, Mapping

from placet.domain.checks import order, reach, terms
from placet.domain.limits import Limits
from placet.domain.people import Fault, Issuer, Path, People
from placet.domain.rules import Floor, Rule


def faults_of(
    rules: Mapping[Path, Rule],
    floors: Mapping[Path, Floor],
    people: People | None,
    issuers: Mapping[str, Issuer],
    limits: Limits,
    *,
    listed: bool,
) -> Iterator[Fault]:
    """What is wrong with rules that are well-formed each.

    Args:
        rules: In their order, by where each is in the file.
        floors: Likewise.
        people: The directory beside them; ``None`` where that can't be looked at.
        issuers: Its issuers, by ``iss``.
        limits: The service's own bounds.
        listed: Whether there is a directory at all.
    """
    yield from order.faults_of(rules)
    for path, rule in rules.items():
        alone = list(terms.faults_of(path, rule, floors.values(), limits))
        among = () if people is None else tuple(reach.faults_of(path, rule, people, issuers, listed=listed))
        wrong = {fault.path for fault in (*alone, *among) if not fault.warns}
        yield from (fault for fault in alone if _held_against(path, fault) not in wrong)
        yield from among


def _held_against(path: Path, fault: Fault) -> Path | None:
    """The member of its rule that a block's is judged by: while that is wrong, none is looser."""
    below = fault.path[len(path) :]
    return (*path, *below[2:]) if below[:1] == ("stricter",) else None
