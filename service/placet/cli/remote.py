"""The service as a command talks to it: HTTP with a credential, refusals as their classes."""

from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import quote, urlsplit

import httpx
import msgspec
from msgspec import Struct

from placet.cli.context import Context
from placet.cli.exits import Exit, Stop
from placet.domain.errors import InternalError, from_problem
from placet.settings import describe
from placet.settings.parsing import is_loopback, public_url

URL: Final = "PLACET_URL"
TOKEN: Final = "PLACET_TOKEN"  # noqa: S105 - a variable's name
_DEFAULT_URL: Final = next(doc.default for doc in describe() if doc.name == URL)
_TIMEOUT: Final = httpx.Timeout(15.0, connect=5.0)
_PROBLEM: Final = "application/problem+json"


class Reply(Struct, frozen=True, kw_only=True):
    """A successful answer.

    Attributes:
        body: The JSON, as it came.
        now_ms: When the service answered, on its clock; None where it did not say.
    """

    body: bytes
    now_ms: int | None

    def json(self) -> Any:  # noqa: ANN401 - any JSON
        """The body, decoded."""
        return msgspec.json.decode(self.body)


class Remote:
    """A session with the service. A context manager; :meth:`of` makes one from a command's context."""

    def __init__(self, url: str, token: str, *, transport: Any = None) -> None:  # noqa: ANN401 - see Context
        self.url = url
        self._client = httpx.Client(
            **network(url),
            base_url=url,
            headers={"Authorization": f"Bearer {token}"},
            timeout=_TIMEOUT,
            transport=transport,
        )

    @classmethod
    def of(cls, context: Context, url: str | None) -> Self:
        """A session with the service and credential that command line and environment name.

        Raises:
            Stop: There is no credential, or the URL is none.
        """
        url = service_url(context, url)
        token = context.environ.get(TOKEN, "").strip()
        if not token:
            raise Stop(
                f"{TOKEN} is not set. Set it to a credential, as `placet approvers create` prints one.",
                Exit.USAGE,
            )
        if not (token.isascii() and token.isprintable()):
            raise Stop(f"{TOKEN} has characters that no credential has: copy it once more.", Exit.USAGE)
        parts = urlsplit(url)
        if parts.scheme == "http" and not is_loopback(parts.hostname or ""):
            context.console.warn(f"{url} is not encrypted: whoever is on the way can read the credential.")
        return cls(url, token, transport=context.transport)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def get(self, path: str, **query: str | int | None) -> Reply:
        """Ask; members that are None are left out.

        Raises:
            PlacetError: It was refused.
            Stop: Nobody answers, or nobody we know.
        """
        said = {name: value for name, value in query.items() if value is not None}
        return self._call("GET", path, params=said)

    def post(self, path: str, body: object) -> Reply:
        """Say; raises as :meth:`get` does."""
        content = msgspec.json.encode(body)
        return self._call("POST", path, content=content, headers={"Content-Type": "application/json"})

    def _call(self, method: str, path: str, **what: Any) -> Reply:  # noqa: ANN401 - httpx's own
        try:
            answer = self._client.request(method, path, **what)
        except httpx.HTTPError as fault:
            raise unreachable(self.url, fault) from fault
        if answer.is_success and answer.headers.get("content-type", "").startswith("application/json"):
            return Reply(body=answer.content, now_ms=_said_ms(answer.headers.get("date")))
        raise refusal(self.url, answer)


def service_url(context: Context, url: str | None = None) -> str:
    """Where the service is: as the command line says, the environment, or where it is by default.

    Raises:
        Stop: That is no URL.
    """
    named = "--url" if url else URL
    url = url or context.environ.get(URL) or _DEFAULT_URL
    try:
        return public_url(url.rstrip("/"))
    except ValueError as fault:
        raise Stop(f"{named} {fault}.", Exit.USAGE) from None


def network(url: str) -> dict[str, Any]:
    """How an httpx client reaches a URL."""
    parts = urlsplit(url)
    options: dict[str, Any] = {}
    if parts.scheme == "https":
        options["verify"] = httpx.create_ssl_context()  # SSL_CERT_FILE counts, on every host
    # A proxy of the environment can't reach this machine's own addresses, and would read the credential.
    return {**options, "trust_env": not is_loopback(parts.hostname or "")}


def approval_path(approval_id: str) -> str:
    """The path of an approval. An id that can't be is asked for all the same: the service has the word."""
    return f"/v1/approvals/{quote(approval_id, safe='')}"


def unreachable(url: str, fault: httpx.HTTPError) -> Stop:
    """What is said where nobody answers."""
    if isinstance(fault, httpx.TimeoutException):
        return Stop(f"{url} does not answer in time: look at that service.", Exit.UNREACHABLE)
    return Stop(
        f"No Placet answers at {url}: start `placet serve`, or set {URL} to where it is ({fault}).",
        Exit.UNREACHABLE,
    )


def refusal(url: str, answer: httpx.Response) -> Exception:
    """The class of a refusal; a plain word where the answer is not Placet's."""
    if not answer.headers.get("content-type", "").startswith(_PROBLEM):
        return Stop(
            f"What answers at {url} is not Placet (status {answer.status_code}): set {URL} to where that is.",
            Exit.UNREACHABLE,
        )
    try:
        document = msgspec.json.decode(answer.content)
    except msgspec.DecodeError:
        document = None
    refused = from_problem(document, status=answer.status_code)
    named = answer.headers.get("x-request-id")
    if isinstance(refused, InternalError) and named:
        refused.add_note(f"In that log it is the request {named}.")
    return refused


def _said_ms(date: str | None) -> int | None:
    """Milliseconds of a ``Date`` header (RFC 9110 §6.6.1)."""
    try:
        return None if date is None else int(parsedate_to_datetime(date).timestamp() * 1000)
    except ValueError:
        return None
