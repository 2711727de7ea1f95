"""Every bound of the service: those an operator may move (`Limits`) and those that are fixed.

Each number carries its unit in its name and, where it is not our own choice, its source. "Characters" are
Unicode code points. A pattern is meant for the whole text: `re.fullmatch`, or `whole` where only a search is
on offer.
"""

from typing import Annotated, Any, Final

from msgspec import Meta, Struct

_SECOND_MS: Final = 1_000
_MINUTE_MS: Final = 60 * _SECOND_MS
_DAY_MS: Final = 24 * 60 * _MINUTE_MS
_KIB: Final = 1_024

# Tokens and keys (design §6).
TOKEN_MAX_AGE_MS: Final = 15 * _MINUTE_MS
"""An approval token lives no longer than this after it was minted."""
TOKEN_MAX_CHARS: Final = 8_192
"""Longer texts are not parsed as tokens; ours stay under 2 000."""
JWKS_MAX_AGE_S: Final = 300
"""`max-age` of the JWKS, and so how long a new key is published before it signs."""

# Deadlines (design §2).
USE_WITHIN_MAX_MS: Final = _DAY_MS
"""No grant waits longer to be used, whatever was asked for."""
GRANT_FLOOR_MS: Final = _MINUTE_MS
"""Without `use_within_ms` a grant can be used for at least this long after the decision."""
CLOCK_BEHIND_MAX_MS: Final = _MINUTE_MS
"""By how much the store's clock may be behind the latest moment a tenant was judged by: until it has caught
up that tenant's time stands still, and no deadline passes. Further behind, nothing of it is judged at all."""
SSE_HEARTBEAT_S: Final = 15
"""Longest silence on an event stream: idle proxies cut connections, the strictest usual ones at 30 s."""

# Names. All are compared byte by byte, so all but people's ids are plain ASCII: nothing to confuse.
ID_PATTERN: Final = r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}"
"""Approval ids (design §4); names of clients too. Safe as one segment of a path and of a store key."""
TENANT_PATTERN: Final = r"[a-z0-9][a-z0-9-]{0,62}"
"""Tenants (design §8): a DNS label, and without the braces that would end a cluster hash tag."""
IDEMPOTENCY_KEY_PATTERN: Final = r"[!-~]{1,128}"
"""`Idempotency-Key` (design §4): visible ASCII."""
CAPABILITY_PATTERN: Final = r"[!-)+-~]{1,200}"
"""Capabilities and surfaces: visible ASCII but for the asterisk, which patterns over them use as wildcard.

Wide enough for every tool-name rule in use (OpenAI 64 and MCP 128 characters of letters, digits, `_-./`).
"""
RUN_PATTERN: Final = r"[A-Za-z0-9_][A-Za-z0-9._:@=+~-]{0,199}"
"""Runs: one segment of a path (`/v1/runs/{run}/cancel`), so without slash, query, fragment or escapes."""
EXECUTION_ID_PATTERN: Final = r"[!-~]{1,200}"
"""Execution ids: visible ASCII, whatever makes one (UUID, trace id, Temporal's `workflow/run/activity`)."""

# Words of a request. A card has to be judged in ten seconds (design §10); nothing here is meant for prose.
PERSON_ID_MAX_CHARS: Final = 256
"""Ids of actors, approvers and owners: an e-mail address has at most 254 (RFC 3696 erratum 1690)."""
DISPLAY_NAME_MAX_CHARS: Final = 200
ON_BEHALF_OF_MAX_ITEMS: Final = 16
REASON_MAX_CHARS: Final = 500
REASONS_MAX_ITEMS: Final = 32
TYPE_MAX_CHARS: Final = 100
TYPES_MAX_ITEMS: Final = 32
TITLE_MAX_CHARS: Final = 200
SUMMARY_MAX_CHARS: Final = 2_000
POINTER_MAX_CHARS: Final = 1_000
REDACT_MAX_ITEMS: Final = 64
CONFIRMATION_SUMMARY_MAX_CHARS: Final = 300
"""`summary` of the confirmation face of a pending record (design §5)."""

