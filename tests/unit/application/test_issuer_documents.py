"""Asking an issuer: only where it is, only so much, only so long."""

import asyncio
import gzip
import json
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from placet.application.issuer_calls import DOCUMENT_MAX_BYTES, IssuerCalls, IssuerFault
from placet.application.issuer_documents import MAX_AGE_MAX_S, MAX_AGE_MIN_S, IssuerDocuments
from placet.domain.people import Issuer
from tests.certificates import self_signed
from tests.issuer import Server, a_key, an_issuer, jwks, serving

CONFIGURATION = "/.well-known/openid-configuration"


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    """An issuer on this machine that publishes one key."""
    async with serving() as server:
        server.publish(a_key())
        yield server


def of(server: Server, **changes: Any) -> Issuer:
    """The server, as a directory configures it."""
    return an_issuer(**{"iss": server.url, **changes})


def trusted(directory: Path, monkeypatch: pytest.MonkeyPatch) -> ssl.SSLContext:
    """TLS with a certificate that this process trusts."""
    cert_file, key_file = self_signed(directory)
    monkeypatch.setenv("SSL_CERT_FILE", str(cert_file))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert_file, key_file)
    return context


async def fault_of(issuer: Issuer, timeout_s: float = 5.0) -> str:
    """What is wrong with it, to operators."""
    with pytest.raises(IssuerFault) as caught:
        await IssuerDocuments(IssuerCalls(timeout_s)).keys(issuer)
    return str(caught.value)


async def test_keys_are_found_by_discovery(server: Server) -> None:
    """The configuration says where they are; we say who we are, and nothing of why."""
    found = await IssuerDocuments(IssuerCalls()).keys(of(server))
    assert found.keys.find("EdDSA", "k1") is not None
    assert server.asked == [CONFIGURATION, "/keys"]
    told = server.headers[0]
    assert (told["accept-encoding"], told["user-agent"]) == ("identity", "placet")
    assert not {"authorization", "cookie", "referer"} & set(told)


async def test_a_path_of_the_issuer_stays(server: Server) -> None:
    """Only a slash at its end goes (OpenID Connect Discovery §4), for the address: the name is exact."""
    server.url += "/realms/x"
    configuration = {"issuer": server.url + "/", "jwks_uri": server.url.removesuffix("/realms/x") + "/keys"}
    server.documents["/realms/x" + CONFIGURATION] = configuration
    await IssuerDocuments(IssuerCalls()).keys(of(server, iss=server.url + "/"))
    assert server.asked[0] == "/realms/x" + CONFIGURATION
    assert "is of another issuer" in await fault_of(of(server))


async def test_a_configured_address_of_keys_is_asked_alone(server: Server) -> None:
    """Without discovery, and wherever the issuer itself is."""
    found = await IssuerDocuments(IssuerCalls()).keys(an_issuer(jwks_url=server.url + "/keys"))
    assert found.keys.find("EdDSA", "k1") is not None
    assert server.asked == ["/keys"]


@pytest.mark.parametrize(
    ("told", "max_age_s"),
    [
        ({}, MAX_AGE_MIN_S),
        ({"cache_control": "max-age=3600"}, 3_600),
        ({"cache_control": "public, Max-Age = 3600, must-revalidate"}, 3_600),
        ({"cache_control": 'max-age="3600"'}, 3_600),
        ({"cache_control": "s-maxage=7200"}, MAX_AGE_MIN_S),
        ({"cache_control": "max-age=0"}, MAX_AGE_MIN_S),
        ({"cache_control": "max-age=x"}, MAX_AGE_MIN_S),
        ({"cache_control": "max-age=999999999"}, MAX_AGE_MAX_S),
        ({"cache_control": "max-age=3600, no-store"}, MAX_AGE_MIN_S),
        ({"cache_control": "no-cache, max-age=3600"}, MAX_AGE_MIN_S),
        ({"cache_control": "max-age=3600", "age": "1000"}, 2_600),
        ({"cache_control": "max-age=3600", "age": "-1"}, 3_600),
        ({"cache_control": "max-age=3600", "age": "9999999"}, MAX_AGE_MIN_S),
    ],
)
async def test_keys_may_be_kept_for_as_long_as_the_answer(
    server: Server, told: dict[str, str], max_age_s: int
) -> None:
    """Within five minutes and a day; what was spent in a cache on the way is taken off."""
    server.publish(a_key(), **told)
    assert (await IssuerDocuments(IssuerCalls()).keys(of(server))).max_age_s == max_age_s


async def test_a_configuration_of_somebody_else_is_refused(server: Server) -> None:
    """Byte for byte: an issuer speaks for itself alone."""
    for other in ("https://id.example", server.url + "/", server.url.upper(), None, [server.url]):
        server.documents[CONFIGURATION] = {"issuer": other, "jwks_uri": server.url + "/keys"}
        assert "is of another issuer" in await fault_of(of(server))
    assert "/keys" not in server.asked


@pytest.mark.parametrize("uri", [None, ...])
async def test_a_configuration_says_where_the_keys_are(server: Server, uri: Any) -> None:
    """As a text."""
    server.documents[CONFIGURATION] = {"issuer": server.url, **({} if uri is ... else {"jwks_uri": uri})}
    assert "says nowhere where the keys are" in await fault_of(of(server))


