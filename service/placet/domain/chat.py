"""Chats that people decide in: a Slack app, installed in one workspace, for one tenant (design §9)."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

SLACK_API_URL: Final = "https://slack.com/api/"
SLACK_ANSWER_HOSTS: Final = frozenset({"hooks.slack.com", "hooks.slack-gov.com"})
"""Where Slack's ``response_url`` may lead."""


class SlackApp(Struct, frozen=True, kw_only=True):
    """An app in a workspace.

    Attributes:
        team: The workspace (``T…``), which leads to one tenant.
        tenant: Whose questions it shows.
        app: The app (``A…``).
        token_file: Where its bot token is, read at each use.
        signing_secret_files: Where its signing secrets are: two while they are rotated.
        channels: Ids of channels by the names that rules call them by.
        api_url: Where Slack's Web API is.
    """

    team: str
    tenant: str
    app: str
    token_file: str
    signing_secret_files: tuple[str, ...]
    channels: Mapping[str, str] = {}
    api_url: str = SLACK_API_URL
