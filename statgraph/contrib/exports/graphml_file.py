"""The law as a GraphML file for networkx, Gephi and their like: headings, articles, references, training questions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from statgraph.encoders.article_text import PATH_SEPARATOR
from statgraph.graph.gnn.graph_inputs import read_graph_inputs
from statgraph.graph.relations import ARTICLE, CITES, CONTAINS_ARTICLE, CONTAINS_HEADING, HEADING, QUESTION, TRAIN_SPLIT
from statgraph.law.citations.references import REFERS_TO, citations_among
from statgraph.law.records import Article, Corpus, Question
from statgraph.law.tree import tree_of
from statgraph.runs.article_store import ArticleStore, StoredArticle
from statgraph.runs.run import RunFolder

if TYPE_CHECKING:
    import networkx

# XML has no way to write these.
_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_graphml(source: Corpus | RunFolder, path: Path) -> str:
    """Write the graph of a corpus, or of a run's articles and, if it was trained with a graph, its training questions.

    Raises:
        RunError: if the run is damaged.
    """
    import networkx

    articles: Sequence[Article | StoredArticle]
    if isinstance(source, Corpus):
        articles, questions = source.articles, source.split(TRAIN_SPLIT)
    else:
        articles = ArticleStore(source.folder).read_all()
        questions = read_graph_inputs(source.graph_inputs).questions if source.has_graph else ()
    graph = law_graph(articles, questions)
    networkx.write_graphml(graph, path, encoding="utf-8")
    return f"{graph.number_of_nodes():,} nodes and {graph.number_of_edges():,} edges"


def law_graph(articles: Sequence[Article | StoredArticle], questions: Sequence[Question]) -> networkx.DiGraph:
    """Return a `networkx.DiGraph`.

    Nodes are `heading:NUMBER`, `article:ID` and `question:ID`, with `kind` (heading, article, question) and `title`;
    the first two also with `code` and `path`, a heading with its `depth`. Edges have a `relation`: contains_heading,
    contains_article, refers_to (an article names another in its text), cites (a training question is answered by it).
    """
    import networkx

    graph = networkx.DiGraph()
    hierarchy = tree_of(tuple(articles))
    headings = [f"{HEADING}:{row}" for row in range(len(hierarchy.headings))]
    nodes = [f"{ARTICLE}:{_plain(article.article_id)}" for article in articles]
    for name, heading, parent in zip(headings, hierarchy.headings, hierarchy.heading_parents, strict=True):
        graph.add_node(name, kind=HEADING, title=_plain(heading.title), depth=heading.depth, **_place(heading.path))
        if parent >= 0:
            graph.add_edge(headings[parent], name, relation=CONTAINS_HEADING.name)
    for name, article, parent in zip(nodes, articles, hierarchy.article_parents, strict=True):
        graph.add_node(name, kind=ARTICLE, title=_plain(article.title), **_place(article.path))
        graph.add_edge(headings[parent], name, relation=CONTAINS_ARTICLE.name)
    for article, other in zip(*citations_among(tuple(articles)).edges, strict=True):
        graph.add_edge(nodes[article], nodes[other], relation=REFERS_TO)
    for question in questions:
        name = f"{QUESTION}:{_plain(question.question_id)}"
        graph.add_node(name, kind=QUESTION, title=_plain(question.text))
        for article_id in question.article_ids:
            graph.add_edge(name, f"{ARTICLE}:{_plain(article_id)}", relation=CITES.name)
    return graph


def _place(path: tuple[str, ...]) -> dict[str, str]:
    return {"code": _plain(path[0]), "path": _plain(PATH_SEPARATOR.join(path))}


def _plain(text: str) -> str:
    """Return a text without the characters that XML cannot hold."""
    return _NO_XML.sub("", text)
