"""What a library holds, in the form that the service answers with."""

from __future__ import annotations

from collections.abc import Sequence

from statgraph import __version__
from statgraph.graph.relations import HEADING, QUESTION
from statgraph.search.retriever import Hit
from statgraph.service import schemas
from statgraph.service.contents import Contents, heading_id_of
from statgraph.service.library import Library
from statgraph.service.neighbourhood import Node


def about(library: Library, *, takes_feedback: bool) -> schemas.About:
    """Return what the service answers from."""
    contents = library.contents
    return schemas.About(
        name=library.name,
        corpus=library.corpus,
        language=library.language,
        articles=len(contents),
        headings=len(contents.headings),
        codes=[
            schemas.CodeSummary(
                heading_id=contents.heading_id(row),
                title=contents.headings[row][-1],
                articles=contents.articles_below(row),
            )
            for row in contents.child_headings(None)
        ],
        examples=library.examples,
        explains=False,
        feedback=takes_feedback,
        version=__version__,
    )


def hit_answers(library: Library, question: str, hits: Sequence[Hit]) -> list[schemas.HitAnswer]:
    """Return the hits of a question, each with the part of its text that fits best."""
    excerpts = library.passages.excerpts(question, [hit.text for hit in hits])
    return [
        schemas.HitAnswer(
            rank=hit.rank,
            score=hit.score,
            article_id=hit.article_id,
            title=hit.title,
            headings=_path_links(hit.path),
            text=excerpt.text,
            passage=excerpt.passage and schemas.Passage(start=excerpt.passage[0], end=excerpt.passage[1]),
            explanation=None,
        )
        for hit, excerpt in zip(hits, excerpts, strict=True)
    ]


def article_answer(library: Library, row: int) -> schemas.ArticleAnswer:
    """Return an article in full with what stands beside it."""
    contents, article = library.contents, library.article(row)
    references = library.surroundings.references
    before, after = contents.beside(row)
    valid_from, valid_to = library.validity(row)
    return schemas.ArticleAnswer(
        article_id=article.article_id,
        title=article.title,
        text=article.text,
        headings=_path_links(article.path),
        previous=None if before is None else _article_link(contents, before),
        next=None if after is None else _article_link(contents, after),
        refers_to=[_article_link(contents, other) for other in references.refers_to(row)],
        referred_by=[_article_link(contents, other) for other in references.referred_by(row)],
        valid_from=valid_from,
        valid_to=valid_to,
    )


def headings_answer(contents: Contents, row: int | None) -> schemas.HeadingsAnswer:
    """Return a heading with what stands directly under it; the codes for None."""
    line = [] if row is None else [_heading_link(contents, above) for above in contents.line_of(row)]
    return schemas.HeadingsAnswer(
        heading=line[-1] if line else None,
        ancestors=line[:-1],
        headings=[
            schemas.HeadingChild(
                **_heading_link(contents, child).model_dump(),
                headings=contents.headings_below(child),
                articles=contents.articles_below(child),
            )
            for child in contents.child_headings(row)
        ],
        articles=[] if row is None else [_article_link(contents, child) for child in contents.child_articles(row)],
    )


def graph_answer(library: Library, article_row: int, *, hops: int) -> schemas.GraphAnswer:
    """Return what stands around an article, for drawing."""
    around = library.surroundings.neighbourhood(article_row, hops=hops)
    nodes = {node: _graph_node(library, node, far) for node, far in around.hops.items()}
    return schemas.GraphAnswer(
        nodes=list(nodes.values()),
        edges=[
            schemas.GraphEdge(source=nodes[source].id, target=nodes[target].id, relation=relation)
            for source, target, relation in around.edges
        ],
        cut=around.cut,
    )


def _graph_node(library: Library, node: Node, hops: int) -> schemas.GraphNode:
    kind, row = node
    if kind == HEADING:
        node_id, title = library.contents.heading_id(row), library.contents.headings[row][-1]
    elif kind == QUESTION:
        question = library.surroundings.questions.questions[row]
        node_id, title = question.question_id, question.text
    else:
        node_id, title = library.contents.outlines[row].article_id, library.contents.outlines[row].title
    return schemas.GraphNode(id=f"{kind}:{node_id}", kind=kind, title=title, hops=hops)


def _path_links(path: Sequence[str]) -> list[schemas.HeadingLink]:
    return [
        schemas.HeadingLink(heading_id=heading_id_of(path[:depth]), title=title)
        for depth, title in enumerate(path, start=1)
    ]


def _heading_link(contents: Contents, row: int) -> schemas.HeadingLink:
    return schemas.HeadingLink(heading_id=contents.heading_id(row), title=contents.headings[row][-1])


def _article_link(contents: Contents, row: int) -> schemas.ArticleLink:
    outline = contents.outlines[row]
    return schemas.ArticleLink(article_id=outline.article_id, title=outline.title)
