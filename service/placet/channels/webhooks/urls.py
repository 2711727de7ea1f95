"""URLs of webhook endpoints: what is wrong with one, in words, and where one leads.

They are read here and nowhere else, so that what is judged is what is connected to. What two readers could
take for two places (a user before the host, a backslash, other letters than ASCII) is refused.
"""

import ipaddress
import re
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from placet.channels.webhooks.addresses import Address, Networks, is_permitted
from placet.settings.parsing import host

URL_MAX_LENGTH: Final = 2_048
"""As long as most servers take."""

_PORTS: Final = {"https": 443, "http": 80}
_AUTHORITY: Final = "must have a host and perhaps a port from 1 to 65535, and nothing else before the path"
_LABEL_MAX: Final = 63
# Visible ASCII without what encloses URLs in texts, and without the backslash.
_CHARACTERS: Final = re.compile(r"[!#-;=?-\[\]-~]+")


class Place(Struct, frozen=True, kw_only=True):
    """Where a URL leads.

    Attributes:
        scheme: ``https`` or ``http``.
        host: A name or an address, in lower case, IPv6 without brackets.
        port: TCP port.
        target: Path and query.
        authority: Host and port as a ``Host`` header has them (RFC 9110 §7.2).
    """

    scheme: str
    host: str
    port: int
    target: str
    authority: str

    @property
    def plain(self) -> bool:
        """Whether it is http, for everybody on the way to read."""
        return self.scheme == "http"

    @property
    def address(self) -> Address | None:
        """The address, where the host is one."""
        try:
            return ipaddress.ip_address(self.host)
        except ValueError:
            return None


def place_of(url: str) -> Place:
    """Where it leads.

    Raises:
        ValueError: It is no URL of an endpoint; the message follows its name.
    """
    if len(url) > URL_MAX_LENGTH or _CHARACTERS.fullmatch(url) is None:
        raise ValueError(
            f"must have {URL_MAX_LENGTH} characters at most, all visible and of ASCII: write other letters of"
            " a name as xn--, of a path with %"
        )
    try:
        parts = urlsplit(url)
        name, port = parts.hostname or "", parts.port
    except ValueError:
        raise ValueError(_AUTHORITY) from None
    if parts.scheme not in _PORTS or not url.lower().startswith(f"{parts.scheme}://"):
        raise ValueError("must begin with https://")
    if "@" in parts.netloc:
        raise ValueError("must not have a user or a password in it: what is sent is signed")
    if "#" in url:
        raise ValueError("must not have a fragment (#): it is never sent")
    shown = _host(name)
    if parts.netloc.lower() not in {shown, f"{shown}:{port}"} or port == 0:
        raise ValueError(_AUTHORITY)
    return Place(
        scheme=parts.scheme,
        host=name,
        port=port or _PORTS[parts.scheme],
        target=(parts.path or "/") + (f"?{parts.query}" if parts.query else ""),
        authority=parts.netloc.lower(),
    )


def fault_of(url: str, *, allowed: Networks) -> str | None:
    """What is wrong with it as an endpoint, in words that follow its name; ``None``: nothing.

    Where a name leads is only known when something is sent: it is judged then, each time.

    Args:
        url: As somebody typed it.
        allowed: The networks that the operator names.
    """
    try:
        place = place_of(url)
    except ValueError as fault:
        return str(fault)
    address = place.address
    if address is not None and not is_permitted(address, allowed, plain=False):
        return "must not lead to an address that is neither public nor in a network that is allowed"
    named = bool(allowed) if address is None else is_permitted(address, allowed, plain=True)
    if place.plain and not named:
        return "must begin with https://, as http is only for addresses in a network that is allowed"
    return None


def _host(name: str) -> str:
    """A host as a URL has it."""
    shown = f"[{name}]" if ":" in name else name
    try:
        host(shown)
    except ValueError:
        raise ValueError("must have a host: a name or an IP address, IPv6 in brackets") from None
    # A certificate is never for a name with the dot of the root at its end.
    if name.endswith(".") or max(map(len, name.split("."))) > _LABEL_MAX:
        raise ValueError(
            "must have a host with no dot at its end, and 63 characters at most between two dots"
        )
    return shown
