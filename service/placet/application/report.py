"""Report: how the execution that a grant was spent on ended."""

from placet.application.callers import Caller
from placet.application.commands import ReportOutcome
from placet.application.grants import Seals
from placet.domain.error_terms import Issue
from placet.domain.errors import InputInvalid
from placet.domain.limits import Limits
from placet.domain.model import Approval
from placet.domain.principals import Client
from placet.store.approvals import Approvals
from placet.store.codec import Report


class ReportExecution:
    """The use case: the first report stands."""

    def __init__(self, store: Approvals, seals: Seals, limits: Limits) -> None:
        self._store = store
        self._seals = seals
        self._limits = limits

    async def __call__(
        self, caller: Caller, client: Client, approval_id: str, body: ReportOutcome
    ) -> Approval:
        """Report.

        Raises:
            InputInvalid: The summary is too long.
            PlacetError: Any refusal in the order of judgement (:func:`machine.judge_outcome`).
            Rejudge: Credentials changed meanwhile.
        """
        if body.summary is not None and len(body.summary) > self._limits.outcome_summary_max_chars:
            most = self._limits.outcome_summary_max_chars
            raise InputInvalid([Issue(path="/summary", message=f"It must be at most {most} characters.")])
        report = Report(
            by=client.name, status=body.status, summary=body.summary, credential=caller.credential
        )
        answer = await self._store.report(
            caller.tenant,
            approval_id,
            body.execution_id,
            report,
            sees=client.sees(),
            epoch=caller.epoch,
        )
        return self._seals.taken(answer, client.name)
