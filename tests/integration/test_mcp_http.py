"""The gate for MCP over HTTP: whose call it is says the access token that the SDK has verified."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import uvicorn
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import MCPServer
from mcp.shared._httpx_utils import create_mcp_http_client
from pydantic import AnyHttpUrl

from placet.client.mcp import Approvals
from tests.harness import Harness
from tests.mcp_shop import CALL, Shop, code, refund, text
from tests.tools import until

ISSUER = "https://issuer.example"


def token(client: str, subject: str | None, issuer: str = ISSUER) -> AccessToken:
    """What a verifier makes of a token."""
    return AccessToken(
        token="...", client_id=client, scopes=[], subject=subject, claims={"iss": issuer} if subject else None
    )


TOKENS = {
    "ann-at-desk": token("desk", "ann"),
    "ann-at-desk-renewed": token("desk", "ann"),
    "ann-at-app": token("app", "ann"),
    "another-ann": token("desk", "ann", "https://other.example"),
    "bob-at-desk": token("desk", "bob"),
    "desk-itself": token("desk", None),
}


class Verifier:
    """Knows these tokens."""

    async def verify_token(self, token: str) -> AccessToken | None:
        """Whose it is."""
        return TOKENS.get(token)


@pytest.fixture
async def shop(h: Harness, tmp_path: Path) -> Shop:
    """The shop."""
    h.services.store.stream.start()
    return Shop(h, await h.client(), await h.approver("zoe"), tmp_path)


@pytest.fixture
async def url(shop: Shop) -> AsyncIterator[str]:
    """A server on loopback."""
    auth = AuthSettings(
        issuer_url=AnyHttpUrl(ISSUER), resource_server_url=None, validate_token_resource=False
    )
    server = MCPServer("shop", token_verifier=Verifier(), auth=auth, log_level="CRITICAL")
    approvals = Approvals(shop.process().hook)

    @server.tool()
    @approvals.requires_approval("orders.refund", effect="write")
    def refund(order: str, amount: int = 5) -> str:
        shop.ran.append((order, amount))
        return f"refunded {amount} of {order}"

    with socket.create_server(("127.0.0.1", 0)) as listening:
        config = uvicorn.Config(server.streamable_http_app(), log_level="critical", ws="none")
        serving = uvicorn.Server(config)
        task = asyncio.create_task(serving.serve(sockets=[listening]))
        await until(lambda: serving.started, "it listens")
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        serving.should_exit = True
        await task


@asynccontextmanager
async def session(url: str, bearer: str, mode: str = "auto") -> AsyncIterator[Client]:
    """A session under a token."""
    http = create_mcp_http_client(headers={"authorization": f"Bearer {bearer}"})
    async with http, Client(streamable_http_client(url, http_client=http), mode=mode) as client:
        yield client


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_who_is_authenticated_is_the_actor(shop: Shop, url: str, mode: str) -> None:
    """By a subject, where the token has one; in another session, under a token that was renewed, the same."""
    async with session(url, "ann-at-desk", mode) as client:
        assert code(await refund(client)) == "APPROVAL_REQUIRED"
    asked = await shop.asked()
    assert (asked["actor"]["id"], asked["actor"]["kind"], asked["input"]) == ("ann", "user", CALL)
    assert asked["context"] == {"client_id": "desk", "issuer": ISSUER, "tool": "refund"}
    await shop.people.decide()
    async with session(url, "ann-at-desk-renewed", mode) as client:
        assert text(await refund(client)) == "refunded 5 of A-1"
        assert code(await refund(client)) == "APPROVAL_CONSUMED"


async def test_who_is_somebody_else_never_finds_it(shop: Shop, url: str) -> None:
    """Another person, the same name elsewhere, another program, or the program itself, all at once."""
    others = ["ann-at-app", "another-ann", "bob-at-desk", "desk-itself"]
    async with session(url, "ann-at-desk") as client:
        first = await refund(client)
        await shop.people.decide()
        for other in others:
            async with session(url, other) as theirs:
                answer = await refund(theirs)
            assert code(answer) == "APPROVAL_REQUIRED"
            assert answer.structured_content["id"] != first.structured_content["id"]
        assert not shop.ran
        assert not (await refund(client)).is_error
    asked = await shop.questions()
    assert len({each["id"] for each in asked}) == 5
    assert {each["actor"]["id"] for each in asked} == {"ann", "bob", "desk"}


async def test_the_actor_does_not_approve_its_own_call(shop: Shop, url: str) -> None:
    """A person whose agent calls is no approver of it."""
    ann = await shop.h.approver("ann")
    async with session(url, "ann-at-desk") as client:
        await refund(client)
        seen = await shop.people.shown("pending")
        answer = await ann.decide(seen)
        assert answer.json()["code"] == "APPROVAL_SELF_APPROVAL"
        assert code(await refund(client)) == "APPROVAL_REQUIRED"


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_session_is_nobody_by_itself(shop: Shop, url: str, mode: str) -> None:
    """Under another's token it finds nothing of its first one's."""
    http = create_mcp_http_client(headers={"authorization": "Bearer ann-at-desk"})
    async with http, Client(streamable_http_client(url, http_client=http), mode=mode) as client:
        first = await refund(client)
        await shop.people.decide()
        http.headers["authorization"] = "Bearer bob-at-desk"
        if mode == "auto":
            assert (await refund(client)).structured_content["id"] != first.structured_content["id"]
        else:
            with pytest.raises(MCPError):
                await refund(client)
        http.headers["authorization"] = "Bearer ann-at-desk"
        assert not shop.ran
        assert not (await refund(client)).is_error


async def test_who_is_nobody_gets_nowhere(shop: Shop, url: str) -> None:
    """It is the SDK that refuses."""
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "refund", "arguments": CALL},
    }
    for headers in ({}, {"authorization": "Bearer forged"}):
        async with create_mcp_http_client(headers=headers) as http:
            assert (await http.post(url, json=call)).status_code == 401
    assert not await shop.questions()
