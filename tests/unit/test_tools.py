"""The test tools: what is missing is said, and must not be where everything is required."""

from __future__ import annotations

import pytest

from tests.tools import REQUIRE_ALL, require


def test_what_is_there_is_no_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """A requirement that is met does nothing."""
    monkeypatch.setenv(REQUIRE_ALL, "1")
    require(True, "a binary")


def test_what_is_missing_skips(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing tool skips the test with its name."""
    monkeypatch.delenv(REQUIRE_ALL, raising=False)
    with pytest.raises(pytest.skip.Exception, match="a binary is missing"):
        require(False, "a binary")


def test_what_is_missing_fails_where_all_is_required(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where everything is required, a missing tool fails the test."""
    monkeypatch.setenv(REQUIRE_ALL, "1")
    with pytest.raises(pytest.fail.Exception, match="a binary is missing"):
        require(False, "a binary")
