"""The public documents: keys, health, readiness, error pages, OpenAPI; none of them needs a credential."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from fakeredis import FakeAsyncRedis, FakeServer
from litestar.types import ASGIApp
from msgspec import structs

from placet.api import pages
from placet.app import create_app
from placet.bootstrap import KEYRING_NAME
from placet.domain.errors import TABLE
from placet.settings import Environment
from placet.tokens.keyring import ROTATION_WAIT_MS
from placet.tokens.keyring_file import load_or_create, update
from tests.factories import T0_MS, ManualClock
from tests.harness import BASE_URL, Harness, opened, record, refusal
from tests.wire import HOST, Exchange

DOCUMENTS = (
    "/",
    "/errors",
    "/errors/FORBIDDEN",
    "/openapi.json",
    "/reference",
    "/.well-known/jwks.json",
    "/healthz",
    "/readyz",
)


@pytest.fixture
async def keyed(tmp_path: Path, clock: ManualClock) -> AsyncIterator[Harness]:
    """A service with a keyring of its own, to be changed."""
    redis = FakeAsyncRedis(server=FakeServer(server_type="valkey"))
    async with opened(redis, tmp_path, clock) as harness:
        yield harness


def ring_of(h: Harness) -> Path:
    """Where the keyring is."""
    return h.services.settings.store.data_dir / "keyring.json"


def production(h: Harness) -> ASGIApp:
    """The same service as in production."""
    settings = h.services.settings
    server = structs.replace(settings.server, environment=Environment.PRODUCTION)
    return create_app(h.services, structs.replace(settings, server=server))


async def kids(h: Harness) -> list[str]:
    """The key ids that are published now."""
    return [key["kid"] for key in record(await h.http.get("/.well-known/jwks.json"))["keys"]]


async def test_the_keys_are_published(keyed: Harness) -> None:
    """Active and next key, public halves only, to be kept for less than five minutes."""
    response = await keyed.http.get("/.well-known/jwks.json")
    assert response.headers["content-type"] == "application/jwk-set+json"
    assert response.headers["cache-control"] == "public, max-age=240"
    ring = keyed.services.ring.ring
    assert [key["kid"] for key in response.json()["keys"]] == [ring.active.kid, ring.next.kid]
    assert all(set(key) == {"kty", "crv", "x", "use", "alg", "kid"} for key in response.json()["keys"])


async def test_a_rotation_is_published_at_once(keyed: Harness) -> None:
    """The old key stays until its tokens are dead, the next one is there from the start."""
    active, following = await kids(keyed)
    keyed.clock.move(ROTATION_WAIT_MS)
    update(ring_of(keyed), lambda ring: ring.rotate(keyed.clock.now_ms()))
    now = await kids(keyed)
    assert (now[0], now[2]) == (following, active)
    keyed.clock.move(3_600_000)
    assert active not in await kids(keyed)


async def test_a_revoked_key_counts_no_more(keyed: Harness) -> None:
    """Its tokens are refused by the very next call, and it is published no longer; the grant lives on."""
    runtime, ann = await keyed.client(), await keyed.approver()
    asked = await runtime.asked()
    record(await ann.decide(asked))
    token = await runtime.token(asked["id"])
    active = keyed.services.ring.ring.active.kid
    update(ring_of(keyed), lambda ring: ring.revoke(active, keyed.clock.now_ms()))
    await keyed.services.enrolment.count_change("default")
    assert refusal(await runtime.consume(asked, token)) == (403, "APPROVAL_TOKEN_INVALID")
    assert active not in await kids(keyed)
    record(await runtime.consume(asked, await runtime.token(asked["id"])))


async def test_a_keyring_that_can_not_be_read_makes_it_unready(
    keyed: Harness, caplog: pytest.LogCaptureFixture
) -> None:
    """The ring in use goes on, readiness says so, and the log has the reason."""
    runtime, before = await keyed.client(), await kids(keyed)
    ring_of(keyed).chmod(0o644)
    response = await keyed.http.get("/readyz")
    assert response.status_code == 503
    assert response.json() == {
        "status": "unready",
        "faults": ["The keyring can't be read; the log says why."],
    }
    assert any("chmod 600" in str(line.__dict__.get("fault")) for line in caplog.records)
    assert await kids(keyed) == before
    keyed.services.directory.forget("default")
    record(await runtime.list())
    ring_of(keyed).chmod(0o600)
    assert (await keyed.http.get("/readyz")).status_code == 200


async def test_alive_is_not_ready(keyed: Harness) -> None:
    """Health needs nothing; readiness needs the store, and ends when the service is stopping."""
    assert (await keyed.http.get("/healthz")).json() == {"status": "ok"}
    ready = await keyed.http.get("/readyz")
    assert (ready.status_code, ready.json()) == (200, {"status": "ready", "faults": []})
    assert ready.headers["cache-control"] == "no-store"
    server = keyed.redis.connection_pool.connection_kwargs["server"]
    server.connected = False
    down = await keyed.http.get("/readyz")
    assert (down.status_code, down.json()["faults"]) == (503, ["The store can't be reached."])
    assert (await keyed.http.get("/healthz")).status_code == 200
    server.connected = True
    keyed.services.readiness.stopping = True
    stopping = await keyed.http.get("/readyz")
    assert (stopping.status_code, stopping.json()["faults"]) == (503, ["The service is stopping."])


async def test_replicas_that_disagree_on_keys_go_unready(
    keyed: Harness, tmp_path_factory: pytest.TempPathFactory, clock: ManualClock
) -> None:
    """A replica whose keyring is another one says so, and is sent no calls."""
    assert (await keyed.http.get("/readyz")).status_code == 200
    directory = tmp_path_factory.mktemp("other")
    load_or_create(directory / KEYRING_NAME, T0_MS)
    async with opened(keyed.redis, directory, clock) as other:
        response = await other.http.get("/readyz")
        assert response.status_code == 503
        assert "keyring" in response.json()["faults"][0]


async def test_every_code_has_its_page(h: Harness) -> None:
    """Every ``type`` of a problem leads to a page; an unknown code, or another path, to none."""
    for name in TABLE:
        response = await h.http.get(f"/errors/{name}")
        assert response.status_code == 200
        assert name in response.text
    index = await h.http.get("/errors")
    assert all(name in index.text for name in TABLE)
    for path in ("/errors/NOPE", "/errors/forbidden", "/errors/%2e%2e", "/errors/%ff", "/errors/a/b"):
        assert refusal(await h.http.get(path)) == (404, "ROUTE_NOT_FOUND")


@pytest.mark.parametrize("path", ["/", "/errors", "/errors/FORBIDDEN", "/reference"])
async def test_pages_run_nothing(h: Harness, path: str) -> None:
    """No page may load or run anything, send anything elsewhere, or be framed."""
    response = await h.http.get(path)
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert response.headers["content-security-policy"] == (
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none';"
        " frame-ancestors 'none'"
    )
    assert response.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("path", DOCUMENTS)
async def test_head_is_answered_as_get_without_the_content(h: Harness, path: str) -> None:
    """The same status and headers, the length of what is left out included (RFC 9110 §9.3.2)."""
    got = await Exchange(h.app, "GET", path, [HOST]).run()
    headed = await Exchange(h.app, "HEAD", path, [HOST]).run()
    assert (headed.status, headed.headers, headed.body) == (got.status, got.headers, b"")
    assert headed.header("content-length") == [str(len(got.body))]
    assert len(got.body) > 0


@pytest.mark.parametrize(
    ("path", "status"), [("/readyz", 503), ("/errors/NOPE", 404), ("/nowhere", 404), ("/errors", 421)]
)
async def test_head_of_what_is_refused_has_no_content_either(h: Harness, path: str, status: int) -> None:
    """The status and type of the problem, and its length."""
    h.services.readiness.stopping = True
    host = (b"host", b"evil.example") if path == "/errors" else HOST
    headers = [host, (b"x-request-id", b"req-1")]
    got = await Exchange(h.app, "GET", path, headers).run()
    headed = await Exchange(h.app, "HEAD", path, headers).run()
    assert (headed.status, headed.headers, headed.body) == (status, got.headers, b"")
    assert headed.header("content-length") == [str(len(got.body))]


@pytest.mark.parametrize("path", DOCUMENTS)
async def test_other_methods_are_told_which_ones_there_are(h: Harness, path: str) -> None:
    """HEAD among them, in a refusal and where it is asked for."""
    refused = await h.http.post(path)
    assert refusal(refused) == (405, "METHOD_NOT_ALLOWED")
    asked = await h.http.options(path)
    assert asked.status_code == 204
    for response in (refused, asked):
        assert set(response.headers["allow"].split(", ")) == {"GET", "HEAD", "OPTIONS"}


async def test_the_front_page_shows_nothing_of_what_is_kept(h: Harness) -> None:
    """Whoever is there and whatever has happened, it is the same page."""
    before = (await h.http.get("/")).text
    runtime = await h.client("payroll-agent", tenant="acme")
    await runtime.asked()
    assert (await h.http.get("/")).text == before == pages.front(with_reference=True)
    in_production = await Exchange(production(h), "GET", "/", [HOST]).run()
    assert in_production.body.decode() == pages.front(with_reference=False)


async def test_the_description_names_this_server(h: Harness) -> None:
    """The OpenAPI document is served with the service's own address."""
    response = await h.http.get("/openapi.json")
    assert response.headers["content-type"] == "application/json"
    assert [server["url"] for server in response.json()["servers"]] == [BASE_URL]
    assert (await h.http.get("/openapi.json")).content == response.content


async def test_production_has_no_reference(h: Harness) -> None:
    """The page to read the API by is for development."""
    app = production(h)
    assert (await Exchange(app, "GET", "/reference", [HOST]).run()).status == 404
    assert (await Exchange(app, "HEAD", "/reference", [HOST]).run()).status == 404
    assert (await Exchange(app, "GET", "/openapi.json", [HOST]).run()).status == 200
    assert (await Exchange(h.app, "GET", "/reference", [HOST]).run()).status == 200


async def test_a_page_that_breaks_is_a_plain_500(
    h: Harness, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What breaks in a page is told to the log, and to the caller in the one form of errors."""

    def breaks(_: str) -> None:
        raise RuntimeError("secret-detail")

    monkeypatch.setattr("placet.api.pages.error_page", breaks)
    headers = [HOST, (b"x-request-id", b"req-9")]
    exchange = await Exchange(h.app, "GET", "/errors/FORBIDDEN", headers).run()
    assert (exchange.status, json.loads(exchange.body)["code"]) == (500, "INTERNAL_ERROR")
    assert exchange.header("x-request-id") == ["req-9"]
    assert b"secret-detail" not in exchange.body
    assert "a page failed in a way nobody foresaw" in caplog.messages
