"""The state machine: which state may follow which, and in what order an attempt is judged.

The laws, in the order in which they decide:

1. **The store's clock rules.** A record is judged at one ``now_ms`` that the store gives and that
   never goes back; where the server's own clock went back too far, nothing is judged at all. Its live
   deadline is ``expires_at`` while pending and ``use_by`` while approved; it is dead when
   ``now > deadline`` and alive at the very instant.
2. **A dead record is expired**, whether or not anyone has written that down yet: reads, lists and
   transitions agree (:func:`settle`).
3. **Rejected, expired, cancelled and consumed are final.** Nothing leaves them.
4. **Only a grant can be spent**, once, by the audience, for the call that was approved. The same
   execution asking again with the same call hears the same answer; it is granted nothing new.
5. **A refused attempt changes no state.**

:data:`TRANSITIONS` is the whole table. The ``judge_*`` functions are the reference for the store's
scripts, which must judge atomically and therefore judge for themselves: a state machine test drives
both with the same random verbs and times and holds them equal. ``introspect`` answers from here.
"""

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from placet.domain.limits import GRANT_FLOOR_MS, USE_WITHIN_MAX_MS
from placet.domain.model import OutcomeStatus, Status, Verdict


class Verb(StrEnum):
    """What can move a record."""

    APPROVE = "approve"
    REJECT = "reject"
    EXPIRE = "expire"
    CANCEL = "cancel"
    CONSUME = "consume"


TRANSITIONS: Mapping[tuple[Status, Verb], Status] = {
    (Status.PENDING, Verb.APPROVE): Status.APPROVED,  # once enough people have
    (Status.PENDING, Verb.REJECT): Status.REJECTED,
    (Status.PENDING, Verb.EXPIRE): Status.EXPIRED,  # now > expires_at
    (Status.PENDING, Verb.CANCEL): Status.CANCELLED,
    (Status.APPROVED, Verb.EXPIRE): Status.EXPIRED,  # now > use_by
    (Status.APPROVED, Verb.CANCEL): Status.CANCELLED,
    (Status.APPROVED, Verb.CONSUME): Status.CONSUMED,
}

TERMINAL = frozenset(Status) - {status for status, _ in TRANSITIONS}


class Ruling(StrEnum):
    """What a script or a judge says of an attempt. Anything but the first six is a refusal."""

    OK = "ok"
    """The attempt changed the record (or created it)."""
    UNCHANGED = "unchanged"
    """It had already happened, by the same caller, in the same words."""
    REPLAYED = "replayed"
    """The same execution has consumed this, or the same idempotency key has created it."""
    JOINED = "joined"
    """An identical question by the same client is still pending: here it is."""
    REJUDGE = "rejudge"
    """Credentials changed since the caller was judged; nothing was written, judge again."""
    CLOCK = "clock"
    """The store's clock is too far behind to judge by; nothing was written."""
    STALE = "stale"
    """Others voted since the record was read to judge a vote; nothing was written, read it again."""
    MISSING = "missing"
    EXISTS = "exists"
    CONFLICT = "conflict"
    DEADLINE = "deadline"
    CLIENT_FULL = "client-full"
    TENANT_FULL = "tenant-full"
    RATE = "rate"
    PENDING = "pending"
    REJECTED = "rejected"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    CONSUMED = "consumed"
    DECIDED = "decided"
    MISMATCH = "mismatch"
    TOKEN = "token"  # noqa: S105 - a word of the protocol, not a secret
    NOT_AUDIENCE = "not-the-audience"
    NOT_ASKER = "not-the-asker"
    NOT_CONSUMER = "not-the-consumer"
    REFUSED = "refused"
    """The caller was judged not entitled before the script ran; it says by which code."""
    REVERSED = "reversed"
    """Who rejected approves no more, and who changed the input does not approve the change alone."""


TAKEN = frozenset({Ruling.OK, Ruling.UNCHANGED, Ruling.REPLAYED, Ruling.JOINED})
"""What an attempt hears that had its way, now or before."""


class State(Struct, frozen=True, kw_only=True):
    """The compared fields of a record: what the store's scripts see of it.

    ``votes`` are ``(person, verdict)`` pairs on the current digest: an edit among them is one that does not
    count as its author's approval; one that does is an approval.
    """

    status: Status
    digest: str
    call: str
    asked_by: str
    audience: str
    expires_at_ms: int
    use_within_ms: int | None = None
    use_by_ms: int | None = None
    required: int = 1
    votes: tuple[tuple[str, Verdict], ...] = ()
    input: bytes | None = None
    execution_id: str | None = None
    outcome: tuple[OutcomeStatus, str | None] | None = None


