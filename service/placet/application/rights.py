"""Rights, judged again when a grant is to be used: do those who approved it still decide such a thing?

Judged from the record whenever it is at hand, which is when a token is fetched, and remembered with the
epoch. While nothing changes, consuming needs no look at the record; after a change it is read first.
"""

from msgspec import Struct

from placet.application.callers import Caller
from placet.domain.errors import Forbidden
from placet.domain.kept import Kept
from placet.domain.model import Approval, Effect, Status
from placet.domain.tally import Tally

KEPT_JUDGEMENTS = 8192
"""Grants of which the latest judgement is kept, some 3 MB. One that was forgotten is judged again."""


class Judged(Struct, frozen=True, kw_only=True):
    """What was found of a grant, and what its asker calls its effect where a rule raised that."""

    epoch: int
    refusal: Forbidden | None
    claimed: Effect
    effect: Effect

    def effective(self, presented: Effect) -> Effect:
        """The effect that a consumer means: what it asked with is what was made of that."""
        return self.effect if presented is self.claimed else presented


class Rights:
    """What is known of grants at each one's latest epoch."""

    def __init__(self) -> None:
        self._judged: Kept[tuple[str, str], Judged] = Kept(KEPT_JUDGEMENTS)

    def known(self, caller: Caller, approval_id: str) -> Judged | None:
        """What was found at the caller's own epoch."""
        judged = self._judged.get((caller.tenant, approval_id))
        return judged if judged is not None and judged.epoch == caller.epoch else None

    def of(self, caller: Caller, approval: Approval) -> Judged:
        """What is known of a record, or is found of it now."""
        return self.known(caller, approval.ask.id) or self.judge(caller, approval)

    def judge(self, caller: Caller, approval: Approval) -> Judged:
        """Judge a record by the authority of the caller's epoch. Anything but a grant is refused nothing."""
        ask = approval.ask
        refusal = None
        if approval.status is Status.APPROVED:
            refusal = caller.authority.judge_grant(ask, Tally.of(approval))
        judged = Judged(
            epoch=caller.epoch,
            refusal=refusal,
            claimed=ask.effect if ask.claimed is None else ask.claimed.effect,
            effect=ask.effect,
        )
        if approval.status is Status.APPROVED:
            self._judged.put((caller.tenant, ask.id), judged)
        return judged
