"""The data directory: ours, private, a real directory, or refused with what to do."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from placet.store import datadir
from placet.store.datadir import DataDir
from placet.store.embedded_errors import DataDirRefused


def refused(path: Path) -> str:
    """The message with which a path is refused as a data directory."""
    with pytest.raises(DataDirRefused) as caught:
        DataDir.open(path, create=True)
    return str(caught.value)


class TestOpen:
    """Which directories are taken."""

    def test_makes_a_private_directory(self, tmp_path: Path) -> None:
        """An absent directory is made for the user alone, with its parents."""
        with DataDir.open(tmp_path / "a" / "b", create=True) as directory:
            assert stat.S_IMODE(directory.path.stat().st_mode) == 0o700

    def test_takes_a_private_directory(self, tmp_path: Path) -> None:
        """A directory that is private already is taken as it is."""
        tmp_path.chmod(0o700)
        (tmp_path / "kept").touch()
        with DataDir.open(tmp_path, create=True) as directory:
            assert (directory.path / "kept").exists()

    def test_a_relative_path_is_fixed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A relative path means the directory it meant at the start, wherever the process goes."""
        monkeypatch.chdir(tmp_path)
        with DataDir.open(Path("data"), create=True) as directory:
            assert directory.path == tmp_path / "data"

    def test_only_looking_makes_nothing(self, tmp_path: Path) -> None:
        """Without ``create`` an absent directory stays absent."""
        with pytest.raises(FileNotFoundError):
            DataDir.open(tmp_path / "absent", create=False)
        assert not (tmp_path / "absent").exists()

    @pytest.mark.parametrize("create", [True, False])
    def test_a_link_is_refused(self, tmp_path: Path, create: bool) -> None:  # noqa: FBT001 - a parameter
        """A symbolic link is refused even where it leads to a private directory."""
        (tmp_path / "real").mkdir(mode=0o700)
        (tmp_path / "link").symlink_to("real")
        with pytest.raises(DataDirRefused, match="is a symbolic link: name the directory itself"):
            DataDir.open(tmp_path / "link", create=create)

    def test_a_link_to_nowhere_is_refused(self, tmp_path: Path) -> None:
        """A dangling link is refused, and not created through."""
        (tmp_path / "link").symlink_to("nowhere")
        assert "is a symbolic link" in refused(tmp_path / "link")
        assert not (tmp_path / "nowhere").exists()

    def test_a_file_is_refused(self, tmp_path: Path) -> None:
        """A file in the directory's place is refused."""
        (tmp_path / "file").touch()
        assert "is, or lies under, a file" in refused(tmp_path / "file")

    def test_a_file_on_the_way_is_refused(self, tmp_path: Path) -> None:
        """A path that leads through a file is refused."""
        (tmp_path / "file").touch()
        assert "is, or lies under, a file" in refused(tmp_path / "file" / "data")

    @pytest.mark.parametrize("mode", [0o710, 0o701, 0o755, 0o770])
    def test_an_open_directory_is_refused(self, tmp_path: Path, mode: int) -> None:
        """Any permission of group or others is refused, and the message holds the cure."""
        path = tmp_path / "with space"
        path.mkdir()
        path.chmod(mode)
        message = refused(path)
        assert f"(mode {mode:04o})" in message
        assert f"run `chmod 700 '{path}'`" in message

    def test_someone_elses_directory_is_refused(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A directory of another user is refused, naming both, and nothing stays open."""
        tmp_path.chmod(0o700)
        mine = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: mine + 1)
        assert f"belongs to user id {mine}, and this process runs as {mine + 1}" in refused(tmp_path)

    def test_what_can_not_be_made_is_refused(self) -> None:
        """Where the system refuses, its reason is passed on."""
        assert "can't be opened as the data directory" in refused(Path("/proc/placet/data"))


class TestFiles:
    """Files in the directory."""

    @pytest.fixture
    def directory(self, tmp_path: Path) -> DataDir:
        tmp_path.chmod(0o700)
        return DataDir.open(tmp_path, create=True)

    def test_files_are_private_and_not_inherited(self, directory: DataDir) -> None:
        """A new file is the user's alone, and child processes don't get its descriptor."""
        fd = directory.open_file("new", os.O_WRONLY | os.O_CREAT)
        assert stat.S_IMODE(os.fstat(fd).st_mode) == 0o600
        assert not os.get_inheritable(fd)
        os.close(fd)
        directory.close()

    def test_no_file_is_opened_through_a_link(self, directory: DataDir) -> None:
        """A link in a file's place is refused."""
        (directory.path / "link").symlink_to("/dev/null")
        with directory, pytest.raises(DataDirRefused, match="link can't be opened"):
            directory.open_file("link", os.O_RDONLY)

    def test_an_absent_file_is_absent(self, directory: DataDir) -> None:
        """Reading a file that isn't there is told apart from a refusal."""
        with directory, pytest.raises(FileNotFoundError):
            directory.open_file("absent", os.O_RDONLY)

    def test_each_start_begins_a_log_and_keeps_one(self, directory: DataDir) -> None:
        """The log holds this run, one more file the run before, and nothing is kept beyond."""
        with directory:
            for run in (b"first", b"second", b"third"):
                fd = directory.open_log()
                os.write(fd, run)
                os.close(fd)
        assert (directory.path / "valkey.log").read_bytes() == b"third"
        assert (directory.path / "valkey.log.1").read_bytes() == b"second"

    def test_the_tail_of_the_log(self, directory: DataDir) -> None:
        """The tail is the last lines, whatever bytes they hold, of however long a log."""
        log = b"".join(b"%d \xff\n" % n for n in range(10_000))
        (directory.path / "valkey.log").write_bytes(log)
        with directory:
            assert directory.log_tail(lines=2) == "9998 \ufffd\n9999 \ufffd"

    def test_the_tail_of_no_log(self, directory: DataDir) -> None:
        """A log that somebody removed hides no error behind another."""
        with directory:
            assert directory.log_tail() == ""


class TestSocketPath:
    """The length that a socket's address allows."""

    def open_with_path_of(self, tmp_path: Path, socket_path_bytes: int) -> DataDir:
        """A data directory whose socket's path has a given length, in bytes."""
        rest = socket_path_bytes - len(os.fsencode(tmp_path)) - len(f"//{datadir.SOCKET_NAME}")
        return DataDir.open(tmp_path / ("x" * rest), create=True)

    def test_a_path_that_fits_is_used(self, tmp_path: Path) -> None:
        """The longest path that a socket's address holds is used as it is."""
        with self.open_with_path_of(tmp_path, datadir.MAX_SOCKET_PATH_BYTES) as directory:
            assert directory.socket_path == directory.path / "store.sock"

    def test_a_longer_path_is_shortened(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """One byte more, and the path leads through the open directory."""
        monkeypatch.setattr(datadir, "_OPEN_FILES", tmp_path)
        with self.open_with_path_of(tmp_path, datadir.MAX_SOCKET_PATH_BYTES + 1) as directory:
            assert directory.socket_path.parent.parent == tmp_path
            assert directory.socket_path.name == "store.sock"

    def test_a_longer_path_is_refused_elsewhere(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Where the system offers no shortcut, the refusal says so."""
        monkeypatch.setattr(datadir, "_OPEN_FILES", tmp_path / "absent")
        directory = self.open_with_path_of(tmp_path, datadir.MAX_SOCKET_PATH_BYTES + 1)
        with directory, pytest.raises(DataDirRefused, match="longer than the 103 bytes"):
            _ = directory.socket_path