def deadline_ms(state: State) -> int | None:
    """When ``state`` dies if nothing happens; ``None`` where nothing can."""
    return _deadline_ms(state.status, state.expires_at_ms, state.use_by_ms)


def _deadline_ms(status: Status, expires_at_ms: int, use_by_ms: int | None) -> int | None:
    if status is Status.PENDING:
        return expires_at_ms
    return use_by_ms if status is Status.APPROVED else None


def settle(status: Status, expires_at_ms: int, use_by_ms: int | None, now_ms: int) -> Status:
    """The status as of ``now_ms``: what it is, or expired where its deadline has passed."""
    deadline = _deadline_ms(status, expires_at_ms, use_by_ms)
    return status if deadline is None or now_ms <= deadline else TRANSITIONS[status, Verb.EXPIRE]


def use_by_ms(*, expires_at_ms: int, use_within_ms: int | None, now_ms: int) -> int:
    """The deadline of a grant decided at ``now_ms``.

    ``use_within_ms`` after the decision where it was asked for; else the later of the question's own
    deadline and a minute; never more than a day.
    """
    if use_within_ms is not None:
        return now_ms + min(use_within_ms, USE_WITHIN_MAX_MS)
    return min(max(expires_at_ms, now_ms + GRANT_FLOOR_MS), now_ms + USE_WITHIN_MAX_MS)


class Consume(Struct, frozen=True, kw_only=True):
    """An attempt to spend a grant.

    ``input`` is the canonical input, or ``None`` where only its hash was sent. ``token_digest`` is
    the ``dig`` claim of a token whose signature and names held, ``None`` where there is none;
    ``token_from_ms`` and ``token_exp_ms`` its ends: alive from the one, dead at the other. ``refusal``
    is the code that a grant is refused with, of whose approvers one may decide no more. ``sees`` says
    that the client may see the record though it is neither its asker nor its audience.
    """

    client: str
    execution_id: str
    call: str
    input: bytes | None = None
    token_digest: str | None = None
    token_from_ms: int = 0
    token_exp_ms: int = 0
    refusal: str | None = None
    sees: bool = False


def matches(state: State, attempt: Consume) -> bool:
    """Whether the call presented is the call that was asked about.

    Never hash only: where the service holds the input, its canonical bytes are compared too.
    """
    if attempt.call != state.call:
        return False
    return state.input is None or attempt.input == state.input


_IF_MATCHED: Mapping[Status, Ruling] = {
    Status.PENDING: Ruling.PENDING,
    Status.APPROVED: Ruling.OK,
    Status.CONSUMED: Ruling.REPLAYED,
}
"""What the very call that was asked about hears; nothing else is compared in the other states."""


def judge_consume(state: State, attempt: Consume, now_ms: int) -> Ruling:
    """Order of judgement for consume: the token is looked at last but for the match and the rights."""
    if attempt.client != state.audience:
        sees = attempt.sees or attempt.client == state.asked_by
        return Ruling.NOT_AUDIENCE if sees else Ruling.MISSING
    status = settle(state.status, state.expires_at_ms, state.use_by_ms, now_ms)
    if status not in _IF_MATCHED:
        return Ruling(status.value)
    if status is Status.CONSUMED and attempt.execution_id != state.execution_id:
        return Ruling.CONSUMED
    alive = attempt.token_from_ms <= now_ms < attempt.token_exp_ms
    if status is Status.APPROVED and (attempt.token_digest != state.digest or not alive):
        return Ruling.TOKEN
    if not matches(state, attempt):
        return Ruling.MISMATCH
    return Ruling.REFUSED if attempt.refusal and status is Status.APPROVED else _IF_MATCHED[status]


class Change(Struct, frozen=True, kw_only=True):
    """What an edit makes of a question: its hashes, its canonical input, and whether it is an approval."""

    digest: str
    call: str
    input: bytes
    counts: bool


