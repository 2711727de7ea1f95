"""The keyring file: trusted only if it is ours alone, changed in one step, noticed when it changes."""

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NoReturn

import pytest

from placet.tokens.keyring import ROTATION_WAIT_MS, Keyring, KeyringError
from placet.tokens.keyring_file import (
    KeyringFile,
    KeyringMissingError,
    load,
    load_or_create,
    save,
    update,
)


@pytest.fixture
def path(tmp_path: Path, ring: Keyring) -> Path:
    """A saved keyring."""
    path = tmp_path / "keyring.json"
    save(path, ring)
    return path


def rotated(ring: Keyring) -> Keyring:
    """The ring one planned rotation on."""
    return ring.rotate(ring.next.published_at_ms + ROTATION_WAIT_MS)


def test_what_is_saved_is_loaded(path: Path, ring: Keyring) -> None:
    """The file holds the ring whole, for its owner only, and nothing is left beside it."""
    assert load(path).encode() == ring.encode()
    assert path.stat().st_mode & 0o7777 == 0o600
    assert list(path.parent.iterdir()) == [path]


def test_saving_keeps_the_file_private_whatever_it_was(path: Path, ring: Keyring) -> None:
    """A replaced file's looser mode is not inherited."""
    path.chmod(0o666)
    save(path, ring)
    assert path.stat().st_mode & 0o7777 == 0o600


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o610, 0o601])
def test_a_file_open_to_others_is_refused(path: Path, mode: int) -> None:
    """Group and others have no right at all; the message says how to take it from them."""
    path.chmod(mode)
    with pytest.raises(KeyringError, match="chmod 600"):
        load(path)


def test_a_symbolic_link_is_refused(path: Path) -> None:
    """Whoever can place a link would choose the keys."""
    link = path.with_name("link.json")
    link.symlink_to(path)
    with pytest.raises(KeyringError, match="symbolic link"):
        load(link)


