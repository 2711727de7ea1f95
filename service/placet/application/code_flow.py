"""The authorization code flow with PKCE, as it goes over the wire (OpenID Connect Core §3.1, RFC 7636).

1. A person is sent to the issuer, and told back with a code to an address that is that issuer's alone: what
   comes back there is of that issuer or of nobody (RFC 9700 §4.4).
2. The code is redeemed with the verifier of its flow. We say who we are as RFC 6749 §2.3.1 has it, in a
   header where the issuer takes that. Of what is answered the ID token counts, and nothing else.
"""

import logging
import re
from hashlib import sha256
from typing import Final
from urllib.parse import quote, urlencode, urlsplit

from msgspec import Struct

from placet.application.issuer_calls import IssuerCalls, IssuerFault, split
from placet.application.issuer_configurations import IssuerConfigurations
from placet.application.issuer_documents import Configuration, is_plain
from placet.application.turns import Crowded, Turns
from placet.domain.errors import IssuerUnavailable, Unauthenticated
from placet.domain.people import Issuer, SignIn
from placet.settings import secret_files
from placet.settings.parsing import is_loopback
from placet.settings.secret_files import SecretUnusable
from placet.tokens import base64url

_CROWDED_RETRY_MS: Final = 2_000
_STRANGERS: Final = frozenset({"invalid_client", "unauthorized_client"})  # RFC 6749 §5.2
OAUTH_ERROR: Final = re.compile("[a-z_]{1,64}")
"""What an issuer may call an error (RFC 6749 §4.1.2.1), as far as that is repeated here."""
_NOWHERE_TO_GO: Final = "its configuration has no authorization_endpoint to go to"
_NOTHING_REDEEMED: Final = "its configuration has no token_endpoint"
_BASIC: Final = "client_secret_basic"
_POST: Final = "client_secret_post"

_log = logging.getLogger(__name__)


class Flow(Struct, frozen=True, kw_only=True):
    """One sign-in, from its beginning to its end.

    Attributes:
        iss: With whom.
        state: What comes back, and says which flow it is of.
        nonce: What the ID token must have.
        verifier: What redeems the code.
        at_ms: When it began, on the service's clock.
        onward: Where the person goes on to.
        intent: The secret of the decision it is for; empty where it is a sign-in and no more.
    """

    iss: str
    state: str
    nonce: str
    verifier: str
    at_ms: int
    onward: str
    intent: str = ""


class NotSetUp(Exception):  # noqa: N818 - for an operator to mend, and nobody else
    """The issuer does not know this service, or this service does not know how to say who it is."""


