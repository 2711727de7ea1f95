"""Signing in and out on the pages: a link that works once, a session that ends, and what can't be made up."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from redis.exceptions import ResponseError

from placet.domain.errors import StoreUnavailable, Unauthenticated
from placet.domain.limits import SIGN_IN_LINK_MS
from placet.store.sessions import Sessions
from placet.web.security import Origin
from tests.browsing import Browser, words
from tests.factories import ManualClock
from tests.harness import Harness
from tests.ruled import Opening
from tests.rulefiles import DIRECTORY

TOLD = "a session was spoilt in the store: something else was there"
USED = "This link was used already, is older than five minutes, or is none."


async def test_a_link_signs_in_once(anywhere: Harness) -> None:
    """Into a session of its own, in a cookie that no script and no other site gets."""
    await anywhere.approver("ann", shown_as="Ann <b>Marsh")
    secret = await anywhere.services.sessions.offer("default", "ann")
    browser = Browser(anywhere)
    response = await browser.post("/signin", {"secret": secret, "next": "/a/apr_1"})
    assert (response.status_code, response.headers["location"]) == (303, "/a/apr_1")
    name, *attributes = response.headers["set-cookie"].split("; ")
    assert name.startswith("placet-8420=default.")
    assert attributes == ["HttpOnly", "Path=/", "SameSite=lax"]
    assert name.removeprefix("placet-8420=") != secret
    page = await browser.get("/inbox")
    assert page.status_code == 200
    assert "Ann &lt;b&gt;Marsh" in page.text
    again = await Browser(anywhere).post("/signin", {"secret": secret})
    assert again.status_code == 401
    assert USED in words(again)
    assert "set-cookie" not in again.headers


async def test_a_link_lives_for_five_minutes(anywhere: Harness) -> None:
    """The store forgets it by itself."""
    await anywhere.approver("ann")
    await anywhere.services.sessions.offer("default", "ann")
    (key,) = [each async for each in anywhere.redis.scan_iter("{placet:default}:q:*")]
    assert 0 < await anywhere.redis.pttl(key) <= SIGN_IN_LINK_MS


@pytest.mark.parametrize(
    "secret", ["", "x", "default." + "A" * 43, "default.", "abroad." + "A" * 43, "é" * 50]
)
async def test_what_is_no_link_signs_nobody_in(h: Harness, secret: str) -> None:
    """Whatever it looks like."""
    await h.approver("ann")
    response = await Browser(h).post("/signin", {"secret": secret})
    assert (response.status_code, "set-cookie" in response.headers) == (401, False)


async def test_nobody_is_signed_in_who_is_not_there(h: Harness) -> None:
    """Neither a client nor an alias: by the ids of people only."""
    await h.client("runtime")
    for name in ("runtime", "zoe", ""):
        with pytest.raises(Unauthenticated):
            await h.services.sessions.offer("default", name)


async def test_people_of_the_directory_sign_in(under: Opening) -> None:
    """Without a credential of their own, as long as they are in it."""
    ruled = await under()
    await ruled.h.client()
    browser = await Browser(ruled.h).signed_in("ann")
    assert "Ann Marsh" in (await browser.get("/inbox")).text
    with pytest.raises(Unauthenticated):
        await ruled.h.services.sessions.offer("default", "ann@example.com")
    await ruled.now(directory=DIRECTORY.replace('"ann"', '"anna"'))
    assert (await browser.get("/inbox")).headers["location"] == "/signin?next=/inbox"


class TestSessions:
    """Until they end."""

    async def test_without_one_somebody_signs_in_first(self, h: Harness) -> None:
        """And comes back to where they were going, on this service only."""
        browser = Browser(h)
        for path, to in (("/inbox", "/signin?next=/inbox"), ("/a/apr_1", "/signin?next=/a/apr_1")):
            response = await browser.get(path)
            assert (response.status_code, response.headers["location"]) == (303, to)
        for path in ("//evil.example", "https://evil.example", "/a/../x", "/signout", "javascript:1"):
            page = await h.http.get("/signin", params={"next": path})
            assert '<input type="hidden" name="next" value="/inbox">' in page.text

    async def test_signing_out_ends_it(self, anywhere: Harness) -> None:
        """For everybody who holds it; a second time there is nothing to end."""
        await anywhere.approver("ann")
        browser = await Browser(anywhere).signed_in()
        held = dict(browser.cookies)
        csrf = (await browser.get("/inbox")).text.partition('name="csrf" value="')[2].partition('"')[0]
        response = await browser.post("/signout", {"csrf": csrf})
        assert (response.status_code, response.headers["location"]) == (303, "/signin")
        assert "; Max-Age=0;" in response.headers["set-cookie"]
        browser.cookies = held
        assert (await browser.get("/inbox")).status_code == 303
        await anywhere.services.sessions.end(held["placet-8420"])
        await anywhere.services.sessions.end("none of ours")

    async def test_it_ends_after_half_a_day(self, h: Harness, clock: ManualClock) -> None:
        """However often it is used; and the store forgets one that is not."""
        await h.approver("ann")
        browser = await Browser(h).signed_in()
        limits = h.services.settings.limits
        (key,) = [each async for each in h.redis.scan_iter("{placet:default}:u:*")]
        assert 0 < await h.redis.pttl(key) <= limits.session_idle_ms
        clock.move(limits.session_max_ms)
        assert (await browser.get("/inbox")).status_code == 200
        clock.move(1)
        assert (await browser.get("/inbox")).status_code == 303
        assert await h.redis.exists(key) == 0

    async def test_whoever_is_revoked_is_signed_out(self, anywhere: Harness) -> None:
        """At once."""
        await anywhere.approver("ann")
        browser = await Browser(anywhere).signed_in()
        await anywhere.services.enrolment.revoke("default", "approver:ann")
        anywhere.services.directory.forget("default")
        assert (await browser.get("/inbox")).status_code == 303

    async def test_whoever_comes_back_signs_in_anew(self, anywhere: Harness) -> None:
        """No session and no link of before counts again; a further credential ends none."""
        await anywhere.approver("ann")
        enrolment, sessions = anywhere.services.enrolment, anywhere.services.sessions
        browser, idle = await Browser(anywhere).signed_in(), await Browser(anywhere).signed_in()
        link = await sessions.offer("default", "ann")
        await enrolment.rotate("default", "approver:ann")
        anywhere.services.directory.forget("default")
        assert (await browser.get("/inbox")).status_code == 200
        await enrolment.revoke("default", "approver:ann")
        anywhere.services.directory.forget("default")
        assert (await browser.get("/inbox")).status_code == 303
        await enrolment.rotate("default", "approver:ann")
        anywhere.services.directory.forget("default")
        for each in (browser, idle):
            assert (await each.get("/inbox")).status_code == 303
        assert (await Browser(anywhere).post("/signin", {"secret": link})).status_code == 401
        assert (await (await Browser(anywhere).signed_in()).get("/inbox")).status_code == 200

    async def test_being_told_what_happens_is_no_use_of_it(self, anywhere: Harness) -> None:
        """A page that is left open does not keep anybody signed in."""
        await anywhere.approver("ann")
        browser = await Browser(anywhere).signed_in()
        held = browser.cookies["placet-8420"]
        (key,) = await anywhere.redis.keys("{placet:default}:u:*")
        await anywhere.redis.pexpire(key, 60_000)
        await anywhere.services.sessions.find(held, is_used=False)
        assert await anywhere.redis.pttl(key) <= 60_000
        await anywhere.services.sessions.find(held)
        assert await anywhere.redis.pttl(key) > 60_000

    @pytest.mark.parametrize("headers", [{"X-Forwarded-For": "10.0.0.1"}, {"X-Forwarded-Host": "a.example"}])
    async def test_its_cookie_without_tls_is_for_this_machine(
        self, h: Harness, headers: dict[str, str]
    ) -> None:
        """Whatever came through a proxy without TLS could have been read on the way."""
        await h.approver("ann")
        browser = await Browser(h).signed_in()
        headers = {**headers, "cookie": f"placet-8420={browser.cookies['placet-8420']}"}
        assert (await h.http.get("/inbox", headers=headers)).status_code == 303
        assert (await browser.get("/inbox")).status_code == 200

    async def test_it_is_not_made_up(self, h: Harness) -> None:
        """By whoever writes the store, or moves one to another place."""
        await h.approver("ann")
        await h.approver("bob")
        ann, bob = await Browser(h).signed_in("ann"), await Browser(h).signed_in("bob")
        keys = [each async for each in h.redis.scan_iter("{placet:default}:u:*")]
        first, second = [await h.redis.get(key) for key in keys]
        await h.redis.set(keys[0], second)
        await h.redis.set(keys[1], first)
        for browser in (ann, bob):
            assert (await browser.get("/inbox")).status_code == 303
        for document in (b"", b"{}", b"A" * 43 + b'{"person":"ann","at_ms":1}', b"\xff\xfe"):
            await h.redis.set(keys[0], document)
            await h.redis.set(keys[1], document)
            assert (await ann.get("/inbox")).status_code == 303

    async def test_one_that_something_else_wrote_to_is_none(
        self, anywhere: Harness, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Whoever had it is signed out, the log is told once, and nobody is kept out for ever."""
        await anywhere.approver("ann")
        browser = await Browser(anywhere).signed_in()
        (key,) = [each async for each in anywhere.redis.scan_iter("{placet:default}:u:*")]
        await anywhere.redis.delete(key)
        await anywhere.redis.lpush(key, b"x")
        for _ in range(2):
            response = await browser.get("/inbox")
            assert (response.status_code, response.headers["location"]) == (303, "/signin?next=/inbox")
        assert caplog.messages == [TOLD]
        assert (await (await browser.signed_in()).get("/inbox")).status_code == 200

    async def test_nor_is_a_link_that_something_else_wrote_to(
        self, anywhere: Harness, caplog: pytest.LogCaptureFixture
    ) -> None:
        """As of one that was used."""
        await anywhere.approver("ann")
        secret = await anywhere.services.sessions.offer("default", "ann")
        (key,) = [each async for each in anywhere.redis.scan_iter("{placet:default}:q:*")]
        await anywhere.redis.delete(key)
        await anywhere.redis.hset(key, "x", "y")
        for _ in range(2):
            assert USED in words(await Browser(anywhere).post("/signin", {"secret": secret}))
        assert caplog.messages == [TOLD]

    async def test_one_that_was_there_before_is_not_taken_over(self, h: Harness) -> None:
        """Whoever planted a cookie does not come to share the session (fixation)."""
        await h.approver("ann")
        browser = Browser(h)
        browser.cookies["placet-8420"] = planted = "default." + "B" * 43
        await browser.signed_in()
        assert browser.cookies["placet-8420"] != planted

    async def test_two_cookies_are_none(self, h: Harness) -> None:
        """Nobody can tell which is meant."""
        await h.approver("ann")
        browser = await Browser(h).signed_in()
        held = browser.cookies["placet-8420"]
        browser.cookies = {"placet-8420": f"{held}; placet-8420={held}"}
        assert (await browser.get("/inbox")).status_code == 303

    async def test_the_api_takes_no_cookie(self, h: Harness) -> None:
        """Only pages do."""
        await h.approver("ann")
        browser = await Browser(h).signed_in()
        assert (await browser.get("/v1/approvals")).status_code == 401


