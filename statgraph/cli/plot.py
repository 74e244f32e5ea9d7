"""`statgraph plot`: a corpus, its graph or a run's training -> figures."""

from __future__ import annotations

from pathlib import Path

import click

from statgraph.cli import options

PROJECTIONS = ("tsne", "pca")  # those of statgraph.contrib.plots.training, which loads NumPy


@click.command()
@click.argument("subject", type=click.Choice(("corpus", "graph", "training")))
@options.corpus
@options.run
@options.path("--out", default="plots", help="Folder to write.")
@click.option(
    "--code",
    metavar="TITLE",
    help="For graph: title of the code whose tree to draw, or part of it.  [default: the largest]",
)
@click.option(
    "--projection",
    type=click.Choice(PROJECTIONS),
    default=PROJECTIONS[0],
    help="For training: projection of the article map.",
)
@options.seed
def plot(
    subject: str, corpus: Path | None, run: Path | None, out: Path, code: str | None, projection: str, seed: int
) -> None:
    """Plot a corpus, the tree of a code, or the training of a run, as PNG files and one HTML page.

    \b
    corpus    size of the codes, articles per question
    graph     tree of a code
    training  loss, dev metrics by epoch, map of the article vectors coloured by code
    """
    from statgraph.contrib.plots.corpus import corpus_drawings, tree_drawing
    from statgraph.contrib.plots.drawing import write_drawings
    from statgraph.contrib.plots.training import training_drawings

    training = subject == "training"
    contradictions = {
        f"--code: only for graph, not {subject}; omit it": code is not None and subject != "graph",
        "--corpus: training is plotted from a run; name it with --run": training and corpus,
        f"--run: {subject} is plotted from a corpus; name it with --corpus": not training and run,
    }
    options.refuse(contradictions)
    if training:
        folder = options.chosen_run(run)
        drawings, heading = training_drawings(folder, projection=projection, seed=seed), f"Training of {folder.name}"
    else:
        records = options.chosen_corpus(corpus)
        heading = f"Graph of {records.name}" if subject == "graph" else f"Corpus {records.name}"
        drawings = [tree_drawing(records, code)] if subject == "graph" else corpus_drawings(records)
    for path in write_drawings(drawings, out, stem=subject, heading=heading):
        click.echo(path)
