"""Read the settings from the environment: find every problem, then complain once."""

import difflib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeVar
from urllib.parse import urlsplit

from placet.domain.limits import ASCENDING_LIMITS, Limits
from placet.settings import catalogue
from placet.settings.model import (
    DEFAULT_METRICS_PORT,
    DEFAULT_PORT,
    LOOPBACK,
    Durability,
    Environment,
    KeySettings,
    LogSettings,
    MetricsSettings,
    RuleSettings,
    ServerSettings,
    Settings,
    StoreSettings,
    WebhookSettings,
)
from placet.settings.parsing import is_loopback
from placet.settings.variable import Variable

_T = TypeVar("_T")

_PREFIX: Final = "PLACET_"
# Variables of the test suite, which the service neither reads nor may stumble over.
_TESTS_PREFIX: Final = "PLACET_TEST_"
_PORT_MAX: Final = 65_535
_SHOWN_MAX_CHARS: Final = 60
_NO_OVERRIDES: Final[Mapping[str, str | None]] = MappingProxyType({})


class SettingsError(Exception):
    """The settings can't be used; every problem is named, so that one round of mending is enough.

    Attributes:
        problems: sentences that begin with the variable's name and say what to do; no secret is repeated.
    """

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


def load(environ: Mapping[str, str], overrides: Mapping[str, str | None] = _NO_OVERRIDES) -> Settings:
    """Read the settings. No file is opened and nothing but the arguments is looked at.

    Args:
        environ: the process's environment. Names without the prefix are ignored, but for HOME and
            XDG_STATE_HOME where the data directory is not set.
        overrides: what the command line says, by variable name; it wins, and None stands for not said.

    Raises:
        SettingsError: a variable is unknown, empty or malformed, or the settings contradict each other.
    """
    given = {
        name: text
        for name, text in environ.items()
        if name.startswith(_PREFIX) and not name.startswith(_TESTS_PREFIX)
    }
    given.update({name: text for name, text in overrides.items() if text is not None})
    reader = _Reader(given)
    server = _server(reader)
    store = _store(reader, environ)
    settings = Settings(
        server=server,
        store=store,
        keys=KeySettings(keyring_file=reader.read(catalogue.KEYRING_FILE)),
        rules=RuleSettings(
            policy_file=reader.read(catalogue.POLICY_FILE),
            directory_file=reader.read(catalogue.DIRECTORY_FILE),
        ),
        webhooks=WebhookSettings(allow=reader.read(catalogue.WEBHOOK_ALLOW)),
        metrics=_metrics(reader, server.port),
        logs=LogSettings(level=reader.read(catalogue.LOG_LEVEL), format=reader.read(catalogue.LOG_FORMAT)),
        limits=_limits(reader),
    )
    if reader.has(catalogue.REDIS_URL) and not reader.has(catalogue.KEYRING_FILE):
        reader.problem(
            catalogue.KEYRING_FILE, "is required with PLACET_REDIS_URL: all replicas sign with one keyring"
        )
    if not reader.has(catalogue.PUBLIC_URL) and _may_have_replicas(server, store):
        reader.problem(
            catalogue.PUBLIC_URL,
            "is required with PLACET_REDIS_URL: all replicas issue tokens under one name (where the service "
            "listens on loopback and the store is on the same machine, it may be left out)",
        )
    if reader.problems:
        raise SettingsError(tuple(reader.problems))
    return settings


