"""What ``placet doctor`` says of the issuers that sign people in: do they answer, what must they know?"""

import asyncio
from collections.abc import Iterable

from placet.application.code_flow import lacks
from placet.application.issuer_calls import IssuerCalls, IssuerFault
from placet.application.issuer_documents import IssuerDocuments
from placet.cli.ways_in import redirect_uri
from placet.domain.authority import Rulebook
from placet.domain.people import Issuer, SignIn
from placet.store.connection import Finding, Level

SUBJECT = "sign-in"


async def of_issuers(rulebook: Rulebook, url: str, calls: IssuerCalls | None = None) -> list[Finding]:
    """Ask each, all at once and for a bounded time.

    Args:
        rulebook: Names them.
        url: Where the pages are.
        calls: Reach them.
    """
    documents = IssuerDocuments(calls or IssuerCalls())
    asked = (_of(issuer, documents, url) for issuer in rulebook.issuers.values())
    return [finding for found in await asyncio.gather(*asked) for finding in found]


async def _of(issuer: Issuer, documents: IssuerDocuments, url: str) -> Iterable[Finding]:
    sign_in = issuer.sign_in
    if sign_in is None:
        return ()
    uri = f"The redirect URI to register at {sign_in.label} is {redirect_uri(url, sign_in)}"
    return _finding(Level.GOOD, uri), await _answer(issuer, sign_in, documents)


async def _answer(issuer: Issuer, sign_in: SignIn, documents: IssuerDocuments) -> Finding:
    try:
        known, _ = await documents.configuration(issuer)
    except IssuerFault as fault:
        return _finding(Level.FAIL, f"{sign_in.label} can't sign anybody in. {fault}")
    missing = lacks(issuer, known)
    if missing is not None:
        return _finding(Level.FAIL, f"{sign_in.label} can't sign anybody in: {missing}")
    return _finding(Level.GOOD, f"{sign_in.label} answers, and says where people sign in")


def _finding(level: Level, text: str) -> Finding:
    return Finding(level=level, subject=SUBJECT, text=f"{text.rstrip('.')}.")
