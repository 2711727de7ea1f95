"""What a browser keeps while somebody is away at an issuer: its flow, sealed, in a cookie of its own."""

from typing import Final

import msgspec
from litestar import Request
from litestar.datastructures import Cookie

from placet.application.code_flow import Flow
from placet.domain.limits import SIGN_ON_MS
from placet.store.codec import encode
from placet.tokens import base64url
from placet.tokens.seal import Sealer
from placet.web.common import cookies_of
from placet.web.security import Origin

_FLOW: Final = "sign-in flow"
_NAME_CHARS: Final = 12
"""Of the state, in the cookie's name: people sign in from several tabs at once."""


def flow_cookie(origin: Origin, sealer: Sealer, flow: Flow) -> Cookie:
    """The cookie that keeps a flow, for as long as somebody may be away."""
    document = encode(flow)
    value = f"{base64url.encode(document)}.{sealer.seal(_FLOW, (document,))}"
    return origin.cookie_of(_suffix(flow.state), value, max_age_s=SIGN_ON_MS // 1_000)


def ended(origin: Origin, flow: Flow) -> Cookie:
    """The cookie that takes it away."""
    return origin.cookie_of(_suffix(flow.state), "", max_age_s=0)


def flow_of(origin: Origin, sealer: Sealer, request: Request, state: str) -> Flow | None:  # type: ignore[type-arg]
    """The flow that this browser began under a state; ``None`` where it began none."""
    found = cookies_of(request, f"{origin.cookie}{_suffix(state)}")
    if len(found) != 1:
        return None
    encoded, _, seal = found[0].partition(".")
    try:
        document = base64url.decode(encoded)
    except ValueError:
        return None
    if not sealer.verify(_FLOW, (document,), seal):
        return None
    flow = msgspec.json.decode(document, type=Flow)
    return flow if flow.state == state else None


def _suffix(state: str) -> str:
    return f"-{state[:_NAME_CHARS]}"
