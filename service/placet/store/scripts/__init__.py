"""The store's scripts: package data, each with its contract in its head."""

import hashlib
from importlib.resources import files
from typing import NamedTuple

from placet.domain.limits import CLOCK_BEHIND_MAX_MS, UNDECIDED_INPUT_RETENTION_MS

NAMES = (
    "cancel",
    "clock",
    "consume",
    "create",
    "decide",
    "enroll",
    "expire",
    "failed",
    "get",
    "lease",
    "list",
    "outcome",
    "pass",
    "principals",
    "queued",
    "refuse",
    "retry",
    "ring",
    "settle",
    "trim",
    "waiting",
    "wake",
)
TIMELESS = frozenset({"clock", "enroll", "principals"})
"""Scripts that judge nothing by the clock, and so run whatever it says: whoever sets it right needs them."""


class Script(NamedTuple):
    """A script as the server takes it: its text and the SHA-1 by which EVALSHA names it."""

    name: str
    text: str
    sha1: str


def load() -> dict[str, Script]:
    """All scripts by name, each behind the shared head that judges clock and epoch."""
    folder = files(__name__)
    prelude = (folder / "prelude.lua").read_text(encoding="utf-8")
    bounds = f"{CLOCK_BEHIND_MAX_MS}, {UNDECIDED_INPUT_RETENTION_MS}"
    declared = f"local behind_max_ms, undecided_ms, timeless = {bounds}"
    scripts = {}
    for name in NAMES:
        own = (folder / f"{name}.lua").read_text(encoding="utf-8")
        timeless = "true" if name in TIMELESS else "false"
        text = f"{declared}, {timeless}\n{prelude}\n{own}"
        # SHA-1 is the protocol's name for a script, nothing rests on its strength.
        sha1 = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
        scripts[name] = Script(name, text, sha1)
    return scripts
