"""The keyring file: who may read it, how it changes in one step, and how a service notices.

It is written beside itself, forced to disk and renamed, so that a reader finds the old ring or the new
one and a crash loses neither. Writers take turns on ``<file>.lock``, which is left in place: removing a
lock file would let two owners in.
"""

import errno
import fcntl
import os
import stat
import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from placet.tokens.jwks import VerificationKeys
from placet.tokens.keyring import Keyring, KeyringError
from placet.tokens.keys import SigningKey
from placet.tokens.minted import Minted
from placet.tokens.seal import Sealer

_MAX_BYTES = 1 << 20  # a ring that remembers a thousand revoked keys takes a sixth of this


class KeyringMissingError(KeyringError):
    """There is no keyring file yet."""


class _Mark(NamedTuple):
    """What changes when a file does: a rename brings another inode, an edit another time or size."""

    inode: int
    size_bytes: int
    modified_ns: int
    changed_ns: int

    @classmethod
    def of(cls, status: os.stat_result) -> "_Mark":
        return cls(status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


class KeyringFile:
    """A running service's view of the file: parsed once, read again only when it changed.

    A service with a copy of its own may hear of a revocation before the newer file is there. It heeds it at
    once, for as long as it runs: in its memory only, and whatever the file then says.

    Attributes:
        ring: the keyring, as the file has it.
        verification_keys: what its tokens are verified with.
        sealer: what its votes and credentials are sealed with.
        minted: the tokens that were minted here.
    """

    ring: Keyring
    verification_keys: VerificationKeys
    sealer: Sealer
    minted: Minted

    def __init__(self, path: Path) -> None:
        """Read the file at ``path``.

        Raises:
            KeyringError: as :func:`load`.
        """
        self._path = path
        self._heeded: frozenset[str] = frozenset()
        self.minted = Minted()
        self._take(*_read(path))

    @property
    def revoked(self) -> frozenset[str]:
        """The kids that are trusted no more: those that the file says, and those heeded."""
        return self.verification_keys.revoked

    @property
    def is_outdated(self) -> bool:
        """Whether a key was revoked that the file still trusts, or has never heard of."""
        return not self._heeded <= {key.kid for key in self.ring.revoked}

    def heed(self, revoked: Collection[str]) -> None:
        """Trust these kids no more: they were revoked in a newer copy of the file."""
        if not self._heeded.issuperset(revoked):
            self._heeded = self._heeded.union(revoked)
            self._trust()

    def signing_key(self) -> SigningKey:
        """The key to mint with: the active one, or next where that one is revoked, as the newer file has it.

        Raises:
            KeyringError: both were revoked since this copy was made.
        """
        for key in (self.ring.active, self.ring.next):
            if key.kid not in self.revoked:
                return key
        raise KeyringError(
            f"every key of {self._path} that may sign is revoked: install the newer keyring here"
        )

    def refresh(self) -> bool:
        """Take up the file's present content; say whether there was anything new. Costs one ``stat``.

        Raises:
            KeyringError: the file is gone, can't be trusted or read, or is older than the ring in use,
                which would bring revoked keys back. The ring in use stays: the caller goes unready.
        """
        try:
            mark = _Mark.of(self._path.lstat())
        except OSError as error:
            raise _unusable(self._path, error) from error
        if mark == self._mark:
            return False
        ring, mark = _read(self._path)
        if ring.generation < self.ring.generation:
            raise KeyringError(
                f"the keyring {self._path} went back from generation {self.ring.generation} to "
                f"{ring.generation}, and keys revoked since would count again: restore the newer file, or "
                f"restart if this is meant"
            )
        self._take(ring, mark)
        return True

    def _take(self, ring: Keyring, mark: _Mark) -> None:
        self._mark = mark
        self.ring = ring
        self.sealer = Sealer(ring.seal)
        self._trust()

    def _trust(self) -> None:
        self.verification_keys = VerificationKeys.from_keyring(
            self.ring, heeded=self._heeded, minted=self.minted
        )


def load(path: Path) -> Keyring:
    """The keyring in the file at ``path``.

    Raises:
        KeyringMissingError: there is no file.
        KeyringError: the file is a symbolic link or not a plain file, belongs to another user, lets
            others read or write, or holds no keyring. The message says what to do.
    """
    return _read(path)[0]


def save(path: Path, ring: Keyring) -> None:
    """Put ``ring`` in the file at ``path`` (0600) in one step, whatever was there.

    A change of what is there goes through :func:`update`, which lets no other change slip in between.

    Raises:
        KeyringError: the directory can't be written.
    """
    try:
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # 0600
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(ring.encode())
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).replace(path)
        except BaseException:
            with suppress(FileNotFoundError):
                Path(temporary).unlink()
            raise
        _sync_directory(path.parent)
    except OSError as error:
        raise _unusable(path, error) from error


def update(path: Path, change: Callable[[Keyring], Keyring]) -> Keyring:
    """Load, ``change`` and save as one turn; return the new ring. Other processes wait.

    Raises:
        KeyringError: as :func:`load` and :func:`save`, or by ``change``; the file is then as it was.
    """
    with _turn(path):
        ring = change(load(path))
        save(path, ring)
        return ring


def load_or_create(path: Path, now_ms: int) -> Keyring:
    """The keyring at ``path``, created where there is none; of two processes only one creates.

    Raises:
        KeyringError: as :func:`load` and :func:`save`.
    """
    try:
        return load(path)
    except KeyringMissingError:
        with _turn(path):
            try:
                return load(path)  # made while this process waited for its turn
            except KeyringMissingError:
                ring = Keyring.create(now_ms)
                save(path, ring)
                return ring


def _read(path: Path) -> tuple[Keyring, _Mark]:
    try:
        with open(path, "rb", opener=_open_plainly) as file:
            status = os.fstat(file.fileno())
            _check_ours(path, status)
            data = file.read(_MAX_BYTES)
    except OSError as error:
        raise _unusable(path, error) from error
    try:
        return Keyring.decode(data), _Mark.of(status)
    except KeyringError as error:
        raise KeyringError(f"{path}: {error}. Restore the file from a backup") from error


def _open_plainly(path: str, flags: int) -> int:
    """Follow no link; and don't wait for a writer, should this be a named pipe."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


def _check_ours(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise KeyringError(f"the keyring {path} is not a plain file: put the keyring itself there")
    if status.st_uid != os.geteuid():
        raise KeyringError(f"the keyring {path} belongs to another user: give it to the one that runs placet")
    if status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise KeyringError(f"the keyring {path} is open to other users: run `chmod 600 {path}`")


@contextmanager
def _turn(path: Path) -> Iterator[None]:
    lock = path.with_name(f"{path.name}.lock")
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise _unusable(lock, error) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)  # per open file: it holds between threads too
        yield
    finally:
        os.close(descriptor)


def _sync_directory(directory: Path) -> None:
    """Make a rename in ``directory`` survive a power cut."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _unusable(path: Path, error: OSError) -> KeyringError:
    if isinstance(error, FileNotFoundError) and path.parent.is_dir():
        return KeyringMissingError(f"there is no keyring at {path}")
    if error.errno == errno.ELOOP:
        return KeyringError(f"{path} is a symbolic link: name the keyring file itself")
    return KeyringError(f"{path} can't be used: {error.strerror}")
