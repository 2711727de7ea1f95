"""Whether each rule can be met at all: the first that matches counts, so an earlier one can hide it."""

from collections.abc import Iterator, Mapping
from itertools import product

from placet.domain.patterns import Names, covers
from placet.domain.people import Fault, Path
from placet.domain.rules import Rule

COMBINATIONS_MAX = 10_000
"""Of patterns of one rule, each looked for in every earlier rule. Beyond, only whole rules are compared."""

_Combination = tuple[str, ...]


def faults_of(rules: Mapping[Path, Rule]) -> Iterator[Fault]:
    """Names that are given twice, rules and patterns that can never match."""
    earlier: dict[str, Rule] = {}
    for path, rule in rules.items():
        if rule.name in earlier:
            message = f"Another rule is called {rule.name!r}: records name rules, give this one its own name."
            yield Fault(path=(*path, "name"), message=message)
        yield from _hidden(path, rule, tuple(earlier.values()))
        earlier.setdefault(rule.name, rule)


def _hidden(path: Path, rule: Rule, earlier: tuple[Rule, ...]) -> Iterator[Fault]:
    whole = next((each for each in earlier if _hides(each, rule)), None)
    if whole is not None:
        yield _never(path, f"Rule {rule.name!r}", whole)
        return
    lists = [_patterns(rule, names) for names in Names]
    combinations = list(product(*lists)) if _size(lists) <= COMBINATIONS_MAX else []
    hidden_by = {each: next((one for one in earlier if _takes(one, each)), None) for each in combinations}
    for place, names in enumerate(Names):
        for number, pattern in enumerate(lists[place]):
            hiding = [rule for each, rule in hidden_by.items() if each[place] == pattern]
            first = next(iter(hiding), None)
            if first is not None and None not in hiding:
                yield _never((*path, names.value, number), f"The pattern {pattern!r}", first)


def _never(path: Path, what: str, hiding: Rule) -> Fault:
    message = (
        f"{what} can never match: rule {hiding.name!r} comes first and is for all of it. "
        f"Put this one above {hiding.name!r}, or remove it."
    )
    return Fault(path=path, message=message)


def _patterns(rule: Rule, names: Names) -> tuple[str, ...]:
    return {
        Names.TENANTS: rule.tenants,
        Names.CLIENTS: rule.clients,
        Names.CAPABILITIES: rule.capabilities,
        Names.SURFACES: rule.surfaces,
    }[names]


def _size(lists: list[tuple[str, ...]]) -> int:
    size = 1
    for patterns in lists:
        size *= len(patterns)
    return size


def _hides(earlier: Rule, later: Rule) -> bool:
    """Whether an earlier rule alone is for all that a later one is for."""
    return all(
        any(covers(wider, pattern) for wider in _patterns(earlier, names))
        for names in Names
        for pattern in _patterns(later, names)
    )


def _takes(earlier: Rule, combination: _Combination) -> bool:
    return all(
        any(covers(wider, pattern) for wider in _patterns(earlier, names))
        for names, pattern in zip(Names, combination, strict=True)
    )
