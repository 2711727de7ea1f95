"""The terms that a rule can come to: its own, those of each block, and of all blocks together."""

from collections.abc import Iterator

from msgspec import Struct

from placet.domain.model import ActorKind, Effect, Risk
from placet.domain.people import Path
from placet.domain.rules import Claims, Rule, Stricter, Terms, tightened


class Case(Struct, frozen=True, kw_only=True):
    """Terms that can hold: where (a path below the rule's), when, in words, and by which block alone."""

    place: Path
    when: str
    terms: Terms
    block: Stricter | None = None


def combined(rule: Rule) -> Iterator[Case]:
    """What can hold, the simplest first; the last ones are the strictest there are.

    Blocks tighten whichever comes first, so of those that can apply at once all together are the strictest.
    Whoever claims the highest risk and every type meets all of them, but for those of another effect or kind
    of actor.
    """
    yield Case(place=(), when="under this rule", terms=rule.terms)
    for number, block in enumerate(rule.stricter):
        terms = tightened(rule.terms, block)
        yield Case(place=("stricter", number), when="under this block", terms=terms, block=block)
    types = tuple(sorted({each for block in rule.stricter for each in block.when.types}))
    for effect in (Effect.DESTRUCTIVE, Effect.EXTERNAL):
        for kind in ActorKind:
            claims = Claims(risk=Risk.CRITICAL, effect=effect, types=types, actor_kind=kind)
            yield Case(
                place=("stricter", 0),
                when=f"where all blocks apply that can at once (effect {effect}, actor {kind})",
                terms=rule.terms_for(claims),
            )
