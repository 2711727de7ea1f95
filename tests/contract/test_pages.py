"""What the pages' scripts and styles repeat from the code is what the code says."""

import re

from placet.domain.events import IN_STREAM
from placet.domain.limits import ID_PATTERN
from placet.domain.model import Risk, Status
from placet.web.render import static


def script(name: str) -> str:
    """A script of the pages."""
    return static(name).decode()


def test_they_hear_every_kind_of_event() -> None:
    """All that are in the stream, and where something is missing."""
    listed = re.search(r"for \(const type of \[([^\]]+)\]", script("live.js"))
    assert listed is not None
    heard = set(re.findall(r'"([a-z]+)"', listed[1]))
    assert heard == {*(each.value for each in IN_STREAM), "gap"}


def test_they_know_the_status_that_waits() -> None:
    """Rows of the inbox end with any other."""
    assert re.findall(r'data\.status !== "([a-z]+)"', script("inbox.js")) == [Status.PENDING.value]


def test_an_id_stands_in_an_address_as_it_is() -> None:
    """Scripts compare addresses with ids: none of an id's characters is written otherwise in a path."""
    allowed = set(re.sub(r"A-Z|a-z|0-9", "", "".join(re.findall(r"\[([^\]]+)\]", ID_PATTERN))))
    assert allowed <= set("._:-")


def test_grave_risks_are_set_off() -> None:
    """By style, as far as words leave it to that."""
    styled = set(re.findall(r"\.chip\.([a-z]+)", script("app.css")))
    assert {Risk.HIGH.value, Risk.CRITICAL.value} <= styled
