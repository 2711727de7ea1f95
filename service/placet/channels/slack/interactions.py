"""What Slack says that a person did: a click on a message, a form that was sent, or what is nothing to us.

https://docs.slack.dev/reference/interaction-payloads. Only what is judged is read; what a person is called is
not. A payload that can't be read is refused as a whole.
"""

from typing import Annotated, Any, Final, TypeVar
from urllib.parse import parse_qsl

import msgspec
from msgspec import Meta, Struct

_Id = Annotated[str, Meta(pattern=r"^[A-Z][A-Z0-9]{1,31}$(?!\n)")]
_Ts = Annotated[str, Meta(pattern=r"^[0-9]{1,16}\.[0-9]{1,16}$(?!\n)")]
_FIELD: Final = "payload"
_T = TypeVar("_T")


class InteractionMalformed(Exception):  # noqa: N818 - reads as what was found
    """It is no interaction; the message says what is wrong, and no value."""


class Place(Struct, frozen=True, kw_only=True):
    """An app in a workspace, as a payload says it."""

    team: str
    app: str


class Who(Struct, frozen=True, kw_only=True):
    """A person: their own workspace, and their id there."""

    team: str
    user: str


class Click(Struct, frozen=True, kw_only=True):
    """A button was pressed.

    Attributes:
        place: Of which app, where.
        who: By whom.
        action: The button's ``action_id``.
        value: What it carries.
        channel: The conversation of the message.
        ts: The message.
        shown: Its blocks, as Slack has them, and whatever else hangs on it.
        trigger: What a form can be opened with, for a moment.
        response_url: Where the person can be answered.
    """

    place: Place
    who: Who
    action: str
    value: str
    channel: str
    ts: str
    shown: list[Any]
    trigger: str
    response_url: str


class Submission(Struct, frozen=True, kw_only=True):
    """A form was sent.

    Attributes:
        place: Of which app, where.
        who: By whom.
        form: Its ``callback_id``.
        metadata: What it carries.
        view: It, with what was written into it.
    """

    place: Place
    who: Who
    form: str
    metadata: str
    view: Any


class Other(Struct, frozen=True, kw_only=True):
    """Something that is nothing to us: a form that was closed, a shortcut, what Slack comes to invent."""

    place: Place


Interaction = Click | Submission | Other


class _Named(Struct):
    id: _Id


class _User(Struct):
    id: _Id
    team_id: _Id


class _Frame(Struct):
    type: str
    api_app_id: _Id
    team: _Named


class _Action(Struct):
    type: str
    action_id: str
    value: str = ""


class _Container(Struct):
    type: str
    message_ts: _Ts
    channel_id: _Id
    is_ephemeral: bool = False


class _Message(Struct):
    ts: _Ts
    blocks: list[Any]
    attachments: list[Any] = []
    files: list[Any] = []


class _Clicked(Struct):
    user: _User
    container: _Container
    channel: _Named
    message: _Message
    actions: Annotated[list[_Action], Meta(min_length=1, max_length=1)]
    trigger_id: str = ""
    response_url: str = ""


class _View(Struct):
    callback_id: str = ""
    private_metadata: str = ""


class _Submitted(Struct):
    user: _User
    view: _View


class _AnyView(Struct):
    view: Any


def read(body: bytes) -> Interaction:
    """What a body says.

    Raises:
        InteractionMalformed: It is no interaction.
    """
    payload = _payload(body)
    frame = _as(payload, _Frame)
    place = Place(team=frame.team.id, app=frame.api_app_id)
    if frame.type == "block_actions":
        return _click(place, _as(payload, _Clicked))
    if frame.type == "view_submission":
        sent = _as(payload, _Submitted)
        return Submission(
            place=place,
            who=Who(team=sent.user.team_id, user=sent.user.id),
            form=sent.view.callback_id,
            metadata=sent.view.private_metadata,
            view=_as(payload, _AnyView).view,
        )
    return Other(place=place)


def _click(place: Place, found: _Clicked) -> Click:
    container, message, [action] = found.container, found.message, found.actions
    here = (container.channel_id, container.message_ts) == (found.channel.id, message.ts)
    if not here or container.type != "message" or container.is_ephemeral:
        raise InteractionMalformed("The click is on no message.")
    return Click(
        place=place,
        who=Who(team=found.user.team_id, user=found.user.id),
        action=action.action_id,
        value=action.value,
        channel=container.channel_id,
        ts=container.message_ts,
        shown=[*message.blocks, *message.attachments, *message.files],
        trigger=found.trigger_id,
        response_url=found.response_url,
    )


def _payload(body: bytes) -> bytes:
    """The one field of the form."""
    try:
        fields = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=True,
            errors="strict",
            max_num_fields=1,
        )
        [(name, value)] = fields
        payload = value.encode()
    except ValueError:  # what can't be decoded is one, too
        raise InteractionMalformed("It is not a form of one field.") from None
    if name != _FIELD:
        raise InteractionMalformed("It has no field payload.")
    return payload


def _as(payload: bytes, shape: type[_T]) -> _T:
    try:
        return msgspec.json.decode(payload, type=shape)
    except (msgspec.DecodeError, RecursionError):
        raise InteractionMalformed("Its payload is no interaction.") from None
