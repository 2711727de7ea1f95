"""From text to value, one function per kind of setting.

Each takes the text of a variable and returns its value, or raises `ValueError` with a sentence that follows
the variable's name: ``must be a whole number from 0 to 65535``.
"""

import ipaddress
import re
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Final, TypeVar
from urllib.parse import urlsplit

from placet.settings.secret import Secret

_Choice = TypeVar("_Choice", bound=StrEnum)

_PORT_MAX: Final = 65_535
# RFC 1123 §2.1 host names; an underscore is no host name but the names of containers have it.
_NAME: Final = re.compile(r"(?=.{1,253}\Z)[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_-]+)*\.?")
_DIGITS: Final = re.compile("[0-9]{1,18}")
_STORE_SCHEMES: Final = ("redis", "rediss", "unix")


def whole_number(low: int, high: int) -> Callable[[str], int]:
    """Make a parser of whole numbers from `low` to `high`: ASCII digits only, no sign, no underscores."""

    def parse(text: str) -> int:
        if _DIGITS.fullmatch(text) is None or not low <= int(text) <= high:
            raise ValueError(f"must be a whole number from {low} to {high}")
        return int(text)

    return parse


def one_of(choices: type[_Choice]) -> Callable[[str], _Choice]:
    """Make a parser of the words of an enumeration."""

    def parse(text: str) -> _Choice:
        if text not in set(choices):
            raise ValueError(f"must be one of {', '.join(choices)}")
        return choices(text)

    return parse


def file_path(text: str) -> Path:
    """Take a path as it is; whether it can be read is found out where it is opened."""
    return Path(text)


def host(text: str) -> str:
    """Take an IP address, with or without the brackets of a URL, or a host name.

    Raises:
        ValueError: it is neither.
    """
    bare = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    if _address(bare) is None and (_NAME.fullmatch(text) is None or text.replace(".", "").isdigit()):
        raise ValueError("must be an IP address or a host name")
    return bare


def host_and_port(text: str) -> tuple[str, int]:
    """Take ``HOST:PORT``, an IPv6 host in brackets.

    Raises:
        ValueError: the form, the host or the port is wrong.
    """
    name, colon, port = text.rpartition(":")
    if not colon or (":" in name and not name.startswith("[")):
        raise ValueError("must be HOST:PORT, an IPv6 host in brackets")
    try:
        return host(name), whole_number(0, _PORT_MAX)(port)
    except ValueError:
        raise ValueError(f"must be HOST:PORT with a port from 0 to {_PORT_MAX}") from None


def public_url(text: str) -> str:
    """Take ``http(s)://host[:port]`` and nothing more: tokens carry it as their issuer, byte for byte.

    Raises:
        ValueError: the URL has another scheme or another part, or no valid host or port.
    """
    form = "must be http:// or https:// with a host and perhaps a port, and nothing after it"
    try:
        parts = urlsplit(text)
        name, port = parts.hostname or "", parts.port
    except ValueError:
        raise ValueError(form) from None
    if parts.scheme not in {"http", "https"} or port == 0:
        raise ValueError(form)
    shown = f"[{name}]" if ":" in name else name
    if text != f"{parts.scheme}://{shown}{'' if port is None else f':{port}'}":
        raise ValueError(f"{form} (no path, no final slash, no user, lower case)")
    host(shown)
    return text


def store_url(text: str) -> Secret:
    """Take the URL of a Valkey or Redis. Its parts are never repeated: one of them may be a password.

    Raises:
        ValueError: it is no such URL.
    """
    form = "must be redis://, rediss:// or unix:// with a host or a socket path"
    try:
        parts = urlsplit(text)
        place = parts.path if parts.scheme == "unix" else parts.hostname
        port = parts.port
    except ValueError:
        raise ValueError(form) from None
    if parts.scheme not in _STORE_SCHEMES or not place or port == 0:
        raise ValueError(form)
    return Secret(text)


def proxies(text: str) -> tuple[str, ...]:
    """Take addresses and networks, separated by commas.

    Raises:
        ValueError: one is neither, or it is so wide that everybody would be trusted.
    """
    networks = []
    for item in _items(text):
        try:
            network = ipaddress.ip_network(item)
        except ValueError:
            raise ValueError("must be IP addresses or networks (10.0.0.0/8) separated by commas") from None
        if network.prefixlen == 0:
            raise ValueError("must not trust every address there is: name the proxies")
        networks.append(item)
    return tuple(networks)


def networks(text: str) -> tuple[str, ...]:
    """Take addresses and networks that may be called, separated by commas.

    Raises:
        ValueError: one is neither, or it is so wide that every address would be allowed.
    """
    for item in _items(text):
        try:
            network = ipaddress.ip_network(item)
        except ValueError:
            raise ValueError("must be IP addresses or networks (10.1.0.0/16) separated by commas") from None
        if network.prefixlen == 0:
            raise ValueError("must not allow every address there is: name the networks of the receivers")
    return tuple(_items(text))


def host_names(text: str) -> tuple[str, ...]:
    """Take host names separated by commas, ``*.example.com`` for any name below one; lower-cased.

    Raises:
        ValueError: one is no host name; ``*`` alone would switch the check off and is none either.
    """
    names = []
    for item in _items(text):
        try:
            names.append(host(item.removeprefix("*.")).lower())
        except ValueError:
            raise ValueError("must be host names, without ports, separated by commas") from None
        if item.startswith("*."):
            names[-1] = f"*.{names[-1]}"
    return tuple(names)


def is_loopback(name: str) -> bool:
    """Say whether a host as `host` returns it can be reached from this machine only."""
    address = _address(name)
    return name.lower() == "localhost" if address is None else address.is_loopback


def is_safe_url(text: str, *, query: bool = False) -> bool:
    """Say whether nobody on the way can change what is fetched from there: https, or http on loopback.

    Such an address has neither a user nor a fragment, and no query unless that is allowed.
    """
    try:
        parts = urlsplit(text)
        name, _ = parts.hostname or "", parts.port
    except ValueError:
        return False
    plain = text.isascii() and text.isprintable() and " " not in text
    bare = not parts.fragment and "@" not in parts.netloc and (query or not parts.query)
    kept = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(name))
    return plain and bare and name != "" and kept


def is_wildcard_address(name: str) -> bool:
    """Say whether a host as `host` returns it stands for every address of the machine."""
    address = _address(name)
    return address is not None and address.is_unspecified


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


def _items(text: str) -> list[str]:
    return [item.strip() for item in text.split(",")]
