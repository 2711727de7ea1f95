"""Whether a rule's terms make sense by themselves, and its ``stricter`` blocks only tighten them."""

from collections.abc import Collection, Iterator

from msgspec import UNSET

from placet.domain.authority import is_grave
from placet.domain.checks.combining import combined
from placet.domain.durations import spell
from placet.domain.limits import Limits
from placet.domain.patterns import covers
from placet.domain.people import Fault, Path
from placet.domain.rules import Escalation, Floor, Rule, Stricter, Terms
from placet.domain.voters import CHANNEL_WEB


def faults_of(path: Path, rule: Rule, floors: Collection[Floor], limits: Limits) -> Iterator[Fault]:
    """Members that contradict each other, or could never have an effect."""
    terms = rule.terms
    yield from _faults_of_waits(path, terms, limits)
    if terms.escalation is not None:
        yield from _faults_of_escalation((*path, "escalate"), terms, terms.escalation, limits)
    if terms.self_approval and terms.quorum > 1:
        message = (
            f"Self-approval is for one person's plain confirmation, and here it takes {terms.quorum}: "
            "write quorum = 1, or remove self_approval."
        )
        yield Fault(path=(*path, "self_approval"), message=message)
    if terms.hidden_input and all(_is_grave(pattern, floors) for pattern in rule.capabilities):
        message = (
            "This can never apply: [[capabilities]] says that all this is destructive, external, of high or "
            "of critical risk, and then somebody must see the input. Remove hidden_input."
        )
        yield Fault(path=(*path, "hidden_input"), message=message)
    for number, block in enumerate(rule.stricter):
        yield from _faults_of_block((*path, "stricter", number), terms, block)
    yield from _faults_of_channels(path, rule)


def _is_grave(pattern: str, floors: Collection[Floor]) -> bool:
    return any(
        is_grave(floor.effect, floor.risk) and any(covers(wider, pattern) for wider in floor.capabilities)
        for floor in floors
    )


def _faults_of_waits(path: Path, terms: Terms, limits: Limits) -> Iterator[Fault]:
    longest = limits.expires_in_max_ms, limits.use_within_max_ms
    bounds = {"expires_in": terms.expires_in_ms, "use_within": terms.use_within_ms}
    for (name, (default_ms, most_ms)), longest_ms in zip(bounds.items(), longest, strict=True):
        for member, ms in (("default", default_ms), ("max", most_ms)):
            if ms is not None and ms > longest_ms:
                message = (
                    f"The service allows {spell(longest_ms)} at most (PLACET_{name.upper()}_MAX_MS): "
                    f'write "{spell(longest_ms)}" or less.'
                )
                yield Fault(path=(*path, name, member), message=message)
        if default_ms is not None and most_ms is not None and default_ms > most_ms:
            message = f'The default is longer than max: write "{spell(most_ms)}" or less.'
            yield Fault(path=(*path, name, "default"), message=message)
    least_ms = limits.expires_in_min_ms
    for member, ms in zip(("default", "max"), terms.expires_in_ms, strict=True):
        if ms is not None and ms < least_ms:
            message = f'The service asks for {spell(least_ms)} at least: write "{spell(least_ms)}" or more.'
            yield Fault(path=(*path, "expires_in", member), message=message)


def _faults_of_escalation(
    path: Path, terms: Terms, escalation: Escalation, limits: Limits
) -> Iterator[Fault]:
    default_ms, most_ms = terms.expires_in_ms
    longest_ms = min(most_ms or limits.expires_in_max_ms, limits.expires_in_max_ms)
    usual_ms = min(default_ms or limits.expires_in_default_ms, longest_ms)
    if escalation.after_ms >= longest_ms:
        message = (
            f"No question waits so long: it is over after {spell(longest_ms)} at the latest. Write a shorter "
            "time here, or a longer expires_in.max."
        )
        yield Fault(path=(*path, "after"), message=message)
    elif escalation.after_ms >= usual_ms:
        message = (
            f"A question waits {spell(usual_ms)} where nothing longer is asked for, and is over by then: "
            "write a shorter time here, or a longer expires_in.default."
        )
        yield Fault(path=(*path, "after"), message=message, warns=True)
    if escalation.groups and terms.approvers and escalation.groups <= terms.approvers[0].groups:
        message = "These groups decide from the beginning: name further ones, or remove escalate."
        yield Fault(path=(*path, "groups"), message=message)


def _faults_of_block(path: Path, terms: Terms, block: Stricter) -> Iterator[Fault]:
    """What a block would loosen."""
    loosened: dict[str, tuple[bool, str]] = {
        "quorum": (
            block.quorum is not UNSET and block.quorum < terms.quorum,
            f"quorum = {terms.quorum} or more",
        ),
        "rejections": (
            block.rejections is not UNSET and block.rejections > terms.rejections,
            f"rejections = {terms.rejections} or less, for fewer refusals are stricter",
        ),
        "channels": (
            block.channels is not UNSET
            and terms.channels is not None
            and not block.channels <= terms.channels,
            f"no other than {_listed(terms.channels)}",
        ),
        "comment": (
            block.comment is not UNSET and block.comment.rank < terms.comment.rank,
            f'comment = "{terms.comment}"',
        ),
        "edit": (
            block.edit is not UNSET and block.edit.rank > terms.edit.rank,
            f'edit = "{terms.edit}"',
        ),
        "self_approval": (block.self_approval is True and not terms.self_approval, "self_approval = false"),
        "hidden_input": (block.hidden_input is True and not terms.hidden_input, "hidden_input = false"),
        "step_up": (block.step_up is False and terms.step_up is not False, "step_up = true"),
    }
    for name, (is_looser, remedy) in loosened.items():
        if is_looser:
            yield _looser((*path, name), remedy)
    waits = {
        "expires_in": (block.expires_in_max_ms, terms.expires_in_ms[1]),
        "use_within": (block.use_within_max_ms, terms.use_within_ms[1]),
    }
    for name, (most_ms, rule_s_ms) in waits.items():
        if most_ms is not UNSET and rule_s_ms is not None and most_ms > rule_s_ms:
            yield _looser((*path, name, "max"), f'"{spell(rule_s_ms)}" or less')


def _looser(path: Path, remedy: str) -> Fault:
    message = f"A stricter block only tightens its rule, and this would loosen it: write {remedy}."
    return Fault(path=path, message=message)


def _faults_of_channels(path: Path, rule: Rule) -> Iterator[Fault]:
    """Terms under which there is no channel left."""
    for case in combined(rule):
        channels = case.terms.channels
        place = (*path, *case.place)
        if channels is not None and not channels:
            message = f"No channel is left {case.when}: name one that its rule and its other blocks allow."
            yield Fault(path=(*place, "channels"), message=message)
            return
        if case.terms.step_up and channels is not None and CHANNEL_WEB not in channels:
            message = (
                f"A fresh sign-in is asked for {case.when}, and only the web can ask for one: "
                'add "web" to channels, or remove step_up.'
            )
            yield Fault(path=(*place, "step_up"), message=message)
            return


def _listed(channels: Collection[str] | None) -> str:
    return ", ".join(f'"{channel}"' for channel in sorted(channels or ()))
