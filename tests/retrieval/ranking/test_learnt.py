from dataclasses import replace

import lightgbm
import numpy as np
import pytest

from statgraph.config import RankerConfig
from statgraph.errors import RunError
from statgraph.retrieval.ranking import learnt
from statgraph.retrieval.ranking.features import Features, feature_names
from statgraph.retrieval.ranking.fixed import FixedRanker
from statgraph.retrieval.ranking.learnt import LambdaMartRanker, keeping_first, learn, ranked, with_trees

NAMES = feature_names(["words"])
FIXED = FixedRanker({"words": 1.0})
CONFIG = RankerConfig(trees=40, leaf_size=5)


def questions(n_questions, *, useful, n_candidates=30):
    """Candidates of which one is relevant; a fact of the article tells which, or the words do."""
    rng = np.random.default_rng(0)
    candidates, labels = [], []
    for _ in range(n_questions):
        values = np.zeros((n_candidates, len(NAMES)), dtype=np.float32)
        relevant = int(rng.integers(n_candidates))
        revealing = NAMES.index(("article", "length") if useful else ("words", "scaled"))
        values[:, NAMES.index(("words", "scaled"))] = rng.random(n_candidates) / 2
        values[relevant, revealing] = 1
        candidates.append(Features(np.arange(n_candidates), NAMES, values))
        labels.append([relevant])
    return candidates, labels


def first_hits(labels):
    return lambda rankings: np.array(
        [rows[0] in relevant for rows, relevant in zip(rankings, labels, strict=True)], dtype=float
    )


def learning_of(candidates, labels, config=CONFIG):
    return learn(candidates, labels, FIXED, config, first_hits(labels), groups=range(len(candidates)), seed=0)


def test_trees_learn_what_the_weights_do_not_know(tmp_path):
    candidates, labels = questions(40, useful=True)

    learning = learning_of(candidates, labels)
    assert learning.trees > 0
    assert learning.gain[0] > 0.8
    assert first_hits(labels)(ranked(candidates, learning.held_out)).mean() > 0.9
    again = with_trees(candidates, labels, FIXED, CONFIG, learning.trees, seed=0)
    assert again.scores(candidates[0]).tolist() == learning.ranker.scores(candidates[0]).tolist()
    fewer = with_trees(candidates, labels, FIXED, CONFIG, 1, seed=0)
    assert fewer.scores(candidates[0]).tolist() != learning.ranker.scores(candidates[0]).tolist()
    learning.ranker.write(tmp_path / "ranker.txt")
    again = LambdaMartRanker.read(tmp_path / "ranker.txt", FIXED, len(NAMES))
    assert again.scores(candidates[0]) == pytest.approx(learning.ranker.scores(candidates[0]))
    with pytest.raises(RunError, match="features"):
        LambdaMartRanker.read(tmp_path / "ranker.txt", FIXED, 3)
    (tmp_path / "ranker.txt").write_text("no trees")
    with pytest.raises(RunError, match="not readable"):
        LambdaMartRanker.read(tmp_path / "ranker.txt", FIXED, len(NAMES))


def test_answers_teach_wherever_they_are_and_others_among_the_best(monkeypatch):
    monkeypatch.setattr(learnt, "_COMPARED", 10)
    candidates, labels = questions(40, useful=True)
    for own, (answer,) in zip(candidates, labels, strict=True):
        words = own.column("words", "scaled")
        words[answer] = -1  # the last
        own.values[np.argsort(-words)[10:-1], NAMES.index(("article", "depth"))] = np.nan  # must not be read
    compared, learnt_from = lightgbm.Dataset, []

    def dataset(values, relevant, *, group, **options):
        learnt_from.append((values, relevant, group))
        return compared(values, relevant, group=group, **options)

    monkeypatch.setattr(lightgbm, "Dataset", dataset)
    with_trees(candidates, labels, FIXED, CONFIG, 20, seed=0)
    ((values, relevant, group),) = learnt_from
    assert group == [11] * 40
    assert relevant.reshape(40, 11).sum(axis=1).tolist() == [1] * 40
    assert not np.isnan(values).any()


def test_contributions_add_up_with_what_all_candidates_are_given():
    candidates, labels = questions(40, useful=True)
    ranker = learning_of(candidates, labels).ranker

    parts = ranker.contributions(candidates[0])
    assert parts.shape == (30, len(NAMES) + 1)
    assert parts.sum(axis=1) == pytest.approx(ranker.scores(candidates[0]), abs=1e-5)
    assert np.ptp(parts[:, -1]) == 0
    assert np.ptp(parts[:, NAMES.index(("article", "length"))]) > 0.1


