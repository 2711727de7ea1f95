"""Which addresses a webhook may be sent to."""

import ipaddress
from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.channels.webhooks.addresses import (
    AddressForbidden,
    is_permitted,
    is_public,
    judged,
    networks_of,
)

PUBLIC = "93.184.215.14"
PUBLIC_V6 = "2606:2800:21f:cb07:6820:80da:af6b:8b2c"

v4 = st.ip_addresses(v=4).map(lambda address: IPv4Address(int(address)))
v6 = st.ip_addresses(v=6).map(lambda address: IPv6Address(int(address)))
# Hypothesis likes the special networks; these are of the global one.
global_v6 = st.integers(0x2000 << 112, (0x4000 << 112) - 1).map(IPv6Address)


def carriers(inner: IPv4Address) -> list[IPv6Address]:
    """Every way to write an IPv4 address into one of IPv6 that leads there."""
    number = int(inner)
    flipped = number ^ 0xFFFF_FFFF
    return [
        IPv6Address(f"::ffff:{inner}"),
        IPv6Address(f"::ffff:0:{inner}"),
        IPv6Address(f"64:ff9b::{inner}"),
        IPv6Address(0x2002 << 112 | number << 80 | 1),
        IPv6Address((0x2001 << 112) | (int(IPv4Address(PUBLIC)) << 64) | flipped),
        IPv6Address((0x2001 << 112) | (number << 64) | (int(IPv4Address(PUBLIC)) ^ 0xFFFF_FFFF)),
    ]


CREDENTIALS = (
    *("169.254.169.254", "169.254.170.2", "169.254.170.23", "100.100.100.200", "192.0.0.192"),
    "168.63.129.16",
)
NAMING_CARRIERS = ("::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96", "2002::/16", "2001::/32")


@pytest.mark.parametrize(
    "text",
    [
        *(PUBLIC, PUBLIC_V6, "8.8.8.8", "1.1.1.1", "100.63.255.255", "100.128.0.0", "172.15.255.255"),
        *("172.32.0.0", "11.0.0.0", "128.0.0.1", "169.253.255.255", "192.0.1.0", "198.17.255.255"),
        *(
            "223.255.255.255",
            "168.63.129.15",
            "2001:200::1",
            "2600::",
            "2a00:1450::200e",
            "2003::1",
            "3ffe::1",
        ),
    ],
)
def test_public_addresses_are_permitted(text: str) -> None:
    """Up to the very edge of what is not."""
    assert is_public(ipaddress.ip_address(text))
    assert judged([text], (), plain=False) == (text,)


