"""What Slack's callback takes: what Slack signed, a moment ago, for an app of ours; else a clean 4xx."""

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from fakeredis import FakeAsyncRedis, FakeServer
from msgspec import structs
from redis.asyncio import Redis

from placet.application import slack_words as words
from placet.domain.limits import SLACK_BODY_MAX_BYTES
from tests.factories import T0_MS
from tests.harness import refusal
from tests.slack_bench import Bench
from tests.slack_clicking import Clicking
from tests.slack_fake import SECRET, Handed

NOW_S = T0_MS // 1_000
UNAUTHENTICATED = (401, "UNAUTHENTICATED")
MALFORMED = (400, "INPUT_INVALID")
FORM = "application/x-www-form-urlencoded"


@pytest.fixture
async def client() -> AsyncIterator[Redis]:
    """The fake store: none of this is about stores."""
    fake = FakeAsyncRedis(server=FakeServer(server_type="valkey"))
    yield fake
    await fake.aclose()


async def pressed(desk: Bench, **signing: Any) -> tuple[dict[str, Any], Handed]:
    """A question, and a click on its card as Slack hands it over."""
    asked, message = await desk.shown()
    return asked, desk.slack.press(message, "placet.approve", **signing)


async def test_what_slack_publishes_is_verified(desk: Clicking, tmp_path: Path) -> None:
    """Its example of a signed request proves: what is refused of it is that it is no interaction."""
    body = (
        b"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V"
        b"&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text="
        b"&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554"
        b"%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
    )
    headers = {
        "Content-Type": FORM,
        "X-Slack-Request-Timestamp": "1531420618",
        "X-Slack-Signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
    }
    (tmp_path / "secret").write_text("8f742231b10e8888abcd99yyyzzz85a5")
    desk.h.clock.move(1_531_420_618_000 - T0_MS)
    assert refusal(await desk.send((headers, body))) == MALFORMED
    desk.h.clock.move(301_000)
    assert refusal(await desk.send((headers, body))) == UNAUTHENTICATED


@pytest.mark.parametrize(
    ("off_s", "status"), [(-301, 401), (-300, 200), (-1, 200), (0, 200), (1, 200), (300, 200), (301, 401)]
)
async def test_it_was_signed_a_moment_ago(desk: Clicking, off_s: int, status: int) -> None:
    """Five minutes either way, on our clock."""
    asked, handed = await pressed(desk, at_s=NOW_S + off_s)
    assert (await desk.send(handed)).status_code == status
    assert await desk.settled() == []
    assert await desk.status(asked) == ("approved" if status == 200 else "pending")


@pytest.mark.parametrize(
    "timestamp",
    [
        "",
        " ",
        "now",
        "1e9",
        "-1",
        "+1",
        f"{NOW_S}.0",
        f" {NOW_S}",
        f"{NOW_S}\u0660",
        "9" * 400,
        "0x10",
        "\uff11",
    ],
)
async def test_a_time_is_digits(desk: Clicking, timestamp: str) -> None:
    """And nothing else, however it is signed."""
    asked, (headers, body) = await pressed(desk)
    handed = desk.slack.signed(body, at_s=timestamp)
    sent = {**handed[0], "X-Slack-Request-Timestamp": timestamp}
    raw = [(name.encode(), value.encode("utf-8")) for name, value in sent.items()]
    answer = await desk.h.http.post("/v1/callbacks/slack", content=body, headers=raw)
    assert refusal(answer) == UNAUTHENTICATED
    assert await desk.status(asked) == "pending"
    assert headers["Content-Type"] == FORM


@pytest.mark.parametrize(
    "change",
    [
        lambda signature: "",
        lambda signature: "v0=",
        lambda signature: signature[:-1],
        lambda signature: signature + "0",
        lambda signature: signature.replace("v0=", "v1="),
        lambda signature: signature.replace("v0=", ""),
        lambda signature: signature.upper(),
        lambda signature: f"{signature},{signature}",
        lambda signature: "v0=" + "é" * 64,
        lambda signature: "v0=" + "0" * 64,
    ],
)
async def test_a_signature_is_as_slack_writes_it(desk: Clicking, change: Callable[[str], str]) -> None:
    """All of it."""
    asked, (headers, body) = await pressed(desk)
    sent = {**headers, "X-Slack-Signature": change(headers["X-Slack-Signature"])}
    raw = [(name.encode(), value.encode()) for name, value in sent.items()]
    answer = await desk.h.http.post("/v1/callbacks/slack", content=body, headers=raw)
    assert refusal(answer) == UNAUTHENTICATED
    assert await desk.status(asked) == "pending"


