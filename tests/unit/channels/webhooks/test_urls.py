"""URLs of endpoints: what is wrong with one, and where one leads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.channels.webhooks.addresses import networks_of
from placet.channels.webhooks.urls import fault_of, place_of

INSIDE = networks_of(["10.1.0.0/16", "::1"])


@pytest.mark.parametrize(
    ("url", "host", "port", "target", "authority"),
    [
        ("https://hooks.example", "hooks.example", 443, "/", "hooks.example"),
        ("HTTPS://Hooks.Example:8443/A?b=C&d", "hooks.example", 8443, "/A?b=C&d", "hooks.example:8443"),
        ("https://hooks.example:443/", "hooks.example", 443, "/", "hooks.example:443"),
        ("https://hooks.example?b", "hooks.example", 443, "/?b", "hooks.example"),
        ("https://hooks.example//a;b/../c%20d@e", "hooks.example", 443, "//a;b/../c%20d@e", "hooks.example"),
        ("https://8.8.8.8/x", "8.8.8.8", 443, "/x", "8.8.8.8"),
        ("https://[2600::1]:1/x", "2600::1", 1, "/x", "[2600::1]:1"),
        ("https://xn--bcher-kva.example/", "xn--bcher-kva.example", 443, "/", "xn--bcher-kva.example"),
        ("https://a_b.example/", "a_b.example", 443, "/", "a_b.example"),
    ],
)
def test_where_one_leads(url: str, host: str, port: int, target: str, authority: str) -> None:
    """Path and query as they stand, host in lower case."""
    place = place_of(url)
    assert (place.host, place.port, place.target, place.authority) == (host, port, target, authority)
    assert (place.scheme, place.plain) == ("https", False)
    assert fault_of(url, allowed=()) is None


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("", "must have 2048 characters at most, all visible"),
        ("https://hooks.example/" + "a" * 2_048, "must have 2048 characters at most"),
        ("https://hooks.example/a b", "all visible"),
        (" https://hooks.example/", "all visible"),
        ("https://hooks.example/\n", "all visible"),
        ("https://hooks.ex\tample/", "all visible"),
        ("https://b\xfccher.example/", "write other letters of a name as xn--"),
        ("https://hooks.example\\@inside.example/", "all visible"),
        ("hooks.example", "must begin with https://"),
        ("//hooks.example/", "must begin with https://"),
        ("https:hooks.example", "must begin with https://"),
        ("https:/hooks.example", "must begin with https://"),
        ("ftp://hooks.example/", "must begin with https://"),
        ("file:///etc/passwd", "must begin with https://"),
        ("https://me@hooks.example/", "must not have a user or a password"),
        ("https://me:pw@hooks.example/", "must not have a user or a password"),
        ("https://@hooks.example/", "must not have a user or a password"),
        ("https://hooks.example/#x", "must not have a fragment"),
        ("https://hooks.example/#", "must not have a fragment"),
        ("https://", "must have a host"),
        ("https:///x", "must have a host"),
        ("https://:443/", "must have a host"),
        ("https://%31/", "must have a host"),
        ("https://a,b/", "must have a host"),
        ("https://127.1/", "must have a host"),
        ("https://2130706433/", "must have a host"),
        ("https://[::1/", "must have a host"),
        ("https://[v1.x]/", "nothing else before the path"),
        ("https://hooks.example./", "must have a host with no dot at its end"),
        ("https://" + "a" * 64 + ".example/", "63 characters at most"),
        ("https://hooks.example:/", "perhaps a port from 1 to 65535"),
        ("https://hooks.example:0/", "perhaps a port from 1 to 65535"),
        ("https://hooks.example:065/", "perhaps a port from 1 to 65535"),
        ("https://hooks.example:65536/", "perhaps a port from 1 to 65535"),
        ("https://hooks.example:x/", "perhaps a port from 1 to 65535"),
        ("https://x[2600::1]y/", "perhaps a port from 1 to 65535"),
    ],
)
def test_what_is_no_endpoint(url: str, said: str) -> None:
    """And what to do about it, where that is not plain."""
    assert said in (fault_of(url, allowed=INSIDE) or "")
    with pytest.raises(ValueError, match=r"^must "):
        place_of(url)


FORBIDDEN = "must not lead to an address that is neither public nor in a network that is allowed"
PLAIN = "must begin with https://, as http is only for addresses in a network that is allowed"


@pytest.mark.parametrize(
    ("url", "alone", "with_a_list"),
    [
        ("https://10.1.2.3/", FORBIDDEN, None),
        ("https://10.2.2.3/", FORBIDDEN, FORBIDDEN),
        ("https://[::1]/", FORBIDDEN, None),
        ("https://[::ffff:10.1.2.3]/", FORBIDDEN, FORBIDDEN),
        ("https://[fe80::1%1]/", FORBIDDEN, FORBIDDEN),
        ("https://169.254.169.254/", FORBIDDEN, FORBIDDEN),
        ("http://10.1.2.3:8080/", FORBIDDEN, None),
        ("http://8.8.8.8/", PLAIN, PLAIN),
        ("http://hooks.example/", PLAIN, None),
        ("http://localhost/", PLAIN, None),
        ("https://localhost/", None, None),
    ],
)
def test_where_one_may_lead(url: str, alone: str | None, with_a_list: str | None) -> None:
    """An address is judged here, a name when something is sent."""
    assert fault_of(url, allowed=()) == alone
    assert fault_of(url, allowed=INSIDE) == with_a_list


@given(
    st.text(st.sampled_from("htps:/@#?[]\\.%10aA-_ \t\xe9"), max_size=30).map("https://a".__add__) | st.text()
)
def test_any_text_is_an_endpoint_or_has_a_fault(url: str) -> None:
    """Nothing else is raised, and one that is none has no user, no fragment and a host of ASCII."""
    if fault_of(url, allowed=()) is None:
        place = place_of(url)
        assert place.host
        assert (place.authority + place.target).isascii()
        assert not set("@\\#% \t") & set(place.authority)
