"""The tokens that this process has minted: what is in them need not be proven to it again.

Most tokens come back to the process that minted them, once. Kept by their SHA-256, so that nothing here could
be presented, and bounded; a token that was forgotten, or minted elsewhere, is verified as any other.
"""

from hashlib import sha256

from placet.domain.kept import Kept
from placet.tokens.claims import TokenClaims

KEPT_TOKENS = 8192
"""Some 10 MB. At 500 grants a second that is the time a runtime takes to consume what it was just granted."""


class Minted:
    """What was minted, with the key that signed it."""

    def __init__(self) -> None:
        self._known: Kept[bytes, tuple[str, TokenClaims]] = Kept(KEPT_TOKENS)

    def remember(self, token: str, kid: str, claims: TokenClaims) -> None:
        """Take note of a token."""
        self._known.put(_name(token), (kid, claims))

    def known(self, token: str) -> tuple[str, TokenClaims] | None:
        """Key id and claims, where it is letter for letter one of ours."""
        return self._known.get(_name(token))


def _name(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogatepass")).digest()