def test_another_users_file_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its owner knows the keys and can change them."""
    other = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: other)
    with pytest.raises(KeyringError, match="another user"):
        load(path)


def make_pipe(path: Path) -> None:
    """A named pipe nobody writes to."""
    os.mkfifo(path, 0o600)


@pytest.mark.parametrize(
    ("make", "match"), [(make_pipe, "not a plain file"), (Path.mkdir, "can't be used: Is a directory")]
)
def test_what_is_no_file_is_refused_at_once(tmp_path: Path, make: Callable[[Path], None], match: str) -> None:
    """A pipe does not hang the start, a directory is no traceback."""
    make(tmp_path / "odd")
    with pytest.raises(KeyringError, match=match):
        load(tmp_path / "odd")


def test_a_missing_file_is_told_from_an_unusable_place(tmp_path: Path) -> None:
    """Only where a file could be is it missing."""
    with pytest.raises(KeyringMissingError, match="there is no keyring"):
        load(tmp_path / "none.json")
    with pytest.raises(KeyringError, match="can't be used: No such file") as caught:
        load(tmp_path / "nowhere" / "none.json")
    assert not isinstance(caught.value, KeyringMissingError)


def test_a_spoilt_file_is_refused_by_name(path: Path) -> None:
    """The operator learns which file, where in it, and what to do."""
    path.write_bytes(b"{}")
    with pytest.raises(KeyringError, match=r"keyring\.json: this is not a keyring: .*backup"):
        load(path)


@pytest.mark.parametrize(
    "use", [lambda path: save(path, Keyring.create(1)), lambda path: load_or_create(path, 1)]
)
def test_an_unwritable_place_is_an_operators_message(tmp_path: Path, use: Callable[[Path], Any]) -> None:
    """Not a traceback."""
    with pytest.raises(KeyringError, match="can't be used: No such file"):
        use(tmp_path / "nowhere" / "keyring.json")


def test_a_lock_that_is_a_link_is_refused(tmp_path: Path) -> None:
    """A planted link can't make us create or lock a file elsewhere."""
    (tmp_path / "keyring.json.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(KeyringError, match=r"keyring\.json\.lock is a symbolic link"):
        load_or_create(tmp_path / "keyring.json", 1)
    assert not (tmp_path / "elsewhere").exists()


def test_a_failed_save_leaves_the_old_file_and_no_litter(
    path: Path, ring: Keyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk costs the change, never the keys."""

    def full(descriptor: int) -> NoReturn:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(KeyringError, match="No space left"):
        save(path, rotated(ring))
    assert load(path).encode() == ring.encode()
    assert list(path.parent.iterdir()) == [path]


def test_a_ring_is_forced_to_disk_before_it_is_renamed(
    path: Path, ring: Keyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a power cut there is the old ring or the new, never an empty file: file, rename, directory."""
    steps: list[str] = []

    def noting(step: str, act: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*arguments: Any) -> Any:
            steps.append(step)
            return act(*arguments)

        return noted

    monkeypatch.setattr(os, "fsync", noting("sync", os.fsync))
    monkeypatch.setattr(Path, "replace", noting("rename", Path.replace))
    save(path, ring)
    assert steps == ["sync", "rename", "sync"]


def test_an_update_writes_what_the_change_gives(path: Path, ring: Keyring) -> None:
    """The change sees the file's ring; its result is returned and on file."""
    changed = update(path, rotated)
    assert changed.active.kid == ring.next.kid
    assert load(path).encode() == changed.encode()


def test_a_refused_change_leaves_the_file(path: Path, ring: Keyring) -> None:
    """A rotation too early changes nothing."""
    with pytest.raises(KeyringError, match="Rotate again"):
        update(path, lambda held: held.rotate(held.next.published_at_ms))
    assert load(path).encode() == ring.encode()


def test_concurrent_updates_lose_none(path: Path) -> None:
    """Eight revocations at once are eight generations: each saw the one before."""
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: update(path, lambda held: held.revoke(held.active.kid, 1)), range(8)))
    assert load(path).generation == 9
    assert len(load(path).revoked) == 8


def test_a_ring_is_created_once_and_then_kept(tmp_path: Path) -> None:
    """The second start finds the first one's keys."""
    path = tmp_path / "keyring.json"
    first = load_or_create(path, 7)
    assert first.active.published_at_ms == 7
    assert load_or_create(path, 8).encode() == first.encode()


def test_threads_that_create_at_once_agree(tmp_path: Path) -> None:
    """One creates, the others wait for their turn and take its ring."""
    with ThreadPoolExecutor(8) as pool:
        rings = list(pool.map(lambda _: load_or_create(tmp_path / "keyring.json", 1), range(8)))
    assert len({ring.encode() for ring in rings}) == 1


def test_processes_that_create_at_once_agree(tmp_path: Path) -> None:
    """Two services started on one empty directory share one ring."""
    program = (
        "import pathlib, sys; from placet.tokens.keyring_file import load_or_create as make;"
        "print(make(pathlib.Path(sys.argv[1]), 1).fingerprint())"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "keyring.json")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) for _ in range(3)]
    answers = [process.communicate(timeout=60)[0] for process in running]
    assert len(set(answers)) == 1
    assert answers[0].strip().decode() == load(tmp_path / "keyring.json").fingerprint()


