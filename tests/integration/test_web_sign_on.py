"""Signing in with an OIDC issuer: there and back, for a session of whom it says."""

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from redis.asyncio import Redis

from placet.application.sessions import LinksClosed
from placet.application.turns import OF_ONE_MAX
from placet.domain.errors import StoreUnavailable
from placet.domain.limits import SIGN_ON_MS
from placet.store.sessions import Sessions
from tests.browsing import Browser, words
from tests.factories import ManualClock
from tests.harness import BASE_URL, opened
from tests.issuer import a_key, serving
from tests.provider import CLIENT_ID, SECRET, Provider, address_in, returned, signed_on
from tests.rulefiles import Files
from tests.signing_on import POLICY, Scene, signing_on, written
from tests.tools import until

ELSEWHERE = "This sign-in was not begun in this browser, or is over already."


@pytest.fixture
async def scene(
    client: Redis, ring_directory: Path, tmp_path: Path, clock: ManualClock
) -> AsyncIterator[Scene]:
    """The stage, over a store of every kind in turn."""
    async with signing_on(client, ring_directory, tmp_path, clock) as scene:
        yield scene


class TestThereAndBack:
    """The whole way."""

    async def test_whom_the_directory_knows_is_signed_in(self, scene: Scene) -> None:
        """As who they are there; they come out where they wanted to go."""
        browser = scene.browser()
        form = await browser.get("/signin?next=/a/apr_1")
        assert "Sign in with Example &lt;login&gt;" in form.text
        assert 'name="secret"' not in form.text
        answer = await signed_on(browser, scene.provider, onward="/a/apr_1")
        assert (answer.status_code, answer.headers["location"]) == (303, "/a/apr_1")
        inbox = await browser.get("/inbox")
        assert "Ann Marsh" in inbox.text
        assert [name for name, value in browser.cookies.items() if value.strip('"')] == ["placet-8420"]

    async def test_it_is_asked_as_the_standard_has_it(self, scene: Scene) -> None:
        """OIDC Core §3.1.2.1, RFC 7636 §4.3; who we are is said as RFC 6749 §2.3.1 spells it."""
        leaving = await scene.browser().post("/signin/login", {"next": "/inbox"})
        address = address_in(leaving)
        asked = parse_qs(urlsplit(address).query)
        assert address.startswith(f"{scene.provider.server.url}/authorize?")
        random = [asked.pop(name) for name in ("state", "nonce", "code_challenge")]
        assert [len(values[0]) for values in random] == [43, 43, 43]
        assert asked == {
            "response_type": ["code"],
            "client_id": [CLIENT_ID],
            "redirect_uri": [f"{BASE_URL}/signin/login"],
            "scope": ["openid profile email"],
            "code_challenge_method": ["S256"],
        }
        await signed_on(scene.browser(), scene.provider)
        (form,) = scene.provider.redeemed
        assert (form["client_id"], form["client_secret"]) == (CLIENT_ID, SECRET)

    async def test_a_stranger_is_signed_in_with_the_groups_they_are_said_to_be_in(self, scene: Scene) -> None:
        """They decide by those, for a quarter of an hour; then they sign in anew."""
        scene.provider.claimed = {"sub": "u-9", "name": "Nina", "groups": ["ops"]}
        browser = scene.browser()
        await signed_on(browser, scene.provider)
        runtime = await scene.h.client("runtime2")
        asked = await runtime.asked(expires_in_ms=3_600_000)
        assert "Nina" in (await browser.get("/inbox")).text
        scene.h.clock.move(15 * 60_000)
        assert (await browser.card(asked["id"]))["digest"] == asked["digest"]
        scene.h.clock.move(1_000)
        gone = await browser.get(f"/a/{asked['id']}")
        assert gone.status_code == 404
        for page in (gone, await browser.get("/inbox")):
            assert "until you sign in again, none of them counts here" in words(page)
        await signed_on(browser, scene.provider)
        answer = await browser.decide(asked["id"], "approve")
        assert answer.status_code == 303, words(answer)

    async def test_a_session_before_it_is_over(self, scene: Scene) -> None:
        """Whoever held it holds nothing any more."""
        browser = scene.browser()
        await signed_on(browser, scene.provider)
        held = dict(browser.cookies)
        await signed_on(browser, scene.provider)
        assert browser.cookies["placet-8420"] != held["placet-8420"]
        browser.cookies = held
        assert (await browser.get("/inbox")).status_code == 303

    async def test_whoever_is_taken_out_is_signed_out(self, scene: Scene) -> None:
        """So is everybody when the issuer signs nobody in any more."""
        browser = scene.browser()
        await signed_on(browser, scene.provider)
        await scene.rewritten(('name = "login"', 'name = "other"'))
        assert (await browser.get("/inbox")).status_code == 200
        await scene.without_sign_in()
        assert (await browser.get("/inbox")).status_code == 303

    async def test_two_tabs_sign_in_at_once(self, scene: Scene) -> None:
        """Each has a flow of its own."""
        browser = scene.browser()
        one, two = [address_in(await browser.post("/signin/login", {"next": "/inbox"})) for _ in range(2)]
        for address in (one, two):
            answer = await returned(browser, scene.provider.authorize(address))
            assert answer.status_code == 303


