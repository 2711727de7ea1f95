"""Sockets, bound before anything else is started: a taken port is told at once, and a free one is known."""

import errno
import socket
from typing import Final

from placet.cli.exits import Exit, Stop
from placet.settings import ServerSettings
from placet.settings.parsing import is_wildcard_address

_BACKLOG: Final = 2_048


def listen(server: ServerSettings) -> list[socket.socket]:
    """Listen on every address that the host stands for, all on one port.

    ``::`` takes IPv4 as well, where the system can.

    Raises:
        Stop: None of them can be listened on, or one is taken; the message says what to do.
    """
    sockets: list[socket.socket] = []
    port = server.port
    try:
        for family, address in _addresses(server.host, port):
            try:
                sock = _listening(family, (address[0], port, *address[2:]))
            except OSError as fault:
                if fault.errno != errno.EADDRNOTAVAIL:  # a name may stand for more than this machine has
                    raise
            else:
                sockets.append(sock)
                port = sock.getsockname()[1]
    except OSError as fault:
        for sock in sockets:
            sock.close()
        raise _refused(server.host, port, fault) from fault
    if not sockets:
        raise Stop(f"This machine has no address {server.host}: choose another --host.")
    return sockets


def _addresses(host: str, port: int) -> list[tuple[socket.AddressFamily, tuple[str, int]]]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    return list(dict.fromkeys((family, address) for family, _, _, _, address in found))  # type: ignore[misc]


def _listening(family: socket.AddressFamily, address: tuple[str | int, ...]) -> socket.socket:
    both = is_wildcard_address(str(address[0])) and family is socket.AF_INET6 and socket.has_dualstack_ipv6()
    return socket.create_server(address, family=family, backlog=_BACKLOG, dualstack_ipv6=both)


def _refused(host: str, port: int, fault: OSError) -> Stop:
    match fault.errno:
        case errno.EADDRINUSE:
            return Stop(
                f"Port {port} of {host} is taken, perhaps by another Placet. Stop what listens there, or "
                "choose another port with --port or PLACET_PORT; 0 takes a free one."
            )
        case errno.EACCES:
            return Stop(f"Port {port} may not be used by this user: choose one from 1024 up with --port.")
        case _ if isinstance(fault, socket.gaierror):
            return Stop(f"{host} is no address and no known name: choose another --host.", Exit.USAGE)
        case _:
            return Stop(f"Can't listen on {host} port {port} ({fault.strerror}): choose other ones.")
