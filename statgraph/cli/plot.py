"""`statgraph plot`: a corpus, its graph or a run's training -> PNG files."""

from __future__ import annotations

from pathlib import Path

import click

from statgraph.cli import options


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
    type=click.Choice(("tsne", "pca")),
    default="tsne",
    help="For training: projection of the article map.",
)
@options.seed
def plot(
    subject: str, corpus: Path | None, run: Path | None, out: Path, code: str | None, projection: str, seed: int
) -> None:
    """Plot a corpus, the tree of a code, or the training of a run, as PNG files.

    \b
    corpus    size of the codes, articles per question
    graph     tree of a code
    training  loss, dev metrics by epoch, map of the article vectors coloured by code
    """
    from statgraph.contrib.plots.figures import save_png

    training = subject == "training"
    contradictions = {
        f"--code: only for graph, not {subject}; omit it": code is not None and subject != "graph",
        "--corpus: training is plotted from a run; name it with --run": training and corpus,
        f"--run: {subject} is plotted from a corpus; name it with --corpus": not training and run,
    }
    options.refuse(contradictions)
    if subject == "training":
        from statgraph.contrib.plots.training import training_figures

        figures = training_figures(options.chosen_run(run), projection=projection, seed=seed)
    elif subject == "graph":
        from statgraph.contrib.plots.graph import tree_figure

        figures = {"tree": tree_figure(options.chosen_corpus(corpus), code)}
    else:
        from statgraph.contrib.plots.corpus import corpus_figures

        figures = corpus_figures(options.chosen_corpus(corpus))
    for name, figure in figures.items():
        path = out / f"{subject}-{name}.png"
        save_png(figure, path)
        click.echo(path)
