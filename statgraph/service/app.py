"""The service as an ASGI application."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from pathlib import Path

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, HTMLResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from statgraph import __version__
from statgraph.errors import UsageError
from statgraph.service.access import BearerToken
from statgraph.service.body_limit import BodyLimit
from statgraph.service.desk import Desk
from statgraph.service.openapi import add_problem_schema
from statgraph.service.problems import ProblemError, problem_response, unfit_fields
from statgraph.service.reference_page import STYLE, reference_page
from statgraph.service.request_log import RequestLog
from statgraph.service.routes import api_router
from statgraph.service.security_headers import SecurityHeaders

# Kept, and asked about each time: a new version of the service brings a new page.
_ASKED_ABOUT = {"Cache-Control": "no-cache"}
PAGE = Path(__file__).parent / "page"
_DETAILS = {
    400: "the body cannot be read as JSON; send a JSON object in UTF-8",
    404: "there is nothing at this address; /docs lists what there is",
}
_OF_FILES = "GET, HEAD"  # Starlette's files do not say which methods they take


def create_app(desk: Desk, *, write_log: Callable[[str], None] = lambda line: print(line, file=sys.stderr)) -> FastAPI:
    """Return the application; it answers 503 until the desk is opened.

    Args:
        desk: what the routes ask.
        write_log: takes one line for each request.
    """
    config = desk.config

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        desk.close()

    app = FastAPI(
        title="statgraph",
        version=__version__,
        summary="Find the articles of law that answer a question.",
        lifespan=lifespan,
        redirect_slashes=False,
        docs_url=None,
        redoc_url=None,
    )
    app.include_router(api_router(desk))
    _add_page(app)
    _add_reference(app)
    _add_problem_handlers(app)
    # The last added is asked first.
    app.add_middleware(BodyLimit, max_bytes=config.max_body, timeout_s=config.timeout_s)
    if config.token:
        app.add_middleware(BearerToken, token=config.token)
    app.add_middleware(RequestLog, write=write_log, metrics=desk.metrics, log_questions=config.log_questions)
    app.add_middleware(SecurityHeaders)
    made = app.openapi
    app.openapi = lambda: add_problem_schema(made())
    return app


class _PageFiles(StaticFiles):
    def file_response(self, *arguments, **options) -> Response:
        answer = super().file_response(*arguments, **options)
        answer.headers.update(_ASKED_ABOUT)
        return answer


def _add_page(app: FastAPI) -> None:
    @app.api_route("/", methods=["GET", "HEAD"], include_in_schema=False)
    async def page() -> Response:
        """The search page."""
        return FileResponse(PAGE / "index.html", headers=_ASKED_ABOUT)

    app.mount("/static", _PageFiles(directory=PAGE, check_dir=False), name="static")


def _add_reference(app: FastAPI) -> None:
    @app.get("/docs", include_in_schema=False)
    async def reference() -> Response:
        """What the service answers, for people."""
        return HTMLResponse(reference_page(app.openapi(), style="/docs/style.css"))

    @app.get("/docs/style.css", include_in_schema=False)
    async def style() -> Response:
        return Response(STYLE, media_type="text/css")


def _add_problem_handlers(app: FastAPI) -> None:
    @app.exception_handler(ProblemError)
    async def problem(request: Request, error: ProblemError) -> Response:
        return problem_response(error.status, error.detail, headers=error.headers)

    @app.exception_handler(UsageError)
    async def misused(request: Request, error: UsageError) -> Response:
        return problem_response(422, str(error))

    @app.exception_handler(RequestValidationError)
    async def unfit(request: Request, error: RequestValidationError) -> Response:
        errors = unfit_fields(error.errors(), content_type=request.headers.get("content-type", ""))
        detail = "; ".join(f"{found['place']}: {found['detail']}" for found in errors)
        return problem_response(422, detail, errors=errors)

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> Response:
        detail = _DETAILS.get(error.status_code, str(error.detail) or HTTPStatus(error.status_code).phrase)
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            taken = (error.headers or {}).get("Allow", _OF_FILES)
            detail = f"{request.method} is not taken at this address; send {taken}"
        return problem_response(error.status_code, detail, headers=error.headers)