@pytest.mark.parametrize("name", ["X-Slack-Request-Timestamp", "X-Slack-Signature"])
async def test_each_header_is_there_once(desk: Clicking, name: str) -> None:
    """Neither none nor two, even of the same."""
    asked, (headers, body) = await pressed(desk)
    without = {each: value for each, value in headers.items() if each != name}
    for sent in (list(without.items()), [*headers.items(), (name, headers[name])]):
        answer = await desk.h.http.post("/v1/callbacks/slack", content=body, headers=sent)
        assert refusal(answer) == UNAUTHENTICATED
    assert await desk.status(asked) == "pending"


@pytest.mark.parametrize("secret", ["other", SECRET + " ", SECRET.upper()])
async def test_it_is_signed_with_our_secret(desk: Clicking, secret: str) -> None:
    """Whoever does not know it decides nothing, and learns nothing."""
    asked, handed = await pressed(desk, secret=secret)
    assert refusal(await desk.send(handed)) == UNAUTHENTICATED
    assert await desk.status(asked) == "pending"


async def test_every_byte_is_signed(desk: Clicking) -> None:
    """A body that says the same in other bytes is another."""
    asked, (headers, body) = await pressed(desk)
    for other in (body + b"&", body.replace(b"+", b"%20"), body.replace(b"%2F", b"%2f"), body[:-1], b""):
        assert other != body
        assert refusal(await desk.send((headers, other))) == UNAUTHENTICATED
    assert await desk.status(asked) == "pending"


@pytest.mark.parametrize(
    ("content_type", "status"),
    [
        ("application/json", 415),
        ("text/plain", 415),
        ("multipart/form-data; boundary=x", 415),
        (f"{FORM}; charset=iso-8859-1", 415),
        (f"{FORM}, {FORM}", 415),
        ("", 415),
        (f"{FORM}; charset=utf-8", 200),
        (FORM.upper(), 200),
    ],
)
async def test_it_is_a_form(desk: Clicking, content_type: str, status: int) -> None:
    """Before anything else."""
    _, handed = await pressed(desk)
    assert (await desk.send(handed, content_type=content_type)).status_code == status
    await desk.settled()


async def test_a_coded_body_is_not_taken(desk: Clicking) -> None:
    """Nobody here would undo it."""
    _, handed = await pressed(desk)
    assert refusal(await desk.send(handed, content_encoding="gzip"))[0] == 415


@pytest.mark.parametrize(
    "body",
    [
        b"x=1",
        b"payload",
        b"payload=",
        b"payload=1",
        b"payload=[]",
        b"payload=null",
        b"payload=%7B%7D",
        b"payload=%ff",
        b"payload=%7B%7D&payload=%7B%7D",
        b"payload=%7B%7D&x=1",
        b"{}",
        b"payload=" + quote("[" * 20_000).encode(),
        b"payload=" + quote(json.dumps({"type": "block_actions", "api_app_id": "A1"})).encode(),
    ],
)
async def test_what_is_no_interaction_is_refused(desk: Clicking, body: bytes) -> None:
    """Though it is signed."""
    assert refusal(await desk.send(desk.slack.signed(body))) == MALFORMED


async def test_nothing_is_signed_that_is_no_ascii(desk: Clicking) -> None:
    """A form has no other characters."""
    body = "payload={}é".encode()
    assert refusal(await desk.send(desk.slack.signed(body))) == UNAUTHENTICATED
    headers = desk.slack.signed(b"payload=%7B%7D")[0]
    assert refusal(await desk.send((headers, b"payload=\xff"))) == UNAUTHENTICATED


