"""Whether rules can do what their author means: what is found is told with its place and a remedy.

Paths begin at the file's root, as the file has them: ``("rules", 2, "stricter", 0, "quorum")``.
"""

from collections.abc import Collection, Iterator, Mapping

from placet.domain.chat import SlackApp
from placet.domain.checks import order, reach, telling, terms
from placet.domain.checks.unsure import Unsure, held_against
from placet.domain.limits import Limits
from placet.domain.people import Fault, Issuer, Path, People
from placet.domain.rules import Floor, Rule


def faults_of(
    rules: Mapping[Path, Rule],
    floors: Mapping[Path, Floor],
    people: People | None,
    issuers: Mapping[str, Issuer],
    apps: Mapping[str, SlackApp] | None,
    limits: Limits,
    *,
    listed: bool,
    unsure: Collection[Path] = (),
) -> Iterator[Fault]:
    """What is wrong with rules, as far as they are well-formed.

    Args:
        rules: In their order, by where each is in the file.
        floors: Likewise.
        people: The directory beside them; ``None`` where that can't be looked at.
        issuers: Its issuers, by ``iss``.
        apps: Its Slack apps, by workspace; ``None`` where these can't be looked at.
        limits: The service's own bounds.
        listed: Whether there is a directory at all.
        unsure: Places in the rules where something else is wrong already.
    """
    doubt = Unsure(unsure)
    yield from order.faults_of({path: rule for path, rule in rules.items() if doubt.is_named(path)})
    for path, rule in rules.items():
        alone = list(terms.faults_of(path, rule, floors.values(), limits))
        among = () if people is None else tuple(reach.faults_of(path, rule, people, issuers, listed=listed))
        wrong = {fault.path for fault in (*alone, *among) if not fault.warns}
        told = () if apps is None else tuple(telling.faults_of(path, rule, apps, people))
        found = (*(fault for fault in alone if held_against(path, fault) not in wrong), *among, *told)
        yield from (fault for fault in found if doubt.is_sure(path, rule, fault))
