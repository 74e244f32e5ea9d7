"""The service's addresses: each reads what was asked, asks the desk, and answers with a model of `schemas`."""

from __future__ import annotations

import time
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.routing import APIRoute

from statgraph.service import answers, schemas
from statgraph.service.desk import Desk
from statgraph.service.feedback import FeedbackFullError
from statgraph.service.metrics import CONTENT_TYPE
from statgraph.service.openapi import documented
from statgraph.service.problems import ProblemError
from statgraph.service.request_log import QUESTION

ArticleId = Annotated[str, Path(description="The article's id in the corpus.")]
HeadingId = Annotated[str, Path(description="12 hex digits, as every answer gives them.")]


def api_router(desk: Desk) -> APIRouter:
    """Return the routes of the API, of the health checks and of the figures."""
    router = APIRouter(route_class=APIRoute)

    @router.get("/api/about", responses=documented(503))
    async def about() -> schemas.About:
        """What the service answers from."""
        return answers.about(desk.library, takes_feedback=desk.feedback is not None)

    @router.post("/api/search", responses=documented(400, 422, 503, 504))
    async def search(asked: schemas.SearchRequest, request: Request) -> schemas.SearchAnswer:
        """Find the articles that answer a question."""
        start = time.perf_counter()
        setattr(request.state, QUESTION, asked.question)
        library = desk.library
        among = library.among(codes=asked.codes, heading_id=asked.heading, as_of=asked.as_of)
        hits = await desk.search(asked.question, asked.k, among)
        explanations = await desk.explain(asked.question, hits) if asked.explain else None
        found = await run_in_threadpool(answers.hit_answers, library, asked.question, hits, explanations)
        took_ms = 1000 * (time.perf_counter() - start)
        return schemas.SearchAnswer(question=asked.question, hits=found, took_ms=took_ms)

    @router.get("/api/articles/{article_id:path}", responses=documented(404, 422, 503))
    async def article(article_id: ArticleId) -> schemas.ArticleAnswer:
        """An article in full, with what stands beside it."""
        library = desk.library
        return await run_in_threadpool(answers.article_answer, library, _article_row(library, article_id))

    @router.get("/api/headings", responses=documented(503))
    async def codes() -> schemas.HeadingsAnswer:
        """The codes."""
        return answers.headings_answer(desk.library.contents, None)

    @router.get("/api/headings/{heading_id}", responses=documented(404, 422, 503))
    async def heading(heading_id: HeadingId) -> schemas.HeadingsAnswer:
        """A heading with what stands directly under it."""
        contents = desk.library.contents
        row = contents.heading_row(heading_id)
        if row is None:
            raise ProblemError(404, f"heading '{heading_id}': there is none with this id; start from /api/headings")
        return answers.headings_answer(contents, row)

    @router.get("/api/graph/{article_id:path}", responses=documented(404, 422, 503))
    async def graph(article_id: ArticleId, hops: Annotated[int, Query(ge=1, le=3)] = 2) -> schemas.GraphAnswer:
        """What stands around an article, for drawing: at most 150 nodes, the nearest first."""
        library = desk.library
        row = _article_row(library, article_id)
        return await run_in_threadpool(answers.graph_answer, library, row, hops=hops)

    @router.post("/api/feedback", status_code=201, responses=documented(400, 404, 422, 503, 507))
    async def feedback(mark: schemas.FeedbackRequest) -> schemas.Stored:
        """Mark an article as a right or a wrong answer to a question."""
        if desk.feedback is None:
            raise ProblemError(404, "this service takes no feedback; start it with --feedback FILE")
        _article_row(desk.library, mark.article_id)
        try:
            await run_in_threadpool(desk.feedback.append, **mark.model_dump())
        except FeedbackFullError:
            raise ProblemError(507, "the feedback file has grown to its bound; move it away") from None
        except OSError as error:
            raise ProblemError(507, f"the feedback cannot be written ({error.strerror})") from None
        return schemas.Stored()

    @router.get("/healthz")
    async def alive() -> schemas.Status:
        """Whether the process answers."""
        return schemas.Status(status="alive")

    @router.get("/readyz", responses=documented(503))
    async def ready() -> schemas.Status:
        """Whether the run is loaded."""
        _ = desk.library
        return schemas.Status(status="ready")

    @router.get(
        "/metrics",
        response_class=Response,
        responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
    )
    async def metrics() -> Response:
        """The service's figures, in Prometheus's text format."""
        return Response(desk.metrics.text(), media_type=CONTENT_TYPE)

    return router


def _article_row(library, article_id: str) -> int:
    row = library.contents.article_row(article_id)
    if row is None:
        raise ProblemError(404, f"article '{article_id}': there is none with this id")
    return row
