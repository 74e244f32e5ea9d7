"""`statgraph augment` and `statgraph pretrain`: synthetic questions, and a backbone adapted to the statutes."""

from __future__ import annotations

import time
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from statgraph.chat import GENERAL_KEY, ChatEndpoint
from statgraph.cli import options
from statgraph.cli.terminal import TerminalProgress
from statgraph.config import AugmentConfig, PretrainConfig, RunConfig
from statgraph.errors import UsageError

if TYPE_CHECKING:
    from statgraph.law.records import Corpus

CHAT, CHAT_KEY, CHAT_TIMEOUT_S = "chat", "STATGRAPH_CHAT_KEY", 120.0


@click.command()
@options.corpus
@options.path("--out", metavar="FILE", required=True, help="JSONL file to write; must not exist yet.")
@click.option(
    "--generator",
    metavar="NAME",
    default=AugmentConfig.generator,
    help="headings, seq2seq:MODEL (folder or hub name of a doc2query model), or chat (the endpoint at --url).",
)
@click.option(
    "--url", metavar="URL", help="OpenAI-compatible endpoint that writes the questions, and is sent articles."
)
@click.option("--model", metavar="NAME", help="Model to ask for at --url.")
@options.number("--max-tokens", default=1_000_000, help="Tokens after which --generator chat stops.")
@options.path("--corpus-out", help="Also write the corpus with the questions of --generator chat in its train split.")
@options.of_setting(AugmentConfig, "per_article")
@options.of_setting(AugmentConfig, "articles_per_heading")
@options.of_setting(
    AugmentConfig,
    "round_trip",
    metavar="K",
    help="Keep a question only if --run ranks one of its articles in the top K; 0 keeps all. With --generator chat 20.",
)
@options.path("--run", help="Run folder for --round-trip.")
@options.seed
@options.number("--limit", help="Only the first N articles.  [default: all]")
@options.device
def augment(
    corpus: Path | None, out: Path, run: Path | None, seed: int, limit: int | None, device: str, **settings: Any
) -> None:
    """Generate synthetic questions about the articles of a corpus, for training or document expansion.

    Running the same command again resumes an interrupted generation. Use the file with
    `statgraph train --set augment.file=FILE`.
    """
    records, start = options.chosen_corpus(corpus), time.perf_counter()
    url, model, max_tokens, corpus_out = (settings.pop(name) for name in ("url", "model", "max_tokens", "corpus_out"))
    common: dict[str, Any] = {"run": run, "seed": seed, "limit": limit, "device": device}
    after: list[str] = []
    if settings["generator"] == CHAT:
        if click.get_current_context().get_parameter_source("round_trip") is not ParameterSource.DEFAULT:
            common["round_trip"] = settings["round_trip"]
        if url is None:
            raise UsageError("--generator chat: needs an endpoint; add --url http://127.0.0.1:8080/v1")
        endpoint = ChatEndpoint(url, model or "", CHAT_TIMEOUT_S, (CHAT_KEY, GENERAL_KEY))
        lines, after = _augment_by_chat(records, out, endpoint, corpus_out, max_tokens=max_tokens, **common)
    else:
        from statgraph import api

        given = any(value is not None for value in (url, model, corpus_out))
        options.refuse({"--url, --model and --corpus-out: only for --generator chat": given})
        config = AugmentConfig(**settings)
        with TerminalProgress() as progress:
            written = api.augment(records, out, config, progress=progress, **common)
        lines = [
            f"  generator  {config.generator}, seed {seed}",
            f"  questions  {written.kept:,}{f' of {written.made:,}' if config.round_trip else ''}",
            f"  articles   {written.articles:,} of {len(records.articles):,}",
        ]
    click.echo(f"Generated questions about {records.name} in {time.perf_counter() - start:.1f} s: {out}")
    for line in (*lines, *after):
        click.echo(line)


