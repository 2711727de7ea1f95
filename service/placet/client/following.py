"""Following the event stream: where it stands, and when to come back after it broke."""

from msgspec import DecodeError

from placet.client import calls
from placet.client.calls import Call
from placet.client.errors import AnswerNotUnderstood
from placet.client.questions import Filters
from placet.client.shapes import Event, Gap
from placet.client.sse import Block, Blocks
from placet.client.steps import Retries, may_come_again
from placet.domain.errors import PlacetError


class Following:
    """One follower, over as many connections as it takes.

    Args:
        filters: What to hear of.
        after: The entry to go on from.
        retries: How often in a row, and after how long, it comes back where nothing was heard.
    """

    def __init__(self, filters: Filters, after: str | None, retries: Retries) -> None:
        self._filters = filters
        self._retries = retries
        self._blocks = Blocks(after)
        self._call = calls.events(filters, after)
        self._failures = 0
        self._missed = False
        self._listened = False
        self._heard = False

    def call(self) -> Call[Event]:
        """The next connection; what was left over of the one before is dropped."""
        self._blocks = Blocks(self._blocks.last_id, self._blocks.retry_ms)
        self._call = calls.events(self._filters, self._blocks.last_id)
        self._heard = False
        return self._call

    def heard(self, chunk: bytes) -> list[Event | Gap]:
        """What a piece of the stream tells; heartbeats tell nothing.

        Raises:
            AnswerNotUnderstood: It is no event stream.
        """
        told: list[Event | Gap] = [Gap()] if self._missed else []
        self._failures, self._missed = 0, False
        self._heard = self._listened = True
        try:
            for block in self._blocks.feed(chunk):
                told += self._told(block)
        except ValueError as fault:
            why = "The event stream can't be read."
            raise AnswerNotUnderstood(why, answered=200, effect_unknown=False) from fault
        return told

    def pause_s(self, fault: PlacetError | None) -> float:
        """How long to wait before the next connection.

        Args:
            fault: Why the last one ended; None where the service ended it in good order.

        Raises:
            PlacetError: The fault, where there is to be none.
        """
        if fault is not None and (
            self._failures >= self._retries.most or not may_come_again(self._call, fault)
        ):
            raise fault
        # Who has no entry to go on from can't have what happened meanwhile.
        self._missed = self._missed or (self._listened and self._blocks.last_id is None)
        asked_ms = self._blocks.retry_ms if fault is None else fault.retry_after_ms or self._blocks.retry_ms
        pause_s = self._retries.pause_s(self._failures, asked_ms)
        if fault is not None or not self._heard:
            self._failures += 1
        return pause_s

    def _told(self, block: Block) -> list[Event | Gap]:
        if block.type == "gap":
            return [Gap()]
        try:
            event = calls.event_of(block.data, self._blocks.last_id or "")
        except DecodeError:
            return []  # of a kind that a newer service has
        return [event]
