"""Signatures of webhooks: what is signed, and what of a message counts as proved."""

import base64
import hashlib
import hmac
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from placet.channels.webhooks.signing import (
    SignatureInvalid,
    headers,
    new_secret,
    proved,
    secret_of,
    written,
)

# The example of the standard's libraries, and of the documentation that it grew out of
# (https://docs.svix.com/receiving/verifying-payloads/how-manual).
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
ID = "msg_p5jXN8AQM9LWM0D4loKWxJek"
AT_S = 1_614_265_330
BODY = b'{"test": 2432232314}'
SIGNATURE = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="

OURS = secret_of(SECRET)
OTHER = b"o" * 24

Raw = list[tuple[bytes, bytes]]


def raw(**changes: Any) -> Raw:
    """The headers of the example as they come; ``...`` leaves one out, a list sends it more than once."""
    sent = {"id": ID, "timestamp": str(AT_S), "signature": SIGNATURE, **changes}
    return [
        (f"webhook-{name}".encode(), value if isinstance(value, bytes) else value.encode())
        for name, values in sent.items()
        if values is not ...
        for value in (values if isinstance(values, list) else [values])
    ]


def refused(sent: Raw, body: bytes = BODY, *, now_s: int = AT_S, secrets: Sequence[bytes] = (OURS,)) -> str:
    """Why it is not believed."""
    with pytest.raises(SignatureInvalid) as caught:
        proved(secrets, sent, body, now_s)
    assert str(caught.value) == f"signature refused: {caught.value.reason}"
    return caught.value.reason


class TestGoingOut:
    """What a message is sent with."""

    def test_the_published_example(self) -> None:
        """Secret, id, time and body of the standard give its signature."""
        assert headers([OURS], ID, AT_S, BODY) == {
            "webhook-id": ID,
            "webhook-timestamp": "1614265330",
            "webhook-signature": SIGNATURE,
        }

    def test_each_secret_signs(self) -> None:
        """While one takes another's place, a receiver with either is served."""
        mac = hmac.new(OTHER, f"{ID}.{AT_S}.".encode() + BODY, hashlib.sha256).digest()
        other = f"v1,{base64.b64encode(mac).decode()}"
        signed = headers([OURS, OTHER], ID, AT_S, BODY)["webhook-signature"]
        assert signed == f"{SIGNATURE} {other}"

    @pytest.mark.parametrize(
        ("secrets", "message_id", "body"),
        [
            ([], ID, BODY),
            ([OURS], "", BODY),
            ([OURS], "a.b", BODY),
            ([OURS], "a b", BODY),
            ([OURS], "a\r\nx: y", BODY),
            ([OURS], "é", BODY),
            ([OURS], "a" * 257, BODY),
            ([OURS], ID, b"\xff"),
        ],
    )
    def test_what_can_not_be_signed(self, secrets: list[bytes], message_id: str, body: bytes) -> None:
        """No secret, an id that could be cut in two ways or leave its header, a body that is no text."""
        with pytest.raises(ValueError, match=r"secret|message id|utf-8"):
            headers(secrets, message_id, AT_S, body)


