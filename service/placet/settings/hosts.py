"""Which ``Host`` a request may name: a page of another site must not reach us by rebinding its name."""

import re
from collections.abc import Collection

_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([^\[\]:@/?#\s]+))(?::[0-9]*)?")


def host_name(header: str) -> str:
    """The name in a ``Host`` header (RFC 9110 §7.2), lower case, without port and brackets; else empty."""
    match = _HOST.fullmatch(header)
    return (match[1] or match[2]).lower() if match else ""


def accepted(header: str | None, allowed: Collection[str]) -> bool:
    """Whether the header is there and names one of ``allowed`` (``*.example.com``: any name below)."""
    name = host_name(header or "")
    labels = name.split(".")
    above = ("*." + ".".join(labels[i:]) for i in range(1, len(labels)))
    return name != "" and (name in allowed or any(pattern in allowed for pattern in above))
