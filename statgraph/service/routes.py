"""The service's addresses: each reads the request, asks the law that it names, and answers with a model of
`schemas`."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request, Response
from fastapi import Query as QueryParameter
from fastapi.concurrency import run_in_threadpool
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from statgraph.errors import unknown_name
from statgraph.law.query import LIMITS, PATH, Query
from statgraph.law.validity import TODAY
from statgraph.retrieval.search.hits import nothing_fits
from statgraph.service import answers, schemas
from statgraph.service.feedback import FeedbackFullError, append_mark
from statgraph.service.laws import OpenRun, ServedLaw
from statgraph.service.loaded_run import LoadedRun
from statgraph.service.middleware import LAW, QUESTION, WARNING
from statgraph.service.problems import ProblemError, documented


def law_named(request: Request, name: str | None) -> ServedLaw:
    """Return the law that a request names, the first if it names none; UsageError if there is no such law."""
    laws: dict[str, ServedLaw] = request.app.state.laws
    name = name or next(iter(laws))
    if name not in laws:
        raise unknown_name("law", name, laws)
    setattr(request.state, LAW, name)
    return laws[name]


async def served_law(request: Request, law: schemas.LawName = None) -> ServedLaw:
    """Return the law that the query string names."""
    return law_named(request, law)


async def open_run(law: Annotated[ServedLaw, Depends(served_law)]) -> AsyncIterator[OpenRun]:
    """Yield the run, the same to the end of the request; 503 while it is loading."""
    with law.current.in_use() as run:
        yield run


async def loaded_run(opened: Annotated[OpenRun, Depends(open_run)]) -> LoadedRun:
    """Return the run in memory; 503 while it is loading."""
    return opened.loaded_run


Law = Annotated[ServedLaw, Depends(served_law)]
Run = Annotated[LoadedRun, Depends(loaded_run)]
ArticleId = Annotated[str, Path(description="The article's id in the corpus.")]
Hops = Annotated[int, QueryParameter(ge=1, le=3)]
Day = Annotated[
    schemas.Day | None, QueryParameter(description="Only articles in force on this date count; default: today.")
]
HeadingId = Annotated[str, Path(description="12 hex digits, as every answer gives them.")]

router = APIRouter()


@router.get("/api/about", responses=documented(422, 503))
async def about(run: Run, law: Law, request: Request, as_of: Day = None) -> schemas.About:
    """What the service answers from."""
    return await run_in_threadpool(
        answers.about,
        run,
        laws=list(request.app.state.laws),
        as_of=as_of or TODAY,
        takes_feedback=law.feedback is not None,
        explains=law.config.rewriter is None,
    )


@router.post("/api/search", responses=documented(400, 422, 503, 504))
async def search(asked: schemas.SearchRequest, request: Request) -> schemas.SearchAnswer:
    """Find the articles that answer a question."""
    law = law_named(request, asked.law)
    with law.current.in_use() as opened:
        run = opened.loaded_run
        start = time.perf_counter()
        setattr(request.state, QUESTION, asked.question)
        query = Query(asked.question, **_limits(run, asked))
        allowed = run.retriever.allowed(query)
        if asked.explain and law.config.rewriter is not None:
            raise ProblemError(
                422, "explain: this service rewrites questions, and explains no fused hits; leave it out"
            )
        hits, rewritten, warning = await law.search_rewritten(opened, query)
        if warning:
            setattr(request.state, WARNING, warning)
        explanations = await law.explain(opened, query, hits) if asked.explain else None
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
async def add_article(given: schemas.ArticleRequest, run: Run, law: Law) -> schemas.Changed:
    """Add an article to the run; the answer comes once others see it."""
    law.require_editable()
    if given.id in run.article_rows and not given.replace:
        raise ProblemError(409, f"article '{given.id}': the run has one of this id; send replace, or another id")
    row = given.model_dump(exclude_defaults=True, exclude={"replace"})
    return await _edited(law, run, add=[row], overwrite=given.replace)


@router.delete("/api/articles/{article_id:path}", responses=documented(403, 404, 409, 422, 503, 507))
async def remove_article(article_id: ArticleId, run: Run, law: Law) -> schemas.Changed:
    """Remove an article from the run; the answer comes once others miss it."""
    law.require_editable()
    _article_row(run, article_id)
    return await _edited(law, run, remove=[article_id])


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
async def feedback(mark: schemas.FeedbackRequest, request: Request) -> schemas.Stored:
    """Mark an article as a right or a wrong answer to a question."""
    law = law_named(request, mark.law)
    run, path, max_bytes = law.current.loaded_run, law.feedback, law.config.max_feedback
    if path is None:
        raise ProblemError(404, "this service takes no feedback; start it without --no-feedback")
    _article_row(run, mark.article_id)
    stored = mark.model_dump() | {"law": run.corpus if len(request.app.state.laws) > 1 else None}
    try:
        await run_in_threadpool(append_mark, path, max_bytes=max_bytes, **stored)
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
async def ready(request: Request) -> schemas.Status:
    """Whether the run of every law is loaded."""
    for law in request.app.state.laws.values():
        law.current  # noqa: B018 -- raises while it is loading
    return schemas.Status(status="ready")


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def metrics(request: Request) -> Response:
    """The service's metrics, in Prometheus's text format."""
    return Response(generate_latest(request.app.state.metrics.registry), media_type=CONTENT_TYPE_LATEST)


async def _edited(law: ServedLaw, run: LoadedRun, **edits: Any) -> schemas.Changed:
    def change() -> None:
        from statgraph.systems.updating.editing import edit_run  # loads what trains

        edit_run(run.folder, **edits)

    await law.change(change)
    return schemas.Changed(articles=len(law.current.loaded_run))


def _limits(run: LoadedRun, asked: schemas.SearchRequest) -> dict[str, Any]:
    """Return the limits that a request gives, with the path of a heading in place of its id."""
    given = {name: value for name in LIMITS if (value := getattr(asked, name)) is not None}
    return given | {name: run.heading_path(given[name]) for name in given if LIMITS[name].kind == PATH}


def _article_row(run: LoadedRun, article_id: str) -> int:
    row = run.article_rows.get(article_id)
    if row is None:
        raise ProblemError(404, f"article '{article_id}': no article has this id")
    return row
