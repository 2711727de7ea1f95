"""Doors to the store that show what goes through them: the very commands that the service sends."""

from collections.abc import Awaitable, Sequence
from typing import NoReturn

from placet.store.link import Argument, Link, Reply
from placet.store.scripts import Script, load
from tests.benchmarks import wire


class Recording(Link):
    """The real door, and the last command of each script that went through it.

    Attributes:
        sent: The commands by the name of their script.
    """

    def __init__(self, link: Link) -> None:
        self._known = load()
        self._link = link
        self.sent: dict[str, bytes] = {}

    def call(
        self, name: str, key: str, args: Sequence[Argument], *, asserts: bool = True
    ) -> Awaitable[Reply]:
        """Note the command and let it through."""
        self.sent[name] = _evalsha(self._known[name], key, args)
        return self._link.call(name, key, args, asserts=asserts)


class Nowhere(Link):
    """A door to nowhere: whoever calls is stopped (:func:`stopped`)."""

    def __init__(self) -> None:
        self._known = load()

    def call(self, name: str, key: str, args: Sequence[Argument], *, asserts: bool = True) -> NoReturn:
        """Stop the caller with the command in hand."""
        raise _Stopped(_evalsha(self._known[name], key, args))


async def stopped(call: Awaitable[object]) -> bytes:
    """The command that a call has in hand when it comes to :class:`Nowhere`."""
    try:
        await call
    except _Stopped as stop:
        return stop.command
    raise AssertionError("the call did not come to the store")


class _Stopped(Exception):  # noqa: N818 - what happened, not an error
    def __init__(self, command: bytes) -> None:
        super().__init__()
        self.command = command


def _evalsha(script: Script, key: str, args: Sequence[Argument]) -> bytes:
    return wire.command("EVALSHA", script.sha1, 1, key, *args)
