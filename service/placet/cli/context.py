"""What a command is given besides its arguments; a test gives its own."""

import asyncio
from collections.abc import Mapping
from typing import Any, TextIO

from msgspec import Struct

from placet.cli.console import Console
from placet.cli.exits import Exit, Stop


class Context(Struct, frozen=True, kw_only=True):
    """The world as a command sees it.

    Attributes:
        console: Where it speaks.
        environ: The environment.
        stdin: Where answers are read from.
        transport: An ``httpx.BaseTransport`` in place of the network's; untyped, so that commands that
            make no call don't pay for importing httpx.
    """

    console: Console
    environ: Mapping[str, str]
    stdin: TextIO
    transport: Any = None

    @property
    def can_ask(self) -> bool:
        """Whether somebody is there who reads what we show and can answer."""
        return self.stdin.isatty() and self.console.people.is_terminal

    def ask(self, question: str, *, default: bool) -> bool:
        """Ask a yes-or-no question on the terminal; what is no answer, is the default.

        Raises:
            Stop: The input ended, or was interrupted.
        """
        self._put(question, default=default)
        return self._answer(default=default)

    async def ask_meanwhile(self, question: str, *, default: bool) -> bool:
        """As :meth:`ask`, while everything else on the event loop goes on."""
        loop = asyncio.get_running_loop()
        readable = asyncio.Event()
        self._put(question, default=default)
        loop.add_reader(self.stdin.fileno(), readable.set)
        try:
            await readable.wait()
        finally:
            loop.remove_reader(self.stdin.fileno())
        return self._answer(default=default)

    def _put(self, question: str, *, default: bool) -> None:
        self.console.people.line(f"{question} {'[Y/n]' if default else '[y/N]'} ", end="")

    def ask_for(self, question: str) -> str:
        """Ask for a line of text on the terminal; empty where there is none.

        Raises:
            Stop: The input ended, or was interrupted.
        """
        self.console.people.line(f"{question} ", end="")
        return self._line().strip()

    def _answer(self, *, default: bool) -> bool:
        word = self._line().strip().lower()
        return default if not word else word in {"y", "yes"}

    def _line(self) -> str:
        try:
            answer = self.stdin.readline()
        except KeyboardInterrupt:
            self.console.people.line()
            raise Stop(
                "Interrupted before there was an answer: nothing was decided.", Exit.INTERRUPTED
            ) from None
        if not answer:
            self.console.people.line()
            raise Stop("The input ended before there was an answer: nothing was decided.", Exit.FAILED)
        return answer
