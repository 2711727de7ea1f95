"""Hostile text and values that nearly look like others, and how a medium may count what they take."""

from typing import Any

from hypothesis import strategies as st

_NASTY = 'a n"\\/\n\t\r\x1b\u202e\u200b\u0301⟨U+20E2⟩\u0430\u0440\u200d\ufe0f❤…\u05d0<&>'


def hostile_texts(max_size: int = 60) -> st.SearchStrategy[str]:
    """Texts of any characters that JSON can carry, often of those that hide, reorder or pass for others."""
    return st.text(st.characters(codec="utf-8") | st.sampled_from(_NASTY), max_size=max_size)


def close_texts() -> st.SearchStrategy[str]:
    """Texts of which two are often nearly the same, or look like something that is no text."""
    few = st.sampled_from('a1\u0430 \u00e9\u0301e\u200b\u202e\n"\\,:{}[]⟨U+200B⟩…')
    others = ["true", "null", "1", "1.0", "", "{}", "[]", "⟨cut: 2 items⟩", "[redacted]", "a\n  b"]
    return st.text(few, max_size=6) | st.sampled_from([*others, "⟨hidden from approvers⟩"])


def close_values() -> st.SearchStrategy[Any]:
    """JSON values of which two are often nearly the same."""
    return st.recursive(
        st.sampled_from([None, True, False, 0, 1, 1.5, 1e21, 1e-7]) | close_texts(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(close_texts(), inner, max_size=3),
        max_leaves=6,
    )


def escaped(text: str) -> int:
    """Characters, as Slack counts them after escaping (https://docs.slack.dev/messaging/formatting-message-text)."""
    return len(text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))