def _augment_by_chat(
    corpus: Corpus, out: Path, endpoint: ChatEndpoint, corpus_out: Path | None, *, run: Path | None, **settings: Any
) -> tuple[list[str], list[str]]:
    """Write the questions of a chat endpoint, and a corpus with them to `corpus_out`; return what to print of both."""
    from statgraph.augmentation.store import synthetic_of
    from statgraph.contrib.chat_questions import ChatOptions, with_training_questions, write_chat_questions
    from statgraph.law.store import held_for_writing, write_corpus

    chosen = ChatOptions(**settings)
    if run is not None and not chosen.round_trip:
        raise UsageError(f"--run {run}: only used for a round trip; leave out --round-trip 0, or omit --run")
    after: list[str] = []
    held = nullcontext() if corpus_out is None else held_for_writing(corpus_out, replace=False)
    with held, TerminalProgress() as progress:
        announce = partial(click.echo, err=True)
        written = write_chat_questions(corpus, out, endpoint, chosen, run=run, progress=progress, announce=announce)
        if corpus_out is not None and written.kept:
            enlarged = with_training_questions(corpus, synthetic_of(out, corpus))
            write_corpus(enlarged, corpus_out)
            added = len(enlarged.questions) - len(corpus.questions)
            after.append(
                f"Corpus {corpus.name} with {added:,} more training question{'s' * (added != 1)}: {corpus_out}"
            )
    if written.is_capped:
        after.append(f"Stopped at --max-tokens; to go on, delete {out} and run again with more")
    left_out = f"{written.declined:,} declined, {written.malformed:,} malformed"
    return [
        f"  generator  chat:{endpoint.model}, seed {chosen.seed}",
        f"  answers    {written.answers:,}, of which {left_out}; {written.tokens:,} tokens",
        f"  questions  {written.kept:,} of {written.made:,}",
        f"  articles   {written.articles:,} of {len(corpus.articles):,}",
    ], after


@click.command()
@options.corpus
@click.option(
    "--backbone",
    metavar="NAME",
    help="Transformer to start from: embedded name, folder or hub name.  [default: the embedded one]",
)
@options.path("--out", required=True, help="Folder to write.")
@click.option("--steps", metavar="N", type=int, default=PretrainConfig.steps, help="Batches to train on.")
@click.option("--batch-size", metavar="N", type=int, default=PretrainConfig.batch_size, help="Blocks per batch.")
@options.settings("Override another setting of pretrain; repeatable.", metavar="PRETRAIN.B=C")
@options.seed
@click.option("--resume", is_flag=True, help="Resume an interrupted pre-training (same --out).")
@options.device
def pretrain(
    corpus: Path | None,
    backbone: str | None,
    out: Path,
    steps: int,
    batch_size: int,
    settings: tuple[str, ...],
    seed: int,
    **how: Any,
) -> None:
    """Adapt a transformer to statutes by masked-language modelling.

    `statgraph train` takes the resulting folder as --set encoder.backbone=DIR.
    """
    from statgraph.encoders.backbone import EMBEDDED_E5
    from statgraph.settings import with_settings
    from statgraph.training.pretraining import pretrain as adapt

    shorthands = (f"seed={seed}", f"pretrain.steps={steps}", f"pretrain.batch_size={batch_size}")
    config = with_settings(RunConfig(), (*shorthands, *settings))
    for name in (setting.partition("=")[0].strip() for setting in settings):
        if not name.startswith("pretrain."):
            raise UsageError(f"--set: '{name}' does not apply to pre-training; use a setting of pretrain.*")
    start, records = backbone or EMBEDDED_E5, options.chosen_corpus(corpus)
    with TerminalProgress() as progress:
        folder, about, was_finished = adapt(records, out, config, backbone=start, progress=progress, **how)
    if was_finished:
        click.echo(f"{out} is already finished; train with: statgraph train --set encoder.backbone={out}")
        return
    shape = f"{config.pretrain.batch_size} x {config.pretrain.max_tokens} tokens"
    click.echo(f"Pre-trained {start} on {records.name}, {config.pretrain.steps:,} steps of {shape}, seed {seed}")
    click.echo(f"  loss  {about['first_loss']:.3f} at the start, {about['last_loss']:.3f} at the end")
    if not about["has_mask_token"]:
        click.echo(f"  the tokenizer has no mask token; used '{about['mask_token']}' instead")
    click.echo(f"Backbone folder: {folder}")
