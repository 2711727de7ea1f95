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
) -> Iterator[Fault]:
    """What is wrong with rules that are well-formed each.

    Args:
        rules: In their order, by where each is in the file.
        floors: Likewise.
        people: The directory beside them; ``None`` where that can't be looked at.
        issuers: Its issuers, by ``iss``.
        limits: The service's own bounds.
    """
    yield from order.faults_of(rules)
    for path, rule in rules.items():
        yield from terms.faults_of(path, rule, floors.values(), limits)
        if people is not None:
            yield from reach.faults_of(path, rule, people, issuers)
