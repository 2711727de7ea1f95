"""Calls to Slack through its own SDK, over real HTTP, to what stands in for Slack."""

import asyncio
import json
import logging
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from slack_sdk.signature import Clock, SignatureVerifier

from placet.channels.slack import wire
from placet.channels.slack.api import MessageGone, Posted, SlackApi, may_answer
from placet.channels.slack.failures import FAILURES, GONE
from placet.channels.slack.modal import comment_of, rejection
from placet.channels.slack.texts import fingerprint
from placet.domain.chat import SlackApp
from placet.domain.deliveries import Failure, Undelivered
from tests.slack_cards import TRICKS, VOTE, posted
from tests.slack_fake import CHANNEL, SECRET, TOKEN, USER, SlackFake

SAID = "s3cret words of an agent"


@pytest.fixture
def slack() -> Iterator[SlackFake]:
    """Slack."""
    with SlackFake() as fake:
        yield fake


@pytest.fixture
def app(slack: SlackFake, tmp_path: Path) -> SlackApp:
    """An app in its workspace."""
    token = tmp_path / "token"
    token.write_text(f"{TOKEN}\n")
    return slack.app(str(token))


@pytest.fixture
def api() -> Iterator[SlackApi]:
    """The calls, with little patience."""
    calls = SlackApi(timeout_s=1.0)
    yield calls
    calls.close()


def write(app: SlackApp, token: str | None) -> None:
    """Have another token in the file, or no file."""
    path = Path(app.token_file)
    path.unlink()
    if token is not None:
        path.write_text(token)


async def undelivered(call: Any) -> Undelivered:
    """How a call failed."""
    with pytest.raises(Undelivered) as caught:
        await call
    return caught.value


