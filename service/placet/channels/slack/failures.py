"""What Slack's refusals mean for a delivery: the one table of them.

Codes are those of https://docs.slack.dev/reference/methods/chat.postMessage and the other methods called
here. What Slack says besides its code is never kept: it may repeat what was sent.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from placet.domain.deliveries import Failure, Undelivered

_CODES: Final = {
    Failure.RATE_LIMITED: "ratelimited rate_limited message_limit_exceeded",
    Failure.NO_SUCH_TARGET: (
        "channel_not_found not_in_channel is_archived user_not_found user_disabled user_not_visible"
        " users_not_found users_list_not_supplied cannot_dm_bot messages_tab_disabled restricted_action"
        " restricted_action_read_only_channel restricted_action_non_threadable_channel"
        " restricted_action_thread_only_channel restricted_action_thread_locked"
        " invalid_user_combination method_not_supported_for_channel_type team_not_found used_url expired_url"
        " no_service expired_trigger_id exchanged_trigger_id trigger_expired trigger_exchanged"
    ),
    Failure.CREDENTIAL: (
        "invalid_auth not_authed account_inactive token_revoked token_expired missing_scope no_permission"
        " not_allowed_token_type ekm_access_denied access_denied accesslimited enterprise_is_restricted"
        " org_login_required team_access_not_granted two_factor_setup_required"
    ),
    Failure.SERVER_ERROR: (
        "internal_error fatal_error service_unavailable request_timeout team_added_to_org update_failed"
        " external_channel_migrating"
    ),
}
FAILURES: Final[Mapping[str, Failure]] = MappingProxyType(
    {code: failure for failure, codes in _CODES.items() for code in codes.split()}
)
"""Codes that are more than a refusal of what was sent, as ``invalid_blocks`` and ``msg_too_long`` are."""
GONE: Final = frozenset(
    {
        "message_not_found",
        "cant_update_message",
        "edit_window_closed",
        "thread_not_found",
        "cannot_reply_to_message",
    }
)
"""A message that can't be changed or answered any more."""

_TOO_MANY_REQUESTS: Final = 429
_SERVER_ERRORS: Final = 500
_GONE_ADDRESSES: Final = frozenset({404, 410})
_SECONDS_CHARS_MAX: Final = 9


class MessageGone(Exception):  # noqa: N818 - reads as what happened
    """The message is not there any more, or can't be changed: what it should say has to be posted anew."""


def failed(status: int, code: object, retry_after: str | None) -> Undelivered | MessageGone:
    """What a refusal is.

    Args:
        status: Of the HTTP answer.
        code: Slack's, if it is one.
        retry_after: The header, if it was there.
    """
    failure = FAILURES.get(code) if isinstance(code, str) else None
    if code in GONE:
        return MessageGone()
    if status == _TOO_MANY_REQUESTS or failure is Failure.RATE_LIMITED:
        return Undelivered(Failure.RATE_LIMITED, retry_after_ms=_ms(retry_after))
    if status >= _SERVER_ERRORS:
        return Undelivered(Failure.SERVER_ERROR, retry_after_ms=_ms(retry_after))
    if failure is None and status in _GONE_ADDRESSES:
        failure = Failure.NO_SUCH_TARGET
    return Undelivered(failure or Failure.REFUSED)


def _ms(retry_after: str | None) -> int | None:
    """Seconds, as Slack writes them."""
    text = (retry_after or "").strip()
    if not (text.isascii() and text.isdigit()) or len(text) > _SECONDS_CHARS_MAX:
        return None
    return int(text) * 1_000
