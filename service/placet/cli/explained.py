"""An explanation, as a person reads it."""

from collections.abc import Iterable, Iterator

from placet.application.deciders import Decider
from placet.application.explain import Explanation
from placet.application.rule_words import listed
from placet.cli.console import Ink, Terminal
from placet.domain.text import visible

_ITEM = "  "
_BELOW = "    "


def lines(found: Explanation, out: Terminal) -> Iterator[str]:
    """Which rule it is and why, what holds, and who could approve it."""
    yield from _asked(found, out)
    yield ""
    for passed in found.passed:
        yield from _item(out, f"{passed.rule}: no, {passed.why}.")
    if found.rule is None:
        yield from out.marked(Ink.RED, "No rule is for it: FORBIDDEN, no-rule.")
        return
    yield from _bold(out.marked(Ink.GREEN, f"Rule {visible(found.rule)}"), visible(found.rule), out)
    for block in found.blocks:
        does = "applies" if block.applies else "no"
        yield from _item(out, f"stricter {block.number}, {block.when}: {does}.")
    if found.refused is not None:
        yield from out.marked(Ink.RED, f"It can't be asked: {visible(found.refused)}.")
        return
    yield ""
    for sentence in found.terms:
        yield from _item(out, sentence)
    yield ""
    if found.stuck is not None:
        yield from out.marked(Ink.RED, f"It can't be approved. {visible(found.stuck)}")
    elif found.lacking is not None:
        yield from out.marked(Ink.YELLOW, f"It can't be approved yet. {visible(found.lacking)}")
    yield from _people(found, out)


def _asked(found: Explanation, out: Terminal) -> Iterator[str]:
    who = "a client that no rule names" if found.client is None else f"client {visible(found.client)}"
    what = f"{visible(found.capability)} ({visible(found.surface)})"
    asked = out.wrapped(f"{what}, asked in tenant {visible(found.tenant)} by {who}.", rest=_ITEM)
    yield from _bold(asked, visible(found.capability), out)
    now = {"effect": found.effect, "risk": found.risk}
    raised = [f"{name} {was} to {now[name]}" for name, was in found.claimed.items() if was != now[name]]
    if raised:
        yield from out.wrapped(f"Raised by its floor: {', '.join(raised)}.", rest=_ITEM)


def _people(found: Explanation, out: Terminal) -> Iterator[str]:
    able = [each for each in found.deciders if each.channels]
    yield from _listing("Who could approve it now:", able, out)
    if found.strangers:
        groups = listed(found.strangers, "or")
        yield from out.wrapped(visible(f"Whoever an issuer says is in {groups} could, too."), rest=_ITEM)
    would = [each for each in found.deciders if each.would and not each.channels]
    yield from _listing("Who could, with a credential:", would, out)
    if found.later:
        yield from out.wrapped(f"Later also: {', '.join(map(visible, found.later))}", rest=_ITEM)
    yield from _listing("Who could not:", [each for each in found.deciders if not each.could], out)


def _listing(title: str, people: Iterable[Decider], out: Terminal) -> Iterator[str]:
    for place, each in enumerate(people):
        if not place:
            yield title
        ways = ", ".join(each.channels or each.would)
        also = f" (an alias of {each.alias_of!r}: they count once)" if each.alias_of else ""
        name = each.id if each.name is None else f"{each.name} ({each.id})"
        yield from _item(out, f"{name}: {each.why_not or ways + also}")


def _item(out: Terminal, text: str) -> list[str]:
    return out.wrapped(visible(text), first=_ITEM, rest=_BELOW)


def _bold(told: list[str], word: str, out: Terminal) -> list[str]:
    """The lines, with a word of the first in bold where it was not parted."""
    return [told[0].replace(word, out.paint(word, Ink.BOLD), 1), *told[1:]]