def spoilt(*path: str | int, value: Any = ...) -> Callable[[dict[str, Any]], None]:
    """Have a member of the payload be something else, or not be there."""

    def change(payload: dict[str, Any]) -> None:
        *above, last = path
        place: Any = payload
        for step in above:
            place = place[step]
        if value is ...:
            del place[last]
        else:
            place[last] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        spoilt("user"),
        spoilt("user", value="U1"),
        spoilt("user", "id", value=7),
        spoilt("user", "id", value="u024BE7LH"),
        spoilt("user", "team_id"),
        spoilt("user", "team_id", value=None),
        spoilt("api_app_id"),
        spoilt("team", value=None),
        spoilt("team", "id", value="T1\n"),
        spoilt("type"),
        spoilt("container"),
        spoilt("container", "type", value="view"),
        spoilt("container", "is_ephemeral", value=True),
        spoilt("container", "message_ts", value="1"),
        spoilt("container", "message_ts", value="1800000000.000009"),
        spoilt("container", "channel_id", value="C0THER000"),
        spoilt("channel"),
        spoilt("message"),
        spoilt("message", "ts", value=1.5),
        spoilt("message", "blocks", value="text"),
        spoilt("actions", value=[]),
        spoilt("actions", 0, "action_id"),
        spoilt("actions", 0, "value", value=["x"]),
        lambda payload: payload["actions"].append(payload["actions"][0]),
    ],
)
async def test_a_click_has_all_that_is_judged(desk: Clicking, change: Any) -> None:
    """What is missing, or there twice, or two things at once, is refused as a whole."""
    asked, handed = await pressed(desk, change=change)
    assert refusal(await desk.send(handed)) == MALFORMED
    assert await desk.status(asked) == "pending"


@pytest.mark.parametrize(
    "change", [spoilt("api_app_id", value="A0THER000"), spoilt("team", "id", value="T0THER000")]
)
async def test_a_secret_is_its_app_s_alone(desk: Clicking, change: Any) -> None:
    """In its workspace: what it says of another is nobody's word."""
    asked, handed = await pressed(desk, change=change)
    assert refusal(await desk.send(handed)) == UNAUTHENTICATED
    assert await desk.status(asked) == "pending"


@pytest.mark.parametrize(
    "kind", ["view_closed", "shortcut", "message_action", "block_suggestion", "url_verification", "new"]
)
async def test_what_is_nothing_to_us_is_acknowledged(desk: Clicking, kind: str) -> None:
    """Nobody has to see an error of Slack's for it; nothing is done."""
    asked, handed = await pressed(desk, change=spoilt("type", value=kind))
    answer = await desk.send(handed)
    assert (answer.status_code, answer.content) == (200, b"")
    assert await desk.settled() == []
    assert await desk.status(asked) == "pending"


async def test_a_body_has_an_end(desk: Clicking) -> None:
    """As large as the largest card makes it, and no larger."""
    longest = b"payload=" + b"x" * (SLACK_BODY_MAX_BYTES - 8)
    assert refusal(await desk.send(desk.slack.signed(longest))) == MALFORMED
    assert refusal(await desk.send(desk.slack.signed(longest + b"x"))) == (413, "INPUT_TOO_LARGE")


@pytest.mark.parametrize("missing", ["X-Slack-Signature", "X-Slack-Request-Timestamp"])
async def test_what_is_not_signed_at_all_is_not_read(desk: Clicking, missing: str) -> None:
    """However large it is."""
    headers, _ = desk.slack.signed(b"payload=x")
    del headers[missing]
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while sent < 2 * SLACK_BODY_MAX_BYTES:
            sent += 1024
            yield b"x" * 1024

    answer = await desk.h.http.post("/v1/callbacks/slack", content=endless(), headers=headers)
    assert answer.status_code == 401
    assert sent == 0


async def test_the_largest_card_can_be_clicked(desk: Clicking) -> None:
    """Each of its characters may take nine bytes on the way."""
    asked, message = await desk.shown(
        input={f"k{n}": "漢" * 1_300 for n in range(4)},
        presentation={"summary": "漢" * 1_200},
        reasons=["漢" * 400],
    )
    handed = desk.slack.press(message, "placet.approve")
    assert 60_000 < len(handed[1]) < SLACK_BODY_MAX_BYTES
    await desk.send(handed)
    assert await desk.settled() == []
    assert await desk.status(asked) == "approved"


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"])
async def test_it_is_posted(desk: Clicking, method: str) -> None:
    """And no credential of ours counts for anything here."""
    answer = await desk.ann.call(method, "/v1/callbacks/slack")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert refusal(await desk.ann.call("POST", "/v1/callbacks/slack", json={})) == UNAUTHENTICATED


async def test_it_goes_by_our_name(desk: Clicking) -> None:
    """As everything does."""
    _, handed = await pressed(desk)
    assert refusal(await desk.send(handed, host="evil.example")) == (421, "HOST_NOT_ALLOWED")


