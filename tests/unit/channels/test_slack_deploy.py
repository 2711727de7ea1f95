"""What an operator is given for Slack says what the service does."""

import re
from pathlib import Path

from placet.domain.deliveries import Failure

_SLACK = Path(__file__).parents[3] / "deploy" / "slack"


def test_the_app_asks_for_no_more_than_it_needs() -> None:
    """Two scopes, and clicks at the callback."""
    manifest = (_SLACK / "manifest.yaml").read_text()
    assert re.findall(r"^      - (\S+)", manifest, re.MULTILINE) == ["chat:write", "im:write"]
    assert "request_url: https://placet.example.com/v1/callbacks/slack\n" in manifest


def test_each_failure_has_its_advice() -> None:
    """None is left to be guessed."""
    table = (_SLACK / "README.md").read_text().partition("| class |")[2]
    classes = [row.split("|")[1] for row in table.splitlines() if row.startswith("| `")]
    named = {word for each in classes for word in re.findall("`([^`]+)`", each)}
    assert {failure.value for failure in Failure} <= named