class CodeFlow:
    """Asks issuers.

    Args:
        calls: Reach them.
        configurations: Say where they are.
    """

    def __init__(self, calls: IssuerCalls, configurations: IssuerConfigurations) -> None:
        self._calls = calls
        self._configurations = configurations
        self._turns: dict[str, Turns] = {}

    async def address(self, issuer: Issuer, flow: Flow, back: str) -> str:
        """Where a person signs in.

        Args:
            issuer: With whom.
            flow: For what.
            back: Where they are sent back to.

        Raises:
            IssuerUnavailable: The issuer can't be asked where that is.
        """
        sign_in, endpoint = _sign_in(issuer), (await self.configuration(issuer)).authorization_endpoint
        if endpoint is None or not _may_go_to(endpoint, issuer):
            raise self._unusable(issuer, _NOWHERE_TO_GO)
        asked = {
            "response_type": "code",
            "client_id": sign_in.client_id,
            "redirect_uri": back,
            "scope": " ".join(("openid", *sign_in.scopes)),
            "state": flow.state,
            "nonce": flow.nonce,
            "code_challenge": base64url.encode(sha256(flow.verifier.encode()).digest()),
            "code_challenge_method": "S256",
        }
        if flow.intent:
            asked |= {"max_age": "0", "prompt": "login"}
            asked |= {"acr_values": " ".join(sign_in.acr_values)} if sign_in.acr_values else {}
        return f"{endpoint}{'&' if urlsplit(endpoint).query else '?'}{urlencode(asked, quote_via=quote)}"

    async def redeem(self, issuer: Issuer, flow: Flow, back: str, code: str, source: str) -> str | None:
        """The ID token (RFC 6749 §4.1.3, RFC 7636 §4.5); ``None`` where the issuer gives none.

        Raises:
            IssuerUnavailable: The issuer can't be asked, or too many ask it.
            NotSetUp: It does not take us for whom we say we are, or we can't say it.
        """
        sign_in, known = _sign_in(issuer), await self.configuration(issuer)
        endpoint = known.token_endpoint
        if endpoint is None:
            raise self._unusable(issuer, _NOTHING_REDEEMED)
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": back,
            "code_verifier": flow.verifier,
        }
        file = sign_in.client_secret_file
        try:
            secret = None if file is None else secret_files.read(file)
            methods = known.token_endpoint_auth_methods_supported
            is_basic = secret is not None and (_BASIC in methods or _POST not in methods)
            if not is_basic:
                form |= {"client_id": sign_in.client_id}
                form |= {} if secret is None else {"client_secret": secret}
            basic = (quote(sign_in.client_id, safe=""), quote(secret or "", safe="")) if is_basic else None
            async with self._turns.setdefault(issuer.iss, Turns()).take(source):
                answer = await self._calls.post(endpoint, form, plain=is_plain(issuer), basic=basic)
            members = answer.members()
        except SecretUnusable as fault:
            self._unusable(issuer, f"client_secret_file {fault}")
            raise NotSetUp from None
        except IssuerFault as fault:
            raise self._unusable(issuer, str(fault)) from None
        except Crowded:
            raise IssuerUnavailable(retry_after_ms=_CROWDED_RETRY_MS) from None
        token, error = members.get("id_token"), members.get("error")
        if not isinstance(token, str):
            said = error if isinstance(error, str) and OAUTH_ERROR.fullmatch(error) else "no id_token"
            facts = {"iss": issuer.iss, "status": answer.status, "fault": said}
            _log.warning("a code was not redeemed", extra={**facts, "look_at": _look_at(said, sign_in, back)})
            if error in _STRANGERS:
                raise NotSetUp
            return None
        return token

    async def configuration(self, issuer: Issuer) -> Configuration:
        """What an issuer says of itself.

        Raises:
            IssuerUnavailable: The issuer can't be asked.
        """
        try:
            return await self._configurations.find(issuer)
        except IssuerFault as fault:
            raise self._unusable(issuer, str(fault)) from None

    @staticmethod
    def _unusable(issuer: Issuer, fault: str) -> IssuerUnavailable:
        _log.warning("an issuer can't sign anybody in", extra={"iss": issuer.iss, "fault": fault})
        return IssuerUnavailable(retry_after_ms=1_000)


def _sign_in(issuer: Issuer) -> SignIn:
    if issuer.sign_in is None:
        raise Unauthenticated
    return issuer.sign_in


def lacks(issuer: Issuer, known: Configuration) -> str | None:
    """What signing in takes and an issuer's configuration has not got; ``None`` where it has all."""
    if known.authorization_endpoint is None or not _may_go_to(known.authorization_endpoint, issuer):
        return _NOWHERE_TO_GO
    return _NOTHING_REDEEMED if known.token_endpoint is None else None


def _look_at(error: str, sign_in: SignIn, back: str) -> str:
    """What an operator looks at first (RFC 6749 §5.2)."""
    match error:
        case "invalid_client" | "unauthorized_client":
            file = sign_in.client_secret_file
            secret = f"the secret in {file}" if file else "whether it wants a client_secret_file"
            return f"client_id {sign_in.client_id!r}, {secret}, and whether the client may use the code flow"
        case "invalid_grant" | "invalid_request" | "redirect_uri_mismatch":
            return f"the redirect URI, registered there as {back}; else the code was old, or used before"
        case _:
            return "what the issuer's own log says, and whether the client may ask for openid"


def _may_go_to(endpoint: str, issuer: Issuer) -> bool:
    """Whether people may be sent there: over https, or on this machine as the issuer is."""
    try:
        where = split(endpoint)
    except IssuerFault:
        return False
    is_local = is_plain(issuer) and where.scheme == "http" and is_loopback(where.hostname or "")
    return bool(where.hostname) and not where.fragment and (where.scheme == "https" or is_local)