class TestMessages:
    """Posted, changed, answered."""

    async def test_a_card_is_posted(self, slack: SlackFake, app: SlackApp, api: SlackApi) -> None:
        """And says what it said; Slack reads nothing into it, and shows no preview."""
        message = posted(reasons=TRICKS[:8])
        place = await api.post(app, CHANNEL, message)
        [kept] = slack.messages
        assert place == Posted(channel=CHANNEL, ts=kept.ts)
        assert kept.text == message.text
        assert fingerprint(kept.blocks) == fingerprint(list(message.blocks))
        assert {name: kept.said[name] for name in kept.said if name not in {"blocks", "text", "channel"}} == {
            "parse": "none",
            "link_names": False,
            "mrkdwn": False,
            "unfurl_links": False,
            "unfurl_media": False,
        }

    async def test_it_is_changed_in_its_place(self, slack: SlackFake, app: SlackApp, api: SlackApi) -> None:
        """By every later state."""
        place = await api.post(app, CHANNEL, posted())
        await api.update(app, place, posted(status="approved", decisions=[VOTE]))
        [kept] = slack.messages
        assert (kept.text[:21], kept.updates) == ("Approved by Ann (ann)", 1)
        assert (kept.said["parse"], kept.said["link_names"]) == ("none", False)

    @pytest.mark.parametrize("code", sorted(GONE))
    async def test_one_that_is_gone_is_no_failure(
        self, slack: SlackFake, app: SlackApp, api: SlackApi, code: str
    ) -> None:
        """It has to be posted anew."""
        slack.fail_next(code)
        with pytest.raises(MessageGone):
            await api.update(app, Posted(channel=CHANNEL, ts="1.2"), posted())
        slack.fail_next(code)
        assert (await undelivered(api.post(app, CHANNEL, posted()))).failure is Failure.REFUSED

    async def test_a_message_that_was_deleted_is_gone(
        self, slack: SlackFake, app: SlackApp, api: SlackApi
    ) -> None:
        """For a change and for a reply."""
        place = Posted(channel=CHANNEL, ts="1.2")
        for call in (api.update(app, place, posted()), api.reply(app, place, "x")):
            with pytest.raises(MessageGone):
                await call

    async def test_a_reminder_stands_below_the_card_and_in_the_channel(
        self, slack: SlackFake, app: SlackApp, api: SlackApi
    ) -> None:
        """As literal as a card."""
        place = await api.post(app, CHANNEL, posted())
        slack.clock.move(1_000)
        await api.reply(app, place, "It expires in 5 min: <!here> *now* \u202e")
        said = slack.messages[1].said
        assert (said["thread_ts"], said["reply_broadcast"], said["parse"]) == (place.ts, True, "none")
        assert said["text"] == "It expires in 5 min: &lt;!here&gt; ⟨U+002A⟩now⟨U+002A⟩ ⟨U+202E⟩"
        assert said["blocks"] == [
            {
                "type": "section",
                "text": {
                    "type": "plain_text",
                    "text": "It expires in 5 min: &lt;!here&gt; *now* ⟨U+202E⟩",
                    "emoji": False,
                },
            }
        ]

    async def test_a_person_has_a_conversation(self, slack: SlackFake, app: SlackApp, api: SlackApi) -> None:
        """It is opened, and written to by its id."""
        channel = await api.open_conversation(app, USER)
        assert (await api.post(app, channel, posted())).channel == channel == "D024BE7LH"
        gone = await undelivered(api.open_conversation(app, "U0"))
        assert gone.failure is Failure.NO_SUCH_TARGET

    async def test_one_message_a_second(self, slack: SlackFake, app: SlackApp, api: SlackApi) -> None:
        """More are asked for later, as Slack says."""
        await api.post(app, CHANNEL, posted())
        early = await undelivered(api.post(app, CHANNEL, posted()))
        assert (early.failure, early.retry_after_ms) == (Failure.RATE_LIMITED, 1_000)
        slack.clock.move(1_000)
        await api.post(app, CHANNEL, posted())
        assert len(slack.messages) == 2

    async def test_the_token_is_read_at_each_use(
        self, slack: SlackFake, app: SlackApp, api: SlackApi
    ) -> None:
        """It is rotated by writing another into its file."""
        slack.token = "xoxb-2-another"
        assert (await undelivered(api.post(app, CHANNEL, posted()))).failure is Failure.CREDENTIAL
        write(app, "xoxb-2-another")
        await api.post(app, CHANNEL, posted())


