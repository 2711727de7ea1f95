"""Files that hold one secret each, as orchestrators lay them out: behind links, an end of line or none."""

import os
import stat
from pathlib import Path
from typing import Final

SECRET_MAX_BYTES: Final = 4_096


class SecretUnusable(Exception):  # noqa: N818 - reads as what was found
    """A secret can't be had from its file; the message says of which file and why, to operators."""


def read(path: str) -> str:
    """The secret as it is now: it is rotated by writing another into the file.

    Raises:
        SecretUnusable: The file can't be read, is empty, or holds something else.
    """
    try:
        with open(path, "rb", opener=_open_at_once) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise SecretUnusable(f"{path} is not a plain file")
            held = file.read(SECRET_MAX_BYTES + 1)
    except OSError as fault:
        raise SecretUnusable(f"{path} can't be read ({fault.strerror or type(fault).__name__})") from None
    if len(held) > SECRET_MAX_BYTES or not held.isascii():
        raise SecretUnusable(f"{path} holds no secret, which is {SECRET_MAX_BYTES} ASCII characters at most")
    secret = held.decode("ascii").strip()
    if not secret:
        raise SecretUnusable(f"{path} is empty")
    return secret


def is_open_to_all(path: str) -> bool:
    """Whether everybody on this machine may read a file, which may be a link to one."""
    try:
        return bool(Path(path).stat().st_mode & stat.S_IROTH)
    except OSError:
        return False


def _open_at_once(path: str, flags: int) -> int:
    """Don't wait for a writer, should this be a named pipe."""
    return os.open(path, flags | os.O_NONBLOCK)