class TestComingIn:
    """What is believed."""

    def test_the_published_example(self) -> None:
        """It is proved, by the clock that is given."""
        assert proved([OURS], raw(), BODY, AT_S).message_id == ID

    def test_names_in_any_case_and_other_headers(self) -> None:
        """Header names have no case; what else comes along counts for nothing."""
        sent = [(name.title(), value) for name, value in raw()]
        more = [(b"Webhook-Other", b"\xff"), (b"x", b"1"), (b"x", b"2")]
        assert proved([OURS], [*sent, *more], BODY, AT_S).message_id == ID

    @pytest.mark.parametrize(
        "signature",
        [
            f"v1,AAAA {SIGNATURE}",
            f"{SIGNATURE} v1,AAAA",
            f"v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw {SIGNATURE}",
            f"v2,whatever-that-is! {SIGNATURE}",
        ],
    )
    def test_one_of_several_signatures_is_enough(self, signature: str) -> None:
        """Wherever it stands, and whatever versions stand beside it."""
        assert proved([OURS], raw(signature=signature), BODY, AT_S).message_id == ID

    def test_one_of_several_secrets_is_enough(self) -> None:
        """Wherever it stands."""
        assert proved([OTHER, OURS], raw(), BODY, AT_S).message_id == ID
        assert proved([OURS, OTHER], raw(), BODY, AT_S).message_id == ID

    @pytest.mark.parametrize("away_s", [-300, 300])
    def test_five_minutes_both_ways(self, away_s: int) -> None:
        """A clock may be off by that much."""
        assert proved([OURS], raw(), BODY, AT_S + away_s).message_id == ID

    def test_older_or_newer_is_refused(self) -> None:
        """By a second."""
        assert refused(raw(), now_s=AT_S + 301) == "old"
        assert refused(raw(), now_s=AT_S - 301) == "future"

    @pytest.mark.parametrize("name", ["id", "timestamp", "signature"])
    def test_each_header_is_there_once(self, name: str) -> None:
        """None is missing, none comes twice, not even with the same in it."""
        assert refused(raw(**{name: ...})) == "missing"
        good = dict(raw())[f"webhook-{name}".encode()]
        assert refused(raw(**{name: [good, good]})) == "doubled"
        assert refused(raw(**{name: [good, b"x"]})) == "doubled"
        assert refused([*raw(), (f"Webhook-{name}".encode(), good)]) == "doubled"

    @pytest.mark.parametrize(
        "timestamp",
        [
            "",
            " ",
            "1614265330.0",
            "1.614265330e9",
            "+1614265330",
            "-1",
            " 1614265330",
            "1614265330\n",
            "nan",
            "inf",
            "0x60381aB2",
            "1_614_265_330",
            "\N{ARABIC-INDIC DIGIT ONE}614265330",
            "9" * 400,
            "1,2",
        ],
    )
    def test_a_timestamp_is_digits(self, timestamp: str) -> None:
        """Whatever else a number can be written with."""
        assert refused(raw(timestamp=timestamp)) == "malformed"

    @pytest.mark.parametrize("message_id", ["", "a b", "a.b", "\xe9", "a\x00", "a\t", "a" * 257])
    def test_an_id_is_visible_ascii(self, message_id: str) -> None:
        """Of 256 characters at most, without a full stop."""
        assert refused(raw(id=message_id)) == "malformed"

    @pytest.mark.parametrize(
        "signature",
        [
            "",
            "v1",
            "v1,",
            ",",
            "v1,a,b",
            f"{SIGNATURE},",
            f" {SIGNATURE}",
            f"{SIGNATURE} ",
            "v1,a  v1,b",
            SIGNATURE.replace(",", " "),
            f"{SIGNATURE}\t{SIGNATURE}",
            "v1,é",
            "V1,a",
            " ".join(["v1,a"] * 17),
            "v1," + "a" * 513,
        ],
    )
    def test_a_signature_is_a_version_and_a_text(self, signature: str) -> None:
        """Several of them, with one space between; the library's own check fails on these."""
        assert refused(raw(signature=signature)) == "malformed"

    @pytest.mark.parametrize(
        "signature",
        [
            "v1,AAAA",
            "v1," + "=" * 44,
            SIGNATURE.removesuffix("="),
            SIGNATURE.swapcase().replace("V", "v", 1),
            SIGNATURE.replace("v1", "v2"),
            SIGNATURE.replace("v1", "v1a"),
            f"v1,{SIGNATURE.partition(',')[2].rstrip('=')}A",
        ],
    )
    def test_another_signature_is_wrong(self, signature: str) -> None:
        """Also the right one of another version, or written otherwise."""
        assert refused(raw(signature=signature)) == "wrong"

    def test_what_was_not_signed_is_wrong(self) -> None:
        """Another id, time or body; another secret, or none at all."""
        assert refused(raw(id="msg_other")) == "wrong"
        assert refused(raw(timestamp=str(AT_S + 1))) == "wrong"
        assert refused(raw(timestamp="0" + str(AT_S + 1))) == "wrong"
        assert refused(raw(), BODY.replace(b" ", b"")) == "wrong"
        assert refused(raw(), b"") == "wrong"
        assert refused(raw(), secrets=[OTHER]) == "wrong"
        assert refused(raw(), secrets=[]) == "wrong"

    def test_a_body_is_text(self) -> None:
        """Bytes that are no UTF-8 are refused, not failed on."""
        assert refused(raw(), b"\xff\xfe") == "malformed"

    @given(
        secret=st.binary(min_size=24, max_size=64),
        message_id=st.from_regex(r"[!-\-/-~]{1,256}", fullmatch=True),
        body=st.text(st.characters(codec="utf-8")).map(str.encode),
        late_s=st.integers(-300, 300),
    )
    def test_what_goes_out_is_proved(self, secret: bytes, message_id: str, body: bytes, late_s: int) -> None:
        """Whatever it is, by its own secret and by no other."""
        sent = [(n.encode(), v.encode()) for n, v in headers([secret], message_id, AT_S, body).items()]
        assert proved([secret], sent, body, AT_S + late_s).message_id == message_id
        assert refused(sent, body, secrets=[new_secret()]) == "wrong"

    @given(
        values=st.lists(
            st.binary(max_size=40) | st.sampled_from([SIGNATURE.encode(), b"1614265330"]), max_size=4
        ),
        names=st.lists(st.sampled_from([b"webhook-id", b"webhook-timestamp", b"webhook-signature", b"\xff"])),
        body=st.binary(max_size=20),
    )
    @example(values=[b"a", b"1614265330", b"v1,"], names=[n for n, _ in raw()], body=b"")
    def test_nothing_else_happens(self, values: list[bytes], names: list[bytes], body: bytes) -> None:
        """Anything that is not signed is refused with a word, and nothing else is raised."""
        assert refused(list(zip(names, values, strict=False)), body)


class TestSecrets:
    """How a secret is written."""

    @given(st.binary(min_size=24, max_size=64))
    def test_there_and_back(self, secret: bytes) -> None:
        """As the standard has it."""
        assert written(secret).startswith("whsec_")
        assert secret_of(written(secret)) == secret

    def test_the_published_example(self) -> None:
        """24 bytes."""
        assert len(OURS) == 24
        assert written(OURS) == SECRET

    def test_a_new_one_is_new(self) -> None:
        """32 bytes by chance."""
        assert len(new_secret()) == 32
        assert new_secret() != new_secret()

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "whsec_",
            SECRET.removeprefix("whsec_"),
            "whsec_MfKQ",
            f"{SECRET}!",
            f"{SECRET}\n",
            f" {SECRET}",
            "whsec_é",
            "whsec_" + "A" * 28 + "=",
            written(b"a" * 23),
            written(b"a" * 65),
            "whpk_" + SECRET[6:],
        ],
    )
    def test_what_is_none(self, text: str) -> None:
        """Another prefix or none, no base64, too short, too long; nothing of it is repeated."""
        with pytest.raises(ValueError, match=r"^must be whsec_ and the base64 of 24 to 64 random bytes$"):
            secret_of(text)
