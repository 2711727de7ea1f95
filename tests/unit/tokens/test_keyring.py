"""The keyring's laws: one active, one next, retired keys that fade, revoked keys that stay revoked."""

import json
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placet.tokens.keyring import RETIRED_KEEP_MS, ROTATION_WAIT_MS, Keyring, KeyringError

DAY_MS = 24 * 60 * 60 * 1_000


def states(ring: Keyring) -> dict[str, str]:
    """State by kid."""
    return {key.kid: key.state for key in ring.listing()}


def test_a_first_ring_has_an_active_and_a_next_key(ring: Keyring) -> None:
    """Nothing else, in generation 1."""
    assert ring.generation == 1
    assert list(states(ring).values()) == ["active", "next"]


def test_rotation_moves_each_key_one_state_on(ring: Keyring) -> None:
    """Active retires, next signs, a fresh next is published now, the seal stays."""
    now_ms = ring.next.published_at_ms + ROTATION_WAIT_MS
    turned = ring.rotate(now_ms)
    assert turned.generation == 2
    assert turned.active is ring.next
    assert turned.next.published_at_ms == now_ms
    assert states(turned) == {
        ring.next.kid: "active",
        turned.next.kid: "next",
        ring.active.kid: "retired",
    }
    assert turned.retired[0].retired_at_ms == now_ms
    assert turned.seal is ring.seal


def test_rotation_waits_until_verifiers_know_the_next_key(ring: Keyring) -> None:
    """One millisecond before the JWKS wait is over it is refused, with what to do."""
    with pytest.raises(KeyringError, match=rf"Rotate again in 1 s.*{ring.active.kid} has leaked, revoke"):
        ring.rotate(ring.next.published_at_ms + ROTATION_WAIT_MS - 1)


def test_a_retired_key_is_forgotten_once_its_tokens_are_dead(ring: Keyring) -> None:
    """It is verifiable for the whole keep, and gone from the ring at the next rotation after it."""
    once = ring.rotate(DAY_MS + ring.next.published_at_ms)
    retired_at_ms = once.retired[0].retired_at_ms
    assert once.verifiable_retired(retired_at_ms + RETIRED_KEEP_MS - 1) == once.retired
    assert once.verifiable_retired(retired_at_ms + RETIRED_KEEP_MS) == ()
    early = once.rotate(retired_at_ms + RETIRED_KEEP_MS - 1)
    late = once.rotate(retired_at_ms + RETIRED_KEEP_MS)
    assert ring.active.kid in states(early)
    assert ring.active.kid not in states(late)


def test_revoking_the_active_key_switches_at_once(ring: Keyring) -> None:
    """Next signs without any wait, and has a fresh successor."""
    now_ms = ring.next.published_at_ms + 1
    safe = ring.revoke(ring.active.kid, now_ms)
    assert safe.active is ring.next
    assert safe.next.kid not in states(ring)
    assert states(safe)[ring.active.kid] == "revoked"
    assert safe.revoked[0].revoked_at_ms == now_ms
    assert safe.generation == 2


def test_revoking_the_next_key_leaves_the_active_one(ring: Keyring) -> None:
    """The active key signs on, and a fresh next takes the place."""
    safe = ring.revoke(ring.next.kid, 5)
    assert safe.active is ring.active
    assert states(safe)[ring.next.kid] == "revoked"
    assert safe.next.published_at_ms == 5


def test_revoking_a_retired_key_leaves_the_others(ring: Keyring) -> None:
    """Of two retired keys only the named one loses trust."""
    old, older = (turned := twice_rotated(ring)).retired
    safe = turned.revoke(older.kid, DAY_MS)
    assert safe.active is turned.active
    assert safe.next is turned.next
    assert safe.retired == (old,)
    assert states(safe)[older.kid] == "revoked"


def twice_rotated(ring: Keyring) -> Keyring:
    """A ring with two retired keys that still count."""
    first_ms = ring.next.published_at_ms + ROTATION_WAIT_MS
    return ring.rotate(first_ms).rotate(first_ms + ROTATION_WAIT_MS)


def test_revoking_twice_changes_nothing(ring: Keyring) -> None:
    """An operator may repeat the command."""
    safe = ring.revoke(ring.active.kid, 1)
    assert safe.revoke(ring.active.kid, 2) is safe


def test_an_unknown_kid_is_answered_with_the_known_ones(ring: Keyring) -> None:
    """The operator sees what could have been meant."""
    with pytest.raises(KeyringError, match=rf"{ring.active.kid} \(active\), {ring.next.kid} \(next\)"):
        ring.revoke("nonsense", 1)


