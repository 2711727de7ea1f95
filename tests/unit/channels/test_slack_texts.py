"""What a message says is the same after Slack's round trip, and else is not."""

import copy
import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from placet.channels.slack.texts import fingerprint, normalised
from tests.slack_cards import changes, posted, texts
from tests.slack_rules import returned


def blocks(**changed: Any) -> list[dict[str, Any]]:
    """Those of a message, as JSON has them."""
    found: list[dict[str, Any]] = json.loads(json.dumps(posted(**changed).blocks))
    return found


@settings(max_examples=60)
@given(changes())
def test_what_slack_rewrites_is_no_difference(changed: dict[str, Any]) -> None:
    """Ids, flags, entities, wrapped addresses."""
    sent = blocks(**changed)
    assert normalised(returned(sent)) == normalised(sent)
    assert fingerprint(returned(sent)) == fingerprint(sent)


@settings(max_examples=60)
@given(texts(), texts())
@example("a", " a")
@example("a", "a ")
@example("&lt;", "<")
@example("&amp;", "&")
@example("<https://x.example>", "https://x.example")
@example(":+1:", "\U0001f44d")
def test_other_texts_are_a_difference(one: str, other: str) -> None:
    """In a reason, a name, an input: where they are shown otherwise."""
    for name in ("reasons", "capability", "input"):
        values = [[text] if name == "reasons" else text for text in (one, other)]
        sent = [blocks(**{name: value}) for value in values]
        if sent[0] != sent[1]:
            assert fingerprint(returned(sent[0])) != fingerprint(sent[1])


@settings(max_examples=60)
@given(changes(), st.data())
def test_one_changed_character_is_a_difference(changed: dict[str, Any], data: st.DataObject) -> None:
    """In any text of a message that comes back."""
    sent = blocks(**changed)
    back = returned(copy.deepcopy(sent))
    places = [each for each in _objects(back) if each["text"]]
    place = data.draw(st.sampled_from(places))
    at = data.draw(st.integers(0, len(place["text"]) - 1))
    place["text"] = f"{place['text'][:at]}ß{place['text'][at:]}"
    assert fingerprint(back) != fingerprint(sent)


@pytest.mark.parametrize(
    "added",
    [
        {"type": "divider"},
        {"type": "image", "image_url": "https://x/y.png", "alt_text": "approved"},
        {"type": "section", "text": {"type": "plain_text", "text": "more"}},
        {"type": "rich_text", "elements": [{"type": "rich_text_list", "elements": []}]},
        {"type": "context", "elements": [{"type": "image", "image_url": "x", "alt_text": "y"}]},
        {"type": "actions", "elements": [{"type": "users_select"}]},
        "text",
        None,
    ],
)
def test_anything_added_is_a_difference(added: Any) -> None:
    """Also what has no text, and what is no block."""
    sent = blocks()
    assert fingerprint([*returned(sent), added]) != fingerprint(sent)


def test_anything_beside_a_text_is_a_difference() -> None:
    """A picture that stands beside it."""
    sent = blocks()
    back = returned(copy.deepcopy(sent))
    back[1]["accessory"] = {"type": "image", "image_url": "x", "alt_text": "y"}
    assert fingerprint(back) != fingerprint(sent)


def test_less_or_another_order_is_a_difference() -> None:
    """Blocks that are gone, or moved."""
    sent = blocks()
    assert len({fingerprint(each) for each in (sent, sent[1:], sent[::-1], [])}) == 4


def test_the_same_words_shown_otherwise_are_a_difference() -> None:
    """Formatted, struck out, as another kind of text or block, or with the blocks parted elsewhere."""
    sent = [
        {"type": "section", "text": {"type": "plain_text", "text": "~10~ <https://x.example|y>"}},
        {"type": "section", "fields": [{"type": "plain_text", "text": text} for text in "abc"]},
        {
            "type": "rich_text",
            "elements": [{"type": "rich_text_preformatted", "elements": [{"type": "text", "text": "no"}]}],
        },
    ]

    def changed(change: Any) -> Any:
        back = returned(copy.deepcopy(sent))
        change(back)
        return back

    others = [
        changed(lambda back: back[0]["text"].update(type="mrkdwn")),
        changed(lambda back: back[0].update(type="header")),
        changed(lambda back: back.insert(2, {"type": "section", "fields": [back[1]["fields"].pop()]})),
        changed(lambda back: back[2]["elements"][0].update(type="rich_text_section")),
        changed(lambda back: back[2]["elements"][0]["elements"][0].update(style={"strike": True})),
    ]
    assert fingerprint(returned(sent)) == fingerprint(sent)
    assert fingerprint(sent) not in map(fingerprint, others)