async def test_a_configuration_of_other_types_is_not_understood(server: Server) -> None:
    """Which is told without what stands there."""
    server.documents[CONFIGURATION] = {"issuer": server.url, "jwks_uri": ["secret"]}
    said = await fault_of(of(server))
    assert said.endswith("can't be understood: Expected `str | null`, got `array` - at `$.jwks_uri`.")


@pytest.mark.parametrize("body", [b"", b"[]", b"<html>", b'{"issuer": 1, "issuer": 2}', b"[" * 200_000])
async def test_an_answer_that_is_no_document_is_refused(server: Server, body: bytes) -> None:
    """Neither a configuration nor keys."""
    server.documents[CONFIGURATION] = (200, {}, body)
    assert "is no JSON object" in await fault_of(of(server))
    assert "gave no keys" in await fault_of(of(server, jwks_url=server.url + CONFIGURATION))


@pytest.mark.parametrize("status", [201, 204, 301, 302, 303, 307, 308, 401, 404, 500])
async def test_another_answer_is_none(server: Server, status: int) -> None:
    """Redirects least of all."""
    server.documents["/keys"] = (status, {"location": server.url + "/elsewhere"}, b"")
    server.documents["/elsewhere"] = jwks(a_key())
    assert f"answered {status}" in await fault_of(of(server))
    assert "/elsewhere" not in server.asked


async def test_a_large_answer_is_not_read(server: Server) -> None:
    """Up to the bound it is; beyond it, and without an end, it is not."""
    most = json.dumps(jwks(a_key())).encode().ljust(DOCUMENT_MAX_BYTES)
    server.documents["/keys"] = (200, {}, most)
    await IssuerDocuments(IssuerCalls()).keys(of(server))
    server.documents["/keys"] = (200, {}, most + b" ")
    assert f"more than {DOCUMENT_MAX_BYTES} bytes" in await fault_of(of(server))

    async def endless(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 x\r\n\r\n")
        while not writer.is_closing():
            writer.write(b" " * 65_536)
            await writer.drain()

    server.documents["/keys"] = endless
    assert "more than" in await fault_of(of(server))


async def test_a_compressed_answer_is_not_unpacked(server: Server) -> None:
    """A few bytes could become any number."""
    server.documents["/keys"] = (200, {"content-encoding": "gzip"}, gzip.compress(b" " * 10_000_000))
    assert "compressed" in await fault_of(of(server))


async def test_an_answer_that_does_not_end_in_time_is_none(server: Server) -> None:
    """However steadily it trickles."""

    async def trickle(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 x\r\n\r\n")
        while not writer.is_closing():
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.01)

    server.documents["/keys"] = trickle
    assert await fault_of(of(server), 0.2) == f"{server.url}/keys did not answer within 0.2 s."


async def test_an_issuer_that_is_not_there(server: Server) -> None:
    """Or hangs up, or talks something else."""
    assert "can't be reached: ConnectError" in await fault_of(an_issuer(iss="http://127.0.0.1:1"))

    async def nonsense(writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-x\r\n")
        await writer.drain()

    server.documents["/keys"] = nonsense
    assert "can't be reached: RemoteProtocolError" in await fault_of(of(server))


@pytest.mark.parametrize(
    "url",
    [
        "http://id.example/keys",
        "http://10.0.0.1/keys",
        "ftp://127.0.0.1/keys",
        "file:///etc/passwd",
        "//127.0.0.1/keys",
        "keys",
        "",
        "https://",
        "https://user:word@id.example/keys",
        "https://id.example/keys#x",
        "https://[id.example/keys",
    ],
)
async def test_only_certain_addresses_are_asked(server: Server, url: str) -> None:
    """Wherever the configuration leads; the directory may not lead there either."""
    server.documents[CONFIGURATION] = {"issuer": server.url, "jwks_uri": url}
    assert "is not asked" in (told := await fault_of(of(server))) or "is no URL" in told
    assert server.asked == [CONFIGURATION]


async def test_an_issuer_elsewhere_leads_nobody_to_this_machine(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A configuration that came over https names no plain address, not even of this machine."""
    async with serving(trusted(tmp_path, monkeypatch)) as other:
        configuration = {"issuer": other.url, "jwks_uri": server.url + "/keys"}
        other.documents[CONFIGURATION] = configuration
        assert "is not asked" in await fault_of(of(other))
        assert (other.asked, server.asked) == ([CONFIGURATION], [])


async def test_a_proxy_of_the_environment_does_not_see_this_machine(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It could not reach it anyway."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    assert (await IssuerDocuments(IssuerCalls()).keys(of(server))).keys.keys != ()


async def test_a_certificate_must_be_good(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of an authority that this machine trusts; one more can be named by SSL_CERT_FILE."""
    async with serving(trusted(tmp_path, monkeypatch)) as server:
        server.publish(a_key())
        assert (await IssuerDocuments(IssuerCalls()).keys(of(server))).keys.keys != ()
        monkeypatch.delenv("SSL_CERT_FILE")
        assert "can't be reached: ConnectError" in await fault_of(of(server))
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "gone.pem"))
        assert "can't be reached: FileNotFoundError" in await fault_of(of(server))
