"""What the rules between settings refuse, and what the kinds of settings take."""

from pathlib import Path

import pytest

from placet.settings import Durability, Environment, MetricsSettings, ServerSettings, SettingsError, load

_HOME = {"HOME": "/home/ann"}
_SHARED = {"PLACET_KEYRING_FILE": "/k", "PLACET_PUBLIC_URL": "https://p.example.com"}
_REACHABLE = (
    "PLACET_HOST can be reached by others: set PLACET_TLS_CERT_FILE and PLACET_TLS_KEY_FILE, or name the "
    "proxy that ends TLS in PLACET_TRUSTED_PROXIES"
)


def _problems(environ: dict[str, str]) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as caught:
        load(_HOME | environ)
    return caught.value.problems


class TestReachableByOthers:
    """A host that others can reach."""

    @pytest.mark.parametrize(
        "host", ["0.0.0.0", "::", "192.0.2.1", "placet.example.com", "localhost.evil.example"]
    )
    def test_needs_tls_or_a_proxy(self, host: str) -> None:
        """Nothing listens to the world in clear text by accident."""
        assert _problems({"PLACET_HOST": host}) == (_REACHABLE,)

    @pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "[::1]", "localhost", "LOCALHOST"])
    def test_loopback_needs_nothing(self, host: str) -> None:
        """This machine may talk to itself in clear text."""
        assert load(_HOME | {"PLACET_HOST": host}).server.environment is Environment.DEVELOPMENT

    def test_a_declared_proxy_will_do(self) -> None:
        """Who names the proxy says where TLS ends."""
        server = load(_HOME | {"PLACET_HOST": "0.0.0.0", "PLACET_TRUSTED_PROXIES": "172.16.0.0/12"}).server
        assert server.trusted_proxies == ("172.16.0.0/12",)
        assert server.environment is Environment.PRODUCTION

    def test_tls_will_do_and_shows_in_the_default_url(self) -> None:
        """With TLS the issuer is https."""
        tls = {"PLACET_TLS_CERT_FILE": "/c", "PLACET_TLS_KEY_FILE": "/k"}
        server = load(_HOME | {"PLACET_HOST": "0.0.0.0"} | tls).server
        assert server.public_url == "https://127.0.0.1:8420"

    @pytest.mark.parametrize(("given", "missing"), [("CERT", "KEY"), ("KEY", "CERT")])
    def test_half_of_tls_is_a_problem(self, given: str, missing: str) -> None:
        """A certificate without its key, or the other way round, is a mistake."""
        assert _problems({"PLACET_HOST": "0.0.0.0", f"PLACET_TLS_{given}_FILE": "/x"}) == (
            f"PLACET_TLS_{missing}_FILE is required with PLACET_TLS_{given}_FILE",
        )

    def test_a_malformed_proxy_is_one_problem_not_two(self) -> None:
        """A proxy was declared; that it can't be read is all there is to say."""
        assert len(_problems({"PLACET_HOST": "0.0.0.0", "PLACET_TRUSTED_PROXIES": "nginx"})) == 1


