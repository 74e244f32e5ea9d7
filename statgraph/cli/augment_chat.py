"""`statgraph augment --generator chat`: what the command prints."""

from __future__ import annotations

import time
from contextlib import nullcontext
from pathlib import Path

import click

from statgraph.augmentation.store import synthetic_of
from statgraph.chat import GENERAL_KEY, ChatEndpoint
from statgraph.cli.terminal import TerminalProgress
from statgraph.contrib.chat_questions import ChatOptions, with_training_questions, write_chat_questions
from statgraph.errors import UsageError
from statgraph.law.records import Corpus
from statgraph.law.store import held_for_writing, write_corpus

KEY_VARIABLES = ("STATGRAPH_CHAT_KEY", GENERAL_KEY)
TIMEOUT_S = 120.0


def augment_by_chat(
    corpus: Corpus,
    out: Path,
    url: str | None,
    model: str,
    *,
    run: Path | None,
    corpus_out: Path | None = None,
    **settings,
) -> None:
    """Write a file of questions, and a corpus that has them as training questions to `corpus_out`, and print what
    became of them; `settings` are those of `ChatOptions`.

    Raises:
        UsageError: if there is no URL, or an option contradicts another.
        CorpusError: if the file exists, or there is something in the folder of the corpus.
        ChatError: if the endpoint cannot be reached, refuses, or answers with something else throughout.
    """
    if url is None:
        raise UsageError("--generator chat: needs an endpoint; add --url http://127.0.0.1:8080/v1")
    endpoint, options = ChatEndpoint(url, model, TIMEOUT_S, KEY_VARIABLES), ChatOptions(**settings)
    if run is not None and not options.round_trip:
        raise UsageError(f"--run {run}: only used for a round trip; leave out --round-trip 0, or omit --run")
    start = time.perf_counter()
    held = nullcontext() if corpus_out is None else held_for_writing(corpus_out, replace=False)
    with held, TerminalProgress() as progress:
        written = write_chat_questions(
            corpus, out, endpoint, options, run=run, progress=progress, announce=lambda line: click.echo(line, err=True)
        )
        if corpus_out is not None and written.kept:
            enlarged = with_training_questions(corpus, synthetic_of(out, corpus))
            write_corpus(enlarged, corpus_out)
    click.echo(f"Generated questions about {corpus.name} in {time.perf_counter() - start:.1f} s: {out}")
    click.echo(f"  generator  chat:{model}, seed {options.seed}")
    left_out = f"{written.declined:,} declined, {written.malformed:,} malformed"
    click.echo(f"  answers    {written.answers:,}, of which {left_out}; {written.tokens:,} tokens")
    click.echo(f"  questions  {written.kept:,} of {written.made:,}")
    click.echo(f"  articles   {written.articles:,} of {len(corpus.articles):,}")
    if corpus_out is not None and written.kept:
        added = len(enlarged.questions) - len(corpus.questions)
        click.echo(f"Corpus {corpus.name} with {added:,} more training question{'s' * (added != 1)}: {corpus_out}")
    if written.is_capped:
        click.echo(f"Stopped at --max-tokens; to go on, delete {out} and run again with more")
