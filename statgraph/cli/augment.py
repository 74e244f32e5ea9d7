"""`statgraph augment`: corpus -> a file of synthetic questions."""

from __future__ import annotations

from pathlib import Path

import click

from statgraph.cli.options import corpus_option, device_option, seed_option
from statgraph.config import AugmentConfig


@click.command()
@corpus_option
@click.option(
    "--out", metavar="FILE", type=click.Path(path_type=Path), required=True, help="JSONL file to write; must be new."
)
@click.option(
    "--generator",
    metavar="NAME",
    default=AugmentConfig.generator,
    show_default=True,
    help="headings, or seq2seq:MODEL (a doc2query model by folder or hub name).",
)
@click.option(
    "--per-article",
    metavar="N",
    type=click.IntRange(min=1),
    default=AugmentConfig.per_article,
    show_default=True,
    help="Questions an article (seq2seq).",
)
@click.option(
    "--articles-per-heading",
    metavar="N",
    type=click.IntRange(min=1),
    default=AugmentConfig.articles_per_heading,
    show_default=True,
    help="Most articles that one heading asks for (headings).",
)
@click.option(
    "--round-trip",
    metavar="K",
    type=click.IntRange(min=0),
    default=AugmentConfig.round_trip,
    show_default=True,
    help="Keep a question if --run finds an article of it among its best K; 0 keeps all.",
)
@click.option("--run", metavar="DIR", type=click.Path(path_type=Path), help="Run folder for --round-trip.")
@seed_option
@click.option("--limit", metavar="N", type=click.IntRange(min=1), help="Only the first N articles.  [default: all]")
@device_option
def augment(
    corpus: Path | None,
    out: Path,
    generator: str,
    per_article: int,
    articles_per_heading: int,
    round_trip: int,
    run: Path | None,
    seed: int,
    limit: int | None,
    device: str,
) -> None:
    """Write synthetic questions about the articles of a corpus, to train on or to expand articles by.

    An interrupted generation goes on where it was when the same command runs again. Use the file with
    `statgraph train --set augment.file=FILE`.
    """
    import time

    from statgraph.augmentation.synthetic import partial_beside, write_generated
    from statgraph.cli.options import chosen_corpus
    from statgraph.cli.progress import TerminalProgress
    from statgraph.device import pick_device
    from statgraph.errors import UsageError

    if round_trip and run is None:
        raise UsageError(f"--round-trip {round_trip}: asks for a retriever; name its run folder with --run")
    if run is not None and not round_trip:
        raise UsageError(f"--run {run}: is asked in a round trip only; add --round-trip K, or leave it out")
    config = AugmentConfig(
        generator=generator, per_article=per_article, articles_per_heading=articles_per_heading, round_trip=round_trip
    )
    torch_device = pick_device(device)
    records = chosen_corpus(corpus)
    rank = _ranking(run, records, device) if run is not None else None
    start = time.perf_counter()
    try:
        with TerminalProgress() as progress:
            written = write_generated(
                records, config, out, seed=seed, device=torch_device, progress=progress.on_step, rank=rank, limit=limit
            )
    except KeyboardInterrupt:
        if partial_beside(out).is_file():
            click.echo("To go on with it, run the same command again", err=True)
        raise
    seconds = time.perf_counter() - start
    of = f" of {written.made:,}" if round_trip else ""
    click.echo(f"Questions about {records.name}, made in {seconds:.1f} s, written to {out}")
    click.echo(f"  generator  {generator}, seed {seed}")
    click.echo(f"  questions  {written.kept:,}{of}")
    click.echo(f"  articles   {written.articles:,} of {len(records.articles):,}")


def _ranking(run: Path, records, device: str):
    """Return the function (questions, k) -> article rows of a run that was trained on these records."""
    from statgraph.runs.run import Run
    from statgraph.search.retriever import Retriever

    opened = Run.read(run)
    opened.check_corpus(records)
    retriever = Retriever.of(opened, device=device)
    return lambda questions, k: retriever.rank(questions, k)[0]
