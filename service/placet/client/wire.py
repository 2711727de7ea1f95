"""Between calls and HTTP: where the service is, what goes out, what came back, and what a fault means."""

import os
import socket
import ssl
from collections.abc import Mapping
from typing import Any, Final, TypeVar
from urllib.parse import urlencode, urlsplit

import httpx
import msgspec

from placet.client.calls import Call
from placet.client.errors import AnswerNotUnderstood, ServiceUnreachable, refusal_of
from placet.client.quiet import Quiet
from placet.domain.errors import PlacetError
from placet.settings.parsing import is_loopback, public_url

T = TypeVar("T")

_PROBLEM: Final = "application/problem+json"
_CONNECT_S: Final = 5.0
_SILENCE_S: Final = 45.0
"""Three heartbeats of an event stream: by then it is dead, whatever TCP thinks."""
_GOOD: Final = frozenset({200, 201})
_REDIRECTS: Final = range(300, 400)
_DIGITS_MAX: Final = 6
_NOT_SENT: Final = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
)


class Reply(Quiet, frozen=True, kw_only=True):
    """What came back."""

    status: int
    media_type: str
    request_id: str | None
    retry_after_ms: int | None
    body: bytes


class Where(Quiet, frozen=True, kw_only=True):
    """A service, and who calls it.

    Attributes:
        url: ``https://host[:port]``.
        token: The credential, for that host alone.
        timeout_s: How long an answer may take, beyond a wait that was asked for.
    """

    url: str
    token: str
    timeout_s: float

    @classmethod
    def of(cls, url: str, token: str, *, timeout_s: float, allow_http: bool) -> "Where":
        """The same, looked at.

        Raises:
            ValueError: The URL is none, or would let the credential be read on the way; or the credential has
                characters that none has.
        """
        try:
            url = public_url(url.rstrip("/"))
        except ValueError as fault:
            raise ValueError(f"url {fault}") from None
        parts = urlsplit(url)
        if parts.scheme == "http" and not (allow_http or is_loopback(parts.hostname or "")):
            raise ValueError(
                "url must be https://: whoever is on the way could read the credential. On a network that"
                " encrypts by itself, say allow_http=True"
            )
        if not (token and token.isascii() and token.isprintable() and " " not in token):
            raise ValueError("token must be a credential, as `placet clients create` prints one")
        return cls(url=url, token=token, timeout_s=timeout_s)

    def request(self, call: Call[Any], request_id: str) -> dict[str, Any]:
        """What httpx is to send."""
        headers = {"Accept": f"{call.media_type}, {_PROBLEM}", "X-Request-ID": request_id, **call.headers}
        if not call.public:
            headers["Authorization"] = f"Bearer {self.token}"
        if call.body is not None:
            headers["Content-Type"] = "application/json"
        return {
            "method": call.method,
            "url": f"{self.url}{call.path}{'?' if call.query else ''}{urlencode(call.query)}",
            "headers": headers,
            "content": call.body,
            "timeout": httpx.Timeout(self.timeout_s + call.wait_s, connect=min(self.timeout_s, _CONNECT_S)),
        }

    def stream(self, call: Call[Any], request_id: str) -> dict[str, Any]:
        """What httpx is to send for an answer that goes on."""
        timeout = httpx.Timeout(self.timeout_s, connect=min(self.timeout_s, _CONNECT_S), read=_SILENCE_S)
        return {**self.request(call, request_id), "timeout": timeout}

    def pool(self) -> dict[str, Any]:
        """How an httpx client reaches it, with as many open waits as there are agents."""
        parts = urlsplit(self.url)
        options: dict[str, Any] = {"limits": httpx.Limits(max_connections=None, max_keepalive_connections=20)}
        if parts.scheme == "https":
            options["verify"] = httpx.create_ssl_context()  # SSL_CERT_FILE counts
        # A proxy of the environment can't reach this machine's own addresses, and would read the credential.
        return {**options, "trust_env": not is_loopback(parts.hostname or "")}

    def fault(self, call: Call[Any], fault: httpx.HTTPError) -> PlacetError:
        """What a fault of the connection means. Of httpx's words none are taken: headers may be in them."""
        sent = not isinstance(fault, _NOT_SENT)
        effect_unknown = sent and call.method != "GET"
        if isinstance(fault, httpx.DecodingError):
            why = f"What answers at {self.url} sends what can't be unpacked."
            return AnswerNotUnderstood(why, answered=0, effect_unknown=effect_unknown)
        if isinstance(fault, httpx.TimeoutException):
            why = f"{self.url} does not answer in time."
        elif sent:
            why = f"The connection to {self.url} broke before the answer was there."
        else:
            why = f"No connection to {self.url}{_cause(fault)}."
        return ServiceUnreachable(why, effect_unknown=effect_unknown)


def reply_of(status: int, headers: Mapping[str, str], body: bytes) -> Reply:
    """An answer, with what counts of its headers."""
    after = headers.get("retry-after", "")
    is_delay = after.isascii() and after.isdigit() and len(after) <= _DIGITS_MAX
    return Reply(
        status=status,
        media_type=headers.get("content-type", "").partition(";")[0].strip().lower(),
        request_id=headers.get("x-request-id"),
        retry_after_ms=int(after) * 1000 if is_delay else None,
        body=body,
    )


def answer_of(call: Call[T], reply: Reply) -> T:
    """What an answer says.

    Raises:
        PlacetError: That it was refused, or nothing that can be understood.
    """
    try:
        if is_answer(call, reply.status, reply.media_type):
            return call.read(reply.body)
        problem = msgspec.json.decode(reply.body) if reply.media_type == _PROBLEM else None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
        cut_off = isinstance(fault, msgspec.DecodeError) and not isinstance(fault, msgspec.ValidationError)
        refusal: PlacetError = _strange(call, reply, "what can't be read", cut_off=cut_off)
    else:
        known = refusal_of(problem, status=reply.status) if reply.status not in _GOOD else None
        refusal = known or _strange(call, reply, "nothing of Placet's")
    refusal.request_id = reply.request_id
    if refusal.retry_after_ms is None:
        refusal.retry_after_ms = reply.retry_after_ms
    raise refusal


def is_answer(call: Call[Any], status: int, media_type: str) -> bool:
    """Whether it looks like a good answer."""
    return status in _GOOD and media_type == call.media_type


def _strange(call: Call[Any], reply: Reply, what: str, *, cut_off: bool = False) -> AnswerNotUnderstood:
    if reply.status in _REDIRECTS:
        what = "a redirect, which is not followed: the credential is for this host alone"
    return AnswerNotUnderstood(
        f"The answer to {call.method} was {what} (status {reply.status}).",
        answered=reply.status,
        effect_unknown=call.method != "GET",
        cut_off=cut_off,
    )


def _cause(fault: BaseException) -> str:
    """What the system said, where it said something: the innermost of the causes."""
    said = ""
    cause: BaseException | None = fault
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno is not None:
            # Names and certificates have words of their own; those of the event loop repeat the address.
            own = isinstance(cause, socket.gaierror | ssl.SSLError)
            said = f": {cause.strerror if own else os.strerror(cause.errno)}"
        cause = cause.__cause__ or cause.__context__
    return said
