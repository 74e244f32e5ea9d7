"""The service as an ASGI application."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, HTMLResponse
from fastapi.staticfiles import StaticFiles
from jinja2 import Template
from starlette.exceptions import HTTPException

from statgraph._version import __version__
from statgraph.errors import EngineError, UsageError, on_command_line
from statgraph.service.config import PageConfig
from statgraph.service.laws import ServedLaw
from statgraph.service.middleware import Gate, RequestLog, SecurityHeaders
from statgraph.service.problems import ProblemError, add_problem_schema, invalid_field, problem_response
from statgraph.service.routes import router

PAGE = Path(__file__).parent / "page"
_DETAILS = {
    400: "the body cannot be read as JSON; send a JSON object in UTF-8",
    404: "there is nothing at this address; /docs lists every address",
}
_FILE_METHODS = "GET, HEAD"  # Starlette's files do not say which methods they take


async def _nothing() -> None:
    pass


def create_app(
    laws: Sequence[ServedLaw], load: Callable[[], Coroutine[Any, Any, None]] = _nothing, *, loopback: bool = False
) -> FastAPI:
    """Return the application; it answers 503 on a law until its run is opened.

    Args:
        laws: of one configuration, with the same metrics; the first is that of requests that name none.
        load: opens the runs, and others after them: it is called when the application starts, which does not wait for
            it, and cancelled when it ends.
        loopback: whether only this machine reaches it; a token lets others in by a proxy.
    """
    config, metrics = laws[0].config, laws[0].metrics

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        loading = asyncio.create_task(load())
        yield
        for law in laws:
            law.close()
        loading.cancel()
        with suppress(asyncio.CancelledError):
            await loading

    app = FastAPI(
        title="statgraph",
        version=__version__,
        summary="Find the articles of law that answer a question.",
        lifespan=lifespan,
        redirect_slashes=False,
        docs_url=None,
        redoc_url=None,
    )
    app.state.laws, app.state.metrics = {law.name: law for law in laws}, metrics
    app.include_router(router)
    _add_page(app, config.page)
    _add_problem_handlers(app, config.retry_after_s)
    # The last added is asked first.
    app.add_middleware(
        Gate,
        token=config.token,
        local_only=loopback and not config.token,
        max_bytes=config.max_body,
        timeout_s=config.timeout_s,
    )
    app.add_middleware(RequestLog, metrics=metrics, log_questions=config.log_questions)
    app.add_middleware(SecurityHeaders)
    made = app.openapi
    app.openapi = lambda: add_problem_schema(made())  # type: ignore[method-assign]  # as FastAPI's guide does
    return app


def _add_page(app: FastAPI, page: PageConfig) -> None:
    template = Template((PAGE / "index.html").read_text(encoding="utf-8"), autoescape=True)
    html = template.render(page=page)

    @app.api_route("/", methods=["GET", "HEAD"], include_in_schema=False)
    async def search_page() -> Response:
        """The search page."""
        return HTMLResponse(html)

    if page.logo is not None:
        logo = page.logo.read_bytes()

        @app.api_route("/logo", methods=["GET", "HEAD"], include_in_schema=False)
        async def logo_image() -> Response:
            """The logo."""
            return Response(logo, media_type=page.logo_type)

    # FastAPI's own /docs has an inline script, which the security policy forbids.
    @app.api_route("/docs", methods=["GET", "HEAD"], include_in_schema=False)
    async def reference() -> Response:
        """The API for people, by Swagger UI."""
        return FileResponse(PAGE / "reference.html")

    app.mount("/static", StaticFiles(directory=PAGE, check_dir=False), name="static")


def _add_problem_handlers(app: FastAPI, retry_after_s: int) -> None:
    @app.exception_handler(ProblemError)
    async def problem(request: Request, error: ProblemError) -> Response:
        return problem_response(error.status, error.detail, headers=error.headers)

    @app.exception_handler(EngineError)
    async def engine_away(request: Request, error: EngineError) -> Response:
        return problem_response(503, on_command_line(error), headers={"Retry-After": str(retry_after_s)})

    @app.exception_handler(UsageError)
    async def misused(request: Request, error: UsageError) -> Response:
        return problem_response(422, on_command_line(error))

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        content_type = request.headers.get("content-type", "")
        errors = [invalid_field(found, content_type=content_type) for found in error.errors()]
        detail = "; ".join(f"{found['place']}: {found['detail']}" for found in errors)
        return problem_response(422, detail, errors=errors)

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> Response:
        detail = _DETAILS.get(error.status_code, str(error.detail) or HTTPStatus(error.status_code).phrase)
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            allowed = (error.headers or {}).get("Allow", _FILE_METHODS)
            detail = f"this address does not take {request.method}; send {allowed}"
        return problem_response(error.status_code, detail, headers=error.headers)
