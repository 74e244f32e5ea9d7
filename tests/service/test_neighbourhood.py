"""What stands around an article of the village, by hand."""

import pytest

from statgraph.graph.relations import ARTICLE, HEADING, QUESTION
from statgraph.service.contents import ArticleOutline, Contents
from statgraph.service.neighbourhood import Surroundings
from statgraph.service.training_questions import TrainingQuestions

H1, H2, H3, W5, W6 = ((ARTICLE, row) for row in range(5))
HOUSING, LEASES, KEYS, WORK, WAGES = ((HEADING, row) for row in range(5))
Q1, Q2 = ((QUESTION, row) for row in range(2))


@pytest.fixture
def surroundings(library):
    return library.surroundings


def test_one_hop(surroundings):
    found = surroundings.neighbourhood(3, hops=1)
    assert list(found.hops.items()) == [(W5, 0), (WAGES, 1), (H2, 1), (W6, 1), (Q2, 1)]
    assert found.edges == (
        (WAGES, W5, "contains_article"),
        (H2, W5, "refers_to"),
        (W6, W5, "refers_to"),
        (Q2, W5, "cites"),
        (WAGES, W6, "contains_article"),
    )
    assert not found.cut


def test_hops_count_the_shortest_way(surroundings):
    hops = surroundings.neighbourhood(2, hops=3).hops
    assert hops == {H3: 0, KEYS: 1, Q1: 1, LEASES: 2, H1: 2, HOUSING: 3, H2: 3}


def test_all_edges_between_shown_nodes_are_there(surroundings):
    found = surroundings.neighbourhood(0, hops=2)
    assert (LEASES, H2, "contains_article") in found.edges
    assert (H2, H1, "refers_to") in found.edges
    assert len(set(found.edges)) == len(found.edges)
    assert {node for source, target, _ in found.edges for node in (source, target)} == set(found.hops)


def test_the_nearest_nodes_are_kept_where_there_are_too_many(surroundings):
    found = surroundings.neighbourhood(3, hops=2, most=3)
    assert list(found.hops) == [W5, WAGES, H2]
    assert found.cut
    assert set(found.edges) == {(WAGES, W5, "contains_article"), (H2, W5, "refers_to")}


def test_siblings_come_by_how_near_they_stand(library):
    contents = Contents(ArticleOutline(f"A{row}", f"Art. {row}", ("Code",)) for row in range(200))

    class Nothing:
        def refers_to(self, row):
            return ()

        referred_by = refers_to

    found = Surroundings(contents, Nothing(), TrainingQuestions((), contents)).neighbourhood(100, hops=2)
    assert len(found.hops) == 150
    assert found.cut
    assert sorted(row for kind, row in found.hops if kind == ARTICLE) == list(range(26, 175))
