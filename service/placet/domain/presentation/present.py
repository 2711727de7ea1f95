"""Cards made from records: the one place that decides what a card says."""

from collections.abc import Sequence
from typing import Final

from msgspec import structs

from placet.domain.presentation import phrases
from placet.domain.presentation.budget import Budget
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
from placet.domain.presentation.edits import Edits, edits
from placet.domain.presentation.gist import gist
from placet.domain.presentation.hazards import Hazard, Tally
from placet.domain.presentation.phrases import Severity
from placet.domain.presentation.seen import (
    Seen,
    SeenClaims,
    SeenOutcome,
    SeenRule,
    SeenStepUp,
    SeenVote,
    at_ms,
)
from placet.domain.presentation.tree import Tree, tree
from placet.domain.presentation.writing import Writer, in_quotes

_USUAL_SURFACE: Final = "direct"
_NO_CONTEXT: Final = frozenset({b"null", b"{}"})


def heading(seen: Seen, budget: Budget) -> Heading:
    """The part of a card that stands in a list: of the input no more than how it begins."""
    return _heading(seen, budget, Writer(budget))


def deadline(seen: Seen) -> Dies | None:
    """When a question or a grant ends by itself; None where nothing does."""
    if seen.status == "pending":
        return Dies(kind=DeadlineKind.QUESTION, at_ms=at_ms(seen.expires_at))
    if seen.status == "approved" and seen.use_by is not None:
        return Dies(kind=DeadlineKind.GRANT, at_ms=at_ms(seen.use_by))
    return None


def present(seen: Seen, budget: Budget) -> Card:
    """Make a card.

    Args:
        seen: The record, as whoever looks may see it.
        budget: The room that the medium has.
    """
    writer, rule = Writer(budget), seen.rule or SeenRule()
    shown, context, changed = _input(seen, budget, writer), _context(seen, budget), _edits(seen, budget)
    decided = tuple(_decided(vote, seen, writer) for vote in seen.decisions[-budget.items :])
    card = Card(
        **structs.asdict(_heading(seen, budget, writer)),
        follows=_follows(seen, writer),
        audience=writer.optional(seen.audience if seen.audience != seen.asked_by else None),
        on_behalf_of=writer.listing(seen.actor.on_behalf_of),
        reasons=writer.listing(seen.reasons, prose=True),
        types=writer.listing(seen.types),
        surface=writer.optional(None if seen.surface == _USUAL_SURFACE else seen.surface),
        rule=writer.optional(rule.name),
        policy=writer.optional(rule.policy),
        input=shown,
        context=context,
        quoted=Quote(
            title=writer.lines(seen.presentation.title), summary=writer.lines(seen.presentation.summary)
        ),
        edits=changed,
        hazards=_hazards(seen, shown.tree, context, changed),
        decided=decided,
        decided_missing=len(seen.decisions) - len(decided),
        used=_used(seen, writer),
        outcome=_outcome(seen, writer),
        digest=writer.optional(seen.digest),
        allowed=writer.listing(seen.allowed_decisions).items,
        was_cut=False,
        why_not=None,
        can_edit_here=False,
    )
    trees = (shown.tree, context, changed)
    was_cut = writer.was_cut or card.decided_missing > 0 or any(each and each.was_cut for each in trees)
    return _judged(structs.replace(card, was_cut=was_cut), seen, budget)


def _judged(card: Card, seen: Seen, budget: Budget) -> Card:
    """The card, with what may be done about it where it is shown (design §10)."""
    state, allowed = card.input.state, seen.allowed_decisions or ("approve", "reject")
    why_not = None
    if seen.status != "pending":
        why_not = f"It is {card.status}."
    elif seen.digest is None:
        why_not = phrases.NOT_DECIDING
    elif card.was_cut:
        why_not = phrases.CUT
    elif not budget.whole_view and state is not InputState.SHOWN:
        why_not = phrases.REDACTED_HERE if state is InputState.REDACTED else phrases.NOT_SHOWN_HERE
    return structs.replace(
        card,
        why_not=why_not or (None if "approve" in allowed else phrases.NOT_ALLOWED),
        can_edit_here=why_not is None and state is InputState.SHOWN and "edit" in allowed,
    )


