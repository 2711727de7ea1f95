"""The roll: nothing of it can be changed without the key, and nothing of it put back."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from placet.application.roll import REVOKED_KEPT, SEAL_CHARS, RollSpoilt, followed, opened, sealed
from placet.domain.principals import Approver, Client, Key, Principal, Scope
from placet.store.principals import Roll
from placet.tokens.keys import new_seal_key
from placet.tokens.seal import Sealer

SEALER, STRANGER = Sealer(new_seal_key()), Sealer(new_seal_key())
BLANK = Roll(epoch=0, rows={}, now_ms=1_000)
RUNTIME = Client(tenant="default", name="runtime", scopes=frozenset({Scope.READ}))
ADMIN = structs.replace(RUNTIME, scopes=frozenset({Scope.ADMIN}))
ANN = Approver(tenant="default", id="ann", keys=(Key(kid="k", sha256="0" * 64, created_at_ms=1),))


def after(roll: Roll, principal: Principal | None = None, *revoked: str, tenant: str = "default") -> Roll:
    """The roll with this principal entered or changed."""
    change = None if principal is None else (principal.field, sealed(SEALER, principal))
    return followed(SEALER, tenant, roll, revoked=revoked, change=change)


def a_roll() -> Roll:
    """An administrator who has become a reader, a person, a revoked key."""
    return after(after(after(BLANK, ADMIN, "kid1"), ANN), RUNTIME)


def test_a_roll_gives_its_principals() -> None:
    """By field, as they were entered last, with and without credentials."""
    assert opened(SEALER, "default", a_roll()) == {"client:runtime": RUNTIME, "approver:ann": ANN}


def test_a_new_tenant_has_nobody() -> None:
    """Nobody was entered, so nothing was sealed."""
    assert opened(SEALER, "default", BLANK) == {}


def test_the_last_one_who_knew_the_key_is_believed() -> None:
    """A roll goes on from any that was found good; its time of reading is no part of it."""
    roll = structs.replace(a_roll(), now_ms=5)
    assert opened(SEALER, "default", after(roll)) == opened(SEALER, "default", roll)


def row(roll: Roll, field: str, change: Callable[[bytes], bytes]) -> Roll:
    """The roll with one row exchanged."""
    return structs.replace(roll, rows={**roll.rows, field: change(roll.rows[field])})


THE_PAST = after(after(BLANK, ADMIN, "kid1"), ANN)
SPOILT: dict[str, Callable[[Roll], Roll]] = {
    "a row of before": lambda r: row(r, "client:runtime", lambda _: THE_PAST.rows["client:runtime"]),
    "rows and manifest of before": lambda r: structs.replace(
        r, rows=THE_PAST.rows, manifest=THE_PAST.manifest
    ),
    "manifest of before": lambda r: structs.replace(r, manifest=THE_PAST.manifest),
    "epoch of before": lambda r: structs.replace(r, epoch=THE_PAST.epoch),
    "a later epoch": lambda r: structs.replace(r, epoch=r.epoch + 1),
    "a row less": lambda r: structs.replace(r, rows={"approver:ann": r.rows["approver:ann"]}),
    "no rows": lambda r: structs.replace(r, rows={}),
    "a row more": lambda r: structs.replace(r, rows={**r.rows, "client:x": r.rows["client:runtime"]}),
    "an empty row more": lambda r: structs.replace(r, rows={**r.rows, "client:x": b""}),
    "a row under another's name": lambda r: row(r, "client:runtime", lambda _: r.rows["approver:ann"]),
    "rows exchanged": lambda r: structs.replace(
        r, rows=dict(zip(r.rows, reversed(list(r.rows.values())), strict=True))
    ),
    "other words behind the seal": lambda r: row(
        r, "client:runtime", lambda held: held.replace(b'"read"', b'"admin"')
    ),
    "a cut row": lambda r: row(r, "client:runtime", lambda held: held[:-1]),
    "an empty row": lambda r: row(r, "client:runtime", lambda _: b""),
    "bytes for a seal": lambda r: row(r, "client:runtime", lambda held: b"\xff" * SEAL_CHARS + held[43:]),
    "a key not revoked": lambda r: structs.replace(r, revoked=()),
    "another key revoked": lambda r: structs.replace(r, revoked=("kid2", *r.revoked)),
    "no manifest": lambda r: structs.replace(r, manifest=""),
    "a manifest that is no text": lambda r: structs.replace(r, manifest="\udcff"),
    "a stranger's": lambda r: followed(STRANGER, "default", r, revoked=(), change=None),
    "another tenant's": lambda r: after(r, tenant="other"),
    "written before there were manifests": lambda r: structs.replace(r, manifest="", revoked=(), epoch=3),
    "emptied but for its epoch": lambda r: Roll(epoch=r.epoch, rows={}),
}


@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT.keys())
def test_a_spoilt_roll_is_nobodys(spoil: Callable[[Roll], Roll]) -> None:
    """Not even the rows that are good count; the fault names the keys, and what to do."""
    with pytest.raises(RollSpoilt) as caught:
        opened(SEALER, "default", spoil(a_roll()))
    assert "Restore the store from a backup" in str(caught.value)
    assert "{placet:default}:p" in str(caught.value)


def test_a_sealed_row_that_is_no_principal_of_the_field_is_not_opened() -> None:
    """A good manifest does not make a row good: its own seal names its field."""
    roll = followed(SEALER, "default", BLANK, revoked=(), change=("client:boss", sealed(SEALER, RUNTIME)))
    with pytest.raises(RollSpoilt):
        opened(SEALER, "default", roll)


class TestEpochs:
    """Never one twice."""

    def test_a_change_counts_one_on(self) -> None:
        """Where the clock says nothing later."""
        assert after(structs.replace(a_roll(), epoch=2_000, now_ms=1_500)).epoch == 2_001

    def test_a_new_roll_begins_with_the_time(self) -> None:
        """So a tenant made again is beyond what it was."""
        assert after(BLANK).epoch == 1_000

    @given(epoch=st.integers(0, 2**53), now_ms=st.integers(0, 2**53))
    def test_it_never_stands_still(self, epoch: int, now_ms: int) -> None:
        """And is never behind the clock."""
        roll = after(Roll(epoch=epoch, rows={}, now_ms=now_ms))
        assert roll.epoch > epoch
        assert roll.epoch >= now_ms


class TestRevoked:
    """Signing keys that are trusted no more."""

    def test_news_come_first_and_nothing_is_forgotten(self) -> None:
        """A keyring that is older than the roll takes nothing back."""
        roll = after(after(BLANK, None, "kid2", "kid1"), None, "kid3", "kid1")
        assert roll.revoked == ("kid3", "kid2", "kid1")
        assert after(roll).revoked == roll.revoked

    def test_the_oldest_fall_out(self) -> None:
        """So many can't be revoked while a token lives."""
        kids = [f"kid{n}" for n in range(REVOKED_KEPT)]
        roll = after(after(BLANK, None, *kids), None, "new")
        assert (len(roll.revoked), roll.revoked[:2], roll.revoked[-1]) == (
            REVOKED_KEPT, ("new", "kid0"), kids[-2]
        )  # fmt: skip


@given(st.permutations(["client:b", "approver:a", "client:a"]))
def test_the_order_of_rows_says_nothing(order: list[str]) -> None:
    """A hash has none."""
    rows = {f"client:{name}": sealed(SEALER, structs.replace(RUNTIME, name=name)) for name in "ab"}
    rows["approver:a"] = sealed(SEALER, Approver(tenant="default", id="a"))
    roll = followed(SEALER, "default", Roll(epoch=1, rows=rows), revoked=(), change=None)
    shuffled = structs.replace(roll, rows={field: rows[field] for field in order})
    assert opened(SEALER, "default", shuffled) == opened(SEALER, "default", roll)
