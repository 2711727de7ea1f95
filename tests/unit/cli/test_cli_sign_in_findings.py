"""What the doctor says of issuers that sign people in, asked over loopback."""

import asyncio
from typing import Any

import pytest

from placet.application.issuer_calls import IssuerCalls
from placet.cli import sign_in_findings
from placet.domain.authority import Rulebook
from placet.domain.people import Issuer, SignIn
from placet.store.connection import Level
from tests.factories import ManualClock
from tests.issuer import Server, serving
from tests.provider import Provider

URL = "https://placet.example"
REGISTER = (Level.GOOD, f"The redirect URI to register at Login is {URL}/signin/login.")


async def found(server: Server, **configured: Any) -> list[tuple[Level, str]]:
    """What is said of a provider that is configured so; of issuers that sign nobody in, nothing."""
    provider = Provider(server, ManualClock())
    provider.configured = configured
    provider.publish()
    sign_in = SignIn(name="login", client_id="c", label="Login")
    issuers = [Issuer(iss=server.url, tenant="default", sign_in=sign_in)]
    issuers.append(Issuer(iss="https://tokens.example", tenant="default", audience="placet"))
    rulebook = Rulebook(issuers={each.iss: each for each in issuers})
    findings = await sign_in_findings.of_issuers(rulebook, URL, IssuerCalls(timeout_s=0.5))
    assert {each.subject for each in findings} == {"sign-in"}
    return [(each.level, each.text) for each in findings]


async def test_one_that_answers_is_good() -> None:
    """With what it has to know."""
    async with serving() as server:
        assert await found(server) == [
            REGISTER,
            (Level.GOOD, "Login answers, and says where people sign in."),
        ]


@pytest.mark.parametrize(
    ("configured", "why"),
    [
        ({"authorization_endpoint": ...}, "its configuration has no authorization_endpoint to go to."),
        ({"authorization_endpoint": "javascript:x"}, "its configuration has no authorization_endpoint to"),
        ({"token_endpoint": ...}, "its configuration has no token_endpoint."),
    ],
)
async def test_what_it_lacks_is_named(configured: dict[str, Any], why: str) -> None:
    """Before somebody finds out in a browser."""
    async with serving() as server:
        register, (level, text) = await found(server, **configured)
    assert (register, level) == (REGISTER, Level.FAIL)
    assert text.startswith(f"Login can't sign anybody in: {why}")


async def test_another_issuer_s_document_is_none() -> None:
    """Who it is must be said byte for byte."""
    async with serving() as server:
        _, (level, text) = await found(server, issuer="https://other.example")
    assert (level, "is of another issuer" in text) == (Level.FAIL, True)


async def test_it_is_not_waited_for_without_end() -> None:
    """Nor tried again."""

    async def silent(_: asyncio.StreamWriter) -> None:
        await asyncio.sleep(5)

    async with serving() as server:
        provider_url = "/.well-known/openid-configuration"
        sign_in = SignIn(name="login", client_id="c", label="Login")
        server.documents[provider_url] = silent
        issuer = Issuer(iss=server.url, tenant="default", sign_in=sign_in)
        rulebook = Rulebook(issuers={issuer.iss: issuer})
        _, answer = await sign_in_findings.of_issuers(rulebook, URL, IssuerCalls(timeout_s=0.1))
    assert answer.level is Level.FAIL
    assert "did not answer within 0.1 s." in answer.text