def _heading(seen: Seen, budget: Budget, writer: Writer) -> Heading:
    capability = writer.text(seen.capability)
    claims = seen.claimed or SeenClaims()
    effect, verb = _effect(seen, claims, writer)
    return Heading(
        id=writer.text(seen.id),
        status=writer.text(seen.status),
        state=_state(seen, writer),
        headline=f"{capability} {verb}",
        gist=gist(seen.input, budget, redacted=_redacted(seen)) if seen.has_input else (),
        capability=capability,
        effect=effect,
        risk=Level(
            word=writer.text(seen.risk),
            words="",
            severity=phrases.RISKS.get(seen.risk, Severity.CRITICAL),
            claimed=_claimed(claims.risk, seen.risk, writer),
        ),
        asked_by=writer.text(seen.asked_by),
        actor=ActorLine(
            kind=phrases.ACTORS.get(seen.actor.kind) or writer.text(seen.actor.kind),
            id=writer.text(seen.actor.id),
            claimed_name=writer.optional(seen.actor.display_name),
        ),
        run=writer.optional(seen.run),
        requested_at_ms=at_ms(seen.requested_at),
        dies=deadline(seen),
        quorum=Progress(
            required=seen.quorum.required,
            approved=seen.quorum.approved,
            rejections=seen.quorum.rejections,
            rejected=seen.quorum.rejected,
        ),
    )


def _effect(seen: Seen, claims: SeenClaims, writer: Writer) -> tuple[Level, str]:
    """The effect, and what to say of it behind the capability."""
    word = writer.text(seen.effect)
    words, severity = phrases.EFFECTS.get(seen.effect, ("", Severity.CRITICAL))
    claimed = _claimed(claims.effect, seen.effect, writer)
    level = Level(word=word, words=words, severity=severity, claimed=claimed)
    return level, words or f"has the effect {in_quotes(word)}"


def _claimed(claimed: str, holds: str, writer: Writer) -> str | None:
    return None if claimed == holds else writer.optional(claimed)


def _state(seen: Seen, writer: Writer) -> str:
    if seen.status == "expired" and seen.use_by is not None:
        return phrases.EXPIRED_UNUSED
    if seen.status == "consumed" and seen.outcome is not None and seen.outcome.status in phrases.USED_AND:
        return phrases.USED_AND[seen.outcome.status]
    return phrases.STATES.get(seen.status) or writer.text(seen.status)


def _follows(seen: Seen, writer: Writer) -> str:
    runner = writer.text(seen.audience or seen.asked_by)
    if seen.status == "pending":
        lacking = max(seen.quorum.required - seen.quorum.approved, 1)
        more = "more " if seen.quorum.approved else ""
        approvals = f"One {more}approval lets" if lacking == 1 else f"{lacking} {more}approvals let"
        return f"{approvals} {runner} run exactly this, once."
    if seen.status == "approved" and seen.suspended is not None:
        why = phrases.SUSPENDED.get(seen.suspended) or writer.text(seen.suspended)
        return f"{runner} may not run it as things are: {why}."
    if seen.status == "approved":
        return f"{runner} may run exactly this, once."
    return "The outcome was not reported yet." if seen.consumption and not seen.outcome else ""


def _input(seen: Seen, budget: Budget, writer: Writer) -> InputView:
    if seen.has_input:
        return InputView(
            state=InputState.REDACTED if seen.input_redacted else InputState.SHOWN,
            words=phrases.REDACTED if seen.input_redacted else "",
            tree=tree(seen.input, budget, where="the input", redacted=_redacted(seen)),
            hash=writer.optional(seen.input_hash),
        )
    # Whoever may decide has the digest; a pending question's input is not erased.
    withheld = seen.status == "pending" and seen.digest is not None
    return InputView(
        state=InputState.WITHHELD if withheld else InputState.ABSENT,
        words=phrases.HASH_ONLY if withheld else phrases.ABSENT,
        tree=None,
        hash=writer.optional(seen.input_hash),
    )


