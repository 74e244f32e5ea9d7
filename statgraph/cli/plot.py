"""`statgraph plot`: a corpus, its graph or a run's training -> pictures."""

from __future__ import annotations

from pathlib import Path

import click

from statgraph.cli.options import corpus_option, run_option, seed_option

SUBJECTS = ("corpus", "graph", "training")
PROJECTIONS = ("tsne", "pca")  # those of statgraph.plotting.article_map, which loads NumPy


@click.command()
@click.argument("subject", type=click.Choice(SUBJECTS))
@corpus_option
@run_option
@click.option(
    "--out", metavar="DIR", type=click.Path(path_type=Path), default="plots", show_default=True, help="Their folder."
)
@click.option(
    "--code",
    metavar="TITLE",
    help="For graph: the code whose tree is drawn, or a part of its title.  [default: the largest]",
)
@click.option(
    "--projection",
    type=click.Choice(PROJECTIONS),
    default=PROJECTIONS[0],
    show_default=True,
    help="For training: how the map of the articles comes about.",
)
@seed_option
def plot(
    subject: str, corpus: Path | None, run: Path | None, out: Path, code: str | None, projection: str, seed: int
) -> None:
    """Draw a corpus, its graph, or the training of a run, as PNG files and one HTML page.

    \b
    corpus    how large the codes are, how deep and long the articles, how many answer a question
    graph     the tree of a code, the edges of each relation, the degrees of the nodes
    training  the loss, recall on dev by epoch, a map of the article vectors coloured by code
    """
    from statgraph.cli.options import chosen_corpus, chosen_run
    from statgraph.errors import UsageError
    from statgraph.plotting.corpus_pictures import corpus_drawings
    from statgraph.plotting.graph_pictures import graph_drawings
    from statgraph.plotting.page import write_drawings
    from statgraph.plotting.training_pictures import training_drawings

    if code is not None and subject != "graph":
        raise UsageError(f"--code: '{subject}' draws no tree; use it with graph")
    if subject == "training":
        if corpus is not None:
            raise UsageError("--corpus: 'training' is drawn from a run alone; name it with --run")
        folder = chosen_run(run)
        drawings, heading = training_drawings(folder, projection=projection, seed=seed), f"Training of {folder.name}"
    else:
        if run is not None:
            raise UsageError(f"--run: '{subject}' is drawn from a corpus; name it with --corpus")
        records = chosen_corpus(corpus)
        heading = f"Graph of {records.name}" if subject == "graph" else f"Corpus {records.name}"
        drawings = graph_drawings(records, code=code) if subject == "graph" else corpus_drawings(records)
    for path in write_drawings(drawings, out, stem=subject, heading=heading):
        click.echo(path)
