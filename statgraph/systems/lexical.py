"""Training BM25: the synthetic questions that expand the articles, and the index of their words."""

from __future__ import annotations

from collections.abc import Sequence

from statgraph.artifacts import replaced_folder
from statgraph.augmentation.synthetic import write_expansion
from statgraph.distributed import current_world
from statgraph.law.records import Article
from statgraph.retrieval.search.ranker import built_index
from statgraph.runs.run import CorpusFacts, Run
from statgraph.systems.job import Job


def train_lexical(job: Job) -> None:
    """Write the BM25 index into the run folder, after the synthetic questions where `bm25.expansion` is above 0; of
    several processes the first alone does.

    Raises:
        UsageError: if the settings of the synthetic questions do not fit.
    """
    if not current_world().is_first:
        return
    config, run = job.config, Run(job.folder, job.config, CorpusFacts.of(job.corpus))
    if config.bm25.expansion and not run.synthetic.exists():
        with job.clock.step("synthetic questions"):
            write_expansion(job.corpus, config.augment, run.synthetic, job.generation, most=config.bm25.expansion)
    with job.clock.step("BM25 index"):
        write_lexical_index(run, job.corpus.articles)


def write_lexical_index(run: Run, articles: Sequence[Article]) -> None:
    """Save the BM25 index of a run's articles with the run, the synthetic questions that expand them included."""
    with replaced_folder(run.lexical_index) as staging:
        built_index(run, articles).write(staging)
