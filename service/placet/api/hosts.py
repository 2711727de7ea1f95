"""Which ``Host`` a request may name: a page of another site must not reach us by rebinding its name."""

from collections.abc import Collection


def host_name(header: str) -> str:
    """The name in a ``Host`` header (RFC 9110 §7.2), lower case, without port and brackets."""
    if header.startswith("["):
        return header[1:].partition("]")[0].lower()
    return header.partition(":")[0].lower()


def accepted(header: str | None, allowed: Collection[str]) -> bool:
    """Whether the header is there and names one of ``allowed`` (``*.example.com``: any name below)."""
    name = host_name(header or "")
    labels = name.split(".")
    above = ("*." + ".".join(labels[i:]) for i in range(1, len(labels)))
    return name != "" and (name in allowed or any(pattern in allowed for pattern in above))