class TestPublicUrl:
    """The issuer of tokens."""

    def test_follows_the_port(self) -> None:
        """Two services on one machine have two issuers."""
        assert load(_HOME | {"PLACET_PORT": "8421"}).server.public_url == "http://127.0.0.1:8421"

    def test_a_free_port_is_filled_in_once_it_is_known(self) -> None:
        """Port 0 becomes the port that was bound, in the default URL too."""
        server = load(_HOME | {"PLACET_PORT": "0"}).bound_to(4711).server
        assert (server.port, server.public_url) == (4711, "http://127.0.0.1:4711")

    def test_a_chosen_url_stays_when_the_port_is_known(self) -> None:
        """The operator's word stands."""
        chosen = {"PLACET_PORT": "0", "PLACET_PUBLIC_URL": "https://p.example.com"}
        assert load(_HOME | chosen).bound_to(4711).server.public_url == "https://p.example.com"

    @pytest.mark.parametrize(
        "url",
        [
            "https://p.example.com",
            "https://p.example.com:8443",
            "http://127.0.0.1:8420",
            "http://[::1]:1",
            "http://localhost",
        ],
    )
    def test_good_ones(self, url: str) -> None:
        """Https to the outside, http to oneself."""
        assert (
            load(_HOME | {"PLACET_PUBLIC_URL": url, "PLACET_ENVIRONMENT": "production"}).server.public_url
            == url
        )

    @pytest.mark.parametrize(
        "url",
        [
            "p.example.com",
            "ftp://p.example.com",
            "https://",
            "https://p.example.com/",
            "https://p.example.com/placet",
            "https://p.example.com?a=1",
            "https://p.example.com?",
            "https://p.example.com#",
            "https://user@p.example.com",
            "https://p.example.com:0",
            "https://p.example.com:99999",
            "https://p.example.com:0443",
            "https://p.example.com:",
            "https://P.example.com",
            "https://-p",
            "https://p example.com",
            "https://pl\u00e4cet.example.com",
            "https://[::1",
        ],
    )
    def test_bad_ones(self, url: str) -> None:
        """Anything beside scheme, host and port would make issuers that look alike and aren't."""
        (problem,) = _problems({"PLACET_PUBLIC_URL": url})
        assert problem.startswith("PLACET_PUBLIC_URL must be ")

    def test_production_wants_https(self) -> None:
        """Clear text to the outside is refused in production and only there."""
        plain = {"PLACET_PUBLIC_URL": "http://p.example.com"}
        assert load(_HOME | plain).server.public_url == "http://p.example.com"
        assert _problems(plain | {"PLACET_ENVIRONMENT": "production"}) == (
            "PLACET_PUBLIC_URL must be https in production unless its host is loopback",
        )

    @pytest.mark.parametrize(
        ("store", "host"),
        [
            ("redis://store.example", "127.0.0.1"),
            ("redis://10.0.0.5:6379", "127.0.0.1"),
            ("redis://127.0.0.1", "192.0.2.1"),
            ("unix:///run/v.sock", "0.0.0.0"),
        ],
    )
    def test_replicas_need_one(self, store: str, host: str) -> None:
        """By default each would have its own, and refuse the others' tokens."""
        environ = {"PLACET_REDIS_URL": store, "PLACET_HOST": host, "PLACET_TRUSTED_PROXIES": "10.0.0.1"}
        (problem,) = _problems(environ | {"PLACET_KEYRING_FILE": "/k"})
        assert problem.startswith("PLACET_PUBLIC_URL is required with PLACET_REDIS_URL: ")

    @pytest.mark.parametrize("store", ["redis://127.0.0.1", "redis://[::1]:1", "unix:///run/v.sock"])
    def test_a_developer_on_one_machine_needs_none(self, store: str) -> None:
        """The default reaches whoever can reach the service."""
        environ = _HOME | {"PLACET_REDIS_URL": store, "PLACET_KEYRING_FILE": "/k"}
        assert load(environ).server.public_url == "http://127.0.0.1:8420"


class TestHosts:
    """The names a Host header may carry."""

    def test_are_loopback_host_public_url_and_what_was_added(self) -> None:
        """Everything the service is rightly called by, and nothing else."""
        server = ServerSettings(
            host="192.0.2.1", public_url="https://p.example.com:8443", allowed_hosts=("*.internal",)
        )
        assert server.accepted_hosts == {
            "127.0.0.1", "::1", "localhost", "192.0.2.1", "p.example.com", "*.internal"
        }  # fmt: skip

    @pytest.mark.parametrize("host", ["0.0.0.0", "::"])
    def test_leave_out_the_wildcard_address(self, host: str) -> None:
        """Nobody rightly asks for 0.0.0.0."""
        assert ServerSettings(host=host).accepted_hosts == {"127.0.0.1", "::1", "localhost"}

    @pytest.mark.parametrize("names", ["*", "*.", "a,,b", "a:80", "http://a", "a b"])
    def test_bad_ones(self, names: str) -> None:
        """A star would switch the check off."""
        assert len(_problems({"PLACET_ALLOWED_HOSTS": names})) == 1


@pytest.mark.parametrize("proxies", ["*", "0.0.0.0/0", "::/0", "10.0.0.1/8", "nginx", "10.0.0.1,"])
def test_proxies_must_be_named(proxies: str) -> None:
    """Trusting everybody's forwarding headers is trusting nobody's."""
    assert len(_problems({"PLACET_TRUSTED_PROXIES": proxies})) == 1


@pytest.mark.parametrize("networks", ["*", "0.0.0.0/0", "::/0", "10.1.0.1/16", "hooks", "10.1.0.1,"])
def test_where_webhooks_may_go_must_be_named(networks: str) -> None:
    """A list that names every address would name what only this machine may reach."""
    (problem,) = _problems({"PLACET_WEBHOOK_ALLOW": networks})
    assert problem.startswith("PLACET_WEBHOOK_ALLOW must ")


@pytest.mark.parametrize("host", ["*", "a b", "256.1.1.1", "127.1", "-a", "a:80", "http://a", "[::1"])
def test_bad_hosts(host: str) -> None:
    """A host is an address or a name."""
    (problem,) = _problems({"PLACET_HOST": host})
    assert problem.startswith("PLACET_HOST must be an IP address or a host name, not ")