# Calls.
BODY_TIMEOUT_S: Final = 30
"""A body has to be here by then: a caller that trickles bytes holds nothing for longer."""
JUDGED_MAX: Final = 32
"""Judgements of one call while credentials keep changing under it; then it is asked to come back. A long wait
may meet many a change."""
OVERTAKEN_MAX: Final = 100
"""Readings of a record for one vote while others vote on it; then the voter is asked to come back. Each was
in vain because somebody else's vote was taken, and few questions get as many."""
CHANGES_MAX: Final = 32
"""Changes of one input by approvers: whoever reads the record reads all of them."""
SIGN_ON_MS: Final = 10 * _MINUTE_MS
"""Whoever went to their provider is back by then: a password, a second factor, a phone that was elsewhere."""
SESSION_LONGEST_MS: Final = 90 * _DAY_MS
"""No session can be set to last longer, and so no mark of whom an operator has signed out has to."""
SIGN_IN_LINK_MS: Final = 5 * _MINUTE_MS
"""How long a printed sign-in link can be used."""
SLACK_BODY_MAX_BYTES: Final = 256 * _KIB
"""What Slack sends with a click holds all of the message, and each of its characters may take nine bytes."""
SLACK_ACK_S: Final = 2.5
"""Within this time a click is acknowledged, whatever store and Slack do: after three seconds Slack gives up
(https://docs.slack.dev/interactivity/handling-user-interaction#acknowledgment_response)."""
SLACK_PATIENCE_S: Final = 10.0
"""How long whoever clicked waits for a word: then they are told that it isn't certain whether it counted."""
SLACK_WORK_S: Final = 50.0
"""How long a click is worked on at most: within the minute after which they are told to click again."""
SLACK_TASKS_MAX: Final = 512
"""What one process has under way for clicks at a time; whoever clicks then has to click again."""
BATCH_MAX_ITEMS: Final = 100
"""Decisions in one `POST /v1/decisions` (design §4)."""
CURSOR_MAX_CHARS: Final = 512
"""Longer texts are no cursors of ours."""
ASK_BYTES: Final = 16 * _KIB
"""What one ask of the rate limit may have the store keep; a larger one counts once for each such part."""
UNDECIDED_INPUT_RETENTION_MS: Final = _DAY_MS
"""Longest that an input is kept after its question expired or was cancelled with nobody having decided it: no
person's judgement stands between a client and such an input, and a client could fill the store with them."""

# Failed authentication, in one process. A credential has 256 random bits: what is bounded is work, not luck.
FAILURES_BURST: Final = 100
"""Attempts of one address that may fail at once before they are told to come more slowly ..."""
FAILURES_EVERY_MS: Final = _SECOND_MS
"""... and one more every so often."""
FAILURES_OF_ALL_BURST: Final = 1_000
"""The same of all addresses together ..."""
FAILURES_OF_ALL_EVERY_MS: Final = 50
"""... and so the pace at which a flood, however wide, may have single credentials looked up."""
FAILURE_SOURCES_MAX: Final = 10_000
"""Addresses whose budget is kept, the latest: some megabytes."""
NEWCOMERS_EVERY_S: Final = 1
"""How often the store is asked what is new in a tenant while budgets are spent, and so how long a credential
that was made just now may have to wait then."""


ASCENDING_LIMITS: Final = (
    ("page_default", "page_max"),
    ("expires_in_min_ms", "expires_in_default_ms"),
    ("expires_in_default_ms", "expires_in_max_ms"),
    ("live_pending_per_client", "live_pending_per_tenant"),
    ("input_retention_ms", "record_retention_ms"),
)
"""Fields of `Limits` of which the first must not be greater than the second."""


def whole(pattern: str) -> str:
    r"""Anchor a pattern for validators that search (msgspec, JSON Schema) instead of matching the whole text.

    Python's ``$`` alone would let one trailing newline through; ``\Z`` is unknown to JSON Schema's dialect.
    """
    return rf"^(?:{pattern})$(?!\n)"


def _bound(meaning: str, unit: str, *, ge: int, le: int) -> Any:  # noqa: ANN401 (typing has no name for Meta)
    """Describe one limit: what it bounds, its unit, and the range an operator may choose from."""
    return Meta(description=meaning, ge=ge, le=le, extra={"unit": unit})


