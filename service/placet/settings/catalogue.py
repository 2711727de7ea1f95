"""Every `PLACET_` variable, once: its name, kind, default, unit and meaning.

`placet.settings.loading` reads by this table; the README, `deploy/env.example` and `placet doctor` are made
from it through `describe`.
"""

from pathlib import Path
from typing import Final

from msgspec import structs

from placet.domain.limits import Limits
from placet.settings import parsing
from placet.settings.model import (
    DEFAULT_PORT,
    LOOPBACK,
    Durability,
    Environment,
    LogFormat,
    LogLevel,
    ServerSettings,
    StoreSettings,
)
from placet.settings.secret import Secret
from placet.settings.variable import SettingDoc, Variable, duration, limit, variable

HOST = variable(
    "HOST",
    "Server",
    parsing.host,
    LOOPBACK,
    "Address the API listens on. One that others can reach needs TLS or a declared proxy.",
    allowed="an IP address or a host name",
)
PORT = variable(
    "PORT",
    "Server",
    parsing.whole_number(0, 65_535),
    DEFAULT_PORT,
    "TCP port of the API; 0 takes a free one.",
    allowed="0 to 65535",
)
PUBLIC_URL: Variable[str | None] = variable(
    "PUBLIC_URL",
    "Server",
    parsing.public_url,
    None,
    "Where others reach the service, and the issuer (`iss`) of its tokens.",
    allowed="http(s)://host[:port]; https in production unless the host is loopback",
    rule="http://127.0.0.1:<port>, https with TLS; none with PLACET_REDIS_URL, unless all is on loopback",
)
ENVIRONMENT: Variable[Environment | None] = variable(
    "ENVIRONMENT",
    "Server",
    parsing.one_of(Environment),
    None,
    "Production hides the API reference page and wants an https public URL.",
    allowed=", ".join(Environment),
    rule="development on a loopback address, production on any other",
)
TLS_CERT_FILE: Variable[Path | None] = variable(
    "TLS_CERT_FILE",
    "Server",
    parsing.file_path,
    None,
    "Certificate chain for TLS; needs the key too.",
    allowed="a PEM file",
)
TLS_KEY_FILE: Variable[Path | None] = variable(
    "TLS_KEY_FILE",
    "Server",
    parsing.file_path,
    None,
    "Private key for TLS; needs the certificate too.",
    allowed="a PEM file",
)
TRUSTED_PROXIES: Variable[tuple[str, ...]] = variable(
    "TRUSTED_PROXIES",
    "Server",
    parsing.proxies,
    (),
    "Reverse proxies that end TLS: only their forwarding headers are believed.",
    allowed="IP addresses or networks, separated by commas",
)
ALLOWED_HOSTS: Variable[tuple[str, ...]] = variable(
    "ALLOWED_HOSTS",
    "Server",
    parsing.host_names,
    (),
    "Names accepted in `Host` besides the loopback ones, PLACET_HOST and the host of PLACET_PUBLIC_URL.",
    allowed="host names separated by commas, *.example.com for any below one",
)
SHUTDOWN_GRACE_MS = duration(
    "SHUTDOWN_GRACE_MS",
    "Server",
    ServerSettings().shutdown_grace_ms,
    "How long open requests may take to end when the service stops.",
)

DATA_DIR: Variable[Path | None] = variable(
    "DATA_DIR",
    "Store",
    parsing.file_path,
    None,
    "Directory of the embedded store and its keys; made with mode 0700, one service each.",
    allowed="a directory",
    rule="$XDG_STATE_HOME/placet, else ~/.local/state/placet",
)
REDIS_URL: Variable[Secret | None] = variable(
    "REDIS_URL",
    "Store",
    parsing.store_url,
    None,
    "An external Valkey or Redis (7 or newer) in place of the embedded one; needs PLACET_KEYRING_FILE.",
    allowed="redis://, rediss:// or unix://",
)
DURABILITY: Variable[Durability | None] = variable(
    "DURABILITY",
    "Store",
    parsing.one_of(Durability),
    None,
    "What an acknowledged answer has waited for: nothing, the disk, or replicas.",
    allowed=", ".join(Durability),
    rule="fsync with the embedded store, best-effort with PLACET_REDIS_URL",
)
DURABILITY_REPLICAS: Variable[int | None] = variable(
    "DURABILITY_REPLICAS",
    "Store",
    parsing.whole_number(1, 16),
    None,
    "Replicas that must confirm, where PLACET_DURABILITY is replicated.",
    allowed="1 to 16",
    rule="1",
    unit="replicas",
)
_STORE: Final = StoreSettings(data_dir=Path())
CONNECT_TIMEOUT_MS = duration(
    "STORE_CONNECT_TIMEOUT_MS",
    "Store",
    _STORE.connect_timeout_ms,
    "Longest wait for a connection to the store.",
)
CALL_TIMEOUT_MS = duration(
    "STORE_CALL_TIMEOUT_MS", "Store", _STORE.call_timeout_ms, "Longest wait for the reply of the store."
)
CONFIRM_TIMEOUT_MS = duration(
    "STORE_CONFIRM_TIMEOUT_MS",
    "Store",
    _STORE.confirm_timeout_ms,
    "Longest wait for the store's confirmation of durability.",
)

