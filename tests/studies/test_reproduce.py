import dataclasses

import pytest

from statgraph.errors import ModelError
from statgraph.studies import running
from statgraph.studies.reproduce import Request, default_folder, reproduce
from statgraph.studies.running import planned_runs, run_id
from statgraph.studies.spec import read_table, with_backbones
from statgraph.studies.store import RunStore
from statgraph.studies.table_files import read_values


@pytest.fixture
def request_(small_table, tmp_path):
    return Request(
        small_table, seeds=2, split="test", work=tmp_path / "work", command="statgraph reproduce small-table"
    )


@pytest.fixture
def make(town_corpus, tmp_path, no_display):
    """Return a function that makes a table of the town; it returns (what was made, the lines on the way)."""

    def made(request, corpus=town_corpus, folder=tmp_path / "out"):
        lines = []
        return reproduce(request, corpus, folder, display=no_display, on_line=lines.append), lines

    return made


@pytest.fixture
def trained(monkeypatch):
    """Return the list that every training adds its system and seed to."""
    done = []
    train = running.train_run

    def counted(corpus, config, folder, options):
        done.append((config.system, config.seed))
        return train(corpus, config, folder, options)

    monkeypatch.setattr(running, "train_run", counted)
    return done


def test_a_table_from_nothing_and_then_for_free(make, request_, trained, tmp_path):
    made, lines = make(request_)
    assert trained == [("bm25", 0), ("dsr", 0), ("qabisar", 0), ("dsr", 1), ("qabisar", 1)]
    assert [line.partition(": mAP ")[0] for line in lines] == [
        "BM25, seed 0", "stage 1, seed 0", "QABISAR, seed 0", "stage 1, seed 1", "QABISAR, seed 1",
    ]  # fmt: skip
    text = (tmp_path / "out" / "table.md").read_text()
    assert "- Corpus: town (en): 16 articles; questions: train 8, dev 4, test 4\n" in text
    assert "- Split: test (4 questions)\n- Metrics left out: R@5, R@10, R@100, R@200, R@500 (a fifth of" in text
    assert made.main[0] == "| row | seeds | R@1 | mAP | R@1, paper (BSARD) |"
    assert "\n".join(made.main) in text
    assert made.main[3].startswith("| stage 1 | 2 | ")
    assert made.main[3].endswith(" | 77.7 |")
    assert "\n| QABISAR | BM25 | " in text
    assert (made.folder, made.missing) == (tmp_path / "out", ())

    again, lines = make(request_)
    assert len(trained) == 5
    assert lines[0] == "BM25, seed 0: already finished"
    assert again == made


def test_only_some_rows_are_run_and_the_rest_is_taken_as_far_as_it_is_there(make, request_, trained):
    one = dataclasses.replace(request_, seeds=1)
    make(dataclasses.replace(one, only=("BM25",)))
    made, _ = make(dataclasses.replace(one, only=("stage 1",)))
    assert trained == [("bm25", 0), ("dsr", 0)]
    assert [line.split(" | ")[0] for line in made.main[2:]] == ["| BM25", "| stage 1"]
    assert made.missing == ()
    assert "- Missing: QABISAR, seed 0: not run yet" in (made.folder / "table.md").read_text()


def test_what_fails_is_left_out_and_said(make, request_, monkeypatch):
    train = running.train_run

    def failing(corpus, config, folder, options):
        if config.system == "dsr":
            raise ModelError("no such model")
        return train(corpus, config, folder, options)

    monkeypatch.setattr(running, "train_run", failing)
    made, lines = make(dataclasses.replace(request_, seeds=1))
    assert "stage 1, seed 0: failed: no such model" in lines
    assert made.missing == ("stage 1, seed 0: no such model",)
    assert len(made.main) == 4
    with pytest.raises(ModelError, match="no such model"):
        make(dataclasses.replace(request_, seeds=1, only=("stage 1",), work=request_.work / "new"))


def test_a_run_of_another_process_is_skipped(make, request_, town_corpus):
    one = dataclasses.replace(request_, seeds=1)
    busy = planned_runs(request_.spec, seeds=1)[1]
    reason = "another process works on it"
    with RunStore(request_.work).claimed(run_id(busy.config, town_corpus.content_hash, "test")):
        made, lines = make(one)
    assert [line for line in lines if "skipped" in line] == [f"stage 1, seed 0: skipped: {reason}"]
    assert made.missing == (f"stage 1, seed 0: {reason}",)


def test_a_figure_without_training(make, request_, tmp_path, trained):
    made, _ = make(dataclasses.replace(request_, spec=read_table("gdsr-figure3")))
    text = (tmp_path / "out" / "table.md").read_text()
    assert text.startswith("# How alike neighbouring articles are\n\nAfter G-DSR (Louis et al. 2023), figure 3.\n")
    assert "Seeds" not in text
    assert text.endswith("![How alike neighbouring articles are](figure.png)\n")
    assert read_values(tmp_path / "out" / "table.json.gz")["by_code"]["1"].popitem()[1][1] == 15
    assert (trained, made.missing) == ([], ())


def test_where_a_table_goes(request_):
    def folder(**changes):
        return str(default_folder(dataclasses.replace(request_, **changes), "legi/fr"))

    assert folder(backbone="embedded:static") == "results/small-table-legi-fr-static"
    assert folder(settings=("device=cpu",)) == "results/small-table-legi-fr-static"
    assert folder(backbone="some/e5", split="dev") == "results/small-table-legi-fr-e5-dev"
    assert folder(spec=with_backbones(read_table("gdsr-table3"), ())) == "results/gdsr-table3-legi-fr-backbones"
    assert folder(spec=read_table("gdsr-figure4"), split="dev") == "results/gdsr-figure4-legi-fr"