@pytest.mark.parametrize("weight", [0, 10])
def test_the_best_by_the_weights_stay_first_where_that_is_better(weight):
    candidates, labels = questions(40, useful=True)
    firsts = [set(np.argsort(-FIXED.scores(each))[:3].tolist()) for each in candidates]

    def measure(rankings):
        return np.array(
            [
                weight * (set(rows[:3].tolist()) == first) + 1 / (1 + rows.tolist().index(relevant))
                for rows, first, (relevant,) in zip(rankings, firsts, labels, strict=True)
            ]
        )

    learning = learn(candidates, labels, FIXED, CONFIG, measure, groups=range(40), seed=0)
    assert learning.trees > 0
    assert learning.ranker.keeps_first == (weight > 0)
    place = next(place for place, (relevant,) in enumerate(labels) if relevant not in firsts[place])
    by_trees = with_trees(candidates, labels, FIXED, CONFIG, learning.trees, seed=0)
    plain, order = ranked(
        [candidates[place]] * 2, [ranker.scores(candidates[place]) for ranker in (by_trees, learning.ranker)]
    )
    assert plain[0] == labels[place][0]
    if weight:
        kept = np.isin(plain, list(firsts[place]))
        assert order.tolist() == [*plain[kept], *plain[~kept]]
        assert set(ranked(candidates, learning.held_out)[place][:3].tolist()) == firsts[place]
    else:
        assert order.tolist() == plain.tolist()


def test_the_best_by_the_weights_can_be_left_first_afterwards():
    candidates, labels = questions(40, useful=True)
    alone = learning_of(candidates, labels)

    def by_place(rankings):
        return np.array([1 / (1 + rows.tolist().index(gold)) for rows, (gold,) in zip(rankings, labels, strict=True)])

    kept = keeping_first(alone, candidates, FIXED, by_place)
    assert (kept.ranker.keeps_first, kept.trees) == (True, alone.trees)
    firsts = [set(np.argsort(-FIXED.scores(each), kind="stable")[:3].tolist()) for each in candidates]
    assert [set(rows[:3].tolist()) for rows in ranked(candidates, kept.held_out)] == firsts
    base = by_place(ranked(candidates, [FIXED.scores(each) for each in candidates]))
    assert kept.gain[0] == pytest.approx((by_place(ranked(candidates, kept.held_out)) - base).mean())
    nothing = keeping_first(alone, candidates, FIXED, lambda rankings: np.zeros(len(rankings)))
    assert (nothing.ranker, nothing.trees) == (None, 0)


def test_fewer_candidates_than_stay_first():
    candidates, labels = questions(40, useful=True)
    ranker = learning_of(candidates, labels).ranker
    few = Features(candidates[0].rows[:2], NAMES, candidates[0].values[:2])
    kept = LambdaMartRanker(FIXED, ranker._booster, keeps_first=True)
    assert kept.scores(few).tolist() == ranker.scores(few).tolist()


def test_without_a_gain_the_weights_stay():
    candidates, labels = questions(20, useful=False)

    learning = learning_of(candidates, labels)
    assert (learning.ranker, learning.trees) == (None, 0)
    assert ranked(candidates, learning.held_out)[0][0] == labels[0][0]


def test_a_few_questions_or_one_group_teach_nothing_unless_trees_are_forced():
    candidates, labels = questions(9, useful=True)
    forced = replace(CONFIG, kind="lambdamart")
    assert learning_of(candidates, labels).ranker is None
    assert learning_of(candidates, labels, forced).trees > 0
    candidates, labels = questions(12, useful=True)
    learning = learn(
        candidates, labels, FIXED, forced, lambda rankings: np.zeros(len(rankings)), groups=[0] * 12, seed=0
    )
    assert (learning.ranker, learning.trees) == (None, 0)


def test_a_group_is_held_out_together_and_each_fold_has_some_to_learn_from():
    answerable = np.array([True, False, False, True, False, False, True])
    groups = np.array([5, 5, 1, 1, 2, 3, 4])
    for seed in range(5):
        fold = learnt._folds(answerable, groups, 5, seed)
        assert (fold[0], fold[2]) == (fold[1], fold[3])
        assert {*fold[answerable].tolist()} == set(range(3)) == {*fold.tolist()}


def test_a_score_never_falls_where_a_signals_rises():
    candidates, labels = questions(40, useful=False)
    column = NAMES.index(("words", "score"))
    for own, rows in zip(candidates, labels, strict=True):
        own.values[:, column] = ~np.isin(own.rows, rows)  # what answers scores lowest
    ranker = learning_of(candidates, labels, replace(CONFIG, kind="lambdamart")).ranker
    values = np.repeat(candidates[0].values[:1], 3, axis=0)
    values[:, column] = 0, 0.5, 1
    rising = Features(np.arange(3), NAMES, values)
    trees = ranker.scores(rising) - FIXED.scores(rising)
    assert (np.diff(trees) >= 0).all()
