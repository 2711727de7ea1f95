"""What a card in Slack carries back with a click, and how that is proved to be ours (design §9).

1. A button carries which approval, the digest of what is shown, the verdict, and a MAC over these and the
   tenant, the app, its workspace, the channel and a nonce that one message alone has. So what was taken from
   one message means nothing in another.
2. A form carries the same on, with where the click was and who made it: nobody else can send it.
3. A lane keeps where its message is, the nonce, and what the texts in it were when they were last posted.

Everything here is a text to Slack and to the store, and none of it is secret.
"""

import re
import secrets
from typing import Final, Self

import msgspec
from msgspec import Struct, structs

from placet.domain.limits import ID_PATTERN
from placet.domain.model import Verdict
from placet.tokens import base64url
from placet.tokens.seal import Sealer

_BUTTON: Final = "slack button"
_FORM: Final = "slack form"
_NONCE_BYTES: Final = 16
_SEAL_CHARS: Final = 43
_LETTERS: Final = {Verdict.APPROVE: "a", Verdict.REJECT: "r"}
_VERDICTS: Final = {letter: verdict for verdict, letter in _LETTERS.items()}
_NONCE: Final = "[A-Za-z0-9_-]{22}"
_VALUE: Final = re.compile(
    rf"1\.([ar])\.({_NONCE})\.([0-9a-f]{{64}})\.([A-Za-z0-9_-]{{{_SEAL_CHARS}}})\.({ID_PATTERN})"
)
_REFERENCE: Final = re.compile(
    rf"1/([CDG][A-Z0-9]{{1,31}})/([0-9]{{1,16}}\.[0-9]{{1,16}})/({_NONCE})/([0-9a-f]{{64}})/([0-9a-f]{{64}})?/([01])"
)


class CardReference(Struct, frozen=True, kw_only=True):
    """Where the message of a lane is, and what stands in it: what :attr:`Delivery.ref` says.

    Attributes:
        channel: The conversation's id, as Slack answered it: of a person, that of the conversation with them.
        ts: The message's time, which names it there.
        nonce: What its buttons are bound to besides.
        fingerprint: Of the texts last posted (:func:`placet.channels.slack.texts.fingerprint`).
        previous: Of the texts before these, if it was changed: a click may be on its way that was on them.
        is_reminded: Whether a reminder was said below it.
    """

    channel: str
    ts: str
    nonce: str
    fingerprint: str
    previous: str = ""
    is_reminded: bool = False

    @property
    def text(self) -> str:
        """As a lane keeps it: one word."""
        said = f"{self.fingerprint}/{self.previous}"
        return f"1/{self.channel}/{self.ts}/{self.nonce}/{said}/{int(self.is_reminded)}"

    def saying(self, fingerprint: str) -> Self:
        """The same message with these texts; itself where these are its own."""
        if fingerprint == self.fingerprint:
            return self
        return structs.replace(self, fingerprint=fingerprint, previous=self.fingerprint)

    def has_said(self, fingerprint: str) -> bool:
        """Whether these are texts that somebody may have had before them who clicks just now."""
        return fingerprint in {self.fingerprint, self.previous}

    @classmethod
    def of(cls, text: str) -> Self | None:
        """What :attr:`text` has written; ``None`` where nothing was posted, or it can't be read."""
        match = _REFERENCE.fullmatch(text)
        if match is None:
            return None
        channel, ts, nonce, fingerprint, previous, reminded = match.groups()
        return cls(
            channel=channel,
            ts=ts,
            nonce=nonce,
            fingerprint=fingerprint,
            previous=previous or "",
            is_reminded=reminded == "1",
        )


class CardPlace(Struct, frozen=True, kw_only=True):
    """Whatever a button is bound to besides its verdict.

    Attributes:
        tenant: Whose approval it is.
        approval: Its id.
        digest: Of what the message shows.
        team: The workspace.
        app: The app there.
        channel: The conversation's id, as for :class:`CardReference`.
        nonce: Of the message (:func:`new_nonce`).
    """

    tenant: str
    approval: str
    digest: str
    team: str
    app: str
    channel: str
    nonce: str


class Pressed(Struct, frozen=True, kw_only=True):
    """A decision that a button of ours carries."""

    approval: str
    digest: str
    verdict: Verdict
    nonce: str


class Opened(Struct, frozen=True, kw_only=True):
    """A form of ours: what was pressed, where, by whom, and where to answer them.

    Attributes:
        pressed: The decision that it asks a comment for.
        channel: The conversation.
        ts: The message.
        user_team: The workspace of whoever opened it, and their id there: who may send it.
        user: As above.
        response_url: Where Slack takes an answer to them; empty where it named none.
    """

    pressed: Pressed
    channel: str
    ts: str
    user_team: str
    user: str
    response_url: str = ""


_encode: Final = msgspec.json.Encoder(order="deterministic").encode
_decoder: Final = msgspec.json.Decoder(Opened)


def new_nonce() -> str:
    """What one message alone has: 128 bits, 22 characters."""
    return base64url.encode(secrets.token_bytes(_NONCE_BYTES))


def button_value(sealer: Sealer, place: CardPlace, verdict: Verdict) -> str:
    """What a button carries, some 300 characters.

    Raises:
        KeyError: No button gives such a verdict.
    """
    pressed = Pressed(approval=place.approval, digest=place.digest, verdict=verdict, nonce=place.nonce)
    bound = _bound(place.tenant, place.team, place.app, place.channel, pressed)
    seal = sealer.seal(_BUTTON, bound)
    return f"1.{_LETTERS[verdict]}.{place.nonce}.{place.digest}.{seal}.{place.approval}"


def pressed_in(
    sealer: Sealer, value: str, *, tenant: str, team: str, app: str, channel: str
) -> Pressed | None:
    """The decision that a button carries; ``None`` where it was not made for this place, or not by us."""
    match = _VALUE.fullmatch(value)
    if match is None:
        return None
    letter, nonce, digest, seal, approval = match.groups()
    pressed = Pressed(approval=approval, digest=digest, verdict=_VERDICTS[letter], nonce=nonce)
    expected = _bound(tenant, team, app, channel, pressed)
    return pressed if sealer.verify(_BUTTON, expected, seal) else None


def form_metadata(sealer: Sealer, opened: Opened, *, tenant: str, team: str, app: str) -> str:
    """What a form carries: less than 1 000 characters without its ``response_url``."""
    document = _encode(opened)
    return sealer.seal(_FORM, (tenant, team, app, document)) + document.decode()


def opened_form(
    sealer: Sealer, metadata: str, *, tenant: str, team: str, app: str, user_team: str, user: str
) -> Opened | None:
    """What a form of ours carries; ``None`` where it is not ours, or whoever sends it did not open it."""
    seal, document = metadata[:_SEAL_CHARS], metadata[_SEAL_CHARS:].encode("utf-8", "surrogatepass")
    if not sealer.verify(_FORM, (tenant, team, app, document), seal):
        return None
    try:
        opened = _decoder.decode(document)
    except msgspec.DecodeError:  # of another release
        return None
    return opened if (opened.user_team, opened.user) == (user_team, user) else None


def _bound(tenant: str, team: str, app: str, channel: str, pressed: Pressed) -> tuple[str, ...]:
    """What a button's seal is over."""
    where = (app, team, channel, pressed.nonce)
    return (tenant, pressed.approval, pressed.digest, *where, _LETTERS[pressed.verdict])
