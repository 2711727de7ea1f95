"""The settings as values: one frozen Struct per concern, durations in `_ms`, sizes in `_bytes`."""

from enum import StrEnum
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct, structs

from placet.domain.limits import Limits
from placet.settings.parsing import is_wildcard_address
from placet.settings.secret import Secret

DEFAULT_PORT = 8420
DEFAULT_METRICS_PORT = 9420
LOOPBACK = "127.0.0.1"


class Environment(StrEnum):
    """What the service runs for. Production hides the API reference page and wants https to the outside."""

    DEVELOPMENT = "development"
    PRODUCTION = "production"


class Durability(StrEnum):
    """What a 2xx that asserts a state has waited for (design §8)."""

    BEST_EFFORT = "best-effort"
    FSYNC = "fsync"
    REPLICATED = "replicated"


class LogLevel(StrEnum):
    """The least severe line that is written."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class LogFormat(StrEnum):
    """How a line is written; auto is console on a terminal and JSON elsewhere."""

    AUTO = "auto"
    CONSOLE = "console"
    JSON = "json"


class ServerSettings(Struct, frozen=True, kw_only=True):
    """Where the API listens and how it is reached.

    Attributes:
        host: address or name to listen on, IPv6 without brackets.
        port: TCP port; 0 takes a free one (`Settings.bound_to` then says which).
        public_url: scheme, host and port under which others reach it, and the issuer of tokens.
        environment: development or production.
        tls_cert_file: PEM chain, given together with `tls_key_file`.
        tls_key_file: PEM key.
        trusted_proxies: addresses and networks whose forwarding headers are believed.
        allowed_hosts: names accepted in `Host` besides the obvious ones, ``*.`` for any subdomain.
        shutdown_grace_ms: how long open requests may take to end when the service stops.
    """

    host: str = LOOPBACK
    port: int = DEFAULT_PORT
    public_url: str = f"http://{LOOPBACK}:{DEFAULT_PORT}"
    environment: Environment = Environment.DEVELOPMENT
    tls_cert_file: Path | None = None
    tls_key_file: Path | None = None
    trusted_proxies: tuple[str, ...] = ()
    allowed_hosts: tuple[str, ...] = ()
    shutdown_grace_ms: int = 10_000

    @property
    def accepted_hosts(self) -> frozenset[str]:
        """Every name that a `Host` header may carry: lower case, no port, IPv6 without brackets."""
        own = {self.host.lower()} if not is_wildcard_address(self.host) else set()
        public = urlsplit(self.public_url).hostname or ""
        return frozenset({LOOPBACK, "::1", "localhost", public, *own, *self.allowed_hosts})


class StoreSettings(Struct, frozen=True, kw_only=True):
    """Where approvals are kept.

    Attributes:
        data_dir: directory of the embedded store and its keys.
        redis_url: an external Valkey or Redis; None runs the embedded one.
        durability: what an acknowledged answer has waited for.
        durability_replicas: replicas that must have it, where `durability` is replicated.
        connect_timeout_ms: longest wait for a connection.
        call_timeout_ms: longest wait for the reply of a script.
        confirm_timeout_ms: longest wait for the confirmation of durability.
    """

    data_dir: Path
    redis_url: Secret | None = None
    durability: Durability = Durability.FSYNC
    durability_replicas: int = 1
    connect_timeout_ms: int = 2_000
    call_timeout_ms: int = 2_000
    confirm_timeout_ms: int = 1_000

    @property
    def embedded(self) -> bool:
        """Whether the service runs its own store."""
        return self.redis_url is None


class KeySettings(Struct, frozen=True, kw_only=True):
    """Where the signing keys come from; None: the embedded mode makes and keeps them in its directory."""

    keyring_file: Path | None = None


class RuleSettings(Struct, frozen=True, kw_only=True):
    """Where the operator's rules are.

    Attributes:
        policy_file: who may decide what; None: any approver of the tenant, one is enough.
        directory_file: who people are; None: each is who their credential says.
    """

    policy_file: Path | None = None
    directory_file: Path | None = None


class WebhookSettings(Struct, frozen=True, kw_only=True):
    """Where webhook endpoints may be.

    Attributes:
        allow: networks besides public addresses; plain http goes to these alone.
    """

    allow: tuple[str, ...] = ()


class MetricsSettings(Struct, frozen=True, kw_only=True):
    """Where `/metrics` listens.

    Attributes:
        host: address or name, IPv6 without brackets.
        port: TCP port; 0 takes a free one.
        chosen: whether the operator chose it. A default port that is taken may give way to a free one.
    """

    host: str = LOOPBACK
    port: int = DEFAULT_METRICS_PORT
    chosen: bool = False


class LogSettings(Struct, frozen=True, kw_only=True):
    """What is logged, and how."""

    level: LogLevel = LogLevel.INFO
    format: LogFormat = LogFormat.AUTO


class Settings(Struct, frozen=True, kw_only=True):
    """Everything an operator can set."""

    store: StoreSettings
    server: ServerSettings = ServerSettings()
    keys: KeySettings = KeySettings()
    rules: RuleSettings = RuleSettings()
    webhooks: WebhookSettings = WebhookSettings()
    metrics: MetricsSettings = MetricsSettings()
    logs: LogSettings = LogSettings()
    limits: Limits = Limits()

    def bound_to(self, port: int) -> "Settings":
        """Say which port 0 became: the settings with that port, in the default public URL too."""
        scheme, _, address = self.server.public_url.partition("://")
        unknown = address == f"{LOOPBACK}:0"
        public_url = f"{scheme}://{LOOPBACK}:{port}" if unknown else self.server.public_url
        return structs.replace(self, server=structs.replace(self.server, port=port, public_url=public_url))
