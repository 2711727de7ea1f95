"""Sockets, bound before anything else."""

import errno
import socket
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from placet.cli.exits import Exit, Stop
from placet.cli.listen import listen
from placet.settings import ServerSettings


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that somebody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as sock:
        yield int(sock.getsockname()[1])


def refused_with(fault: OSError, monkeypatch: pytest.MonkeyPatch, host: str = "127.0.0.1") -> Stop:
    """What is said where the system refuses."""

    def create_server(*_: Any, **__: Any) -> socket.socket:
        raise fault

    monkeypatch.setattr(socket, "create_server", create_server)
    with pytest.raises(Stop) as stopped:
        listen(ServerSettings(host=host, port=8420))
    return stopped.value


class TestListen:
    """Listening on a host and port."""

    def test_port_0_becomes_a_free_one(self) -> None:
        """It is known at once, and taken from then on."""
        [sock] = listen(ServerSettings(port=0))
        with closing(sock):
            port = sock.getsockname()[1]
            with pytest.raises(Stop, match=f"Port {port} of 127.0.0.1 is taken"):
                listen(ServerSettings(port=port))

    def test_all_addresses_of_a_name_get_one_port(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The free one that the first address got; what this machine lacks is passed over."""
        found = [(socket.AF_INET, 1, 6, "", (host, 0)) for host in ("127.0.0.1", "127.0.0.2", "192.0.2.1")]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [*found, found[0]])
        sockets = listen(ServerSettings(host="localhost", port=0))
        bound = [sock.getsockname() for sock in sockets]
        for sock in sockets:
            sock.close()
        assert [host for host, _ in bound] == ["127.0.0.1", "127.0.0.2"]
        assert len({port for _, port in bound}) == 1

    def test_a_taken_port_is_told_with_what_to_do(self, taken: int) -> None:
        """Before anything was started."""
        with pytest.raises(Stop, match="--port or PLACET_PORT; 0 takes a free one"):
            listen(ServerSettings(port=taken))

    def test_a_failure_leaves_no_socket_open(self, taken: int, monkeypatch: pytest.MonkeyPatch) -> None:
        """An address that could be taken is given back where another could not."""
        found = [(socket.AF_INET, 1, 6, "", (host, taken)) for host in ("127.0.0.2", "127.0.0.1")]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
        with pytest.raises(Stop):
            listen(ServerSettings(host="localhost", port=taken))
        socket.create_server(("127.0.0.2", taken)).close()

    def test_an_unknown_name_is_a_fault_of_usage(self) -> None:
        """A name that can't be (RFC 6761 §6.4)."""
        with pytest.raises(Stop, match="no address and no known name") as stopped:
            listen(ServerSettings(host="placet.invalid", port=0))
        assert stopped.value.status is Exit.USAGE

    def test_an_address_of_another_machine_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """None of the addresses is here."""
        fault = OSError(errno.EADDRNOTAVAIL, "not here")
        assert "has no address 192.0.2.1" in str(refused_with(fault, monkeypatch, "192.0.2.1"))

    @pytest.mark.parametrize(
        ("number", "said"), [(errno.EACCES, "from 1024 up"), (errno.ENOBUFS, "(full): choose other ones")]
    )
    def test_other_faults_are_told(self, number: int, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """With what can be done about each."""
        assert said in str(refused_with(OSError(number, "full"), monkeypatch))

    @pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="no IPv6 here")
    def test_the_ipv6_wildcard_takes_ipv4_too(self) -> None:
        """As people in containers expect."""
        [sock] = listen(ServerSettings(host="::", port=0))
        with closing(sock):
            socket.create_connection(("127.0.0.1", sock.getsockname()[1])).close()
