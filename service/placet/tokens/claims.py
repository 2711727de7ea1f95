"""What an approval token says: claims of RFC 7519 and OpenID Connect, and five of our own.

The JSON object holds exactly the members below, in this order, none of them optional.
"""

from typing import Annotated

from msgspec import Meta, Struct

TOKEN_LIFETIME_MS = 15 * 60 * 1_000
"""A token's longest life. Reading the record mints a fresh one, so nobody needs a longer one."""

MAX_LIFETIME_S = TOKEN_LIFETIME_MS // 1_000 + 1
"""The longest ``exp - iat`` ever minted: the lifetime, and the second that rounding ``exp`` up adds."""

IAT_LEEWAY_MS = 5_000
"""How far ahead of the verifier's clock a token may have been minted; ``exp`` has no leeway."""

MAX_TOKEN_BYTES = 8 * 1_024
"""No longer token is minted or looked at: four times the longest that ordinary names give."""

TOKEN_TYPE = "approval+jwt"  # noqa: S105 - a media type (RFC 8725 section 3.11), not a secret
ALGORITHM = "EdDSA"

Text = Annotated[str, Meta(min_length=1)]
Sha256Hex = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
# Beyond 2^53 - 1 JSON readers disagree about integers (RFC 8259 section 6).
Whole = Annotated[int, Meta(ge=0, le=2**53 - 1)]


class ApproverClaim(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One of those who said yes: ``{"id": <opaque person id>, "at_ms": <Unix milliseconds>}``.

    The id is the directory's, never a name or an address: tokens travel further than records.
    """

    id: Text
    at_ms: Whole


class TokenClaims(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The claims of one approval token. ``iat`` and ``exp`` are Unix seconds (RFC 7519 §4.1).

    Attributes:
        iss: the service's public URL.
        aud: the one client that may consume.
        azp: the client that asked.
        sub: the actor's id, as the asker vouched for it.
        jti: the approval's id. Single use belongs to that record, never to this text.
        iat: when it was minted, floored.
        exp: dead *at* this second (RFC 7519 §4.1.4).
        tenant: the tenant that the approval belongs to.
        cap: the capability.
        dig: the digest that was approved.
        ih: the hash of the effective input.
        apr: who approved, and when; at least one.
    """

    iss: Text
    aud: Text
    azp: Text
    sub: Text
    jti: Text
    iat: Whole
    exp: Whole
    tenant: Text
    cap: Text
    dig: Sha256Hex
    ih: Sha256Hex
    apr: Annotated[tuple[ApproverClaim, ...], Meta(min_length=1)]

    @property
    def from_ms(self) -> int:
        """When the token begins to count, Unix milliseconds: ``iat``, and what clocks may differ by."""
        return self.iat * 1_000 - IAT_LEEWAY_MS

    @property
    def exp_ms(self) -> int:
        """``exp`` in Unix milliseconds: the token is dead when ``now_ms >= exp_ms``."""
        return self.exp * 1_000
