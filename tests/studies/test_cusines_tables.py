"""What the rows of CuSINeS's tables draw: each the difficulty that its name says, and no two of a table the same."""

import numpy as np
import pytest

from statgraph.law.records import Article, Corpus, Question
from statgraph.registry import NEGATIVES
from statgraph.retrieval.lexical.bm25 import BM25
from statgraph.studies.running import planned_runs
from statgraph.studies.spec import read_table
from statgraph.training.negatives.source import EpochVectors

WRONG = 300
FIXED, HARDEST, CURRICULUM, RANDOM = (0.9167,) * 3, (0.8333,) * 3, (0.3, 0.5, 0.7), (0.5,) * 3
# The mean difficulty in each of three epochs, by row less its system. Of 300 wrong articles the 50 most difficult have
# the mean (300.5 - 25.5) / 300, the most difficult third (300.5 - 50.5) / 300.
DIFFICULTY = {
    "cusines-table1": {"BM25 negatives": FIXED, "CuSINeS": CURRICULUM, "random": RANDOM},
    "cusines-table2": {
        "semantic": FIXED, "structural": FIXED, "semantic and structural": FIXED, "random": RANDOM,
    },
    "cusines-table3": {"fixed": FIXED, "curriculum": CURRICULUM, "hardest bucket": HARDEST, "random": RANDOM},
    "cusines-table4": {"static": CURRICULUM, "dynamic": CURRICULUM},
}  # fmt: skip
ROWS = [
    (table, row.name)
    for table in DIFFICULTY
    for row in read_table(table).rows
    if "stage1.negatives=none" not in row.settings and row.system != "bm25"
]


@pytest.fixture(scope="module")
def line() -> Corpus:
    """Return a code of 301 articles, the first of which answers "lamp"; the farther from it, the fewer lamps."""
    articles = tuple(
        Article(f"a{place}", f"Art. {place}", "lamp " * (WRONG + 1 - place) + "dog " * place, ("A",), place)
        for place in range(WRONG + 1)
    )
    return Corpus("line", "en", "CC0", "written for the tests", articles, (Question("q", "lamp", "train", ("a0",)),))


@pytest.fixture(scope="module")
def bm25(line) -> BM25:
    return BM25([article.text for article in line.articles], language="en")


@pytest.mark.parametrize(("table", "name"), ROWS)
def test_the_difficulty_that_a_row_draws(line, bm25, table, name):
    (planned,) = planned_runs(read_table(table), seeds=1, backbone="embedded:static", only=[name])
    system, _, what = name.partition(", ")
    stages = [planned.config.stage1, *([planned.config.stage2] if system == "G-DSR" else [])]
    rng = np.random.default_rng(0)
    vectors = EpochVectors(np.ones((1, 1), np.float32), np.arange(WRONG + 1, 0, -1, np.float32)[:, None])
    for stage in stages:
        assert stage.negatives_per_pair == 5
        source = NEGATIVES.load(stage.negatives)(line, planned.config.negatives, bm25=lambda: bm25)
        for epoch, mean in enumerate(DIFFICULTY[table][what], start=1):
            source.begin_epoch(epoch, 3, vectors)
            drawn = source.draw(np.zeros(1_000, dtype=np.int64), stage.negatives_per_pair, rng)
            assert ((WRONG - drawn + 0.5) / WRONG).mean() == pytest.approx(mean, abs=0.015)


def test_dense_rows_of_a_table_differ_in_their_negatives_alone():
    for table in DIFFICULTY:
        for system in ("DSR, ", "G-DSR, "):
            rows = [row.name for row in read_table(table).rows if row.name.startswith(system)]
            runs = planned_runs(read_table(table), seeds=1, backbone="embedded:static", only=rows)
            fixed = {
                tuple(
                    setting
                    for setting in run.settings
                    if not setting.startswith(("negatives.", "stage1.negatives", "stage2.negatives"))
                )
                for run in runs
            }
            assert len(fixed) == 1
