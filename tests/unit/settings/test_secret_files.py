"""Files that hold a secret: what they may be, and who may read them."""

import os
from pathlib import Path

import pytest

from placet.settings import secret_files
from placet.settings.secret_files import SECRET_MAX_BYTES, SecretUnusable


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """One that is right, behind two links as Kubernetes has it."""
    (tmp_path / "..1").mkdir()
    (tmp_path / "..1" / "oidc").write_text("s3cret\n")
    (tmp_path / "..1" / "oidc").chmod(0o440)
    (tmp_path / "..data").symlink_to("..1")
    (tmp_path / "oidc").symlink_to("..data/oidc")
    return tmp_path / "oidc"


def test_links_are_followed(file: Path) -> None:
    """To the secret, and to who may read it."""
    assert secret_files.read(str(file)) == "s3cret"
    assert not secret_files.is_open_to_all(str(file))
    file.resolve().chmod(0o444)
    assert secret_files.is_open_to_all(str(file))


@pytest.mark.parametrize(
    ("held", "why"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        ("geheim-ü".encode(), "holds no secret"),
        (b"x" * (SECRET_MAX_BYTES + 1), "holds no secret, which is 4096 ASCII characters at most"),
    ],
)
def test_what_is_no_secret(tmp_path: Path, held: bytes, why: str) -> None:
    """Is refused with the path, and without what is in it."""
    file = tmp_path / "oidc"
    file.write_bytes(held)
    with pytest.raises(SecretUnusable) as caught:
        secret_files.read(str(file))
    assert str(caught.value).startswith(f"{file} {why}")
    assert "xxx" not in str(caught.value)
    assert "geheim" not in str(caught.value).removeprefix(str(file))


def test_what_is_no_file(tmp_path: Path) -> None:
    """Is not waited for."""
    os.mkfifo(tmp_path / "pipe")
    for name, why in (
        ("pipe", "is not a plain file"),
        (".", "can't be read (Is a directory)"),
        ("none", "can't be read (No such file or directory)"),
    ):
        with pytest.raises(SecretUnusable) as caught:
            secret_files.read(str(tmp_path / name))
        assert str(caught.value) == f"{tmp_path / name} {why}"
    assert not secret_files.is_open_to_all(str(tmp_path / "none"))
