"""Cards for Slack, of records with whatever in them."""

from typing import Any

import msgspec
from hypothesis import strategies as st

from placet.channels.slack.card import Buttons, Message, message
from placet.channels.slack.sheet import BUDGET
from placet.domain.presentation import Card, present, read_seen
from tests.hostile import hostile_texts
from tests.strategies import json_values

PAGE = "https://placet.example.com/a/apr_1"
BUTTONS = Buttons(approve="v1.approve", reject="v1.reject")
DIGEST = "ab" * 32
WIRE: dict[str, Any] = {
    "id": "apr_1",
    "status": "pending",
    "capability": "orders.refund",
    "surface": "direct",
    "actor": {"id": "bot", "kind": "agent", "display_name": None, "on_behalf_of": []},
    "effect": "external",
    "risk": "high",
    "context": {},
    "input": {"amount": 5},
    "input_hash": "cd" * 32,
    "digest": DIGEST,
    "requested_at": "2027-01-15T08:00:00.000Z",
    "expires_at": "2027-01-15T08:14:32.000Z",
    "asked_by": "shop",
    "audience": "shop",
    "allowed_decisions": ["approve", "reject"],
    "quorum": {"required": 1, "approved": 0, "rejections": 1, "rejected": 0},
}
VOTE: dict[str, Any] = {
    "decision": "approve",
    "approver": {"id": "ann", "display_name": "Ann"},
    "channel": "web",
    "submitted_by": None,
    "comment": None,
    "digest": DIGEST,
    "at": "2027-01-15T08:01:00.000Z",
}
STATES = ["pending", "approved", "rejected", "expired", "cancelled", "consumed"]
TRICKS = [
    "<!here>",
    "<!channel>",
    "<@U024BE7LH>",
    "<#C024BE7LR>",
    "<!subteam^S012>",
    "@channel",
    "#general",
    "<https://evil.example|Approve here>",
    "https://evil.example/a?b=1&c=2",
    "[a](https://evil.example)",
    "`code`",
    "```\n*bold* _it_ ~no~\n```",
    "> quoted",
    "&gt; quoted",
    ":white_check_mark: approved",
    "\u2705 ok",
    "<!date^0^{date}|x>",
    "&lt;!here&gt;",
    "&amp;lt;b&amp;gt;",
    "&amp",
    "*Asked by*\ntreasury",
    "\u2122",
    "1\ufe0f\u20e3",
]
"""What somebody would write who wants Slack to make something of it."""


def card(**changes: Any) -> Card:
    """The card of a pending refund."""
    return present(read_seen(msgspec.json.encode({**WIRE, **changes})), BUDGET)


def posted(**changes: Any) -> Message:
    """What is posted of it."""
    return message(card(**changes), page_url=PAGE, buttons=BUTTONS)


_TRICKS = st.sampled_from(TRICKS)
_SHORT = hostile_texts(30) | _TRICKS | st.builds("{} {}".format, hostile_texts(10), _TRICKS)
_TEXTS = st.one_of(
    _SHORT, _SHORT, _SHORT, st.builds(lambda text, n: (text or "&") * n, _SHORT, st.integers(1, 300))
)
_SOME = st.lists(_TEXTS, max_size=10)
_VALUES = json_values(6) | _TEXTS | st.dictionaries(_TEXTS, _TEXTS, max_size=8) | _SOME
_PEOPLE = st.builds(lambda who, name: {"id": who, "display_name": name}, _TEXTS, _TEXTS)
_VOTES = st.builds(
    lambda decision, person, comment: {**VOTE, "decision": decision, "approver": person, "comment": comment},
    st.sampled_from(["approve", "reject", "edit"]),
    _PEOPLE,
    _TEXTS,
)
_WORDS = ["id", "capability", "asked_by", "audience", "surface", "run", "risk", "effect"]
_MEMBERS: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(_WORDS, _TEXTS),
    "status": st.sampled_from(["pending", "approved", "rejected", "expired", "cancelled", "consumed"]),
    "reasons": _SOME,
    "types": _SOME,
    "input": _VALUES,
    "context": st.dictionaries(_TEXTS, _VALUES, max_size=3),
    "decisions": st.lists(_VOTES, max_size=10),
    "actor": st.builds(lambda who, others: {**who, "kind": "agent", "on_behalf_of": others}, _PEOPLE, _SOME),
    "presentation": st.fixed_dictionaries({"title": _TEXTS, "summary": _TEXTS}),
    "rule": st.fixed_dictionaries({"name": _TEXTS, "policy": st.just("p")}),
    "claimed": st.fixed_dictionaries({"effect": _TEXTS, "risk": _TEXTS}),
    "requested": st.fixed_dictionaries({"input": _VALUES}),
    "consumption": st.fixed_dictionaries({"client": _TEXTS, "execution_id": _TEXTS}),
    "outcome": st.fixed_dictionaries({"status": _TEXTS, "summary": _TEXTS}),
}


def texts() -> st.SearchStrategy[str]:
    """Hostile ones, short and long."""
    return _TEXTS


def changes() -> st.SearchStrategy[dict[str, Any]]:
    """Members of a record, hostile in any of them."""
    return st.fixed_dictionaries({}, optional=_MEMBERS)
