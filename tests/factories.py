"""Values for tests: valid ones by default, each member to be overridden."""

import secrets
from typing import Any

import msgspec
from msgspec import Raw

from placet.application.callers import Caller
from placet.application.grants import hashes_of
from placet.domain import binding
from placet.domain.authority import Authority, Rulebook
from placet.domain.canonical import canonicalize
from placet.domain.limits import Limits
from placet.domain.machine import Change
from placet.domain.model import (
    Actor,
    ActorKind,
    Ask,
    Edited,
    Effect,
    Person,
    Presentation,
    Risk,
    Sealed,
    Verdict,
    Vote,
)
from placet.domain.principals import Approver, Client, Principal
from placet.domain.tally import Tally
from placet.store.attempts import Ballot, Creation, Spending
from placet.store.codec import encode

NO_RULES = Rulebook()

T0_MS = 1_800_000_000_000
"""Where a test clock starts: 2027-01-15T08:00:00Z."""


class ManualClock:
    """A clock that only a test moves; timers run when it passes them."""

    def __init__(self, now_ms: int = T0_MS) -> None:
        self._now_ms = now_ms
        self._timers: list[tuple[int, int, ManualTimer]] = []

    def now_ms(self) -> int:
        """Wall time, Unix milliseconds."""
        return self._now_ms

    def monotonic_s(self) -> float:
        """The same in seconds."""
        return self._now_ms / 1000

    def call_later(self, seconds: float, callback: Any) -> "ManualTimer":
        """Call back when the clock has been moved that far."""
        timer = ManualTimer(callback)
        self._timers.append((self._now_ms + round(seconds * 1000), len(self._timers), timer))
        return timer

    @property
    def timers(self) -> int:
        """Timers that wait."""
        return sum(timer.callback is not None for _, _, timer in self._timers)

    def move(self, by_ms: int) -> None:
        """Move on (or back) and run what has become due."""
        self._now_ms += by_ms
        due = sorted(entry for entry in self._timers if entry[0] <= self._now_ms)
        self._timers = [entry for entry in self._timers if entry[0] > self._now_ms]
        for _, _, timer in due:
            timer.run()


class ManualTimer:
    """One put-off call."""

    def __init__(self, callback: Any) -> None:
        self.callback = callback

    def cancel(self) -> None:
        """Take it back."""
        self.callback = None

    def run(self) -> None:
        """Run it, once."""
        callback, self.callback = self.callback, None
        if callback is not None:
            callback()

    def __lt__(self, other: object) -> bool:
        return False


def an_ask(**changes: Any) -> Ask:
    """A refund by an agent, asked for by the client ``runtime``."""
    members: dict[str, Any] = {
        "id": "apr_" + secrets.token_hex(8),
        "tenant": "default",
        "asked_by": "runtime",
        "audience": "runtime",
        "capability": "orders.refund",
        "surface": "direct",
        "actor": Actor(id="agent-7", kind=ActorKind.AGENT),
        "effect": Effect.EXTERNAL,
        "context": Raw(b"{}"),
        "input_hash": binding.input_hash(canonicalize({"order": "A-1", "amount": 5})),
        "input_held": True,
        "risk": Risk.MEDIUM,
        "reasons": (),
        "types": (),
        "allowed_decisions": (Verdict.APPROVE, Verdict.REJECT),
        "presentation": Presentation(),
        "run": None,
        "use_within_ms": None,
        "deadline": "default",
        "extensions": Raw(b"{}"),
        "owners": (),
    }
    return Ask(**{**members, **changes})


def members_of(ask: Ask) -> binding.Call:
    """What a consumer of ``ask`` presents."""
    return binding.call_members(
        tenant=ask.tenant,
        capability=ask.capability,
        surface=ask.surface,
        actor_id=ask.actor.id,
        actor_kind=ask.actor.kind,
        effect=ask.effect,
        context=msgspec.json.decode(ask.context),
        hash_of_input=ask.input_hash,
    )


