"""The service's addresses: each reads the request, asks the service state, and answers with a model of `schemas`."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request, Response
from fastapi import Query as QueryParameter
from fastapi.concurrency import run_in_threadpool
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from statgraph.law.query import LIMITS, PATH, Query
from statgraph.law.validity import TODAY
from statgraph.retrieval.search.hits import nothing_fits
from statgraph.service import answers, schemas
from statgraph.service.feedback import FeedbackFullError, append_mark
from statgraph.service.loaded_run import LoadedRun
from statgraph.service.middleware import QUESTION, WARNING
from statgraph.service.problems import ProblemError, documented
from statgraph.service.state import OpenRun, ServiceState


async def service_state(request: Request) -> ServiceState:
    """Return what `create_app` was given."""
    state: ServiceState = request.app.state.service
    return state


async def open_run(request: Request) -> AsyncIterator[OpenRun]:
    """Yield the run, the same to the end of the request; 503 while it is loading."""
    with request.app.state.service.current.in_use() as run:
        yield run


async def loaded_run(opened: Annotated[OpenRun, Depends(open_run)]) -> LoadedRun:
    """Return the run in memory; 503 while it is loading."""
    return opened.loaded_run


State = Annotated[ServiceState, Depends(service_state)]
Opened = Annotated[OpenRun, Depends(open_run)]
Run = Annotated[LoadedRun, Depends(loaded_run)]
ArticleId = Annotated[str, Path(description="The article's id in the corpus.")]
Hops = Annotated[int, QueryParameter(ge=1, le=3)]
Day = Annotated[
    schemas.Day | None, QueryParameter(description="Only articles in force on this date count; default: today.")
]
HeadingId = Annotated[str, Path(description="12 hex digits, as every answer gives them.")]

router = APIRouter()


@router.get("/api/about", responses=documented(422, 503))
async def about(run: Run, state: State, as_of: Day = None) -> schemas.About:
    """What the service answers from."""
    marked, explains = state.config.feedback is not None, state.config.rewriter is None
    return await run_in_threadpool(answers.about, run, as_of=as_of or TODAY, takes_feedback=marked, explains=explains)


@router.post("/api/search", responses=documented(400, 422, 503, 504))
async def search(asked: schemas.SearchRequest, request: Request, opened: Opened, state: State) -> schemas.SearchAnswer:
    """Find the articles that answer a question."""
    run = opened.loaded_run
    start = time.perf_counter()
    setattr(request.state, QUESTION, asked.question)
    query = Query(asked.question, **_limits(run, asked))
    allowed = run.retriever.allowed(query)
    if asked.explain and state.config.rewriter is not None:
        raise ProblemError(422, "explain: this service rewrites questions, and explains no fused hits; leave it out")
    hits, rewritten, warning = await state.search_rewritten(opened, query)
    if warning:
        setattr(request.state, WARNING, warning)
    explanations = await state.explain(opened, query, hits) if asked.explain else None
    found = await run_in_threadpool(answers.hit_answers, run, asked.question, hits, explanations)
    unknown = await run_in_threadpool(run.retriever.unknown_articles, asked.question)
    corrected = await run_in_threadpool(run.retriever.corrected_words, asked.question)
    took_ms = 1000 * (time.perf_counter() - start)
    searched = len(run) if allowed is None else len(allowed)
    return schemas.SearchAnswer(
        question=asked.question,
        rewritten=rewritten,
        hits=found,
        nothing_fits=nothing_fits(hits),
        unknown_articles=unknown,
        corrected=corrected,
        searched=searched,
        took_ms=took_ms,
    )


@router.get("/api/articles/{article_id:path}", responses=documented(404, 422, 503))
async def article(article_id: ArticleId, run: Run) -> schemas.ArticleAnswer:
    """An article in full, with its neighbours and references."""
    return await run_in_threadpool(answers.article_answer, run, _article_row(run, article_id))


@router.post("/api/articles", status_code=201, responses=documented(400, 403, 409, 422, 503, 507))
async def add_article(given: schemas.ArticleRequest, run: Run, state: State) -> schemas.Changed:
    """Add an article to the run; the answer comes once others see it."""
    state.require_editable()
    if given.id in run.article_rows and not given.replace:
        raise ProblemError(409, f"article '{given.id}': the run has one of this id; send replace, or another id")
    row = given.model_dump(exclude_defaults=True, exclude={"replace"})
    return await _edited(state, run, add=[row], overwrite=given.replace)


@router.delete("/api/articles/{article_id:path}", responses=documented(403, 404, 409, 422, 503, 507))
async def remove_article(article_id: ArticleId, run: Run, state: State) -> schemas.Changed:
    """Remove an article from the run; the answer comes once others miss it."""
    state.require_editable()
    _article_row(run, article_id)
    return await _edited(state, run, remove=[article_id])


@router.get("/api/headings", responses=documented(422, 503))
async def codes(run: Run, as_of: Day = None) -> schemas.HeadingsAnswer:
    """The codes."""
    return answers.headings_answer(run, None, as_of or TODAY)


@router.get("/api/headings/{heading_id}", responses=documented(404, 422, 503))
async def heading(heading_id: HeadingId, run: Run, as_of: Day = None) -> schemas.HeadingsAnswer:
    """A heading with what is directly under it."""
    row = run.heading_rows.get(heading_id)
    if row is None:
        raise ProblemError(404, f"heading '{heading_id}': no heading has this id; start from /api/headings")
    return answers.headings_answer(run, row, as_of or TODAY)


@router.get("/api/graph/{article_id:path}", responses=documented(404, 422, 503))
async def graph(article_id: ArticleId, run: Run, hops: Hops = 2) -> schemas.GraphAnswer:
    """The graph around an article, for drawing: at most 150 nodes, the nearest first."""
    return await run_in_threadpool(answers.graph_answer, run, _article_row(run, article_id), hops=hops)


@router.post("/api/feedback", status_code=201, responses=documented(400, 404, 422, 503, 507))
async def feedback(mark: schemas.FeedbackRequest, run: Run, state: State) -> schemas.Stored:
    """Mark an article as a right or a wrong answer to a question."""
    path, max_bytes = state.config.feedback, state.config.max_feedback
    if path is None:
        raise ProblemError(404, "this service takes no feedback; start it without --no-feedback")
    _article_row(run, mark.article_id)
    try:
        await run_in_threadpool(append_mark, path, max_bytes=max_bytes, **mark.model_dump())
    except FeedbackFullError:
        raise ProblemError(507, "the feedback file has reached its maximum size; move it away") from None
    except OSError as error:
        raise ProblemError(507, f"the feedback cannot be written ({error.strerror})") from None
    return schemas.Stored()


@router.get("/healthz")
async def alive() -> schemas.Status:
    """Whether the process answers."""
    return schemas.Status(status="alive")


@router.get("/readyz", responses=documented(503))
async def ready(run: Run) -> schemas.Status:
    """Whether the run is loaded."""
    return schemas.Status(status="ready")


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def metrics(state: State) -> Response:
    """The service's metrics, in Prometheus's text format."""
    return Response(generate_latest(state.metrics.registry), media_type=CONTENT_TYPE_LATEST)


async def _edited(state: ServiceState, run: LoadedRun, **edits: Any) -> schemas.Changed:
    def change() -> None:
        from statgraph.systems.updating.editing import edit_run  # loads what trains

        edit_run(run.folder, **edits)

    await state.change(change)
    return schemas.Changed(articles=len(state.current.loaded_run))


def _limits(run: LoadedRun, asked: schemas.SearchRequest) -> dict[str, Any]:
    """Return the limits that a request gives, with the path of a heading in place of its id."""
    given = {name: value for name in LIMITS if (value := getattr(asked, name)) is not None}
    return given | {name: run.heading_path(given[name]) for name in given if LIMITS[name].kind == PATH}


def _article_row(run: LoadedRun, article_id: str) -> int:
    row = run.article_rows.get(article_id)
    if row is None:
        raise ProblemError(404, f"article '{article_id}': no article has this id")
    return row