def test_a_service_reads_the_file_once_while_it_stays(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refresh of an unchanged file parses nothing and keeps every object."""
    held = KeyringFile(path)
    ring, keys, sealer = held.ring, held.verification_keys, held.sealer
    monkeypatch.delattr(Keyring, "decode")
    assert held.refresh() is False
    assert held.ring is ring
    assert held.verification_keys is keys
    assert held.sealer is sealer


def test_a_service_takes_up_a_revocation(path: Path, ring: Keyring) -> None:
    """What another process did to the file counts from the next refresh on."""
    held = KeyringFile(path)
    update(path, lambda old: old.revoke(old.active.kid, 1))
    assert held.refresh() is True
    assert held.ring.active.kid == ring.next.kid
    assert held.verification_keys.revoked == {ring.active.kid}
    assert held.sealer.verify("vote", ["a"], held.sealer.seal("vote", ["a"]))
    assert held.refresh() is False


def test_a_service_does_not_go_back_to_an_older_ring(path: Path, ring: Keyring) -> None:
    """A restored backup would trust what was revoked since: refused at every look, the newer ring stays."""
    newer = update(path, lambda old: old.revoke(old.active.kid, 1))
    held = KeyringFile(path)
    save(path, ring)
    for _ in range(2):
        with pytest.raises(KeyringError, match="from generation 2 to 1"):
            held.refresh()
    assert held.ring.fingerprint() == newer.fingerprint()


def test_a_service_whose_file_went_bad_says_so_and_keeps_its_ring(path: Path, ring: Keyring) -> None:
    """Opened to others, or gone: an error at every refresh until it is mended."""
    held = KeyringFile(path)
    path.chmod(0o644)
    with pytest.raises(KeyringError, match="chmod 600"):
        held.refresh()
    path.unlink()
    with pytest.raises(KeyringMissingError):
        held.refresh()
    assert held.ring.fingerprint() == ring.fingerprint()
    save(path, ring)
    assert held.refresh() is True


class TestHeeding:
    """A service hears of a revocation before the newer file is there."""

    def test_a_heeded_key_is_trusted_no_more(self, path: Path, ring: Keyring) -> None:
        """At once, in this process; the file stays as it is."""
        held = KeyringFile(path)
        held.heed([ring.active.kid])
        assert held.revoked == held.verification_keys.revoked == {ring.active.kid}
        assert load(path).encode() == ring.encode()

    def test_hearing_of_it_again_changes_nothing(self, path: Path, ring: Keyring) -> None:
        """Every object is kept."""
        held = KeyringFile(path)
        held.heed(())
        held.heed([ring.active.kid])
        keys = held.verification_keys
        held.heed([ring.active.kid])
        assert held.verification_keys is keys

    def test_it_is_not_forgotten_with_the_next_file(self, path: Path, ring: Keyring) -> None:
        """A file that was changed here, and has not heard of it either, trusts the key in vain."""
        held = KeyringFile(path)
        held.heed([ring.active.kid])
        save(path, rotated(ring))
        assert held.refresh() is True
        assert ring.active.kid in held.revoked

    def test_the_next_key_signs_in_its_place(self, path: Path, ring: Keyring) -> None:
        """As in the newer file."""
        held = KeyringFile(path)
        assert held.signing_key() is held.ring.active
        held.heed([ring.active.kid])
        assert held.signing_key() is held.ring.next
        newer = ring.revoke(ring.active.kid, 1)
        assert held.signing_key().kid == newer.active.kid

    def test_no_key_signs_where_both_are_revoked(self, path: Path, ring: Keyring) -> None:
        """The message says what to do."""
        held = KeyringFile(path)
        held.heed([ring.active.kid, ring.next.kid])
        with pytest.raises(KeyringError, match="install the newer keyring here"):
            held.signing_key()

    def test_the_newer_file_makes_it_up_to_date(self, path: Path, ring: Keyring) -> None:
        """Until then it is outdated: also where it has never seen the key that was revoked."""
        held = KeyringFile(path)
        newer = ring.revoke(ring.active.kid, 1)
        newer = newer.revoke(newer.next.kid, 2)
        outdated = [held.is_outdated]
        held.heed([key.kid for key in newer.revoked])
        outdated.append(held.is_outdated)
        save(path, newer)
        held.refresh()
        assert [*outdated, held.is_outdated] == [False, True, False]
        assert held.signing_key() is held.ring.active
