"""Commands over a real embedded store, in this process: what they say and do from start to end."""

import json
import os
import signal
import ssl
import time
from pathlib import Path

import httpx
import pytest

from placet.cli.exits import Exit, Stop
from placet.cli.listen import listen
from placet.cli.running import running
from placet.settings import ServerSettings, load
from placet.store.ownership import owner_of
from placet.tokens import keyring_file
from tests.certificates import self_signed
from tests.serving import Said, guards, served
from tests.unit.cli.conftest import Ran, Screen, Type, cli  # noqa: F401 - the fixture types a command line

pytestmark = [pytest.mark.real, pytest.mark.usefixtures("data_dir", "logging_as_before")]


class TestServe:
    """``placet serve``."""

    def test_it_tells_its_log_where_it_is(self, data_dir: Path) -> None:
        """As JSON lines; the reader of standard output knows before that."""
        ran = served(data_dir, lambda said: None)
        events = [json.loads(line) for line in ran.err.splitlines()]
        order = "serving, nobody may ask yet, stopping, stopped"
        assert ", ".join(event["event"] for event in events) == order
        assert events[0]["url"] == ran.json()["url"]
        assert ran.status == Exit.OK

    def test_it_tells_a_person_where_it_is(self, data_dir: Path) -> None:
        """And what to type next, with the directory where that was chosen."""
        ran = served(data_dir, lambda said: None, terminal=True)
        assert f"  API         {ran.json()['url']}\n" in ran.err
        assert f"    placet demo --data-dir {data_dir}" in ran.err
        assert "  Data        " in ran.err
        assert ran.err.endswith("Stopped.\n")

    def test_whoever_has_a_client_is_told_nothing_more(self, data_dir: Path, cli: Type) -> None:  # noqa: F811
        """The hint is for newcomers."""
        cli("clients", "create", "shop", "--scopes", "request", "--data-dir", str(data_dir))
        assert "clients create" not in served(data_dir, lambda said: None, terminal=True).err

    def test_sighup_takes_up_the_keyring_and_what_is_wrong_with_it(self, data_dir: Path) -> None:
        """A keyring that can't be read makes the service unready, until it can be again."""
        path = data_dir / "keyring.json"

        def act(said: Said) -> None:
            with httpx.Client(base_url=said["url"], trust_env=False) as http:
                for mode, status in ((0o644, 503), (0o600, 200)):
                    path.chmod(mode)
                    path.write_bytes(path.read_bytes())
                    os.kill(os.getpid(), signal.SIGHUP)
                    assert http.get("/readyz").status_code == status
                    time.sleep(0.2)

        ran = served(data_dir, act)
        events = [json.loads(line)["event"] for line in ran.err.splitlines()]
        assert events.index("not ready") < events.index("ready again")

    def test_a_lost_store_ends_it(self, data_dir: Path) -> None:
        """With status 3 and where to look."""

        def act(said: Said) -> None:
            (guard,) = guards()
            guard.kill()

        ran = served(data_dir, act, ends=False)
        assert ran.status == Exit.UNREACHABLE
        assert f"{data_dir / 'valkey.log'}" in ran.said

    def test_a_keyring_that_was_rolled_back_is_refused(self, data_dir: Path, cli: Type) -> None:  # noqa: F811
        """A key that was revoked since would sign again."""

        def nothing(_said: Said) -> None:
            pass

        served(data_dir, nothing)
        path = data_dir / "keyring.json"
        old = path.read_bytes()
        kid = keyring_file.load(path).active.kid
        assert cli("keys", "revoke", kid, "--data-dir", str(data_dir)).status == Exit.OK
        served(data_dir, nothing)
        path.write_bytes(old)
        ran = cli("serve", "--port", "0", "--metrics-bind", "127.0.0.1:0", "--data-dir", str(data_dir))
        assert ran.status == Exit.FAILED
        assert "newer keyring" in ran.said

    def test_commands_work_beside_it(self, data_dir: Path, cli: Type) -> None:  # noqa: F811
        """Through its store."""

        def act(said: Said) -> None:
            created = cli(
                "clients", "create", "shop", "--scopes", "request", "--data-dir", str(data_dir), "--json"
            )
            headers = {"authorization": f"Bearer {created.json()['token']}"}
            listed = httpx.get(f"{said['url']}/v1/approvals", headers=headers, trust_env=False)
            assert listed.json() == {"items": [], "next_cursor": None}

        served(data_dir, act)