class Limits(Struct, frozen=True, kw_only=True):
    """The limits of design §11: each may be set by an operator, within the range given beside it.

    The upper ends of the ranges are where something else would give way first: memory per request, the
    recursion of parsers, an HTTP client's patience, the arithmetic of 53-bit numbers in the store's scripts.

    Raises:
        ValueError: two limits contradict each other.
    """

    max_body_bytes: Annotated[int, _bound("Largest request body", "bytes", ge=_KIB, le=16 * _KIB * _KIB)] = (
        256 * _KIB
    )
    max_input_depth: Annotated[
        int, _bound("Deepest nesting of `input` and of `context`", "levels", ge=1, le=256)
    ] = 64
    page_default: Annotated[
        int, _bound("Page size of a list where none is asked", "records", ge=1, le=1_000)
    ] = 50
    page_max: Annotated[int, _bound("Largest page of a list", "records", ge=1, le=1_000)] = 200
    wait_max_s: Annotated[int, _bound("Longest wait of one call", "seconds", ge=1, le=300)] = 60
    expires_in_default_ms: Annotated[
        int, _bound("How long a question waits where none is asked", "milliseconds", ge=1, le=366 * _DAY_MS)
    ] = 15 * _MINUTE_MS
    expires_in_min_ms: Annotated[
        int, _bound("Shortest wait a question may ask for", "milliseconds", ge=1, le=366 * _DAY_MS)
    ] = _SECOND_MS
    expires_in_max_ms: Annotated[
        int, _bound("Longest wait a question may ask for", "milliseconds", ge=1, le=366 * _DAY_MS)
    ] = 30 * _DAY_MS
    use_within_max_ms: Annotated[
        int,
        _bound("Longest `use_within_ms` a request may ask for", "milliseconds", ge=1, le=USE_WITHIN_MAX_MS),
    ] = USE_WITHIN_MAX_MS
    live_pending_per_client: Annotated[
        int, _bound("Most approvals of one client pending at once", "records", ge=1, le=1_000_000)
    ] = 1_000
    live_pending_per_tenant: Annotated[
        int, _bound("Most approvals of one tenant pending at once", "records", ge=1, le=1_000_000)
    ] = 10_000
    ask_rate_per_minute: Annotated[
        int,
        _bound(
            "How fast one client may ask in the long run; an ask counts once for each 16 KiB to be kept",
            "asks a minute",
            ge=1,
            le=60_000_000,
        ),
    ] = 600
    ask_burst: Annotated[
        int, _bound("How much one client may ask at once, after a pause", "asks", ge=1, le=1_000_000)
    ] = 1_000
    streams_per_credential: Annotated[
        int, _bound("Event streams that one caller may have open", "streams", ge=1, le=10_000)
    ] = 16
    session_idle_ms: Annotated[
        int, _bound("How long a web session lasts unused", "milliseconds", ge=_MINUTE_MS, le=30 * _DAY_MS)
    ] = 60 * _MINUTE_MS
    session_max_ms: Annotated[
        int,
        _bound("How long a web session lasts at most", "milliseconds", ge=_MINUTE_MS, le=SESSION_LONGEST_MS),
    ] = 12 * 60 * _MINUTE_MS
    comment_max_chars: Annotated[
        int, _bound("Longest comment on a decision", "characters", ge=1, le=100_000)
    ] = 2_000
    outcome_summary_max_chars: Annotated[
        int, _bound("Longest summary of an outcome", "characters", ge=1, le=100_000)
    ] = 2_000
    input_retention_ms: Annotated[
        int,
        _bound(
            "How long inputs are kept after a terminal state; a day at most where nobody had decided",
            "milliseconds",
            ge=1,
            le=3_660 * _DAY_MS,
        ),
    ] = 7 * _DAY_MS
    record_retention_ms: Annotated[
        int,
        # The floor is what keeps a record longer than any token that could still name it (design §8).
        _bound(
            "How long records are kept after a terminal state",
            "milliseconds",
            ge=2 * TOKEN_MAX_AGE_MS,
            le=3_660 * _DAY_MS,
        ),
    ] = 90 * _DAY_MS
    foreign_jwt_leeway_s: Annotated[
        int, _bound("Clock difference allowed in tokens of other issuers", "seconds", ge=0, le=60)
    ] = 5
    trail_refusals_kept: Annotated[
        int,
        _bound(
            "Refusals kept singly in an approval's trail before they are counted", "events", ge=1, le=10_000
        ),
    ] = 200

    def __post_init__(self) -> None:
        """Refuse limits that contradict each other."""
        problems = [
            f"{low} must not be greater than {high}"
            for low, high in ASCENDING_LIMITS
            if getattr(self, low) > getattr(self, high)
        ]
        if problems:
            raise ValueError("; ".join(problems))
