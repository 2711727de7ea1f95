"""base64url has one spelling per value."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.tokens import base64url


@given(st.binary(max_size=64))
def test_what_is_encoded_decodes_to_itself(data: bytes) -> None:
    """Encoding loses nothing and never pads."""
    text = base64url.encode(data)
    assert "=" not in text
    assert base64url.decode(text) == data


@given(st.text(alphabet="AQgwxyz012-_+/= \n", max_size=12))
def test_a_value_has_one_spelling(text: str) -> None:
    """Whatever decodes is what its bytes encode to."""
    try:
        data = base64url.decode(text)
    except ValueError:
        return
    assert base64url.encode(data) == text


@pytest.mark.parametrize("text", ["QQ==", "QR", "Q", "Q Q", "QQ\n", "Q+Q/", "QÄ", "QUI=\n"])
def test_other_spellings_are_refused_without_being_shown(text: str) -> None:
    """Padding, stray bits, lengths that can't be, and foreign characters are no base64url."""
    with pytest.raises(ValueError, match="base64url") as caught:
        base64url.decode(text)
    assert text not in str(caught.value)