def test_a_member_that_says_nothing_is_none() -> None:
    """An empty value, no confirmation, a style that is off: Slack may write any of it."""
    run = {"type": "text", "text": "no"}
    button = {"type": "button", "text": {"type": "plain_text", "text": "Open"}, "url": "https://x.example"}

    def said(run: Any, button: Any) -> str:
        part = {"type": "rich_text_preformatted", "elements": [run]}
        return fingerprint(
            [{"type": "rich_text", "elements": [part]}, {"type": "actions", "elements": [button]}]
        )

    nothing = {"value": "", "confirm": None}
    assert said({**run, "style": {"bold": False}}, button | nothing) == said(run, button)
    assert said(run, button | {"confirm": "x"}) != said(run, button)


@pytest.mark.parametrize(
    ("back", "text"),
    [
        ("<https://x.example/a?b=1&amp;c>", "https://x.example/a?b=1&c"),
        ("<http://x.example|x.example> too", "x.example too"),
        ("<mailto:a@x.example|a@x.example>", "a@x.example"),
        ("&lt;<https://x.example>&gt;", "<https://x.example>"),
        ("<https://evil.example|x.example>", "<https://evil.example|x.example>"),
        ("<!here> <@U1>", "<!here> <@U1>"),
        ("&amp;amp;lt;", "<"),
        ("&amp;x &; &quot;", "&x &; &quot;"),
    ],
)
def test_an_address_is_unwrapped_where_it_is_its_own_text(back: str, text: str) -> None:
    """Entities are texts; a link under another text stays one."""
    section = {"type": "section", "text": {"type": "plain_text", "text": back}}
    assert normalised([section]) == (text,)


@pytest.mark.parametrize(
    "runs",
    [
        [{"type": "text", "text": "see https://x.example now"}],
        [{"type": "text", "text": "see "}, {"type": "text", "text": "https://x.example now"}],
        [
            {"type": "text", "text": "see "},
            {"type": "link", "url": "https://x.example"},
            {"type": "text", "text": " now"},
        ],
        [
            {"type": "text", "text": "see https://"},
            {"type": "link", "url": "https://x.example", "text": "x.example"},
            {"type": "text", "text": " now"},
        ],
    ],
)
def test_rich_text_is_one_text_however_it_is_parted(runs: list[Any]) -> None:
    """With addresses as links or without."""
    block = {"type": "rich_text", "elements": [{"type": "rich_text_preformatted", "elements": runs}]}
    assert normalised([block]) == ("see https://x.example now",)


@pytest.mark.parametrize(
    "run",
    [
        {"type": "link", "url": "https://evil.example", "text": "https://x.example"},
        {"type": "user", "user_id": "U1"},
        {"type": "emoji", "name": "tada"},
        {"type": "broadcast", "range": "here"},
        {"type": "text"},
    ],
)
def test_what_is_no_text_stands_for_itself(run: dict[str, Any]) -> None:
    """A mention or a link under another text is none of ours."""
    block = {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [run]}]}
    assert normalised([block])[0].startswith("\0")


_KINDS = ["section", "rich_text", "header", "context", "actions", "plain_text", "rich_text_section", "link"]
_NAMES = st.sampled_from(["type", "text", "elements", "fields", "url"])


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=5) | st.sampled_from(_KINDS),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner),
    )
)
def test_any_value_has_a_fingerprint(value: Any) -> None:
    """What comes from outside may be anything."""
    assert len(fingerprint(value)) == 64


def _objects(value: Any) -> list[dict[str, Any]]:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    own = [value] if isinstance(value, dict) and isinstance(value.get("text"), str) else []
    return own + [found for member in inside for found in _objects(member)]