class _Reader:
    """Reads variables and collects what is wrong with them."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self._given = given
        self.problems = _unknown_names(given)

    def has(self, variable: Variable[_T]) -> bool:
        return variable.doc.name in self._given

    def problem(self, variable: Variable[_T], sentence: str) -> None:
        self.problems.append(f"{variable.doc.name} {sentence}")

    def read(self, variable: Variable[_T]) -> _T:
        """Return the value that was given; the default where none was, or where it is a problem."""
        if not self.has(variable):
            return variable.default
        text = self._given[variable.doc.name].strip()
        try:
            return variable.parse(_plain(text))
        except ValueError as error:
            self.problem(variable, f"{error}{self._shown(variable, text)}")
            return variable.default

    @staticmethod
    def _shown(variable: Variable[_T], text: str) -> str:
        if variable.doc.secret or not text:
            return ""
        hint = ""
        if text.startswith("tcp://"):
            hint = " (a Kubernetes service link: set enableServiceLinks: false in the pod)"
        return f", not {text[:_SHOWN_MAX_CHARS]!r}{hint}"


def _plain(text: str) -> str:
    if not text:
        # Taking it as unset would, say, quietly start an empty embedded store in production.
        raise ValueError("is set but empty: give it a value or remove it")
    if not text.isprintable():
        raise ValueError("must not contain control characters")
    return text


def _unknown_names(given: Mapping[str, str]) -> list[str]:
    known = [doc.name for doc in catalogue.describe()]
    problems = []
    for name in sorted(given.keys() - set(known)):
        close = difflib.get_close_matches(name, known, n=1, cutoff=0.75)
        problems.append(f"{name} is no setting of Placet{f'; did you mean {close[0]}?' if close else ''}")
    return problems


def _server(reader: _Reader) -> ServerSettings:
    host = reader.read(catalogue.HOST)
    port = reader.read(catalogue.PORT)
    cert = reader.read(catalogue.TLS_CERT_FILE)
    key = reader.read(catalogue.TLS_KEY_FILE)
    proxies = reader.read(catalogue.TRUSTED_PROXIES)
    local = is_loopback(host)
    if cert is None and key is not None:
        reader.problem(catalogue.TLS_CERT_FILE, "is required with PLACET_TLS_KEY_FILE")
    elif cert is not None and key is None:
        reader.problem(catalogue.TLS_KEY_FILE, "is required with PLACET_TLS_CERT_FILE")
    elif not (local or cert or reader.has(catalogue.TRUSTED_PROXIES)):
        reader.problem(
            catalogue.HOST,
            "can be reached by others: set PLACET_TLS_CERT_FILE and PLACET_TLS_KEY_FILE, or name the proxy "
            "that ends TLS in PLACET_TRUSTED_PROXIES",
        )
    environment = reader.read(catalogue.ENVIRONMENT)
    if environment is None:
        environment = Environment.DEVELOPMENT if local else Environment.PRODUCTION
    public_url = reader.read(catalogue.PUBLIC_URL)
    if public_url is None:
        public_url = f"{'http' if cert is None else 'https'}://{LOOPBACK}:{port}"
    elif environment is Environment.PRODUCTION and not _is_https_or_loopback(public_url):
        reader.problem(catalogue.PUBLIC_URL, "must be https in production unless its host is loopback")
    return ServerSettings(
        host=host,
        port=port,
        public_url=public_url,
        environment=environment,
        tls_cert_file=cert,
        tls_key_file=key,
        trusted_proxies=proxies,
        allowed_hosts=reader.read(catalogue.ALLOWED_HOSTS),
        shutdown_grace_ms=reader.read(catalogue.SHUTDOWN_GRACE_MS),
    )


def _is_https_or_loopback(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "https" or is_loopback(parts.hostname or "")


def _store(reader: _Reader, environ: Mapping[str, str]) -> StoreSettings:
    redis_url = reader.read(catalogue.REDIS_URL)
    external = reader.has(catalogue.REDIS_URL)
    durability = reader.read(catalogue.DURABILITY)
    if durability is None:
        durability = Durability.BEST_EFFORT if external else Durability.FSYNC
    elif durability is Durability.REPLICATED and not external:
        reader.problem(catalogue.DURABILITY, "replicated needs PLACET_REDIS_URL: the embedded store is alone")
    replicas = reader.read(catalogue.DURABILITY_REPLICAS)
    if replicas is not None and durability is not Durability.REPLICATED:
        reader.problem(catalogue.DURABILITY_REPLICAS, "needs PLACET_DURABILITY=replicated")
    return StoreSettings(
        data_dir=_data_dir(reader, environ),
        redis_url=redis_url,
        durability=durability,
        durability_replicas=replicas or 1,
        connect_timeout_ms=reader.read(catalogue.CONNECT_TIMEOUT_MS),
        call_timeout_ms=reader.read(catalogue.CALL_TIMEOUT_MS),
        confirm_timeout_ms=reader.read(catalogue.CONFIRM_TIMEOUT_MS),
    )


def _may_have_replicas(server: ServerSettings, store: StoreSettings) -> bool:
    """Whether the store may be shared: it or the service is for more than this machine."""
    if store.redis_url is None:
        return False
    parts = urlsplit(store.redis_url.reveal())
    store_is_here = parts.scheme == "unix" or is_loopback(parts.hostname or "")
    return not (store_is_here and is_loopback(server.host))


def _data_dir(reader: _Reader, environ: Mapping[str, str]) -> Path:
    """Find the directory: the one set, else the user's state directory (XDG Base Directory 0.8)."""
    home = environ.get("HOME", "")
    chosen = reader.read(catalogue.DATA_DIR)
    if chosen is not None:
        at_home = home and chosen.parts[:1] == ("~",)  # no shell has read an environment file
        return Path(home, *chosen.parts[1:]) if at_home else chosen
    state = environ.get("XDG_STATE_HOME", "")
    if Path(
        state
    ).is_absolute():  # "If an implementation encounters a relative path … it should … ignore it."
        return Path(state) / "placet"
    if not home and not reader.has(catalogue.DATA_DIR):
        reader.problem(catalogue.DATA_DIR, "is required where HOME is not set: give a directory")
    return Path(home) / ".local" / "state" / "placet"


def _metrics(reader: _Reader, port: int) -> MetricsSettings:
    bind = reader.read(catalogue.METRICS_BIND)
    if bind is not None:
        return MetricsSettings(host=bind[0], port=bind[1], chosen=True)
    beside = port + DEFAULT_METRICS_PORT - DEFAULT_PORT
    return MetricsSettings(port=beside if port and beside <= _PORT_MAX else 0)


def _limits(reader: _Reader) -> Limits:
    problems_before = len(reader.problems)
    values = {name: reader.read(variable) for name, variable in catalogue.LIMITS.items()}
    if len(reader.problems) > problems_before:
        return Limits()  # a default in place of a malformed value could contradict what is right
    contradictions = [(low, high) for low, high in ASCENDING_LIMITS if values[low] > values[high]]
    for low, high in contradictions:
        reader.problem(catalogue.LIMITS[low], f"must not be greater than {catalogue.LIMITS[high].doc.name}")
    return Limits() if contradictions else Limits(**values)