class TestForms:
    """What changes something is a form of this session, from this origin."""

    @pytest.mark.parametrize("origin", [None, "null", "https://evil.example", "http://127.0.0.1:8421", ""])
    async def test_of_another_origin_it_is_refused(self, h: Harness, origin: str | None) -> None:
        """Before anything is looked at."""
        await h.approver("ann")
        secret = await h.services.sessions.offer("default", "ann")
        browser = Browser(h, origin)
        response = await browser.post("/signin", {"secret": secret})
        assert (response.status_code, "set-cookie" in response.headers) == (403, False)
        assert (await Browser(h).post("/signin", {"secret": secret})).status_code == 303

    async def test_a_browser_that_says_so_is_believed(self, h: Harness) -> None:
        """That another site sent it."""
        response = await Browser(h).post("/signin", {"secret": "x"}, headers={"sec-fetch-site": "cross-site"})
        assert response.status_code == 403

    @pytest.mark.parametrize("csrf", ["", "A" * 43, "é"])
    async def test_of_another_session_it_is_refused(self, h: Harness, csrf: str) -> None:
        """Nothing is done."""
        await h.approver("ann")
        browser = await Browser(h).signed_in()
        assert (await browser.post("/signout", {"csrf": csrf})).status_code == 403
        assert (await browser.get("/inbox")).status_code == 200

    @pytest.mark.parametrize(
        ("content", "media_type", "status"),
        [
            ("{}", "application/json", 415),
            ("secret=x", "text/plain", 415),
            ("secret=%ff", "application/x-www-form-urlencoded", 422),
            ("&".join(f"a{n}=1" for n in range(200)), "application/x-www-form-urlencoded", 422),
            ("secret=" + "x" * 70_000, "application/x-www-form-urlencoded", 413),
            ("secret=é", "application/x-www-form-urlencoded", 422),
        ],
    )
    async def test_what_is_no_form_is_refused(
        self, h: Harness, content: str, media_type: str, status: int
    ) -> None:
        """In plain words."""
        headers = {"content-type": media_type}
        response = await Browser(h).post("/signin", {}, content=content.encode(), headers=headers)
        assert response.status_code == status


