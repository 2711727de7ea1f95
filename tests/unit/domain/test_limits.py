"""The limits are those of the design, agree with each other, and their patterns bound what they say."""

import re

import msgspec
import pytest

from placet.domain import limits
from placet.domain.limits import Limits, whole

_DAY_MS = 86_400_000


def test_defaults_are_those_of_the_design() -> None:
    """Design §11, in the units of the names."""
    assert msgspec.to_builtins(Limits()) == {
        "max_body_bytes": 262_144,
        "max_input_depth": 64,
        "page_default": 50,
        "page_max": 200,
        "wait_max_s": 60,
        "expires_in_default_ms": 900_000,
        "expires_in_min_ms": 1_000,
        "expires_in_max_ms": 30 * _DAY_MS,
        "use_within_max_ms": _DAY_MS,
        "live_pending_per_client": 1_000,
        "live_pending_per_tenant": 10_000,
        "ask_rate_per_minute": 600,
        "ask_burst": 1_000,
        "streams_per_credential": 16,
        "session_idle_ms": 3_600_000,
        "session_max_ms": 12 * 3_600_000,
        "comment_max_chars": 2_000,
        "outcome_summary_max_chars": 2_000,
        "input_retention_ms": 7 * _DAY_MS,
        "record_retention_ms": 90 * _DAY_MS,
        "foreign_jwt_leeway_s": 5,
        "trail_refusals_kept": 200,
    }


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"page_default": 201}, "page_default must not be greater than page_max"),
        ({"expires_in_min_ms": 900_001}, "expires_in_min_ms must not be greater than expires_in_default_ms"),
        ({"expires_in_max_ms": 899_999}, "expires_in_default_ms must not be greater than expires_in_max_ms"),
        (
            {"live_pending_per_tenant": 999},
            "live_pending_per_client must not be greater than live_pending_per_tenant",
        ),
        (
            {"record_retention_ms": 7 * _DAY_MS - 1},
            "input_retention_ms must not be greater than record_retention_ms",
        ),
    ],
)
def test_limits_that_contradict_each_other_are_refused(changed: dict[str, int], sentence: str) -> None:
    """A lower bound above its upper bound can't be built."""
    with pytest.raises(ValueError, match=re.escape(sentence)):
        Limits(**changed)


def test_every_contradiction_is_named() -> None:
    """All of them at once, not only the first."""
    with pytest.raises(ValueError, match=r"page_default.*; .*input_retention_ms"):
        Limits(page_default=201, input_retention_ms=91 * _DAY_MS)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_body_bytes", 16 * 1024 * 1024 + 1),
        ("use_within_max_ms", _DAY_MS + 1),
        ("record_retention_ms", 1),
    ],
)
def test_a_limit_out_of_its_range_is_no_limit(name: str, value: int) -> None:
    """What an operator sets is held to the range of the field."""
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({name: value}, Limits)


def test_records_outlive_every_token_that_names_them() -> None:
    """The shortest retention an operator can set is longer than the life of a token (design §8)."""
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"input_retention_ms": 1, "record_retention_ms": limits.TOKEN_MAX_AGE_MS}, Limits)


@pytest.mark.parametrize(
    ("pattern", "good", "bad"),
    [
        (limits.ID_PATTERN, ["a", "9.x_y:z-1", "A" * 128], ["", "-a", ".a", "a/b", "a b", "é", "A" * 129]),
        (
            limits.TENANT_PATTERN,
            ["default", "0", "a-", "a" * 63],
            ["", "-a", "A", "a_b", "a.b", "{a}", "a" * 64],
        ),
        (limits.IDEMPOTENCY_KEY_PATTERN, ["!", "~" * 128], ["", "a b", "\x7f", "é", "a" * 129]),
        (
            limits.CAPABILITY_PATTERN,
            ["orders.refund", "mcp/fs@1:read", "a" * 200],
            ["", "a b", "a*", "é", "a" * 201],
        ),
        (limits.RUN_PATTERN, ["run-1", "a@b:c+d=e~f"], ["", "a/b", "a?b", "a#b", "a%2f", "..", "a" * 201]),
        (limits.EXECUTION_ID_PATTERN, ["wf/1/2", "e" * 200], ["", "a b", "é", "e" * 201]),
    ],
)
def test_patterns(pattern: str, good: list[str], bad: list[str]) -> None:
    """Each pattern admits its examples and nothing beside, newlines at the end included."""
    for text in good:
        assert re.fullmatch(pattern, text)
        assert re.search(whole(pattern), text)
        assert not re.search(whole(pattern), text + "\n")
    for text in bad:
        assert not re.fullmatch(pattern, text)
        assert not re.search(whole(pattern), text)
