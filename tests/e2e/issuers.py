"""A real OIDC issuer on loopback: npm's oidc-provider."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.e2e.axe import NODE_MODULES
from tests.tools import require

CLIENT_ID: Final = "placet"
CLIENT_SECRET: Final = "a secret: of 32 characters, or so"
_SCRIPT: Final = Path(__file__).parent / "issuer.mjs"


@contextmanager
def an_issuer() -> Iterator[str]:
    """Its identifier; it is there for the length of the block."""
    node = shutil.which("node")
    require(node is not None, "node (Debian's package nodejs)")
    is_there = (NODE_MODULES / "oidc-provider").is_dir()
    require(is_there, "oidc-provider (`npm install --no-package-lock --prefix tests/e2e`)")
    process = subprocess.Popen(
        [str(node), str(_SCRIPT), CLIENT_ID, CLIENT_SECRET],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.communicate(timeout=10)
