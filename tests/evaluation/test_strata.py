from statgraph.evaluation.strata import STRATA, strata_masks


def test_a_question_is_seen_if_training_cites_any_of_its_articles():
    masks = strata_masks([[1, 2], [3], [4, 5]], [[2, 9], [5]])
    assert masks["all"].tolist() == [True, True, True]
    assert masks["seen"].tolist() == [True, False, True]
    assert masks["unseen"].tolist() == [False, True, False]
    assert tuple(masks) == STRATA


def test_without_training_every_question_is_unseen():
    masks = strata_masks([[1], [2]], [])
    assert masks["seen"].tolist() == [False, False]
    assert masks["unseen"].dtype == bool


def test_no_question_gives_empty_masks():
    assert {name: len(mask) for name, mask in strata_masks([], [[1]]).items()} == {"all": 0, "seen": 0, "unseen": 0}