class TestStore:
    """Where approvals are kept."""

    def test_an_external_store_confirms_nothing_by_default(self) -> None:
        """What a foreign server can promise is for its operator to say."""
        store = load(_HOME | _SHARED | {"PLACET_REDIS_URL": "redis://h"}).store
        assert store.durability is Durability.BEST_EFFORT
        assert not store.embedded

    def test_the_embedded_store_has_no_replicas(self) -> None:
        """A promise that can't be kept is refused."""
        assert _problems({"PLACET_DURABILITY": "replicated"}) == (
            "PLACET_DURABILITY replicated needs PLACET_REDIS_URL: the embedded store is alone",
        )

    def test_replicas_without_replication_are_a_problem(self) -> None:
        """A number that has no effect is a misunderstanding."""
        assert _problems({"PLACET_DURABILITY_REPLICAS": "2"}) == (
            "PLACET_DURABILITY_REPLICAS needs PLACET_DURABILITY=replicated",
        )

    @pytest.mark.parametrize(
        "url", ["redis://h", "rediss://u:p@h:6379/0", "unix:///run/v.sock", "redis://[::1]:1"]
    )
    def test_good_urls(self, url: str) -> None:
        """TCP, TLS and unix sockets."""
        secret = load(_HOME | _SHARED | {"PLACET_REDIS_URL": url}).store.redis_url
        assert secret is not None
        assert secret.reveal() == url

    @pytest.mark.parametrize(
        "url", ["h:6379", "redis://", "unix://", "redis://:hunter2@h:port", "redis://[::1", "redis://h:0"]
    )
    def test_bad_urls_are_never_repeated(self, url: str) -> None:
        """The password in a malformed URL stays out of the message."""
        assert _problems({"PLACET_REDIS_URL": url, "PLACET_KEYRING_FILE": "/k"}) == (
            "PLACET_REDIS_URL must be redis://, rediss:// or unix:// with a host or a socket path",
        )


@pytest.mark.parametrize(
    ("environ", "data_dir"),
    [
        ({"HOME": "/h"}, "/h/.local/state/placet"),
        ({"HOME": "/h", "XDG_STATE_HOME": "/s"}, "/s/placet"),
        ({"XDG_STATE_HOME": "/s"}, "/s/placet"),
        ({"HOME": "/h", "XDG_STATE_HOME": "relative"}, "/h/.local/state/placet"),
        ({"HOME": "/h", "PLACET_DATA_DIR": "/d"}, "/d"),
        ({"HOME": "/h", "PLACET_DATA_DIR": "~/d"}, "/h/d"),
        ({"PLACET_DATA_DIR": "d/e"}, "d/e"),
    ],
)
def test_data_dir(environ: dict[str, str], data_dir: str) -> None:
    """The directory set, else the user's state directory; a tilde is home also where no shell saw it."""
    assert load(environ).store.data_dir == Path(data_dir)


def test_without_home_the_data_dir_must_be_given() -> None:
    """Records are never put into a directory that nobody named."""
    with pytest.raises(
        SettingsError, match="PLACET_DATA_DIR is required where HOME is not set: give a directory"
    ):
        load({})


@pytest.mark.parametrize(("port", "metrics"), [("8421", 9421), ("0", 0), ("64535", 65535), ("64536", 0)])
def test_the_metrics_port_follows_the_port(port: str, metrics: int) -> None:
    """Two services on one machine don't collide there either."""
    assert load(_HOME | {"PLACET_PORT": port}).metrics == MetricsSettings(port=metrics)


@pytest.mark.parametrize(
    ("bind", "address"), [("127.0.0.1:0", ("127.0.0.1", 0)), ("[::1]:9420", ("::1", 9420)), ("h:1", ("h", 1))]
)
def test_metrics_bind(bind: str, address: tuple[str, int]) -> None:
    """HOST:PORT, an IPv6 host in brackets."""
    metrics = load(_HOME | {"PLACET_METRICS_BIND": bind}).metrics
    assert (metrics.host, metrics.port, metrics.chosen) == (*address, True)


@pytest.mark.parametrize("bind", ["9420", ":9420", "::1:9420", "h:", "h:65536", "h:x", "a b:1"])
def test_bad_metrics_binds(bind: str) -> None:
    """Anything else is a problem."""
    (problem,) = _problems({"PLACET_METRICS_BIND": bind})
    assert problem.startswith("PLACET_METRICS_BIND must be HOST:PORT")


@pytest.mark.parametrize("text", ["", "1_0", "+1", "1.0", "\u0661", "0x1", "9" * 30])
def test_numbers_are_plain_digits(text: str) -> None:
    """One spelling per number."""
    assert len(_problems({"PLACET_PORT": text})) == 1
