"""What callers hand over to the scripts: attempts, judged as far as they can be without the record."""

from msgspec import Struct

from placet.domain.limits import USE_WITHIN_MAX_MS
from placet.domain.machine import Change
from placet.domain.model import Ask, Sealed, Status, Vote


class Creation(Struct, frozen=True, kw_only=True):
    """What create.lua needs beside the ask itself.

    ``join`` is a hash of what makes two questions the same; ``idempotency`` the hash of the caller's key,
    and that of the admitted body. Hashes that name a key are text, ``nonce`` and the body's are raw bytes.
    """

    sealed: Sealed
    digest: str
    call: str
    input: bytes | None
    nonce: bytes
    join: str
    chosen_id: bool
    expires_in_ms: int | None
    expires_at_ms: int | None
    expires_most_ms: int
    idempotency: tuple[str, bytes] | None
    required: int = 1

    def flat(self, ask: Ask, now_ms: int, expires_at_ms: int) -> tuple[bytes, ...]:
        """The compared fields as create.lua writes them, in its order, each after its letter."""
        known: tuple[bytes, ...] = (
            b"s",
            Status.PENDING.encode(),
            b"g",
            bytes.fromhex(self.digest),
            b"c",
            bytes.fromhex(self.call),
            b"k",
            ask.asked_by.encode(),
            b"x",
            b"%d" % expires_at_ms,
            b"q",
            b"%d" % self.required,
            b"t",
            b"%d" % now_ms,
            b"n",
            self.nonce,
            b"j",
            self.join.encode(),
        )
        if ask.audience != ask.asked_by:
            known += (b"u", ask.audience.encode())
        if ask.use_within_ms is not None:
            known += (b"w", b"%d" % ask.use_within_ms)
        if self.idempotency is not None:
            known += (b"d", self.idempotency[0].encode())
        if ask.run:
            known += (b"r", ask.run.encode())
        return known


class Spending(Struct, frozen=True, kw_only=True):
    """An attempt to consume, ready for the script.

    ``token_digest``, ``token_from_ms`` and ``token_exp_ms`` are of a token whose signature and names held.
    ``refusal``: the word to refuse a grant with that would be spent else. ``sees``: may see the record
    without being a party.
    """

    client: str
    credential: str | None
    sees: bool
    execution_id: str
    nonce: bytes
    call: str
    input: bytes | None
    token_digest: str | None
    token_from_ms: int
    token_exp_ms: int
    refusal: str | None


class Ballot(Struct, frozen=True, kw_only=True):
    """A vote on its way.

    ``person`` tells the voter from others, whichever way they come in. ``refusal`` is the word to refuse the
    vote with if the state allows one at all. ``required`` and ``rejections`` are how many people it takes
    either way today; ``change`` is what an edit makes of the question; ``use_within_most_ms`` is the longest
    life of the grant. ``seen`` is what it was judged by (:attr:`Record.votes`), ``weighed`` what those votes
    come to today, packed.
    """

    vote: Vote
    sealed: Sealed
    person: str
    hidden: bool
    refusal: str | None
    required: int
    rejections: int
    seen: int
    weighed: str
    change: Change | None = None
    use_within_most_ms: int = USE_WITHIN_MAX_MS
