"""A caller, and the principals of a tenant among whom it is one: both as of an epoch."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Self

from msgspec import UNSET, Struct, UnsetType

from placet.domain.authority import Authority, Rulebook
from placet.domain.chat import SlackApp
from placet.domain.errors import StoreUnavailable
from placet.domain.principals import Approver, Client, Endpoint, Enrolled, Principal
from placet.domain.voters import CHANNEL_API
from placet.domain.vouched import StepUp


class Caller(Struct, frozen=True, kw_only=True):
    """An authenticated principal, the epoch at which it was one, and who may decide what at that epoch.

    ``credential`` is the id of what it showed, for the trail: a credential's key id, or an issuer's name.
    ``channel`` is how a person comes; a bridge's is its own. ``step_up`` is the sign-in that they did for the
    one decision they now take.
    """

    principal: Principal
    epoch: int
    authority: Authority
    credential: str | None = None
    channel: str = CHANNEL_API
    step_up: StepUp | UnsetType = UNSET

    @property
    def tenant(self) -> str:
        """The tenant the credential belongs to; a caller never names one."""
        return self.principal.tenant

    @property
    def name(self) -> str:
        """The client's name or the approver's id, for the audit trail."""
        return self.principal.name if isinstance(self.principal, Client) else self.principal.id


class Snapshot(Struct, frozen=True, kw_only=True):
    """A tenant's principals with a live credential, and who may decide what among them, as of ``epoch``.

    Attributes:
        epoch: When that was.
        clients: The clients, by name.
        approvers: The approvers, by id.
        by_key: All of them, by the ids of their credentials.
        rules: Who may decide what; ``None`` where this replica has not got the tenant's rules.
        endpoints: Where its events are sent, by name.
        slack: Its apps, by the workspace.
    """

    epoch: int
    clients: Mapping[str, Client]
    approvers: Mapping[str, Approver]
    by_key: Mapping[str, Principal]
    rules: Authority | None
    endpoints: Mapping[str, Endpoint] = MappingProxyType({})
    slack: Mapping[str, SlackApp] = MappingProxyType({})

    @classmethod
    def of(cls, tenant: str, epoch: int, principals: Iterable[Enrolled], rulebook: Rulebook | None) -> Self:
        """Those of ``principals`` that are not revoked: a revoked one's name is taken, and that is all."""
        principals = tuple(principals)
        live = [each for each in principals if each.keys]
        clients = {each.name: each for each in live if isinstance(each, Client)}
        approvers = {each.id: each for each in live if isinstance(each, Approver)}
        apps = () if rulebook is None else rulebook.slack.values()
        slack = {app.team: app for app in apps if app.tenant == tenant}
        rules = (
            None
            if rulebook is None
            else Authority(
                tenant=tenant,
                clients=clients,
                approvers=approvers,
                people=rulebook.people,
                policies=rulebook.policies,
                issuers=rulebook.issuers,
                in_slack=bool(slack),
                retired=tuple(each for each in principals if isinstance(each, Client) and not each.keys),
            )
        )
        return cls(
            epoch=epoch,
            clients=clients,
            approvers=approvers,
            by_key={key.kid: each for each in live if not isinstance(each, Endpoint) for key in each.keys},
            rules=rules,
            endpoints={each.name: each for each in live if isinstance(each, Endpoint)},
            slack=slack,
        )

    @property
    def authority(self) -> Authority:
        """Who may decide what.

        Raises:
            StoreUnavailable: This replica has not got the tenant's rules.
        """
        if self.rules is None:
            raise StoreUnavailable
        return self.rules
