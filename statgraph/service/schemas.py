"""What the service takes and returns, as pydantic models; the OpenAPI document is made from them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, create_model

from statgraph.law.query import COUNT, DAY, LIMITS, PATH, TEXTS
from statgraph.retrieval.lexical.bm25 import TermWeight
from statgraph.retrieval.search.hits import UNLIKELY, Contribution

MAX_QUESTION = 20_000
MAX_K = 500
MAX_CODES = 100
MAX_SHOWN = 2000
MAX_COMMENT = 1000
MAX_ID = 500


DateText = Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$", json_schema_extra={"format": "date"})]
Day = Annotated[DateText, AfterValidator(lambda day: date.fromisoformat(day).isoformat())]  # of the calendar
LawName = Annotated[
    str | None, Field(max_length=MAX_ID, description="Which law: /api/about lists them; default: the first.")
]
QuestionText = Annotated[str, Field(min_length=1, max_length=MAX_QUESTION)]


class _Asked(BaseModel):
    """What a client sends: no unknown field, and no value of another type."""

    model_config = ConfigDict(strict=True, extra="forbid")


# By kind of a limit: its type, default and bounds in a request, and what its description adds.
_LIMIT_KINDS: dict[str, tuple[Any, dict[str, Any], str]] = {
    COUNT: (int, {"ge": 1, "le": MAX_K}, "."),
    TEXTS: (list[str], {"max_length": MAX_CODES}, ", or any of several."),
    PATH: (str | None, {"default": None, "max_length": MAX_ID}, ", by its id."),
    DAY: (Day | None, {"default": None}, ": YYYY-MM-DD; default: today."),
}


def _limit_fields() -> Iterator[tuple[str, Any]]:
    for name, limit in LIMITS.items():
        kind, bounds, note = _LIMIT_KINDS[limit.kind]
        yield name, (kind, Field(**{"default": limit.default} | bounds, description=limit.help + note))


if TYPE_CHECKING:

    class SearchRequest(_Asked):
        question: str
        law: str | None
        explain: bool
else:
    SearchRequest = create_model(
        "SearchRequest",
        __base__=_Asked,
        __doc__="A question, and which articles to search.",
        question=(QuestionText, Field(examples=["Who gets the deposit back?"])),
        law=(LawName, None),
        **dict(_limit_fields()),
        explain=(bool, Field(False, description="Whether to explain why each hit was found, if the run can.")),
    )


class FeedbackRequest(_Asked):
    """Whether an article answers a question, as a reader sees it."""

    question: QuestionText
    article_id: str = Field(min_length=1)
    law: LawName = None
    right: bool | None = Field(description="null takes an earlier mark back.")
    comment: str | None = Field(None, max_length=MAX_COMMENT)


class ArticleRequest(_Asked):
    """An article to add to the run."""

    id: str = Field(min_length=1, max_length=MAX_ID)
    text: str = Field(min_length=1)
    path: list[str] = Field(min_length=1, description="The headings above it, from the code down.")
    title: str = Field("", description="How it is cited; default: its number and its code.")
    number: str = Field("", description="Its number, as its code writes it.")
    rubric: str = Field("", description="Its own heading.")
    valid_from: DateText | None = None
    valid_to: DateText | None = None
    replace: bool = Field(False, description="Whether it replaces the article that has its id.")


class HeadingLink(BaseModel):
    """A heading by id and title."""

    heading_id: str
    title: str


class ArticleLink(BaseModel):
    """An article by id and title; `rubric` is its own heading, empty where it has none."""

    article_id: str
    title: str
    rubric: str


class CodeSummary(HeadingLink):
    """A code and how many articles of it are in force."""

    articles: int


class About(BaseModel):
    """What the service answers from."""

    laws: list[str] = Field(description="The names that `law` takes, the default first.")
    name: str
    corpus: str
    language: str
    articles: int = Field(description="Those of every day.")
    in_force: int = Field(description="Those in force on the day asked for, today without one.")
    headings: int
    codes: list[CodeSummary]
    examples: list[str]
    dated: bool = Field(description="Whether any article says when it is in force, so that `as_of` chooses among them.")
    by_words: bool = Field(description="Whether articles are found only by words that they share with the question.")
    explains: bool
    signals: dict[str, dict[str, str]] = Field(
        description="Of an ensemble: what each source of its contributions says of an article, by language."
    )
    limits: dict[str, dict[str, str]] = Field(
        description="What the page calls the limits of a search that have no place of their own there, by language."
    )
    feedback: bool
    version: str


class Passage(BaseModel):
    """The place of the passage in a text, in Unicode code points; `end` is the first after it."""

    start: int
    end: int


class Neighbour(BaseModel):
    """A node that the last graph layer looked at: its share of the attention, a mean over the heads, and the least and
    the most that a head gives it. The article is one of its own neighbours, by the relation `itself`."""

    kind: Literal["heading", "article", "question", "citing"]
    id: str
    title: str
    relation: str
    weight: float
    least: float
    most: float


class ExplanationAnswer(BaseModel):
    """Why an article was found; `note` says why a part is missing. The contributions, of ensembles only, add up to the
    score."""

    score: float
    own_text_score: float | None
    without_graph_score: float | None
    without_questions_score: float | None
    neighbours: list[Neighbour]
    terms: list[TermWeight]
    contributions: list[Contribution]
    note: str


class HitAnswer(BaseModel):
    """An article found; `text` is the part of it around the passage that best matches the question. `valid_to` is the
    first day on which it is no longer in force."""

    rank: int
    score: float
    probability: float | None = Field(
        description="That the article answers the question, comparable across questions; null where the run has none."
    )
    article_id: str
    title: str
    number: str
    rubric: str
    valid_from: str | None
    valid_to: str | None
    headings: list[HeadingLink]
    text: str = Field(max_length=MAX_SHOWN)
    passage: Passage | None
    words: list[str] = Field(
        description="Words of the article, its title and its path that the question has in whatever form, lower-case."
    )
    explanation: ExplanationAnswer | None


class SearchAnswer(BaseModel):
    """The hits, best first."""

    question: str
    rewritten: str | None = Field(None, description="The question in the law's words, if it was searched by them too.")
    hits: list[HitAnswer]
    nothing_fits: bool = Field(description=f"Whether every hit has a probability below {UNLIKELY}.")
    unknown_articles: list[str] = Field(
        description="Numbers that the question names and no article carries, each with its code if it names one."
    )
    corrected: dict[str, str] = Field(
        description="Words of the question that the law does not have, each with the word that was searched for."
    )
    searched: int = Field(description="How many articles were searched: those of the codes, the heading and the day.")
    took_ms: float


class Mention(BaseModel):
    """A place of a text, in Unicode code points, that names an article."""

    start: int
    end: int
    article: ArticleLink


class Version(BaseModel):
    """A version of an article and when it is in force."""

    article_id: str
    valid_from: str | None
    valid_to: str | None


class ArticleAnswer(BaseModel):
    """An article in full, with its neighbours in the code and its references."""

    article_id: str
    title: str
    number: str
    rubric: str
    text: str
    headings: list[HeadingLink]
    previous: ArticleLink | None
    next: ArticleLink | None
    refers_to: list[ArticleLink]
    referred_by: list[ArticleLink]
    mentions: list[Mention] = Field(description="Where the text names articles of the law.")
    elsewhere: list[str] = Field(description="Web addresses of what it refers to in other laws, from its source.")
    versions: list[Version] = Field(description="Those of its number in its code, by their dates, itself included.")
    valid_from: str | None
    valid_to: str | None


class HeadingChild(HeadingLink):
    """A heading in a list: how many headings, and articles in force, are under it, at any depth."""

    headings: int
    articles: int


class HeadingsAnswer(BaseModel):
    """A heading of the table of contents with what is directly under it; the codes where `heading` is null."""

    heading: HeadingLink | None
    ancestors: list[HeadingLink]
    headings: list[HeadingChild]
    articles: list[ArticleLink]


class GraphNode(BaseModel):
    """A node of the drawing: `id` is its kind, a colon, and its own id; `hops` from the article asked for."""

    id: str
    kind: Literal["article", "heading", "question"]
    title: str
    hops: int


class GraphEdge(BaseModel):
    """An edge between two nodes of the drawing."""

    source: str
    target: str
    relation: str


class GraphAnswer(BaseModel):
    """The graph around an article; `cut` if nodes were left out."""

    nodes: list[GraphNode]
    edges: list[GraphEdge]
    cut: bool


class Stored(BaseModel):
    """The feedback is on disk."""

    stored: Literal[True] = True


class Changed(BaseModel):
    """The run is changed on disk, and requests from now on are answered from it; how many articles it holds."""

    articles: int


class Status(BaseModel):
    """The state of the service."""

    status: str


class FieldProblem(BaseModel):
    """An invalid field, and why it is invalid."""

    place: str
    detail: str


class Problem(BaseModel):
    """RFC 9457 problem details."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[FieldProblem] | None = None
