"""Which addresses a webhook may be sent to: a URL that somebody typed must not reach what only we can reach.

1. Public addresses, and what an operator's list of networks names. What is public is said by the registries
   of IANA (https://www.iana.org/assignments/iana-ipv4-special-registry, and the same for IPv6), not by
   ``is_global``, which is another thing in each version of Python.
2. An address that carries an IPv4 address inside leads to that one, past whoever looks at the outside alone.
   It is refused unless it is named, and what is inside is public or named as well.
3. What tells a machine its own credentials is only permitted where its address is named by itself: a wide
   network that it happens to be in does not name it.
4. All addresses of an answer are judged, and one that is not permitted spoils it: a name that leads inside by
   turns is no name of a receiver. The connection then goes to one that was judged; nobody is asked again.
5. Plain http only to what is named: over the open network anybody could read it.
"""

import ipaddress
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Final

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
Networks = tuple[Network, ...]

_INSIDE_V4: Final = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",  # this network
            "10.0.0.0/8",  # private
            "100.64.0.0/10",  # shared by a carrier's customers
            "127.0.0.0/8",  # this machine
            "169.254.0.0/16",  # link-local
            "172.16.0.0/12",  # private
            "192.0.0.0/24",  # protocol assignments
            "192.0.2.0/24",  # documentation
            "192.88.99.0/24",  # 6to4 relays, which are no more
            "192.168.0.0/16",  # private
            "198.18.0.0/15",  # benchmarks
            "198.51.100.0/24",  # documentation
            "203.0.113.0/24",  # documentation
            "224.0.0.0/3",  # multicast, reserved, broadcast
        ),
    )
)
_GLOBAL_V6: Final = IPv6Network("2000::/3")
"""All that is global and for one receiver; what is not in it is refused, known or unknown."""
_INSIDE_V6: Final = tuple(
    map(
        IPv6Network,
        (
            "2001::/23",  # protocol assignments, Teredo among them
            "2001:db8::/32",  # documentation
            "2002::/16",  # 6to4
            "3fff::/20",  # documentation
        ),
    )
)
_CREDENTIALS: Final = frozenset(
    map(
        ipaddress.ip_address,
        (
            "169.254.169.254",  # nearly every cloud
            "169.254.170.2",  # a task of Amazon's ECS
            "169.254.170.23",  # a pod of Amazon's EKS
            "fd00:ec2::254",  # Amazon
            "fd00:ec2::23",  # a pod of Amazon's EKS
            "fd20:ce::254",  # Google
            "100.100.100.200",  # Alibaba
            "192.0.0.192",  # Oracle
            "168.63.129.16",  # Azure, within a public block
        ),
    )
)
_CARRIERS: Final = tuple(
    (IPv6Network(network), shift)
    for network, shift in (
        ("::/96", 0),  # IPv4-compatible
        ("::ffff:0:0/96", 0),  # IPv4-mapped
        ("::ffff:0:0:0/96", 0),  # IPv4-translated (RFC 2765)
        ("64:ff9b::/96", 0),  # NAT64 (RFC 6052)
        ("2002::/16", 80),  # 6to4
    )
)
"""Networks whose addresses carry one of IPv4, and how many bits stand behind it."""


class AddressForbidden(Exception):  # noqa: N818 - reads as what happened
    """An address is neither public nor named, or plain http would go where nobody has named it."""


def networks_of(items: Iterable[str]) -> Networks:
    """The networks that an operator names: ``10.1.0.0/16``, or one address.

    Raises:
        ValueError: One is neither, or so wide that every address would be permitted; the message follows its
            name.
    """
    networks = []
    for item in items:
        try:
            network = ipaddress.ip_network(item)
        except ValueError:
            raise ValueError(f"must be IP addresses or networks (10.1.0.0/16), unlike {item!r}") from None
        if network.prefixlen == 0:
            raise ValueError("must not name every address there is: name the networks of the receivers")
        networks.append(network)
    return tuple(networks)


def is_public(address: Address) -> bool:
    """Whether it is a receiver's on the open network."""
    if address in _CREDENTIALS:
        return False
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _INSIDE_V4)
    return address in _GLOBAL_V6 and not any(address in network for network in _INSIDE_V6)


def is_named(address: Address, allowed: Networks) -> bool:
    """Whether the operator's list names it."""
    naming = [network for network in allowed if address in network]
    if address in _CREDENTIALS:
        return any(network.num_addresses == 1 for network in naming)
    return bool(naming)


def is_permitted(address: Address, allowed: Networks, *, plain: bool = False) -> bool:
    """Whether something may be sent there; ``plain`` over http."""
    if isinstance(address, IPv6Address) and address.scope_id is not None:
        return False
    named = is_named(address, allowed)
    carried = _carried(address)
    if carried:
        return named and all(is_permitted(inner, allowed, plain=plain) for inner in carried)
    return named or (not plain and is_public(address))


def judged(answer: Iterable[str], allowed: Networks, *, plain: bool) -> tuple[str, ...]:
    """The addresses to connect to, best first: of a resolver's answer the first of each family.

    A name whose IPv6 address leads nowhere is then still reached over IPv4.

    Args:
        answer: All that the resolver said, in its order.
        allowed: What the operator names.
        plain: Whether it is http.

    Raises:
        AddressForbidden: One of them is not permitted, or is no address.
    """
    first: dict[int, str] = {}
    for text in answer:
        try:
            address = ipaddress.ip_address(text)
        except ValueError:
            raise AddressForbidden from None
        if not is_permitted(address, allowed, plain=plain):
            raise AddressForbidden
        first.setdefault(address.version, text)
    return tuple(first.values())


def _carried(address: Address) -> tuple[IPv4Address, ...]:
    """The IPv4 addresses inside."""
    if isinstance(address, IPv4Address) or int(address) <= 1:  # :: and ::1 are themselves
        return ()
    if address.teredo is not None:
        return address.teredo
    return tuple(
        IPv4Address(int(address) >> shift & 0xFFFF_FFFF) for network, shift in _CARRIERS if address in network
    )
