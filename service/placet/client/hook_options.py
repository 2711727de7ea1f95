"""What can be said of a call to a hook, and the question that it makes."""

from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

from placet.client.asynchronous import AsyncClient
from placet.client.authorizing import Desk
from placet.client.decorating import Bound, Form, Turn, turn_of_now
from placet.client.handles import Handle
from placet.client.hook_values import Gate, Question
from placet.client.journal import Journal
from placet.client.questions import Actor, Terms, ToolCall
from placet.client.refusals import ApprovalRefused
from placet.client.reporting import Telling
from placet.client.synchronous import Client
from placet.client.verifying import Expected
from placet.domain.errors import PlacetError
from placet.domain.model import Effect, Risk

_WAYS = ("gate", "suspend", "timeout_s", "idempotent", "withdraw", "edits")


class Asking(Terms, total=False):
    """What a question says, and in which way it is gone on with.

    ``gate`` is the tool's own judgement of an input: it says yes by None or True, and no by all else or a
    ``ValueError``; with ``InputInvalid`` it tells the model what to correct. ``suspend`` raises
    :class:`~placet.client.refusals.ApprovalPending` in place of waiting. ``timeout_s`` is how long to wait.
    ``idempotent`` lets a tool whose end is unknown run again, under the same key. ``withdraw`` cancels the
    question when waiting for it is cancelled. ``edits=False`` refuses a call that was approved with changes.
    """

    gate: Gate
    suspend: bool
    timeout_s: float | None
    idempotent: bool
    withdraw: bool
    edits: bool


class Decorating(Asking, total=False):
    """What else there is to say of a function.

    ``unbound`` are parameters that are no part of the input. ``key`` is the one that gets the execution's id.
    ``summary`` makes the report's of a result; ``tell_errors`` makes it of an exception's text.
    """

    unbound: Collection[str]
    key: str
    summary: Callable[[Any], str]
    tell_errors: bool


def known(said: Mapping[str, Any]) -> None:
    """Refuse an option that there is none of: one that is misspelt would be missing later.

    Raises:
        TypeError: There is no such option.
    """
    strange = said.keys() - Decorating.__optional_keys__
    if strange:
        raise TypeError(f"no such option: {', '.join(sorted(strange))}")


class Tool(NamedTuple):
    """A function that takes an approval.

    Attributes:
        capability: Its name in questions.
        effect: Its effect.
        form: How it is called.
        telling: How its end is told.
        asking: What its questions say.
    """

    capability: str
    effect: str
    form: Form
    telling: Telling
    asking: Mapping[str, Any]

    @classmethod
    def of(
        cls, function: Callable[..., Any], capability: str, effect: str, said: Mapping[str, Any]
    ) -> "Tool":
        """A tool of these options.

        Raises:
            TypeError: The function can't be one, or an option is none.
        """
        known(said)
        for kind, word in ((Effect, effect), (Risk, said.get("risk", Risk.MEDIUM))):
            if word not in list(kind):
                raise TypeError(f"{word!r} is no {kind.__name__.lower()}: write one of {', '.join(kind)}")
        asking = dict(said)
        form = Form(function, unbound=asking.pop("unbound", ()), key=asking.pop("key", None))
        asking["gate"] = form.judge(asking.get("gate"))
        telling = Telling(summary=asking.pop("summary", None), errors=asking.pop("tell_errors", False))
        return cls(capability, effect, form, telling, asking)

    def question(self, bound: Bound, turn: Turn, surface: str) -> Question:
        """What is asked about a call in a turn."""
        call = called(self.capability, bound.input, turn.actor, self.effect, turn.context, surface)
        said = {**self.asking, **({"run": turn.run} if turn.run else {})}
        return question_of(call, turn.call_id, said)


def desk_of(
    client: AsyncClient | Client,
    *,
    audience: str,
    tenant: str,
    issuer: str | None,
    journal: Journal | None,
    now_ms: Callable[[], int],
) -> Desk:
    """What a hook judges with; the issuer is the service as it is called, where it has no other name."""
    expected = Expected(issuer=issuer or client.url, audience=audience, tenant=tenant, now_ms=now_ms)
    return Desk(expected=expected, journal=journal)


def question_of(call: ToolCall, call_id: str | None, said: Mapping[str, Any]) -> Question:
    """A question about a call."""
    ways = {name: said[name] for name in _WAYS if name in said}
    terms: Any = {name: value for name, value in said.items() if name not in _WAYS}
    return Question(call=call, terms=terms, call_id=call_id, **ways)


def called(
    capability: str,
    value: object,
    actor: Actor,
    effect: str,
    context: Mapping[str, Any] | None,
    surface: str,
) -> ToolCall:
    """The call that is asked about."""
    return ToolCall(
        capability=capability,
        actor=actor,
        effect=effect,
        input=value,
        surface=surface,
        context=context or {},
    )


def handle_of(value: object) -> Handle:
    """A handle, or a refusal.

    Raises:
        ApprovalRefused: It is none.
    """
    try:
        return Handle.of(value)
    except PlacetError as fault:
        refusal = fault
    raise ApprovalRefused(refusal)


def prepared(
    tool: Tool, args: tuple[Any, ...], kwargs: Mapping[str, Any], surface: str
) -> tuple[Bound, Question, object]:
    """The arguments of a call, the question about it, and the handle of one that was asked before.

    Raises:
        ApprovalRefused: The function can't be called so.
        TypeError: It is called outside of a turn.
    """
    turn = turn_of_now()
    try:
        bound = tool.form.bind(args, kwargs)
    except PlacetError as fault:
        refusal = fault
    else:
        return bound, tool.question(bound, turn, surface), turn.handle
    raise ApprovalRefused(refusal)
