import json
from dataclasses import replace

import pytest

from statgraph.law import read_corpus, write_corpus
from statgraph.law.records import Question
from statgraph.systems.pipeline import train_run
from statgraph.systems.presets import resolve_config


def test_a_table_for_people(ran, bm25_run, town):
    done = ran("evaluate", "--run", bm25_run, "--corpus", town)
    assert done.splitlines()[0] == f"{bm25_run} on town, test"
    for word in ("R@1", "R@3", "S@1", "S@3", "mAP", "mRP", "nDCG@10", "MRR@10", "all (n = 4)", "unseen (n = 4)"):
        assert word in done
    assert done.splitlines()[-2:] == [
        "left out: R@5, R@10, R@100, R@200, R@500 (a fifth of the 16 articles or more)",
        "quality: mean of mAP and R@5; training and tuning choose by it",
    ]
    assert max(map(len, done.splitlines()[1:])) <= 80


def test_json_for_programs(run_here, bm25_run, town):
    done = run_here("evaluate", "--run", bm25_run, "--corpus", town, "--split", "dev", "--json")

    report = json.loads(done.stdout)
    assert report == json.loads((bm25_run / "report.json").read_text())
    assert (report["split"], report["strata"]["all"]["n_questions"]) == ("dev", 4)
    metrics = report["strata"]["all"]["metrics"]
    assert list(metrics) == ["R@1", "R@3", "S@1", "S@3", "nDCG@10", "MRR@10", "mAP", "mRP", "quality"]
    assert list(metrics["S@3"]) == ["mean", "low", "high"]
    assert report["n_articles"] == 16


def test_the_difference_to_another_run(run_here, ran, bm25_run, dense_run, town):
    arguments = ("evaluate", "--run", dense_run, "--corpus", town, "--against", bm25_run)
    done = ran(*arguments, "--json", "--device", "cpu")
    report = json.loads(done)
    own = json.loads(run_here("evaluate", "--run", bm25_run, "--corpus", town, "--json").stdout)
    assert report["against"]["run"] == str(bm25_run)
    compared = report["against"]["metrics"]["mAP"]
    assert compared["baseline_mean"] == pytest.approx(own["strata"]["all"]["metrics"]["mAP"]["mean"])
    assert compared["system_mean"] == pytest.approx(report["strata"]["all"]["metrics"]["mAP"]["mean"])


def test_another_state_of_the_law_is_compared_on_what_both_know(run_here, bm25_run, town_corpus, tmp_path):
    asked = Question("pets", "May a goat live on a balcony?", "test", (town_corpus.articles[0].article_id,))
    write_corpus(replace(town_corpus, questions=(*town_corpus.questions, asked)), tmp_path / "later")
    train_run(read_corpus(tmp_path / "later"), resolve_config("bm25", ["device=cpu"]), tmp_path / "run")

    done = run_here("evaluate", "--run", tmp_path / "run", "--corpus", tmp_path / "later", "--against", bm25_run)

    assert (done.returncode, done.stderr) == (0, "")
    assert "all (n = 5)" in done.stdout
    assert f"difference to {bm25_run}" in done.stdout.replace("\n", " ")
    assert "not compared" not in done.stdout  # both have all articles


@pytest.fixture
def two_sets(town_corpus, tmp_path):
    """The town with its test questions once more, as the set "titles", and a run of BM25 on it."""
    titles = tuple(
        replace(question, question_id=f"t-{question.question_id}", metadata={"set": "titles"})
        for question in town_corpus.split("test")[:3]
    )
    corpus = replace(town_corpus, questions=(*town_corpus.questions, *titles))
    write_corpus(corpus, tmp_path / "corpus")
    train_run(corpus, resolve_config("bm25", ["device=cpu"]), tmp_path / "run")
    return ("--run", "run", "--corpus", "corpus")


def test_question_sets_are_reported_apart(run_here, ran, two_sets):
    done = ran("evaluate", *two_sets)
    main, others = done.split("run on town, test, titles\n")
    assert main.startswith("run on town, test\n")
    assert "all (n = 4)" in main
    assert "all (n = 3)" in others

    both = json.loads(run_here("evaluate", *two_sets, "--json").stdout)
    assert both["strata"]["all"]["n_questions"] == 4
    alone = json.loads(run_here("evaluate", *two_sets, "--set", "titles", "--json").stdout)
    assert alone["strata"]["all"]["n_questions"] == 3
    assert both["question_sets"] == {"titles": alone}
