"""A store that is not there: whoever only looks makes none."""

import errno
from pathlib import Path

import pytest

from placet.cli.opened import named
from placet.settings import Settings, StoreSettings, load
from placet.settings.secret import Secret
from placet.store.embedded import has_begun
from tests.unit.cli.conftest import Type, begun

LOOKING = (
    ["clients", "list"],
    ["clients", "rotate", "shop"],
    ["clients", "revoke", "shop"],
    ["approvers", "list"],
    ["audit", "show", "apr_1"],
    ["audit", "tail"],
    ["audit", "export"],
    ["stats"],
    ["signout", "ann"],
    ["keys", "list"],
    ["policy", "drop", "--yes"],
    ["doctor", "--reset-clock"],
)


@pytest.mark.parametrize("argv", LOOKING, ids=" ".join)
def test_a_command_that_looks_makes_nothing(cli: Type, tmp_path: Path, argv: list[str]) -> None:
    """It says where it looked, and what would help: with status 3, as for any store out of reach."""
    ran = cli(*argv)
    assert (ran.status, ran.out) == (3, "")
    assert ran.said == (
        f"✗ There is no store at {tmp_path}/.local/state/placet. Name the data directory of the service with "
        "--data-dir or PLACET_DATA_DIR; or start it first: `placet serve`."
    )
    assert list(tmp_path.iterdir()) == []


def test_an_empty_directory_is_no_store(cli: Type, tmp_path: Path) -> None:
    """Nor does looking make it one."""
    (tmp_path / "data").mkdir(mode=0o700)
    assert cli("clients", "list", "--data-dir", str(tmp_path / "data")).status == 3
    assert list((tmp_path / "data").iterdir()) == []


def test_a_store_without_its_keyring_gets_no_other(cli: Type, tmp_path: Path) -> None:
    """Nothing that is sealed there could be proven with it."""
    ran = cli("clients", "list", "--data-dir", str(begun(tmp_path / "data")))
    assert (ran.status, "keyring.json is missing" in ran.said) == (1, True)
    assert not (tmp_path / "data" / "keyring.json").exists()


def test_what_can_not_be_looked_into_is_for_the_opening_to_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory of somebody else's is no missing one; below a file there is none."""
    assert not has_begun(Path(__file__))

    def refused(_: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "stat", refused)
    assert has_begun(Path("/data"))


def test_a_directory_is_named_where_a_command_would_not_find_it() -> None:
    """The usual one, and an external store, need no option."""
    assert named(load({"HOME": "/home/x"}), {"HOME": "/home/x"}) == ""
    elsewhere = load({"HOME": "/home/x", "PLACET_DATA_DIR": "/a b"})
    assert named(elsewhere, {"HOME": "/home/x"}) == " --data-dir '/a b'"
    assert named(elsewhere, {}) == " --data-dir '/a b'"
    external = StoreSettings(data_dir=Path("/unused"), redis_url=Secret("redis://127.0.0.1/0"))
    assert named(Settings(store=external), {}) == ""
