"""A browser without scripts: it holds cookies, sends forms as browsers do, and follows nothing by itself."""

import html
import re
from typing import Any
from urllib.parse import urlencode

import httpx

from tests.harness import BASE_URL, Harness

_FIELD = re.compile(r'<input type="hidden" name="([a-z]+)" value="([^"]*)"')


class Browser:
    """Somebody's browser.

    Args:
        h: The service.
        origin: Where its forms come from.
    """

    def __init__(self, h: Harness, origin: str | None = BASE_URL) -> None:
        self._h = h
        self._origin = origin
        self.cookies: dict[str, str] = {}

    async def get(self, path: str, headers: dict[str, str] | None = None) -> httpx.Response:
        """Open a page."""
        return await self._call("GET", path, headers=headers or {})

    async def post(self, path: str, fields: dict[str, str], **options: Any) -> httpx.Response:
        """Send a form."""
        headers = {"content-type": "application/x-www-form-urlencoded", **options.pop("headers", {})}
        if self._origin is not None:
            headers.setdefault("origin", self._origin)
        content = options.pop("content", urlencode(fields))
        return await self._call("POST", path, headers=headers, content=content)

    async def _call(self, method: str, path: str, **options: Any) -> httpx.Response:
        headers = dict(options.pop("headers", {}))
        if self.cookies:
            headers["cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        response = await self._h.http.request(method, path, headers=headers, **options)
        self._h.http.cookies.clear()
        for sent in response.headers.get_list("set-cookie"):
            name, _, value = sent.partition(";")[0].partition("=")
            self.cookies[name] = value
        return response

    async def signed_in(self, person: str = "ann", tenant: str = "default") -> "Browser":
        """With a link of this service."""
        secret = await self._h.services.sessions.offer(tenant, person)
        response = await self.post("/signin", {"secret": secret})
        assert (response.status_code, response.headers["location"]) == (303, "/inbox"), response.text
        return self

    async def card(self, approval_id: str) -> dict[str, str]:
        """The hidden fields of a card's form."""
        response = await self.get(f"/a/{approval_id}")
        assert response.status_code == 200, response.text
        return hidden(response)

    async def decide(self, approval_id: str, decision: str, **changes: Any) -> httpx.Response:
        """Open a card and send its form; a field given as ``None`` is left out."""
        fields = {**await self.card(approval_id), "decision": decision, **changes}
        sent = {name: value for name, value in fields.items() if value is not None}
        return await self.post(f"/a/{approval_id}", sent)


def hidden(response: httpx.Response) -> dict[str, str]:
    """The hidden fields of the form that decides."""
    form = response.text.partition('class="decide"')[2]
    return {name: html.unescape(value) for name, value in _FIELD.findall(form)}


def words(response: httpx.Response) -> str:
    """What a page says, without markup."""
    main = response.text.partition("<main")[2]
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", "<main" + main)).split())