@pytest.mark.parametrize("fault", [OSError(), ResponseError("NOPERM this user has no permissions")])
async def test_a_store_that_is_down_is_told(
    h: Harness, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    """On a page; nobody is signed out by it."""
    await h.approver("ann")
    browser = await Browser(h).signed_in()

    async def down(*_: object, **__: object) -> None:
        raise fault

    client = h.services.store.client
    with monkeypatch.context() as broken:
        for name in ("set", "getex", "getdel", "delete", "mget"):
            broken.setattr(client, name, down)
        page = await browser.get("/inbox")
        assert (page.status_code, page.headers["content-type"]) == (503, "text/html; charset=utf-8")
        response = await browser.post("/signin", {"secret": "default." + "A" * 43})
        assert response.status_code == 503
        sessions = Sessions(client)
        for call in (
            sessions.keep("t", "h", b"", idle_ms=1),
            sessions.drop("t", "h"),
            sessions.offer("t", "h", b"", lives_ms=1),
            sessions.mark("t", ["h"], "m", lives_ms=1),
            sessions.marks("t", ["h"]),
        ):
            with pytest.raises(StoreUnavailable):
                await call
    assert (await browser.get("/inbox")).status_code == 200


@pytest.mark.parametrize(
    "header", ["X-Forwarded-For", "X-Forwarded-Port", "Forwarded", "Via", "X-Real-IP", "CF-Connecting-IP"]
)
async def test_a_link_is_for_this_machine_alone(h: Harness, header: str) -> None:
    """What came through a proxy may come from anywhere; the link is still good."""
    await h.approver("ann")
    secret = await h.services.sessions.offer("default", "ann")
    browser = Browser(h)
    response = await browser.post("/signin", {"secret": secret}, headers={header: "10.0.0.1"})
    assert (response.status_code, "set-cookie" in response.headers) == (403, False)
    assert "on the machine that the service runs on" in words(response)
    assert (await browser.post("/signin", {"secret": secret})).status_code == 303


@pytest.mark.parametrize(
    ("public", "host", "here"),
    [
        ("http://127.0.0.1:8420", "127.0.0.1", True),
        ("http://localhost:8420", "localhost", True),
        ("http://[::1]:8420", "::1", True),
        ("https://placet.example", "127.0.0.1", False),
        ("http://127.0.0.1:8420", "placet.example", False),
        ("http://127.0.0.1:8420", None, False),
    ],
)
def test_where_here_is(public: str, host: str | None, *, here: bool) -> None:
    """Both the service's own name and the one it was called by."""
    assert Origin(public).is_here(host, ["host", "cookie"]) is here


def test_cookies_over_https_are_of_this_host() -> None:
    """Bound to it, and sent over TLS only; without TLS the name is another."""
    secure, plain = Origin("https://placet.example"), Origin("http://127.0.0.1:8420")
    kept, ended = secure.cookie_of("", "x"), secure.cookie_of("", "", max_age_s=0)
    bound = "Path=/; SameSite=lax; Secure"
    assert kept.to_header(header="") == f"__Host-placet=x; HttpOnly; {bound}"
    assert ended.to_header(header="") == f'__Host-placet=""; HttpOnly; Max-Age=0; {bound}'
    assert plain.cookie == "placet-8420"


async def test_a_form_that_does_not_come_is_not_waited_for(
    h: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Is not waited for: whoever trickles bytes holds nothing for long."""
    monkeypatch.setattr("placet.web.common.BODY_TIMEOUT_S", 0)

    async def never() -> AsyncIterator[bytes]:
        yield b"secret="
        await asyncio.sleep(3600)

    response = await Browser(h).post("/signin", {}, content=never())
    assert (response.status_code, "did not arrive in time" in words(response)) == (408, True)


async def test_nobody_becomes_somebody_else_unasked(h: Harness) -> None:
    """Who has signed in is told so where a link would make them another; then the former session ends."""
    for name in ("ann", "bob"):
        await h.approver(name)
    browser = await Browser(h).signed_in("ann")
    asked = await browser.get("/signin")
    assert "You are signed in as ann." in words(asked)
    assert 'id="signin" data-asks>' in asked.text
    former = dict(browser.cookies)
    await browser.signed_in("bob")
    assert "bob" in (await browser.get("/inbox")).text
    browser.cookies = former
    assert (await browser.get("/inbox")).status_code == 303
    assert "data-asks" not in (await browser.get("/signin")).text


@pytest.mark.parametrize(
    ("public", "origin"),
    [
        ("https://placet.example:443", "https://placet.example"),
        ("http://127.0.0.1:80", "http://127.0.0.1"),
        ("https://placet.example:80", "https://placet.example:80"),
        ("http://[0:0:0:0:0:0:0:1]:8420", "http://[::1]:8420"),
        ("http://[::1]", "http://[::1]"),
    ],
)
def test_the_origin_is_what_browsers_send(public: str, origin: str) -> None:
    """However it is written in the settings."""
    assert Origin(public).public == origin
    assert Origin(public).sent_it(origin, "same-origin")