async def test_two_secrets_count_while_they_are_rotated(opening: Any, tmp_path: Path) -> None:
    """A new one at once; one that is taken off the list, or that can't be read, no more."""
    async with opening() as desk:
        directory = tmp_path / "directory.toml"
        (tmp_path / "old").write_text(SECRET)
        one = f'signing_secret_files = ["{tmp_path}/secret"]'
        text = directory.read_text()
        assert one in text
        two = f'signing_secret_files = ["{tmp_path}/secret", "{tmp_path}/old"]'
        directory.write_text(text.replace(one, two))
        await desk.h.services.activation.reload()
        (tmp_path / "secret").write_text("a new one")
        desk.h.clock.move(1_001)
        statuses = []
        for secret in (SECRET, "a new one", "other"):
            _, message = await desk.shown(input={"order": secret})
            handed = desk.slack.press(message, "placet.approve", secret=secret)
            statuses.append((await desk.send(handed)).status_code)
            await desk.settled()
            desk.h.clock.move(2_000)
        assert statuses == [200, 200, 401]
        (tmp_path / "old").unlink()
        desk.h.clock.move(1_001)
        handed = desk.slack.press(message, "placet.approve", secret=SECRET)
        assert (await desk.send(handed)).status_code == 401


@pytest.mark.parametrize("now", [None, {"app": "A0THER000"}, {"signing_secret_files": ("/elsewhere",)}])
async def test_what_the_rules_in_force_do_not_name_counts_not(desk: Clicking, now: Any) -> None:
    """Though this replica's own files do: those are not in force while others are."""
    asked, handed = await pressed(desk)
    snapshot = await desk.h.services.directory.snapshot("default")
    app = snapshot.slack.pop("T024BE7LD")  # type: ignore[attr-defined] # as others would have it
    if now is not None:
        snapshot.slack[app.team] = structs.replace(app, **now)  # type: ignore[index]
    await desk.send(handed)
    assert await desk.settled() == [words.NOT_CONNECTED]
    assert await desk.status(asked) == "pending"


async def test_its_answers_are_counted_by_its_name(desk: Clicking) -> None:
    """As those of any call, and a signature that fails as any credential that does."""
    _, handed = await pressed(desk)
    await desk.send(handed)
    await desk.send((handed[0], b"x"))
    await desk.settled()
    registry = desk.h.services.metrics.registry

    def count(name: str, **labels: str) -> float | None:
        return registry.get_sample_value(name, labels)

    assert count("placet_http_requests_total", route="slack_callback", code="200") == 1
    assert count("placet_http_requests_total", route="slack_callback", code="401") == 1
    assert count("placet_failed_authentications_total", answer="refused") == 1


async def test_no_secret_and_no_value_is_in_the_log(desk: Clicking, caplog: pytest.LogCaptureFixture) -> None:
    """Whatever is wrong."""
    asked, handed = await pressed(desk)
    with caplog.at_level("DEBUG"):
        await desk.send((handed[0], handed[1] + b"x"))
        await desk.send(desk.slack.press(desk.slack.messages[0], "placet.approve", user="U0N0B0DY0"))
        await desk.settled()
    told = " ".join(f"{record.getMessage()} {vars(record)}" for record in caplog.records)
    for secret in (SECRET, handed[0]["X-Slack-Signature"], "/actions/"):
        assert secret not in told, secret
    assert await desk.status(asked) == "pending"


async def test_an_operator_is_told_why_nothing_comes_in(
    desk: Clicking, caplog: pytest.LogCaptureFixture
) -> None:
    """A wrong secret, a wrong clock, another app: each once in a while, and nothing of what was sent."""
    _, card = await desk.shown()
    now_s = desk.slack.clock.now_ms() // 1_000
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"secret": "another"}, "no signing secret of the directory in force made its signature"),
        ({"at_s": now_s - 400}, "its time is 400 s behind ours: look at the clocks"),
        ({"at_s": now_s + 301}, "its time is 301 s ahead of ours: look at the clocks"),
        ({"at_s": "x"}, "its headers are not Slack's"),
        (
            {"change": lambda payload: payload.update(api_app_id="A0000")},
            "it speaks of an app that the directory does not have with this secret",
        ),
    ]
    for changed, why in wrong:
        for _ in range(2):
            handed = desk.slack.press(card, "placet.approve", **changed)
            assert refusal(await desk.send(handed)) == UNAUTHENTICATED
        told = [each for each in caplog.records if each.getMessage() == "a callback was refused"]
        assert (told[-1].callback, told[-1].why) == ("slack", why)  # type: ignore[attr-defined] # extra facts
    assert len(told) == len(wrong)
    desk.h.clock.move(11_000)
    await desk.send(desk.slack.press(card, "placet.approve", secret="another"))
    told = [each for each in caplog.records if each.getMessage() == "a callback was refused"]
    assert len(told) == len(wrong) + 1
