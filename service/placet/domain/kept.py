"""What is kept of what was found out, as long as there is room."""

from collections import OrderedDict
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Kept(Generic[K, V]):
    """Values by their names, so many at most: then the one that was put there first goes.

    Args:
        most: How many.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        # A plain dict looks for its first item past all that were taken out before it, thousands of them.
        self._values: OrderedDict[K, V] = OrderedDict()
        self.get = self._values.get

    def __len__(self) -> int:
        return len(self._values)

    def put(self, name: K, value: V) -> None:
        """Keep a value under a name, in place of what there was."""
        values = self._values
        values[name] = value
        if len(values) > self._most:
            values.popitem(last=False)

    def drop(self, name: K) -> None:
        """Keep nothing under a name."""
        self._values.pop(name, None)
