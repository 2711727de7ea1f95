"""The process's own streams, as a command can use them whatever it was started with."""

import errno
import io
import os
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import NoReturn, TextIO


class Closed(io.TextIOBase):
    """An output that was closed before the process began: whatever is written to it can't be."""

    def write(self, _: str) -> NoReturn:
        """Refuse, as the system would.

        Raises:
            OSError: Always.
        """
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))


_IN_PLACE: Mapping[str, type[io.TextIOBase]] = MappingProxyType(
    {"stdin": io.StringIO, "stdout": Closed, "stderr": Closed}
)


def standard() -> tuple[TextIO, TextIO, TextIO]:
    """Input, output and errors, which are in :mod:`sys` from then on.

    Python has None for a stream whose descriptor was closed (``>&-``). The next file to be opened, say the
    store's socket, would get that descriptor, and with it what a child writes there: so it is taken.
    """
    for number, (name, substitute) in enumerate(_IN_PLACE.items()):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, substitute())
            _take(number)
        elif isinstance(stream, io.TextIOWrapper):
            # A locale without our marks must not end a command half-way.
            stream.reconfigure(errors="backslashreplace")
    return sys.stdin, sys.stdout, sys.stderr


def _take(number: int) -> None:
    try:
        os.fstat(number)
    except OSError:
        # The system gives the lowest descriptor that is free, and the lower ones are taken.
        os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