class TestNobodyElse:
    """What does not sign anybody in."""

    @pytest.mark.parametrize(
        ("claims", "reason"),
        [
            ({"nonce": "another"}, "nonce"),
            ({"nonce": ...}, "nonce"),
            ({"nonce": 7}, "nonce"),
            ({"aud": "placet"}, "audience"),
            ({"aud": [CLIENT_ID, "other"]}, "audience"),
            ({"azp": "other"}, "audience"),
            ({"azp": 7}, "claims"),
            ({"auth_time": "now"}, "claims"),
            ({"iss": "https://id.example"}, "unknown-issuer"),
            ({"exp": 1}, "lifetime"),
            ({"sub": ""}, "claims"),
        ],
    )
    async def test_a_token_that_is_not_of_this_sign_in(
        self, scene: Scene, caplog: pytest.LogCaptureFixture, claims: dict[str, Any], reason: str
    ) -> None:
        """Is refused; the log says why, the page does not."""
        caplog.set_level(logging.DEBUG)
        assert "can't be relied on" in await scene.refused(**claims)
        assert [each.__dict__["reason"] for each in caplog.records if "reason" in each.__dict__] == [reason]

    async def test_a_token_that_somebody_else_signed(self, scene: Scene) -> None:
        """With a key that the issuer does not show."""
        scene.provider.key = a_key(number=1)
        assert "can't be relied on" in await scene.refused()

    async def test_an_access_token_is_none(self, scene: Scene) -> None:
        """It is told by its type; and one of ours for the API is none where the issuer has no audience."""
        await signed_on(scene.browser(), scene.provider)
        token = scene.provider.server.token(aud=CLIENT_ID)
        answer = await scene.h.http.get("/v1/approvals", headers={"authorization": f"Bearer {token}"})
        assert answer.status_code == 401

    async def test_a_code_is_of_the_browser_that_began(self, scene: Scene) -> None:
        """Brought to another (a code of an attacker's own), it signs nobody in."""
        leaving = await scene.browser().post("/signin/login", {"next": "/inbox"})
        back = scene.provider.authorize(address_in(leaving))
        other = scene.browser()
        answer = await returned(other, back)
        assert (answer.status_code, other.cookies) == (401, {})
        assert ELSEWHERE in words(answer)
        assert scene.provider.redeemed == []

    async def test_a_flow_is_ended_once(self, scene: Scene) -> None:
        """Also in its own browser."""
        browser = scene.browser()
        back = scene.provider.authorize(address_in(await browser.post("/signin/login", {})))
        assert (await returned(browser, back)).status_code == 303
        again = await returned(browser, back)
        assert (again.status_code, ELSEWHERE in words(again)) == (401, True)

    async def test_the_answer_is_of_the_issuer(self, scene: Scene) -> None:
        """RFC 9207: another's, or none where it says that it says so."""
        for iss in ("https://id.example", ""):
            browser = scene.browser()
            back = scene.provider.authorize(address_in(await browser.post("/signin/login", {})), iss=iss)
            answer = await returned(browser, back)
            assert (answer.status_code, "The answer was not of Example <login>." in words(answer)) == (
                401,
                True,
            )
        assert scene.provider.redeemed == []

    @pytest.mark.parametrize(
        ("brought", "said"),
        [
            (
                {"error": "access_denied", "code": ""},
                "You did not sign in with Example <login>, or it does not let you.",
            ),
            ({"error": "<script>"}, "Example <login> did not sign you in."),
            ({"error": "server_error"}, "Example <login> did not sign you in (server_error)."),
            ({"code": ""}, "What you brought back was not complete."),
            ({"code": "x" * 5_000}, "What you brought back was not complete."),
            ({"code": "made-up"}, "Example <login> did not take what you brought back"),
        ],
    )
    async def test_what_comes_back_without_a_code(
        self, scene: Scene, caplog: pytest.LogCaptureFixture, brought: dict[str, str], said: str
    ) -> None:
        """Signs nobody in; what the issuer says besides is shown to nobody."""
        browser = scene.browser()
        back = scene.provider.authorize(address_in(await browser.post("/signin/login", {})), **brought)
        answer = await returned(browser, back)
        assert (answer.status_code, said in words(answer)) == (401, True)
        assert "PRIVATE" not in answer.text + caplog.text

    async def test_whoever_was_away_for_too_long_begins_again(self, scene: Scene, clock: ManualClock) -> None:
        """Ten minutes, and no more."""
        for ms, status in ((SIGN_ON_MS, 303), (SIGN_ON_MS + 1, 401)):
            browser = scene.browser()
            leaving = await browser.post("/signin/login", {})
            clock.move(ms)
            answer = await returned(browser, scene.provider.authorize(address_in(leaving)))
            assert answer.status_code == status

    async def test_a_flow_can_not_be_made_up(self, scene: Scene) -> None:
        """Neither changed: it is sealed."""
        browser = scene.browser()
        back = scene.provider.authorize(address_in(await browser.post("/signin/login", {})))
        ((name, value),) = browser.cookies.items()
        for spoilt in ("", "x", f"{value[:-1]}!", f"A{value}", f"{value.partition('.')[0]}."):
            browser.cookies = {name: spoilt}
            assert (await returned(browser, back)).status_code == 401
        browser.cookies = {"placet-8420-" + "A" * 12: value}
        state = f"state={'A' * 43}"
        moved = "&".join(state if part.startswith("state=") else part for part in back.split("&"))
        assert (await returned(browser, moved)).status_code == 401

    async def test_a_form_of_another_place_begins_nothing(self, scene: Scene) -> None:
        """Nor ends anything."""
        stranger = Browser(scene.h, "https://evil.example")
        for path in ("/signin/login", "/signin/login/back"):
            answer = await stranger.post(path, {"next": "/inbox"})
            assert (answer.status_code, stranger.cookies) == (403, {})

    async def test_other_ways_there_are_none(self, scene: Scene) -> None:
        """Names that no issuer has lead nowhere."""
        for path in ("/signin/nobody", "/signin/nobody/back"):
            answer = await scene.browser().post(path, {"next": "/inbox"})
            assert (answer.status_code, "Nobody signs in this way." in words(answer)) == (404, True)

    async def test_over_plain_http_nobody_signs_in(self, scene: Scene) -> None:
        """Unless it is on this very machine."""
        headers = {"x-forwarded-for": "192.0.2.1"}
        answer = await scene.browser().post("/signin/login", {"next": "/inbox"}, headers=headers)
        assert (answer.status_code, "Signing in takes https." in words(answer)) == (403, True)

    async def test_an_issuer_that_signs_nobody_in_any_more(self, scene: Scene) -> None:
        """Since its answer was asked for."""
        redeem = scene.provider.server.documents["/token"]

        async def meanwhile(writer: asyncio.StreamWriter) -> None:
            await scene.without_sign_in()
            await redeem(writer)

        scene.provider.server.documents["/token"] = meanwhile
        assert "nobody of this service is called so" in await scene.refused()


