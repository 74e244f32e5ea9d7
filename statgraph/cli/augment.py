"""`statgraph augment`: corpus -> file of synthetic questions."""

from __future__ import annotations

from pathlib import Path

import click

from statgraph.cli import options
from statgraph.cli.terminal import TerminalProgress
from statgraph.config import AugmentConfig
from statgraph.errors import UsageError


@click.command()
@options.corpus
@options.path("--out", metavar="FILE", required=True, help="JSONL file to write; must not exist yet.")
@click.option(
    "--generator",
    metavar="NAME",
    default=AugmentConfig.generator,
    help="headings, or seq2seq:MODEL (folder or hub name of a doc2query model).",
)
@options.of_setting(AugmentConfig, "per_article", help="Questions per article (seq2seq).")
@options.of_setting(AugmentConfig, "articles_per_heading", help="Maximum number of articles per heading (headings).")
@options.of_setting(
    AugmentConfig,
    "round_trip",
    metavar="K",
    help="Keep a question only if --run ranks one of its articles in the top K; 0 keeps all.",
)
@options.path("--run", help="Run folder for --round-trip.")
@options.seed
@options.number("--limit", help="Only the first N articles.  [default: all]")
@options.device
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
    """Generate synthetic questions about the articles of a corpus, for training or document expansion.

    Running the same command again resumes an interrupted generation. Use the file with
    `statgraph train --set augment.file=FILE`.
    """
    import time

    from statgraph.artifacts import partial_beside
    from statgraph.augmentation.synthetic import GenerationOptions, write_generated
    from statgraph.device import pick_device

    if round_trip and run is None:
        raise UsageError(f"--round-trip {round_trip}: needs a retriever; name its run folder with --run")
    if run is not None and not round_trip:
        raise UsageError(f"--run {run}: only used for a round trip; add --round-trip K, or omit --run")
    config = AugmentConfig(
        generator=generator, per_article=per_article, articles_per_heading=articles_per_heading, round_trip=round_trip
    )
    torch_device = pick_device(device)
    records = options.chosen_corpus(corpus)
    rank = _ranking(run, records, device) if run is not None else None
    start = time.perf_counter()
    with options.resume_hint("again", partial_beside(out).is_file), TerminalProgress() as progress:
        generation = GenerationOptions(seed, torch_device, progress, rank=rank, limit=limit)
        written = write_generated(records, config, out, generation)
    seconds = time.perf_counter() - start
    of = f" of {written.made:,}" if round_trip else ""
    click.echo(f"Generated questions about {records.name} in {seconds:.1f} s: {out}")
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
    return lambda questions, k: [ranked.rows for ranked in retriever.rank(questions, k)]
