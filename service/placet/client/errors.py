"""The way back from an answer to an error, and the errors that only a caller can meet.

What the service refuses comes back as the class of the one table (:mod:`placet.domain.errors`). All of them
are :class:`~placet.domain.errors.PlacetError`, so that one ``except`` fails closed and has the faces to
forward. None of them ever holds a token, an input or a comment.
"""

from typing import Annotated, Any, Final, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from placet.client.quiet import Quiet
from placet.client.shapes import Approval
from placet.domain.error_terms import Category, Confirmation, ConfirmationCode, Retry, Stage
from placet.domain.errors import PlacetError, UnknownCode, from_problem
from placet.domain.faces import MESSAGE_MAX_CHARS

_T = TypeVar("_T")

_SAID: Final = (
    "Whether the call took effect is unknown: the same again, with the same idempotency key or execution id,"
    " resolves it."
)
_NOTHING: Final = "Nothing was done."
_PASSING: Final = frozenset({429, 502, 503, 504})
"""What gateways say of a service that may be back soon."""
_BAD_GATEWAY: Final = 502
_ERRORS_FROM: Final = 400


class _UnansweredError(PlacetError):
    """There is no answer of the service's own."""

    stage = Stage.EXECUTION
    category = Category.INTERNAL

    def __init__(self, code: str, why: str, *, effect_unknown: bool) -> None:
        super().__init__()
        self.code = code
        self.effect_unknown = effect_unknown
        self._why = why

    @property
    def detail(self) -> str:
        """What happened, and whether something came of it."""
        return f"{self._why} {_SAID if self.effect_unknown else _NOTHING}"


class ServiceUnreachable(_UnansweredError):  # noqa: N818 - named as the rows are
    """The service could not be reached, or the connection broke or went silent before it had answered.

    Attributes:
        effect_unknown: Whether the call may have been done all the same.
    """

    title = "Service unreachable"
    retryable = True
    confirms = Confirmation(code=ConfirmationCode.EXECUTION_FAILED, retry=Retry.AFTER_DELAY, transient=True)

    def __init__(self, why: str, *, effect_unknown: bool) -> None:
        super().__init__("SERVICE_UNREACHABLE", why, effect_unknown=effect_unknown)
        self.status = 503  # what a gateway would say


class AnswerNotUnderstood(_UnansweredError):  # noqa: N818 - as above
    """Something answered that is not the service, or not so that it can be understood.

    Attributes:
        effect_unknown: Whether the call may have been done all the same.
        answered: The status of the HTTP answer.
    """

    title = "Answer not understood"
    confirms = Confirmation(code=ConfirmationCode.EXECUTION_FAILED, retry=Retry.NO)

    def __init__(self, why: str, *, answered: int, effect_unknown: bool, cut_off: bool = False) -> None:
        """Say why.

        Args:
            why: In a sentence.
            answered: The status of the HTTP answer.
            effect_unknown: Whether the call may have been done all the same.
            cut_off: Whether it looks as if part of it were missing, and may come whole the next time.
        """
        super().__init__("ANSWER_NOT_UNDERSTOOD", why, effect_unknown=effect_unknown)
        self.answered = answered
        self.status = answered if answered >= _ERRORS_FROM else _BAD_GATEWAY
        self.retryable = cut_off or answered in _PASSING


class StillPending(TimeoutError):  # noqa: N818 - what it says is no error of anybody's
    """Nobody has decided within the time that there was to wait.

    Attributes:
        approval: The record as it was last seen; None where not even that was possible.
    """

    def __init__(self, approval: Approval | None) -> None:
        which = "The approval" if approval is None else f"The approval {approval.id}"
        super().__init__(f"{which} is still pending.")
        self.approval = approval


_Code = Annotated[str, Meta(pattern=r"^[A-Z][A-Z0-9_]{0,63}$(?!\n)")]
_Message = Annotated[str, Meta(max_length=MESSAGE_MAX_CHARS)]


class _Model(Quiet, frozen=True, kw_only=True):
    code: _Code
    message: _Message
    retryable: bool


class _Confirmation(Quiet, frozen=True, kw_only=True):
    code: _Code
    message: _Message
    retry: Retry
    details: dict[str, Any]


class _Failure(Quiet, frozen=True, kw_only=True, rename="camel"):
    version: Literal[1]
    code: _Code
    category: _Message
    message: _Message
    retryable: bool | None
    status: int
    retry_after_ms: int | UnsetType = UNSET


class UnknownRefusal(UnknownCode):
    """The service refused with a code that this release does not know.

    Treat it as a refusal; update the client to learn what it means.

    Its faces are the service's own where they have the form of faces, and the generic ones where not.
    """

    def __init__(self, refusal: UnknownCode, document: dict[str, Any]) -> None:
        super().__init__(refusal.code, status=refusal.status, retryable=refusal.retryable)
        self._said = document
        self.title = self._part("title", str) or type(self).title
        self.stage = self._part("stage", Stage) or type(self).stage
        self.details = self._part("details", dict[str, str | int | tuple[str, ...]]) or {}
        after_ms = self._failure.retry_after_ms if self._failure else UNSET
        self.retry_after_ms = None if after_ms is UNSET or not self.retryable else after_ms

    @property
    def detail(self) -> str:
        """What the service said, for the developer."""
        return self._part("detail", str) or super().detail

    def model(self) -> dict[str, object]:
        """What the service lets a model read."""
        said = self._part("model", _Model)
        return super().model() if said is None else msgspec.to_builtins(said)

    def confirmation(self) -> dict[str, object]:
        """What the service tells an Agent Surface runtime."""
        said = self._part("confirmation", _Confirmation)
        return super().confirmation() if said is None else msgspec.to_builtins(said)

    def failure(self) -> dict[str, object]:
        """What the service tells a Kortyx runtime."""
        return super().failure() if self._failure is None else msgspec.to_builtins(self._failure)

    @property
    def _failure(self) -> _Failure | None:
        return self._part("failure", _Failure)

    def _part(self, name: str, form: type[_T]) -> _T | None:
        try:
            return msgspec.convert(self._said.get(name), form)
        except msgspec.ValidationError:
            return None


def refusal_of(document: object, *, status: int) -> PlacetError | None:
    """The refusal that a problem document tells of; None where it is none of the service's.

    Args:
        document: Any decoded JSON.
        status: The status of the HTTP answer.
    """
    refusal = from_problem(document, status=status)
    if not isinstance(refusal, UnknownCode):
        return refusal
    if not isinstance(document, dict) or refusal.code != document.get("code"):
        return None
    return UnknownRefusal(refusal, document)
