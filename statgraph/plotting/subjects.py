"""What can be drawn, and the drawings of each."""

from __future__ import annotations

from pathlib import Path

from statgraph import artifacts
from statgraph.corpus.records import Corpus
from statgraph.errors import RunError
from statgraph.plotting.article_map import article_map_drawing
from statgraph.plotting.codes import codes_drawing
from statgraph.plotting.degrees import degrees_drawing
from statgraph.plotting.depths import depths_drawing
from statgraph.plotting.dev_recall import dev_recall_drawing
from statgraph.plotting.drawing import Drawing
from statgraph.plotting.edges import edges_drawing
from statgraph.plotting.labels import labels_drawing
from statgraph.plotting.lengths import lengths_drawing
from statgraph.plotting.losses import losses_drawing
from statgraph.plotting.tree import tree_drawing

_LEAST_POINTS = 5


def corpus_drawings(corpus: Corpus) -> list[Drawing]:
    """Return what a corpus is like: codes, depths, lengths, and labels where it has questions."""
    drawings = [codes_drawing(corpus), depths_drawing(corpus), lengths_drawing(corpus)]
    return [*drawings, labels_drawing(corpus)] if corpus.questions else drawings


def graph_drawings(corpus: Corpus, *, code: str | None = None) -> list[Drawing]:
    """Return what its graph is like: the tree of one code, the edges of each relation, the degrees of the nodes.

    Raises:
        UsageError: if no code, or more than one, fits `code`.
    """
    return [tree_drawing(corpus, code), edges_drawing(corpus), degrees_drawing(corpus)]


def training_drawings(run: Path, *, projection: str = "tsne", seed: int = 0) -> list[Drawing]:
    """Return how a run was trained and what came out: loss, recall on dev, the map of its article vectors; those that
    the run has the numbers for.

    Raises:
        RunError: if it is no finished run, or has neither a learning curve nor vectors.
    """
    from statgraph.index.article_index import ArticleIndex
    from statgraph.runs.manifest import read_run_manifest
    from statgraph.search.article_store import ArticleStore
    from statgraph.training.checkpoints import MetricsLog

    run = Path(run)
    manifest = read_run_manifest(run)
    records = MetricsLog(run / artifacts.RUN_METRICS).records()
    drawings = []
    if any(record["loss"] is not None for record in records):
        drawings.append(losses_drawing(records))
    if any("R@200" in record and record["epoch"] > 0 for record in records):
        drawings.append(dev_recall_drawing(records))
    if (run / artifacts.RUN_INDEX).is_dir():
        vectors = ArticleIndex.load(run / artifacts.RUN_INDEX, device="cpu").vectors
        if len(vectors) >= _LEAST_POINTS:
            articles = ArticleStore(run).read_all()
            drawings.append(article_map_drawing(vectors, articles, projection=projection, seed=seed))
    if not drawings:
        system = manifest["config"]["system"]
        raise RunError(f"{run}: system '{system}' trains nothing and has no vectors; name a run of another system")
    return drawings
