"""Where the credential goes, and what a fault means."""

import errno
import socket
import ssl
from typing import Any

import httpx
import pytest

from placet.client import calls
from placet.client.errors import AnswerNotUnderstood, ServiceUnreachable
from placet.client.wire import Where, reply_of
from tests.agents import CALL, TOKEN, URL

READ, ASK = calls.get("apr_1"), calls.ask(CALL, {}, "k")


def where(url: str = URL, token: str = TOKEN, *, allow_http: bool = False) -> Where:
    """A service."""
    return Where.of(url, token, timeout_s=15, allow_http=allow_http)


class TestWhere:
    """Which URLs and credentials are taken."""

    @pytest.mark.parametrize(
        "url", [URL, f"{URL}/", f"{URL}//", "http://127.0.0.1:8420", "http://localhost", "http://[::1]:1/"]
    )
    def test_encrypted_or_on_this_machine(self, url: str) -> None:
        """Final slashes count for nothing."""
        assert where(url).url == url.rstrip("/")

    @pytest.mark.parametrize(
        "url",
        [
            "",
            "placet.example",
            "ftp://x",
            "https://u:hunter2@x",
            "https://x/v1",
            "https://x?q",
            "https://x:0",
        ],
    )
    def test_what_is_no_url(self, url: str) -> None:
        """Told in words, and not repeated."""
        with pytest.raises(ValueError, match=r"^url must be") as refused:
            where(url)
        assert "hunter2" not in str(refused.value)
        assert refused.value.__suppress_context__

    def test_an_open_line_has_to_be_allowed(self) -> None:
        """A credential over http to another machine can be read on the way."""
        with pytest.raises(ValueError, match="allow_http"):
            where("http://placet:8420")
        assert where("http://placet:8420", allow_http=True).url == "http://placet:8420"

    @pytest.mark.parametrize("token", ["", " ", "plc_ä", "plc_a\nb", "Bearer plc_a"])
    def test_what_is_no_credential(self, token: str) -> None:
        """A header must not be broken by one."""
        with pytest.raises(ValueError, match=r"^token must be a credential") as refused:
            where(token=token)
        assert not token.strip() or token not in str(refused.value)

    def test_it_tells_no_log_the_token(self) -> None:
        """Nor what was answered."""
        assert TOKEN not in repr(where())
        assert "secret" not in repr(reply_of(200, {"content-type": "secret"}, b"secret"))

    @pytest.mark.parametrize(
        ("url", "verifies", "trusted"), [(URL, True, True), ("http://[::1]", False, False)]
    )
    def test_proxies_are_for_other_machines(self, url: str, *, verifies: bool, trusted: bool) -> None:
        """A proxy of the environment never gets a credential for this machine."""
        pool = where(url).pool()
        assert pool["trust_env"] is trusted
        assert isinstance(pool.get("verify"), ssl.SSLContext) is verifies
        assert pool["limits"].max_connections is None


class TestRequests:
    """What goes out."""

    def test_a_call(self) -> None:
        """Credential, id and type in headers; a wait has its time."""
        sent = where().request(ASK, "rid")
        assert (sent["method"], sent["url"], sent["content"]) == ("POST", f"{URL}/v1/approvals", ASK.body)
        assert sent["headers"] == {
            "Accept": "application/json, application/problem+json",
            "Authorization": f"Bearer {TOKEN}",
            "Content-Type": "application/json",
            "Idempotency-Key": "k",
            "X-Request-ID": "rid",
        }
        waits = where().request(calls.get("apr_1", 50), "rid")
        assert waits["url"] == f"{URL}/v1/approvals/apr_1?wait=50"
        assert (waits["timeout"].read, waits["timeout"].connect) == (65, 5)
        assert "Content-Type" not in waits["headers"]

    def test_the_key_set_needs_no_credential(self) -> None:
        """So none is sent."""
        assert "Authorization" not in where().request(calls.jwks(), "rid")["headers"]

    def test_a_stream_may_be_silent_for_three_heartbeats(self) -> None:
        """And no longer."""
        sent = where().stream(calls.events({"run": "a b&c"}, "1-0"), "rid")
        assert sent["timeout"].read == 45
        assert sent["url"] == f"{URL}/v1/events?run=a+b%26c"
        assert sent["headers"]["Accept"] == "text/event-stream, application/problem+json"


class TestFaults:
    """What a fault of the connection means."""

    @pytest.mark.parametrize(
        "fault",
        [
            httpx.ConnectError,
            httpx.ConnectTimeout,
            httpx.PoolTimeout,
            httpx.ProxyError,
            httpx.UnsupportedProtocol,
        ],
    )
    def test_what_was_never_sent_was_not_done(self, fault: type[httpx.TransportError]) -> None:
        """Whatever the call is. Nothing of what httpx says is repeated."""
        error = where().fault(ASK, fault(TOKEN))
        assert isinstance(error, ServiceUnreachable)
        assert not error.effect_unknown
        assert URL in error.detail
        assert TOKEN not in str(error)

    @pytest.mark.parametrize(
        "fault", [httpx.ReadError, httpx.ReadTimeout, httpx.WriteError, httpx.RemoteProtocolError]
    )
    def test_what_was_sent_may_have_been_done(self, fault: type[httpx.TransportError]) -> None:
        """Unless there was nothing to do."""
        asked, read = where().fault(ASK, fault(TOKEN)), where().fault(READ, fault(TOKEN))
        assert isinstance(asked, ServiceUnreachable)
        assert isinstance(read, ServiceUnreachable)
        assert (asked.effect_unknown, read.effect_unknown) == (True, False)
        assert TOKEN not in f"{asked}{read}"

    def test_what_can_not_be_unpacked_is_not_understood(self) -> None:
        """And may have been done."""
        error = where().fault(ASK, httpx.DecodingError("x"))
        assert isinstance(error, AnswerNotUnderstood)
        assert error.effect_unknown

    @pytest.mark.parametrize(
        ("cause", "said"),
        [
            (ConnectionRefusedError(errno.ECONNREFUSED, "Connect call failed"), "Connection refused"),
            (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), "Name or service not known"),
            (ssl.SSLError(1, "certificate verify failed"), "certificate verify failed"),
        ],
    )
    def test_the_system_s_own_word_is_told(self, cause: OSError, said: str) -> None:
        """The innermost one there is."""
        fault = httpx.ConnectError("x")
        fault.__cause__ = OSError("All connection attempts failed")
        fault.__cause__.__context__ = cause
        assert f"No connection to {URL}: {said}. " in where().fault(READ, fault).detail


@pytest.mark.parametrize(
    ("said", "after_ms"),
    [("7", 7000), ("0", 0), ("", None), ("-1", None), ("1.5", None), ("1234567", None), ("²", None)],
)
def test_a_delay_is_whole_seconds(said: str, after_ms: int | None) -> None:
    """A date, as gateways may say it, is none."""
    reply: Any = reply_of(503, {"retry-after": said, "content-type": " Text/HTML ; charset=x"}, b"")
    assert (reply.retry_after_ms, reply.media_type, reply.request_id) == (after_ms, "text/html", None)
