from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from statgraph.evaluation.metrics import QuestionMetrics
from statgraph.law.records import MAIN_SET, SPLITS
from statgraph.retrieval.search.evaluating import SplitMetrics
from statgraph.studies.folds import folded, pooled, question_groups
from statgraph.studies.reproduce import Request, reproduce
from statgraph.studies.spec import table_of
from statgraph.studies.store import RunResult
from statgraph.studies.table_files import check_table, read_values


@pytest.fixture
def with_sheets(town_corpus):
    """Return the town with sheets in its questions: the first two on one, the third on two others."""
    first, second, third, *others = town_corpus.questions
    on = {first.question_id: ["S1"], second.question_id: ["S1"], third.question_id: ["S2", "S3"]}
    named = [replace(each, metadata={"sheets": on[each.question_id]}) for each in (first, second, third)]
    reference = replace(third, question_id="r", metadata={"sheets": ["S3"], "set": "references"})
    return replace(town_corpus, questions=(*named, *others, reference))


def test_a_group_holds_the_questions_of_a_sheet_and_of_sheets_that_share_most_labels(with_sheets):
    first, second, third, *others, reference = with_sheets.questions
    groups = question_groups(with_sheets)
    assert groups[first.question_id] == groups[second.question_id]
    assert groups[third.question_id] == groups[reference.question_id] != groups[first.question_id]
    one, other = (each for each in others[:2])
    same = replace(with_sheets, questions=(*with_sheets.questions, replace(one, question_id="same labels")))
    assert question_groups(same)["same labels"] == question_groups(same)[one.question_id]
    assert groups[one.question_id] != groups[other.question_id]


def test_each_question_is_tested_once_and_its_group_with_it(with_sheets):
    groups = question_groups(with_sheets)
    folds = list(folded(with_sheets, groups, 3))
    for split in SPLITS[1:]:
        held = Counter(each.question_id for fold in folds for each in fold.questions if each.split == split)
        assert held == Counter(groups.keys())
    for fold in folds:
        splits = {}
        for question in fold.questions:
            assert splits.setdefault(groups[question.question_id], question.split) == question.split
        sizes = [len(fold.split(split)) for split in SPLITS]
        assert max(sizes) - min(sizes) <= 2


def test_a_table_of_folds_has_each_question_once_and_is_checked(with_sheets, no_display, tmp_path):
    bm25 = {"system": "bm25", "seeded": False, "settings": ["device=cpu"]}
    rows = [{"name": "BM25", **bm25}, {"name": "BM25 tuned", "tuned": True, **bm25}]
    spec = table_of("t", {"title": "T", "source": "P", "folds": 3, "by_set": True, "metrics": ["mAP"], "rows": rows})
    request = Request(spec, seeds=1, split="test", work=tmp_path / "work", command="statgraph reproduce t")
    lines = []
    made = reproduce(request, with_sheets, tmp_path / "out", display=no_display, on_line=lines.append)
    assert [line.partition(":")[0] for line in lines] == ["fold 1"] * 2 + ["fold 2"] * 2 + ["fold 3"] * 2
    n_questions = sum(each.question_set == MAIN_SET for each in with_sheets.questions)
    assert f"{n_questions} questions." in made.main
    saved = read_values(tmp_path / "out" / "table.json.gz")
    assert len(set(saved["questions"]["question_ids"])) == len(with_sheets.questions)
    assert saved["questions"]["clusters"][:1] == [question_groups(with_sheets)[saved["questions"]["question_ids"][0]]]
    assert len(saved["runs"]["BM25, seed 0"]["folds"]) == 3
    checked = check_table("t", tmp_path / "out" / "table.json.gz")
    assert checked.problems == ()
    assert checked.n_figures > 0


def test_a_stratum_that_a_fold_lacks_is_empty_there():
    def of_one(question_id, value, **strata):
        masks = {"all": np.ones(1, dtype=bool), **strata}
        metrics = SplitMetrics((question_id,), QuestionMetrics({"mAP": np.array([value])}), masks)
        return RunResult(metrics, {"seconds": 1.0, "steps": [], "taken": []})

    both = pooled([of_one("a", 1.0, seen=np.ones(1, dtype=bool)), of_one("b", 0.0)], {"a": 0, "b": 1})
    np.testing.assert_array_equal(both.metrics.masks["seen"], [True, False])
    assert (both.mean("mAP"), both.mean("mAP", "seen"), both.about["seconds"]) == (0.5, 1.0, 2.0)
