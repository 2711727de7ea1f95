"""Slack's SDK on a wire of ours: no proxy from the environment, no redirect, no endless answer, no log.

The SDK opens addresses with urllib as it comes, which would send the token on to wherever an answer
redirects, and it logs what it sends. ``_perform_urllib_http_request_internal`` is the one place where it
talks to the outside; a test fails should another release not call it any more.
"""

import http.client
import logging
import ssl
from collections.abc import Mapping
from time import monotonic
from typing import Any, Final
from urllib.error import HTTPError
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPSHandler,
    OpenerDirector,
    Request,
)

from msgspec import Struct
from slack_sdk.web import WebClient

_ANSWER_MAX_BYTES: Final = 1 << 20
_CHUNK_BYTES: Final = 64 * 1024

_mute: Final = logging.Logger("placet.slack.sdk", level=logging.CRITICAL + 1)  # noqa: LOG001 - nobody's child
"""The SDK's logger: its lines hold requests, and answers that may repeat them."""


class Answer(Struct, frozen=True, kw_only=True):
    """What came back: status, headers by lower-case names, and the body as text."""

    status: int
    headers: Mapping[str, str]
    body: str


class Wire:
    """Exchanges a request for an answer.

    Args:
        timeout_s: For a connection, for each silence, and in all.
        tls: Whom to trust.
    """

    def __init__(self, timeout_s: float, tls: ssl.SSLContext) -> None:
        self._timeout_s = timeout_s
        self._opener = OpenerDirector()
        # These and no others: none that redirects, takes a proxy, or opens files.
        for handler in (
            HTTPHandler(),
            HTTPSHandler(context=tls),
            HTTPErrorProcessor(),
            HTTPDefaultErrorHandler(),
        ):
            self._opener.add_handler(handler)

    def exchange(self, request: Request) -> Answer:
        """The answer, whatever its status.

        Raises:
            OSError: There is none: no connection, or no end to it in time.
            http.client.HTTPException: It is no HTTP.
        """
        until_s = monotonic() + self._timeout_s
        try:
            answer = self._opener.open(request, timeout=self._timeout_s)
        except HTTPError as error:  # an answer as well
            answer = error
        if answer is None:
            raise OSError("no such scheme")
        with answer:
            headers = {name.lower(): value for name, value in answer.headers.items()}
            body = _read(answer, until_s)
            return Answer(status=answer.status, headers=headers, body=body.decode("utf-8", "replace"))


class Client(WebClient):
    """The SDK's client on such a wire.

    Args:
        wire: It.
        token: The app's.
        base_url: Where Slack's Web API is.
    """

    def __init__(self, wire: Wire, token: str, base_url: str) -> None:
        super().__init__(token=token, base_url=base_url, logger=_mute, retry_handlers=[])
        self.proxy = None
        self._wire = wire

    def _perform_urllib_http_request_internal(self, url: str, req: Request) -> dict[str, Any]:  # noqa: ARG002
        """Exchange a request; the address is in it."""
        answer = self._wire.exchange(req)
        return {"status": answer.status, "headers": answer.headers, "body": answer.body}


def _read(answer: http.client.HTTPResponse, until_s: float) -> bytes:
    """All of a body that has an end."""
    found = bytearray()
    while chunk := answer.read1(_CHUNK_BYTES):
        found += chunk
        if len(found) > _ANSWER_MAX_BYTES:
            raise OSError("an answer without end")
        if monotonic() > until_s:
            raise TimeoutError
    return bytes(found)
