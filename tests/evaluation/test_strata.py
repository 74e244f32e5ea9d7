import pytest

from statgraph.evaluation.strata import STRATA, strata_masks
from statgraph.law.records import Article, Question


def articles_of(*n_words: int) -> list[Article]:
    return [Article(f"A{row}", "", " word\n" * n, ("Code",), row) for row, n in enumerate(n_words)]


def masks_of(labels, training=(), *, metadata=None, articles=None) -> dict[str, list[bool]]:
    metadata = metadata or [{}] * len(labels)
    questions = [Question(f"q{n}", "?", "test", ("A0",), given) for n, given in enumerate(metadata)]
    masks = strata_masks(questions, labels, articles or articles_of(*[10] * 60), training)
    assert all(mask.dtype == bool for mask in masks.values())
    return {name: mask.tolist() for name, mask in masks.items()}


def test_a_question_is_seen_if_training_cites_any_of_its_articles():
    masks = masks_of([[1, 2], [3], [4, 5]], [[2, 9], [5]])
    assert masks["all"] == [True, True, True]
    assert masks["seen"] == [True, False, True]
    assert masks["unseen"] == [False, True, False]


def test_no_question_gives_empty_masks_of_the_constant_strata_only():
    assert masks_of([], [[1]]) == {"all": [], "seen": [], "unseen": []}


@pytest.mark.parametrize(
    ("n_gold", "name"),
    [(1, "1"), (2, "2-5"), (5, "2-5"), (6, "6-20"), (20, "6-20"), (21, "over 20"), (50, "over 20")],
)
def test_the_number_of_articles_that_answer_is_a_stratum(n_gold, name):
    masks = masks_of([list(range(n_gold))])
    assert [name for name in masks if name.startswith("gold: ")] == [f"gold: {name}"]


def test_an_article_labelled_twice_counts_once():
    assert masks_of([[3, 3]])["gold: 1"] == [True]


@pytest.mark.parametrize(
    ("n_words", "name"),
    [
        (0, "under 75 words"),
        (74, "under 75 words"),
        (75, "75-124 words"),
        (124, "75-124 words"),
        (125, "over 124 words"),
        (9000, "over 124 words"),
    ],
)
def test_the_length_of_the_article_is_a_stratum(n_words, name):
    masks = masks_of([[0]], articles=articles_of(n_words))
    assert [name for name in masks if name.startswith("length: ")] == [f"length: {name}"]


def test_length_is_the_median_over_the_articles():
    # Median 80 (mean 363); median of 40 and 120 is 80; of 40 and 100 it is 70.
    masks = masks_of([[0, 1, 2], [0, 3], [0, 4]], articles=articles_of(40, 80, 970, 120, 100))
    assert masks["length: 75-124 words"] == [True, True, False]
    assert masks["length: under 75 words"] == [False, False, True]


def test_topic_is_the_first_text_among_the_keys_of_the_sources():
    metadata = [
        {"topic": " Housing ", "theme": "Tax", "category": "Work"},
        {"category": "Work", "theme": "Tax"},
        {"category": "Housing", "topic": " ", "theme": ["Tax"]},
        {"subject": "Work"},
    ]
    masks = masks_of([[0]] * 4, metadata=metadata)
    assert masks["topic: Housing"] == [True, False, True, False]
    assert masks["topic: Tax"] == [False, True, False, False]
    assert [name for name in masks if name.startswith("topic: ")] == ["topic: Housing", "topic: Tax"]


def test_kind_is_a_stratum_where_it_is_given():
    masks = masks_of([[0]] * 3, metadata=[{"kind": "topic"}, {"kind": "question"}, {}])
    assert masks["kind: question"] == [False, True, False]
    assert masks["kind: topic"] == [True, False, False]


def test_strata_stand_in_order_constant_ones_first_then_bins_then_names_by_size():
    labels = [list(range(30)), [0], [1], [2, 3]]
    metadata = [{"topic": "B"}, {"topic": "C", "kind": "x"}, {"topic": "C"}, {"topic": "A"}]
    masks = masks_of(labels, [[0]], metadata=metadata, articles=articles_of(200, *[10] * 40))
    assert tuple(masks) == (
        *STRATA,
        *("gold: 1", "gold: 2-5", "gold: over 20"),
        *("length: under 75 words", "length: over 124 words"),
        *("kind: x", "topic: C", "topic: A", "topic: B"),
    )