class TestThatCanNotBe:
    """What an issuer or an operator left undone."""

    async def test_no_link_signs_in_where_an_issuer_does(self, scene: Scene) -> None:
        """None is made; one that was made before is not taken; sessions of such are over."""
        await scene.h.approver("ann")
        await scene.without_sign_in()
        secret = await scene.h.services.sessions.offer("default", "ann")
        browser = await scene.browser().signed_in("ann")
        assert (await browser.get("/inbox")).status_code == 200
        await scene.rewritten()
        assert (await browser.get("/inbox")).status_code == 303
        answer = await scene.browser().post("/signin", {"secret": secret})
        assert (answer.status_code, "Links sign nobody in here" in words(answer)) == (403, True)
        with pytest.raises(LinksClosed):
            await scene.h.services.sessions.offer("default", "ann")

    @pytest.mark.parametrize(
        "configured",
        [
            {"authorization_endpoint": ...},
            {"authorization_endpoint": "http://192.0.2.1/authorize"},
            {"authorization_endpoint": "javascript:alert(1)"},
            {"authorization_endpoint": "https://[x"},
            {"issuer": "https://id.example"},
            {"authorization_endpoint": 7},
        ],
    )
    async def test_an_issuer_that_leads_nowhere(self, scene: Scene, configured: dict[str, Any]) -> None:
        """Sends nobody anywhere."""
        scene.provider.configured = configured
        scene.provider.publish()
        browser = scene.browser()
        answer = await browser.post("/signin/login", {"next": "/inbox"})
        assert (answer.status_code, browser.cookies) == (503, {})
        assert "Example <login> can't be reached. Try again in a moment." in words(answer)

    async def test_an_issuer_that_redeems_nothing(self, scene: Scene) -> None:
        """Has to be asked again."""
        scene.provider.configured = {"token_endpoint": ...}
        scene.provider.publish()
        assert "can't be reached" in await scene.refused()

    @pytest.mark.parametrize(
        ("answer", "said"),
        [
            ((200, {}, b"[]"), "can't be reached"),
            ((500, {}, b"<html>"), "can't be reached"),
            ((302, {"location": "https://evil.example"}, b"{}"), "did not take"),
            ((401, {}, b'{"error": "invalid_client"}'), "is not set up right to sign you in"),
            ((200, {}, b'{"id_token": 7}'), "did not take"),
            ((200, {}, b'{"id_token": "x.y.z"}'), "can't be relied on"),
            ((200, {}, b'{"a": "' + b"x" * 300_000 + b'"}'), "can't be reached"),
        ],
    )
    async def test_what_is_no_answer(
        self, scene: Scene, answer: tuple[int, dict[str, str], bytes], said: str
    ) -> None:
        """Signs nobody in."""
        scene.provider.token_answer = answer
        assert said in await scene.refused()

    @pytest.mark.parametrize(
        ("error", "looked_at"),
        [
            (b"invalid_client", "client_id 'placet web', the secret in {file}, and whether the client may"),
            (b"invalid_grant", "the redirect URI, registered there as {base}/signin/login; else"),
            (b"no such", "what the issuer's own log says"),
        ],
    )
    async def test_the_log_says_what_to_look_at(
        self, scene: Scene, caplog: pytest.LogCaptureFixture, error: bytes, looked_at: str
    ) -> None:
        """Where a code was refused; without the code, and without what else the issuer says."""
        scene.provider.token_answer = 400, {}, b'{"error": "%s", "error_description": "PRIVATE"}' % error
        await scene.refused()
        [line] = [vars(each) for each in caplog.records if each.message == "a code was not redeemed"]
        assert line["look_at"].startswith(looked_at.format(file=scene.secret_file, base=BASE_URL))
        assert line["fault"] in {error.decode(), "no id_token"}
        assert "PRIVATE" not in str(line)
        assert scene.provider.redeemed[-1]["code"] not in str(line)

    async def test_the_secret_is_read_anew_each_time(
        self, scene: Scene, caplog: pytest.LogCaptureFixture
    ) -> None:
        """It is rotated by writing another; without one nobody signs in, and the log names the file."""
        whys = {None: "can't be read (No such file or directory)", "": "is empty", "é": "holds no secret"}
        for text, why in whys.items():
            scene.secret_file.unlink(missing_ok=True)
            if text is not None:
                scene.secret_file.write_text(text)
            assert "is not set up right to sign you in" in await scene.refused()
            line = vars(caplog.records[-1])
            assert line["message"] == "an issuer can't sign anybody in"
            assert line["fault"].startswith(f"client_secret_file {scene.secret_file} {why}")
        scene.secret_file.write_text("another")
        await signed_on(scene.browser(), scene.provider)
        assert scene.provider.redeemed[-1]["client_secret"] == "another"

    @pytest.mark.parametrize(
        ("methods", "scheme"),
        [
            (["client_secret_basic", "client_secret_post"], "Basic"),
            (["client_secret_post"], ""),
            (["private_key_jwt"], "Basic"),
        ],
    )
    async def test_who_we_are_is_said_as_the_issuer_wants_it(
        self, scene: Scene, methods: list[str], scheme: str
    ) -> None:
        """In a header where it takes that."""
        scene.provider.configured = {"token_endpoint_auth_methods_supported": methods}
        scene.provider.publish()
        await signed_on(scene.browser(), scene.provider)
        assert scene.provider.redeemed[-1]["client_secret"] == SECRET
        assert scene.provider.redeemed[-1]["scheme"] == scheme

    async def test_without_a_secret_the_verifier_is_proof_enough(self, scene: Scene) -> None:
        """A public client names itself in the form (RFC 6749 §3.2.1)."""
        await scene.rewritten((f'client_secret_file = "{scene.secret_file}"\n', ""))
        browser = scene.browser()
        assert (await signed_on(browser, scene.provider)).status_code == 303
        assert "client_secret" not in scene.provider.redeemed[-1]

    async def test_a_store_that_is_away_signs_nobody_in(
        self, scene: Scene, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The way has to be gone again from its beginning."""
        browser = scene.browser()
        back = scene.provider.authorize(address_in(await browser.post("/signin/login", {})))

        async def away(*_: object, **__: object) -> None:
            raise StoreUnavailable

        monkeypatch.setattr(Sessions, "keep", away)
        answer = await returned(browser, back)
        assert (answer.status_code, "The store does not answer" in words(answer)) == (503, True)
        monkeypatch.undo()
        assert (await returned(browser, back)).status_code == 401
        assert (await signed_on(browser, scene.provider)).status_code == 303

    async def test_an_issuer_is_asked_once_for_what_it_says_of_itself(self, scene: Scene) -> None:
        """For as long as that may be kept."""
        for _ in range(3):
            await signed_on(scene.browser(), scene.provider)
        asked = scene.provider.server.asked
        assert asked.count("/.well-known/openid-configuration") == 2  # once of them for the keys
        scene.h.clock.move(5 * 60_000)
        await signed_on(scene.browser(), scene.provider)
        assert asked.count("/.well-known/openid-configuration") > 2

    async def test_the_way_back_changes_nothing(self, scene: Scene) -> None:
        """Whoever follows links by itself may open it; what is in it is text."""
        browser = scene.browser()
        back = urlsplit(scene.provider.authorize(address_in(await browser.post("/signin/login", {}))))
        page = await browser.get(f'{back.path}?{back.query}&error="><b>')
        assert (page.status_code, 'name="error" value="&#34;&gt;&lt;b&gt;"' in page.text) == (200, True)
        assert (scene.provider.redeemed, "set-cookie" in page.headers) == ([], False)

    @pytest.mark.parametrize("name", ["..%5Csignin%5Clogin%3Fx", "%2E%2E", "LOGIN", "login%00"])
    async def test_nobody_is_led_elsewhere_from_it(self, scene: Scene, name: str) -> None:
        """An address that only looks like it sends nothing from this browser."""
        browser = scene.browser()
        await browser.post("/signin/login", {})
        page = await browser.get(f"/signin/{name}?code=x&state=y")
        assert (page.status_code, 'id="returned"' in page.text) == (404, False)

    async def test_one_who_is_sent_there_by_others_is_sent_no_further(self, scene: Scene) -> None:
        """Without a flow of this browser there is nothing to send on."""
        page = await scene.browser().get("/signin/login?code=x&state=y")
        assert (page.status_code, 'id="returned"' in page.text) == (401, False)


class TestInOneBrowser:
    """Where somebody has signed in already."""

    async def test_what_is_open_elsewhere_goes_on(self, scene: Scene) -> None:
        """Where the same person signs in again: a form that was filled in before is taken still."""
        runtime, browser = await scene.h.client("agents"), scene.browser()
        await signed_on(browser, scene.provider)
        asked = await runtime.asked()
        form = await browser.card(asked["id"])
        await signed_on(browser, scene.provider)
        answer = await browser.post(f"/a/{asked['id']}", {**form, "decision": "approve"})
        assert (answer.status_code, (await runtime.seen(asked["id"]))["status"]) == (303, "approved")

    async def test_what_another_person_had_open_does_not(self, scene: Scene) -> None:
        """Nor after somebody has signed out."""
        runtime, browser = await scene.h.client("agents"), scene.browser()
        await signed_on(browser, scene.provider)
        asked = await runtime.asked()
        form = await browser.card(asked["id"])
        scene.provider.claimed = {"sub": "u-9", "groups": ["ops"]}
        await signed_on(browser, scene.provider)
        answer = await browser.post(f"/a/{asked['id']}", {**form, "decision": "approve"})
        assert (answer.status_code, (await runtime.seen(asked["id"]))["status"]) == (403, "pending")
        scene.provider.claimed = {}
        await browser.post("/signout", {"csrf": (await browser.card(asked["id"]))["csrf"]})
        await signed_on(browser, scene.provider)
        answer = await browser.post(f"/a/{asked['id']}", {**form, "decision": "approve"})
        assert answer.status_code == 403

    async def test_a_form_says_where_it_was_sent_from(self, scene: Scene) -> None:
        """Whoever signs in again comes back there; from pages of this service only."""
        browser = scene.browser()
        for page, onward in (
            (f"{BASE_URL}/a/apr_1", "/a/apr_1"),
            (f"{BASE_URL}/inbox?risk=high", "/inbox?risk=high"),
            (f"{BASE_URL}/signout", "/inbox"),
            ("https://evil.example/a/apr_1", "/inbox"),
            ("//evil.example", "/inbox"),
        ):
            leaving = await browser.post("/signin/login", {}, headers={"referer": page})
            answer = await returned(browser, scene.provider.authorize(address_in(leaving)))
            assert answer.headers["location"] == onward

    async def test_a_session_that_ended_under_a_form(self, scene: Scene) -> None:
        """Nothing is done, which is said; from signing in somebody comes back to the card."""
        runtime, browser = await scene.h.client("agents"), scene.browser()
        await signed_on(browser, scene.provider)
        asked = await runtime.asked()
        form = await browser.card(asked["id"])
        await scene.h.services.sessions.end(browser.cookies["placet-8420"])
        answer = await browser.post(f"/a/{asked['id']}", {**form, "decision": "approve"})
        assert (answer.status_code, "Nothing was done: you are signed in no more." in words(answer)) == (
            401,
            True,
        )
        assert f'name="next" value="/a/{asked["id"]}"' in answer.text
        assert (await runtime.seen(asked["id"]))["status"] == "pending"


class TestWhoeverKeepsOthersWaiting:
    """Floods of made-up sign-ins: what they cost, and whom."""

    async def test_an_issuer_is_asked_by_one_for_all(self, scene: Scene) -> None:
        """What it says of itself; where it does not answer, not again for a while."""
        configuration = "/.well-known/openid-configuration"
        found = scene.provider.server.documents.pop(configuration)
        begun = [scene.browser().post("/signin/login", {}) for _ in range(20)]
        answers = await asyncio.gather(*begun)
        assert {each.status_code for each in answers} == {503}
        assert (await scene.browser().post("/signin/login", {})).status_code == 503
        assert scene.provider.server.asked.count(configuration) == 1
        scene.provider.server.documents[configuration] = found
        scene.h.clock.move(5_000)
        assert (await scene.browser().post("/signin/login", {})).status_code == 200

    async def test_what_is_known_serves_while_an_issuer_is_away(self, scene: Scene) -> None:
        """It is asked again behind everybody's back."""
        await signed_on(scene.browser(), scene.provider)
        del scene.provider.server.documents["/.well-known/openid-configuration"]
        scene.h.clock.move(60 * 60_000)
        assert (await scene.browser().post("/signin/login", {})).status_code == 200

    async def test_nobody_takes_all_the_turns(self, scene: Scene) -> None:
        """Of one address so many codes are redeemed at once; others have their turns meanwhile."""
        redeem, held = scene.provider.server.documents["/token"], asyncio.Event()

        async def slowly(writer: asyncio.StreamWriter) -> None:
            body = scene.provider.server.bodies[-1]
            await held.wait()
            scene.provider.server.bodies.append(body)  # what came meanwhile is not this one's
            await redeem(writer)

        scene.provider.server.documents["/token"] = slowly
        browsers = [scene.browser() for _ in range(OF_ONE_MAX + 2)]
        pages = [address_in(await each.post("/signin/login", {})) for each in browsers]
        ways = [
            asyncio.create_task(returned(browser, scene.provider.authorize(address)))
            for browser, address in zip(browsers, pages, strict=True)
        ]
        await until(lambda: sum(each.done() for each in ways) == 2, "two have no turn")
        refused = [await each for each in ways if each.done()]
        assert [each.status_code for each in refused] == [503, 503]
        assert "can't be reached. Try again in a moment." in words(refused[0])
        held.set()
        assert sorted([(await each).status_code for each in ways]) == [303] * OF_ONE_MAX + [503] * 2


async def test_before_anybody_can_ask_nobody_signs_in(
    client: Redis, ring_directory: Path, tmp_path: Path, clock: ManualClock
) -> None:
    """Which is said: the store is not at fault."""
    async with serving() as server:
        files = Files(tmp_path, POLICY, written(server, tmp_path / "secret"))
        async with opened(client, ring_directory, clock, rules=files.source) as h:
            answer = await Browser(h).post("/signin/login", {"next": "/inbox"})
            assert (answer.status_code, "No agent can ask for anything yet" in words(answer)) == (404, True)
            await h.client("runtime")
            Provider(server, clock)
            assert (await Browser(h).post("/signin/login", {"next": "/inbox"})).status_code == 200


async def test_a_session_is_of_one_tenant(
    client: Redis, ring_directory: Path, tmp_path: Path, clock: ManualClock
) -> None:
    """Whoever can write the store can't make it another's, where somebody else goes by the same id."""
    people = '[[people]]\nid = "ann"\ngroups = ["ops"]\n'
    files = Files(tmp_path, POLICY, f'{people}{people}tenant = "abroad"\n')
    async with opened(client, ring_directory, clock, rules=files.source) as h:
        await h.client("runtime")
        await h.client("runtime", tenant="abroad")
        browser = await Browser(h).signed_in("ann")
        (key,) = [each async for each in h.redis.scan_iter("{placet:default}:u:*")]
        kept = await h.redis.get(key)
        await h.redis.set(key.replace(b"default", b"abroad"), kept)
        assert (await browser.get("/inbox")).status_code == 200
        ((name, held),) = browser.cookies.items()
        browser.cookies = {name: held.replace("default.", "abroad.")}
        assert (await browser.get("/inbox")).status_code == 303