@pytest.mark.parametrize(
    "text",
    [
        *("0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1"),
        *("127.255.255.254", "169.254.0.1", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.2.1"),
        *("192.88.99.1", "192.168.0.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1"),
        *("224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255"),
        *(
            "::",
            "::1",
            "::2",
            "100::1",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "fc00::1",
            "fd12:3456::1",
            "ff02::1",
        ),
        *("ff0e::1", "2001:db8::1", "3fff::1", "2001:2::1", "2001:10::1", "2001:20::1", "5f00::1", "4000::1"),
        *("64:ff9b:1::a00:1", "::7f00:1", "1fff::1"),
    ],
)
def test_others_are_refused(text: str) -> None:
    """This machine, the networks around it, what is for nobody or for many, documentation, the unknown."""
    assert not is_public(ipaddress.ip_address(text))
    with pytest.raises(AddressForbidden):
        judged([text], (), plain=False)


@pytest.mark.parametrize(
    ("text", "around"),
    [
        *((text, "169.254.0.0/16") for text in ("169.254.169.254", "169.254.170.2", "169.254.170.23")),
        *((text, "fc00::/7") for text in ("fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254")),
        ("100.100.100.200", "100.64.0.0/10"),
        ("192.0.0.192", "192.0.0.0/24"),
        ("168.63.129.16", "168.63.129.16/31"),
    ],
)
def test_what_tells_credentials_is_named_by_itself_or_not_at_all(text: str, around: str) -> None:
    """A network around it permits its neighbours."""
    address = ipaddress.ip_address(text)
    assert not is_permitted(address, ())
    assert not is_permitted(address, networks_of([around]))
    assert is_permitted(address + 1, networks_of([around]))
    assert is_permitted(address, networks_of([around, text]))


@given(v4 | v6 | global_v6)
def test_nothing_is_public_that_python_calls_private(address: IPv4Address | IPv6Address) -> None:
    """Ours is the narrower: `is_global` and not for many, by its list, which is another one."""
    if is_public(address):
        assert address.is_global
        assert not any([address.is_multicast, address.is_reserved, address.is_link_local])


@given(v4 | v6 | global_v6)
def test_without_a_list_exactly_the_public_ones(address: IPv4Address | IPv6Address) -> None:
    """And nothing over plain http."""
    assert is_permitted(address, ()) == is_public(address)
    assert not is_permitted(address, (), plain=True)


@given(v4)
def test_an_address_inside_another_is_refused(inner: IPv4Address) -> None:
    """Whatever it is, and whether or not it is named itself."""
    for address in carriers(inner):
        assert not is_permitted(address, ())
        assert not is_permitted(address, networks_of([str(inner)]))


@given(v4)
def test_a_named_carrier_is_judged_by_what_is_inside(inner: IPv4Address) -> None:
    """A network of translated addresses is no way around the rest."""
    for address in carriers(inner):
        assert is_permitted(address, networks_of(NAMING_CARRIERS)) == is_public(inner)
        assert is_permitted(address, networks_of([*NAMING_CARRIERS, str(inner)]))


@given(v4, st.integers(1, 31), st.data())
def test_a_named_network_permits_what_is_in_it(address: IPv4Address, bits: int, data: st.DataObject) -> None:
    """Over https and over http alike; what is outside stays as it was."""
    network = ipaddress.ip_network((int(address), bits), strict=False)
    inside = network[data.draw(st.integers(0, network.num_addresses - 1))]
    outside = IPv4Address(int(inside) ^ 1 << (32 - bits))
    allowed = networks_of([str(network)])
    for plain in (False, True):
        assert is_permitted(inside, allowed, plain=plain) == (str(inside) not in CREDENTIALS)
        assert is_permitted(outside, allowed, plain=plain) == (is_public(outside) and not plain)


def test_networks_of_the_other_family() -> None:
    """A network of IPv6 is named as one of IPv4 is."""
    allowed = networks_of(["fd00:1::/32", "10.0.0.0/8", "::1"])
    assert is_permitted(IPv6Address("fd00:1::7"), allowed)
    assert is_permitted(IPv6Address("::1"), allowed, plain=True)
    assert not is_permitted(IPv6Address("fd00:2::7"), allowed)


@pytest.mark.parametrize("text", ["fe80::1%eth0", f"{PUBLIC_V6}%1"])
def test_an_address_of_one_interface_is_refused(text: str) -> None:
    """Even where its network is named."""
    assert not is_permitted(ipaddress.ip_address(text), networks_of(["fe80::/10", "2606::/16"]))


class TestAnswers:
    """What is made of all that a resolver says."""

    def test_the_first_of_each_family(self) -> None:
        """In the order of the answer."""
        answer = ["8.8.8.8", PUBLIC_V6, PUBLIC, "2600::1"]
        assert judged(answer, (), plain=False) == ("8.8.8.8", PUBLIC_V6)

    @pytest.mark.parametrize("other", ["127.0.0.1", "10.0.0.1", "::1", "", "public", "1.2.3", "0x7f.0.0.1"])
    def test_one_that_is_not_permitted_spoils_it(self, other: str) -> None:
        """Wherever it stands."""
        for answer in ([PUBLIC, other], [other, PUBLIC], [PUBLIC, PUBLIC_V6, other]):
            with pytest.raises(AddressForbidden):
                judged(answer, (), plain=False)

    def test_plain_http_goes_to_named_addresses_alone(self) -> None:
        """All of them."""
        allowed = networks_of(["10.1.0.0/16"])
        assert judged(["10.1.2.3"], allowed, plain=True) == ("10.1.2.3",)
        with pytest.raises(AddressForbidden):
            judged(["10.1.2.3", PUBLIC], allowed, plain=True)

    def test_an_empty_one_leads_nowhere(self) -> None:
        """And is nothing that is forbidden."""
        assert judged([], (), plain=False) == ()


class TestLists:
    """What an operator may name."""

    @pytest.mark.parametrize("item", ["", "x", "10.0.0.1/8", "10.0.0.0/33", "localhost", "10.0.0.0-10.0.0.9"])
    def test_what_is_no_network(self, item: str) -> None:
        """A name is none, nor is a network with something behind its bits."""
        with pytest.raises(
            ValueError, match=r"^must be IP addresses or networks \(10\.1\.0\.0/16\), unlike "
        ):
            networks_of(["10.0.0.0/8", item])

    @pytest.mark.parametrize("item", ["0.0.0.0/0", "::/0"])
    def test_everything_is_no_list(self, item: str) -> None:
        """It would take the check away."""
        with pytest.raises(ValueError, match=r"^must not name every address there is"):
            networks_of([item])
