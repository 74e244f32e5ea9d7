import numpy as np
import pytest

from benchmarks.synthetic_law import synthetic_law
from statgraph.corpus.records import Article, Corpus, Question
from statgraph.graph.build import build_graph, heterograph_of
from statgraph.graph.relations import CITES, CONTAINS_ARTICLE, CONTAINS_HEADING


def test_a_thousand_articles_by_hand():
    law = synthetic_law(1_000)
    assert law.node_counts == {"article": 1_000, "heading": 110, "question": 100}
    # Codes 0-9; headings 10-19 under code 0, 20-29 under code 1; articles 0-9 under heading 10, the last under 109.
    assert law.heading_parents[[0, 9, 10, 19, 20, 109]].tolist() == [-1, -1, 0, 0, 1, 9]
    assert law.article_parents[[0, 9, 10, 999]].tolist() == [10, 10, 11, 109]
    assert law.citing[[0, 9, 10, 999]].tolist() == [0, 0, 1, 99]
    assert {relation: len(sources) for relation, (sources, _) in law.edges.items()} == {
        CONTAINS_ARTICLE: 1_000,
        CONTAINS_HEADING: 100,
        CITES: 1_000,
    }


def test_a_hundred_articles_have_one_level():
    law = synthetic_law(100)
    assert law.node_counts == {"article": 100, "heading": 10, "question": 10}
    assert law.heading_parents.tolist() == [-1] * 10
    assert law.article_parents[[0, 9, 10, 99]].tolist() == [0, 0, 1, 9]


def test_three_laws_in_one():
    law = synthetic_law(300)
    assert law.node_counts == {"article": 300, "heading": 30, "question": 30}
    assert law.heading_parents.tolist() == [-1] * 30
    law = synthetic_law(3_000)
    assert law.heading_parents[[29, 30, 39, 40, 329]].tolist() == [-1, 0, 0, 1, 29]
    assert law.article_parents[[0, 9, 10, 2_999]].tolist() == [30, 30, 31, 329]


def test_every_heading_has_ten_children():
    law = synthetic_law(10_000)
    children = np.bincount(law.article_parents, minlength=1_110)
    children += np.bincount(law.heading_parents[law.heading_parents >= 0], minlength=1_110)
    assert children.tolist() == [10] * 1_110


def test_citations_are_of_articles_and_repeat_with_the_seed():
    law, again, other = synthetic_law(1_000), synthetic_law(1_000), synthetic_law(1_000, seed=1)
    assert (law.cited.min() >= 0, law.cited.max() < 1_000) == (True, True)
    assert law.cited.tolist() == again.cited.tolist() != other.cited.tolist()


def test_nearby_citations_stay_within_their_thousand():
    law = synthetic_law(10_000, nearby=True)
    assert (law.cited // 1_000).tolist() == np.repeat(np.arange(10), 1_000).tolist()
    assert len(np.unique(law.cited % 1_000)) == 1_000
    assert synthetic_law(100, nearby=True).cited.max() < 100


@pytest.mark.parametrize("n_articles", [0, 10, 99, 210, 12_345])
def test_what_is_no_multiple_of_a_power_of_ten_is_refused(n_articles):
    with pytest.raises(ValueError, match=f"{n_articles} articles: not 1 to 9 times a power of ten; give 100"):
        synthetic_law(n_articles)


def test_the_graph_is_that_of_the_same_law_as_records():
    law = synthetic_law(1_000)
    paths = []  # of headings
    for row, parent in enumerate(law.heading_parents.tolist()):
        paths.append((*(paths[parent] if parent >= 0 else ()), f"h{row}"))
    articles = tuple(Article(f"a{row}", "Art.", "", paths[at], row) for row, at in enumerate(law.article_parents))
    cited = law.cited.reshape(-1, 10)
    questions = tuple(
        Question(f"q{row}", "Who?", "train", tuple(f"a{article}" for article in rows)) for row, rows in enumerate(cited)
    )
    graph = build_graph(Corpus("synthetic", "en", "CC0", "made", articles, questions))
    # Records name headings as articles bring them up, arrays level by level: the rows differ, the paths do not.
    rows = {heading.path: row for row, heading in enumerate(graph.headings)}
    row_of = {
        "heading": np.array([rows[path] for path in paths]),
        "article": np.arange(1_000),
        "question": np.arange(100),
    }
    from_arrays = heterograph_of(law.edges, law.node_counts)
    assert sorted(from_arrays.canonical_etypes) == list(graph.edge_types)
    for edge_type in graph.edge_types:
        ours = zip(*(ends.tolist() for ends in graph.heterograph.edges(etype=edge_type)), strict=True)
        sources, targets = (ends.numpy() for ends in from_arrays.edges(etype=edge_type))
        made = zip(row_of[edge_type[0]][sources].tolist(), row_of[edge_type[2]][targets].tolist(), strict=True)
        assert sorted(ours) == sorted(made)
