"""Settings: read from the environment, every problem found at once, nothing opened by accident."""

import runpy
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.domain.limits import Limits
from placet.settings import (
    Durability,
    Environment,
    KeySettings,
    LogFormat,
    LogLevel,
    LogSettings,
    MetricsSettings,
    Secret,
    ServerSettings,
    Settings,
    SettingsError,
    StoreSettings,
    WebhookSettings,
    describe,
    load,
)
from placet.settings.example import env_example

_HOME = {"HOME": "/home/ann"}
_REACHABLE = (
    "PLACET_HOST can be reached by others: set PLACET_TLS_CERT_FILE and PLACET_TLS_KEY_FILE, or name the "
    "proxy that ends TLS in PLACET_TRUSTED_PROXIES"
)
_REPOSITORY = Path(__file__).parents[2]


def _problems(environ: dict[str, str]) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as caught:
        load(_HOME | environ)
    return caught.value.problems


def test_without_variables_everything_has_its_default() -> None:
    """A fresh machine needs no configuration: loopback, embedded, fsynced, development."""
    assert load(_HOME) == Settings(
        server=ServerSettings(
            host="127.0.0.1",
            port=8420,
            public_url="http://127.0.0.1:8420",
            environment=Environment.DEVELOPMENT,
            tls_cert_file=None,
            tls_key_file=None,
            trusted_proxies=(),
            allowed_hosts=(),
            shutdown_grace_ms=10_000,
        ),
        store=StoreSettings(
            data_dir=Path("/home/ann/.local/state/placet"),
            redis_url=None,
            durability=Durability.FSYNC,
            durability_replicas=1,
            connect_timeout_ms=2_000,
            call_timeout_ms=2_000,
            confirm_timeout_ms=1_000,
        ),
        keys=KeySettings(keyring_file=None),
        metrics=MetricsSettings(host="127.0.0.1", port=9420, chosen=False),
        logs=LogSettings(level=LogLevel.INFO, format=LogFormat.AUTO),
        limits=Limits(),
    )


def test_every_variable_is_read() -> None:
    """What is set arrives, typed, in its field."""
    settings = load(
        {
            "PLACET_HOST": "[2001:db8::1]",
            "PLACET_PORT": "443",
            "PLACET_PUBLIC_URL": "https://placet.example.com",
            "PLACET_ENVIRONMENT": "production",
            "PLACET_TLS_CERT_FILE": "/etc/placet/tls.crt",
            "PLACET_TLS_KEY_FILE": "/etc/placet/tls.key",
            "PLACET_TRUSTED_PROXIES": "10.0.0.0/8, 192.0.2.7",
            "PLACET_ALLOWED_HOSTS": "Placet.Internal, *.example.com",
            "PLACET_SHUTDOWN_GRACE_MS": "1",
            "PLACET_DATA_DIR": "/var/lib/placet",
            "PLACET_REDIS_URL": "rediss://:s3cret@store.example.com:6380/2",
            "PLACET_DURABILITY": "replicated",
            "PLACET_DURABILITY_REPLICAS": "2",
            "PLACET_STORE_CONNECT_TIMEOUT_MS": "3",
            "PLACET_STORE_CALL_TIMEOUT_MS": "4",
            "PLACET_STORE_CONFIRM_TIMEOUT_MS": "5",
            "PLACET_KEYRING_FILE": "/etc/placet/keyring.json",
            "PLACET_WEBHOOK_ALLOW": "10.1.0.0/16, fd00::7",
            "PLACET_METRICS_BIND": "0.0.0.0:9000",
            "PLACET_LOG_LEVEL": "debug",
            "PLACET_LOG_FORMAT": "json",
            "PLACET_PAGE_DEFAULT": "20",
        }
    )
    assert settings == Settings(
        server=ServerSettings(
            host="2001:db8::1",
            port=443,
            public_url="https://placet.example.com",
            environment=Environment.PRODUCTION,
            tls_cert_file=Path("/etc/placet/tls.crt"),
            tls_key_file=Path("/etc/placet/tls.key"),
            trusted_proxies=("10.0.0.0/8", "192.0.2.7"),
            allowed_hosts=("placet.internal", "*.example.com"),
            shutdown_grace_ms=1,
        ),
        store=StoreSettings(
            data_dir=Path("/var/lib/placet"),
            redis_url=Secret("rediss://:s3cret@store.example.com:6380/2"),
            durability=Durability.REPLICATED,
            durability_replicas=2,
            connect_timeout_ms=3,
            call_timeout_ms=4,
            confirm_timeout_ms=5,
        ),
        keys=KeySettings(keyring_file=Path("/etc/placet/keyring.json")),
        webhooks=WebhookSettings(allow=("10.1.0.0/16", "fd00::7")),
        metrics=MetricsSettings(host="0.0.0.0", port=9000, chosen=True),
        logs=LogSettings(level=LogLevel.DEBUG, format=LogFormat.JSON),
        limits=Limits(page_default=20),
    )


@pytest.mark.parametrize("field", msgspec.structs.fields(Limits), ids=lambda field: field.name)
def test_every_limit_is_a_setting(field: msgspec.structs.FieldInfo) -> None:
    """Each field of Limits can be set by its name in capitals."""
    limits = load(_HOME | {f"PLACET_{field.name.upper()}": str(field.default)}).limits
    assert limits == Limits()
    (problem,) = _problems({f"PLACET_{field.name.upper()}": "-1"})
    assert problem.startswith(f"PLACET_{field.name.upper()} must be a whole number from ")