def call_of(ask: Ask) -> str:
    """The call hash of ``ask``."""
    return binding.call_hash(members_of(ask))


def digest_of(ask: Ask) -> str:
    """The digest of ``ask``."""
    return binding.digest(members_of(ask), binding.display_hash(ask))


INPUT = canonicalize({"order": "A-1", "amount": 5})
CHANGED: dict[str, Any] = {"order": "A-1", "amount": 4}
"""What an approver makes of it."""


def a_caller(principal: Principal, *others: Principal, rulebook: Rulebook = NO_RULES) -> Caller:
    """An authenticated principal, alone in its tenant or among others."""
    everybody = (principal, *others)
    authority = Authority(
        tenant=principal.tenant,
        clients={each.name: each for each in everybody if isinstance(each, Client)},
        approvers={each.id: each for each in everybody if isinstance(each, Approver)},
        people=rulebook.people,
        policies=rulebook.policies,
    )
    return Caller(principal=principal, epoch=1, authority=authority)


def unsealed(words: Ask | Vote) -> Sealed:
    """What the store keeps of an ask or a vote that nobody is going to prove."""
    return Sealed(document=encode(words), seal="")


def a_creation(ask: Ask, **changes: Any) -> Creation:
    """What the store needs to create ``ask``: fifteen minutes, no key, an id of its own."""
    members: dict[str, Any] = {
        "sealed": unsealed(ask),
        "digest": digest_of(ask),
        "call": call_of(ask),
        "input": INPUT if ask.input_held else None,
        "nonce": secrets.token_bytes(12),
        "join": secrets.token_hex(16),
        "chosen_id": False,
        "expires_in_ms": 900_000,
        "expires_at_ms": None,
        "expires_most_ms": Limits().expires_in_max_ms,
        "idempotency": None,
    }
    return Creation(**{**members, **changes})


def a_ballot(ask: Ask, person: str = "ann", verdict: Verdict = Verdict.APPROVE, **changes: Any) -> Ballot:
    """A vote on ``ask`` as it stands."""
    vote = Vote(
        decision=verdict,
        approver=Person(id=person),
        channel="api",
        submitted_by=None,
        comment=None,
        digest=changes.pop("digest", digest_of(ask)),
        edited=changes.pop("edited", None),
    )
    return Ballot(
        **{
            "vote": vote,
            "sealed": unsealed(vote),
            "person": person,
            "hidden": False,
            "refusal": None,
            "required": 1,
            "rejections": 1,
            "seen": 0,
            "weighed": "",
            **changes,
        }
    )


def tallied(*votes: Vote) -> Tally:
    """These votes, the last of them on the card as it is."""
    return Tally(digest=votes[-1].digest if votes else "", votes=votes)


def a_change(ask: Ask, value: object = CHANGED, *, counts: bool = False) -> Change:
    """What an edit that sets the input to ``value`` makes of ``ask``."""
    canonical = canonicalize(value)
    digest, call = hashes_of(ask, binding.input_hash(canonical))
    return Change(digest=digest, call=call, input=canonical, counts=counts)


def an_edit(ask: Ask, change: Change, person: str = "ann", **changes: Any) -> Ballot:
    """A vote that changes ``ask``, as it was asked unless ``digest`` is of another card."""
    edited = Edited(input_hash=binding.input_hash(change.input), digest=change.digest, counts=change.counts)
    return a_ballot(ask, person, Verdict.EDIT, edited=edited, change=change, **changes)


def a_spending(ask: Ask, **changes: Any) -> Spending:
    """An attempt by the audience to run exactly ``ask``, with a token that lives long."""
    members: dict[str, Any] = {
        "client": ask.audience,
        "credential": None,
        "sees": False,
        "execution_id": "exec-1",
        "nonce": secrets.token_bytes(12),
        "call": call_of(ask),
        "input": INPUT if ask.input_held else None,
        "token_digest": digest_of(ask),
        "token_from_ms": 0,
        "token_exp_ms": T0_MS * 2,
        "refusal": None,
    }
    return Spending(**{**members, **changes})