class TestRunning:
    """A service in this process."""

    async def test_a_chosen_place_for_metrics_that_is_taken_is_told(self, data_dir: Path) -> None:
        """And everything that was opened is closed."""
        [sock] = listen(ServerSettings(port=0))
        with sock:
            bind = f"127.0.0.1:{sock.getsockname()[1]}"
            environ = {"PLACET_PORT": "0", "PLACET_METRICS_BIND": bind, "PLACET_DATA_DIR": str(data_dir)}
            with pytest.raises(Stop, match=r"For metrics, .* is taken: choose another --metrics-bind"):
                async with running(load(environ)):
                    pass
        assert guards() == []

    async def test_a_directory_that_is_held_is_told(self, data_dir: Path) -> None:
        """With who holds it, and where that serves."""
        settings = load({"PLACET_PORT": "0", "PLACET_DATA_DIR": str(data_dir)})
        async with running(settings) as service:
            url = service.settings.server.public_url
            with pytest.raises(Stop, match=rf"in use by process {os.getpid()}, serving at {url}"):
                async with running(settings):
                    pass

    async def test_certificates_that_can_not_be_used_are_told_first(self, data_dir: Path) -> None:
        """Before the store is started."""
        environ = {"PLACET_TLS_CERT_FILE": __file__, "PLACET_TLS_KEY_FILE": __file__}
        with pytest.raises(Stop, match="can't be used"):
            async with running(load({**environ, "PLACET_DATA_DIR": str(data_dir)})):
                pass
        assert owner_of(data_dir) is None

    async def test_tls_is_spoken_where_there_are_certificates(self, data_dir: Path) -> None:
        """The public URL says https; plain HTTP gets no answer."""
        cert, key = self_signed(data_dir.parent)
        environ = {"PLACET_TLS_CERT_FILE": str(cert), "PLACET_TLS_KEY_FILE": str(key)}
        settings = load({**environ, "PLACET_PORT": "0", "PLACET_DATA_DIR": str(data_dir)})
        async with running(settings) as service:
            url = service.settings.server.public_url
            assert url.startswith("https://127.0.0.1:")
            trusting = ssl.create_default_context(cafile=cert)
            async with httpx.AsyncClient(verify=trusting, trust_env=False) as http:
                assert (await http.get(f"{url}/healthz")).status_code == 200
                with pytest.raises(httpx.HTTPError):
                    await http.get(f"{url.replace('https', 'http')}/healthz")


class TestOperators:
    """Commands on a data directory that nobody serves."""

    def test_the_doctor_looks_at_all_of_it(self, data_dir: Path, cli: Type) -> None:  # noqa: F811
        """Every check is good, and the store is left as it was: stopped."""
        cli("clients", "create", "shop", "--scopes", "request", "--data-dir", str(data_dir))
        ran = cli("doctor", "--data-dir", str(data_dir), "--json")
        assert ran.status == 0
        assert {check["level"] for check in ran.json()["checks"]} == {"good"}
        assert guards() == []

    def test_a_store_that_a_command_begins_is_named(self, data_dir: Path, cli: Type) -> None:  # noqa: F811
        """It may have been meant for another; the next command says nothing of it."""
        argv = ["clients", "create", "shop", "--scopes", "request", "--data-dir", str(data_dir)]
        ran = cli(*argv)
        assert ran.said == (
            f"! There was no store at {data_dir}; there is one now. No service runs on it: "
            f"`placet serve --data-dir {data_dir}` starts one."
        )
        assert cli("approvers", "create", "ann", "--data-dir", str(data_dir)).err == ""
        assert cli("clients", "list", "--data-dir", str(data_dir)).out.count("shop") == 1

    def test_another_keyring_is_found_out_before_anything_is_sealed_with_it(
        self,
        data_dir: Path,
        cli: Type,  # noqa: F811
    ) -> None:
        """A client made with it would be no client; the doctor says so too."""
        cli("clients", "create", "shop", "--scopes", "request", "--data-dir", str(data_dir))
        keyring_file.load_or_create(data_dir.parent / "other", 0)
        other = {"PLACET_KEYRING_FILE": str(data_dir.parent / "other"), "PLACET_DATA_DIR": str(data_dir)}
        ran = cli("clients", "create", "late", "--scopes", "request", environ=other)
        assert (ran.status, "install the right one" in ran.said) == (1, True)
        ran = cli("doctor", "--json", environ=other)
        assert (ran.status, "install the right one" in ran.out) == (1, True)

    def test_a_password_on_the_command_line_is_warned_of(self, cli: Type, tmp_path: Path) -> None:  # noqa: F811
        """And never repeated."""
        ran = cli("clients", "list", "--redis-url", "redis://:hunter2@127.0.0.1:1/0")
        assert "Other users of this machine can read the password" in ran.said
        assert "hunter2" not in ran.err


class TestDemo:
    """``placet demo`` where no service runs."""

    def test_it_plays_on_a_service_of_its_own(self, data_dir: Path, cli: Type) -> None:  # noqa: F811
        """From the question to the trail; the card and every step are told."""
        ran = cli("demo", "--data-dir", str(data_dir))
        assert ran.status == 0
        for said in (
            "apr_",
            "⟨hidden from approvers⟩",
            "ms after the decision was sent, with a token",
            "409 APPROVAL_INPUT_MISMATCH",
            "409 APPROVAL_CONSUMED",
            "consumed   by demo-agent",
            "What was approved is what ran, once.",
        ):
            assert said in ran.out
        assert "eyJ" not in ran.out
        assert not data_dir.exists()

    def test_a_directory_that_others_can_open_is_told(self, data_dir: Path, cli: Type) -> None:  # noqa: F811
        """With what to do, and without a service."""
        data_dir.mkdir(mode=0o755)
        data_dir.chmod(0o755)
        ran = cli("demo", "--data-dir", str(data_dir))
        assert (ran.status, "chmod 700" in ran.said) == (3, True)
