"""The endpoint that the service is compared with: Litestar, and nothing behind it.

``python -m tests.benchmarks.bare PORT DIRECTORY`` answers create, get and consume with the bodies that the
service once gave (``create.json`` and so on), and reads a POST's body into the same Struct that the service
does. The server's settings are those of ``placet serve``.
"""

import sys
from pathlib import Path

import uvicorn
from litestar import Litestar, Response, get, post
from litestar.params import FromPath, JSONBody

from placet.application.commands import Consume, Create

JSON = "application/json"


def bare_app(directory: Path) -> Litestar:
    """The application."""
    created, read, spent = (
        (directory / f"{name}.json").read_bytes() for name in ("create", "get", "consume")
    )

    @post("/v1/approvals")
    async def create(data: JSONBody[Create]) -> Response[bytes]:
        return Response(created, media_type=JSON)

    @get("/v1/approvals/{approval_id:str}")
    async def read_one(approval_id: FromPath[str]) -> Response[bytes]:
        return Response(read, media_type=JSON)

    @post("/v1/approvals/{approval_id:str}/consume", status_code=200)
    async def consume(approval_id: FromPath[str], data: JSONBody[Consume]) -> Response[bytes]:
        return Response(spent, media_type=JSON)

    @get("/readyz")
    async def ready() -> None:
        """Say that it is up."""

    return Litestar([create, read_one, consume, ready], openapi_config=None)


if __name__ == "__main__":
    uvicorn.run(
        bare_app(Path(sys.argv[2])),
        host="127.0.0.1",
        port=int(sys.argv[1]),
        loop="uvloop",
        http="httptools",
        access_log=False,
        log_level="warning",
        lifespan="off",
        server_header=False,
        proxy_headers=False,
    )