class Decide(Struct, frozen=True, kw_only=True):
    """A vote: by whom, which, on what was shown.

    ``refusal`` is the code it was refused with before. ``required`` and ``rejections`` are how many people
    it takes either way; ``weighed`` is what the votes of a pending record come to by the rules of today,
    where that is not what they were cast as; ``change`` belongs to an edit.
    """

    person: str
    verdict: Verdict
    digest: str
    refusal: str | None = None
    required: int = 1
    rejections: int = 1
    weighed: tuple[tuple[str, Verdict], ...] | None = None
    change: Change | None = None

    def counting(self, state: State) -> tuple[tuple[str, Verdict], ...]:
        """The votes so far, as this one is judged by them: what is decided, is decided."""
        pending = state.status is Status.PENDING
        return state.votes if self.weighed is None or not pending else self.weighed


def judge_decide(state: State, attempt: Decide, now_ms: int) -> Ruling:
    """Order of judgement for a decision by someone who may see the record."""
    status = settle(state.status, state.expires_at_ms, state.use_by_ms, now_ms)
    counting = dict(attempt.counting(replace(state, status=status)))
    mine = counting.get(attempt.person)
    if is_rejected_by_now(state, attempt, now_ms):
        status = Status.REJECTED
    enough = status is Status.PENDING and not attempt.refusal and _approves(state, attempt, counting)
    if _is_repeated(state, attempt, mine) and not enough:
        return Ruling.UNCHANGED
    if status is not Status.PENDING:
        return Ruling(status.value) if status in {Status.EXPIRED, Status.CANCELLED} else Ruling.DECIDED
    if attempt.digest != state.digest:
        return Ruling.MISMATCH
    if attempt.refusal:
        return Ruling.REFUSED
    return Ruling.REVERSED if reverses(mine, attempt.verdict) else Ruling.OK


def reverses(mine: Verdict | None, verdict: Verdict) -> bool:
    """Whether a vote takes back what can't be: a rejection, or that one is the author of a mere change."""
    approves_own = mine is Verdict.EDIT and verdict is Verdict.APPROVE
    return approves_own or (mine is Verdict.REJECT and verdict is not Verdict.REJECT)


def is_rejected_by_now(state: State, attempt: Decide, now_ms: int) -> bool:
    """Whether enough have rejected before this vote: a rule came to ask for fewer. It is the system's act."""
    status = settle(state.status, state.expires_at_ms, state.use_by_ms, now_ms)
    rejections = [verdict for _, verdict in attempt.counting(state) if verdict is Verdict.REJECT]
    return status is Status.PENDING and len(rejections) >= attempt.rejections


def _approves(state: State, attempt: Decide, counting: Mapping[str, Verdict]) -> bool:
    """Whether an approval given again makes a grant, of approvals that are enough by now."""
    approvals = list(counting.values()).count(Verdict.APPROVE)
    return attempt.verdict is Verdict.APPROVE and approvals >= max(state.required, attempt.required)


def _is_repeated(state: State, attempt: Decide, mine: Verdict | None) -> bool:
    """Whether the vote stands already, on the digest as it is."""
    if attempt.change is None:
        return attempt.digest == state.digest and mine is attempt.verdict
    return attempt.change.digest == state.digest and mine in {Verdict.APPROVE, Verdict.EDIT}


def judge_cancel(
    state: State, client: str, now_ms: int, *, admin: bool = False, sees: bool = False
) -> Ruling:
    """Order of judgement for a withdrawal: by the client that asked, or an administrator."""
    if client != state.asked_by and not admin:
        return Ruling.NOT_ASKER if sees or client == state.audience else Ruling.MISSING
    status = settle(state.status, state.expires_at_ms, state.use_by_ms, now_ms)
    if status is Status.CANCELLED:
        return Ruling.UNCHANGED
    return Ruling.OK if (status, Verb.CANCEL) in TRANSITIONS else Ruling(status.value)


def judge_outcome(
    state: State,
    client: str,
    execution_id: str,
    outcome: tuple[OutcomeStatus, str | None],
    now_ms: int,
    *,
    sees: bool = False,
) -> Ruling:
    """Order of judgement for a report: by the client that consumed; the first report stands."""
    if client != state.audience:
        return Ruling.NOT_CONSUMER if sees or client == state.asked_by else Ruling.MISSING
    status = settle(state.status, state.expires_at_ms, state.use_by_ms, now_ms)
    if status is Status.APPROVED:
        return Ruling.CONFLICT
    if status is not Status.CONSUMED:
        return Ruling(status.value)
    if execution_id != state.execution_id or state.outcome not in {None, outcome}:
        return Ruling.CONFLICT
    return Ruling.OK if state.outcome is None else Ruling.UNCHANGED