def test_fingerprints_tell_rings_apart_and_copies_together(ring: Keyring) -> None:
    """Replicas that trust the same keys agree; a rotation or another seal shows."""
    copy = Keyring.decode(ring.encode())
    turned = ring.rotate(DAY_MS + ring.next.published_at_ms)
    assert (copy.fingerprint(), copy.seal_fingerprint()) == (ring.fingerprint(), ring.seal_fingerprint())
    assert turned.fingerprint() != ring.fingerprint()
    assert turned.seal_fingerprint() == ring.seal_fingerprint()
    resealed = document(ring) | {"seal": document(Keyring.create(1))["seal"]}
    other = Keyring.decode(json.dumps(resealed).encode())
    assert other.fingerprint() == ring.fingerprint()
    assert other.seal_fingerprint() != ring.seal_fingerprint()


def test_a_fingerprint_reveals_no_secret(ring: Keyring) -> None:
    """It may lie in the store, in logs, on a status page."""
    secret = ring.seal.secret.reveal()
    assert secret.hex() not in ring.seal_fingerprint()
    assert sha256(secret).hexdigest() != ring.seal_fingerprint()


def document(ring: Keyring) -> dict[str, Any]:
    """The ring's JSON."""
    members: dict[str, Any] = json.loads(ring.encode())
    return members


def test_a_key_that_no_longer_signs_has_no_private_part_on_file(ring: Keyring) -> None:
    """What is not needed can't leak."""
    turned = ring.rotate(DAY_MS + ring.next.published_at_ms)
    text = turned.revoke(turned.active.kid, DAY_MS).encode().decode()
    for gone in (ring.active, turned.active):
        assert f'"{document(ring)["active"]["private"]}"' not in text
        assert gone.kid in text


@given(st.lists(st.sampled_from(["rotate", "active", "next", "retired", "revoked"]), max_size=6))
@settings(max_examples=30, deadline=None)
def test_no_history_breaks_the_ring(ring: Keyring, history: list[str]) -> None:
    """After any rotations and revocations the file holds the same ring, and revoked stays revoked."""
    now_ms = ring.next.published_at_ms
    revoked: set[str] = set()
    for step in history:
        now_ms += ROTATION_WAIT_MS
        kids = [key.kid for key in ring.listing() if key.state == step]
        if step == "rotate":
            ring = ring.rotate(now_ms)
        elif kids:
            ring = ring.revoke(kids[0], now_ms)
            revoked.add(kids[0])
    assert Keyring.decode(ring.encode()).listing() == ring.listing()
    assert list(states(ring).values())[:2] == ["active", "next"]
    assert {kid for kid, state in states(ring).items() if state == "revoked"} == revoked


def test_what_is_no_keyring_is_refused_with_its_place(ring: Keyring) -> None:
    """The operator reads where the file is wrong, and never a secret."""
    good = document(ring)
    private = good["next"]["private"]
    for wrong, place in (
        (good | {"version": 2}, "version"),
        (good | {"extra": 1}, "extra"),
        (good | {"active": good["active"] | {"kid": "0" * 16}}, r"kid .* - at `\$.active`"),
        (good | {"active": good["active"] | {"private": private}}, r"private part of key .* `\$.active`"),
        (good | {"active": good["active"] | {"private": private + "="}}, r"base64url .* `\$.active.private`"),
        (good | {"next": good["active"]}, "twice"),
        (good | {"seal": good["seal"] | {"secret": "QUJD"}}, r"32 bytes long - at `\$.seal.secret`"),
        ({name: good[name] for name in ("version", "active", "next", "seal")}, "generation"),
    ):
        with pytest.raises(KeyringError, match=place) as caught:
            Keyring.decode(json.dumps(wrong).encode())
        assert private not in str(caught.value)


def test_a_retired_key_under_a_false_kid_is_refused(ring: Keyring) -> None:
    """A kid names its own key in every state that verifies."""
    turned = document(ring.rotate(DAY_MS + ring.next.published_at_ms))
    turned["retired"][0]["kid"] = "f" * 16
    with pytest.raises(KeyringError, match=r"kid is not that of its public key - at `\$\.retired\[0\]`"):
        Keyring.decode(json.dumps(turned).encode())


@pytest.mark.parametrize("data", [b"", b"null", b"{", b"\xff", b'{"version":"\xff"}'])
def test_bytes_that_are_no_json_object_are_no_keyring(data: bytes) -> None:
    """A truncated or foreign file is an operator's message, not a traceback."""
    with pytest.raises(KeyringError, match="not a keyring"):
        Keyring.decode(data)
