"""Runs as tools for assistants that must cite law, by the Model Context Protocol. Needs the extra `serve`."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Annotated, Any

from statgraph._version import __version__
from statgraph.encoders.article_text import PATH_SEPARATOR
from statgraph.errors import StatgraphError, UsageError, on_command_line, unknown_name
from statgraph.extras import missing
from statgraph.law.allowed_rows import placed_rows
from statgraph.law.query import COUNT, DAY, LIMITS, PATH, TEXTS, Query
from statgraph.law.validity import asked_day
from statgraph.retrieval.search.hits import Hit, nothing_fits
from statgraph.service.answers import excerpt
from statgraph.service.loaded_run import LoadedRun
from statgraph.service.schemas import MAX_QUESTION, MAX_SHOWN

try:
    from mcp.server import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp.server.mcpserver.tools import Tool
    from mcp_types import ToolAnnotations
    from pydantic import BaseModel, Field
except ImportError:
    raise missing("mcp", "serve") from None

# An assistant reads every answer whole.
MAX_HITS = 50
MAX_TEXTS = 20
MAX_LISTED = 50
_INSTRUCTIONS = """Statutes of {laws}. Find articles with search_law,
read each with get_article before you rely on it, and cite its title. A hit may be relevant without being the answer."""

Codes = Annotated[list[str], Field(description="Whole titles of codes, as the first heading of a path has them.")]
ArticleId = Annotated[str, Field(description="As the tools give it; not the number of the article.")]


class ArticleRecord(BaseModel):
    """An article of law without its text. It is in force from `valid_from` up to the day before `valid_to`; without the
    first it always was, without the second it still is."""

    article_id: str
    title: str = Field(description="How the article is cited.")
    number: str = Field(description="Its number as its code writes it; empty where it is not known.")
    rubric: str = Field(description="Its own heading; empty where it has none.")
    path: list[str] = Field(description="The headings above it, from the code down.")
    valid_from: str | None
    valid_to: str | None = Field(description="The first day on which it is no longer in force.")


class ArticleText(ArticleRecord):
    """An article of law, or a part of a long one."""

    text: str
    whole: bool = Field(description="Whether the text is all of the article; get_article returns all of it.")


class FoundArticle(ArticleText):
    """An article that a search found; a score is comparable within one answer only."""

    rank: int
    score: float
    probability: float | None = Field(description="That it answers, comparable across questions; null if not known.")
    passage: str | None = Field(description="The part of the text that fits the question best, by its words.")


class FoundLaw(BaseModel):
    """What a search found, best first."""

    question: str
    articles: list[FoundArticle]
    nothing_fits: bool = Field(description="Whether probably no article answers the question.")
    unknown_articles: list[str] = Field(
        description="Numbers that the question names and no article carries, each with its code if it names one."
    )
    corrected: dict[str, str] = Field(
        description="Words of the question that the law does not have, each with the word that was searched for."
    )
    searched: int = Field(description="How many articles were searched: those of the codes, the heading and the day.")


class Surroundings(BaseModel):
    """What stands around an article; its `path` ends with the heading that its siblings share."""

    article: ArticleRecord
    siblings: list[ArticleRecord] = Field(description="The other articles under that heading, in its order.")
    cites: list[ArticleRecord] = Field(description="The articles that its text names, in the order of the text.")
    cited_by: list[ArticleRecord] = Field(description="The articles whose texts name it.")
    left_out: int = Field(description="How many more there are in the three lists.")


class LawOnDate(BaseModel):
    """Articles as they were on a day."""

    date: str
    in_force: list[ArticleText]
    not_in_force: list[ArticleRecord] = Field(description="Those of the same numbers or heading of another time.")
    left_out: int = Field(description="How many more there are; name a heading further down, or fewer numbers.")


class LawTools:
    """The tools; each may be called from any thread.

    Args:
        run: the run that answers.
    """

    def __init__(self, run: LoadedRun):
        self._run = run

    def search_law(
        self,
        question: Annotated[str, Field(max_length=MAX_QUESTION, description="In everyday words or the law's.")],
        **limits: Any,
    ) -> FoundLaw:
        """Find the articles of law that answer a question, best first."""
        query = Query(question, **limits)
        retriever = self._run.retriever
        hits, allowed = retriever.search(query, passages=True), retriever.allowed(query)
        return FoundLaw(
            question=question,
            articles=[self._found(hit) for hit in hits],
            nothing_fits=nothing_fits(hits),
            unknown_articles=retriever.unknown_articles(question),
            corrected=retriever.corrected_words(question),
            searched=len(self._run) if allowed is None else len(allowed),
        )

    def get_article(self, article_id: ArticleId) -> ArticleText:
        """Return an article with all of its text."""
        row = self._row(article_id)
        return self._text(row, self._run.articles.read([row])[0].text, whole=True)

    def neighbours(self, article_id: ArticleId) -> Surroundings:
        """Return what stands around an article: its heading, its siblings, what it cites and what cites it."""
        row = self._row(article_id)
        tree, graph = self._run.tree, self._run.graph
        siblings = [other for other in tree.child_articles[tree.article_parents[row]] if other != row]
        nearest = sorted(sorted(siblings, key=lambda other: abs(other - row))[:MAX_LISTED])
        cites, cited_by = graph.refers_to(row), graph.referred_by(row)
        return Surroundings(
            article=self._record(row),
            siblings=self._records(nearest),
            cites=self._records(cites[:MAX_LISTED]),
            cited_by=self._records(cited_by[:MAX_LISTED]),
            left_out=sum(max(0, len(rows) - MAX_LISTED) for rows in (siblings, cites, cited_by)),
        )

    def law_on_date(
        self,
        date: Annotated[str, Field(description="YYYY-MM-DD, or today.")],
        articles: Annotated[
            str | None, Field(max_length=MAX_QUESTION, description="Their numbers: 'articles L12-3 and L12-5'.")
        ] = None,
        heading: Annotated[list[str] | None, Field(description="The path of a heading, from the code down.")] = None,
        codes: Codes = (),  # type: ignore[assignment]  # a list would be one for all calls
    ) -> LawOnDate:
        """Return what was in force on a day: of the articles named by number, of those under a heading, or both."""
        if articles is None and heading is None:
            raise UsageError(
                "neither articles nor a heading; give the numbers of articles, the path of a heading, or both"
            )
        placed = placed_rows(self._run.tree, codes, self._known_path(heading))
        in_force = self._run.articles.in_force(asked_day(date))
        rows = range(len(self._run)) if articles is None else self._named_rows(articles)
        rows = [row for row in rows if placed is None or placed.mask[row]]
        current = [row for row in rows if in_force is None or in_force.mask[row]]
        others = [row for row in rows if in_force is not None and not in_force.mask[row]]
        shown = zip(current, self._run.articles.read(current[:MAX_TEXTS]), strict=False)
        return LawOnDate(
            date=date,
            in_force=[self._text(row, article.text) for row, article in shown],
            not_in_force=self._records(others[:MAX_LISTED]),
            left_out=max(0, len(current) - MAX_TEXTS) + max(0, len(others) - MAX_LISTED),
        )

    def _row(self, article_id: str) -> int:
        row = self._run.article_rows.get(article_id)
        if row is None:
            raise UsageError(f"article '{article_id}': no article has this id; take one from search_law or law_on_date")
        return row

    def _known_path(self, path: list[str] | None) -> tuple[str, ...]:
        if path is not None and tuple(path) not in self._run.tree.heading_rows:
            raise UsageError(
                f"heading '{PATH_SEPARATOR.join(path)}': no article is under it; take the path of an article"
            )
        return tuple(path or ())

    def _named_rows(self, articles: str) -> list[int]:
        """Return the rows of the articles that a text names by number, every version of each."""
        named = self._run.articles.named_articles.rows(articles)
        rows = [version for row in named for version in self._run.versions(row)]
        if not rows:
            raise UsageError(
                f"articles '{articles}': names no article of this law by its number; find it by search_law"
            )
        return list(dict.fromkeys(rows))

    def _record(self, row: int) -> ArticleRecord:
        outline = self._run.outlines[row]
        valid_from, valid_to = self._run.articles.validity(row)
        return ArticleRecord(**asdict(outline), valid_from=valid_from, valid_to=valid_to)

    def _records(self, rows: Iterable[int]) -> list[ArticleRecord]:
        return [self._record(row) for row in rows]

    def _text(self, row: int, text: str, *, whole: bool = False) -> ArticleText:
        shown = text if whole else text[:MAX_SHOWN]
        return ArticleText(**vars(self._record(row)), text=shown, whole=shown == text)

    def _found(self, hit: Hit) -> FoundArticle:
        record = self._record(self._run.article_rows[hit.article_id])
        shown = excerpt(hit.text, hit.passage, most=MAX_SHOWN)["text"]
        passage = hit.text[slice(*hit.passage)] if hit.passage else None
        return FoundArticle(
            **vars(record),
            rank=hit.rank,
            score=hit.score,
            probability=hit.probability,
            text=shown,
            whole=shown == hit.text,
            passage=passage,
        )


# By kind of a limit: the type of an assistant's argument, and what its description adds.
_LIMIT_KINDS = {
    COUNT: (Annotated[int, Field(ge=1, le=MAX_HITS)], "."),
    TEXTS: (list[str], ", or any of several; as a path has it."),
    PATH: (list[str], ": its titles from the code down."),
    DAY: (str, ": YYYY-MM-DD, or today."),
}


def create_mcp_server(laws: Mapping[str, LoadedRun]) -> MCPServer:
    """Return the server of tools that answer from the runs of one law or several, by the names that the tools' argument
    `law` then takes; `run("stdio")` of it serves them on standard input and output."""
    tools = {name: LawTools(run) for name, run in laws.items()}
    made = [_tool(name, tools) for name in ("search_law", "get_article", "neighbours", "law_on_date")]
    described = "; ".join(f"{name} ({len(run):,} articles, language {run.language})" for name, run in laws.items())
    instructions = _INSTRUCTIONS.format(laws=described)
    return MCPServer("statgraph", instructions=instructions, version=__version__, log_level="WARNING", tools=made)


def _tool(name: str, laws: Mapping[str, LawTools]) -> Tool:
    """Return a method of the laws' tools as a tool that refuses unknown arguments, and whose refusals reach the
    assistant with their remedy; where there are several laws it takes the one to ask."""
    first, *others = laws

    def answer(law: str = first, **named: object) -> BaseModel:
        try:
            if law not in laws:
                raise unknown_name("law", law, laws)
            found: BaseModel = getattr(laws[law], name)(**named)
            return found
        except StatgraphError as error:
            raise ToolError(on_command_line(error)) from None

    method = getattr(laws[first], name)
    signature = _with_limits(inspect.signature(method, eval_str=True))
    if others:
        kind = Annotated[str, Field(description="Which law.", json_schema_extra={"enum": list(laws)})]
        chosen = inspect.Parameter("law", inspect.Parameter.KEYWORD_ONLY, annotation=kind)
        signature = signature.replace(parameters=[*signature.parameters.values(), chosen])
    answer.__signature__ = signature  # type: ignore[attr-defined]
    tool = Tool.from_function(
        answer,
        name=name,
        description=" ".join((method.__doc__ or "").split()),
        annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
    )
    arguments = tool.fn_metadata.arg_model
    arguments.model_config["extra"] = "forbid"
    arguments.model_rebuild(force=True)
    tool.parameters = arguments.model_json_schema(by_alias=True)
    return tool


def _with_limits(signature: inspect.Signature) -> inspect.Signature:
    """Return a signature with a parameter for each limit of a search in place of `**limits`."""
    named = [each for each in signature.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
    if len(named) == len(signature.parameters):
        return signature
    for name, limit in LIMITS.items():
        kind, note = _LIMIT_KINDS[limit.kind]
        kind = Annotated[kind, Field(description=limit.help + note)]
        named.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=limit.default, annotation=kind))
    return signature.replace(parameters=named)