def test_every_problem_is_found_at_once() -> None:
    """One round of mending is enough."""
    assert _problems(
        {
            "PLACET_PROT": "1",
            "PLACET_PORT": "65536",
            "PLACET_LOG_LEVEL": "loud",
            "PLACET_PAGE_MAX": "10",
            "PLACET_REDIS_URL": "http://user:hunter2@host",
            "PLACET_HOST": "0.0.0.0",
        }
    ) == (
        "PLACET_PROT is no setting of Placet; did you mean PLACET_PORT?",
        "PLACET_PORT must be a whole number from 0 to 65535, not '65536'",
        _REACHABLE,
        "PLACET_REDIS_URL must be redis://, rediss:// or unix:// with a host or a socket path",
        "PLACET_LOG_LEVEL must be one of debug, info, warning, error, not 'loud'",
        "PLACET_PAGE_DEFAULT must not be greater than PLACET_PAGE_MAX",
        "PLACET_KEYRING_FILE is required with PLACET_REDIS_URL: all replicas sign with one keyring",
    )


def test_the_error_prints_every_problem_on_its_line() -> None:
    """What a person reads on the terminal is the list itself."""
    error = SettingsError(("PLACET_A is wrong", "PLACET_B too"))
    assert str(error) == "PLACET_A is wrong\nPLACET_B too"


def test_an_unknown_variable_that_resembles_none_gets_no_guess() -> None:
    """A guess is made only where one is near."""
    assert _problems({"PLACET_DEBUG": "1"}) == ("PLACET_DEBUG is no setting of Placet",)


@pytest.mark.parametrize(
    "name", ["PLACET_URL", "PLACET_TOKEN", "PLACET_TEST_REQUIRE_ALL", "PATH", "placet_port"]
)
def test_variables_of_others_are_left_alone(name: str) -> None:
    """The command line's, the tests' and everybody else's variables don't stop the service."""
    assert load(_HOME | {name: "x"}) == load(_HOME)


def test_an_empty_variable_is_a_problem() -> None:
    """An unset secret in a template must not quietly start an empty embedded store."""
    assert _problems({"PLACET_REDIS_URL": " ", "PLACET_KEYRING_FILE": "/k"}) == (
        "PLACET_REDIS_URL is set but empty: give it a value or remove it",
    )


def test_control_characters_are_a_problem() -> None:
    """No value reaches a file name or a log line with a line break in it."""
    assert _problems({"PLACET_DATA_DIR": "/a\nb"}) == (
        "PLACET_DATA_DIR must not contain control characters, not '/a\\nb'",
    )


def test_a_kubernetes_service_link_is_recognised() -> None:
    """A service named placet makes the cluster inject PLACET_PORT."""
    (problem,) = _problems({"PLACET_PORT": "tcp://10.0.0.1:8420"})
    assert problem.endswith("(a Kubernetes service link: set enableServiceLinks: false in the pod)")


def test_overrides_win_and_none_is_not_said() -> None:
    """The command line comes before the environment."""
    settings = load(
        _HOME | {"PLACET_PORT": "1", "PLACET_LOG_LEVEL": "error"},
        {"PLACET_PORT": "2", "PLACET_LOG_LEVEL": None},
    )
    assert (settings.server.port, settings.logs.level) == (2, LogLevel.ERROR)


def test_a_malformed_limit_contradicts_nothing() -> None:
    """Its default is not held against the limits that are right."""
    assert _problems({"PLACET_PAGE_MAX": "many", "PLACET_PAGE_DEFAULT": "500"}) == (
        "PLACET_PAGE_MAX must be a whole number from 1 to 1000, not 'many'",
    )


@given(st.dictionaries(st.sampled_from([doc.name for doc in describe()]), st.text(), max_size=4))
def test_any_environment_gives_settings_or_a_settings_error(environ: dict[str, str]) -> None:
    """No text whatsoever fails in a way nobody foresaw."""
    try:
        load(_HOME | environ)
    except SettingsError as error:
        assert error.problems  # noqa: PT017 (either outcome is right)


def test_documented_defaults_are_the_defaults() -> None:
    """Setting every variable to its documented default changes nothing."""
    documented = {doc.name: doc.default for doc in describe() if doc.default}
    assert load(_HOME | documented) == load(_HOME)


def test_every_setting_is_documented_once() -> None:
    """Names are unique, and each says what it means and takes; durations and sizes have units."""
    docs = describe()
    assert len({doc.name for doc in docs}) == len(docs)
    assert all(doc.name.startswith("PLACET_") and doc.meaning.endswith(".") and doc.allowed for doc in docs)
    units = {doc.name: doc.unit for doc in docs}
    assert all(units[name] == "milliseconds" for name in units if name.endswith("_MS"))
    assert units["PLACET_MAX_BODY_BYTES"] == "bytes"


def test_env_example_is_current() -> None:
    """The committed file is what the catalogue makes: python -m placet.settings > deploy/env.example."""
    assert (_REPOSITORY / "deploy" / "env.example").read_text(encoding="utf-8") == env_example()


def test_env_example_names_every_setting() -> None:
    """Each is there, commented out."""
    lines = env_example().splitlines()
    assert [line.partition("=")[0] for line in lines if line.startswith("#PLACET_")] == [
        f"#{doc.name}" for doc in describe()
    ]


def test_the_command_prints_env_example(capsys: pytest.CaptureFixture[str]) -> None:
    """What the file's head names is what makes it."""
    runpy.run_module("placet.settings", run_name="__main__")
    assert capsys.readouterr().out == env_example()