class TestWhatGoesWrong:
    """One table, and nothing told."""

    @pytest.mark.parametrize(("code", "failure"), sorted(FAILURES.items()))
    async def test_each_code_means_something(
        self, slack: SlackFake, app: SlackApp, api: SlackApi, code: str, failure: Failure
    ) -> None:
        """Whether asking again can help."""
        slack.fail_next(code)
        assert (await undelivered(api.post(app, CHANNEL, posted()))).failure is failure

    @pytest.mark.parametrize(
        ("trouble", "failure", "retry_after_ms"),
        [
            ({"status": 429, "retry_after": "30"}, Failure.RATE_LIMITED, 30_000),
            ({"status": 429, "retry_after": "soon"}, Failure.RATE_LIMITED, None),
            ({"status": 429, "retry_after": "9" * 50}, Failure.RATE_LIMITED, None),
            ({"error": "ratelimited", "Retry_After": "7"}, Failure.RATE_LIMITED, 7_000),
            ({"status": 503}, Failure.SERVER_ERROR, None),
            ({"status": 503, "retry_after": "60"}, Failure.SERVER_ERROR, 60_000),
            ({"status": 500, "body": b"<html>"}, Failure.SERVER_ERROR, None),
            ({"status": 413, "body": b""}, Failure.REFUSED, None),
            ({"error": "msg_too_long"}, Failure.REFUSED, None),
            ({"error": "msg_blocks_too_long"}, Failure.REFUSED, None),
            ({"status": 400, "body": b"x"}, Failure.REFUSED, None),
            ({"error": "invalid_blocks"}, Failure.REFUSED, None),
            ({"error": "what_is_new"}, Failure.REFUSED, None),
            ({"status": 302, "location": "http://127.0.0.1:1/"}, Failure.REFUSED, None),
            ({"body": b"not json"}, Failure.REFUSED, None),
            ({"body": b"[1]"}, Failure.UNREADABLE, None),
            ({"body": b'{"ok": true}'}, Failure.SERVER_ERROR, None),
            ({"body": b'{"ok": true, "channel": "C1", "ts": 7}'}, Failure.SERVER_ERROR, None),
            ({"body": b'{"ok": true, "x": "' + b"x" * 1_100_000 + b'"}'}, Failure.UNREACHABLE, None),
        ],
    )
    async def test_any_answer_is_a_failure_of_its_kind(
        self,
        slack: SlackFake,
        app: SlackApp,
        api: SlackApi,
        trouble: dict[str, Any],
        failure: Failure,
        retry_after_ms: int | None,
    ) -> None:
        """With the patience that was asked for."""
        slack.fail_next(**trouble)
        error = await undelivered(api.post(app, CHANNEL, posted()))
        assert (error.failure, error.retry_after_ms) == (failure, retry_after_ms)

    async def test_a_card_that_slack_refuses_is_refused(
        self, slack: SlackFake, app: SlackApp, api: SlackApi
    ) -> None:
        """The fake looks at blocks as Slack does."""
        message = posted()
        message.blocks[0]["text"]["text"] = "x" * 151
        assert (await undelivered(api.post(app, CHANNEL, message))).failure is Failure.REFUSED
        assert slack.messages == []

    @pytest.mark.parametrize(
        ("channel", "failure"), [("C0", Failure.NO_SUCH_TARGET), ("C1", Failure.NO_SUCH_TARGET)]
    )
    async def test_a_channel_has_to_be_the_apps(
        self, slack: SlackFake, app: SlackApp, api: SlackApi, channel: str, failure: Failure
    ) -> None:
        """Unknown, or one that it was not invited to."""
        slack.others = {"C1"}
        assert (await undelivered(api.post(app, channel, posted()))).failure is failure

    async def test_slow_is_a_timeout(self, slack: SlackFake, app: SlackApp) -> None:
        """For this call, and not for whoever has just clicked and waits for a form."""
        hasty = SlackApi(timeout_s=0.3)
        slack.delays_s = {"chat.postMessage": 30.0}
        posts = asyncio.gather(
            *(hasty.post(app, CHANNEL, posted()) for _ in range(4)), return_exceptions=True
        )
        await hasty.open_modal(app, "1.2.x", rejection("m", headline="h"))
        assert not posts.done()
        assert [getattr(each, "failure", None) for each in await posts] == [Failure.TIMEOUT] * 4
        hasty.close()

    async def test_an_answer_comes_to_an_end(
        self, slack: SlackFake, app: SlackApp, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """However lively it trickles in."""
        moments = iter([0.0, 100.0])
        monkeypatch.setattr(wire, "monotonic", lambda: next(moments))
        hasty = SlackApi(timeout_s=5.0)
        assert (await undelivered(hasty.post(app, CHANNEL, posted()))).failure is Failure.TIMEOUT
        hasty.close()

    async def test_nothing_but_http_is_opened(self, app: SlackApp, api: SlackApi) -> None:
        """No file, for one."""
        odd = SlackApp(**{**_members(app), "api_url": "file:///etc/"})
        assert (await undelivered(api.post(odd, CHANNEL, posted()))).failure is Failure.UNREACHABLE

    async def test_nobody_waits_for_ever(
        self, slack: SlackFake, app: SlackApp, api: SlackApi, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Not even for a turn."""
        monkeypatch.setattr("placet.channels.slack.api._PATIENCE_S", 0.05)
        slack.delay_s = 30.0
        assert (await undelivered(api.post(app, CHANNEL, posted()))).failure is Failure.TIMEOUT

    async def test_nobody_there_is_unreachable(self, app: SlackApp, api: SlackApi) -> None:
        """A port that nobody listens on."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            away = f"http://127.0.0.1:{free.getsockname()[1]}/api/"
        lost = SlackApp(**{**_members(app), "api_url": away})
        assert (await undelivered(api.post(lost, CHANNEL, posted()))).failure is Failure.UNREACHABLE

    @pytest.mark.parametrize("token", [None, "", "two words", "tab\there", "ü"])
    async def test_a_token_that_is_none(
        self, slack: SlackFake, app: SlackApp, api: SlackApi, token: str | None
    ) -> None:
        """It is never sent."""
        write(app, token)
        assert (await undelivered(api.post(app, CHANNEL, posted()))).failure is Failure.CREDENTIAL
        assert slack.calls == []

    async def test_no_proxy_of_the_environment_is_used(
        self, slack: SlackFake, app: SlackApp, api: SlackApi, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Neither by the SDK nor by the library below it."""
        for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, "http://127.0.0.1:1/")
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        await api.post(app, CHANNEL, posted())
        assert len(slack.messages) == 1

    async def test_a_redirect_is_not_followed(self, slack: SlackFake, app: SlackApp, api: SlackApi) -> None:
        """The token would go along."""
        slack.fail_next(status=307, location=f"{slack.origin}/api/chat.postMessage")
        assert (await undelivered(api.post(app, CHANNEL, posted()))).failure is Failure.REFUSED
        assert len(slack.calls) == 1

    @pytest.mark.parametrize(
        "trouble",
        [
            {"error": "invalid_blocks"},
            {"error": SAID},
            {"status": 500, "body": SAID.encode()},
            {"body": f'["{SAID}"]'.encode()},
            {"body": json.dumps({"ok": False, "error": "no_text", "said": SAID}).encode()},
        ],
    )
    async def test_nothing_that_was_said_is_told(
        self,
        slack: SlackFake,
        app: SlackApp,
        api: SlackApi,
        caplog: pytest.LogCaptureFixture,
        trouble: dict[str, Any],
    ) -> None:
        """Not in an exception, not in its cause, not in a log, at any level."""
        caplog.set_level(logging.DEBUG)
        slack.fail_next(**trouble)
        error = await undelivered(api.post(app, CHANNEL, posted(input=SAID)))
        heard: BaseException | None = error
        told = caplog.text
        while heard is not None:
            told += repr(heard) + repr(vars(heard))
            heard = heard.__cause__ or heard.__context__
        assert SAID not in told
        assert TOKEN not in told


class TestWhoHasClicked:
    """A form, and words for nobody else."""

    async def test_a_form_is_shown_and_comes_back(
        self, slack: SlackFake, app: SlackApp, api: SlackApi
    ) -> None:
        """With what was written, signed as Slack signs."""
        await api.open_modal(app, "1.2.x", rejection("v1.metadata", headline="orders.refund"))
        [(trigger, view)] = slack.views
        headers, body = slack.submit(view, "too much")
        assert trigger == "1.2.x"
        assert _payload(body)["view"]["private_metadata"] == "v1.metadata"
        assert comment_of(_payload(body)["view"]) == "too much"
        assert _is_signed(slack, headers, body)

    @pytest.mark.parametrize("code", ["expired_trigger_id", "exchanged_trigger_id"])
    async def test_a_click_that_is_too_old_opens_none(
        self, slack: SlackFake, app: SlackApp, api: SlackApi, code: str
    ) -> None:
        """Trying again does not help."""
        slack.fail_next(code)
        call = api.open_modal(app, "1.2.x", rejection("m", headline="h"))
        assert (await undelivered(call)).failure is Failure.NO_SUCH_TARGET

    async def test_words_reach_who_has_clicked(self, slack: SlackFake, app: SlackApp, api: SlackApi) -> None:
        """And leave the card as it is."""
        await api.post(app, CHANNEL, posted())
        headers, body = slack.press(slack.messages[0], "placet.approve")
        payload = _payload(body)
        await api.answer(app, payload["response_url"], "You may not decide this, <@U1>.")
        [(_, said)] = slack.answers
        assert (said["response_type"], said["replace_original"]) == ("ephemeral", False)
        assert said["text"] == "You may not decide this, &lt;@U1&gt;."
        assert said["blocks"][0]["text"]["type"] == "plain_text"
        assert _is_signed(slack, headers, body)
        assert payload["actions"][0]["value"] == "v1.approve"
        assert fingerprint(payload["message"]["blocks"]) == fingerprint(list(posted().blocks))

    @pytest.mark.parametrize(
        ("trouble", "failure"),
        [
            ({"status": 404, "body": b"used_url"}, Failure.NO_SUCH_TARGET),
            ({"status": 410, "body": b""}, Failure.NO_SUCH_TARGET),
            ({"status": 403, "error": "message_not_found"}, Failure.REFUSED),
            ({"status": 500, "body": b"no"}, Failure.SERVER_ERROR),
            ({"status": 302, "location": "http://127.0.0.1:1/"}, Failure.REFUSED),
        ],
    )
    async def test_words_that_do_not_arrive(
        self, slack: SlackFake, app: SlackApp, api: SlackApi, trouble: dict[str, Any], failure: Failure
    ) -> None:
        """By the same table."""
        slack.fail_next(**trouble)
        call = api.answer(app, f"{slack.origin}/actions/T/1/x", "x")
        assert (await undelivered(call)).failure is failure

    async def test_an_address_that_is_not_slacks_is_never_called(
        self, slack: SlackFake, app: SlackApp, api: SlackApi
    ) -> None:
        """It came with a request, after all."""
        real = SlackApp(**{**_members(app), "api_url": "https://slack.com/api/"})
        call = api.answer(real, f"{slack.origin}/actions/T/1/x", "x")
        assert (await undelivered(call)).failure is Failure.FORBIDDEN_ADDRESS
        assert slack.calls == []

    @pytest.mark.parametrize(
        ("url", "is_allowed"),
        [
            ("https://hooks.slack.com/actions/T1/2/x", True),
            ("https://hooks.slack.com:443/actions/T1/2/x", True),
            ("https://hooks.slack-gov.com/actions/T1/2/x", True),
            ("http://hooks.slack.com/actions/T1/2/x", False),
            ("https://hooks.slack.com:8443/x", False),
            ("https://hooks.slack.com.evil.example/x", False),
            ("https://evil.example/hooks.slack.com", False),
            ("https://hooks.slack.com@evil.example/x", False),
            ("https://a:b@hooks.slack.com/x", False),
            ("https://hooks.slack.com\\@evil.example/x", False),
            ("https://hooks.slack.com:x/", False),
            ("https://hooks.slack.\uff43om/x", False),
            ("https://[hooks.slack.com/x", False),
            ("//hooks.slack.com/x", False),
            ("file:///etc/passwd", False),
            ("", False),
        ],
    )
    def test_only_slacks_own_hosts_are(self, app: SlackApp, url: str, is_allowed: bool) -> None:  # noqa: FBT001
        """Over https; of what stands in for Slack, that very origin."""
        real = SlackApp(**{**_members(app), "api_url": "https://slack.com/api/"})
        assert may_answer(real, url) is is_allowed
        assert not may_answer(app, url)


def _members(app: SlackApp) -> dict[str, Any]:
    return {name: getattr(app, name) for name in app.__struct_fields__}


def _payload(body: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(parse_qs(body.decode())["payload"][0])
    return found


def _is_signed(slack: SlackFake, headers: dict[str, str], body: bytes) -> bool:
    class Now(Clock):
        def now(self) -> float:
            return float(slack.clock.now_ms()) / 1000

    return SignatureVerifier(SECRET, Now()).is_valid_request(body, headers)