KEYRING_FILE: Variable[Path | None] = variable(
    "KEYRING_FILE",
    "Keys",
    parsing.file_path,
    None,
    "Keys that sign tokens and seal votes, the same on every replica.",
    allowed="a file made by `placet keys`",
    rule="kept in the data directory with the embedded store",
)
POLICY_FILE: Variable[Path | None] = variable(
    "POLICY_FILE",
    "Rules",
    parsing.file_path,
    None,
    "Who may decide what, and how; the same on every replica. Taken up at the start and on SIGHUP.",
    allowed="a TOML file; `placet policy check` finds its faults",
    rule="any approver of the tenant decides, one is enough",
)
DIRECTORY_FILE: Variable[Path | None] = variable(
    "DIRECTORY_FILE",
    "Rules",
    parsing.file_path,
    None,
    "Who people are, by whichever way they come in; the same on every replica. Taken up likewise.",
    allowed="a TOML file; `placet policy check` finds its faults",
    rule="each is who their credential says",
)
WEBHOOK_ALLOW: Variable[tuple[str, ...]] = variable(
    "WEBHOOK_ALLOW",
    "Webhooks",
    parsing.networks,
    (),
    "Where webhook endpoints may be besides public addresses; plain http goes to these alone. An address "
    "that hands out a machine's own credentials has to be named by itself.",
    allowed="IP addresses or networks, separated by commas",
)
METRICS_BIND: Variable[tuple[str, int] | None] = variable(
    "METRICS_BIND",
    "Metrics",
    parsing.host_and_port,
    None,
    "Where /metrics listens, apart from the API; port 0 takes a free one.",
    allowed="HOST:PORT",
    rule="127.0.0.1 and the API's port + 1000, a free one where that is taken",
)
LOG_LEVEL = variable(
    "LOG_LEVEL",
    "Logs",
    parsing.one_of(LogLevel),
    LogLevel.INFO,
    "The least severe line that is written.",
    allowed=", ".join(LogLevel),
)
LOG_FORMAT = variable(
    "LOG_FORMAT",
    "Logs",
    parsing.one_of(LogFormat),
    LogFormat.AUTO,
    "How lines are written; auto is console on a terminal and JSON elsewhere.",
    allowed=", ".join(LogFormat),
)


LIMITS: Final = {field.name: limit(field.name) for field in structs.fields(Limits)}
"""The variable of each field of `Limits`."""

_COMMAND_LINE: Final = (
    SettingDoc(
        name="PLACET_URL",
        group="Command line",
        meaning="The service that `placet approvals` talks to. The service itself does not read it.",
        allowed="http(s)://host[:port]",
        default=f"http://{LOOPBACK}:{DEFAULT_PORT}",
    ),
    SettingDoc(
        name="PLACET_TOKEN",
        group="Command line",
        meaning="The credential that `placet approvals` presents. The service itself does not read it.",
        allowed="a credential that begins with plc_",
        secret=True,
    ),
)

_SERVICE: Final[tuple[SettingDoc, ...]] = (
    HOST.doc, PORT.doc, PUBLIC_URL.doc, ENVIRONMENT.doc, TLS_CERT_FILE.doc, TLS_KEY_FILE.doc,
    TRUSTED_PROXIES.doc, ALLOWED_HOSTS.doc, SHUTDOWN_GRACE_MS.doc, DATA_DIR.doc, REDIS_URL.doc,
    DURABILITY.doc, DURABILITY_REPLICAS.doc, CONNECT_TIMEOUT_MS.doc, CALL_TIMEOUT_MS.doc,
    CONFIRM_TIMEOUT_MS.doc, KEYRING_FILE.doc, POLICY_FILE.doc, DIRECTORY_FILE.doc, WEBHOOK_ALLOW.doc,
    METRICS_BIND.doc, LOG_LEVEL.doc, LOG_FORMAT.doc,
)  # fmt: skip


def describe() -> list[SettingDoc]:
    """List every variable Placet knows, in the order and groups in which people should read them."""
    return [*_SERVICE, *(variable.doc for variable in LIMITS.values()), *_COMMAND_LINE]
