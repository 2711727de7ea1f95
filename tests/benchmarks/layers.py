"""The layers of a call, for the profile: which code belongs to which."""

from collections.abc import Sequence
from pathlib import PurePath
from types import CodeType

LOOP = "event loop"
"""What no layer claims: the loop itself, between two pieces of Python."""

_LAYERS: Sequence[tuple[str, Sequence[str]]] = (
    ("server (uvicorn, httptools)", ("uvicorn/", "httptools/")),
    ("Litestar", ("litestar/",)),
    ("logs, metrics", ("placet/observability/", "logging/__init__.py", "prometheus_client/", "structlog/")),
    ("authentication", ("placet/application/directory.py",)),
    ("admission", ("placet/domain/admission.py", "placet/api/bodies.py:parse", "json/")),
    ("conversion", ("placet/api/bodies.py:convert", "placet/api/queries.py")),
    ("canonical form, hashes", ("placet/domain/canonical.py", "placet/domain/binding.py")),
    ("encoding", ("placet/api/call.py:ok", "placet/api/call.py:problem")),
    ("transport", ("placet/api/", "placet/app.py")),
    (
        "store link, redis-py",
        ("placet/store/link.py", "placet/store/wires.py", "redis/", "hiredis/", "asyncio/streams.py"),
    ),
    ("store arguments", ("placet/store/approvals.py", "placet/store/keys.py")),
    ("fold of the record", ("placet/store/codec.py", "placet/store/record.py")),
    ("tokens", ("placet/tokens/", "jwt/", "cryptography/")),
    ("seals", ("placet/application/grants.py",)),
    (
        "view",
        (
            "placet/application/views.py",
            "placet/application/record_shapes.py",
            "placet/application/rulings.py",
            "placet/domain/faces.py",
            "placet/domain/errors.py",
            "placet/domain/cutting.py",
            "placet/domain/redaction.py",
        ),
    ),
    ("use case, policy", ("placet/application/", "placet/domain/")),
    ("store, the rest", ("placet/store/",)),
)


def layer_of(code: CodeType) -> str | None:
    """The layer that a piece of code belongs to; ``None`` where it works for whoever called it."""
    place = f"{_short(code)}:{code.co_name}"
    for layer, beginnings in _LAYERS:
        if place.startswith(tuple(beginnings)):
            return layer
    return None


def name_of(code: CodeType) -> str | None:
    """The name of a function of ours, but for the command line that everything runs under."""
    place = _short(code)
    if not place.startswith("placet/") or place.startswith(("placet/cli/", "placet/__main__")):
        return None
    return f"{place.removeprefix('placet/')}  {code.co_qualname}"


def _short(code: CodeType) -> str:
    """The file, from its package on."""
    parts = PurePath(code.co_filename).parts
    for root in ("site-packages", "service", "lib"):
        if root in parts:
            rest = parts[len(parts) - parts[::-1].index(root) :]
            return "/".join(rest[1:] if root == "lib" else rest)
    return code.co_filename
