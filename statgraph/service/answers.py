"""What a run contains, in the form that the service answers with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from statgraph._version import __version__
from statgraph.graph.relations import HEADING, QUESTION
from statgraph.law.query import LIMITS
from statgraph.retrieval.search.hits import Explanation, Hit
from statgraph.service import schemas
from statgraph.service.loaded_run import LoadedRun, Node, heading_id_of
from statgraph.service.schemas import MAX_SHOWN


def about(loaded_run: LoadedRun, *, laws: list[str], as_of: str, takes_feedback: bool, explains: bool) -> schemas.About:
    """Return what the service answers from, counted as the law of a day."""
    tree, in_force = loaded_run.tree, loaded_run.in_force_below(as_of)
    return schemas.About(
        laws=laws,
        name=loaded_run.name,
        corpus=loaded_run.corpus,
        language=loaded_run.language,
        articles=len(loaded_run),
        in_force=sum(in_force[row] for row in tree.codes),
        headings=len(tree.headings),
        codes=[
            schemas.CodeSummary(
                heading_id=loaded_run.heading_ids[row],
                title=tree.headings[row].title,
                articles=in_force[row],
            )
            for row in tree.codes
        ],
        examples=loaded_run.examples,
        dated=loaded_run.retriever.has_dates,
        by_words=loaded_run.retriever.by_words,
        explains=explains,
        signals={name: dict(info.words) for name, info in loaded_run.retriever.signals.items()},
        limits={name: dict(limit.words) for name, limit in LIMITS.items() if limit.words},
        feedback=takes_feedback,
        version=__version__,
    )


def hit_answers(
    loaded_run: LoadedRun, question: str, hits: Sequence[Hit], explanations: Sequence[Explanation] | None = None
) -> list[schemas.HitAnswer]:
    """Return the hits of a question, each with the passage that best matches it, the words that they share, and its
    explanation if there are explanations."""
    found = loaded_run.retriever.with_passages(question, hits)
    words = loaded_run.retriever.shared_words(question, hits)
    return [
        schemas.HitAnswer(
            **vars(hit) | excerpt(hit.text, hit.passage, most=MAX_SHOWN),
            words=words[place],
            headings=_path_links(hit.path),
            explanation=explanation_answer(explanations[place]) if explanations else None,
        )
        for place, hit in enumerate(found)
    ]


def excerpt(text: str, passage: tuple[int, int] | None, *, most: int) -> dict[str, Any]:
    """Return `text` and `passage` of a hit: the whole text if it has at most `most` characters, else as many of them
    around the passage."""
    start, end = passage or (0, 0)
    begin = max(0, min((start + end - most) // 2, len(text) - most))
    shown = passage and schemas.Passage(start=start - begin, end=end - begin)
    return {"text": text[begin : begin + most], "passage": shown}


def explanation_answer(why: Explanation) -> schemas.ExplanationAnswer:
    """Return why an article was found.

    The question's vector does not pass through the graph, so the score without the graph is that of the own text.
    """
    neighbours = [
        schemas.Neighbour(**vars(neighbour), id=heading_id_of(neighbour.path) if neighbour.path else neighbour.node_id)
        for neighbour in why.neighbours
    ]
    return schemas.ExplanationAnswer(
        **vars(why) | {"neighbours": neighbours, "without_graph_score": why.own_text_score}
    )


def article_answer(loaded_run: LoadedRun, row: int) -> schemas.ArticleAnswer:
    """Return an article in full, with its neighbours and references."""
    (article,), graph = loaded_run.articles.read([row]), loaded_run.graph
    before, after = loaded_run.beside(row)
    valid_from, valid_to = loaded_run.articles.validity(row)
    versions = [
        schemas.Version(article_id=loaded_run.outlines[other].article_id, valid_from=begins, valid_to=ends)
        for other in loaded_run.versions(row)
        for begins, ends in [loaded_run.articles.validity(other)]
    ]
    return schemas.ArticleAnswer(
        **vars(article),
        headings=_path_links(article.path),
        previous=None if before is None else _article_link(loaded_run, before),
        next=None if after is None else _article_link(loaded_run, after),
        refers_to=[_article_link(loaded_run, other) for other in graph.refers_to(row)],
        referred_by=[_article_link(loaded_run, other) for other in graph.referred_by(row)],
        mentions=[
            schemas.Mention(start=start, end=end, article=_article_link(loaded_run, other))
            for start, end, other in loaded_run.mentions(row, article.text)
        ],
        elsewhere=loaded_run.articles.addresses(row),
        versions=versions,
        valid_from=valid_from,
        valid_to=valid_to,
    )


def headings_answer(loaded_run: LoadedRun, row: int | None, as_of: str) -> schemas.HeadingsAnswer:
    """Return a heading with what is directly under it, the codes for None; articles in force on a day are counted."""
    tree, in_force = loaded_run.tree, loaded_run.in_force_below(as_of)
    line = [] if row is None else [_heading_link(loaded_run, above) for above in tree.line(row)]
    return schemas.HeadingsAnswer(
        heading=line[-1] if line else None,
        ancestors=line[:-1],
        headings=[
            schemas.HeadingChild(
                **vars(_heading_link(loaded_run, child)),
                headings=tree.headings_below[child],
                articles=in_force[child],
            )
            for child in (tree.codes if row is None else tree.child_headings[row])
        ],
        articles=[] if row is None else [_article_link(loaded_run, child) for child in tree.child_articles[row]],
    )


def graph_answer(loaded_run: LoadedRun, article_row: int, *, hops: int) -> schemas.GraphAnswer:
    """Return the graph around an article, for drawing."""
    around = loaded_run.graph.neighbourhood(article_row, hops=hops)
    nodes = {node: _graph_node(loaded_run, node, far) for node, far in around.hops.items()}
    return schemas.GraphAnswer(
        nodes=list(nodes.values()),
        edges=[
            schemas.GraphEdge(source=nodes[source].id, target=nodes[target].id, relation=relation)
            for source, target, relation in around.edges
        ],
        cut=around.cut,
    )


def _graph_node(loaded_run: LoadedRun, node: Node, hops: int) -> schemas.GraphNode:
    kind, row = node
    if kind == HEADING:
        link = _heading_link(loaded_run, row)
        node_id, title = link.heading_id, link.title
    elif kind == QUESTION:
        question = loaded_run.graph.questions[row]
        node_id, title = question.question_id, question.text
    else:
        outline = loaded_run.outlines[row]
        node_id, title = outline.article_id, outline.title
    return schemas.GraphNode.model_validate({"id": f"{kind}:{node_id}", "kind": kind, "title": title, "hops": hops})


def _path_links(path: Sequence[str]) -> list[schemas.HeadingLink]:
    return [
        schemas.HeadingLink(heading_id=heading_id_of(path[:depth]), title=title)
        for depth, title in enumerate(path, start=1)
    ]


def _heading_link(loaded_run: LoadedRun, row: int) -> schemas.HeadingLink:
    return schemas.HeadingLink(heading_id=loaded_run.heading_ids[row], title=loaded_run.tree.headings[row].title)


def _article_link(loaded_run: LoadedRun, row: int) -> schemas.ArticleLink:
    outline = loaded_run.outlines[row]
    return schemas.ArticleLink(article_id=outline.article_id, title=outline.title, rubric=outline.rubric)
