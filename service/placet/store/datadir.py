"""The data directory: private to one user, checked before anything in it is believed.

Whoever can write here can write the store, so the directory must be ours (same user), a directory
and not a link to one, and closed to group and others. Files are opened relative to the directory
that was checked, so that swapping the path afterwards changes nothing.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import stat
from pathlib import Path
from typing import Self

from placet.store.embedded_errors import DataDirRefused

SOCKET_NAME = "store.sock"
LOG_NAME = "valkey.log"
PREVIOUS_LOG_NAME = "valkey.log.1"

MAX_SOCKET_PATH_BYTES = 103
"""``sun_path`` less its NUL: 104 bytes on macOS, 108 on Linux (unix(7)); the smaller serves both."""

_OPEN_FILES = Path("/proc/self/fd")  # proc(5); Linux only
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_CHOOSE_ANOTHER = "choose another one with --data-dir or PLACET_DATA_DIR"


class DataDir:
    """An open data directory that passed the checks. A context manager; ``open`` makes one."""

    def __init__(self, path: Path, fd: int) -> None:
        self.path = path
        self._fd = fd

    @classmethod
    def open(cls, path: Path, *, create: bool) -> Self:
        """Opens, and where wanted makes, a data directory.

        Args:
            path: The directory; made with mode 0700 if absent, missing parents as the umask says.
            create: False only looks: an absent directory is then a ``FileNotFoundError``.

        Raises:
            DataDirRefused: It is a link, no directory, someone else's, or open to others; or it
                can't be made or opened.
            FileNotFoundError: It is absent and ``create`` is False.
        """
        path = path.absolute()
        try:
            _refuse_link(path)
            if create:
                path.mkdir(mode=0o700, parents=True, exist_ok=True)
            fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except (FileExistsError, NotADirectoryError):
            raise DataDirRefused(f"{path} is, or lies under, a file: {_CHOOSE_ANOTHER}.") from None
        except OSError as fault:
            if isinstance(fault, FileNotFoundError) and not create:
                raise
            problem = f"{path} can't be opened as the data directory ({fault.strerror})"
            raise DataDirRefused(f"{problem}: {_CHOOSE_ANOTHER}.") from fault
        try:
            _refuse_unless_private(path, os.fstat(fd))
        except DataDirRefused:
            os.close(fd)
            raise
        return cls(path, fd)

    @property
    def socket_path(self) -> Path:
        """Where a client in this process connects, for as long as this directory is open.

        A path too long for a socket address is shortened through ``/proc/self/fd`` (proc(5)): the
        kernel then resolves the directory by our open descriptor.

        Raises:
            DataDirRefused: The path is too long and the platform has no such shortcut.
        """
        direct = self.path / SOCKET_NAME
        if len(os.fsencode(direct)) <= MAX_SOCKET_PATH_BYTES:
            return direct
        if not _OPEN_FILES.is_dir():
            problem = f"{direct} is longer than the {MAX_SOCKET_PATH_BYTES} bytes a socket's path may have"
            raise DataDirRefused(f"{problem}: {_CHOOSE_ANOTHER}.")
        return _OPEN_FILES / str(self._fd) / SOCKET_NAME

    def open_file(self, name: str, flags: int) -> int:
        """Opens one of our files here, never through a link; made with mode 0600 where flags say.

        Returns:
            A descriptor that child processes don't inherit.

        Raises:
            FileNotFoundError: It is absent and ``flags`` lack ``O_CREAT``.
            DataDirRefused: It can't be opened otherwise.
        """
        try:
            return os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=self._fd)
        except FileNotFoundError:
            raise
        except OSError as fault:
            problem = f"{self.path / name} can't be opened ({fault.strerror})"
            raise DataDirRefused(f"{problem}: mend that, or {_CHOOSE_ANOTHER}.") from fault

    def open_log(self) -> int:
        """Begins a log for Valkey; the one before is kept as ``valkey.log.1``, older ones are gone.

        Returns:
            A descriptor that appends.
        """
        with contextlib.suppress(FileNotFoundError):  # the first start here
            os.replace(LOG_NAME, PREVIOUS_LOG_NAME, src_dir_fd=self._fd, dst_dir_fd=self._fd)
        return self.open_file(LOG_NAME, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def log_tail(self, *, lines: int = 8, max_bytes: int = 8192) -> str:
        """The last lines of Valkey's log, for a person to read; empty where somebody removed it."""
        try:
            fd = self.open_file(LOG_NAME, os.O_RDONLY)
        except FileNotFoundError:
            return ""
        with open(fd, "rb") as log:  # noqa: PTH123 - by descriptor
            log.seek(max(0, os.fstat(log.fileno()).st_size - max_bytes))
            return "\n".join(log.read().decode(errors="replace").splitlines()[-lines:])

    def close(self) -> None:
        """Closes it; ``socket_path`` values handed out before may stop working."""
        os.close(self._fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _refuse_link(path: Path) -> None:
    if path.is_symlink():
        raise DataDirRefused(f"{path} is a symbolic link: name the directory itself, or {_CHOOSE_ANOTHER}.")


def _refuse_unless_private(path: Path, status: os.stat_result) -> None:
    user_id = os.geteuid()
    if status.st_uid != user_id:
        whose = f"{path} belongs to user id {status.st_uid}, and this process runs as {user_id}"
        raise DataDirRefused(f"{whose}: run as its owner, or {_CHOOSE_ANOTHER}.")
    mode = stat.S_IMODE(status.st_mode)
    if mode & _OTHERS:
        problem = f"{path} is open to its group or to others (mode {mode:04o})"
        raise DataDirRefused(f"{problem}: run `chmod 700 {shlex.quote(str(path))}`, or {_CHOOSE_ANOTHER}.")
