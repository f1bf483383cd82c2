"""The server over streamable HTTP, on this machine only and for those who have its token."""

from __future__ import annotations

import contextlib
import hmac
from collections.abc import AsyncIterator
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Mount
from starlette.types import Receive, Scope, Send

ADDRESS, PATH = "127.0.0.1", "/mcp"
REFUSED = "a token is needed: Authorization: Bearer TOKEN\n"


def application(server: Server[Any, Any], token: str) -> Starlette:
    """The server as an ASGI application under PATH. A request without the token, or under a name of another
    host (as a page in a browser could send it), is refused."""
    names = [f"{ADDRESS}:*", "localhost:*"]
    manager = StreamableHTTPSessionManager(
        server,
        security_settings=TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=names,
            allowed_origins=[f"http://{name}" for name in names],
        ),
    )

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        given = dict(scope["headers"]).get(b"authorization", b"")
        if hmac.compare_digest(given, f"Bearer {token}".encode()):
            await manager.handle_request(scope, receive, send)
        else:
            await PlainTextResponse(REFUSED, status_code=401)(scope, receive, send)

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            yield

    return Starlette(routes=[Mount(PATH, guarded)], lifespan=lifespan)


def serve(server: Server[Any, Any], port: int, token: str) -> None:
    """Serve until interrupted."""
    import uvicorn

    uvicorn.run(application(server, token), host=ADDRESS, port=port, log_level="warning", access_log=False)