def _context(seen: Seen, budget: Budget) -> Tree | None:
    if bytes(seen.context) in _NO_CONTEXT:
        return None
    return tree(seen.context, budget, where="the context")


def _edits(seen: Seen, budget: Budget) -> Edits | None:
    original = seen.requested
    if original is None or not (original.has_input and seen.has_input):
        return None
    return edits(original.input, seen.input, budget, redacted=_redacted(seen))


def _redacted(seen: Seen) -> Sequence[str]:
    """JSON Pointers of what is hidden from whoever looks."""
    return seen.presentation.redact if seen.input_redacted else ()


def _decided(vote: SeenVote, seen: Seen, writer: Writer) -> Decided:
    is_of_another = vote.digest is not None and seen.digest is not None and vote.digest != seen.digest
    why_not = phrases.OTHERS_APPROVE if vote.decision == "edit" else phrases.COUNTS_NO_MORE
    return Decided(
        verdict=writer.text(vote.decision),
        words=phrases.VERDICTS.get(vote.decision) or writer.text(vote.decision),
        person=writer.text(vote.approver.id),
        name=writer.optional(vote.approver.display_name),
        channel=writer.text(vote.channel),
        submitted_by=writer.optional(vote.submitted_by),
        at_ms=None if vote.at is None else at_ms(vote.at),
        comment=writer.lines(vote.comment),
        counts=vote.counts,
        why_not="" if vote.counts else phrases.CHANGED_SINCE if is_of_another else why_not,
        signed_in="" if vote.step_up is None else _signed_in(vote.step_up, writer),
    )


def _signed_in(step_up: SeenStepUp, writer: Writer) -> str:
    how = ", ".join(writer.text(word) for word in (step_up.acr, *step_up.amr) if word)
    return f"{phrases.SIGNED_IN} ({how})" if how else phrases.SIGNED_IN


def _used(seen: Seen, writer: Writer) -> Used | None:
    use = seen.consumption
    if use is None:
        return None
    return Used(
        client=writer.text(use.client),
        execution_id=writer.text(use.execution_id),
        at_ms=None if use.at is None else at_ms(use.at),
    )


def _outcome(seen: Seen, writer: Writer) -> Reported | None:
    outcome = seen.outcome
    if outcome is None:
        return None
    return Reported(
        status=writer.text(outcome.status),
        summary=writer.lines(outcome.summary),
        at_ms=None if outcome.at is None else at_ms(outcome.at),
    )


def _hazards(seen: Seen, *trees: Tree | Edits | None) -> tuple[Hazard, ...]:
    """All that could mislead, in the order of the card."""
    words, actor, outcome = seen.presentation, seen.actor, seen.outcome or SeenOutcome()
    people = [text for vote in seen.decisions for text in (vote.approver.id, vote.approver.display_name)]
    comments = [vote.comment for vote in seen.decisions]
    before = (
        Tally("the client").texts((seen.asked_by, seen.audience)),
        Tally("the capability").texts((seen.capability, seen.surface, seen.effect, seen.risk)),
        Tally("the actor").texts((actor.id, actor.kind, actor.display_name, *actor.on_behalf_of)),
        Tally("the reasons").texts(seen.reasons, prose=True).texts(seen.types),
        Tally("the run").texts((seen.run,)),
    )
    after = (
        Tally("the runtime's words").texts((words.title, words.summary), prose=True),
        Tally("the decisions").texts(people).texts(comments, prose=True),
        Tally("the outcome").texts((outcome.status,)).texts((outcome.summary,), prose=True),
    )
    first, last = ([hazard for tally in each for hazard in tally.hazards()] for each in (before, after))
    return (*first, *(hazard for each in trees if each for hazard in each.hazards), *last)
