"""`embed`: the articles of a corpus -> their vectors, on the machines of a Ray cluster."""

from __future__ import annotations

import logging
import os
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from statgraph.config import EncoderConfig
from statgraph.contrib.sharding.article_shards import SHARD_KIB, located, read_shard, shards_of
from statgraph.contrib.sharding.vector_shards import EmbeddingPlan, VectorShards, encoder_of
from statgraph.device import pick_device
from statgraph.encoders.article_encoder import ArticleEncoder, load_article_encoder
from statgraph.encoders.article_text import article_texts, text_hashes
from statgraph.errors import CorpusError, RunError, StatgraphError, UsageError, described, marked, option, reason_of
from statgraph.extras import require
from statgraph.progress import Progress, Step, silent
from statgraph.runs import parts
from statgraph.runs.run import RunFolder

_PARTS = (parts.ARTICLE_ENCODER.name, parts.QUERY_ENCODER.name)
_RETRIES = 20  # of a shard, where its machine or process is lost
_GRAPHS = ".onnx"  # of the query encoder, for questions alone


@dataclass(frozen=True)
class Embedding:
    """A corpus, the place of its vectors, and how Ray embeds it.

    Attributes:
        corpus: URI of the articles, as `shards_of` takes it.
        out: URI of the vectors.
        address: of a Ray cluster, None for one of this machine.
        actors: at most how many encode at a time, None for one on each CPU, or on each GPU.
        device: auto (a GPU where the cluster has some), cpu or cuda.
        shard_kib: about how much text a shard has.
    """

    corpus: str
    out: str
    address: str | None = None
    actors: int | None = None
    device: str = "auto"
    shard_kib: int = SHARD_KIB


@dataclass(frozen=True)
class EmbeddingSummary:
    """What `embed` did: how many articles were embedded, in how many shards, and how many shards were there before."""

    articles: int
    shards: int
    there_before: int
    seconds: float


def embed(run: RunFolder, what: Embedding, progress: Progress = silent) -> EmbeddingSummary:
    """Embed a corpus with a run's article encoder, as training does, and write the vectors shard by shard.

    Ray gives the shards to processes that keep the encoder, and those of a lost machine to others. A shard is written
    whole and under a name of its own: one that is embedded twice is there once. What a killed call left stays.

    Raises:
        DependencyError: if ray is not installed.
        RunError: if the run has no article encoder, the vectors of something else are at `out`, or Ray does not start.
        CorpusError: if the corpus, or one of its articles, cannot be read.
        UsageError: if there is no such cluster, or it has no GPU where one is asked for.
    """
    require("sharding", "ray")
    start = time.perf_counter()
    run.require_vectors()
    if not (run.folder / parts.ARTICLE_ENCODER).is_dir():
        raise RunError(
            f"{run.folder}: has no encoder of articles (distilled, or of an older version); embed with another"
        )
    vectors = VectorShards(what.out)
    shards = shards_of(what.corpus, what.shard_kib * 1024)
    plan = EmbeddingPlan(encoder_of(run.folder, run.config.encoder), located(what.corpus), tuple(shards))
    missing = vectors.begin(plan)
    n_articles, n_done = 0, len(shards) - len(missing)
    if missing:
        progress(Step("shards", n_done, len(shards)))
        with _cluster(what.address):
            for n_embedded, problems in _written(run, what, plan.encoder, missing):
                if problems:
                    raise CorpusError(*problems)
                n_articles, n_done = n_articles + n_embedded, n_done + 1
                progress(Step("shards", n_done, len(shards)))
    return EmbeddingSummary(n_articles, len(shards), len(shards) - len(missing), time.perf_counter() - start)


@dataclass(frozen=True)
class _Sent:
    """What a process of the cluster is sent, once; `encoder` is the fingerprint of `encoder_of`, `files` a reference to
    `_packed`, in a list, since Ray would fetch a bare one with every shard."""

    encoder: str
    out: str
    cuda: bool
    config: EncoderConfig = field(compare=False)
    files: list[Any] = field(compare=False)


def _embedded_shard(sent: _Sent, number: int) -> tuple[int, list[str]]:
    """Embed one shard and write it; return how many articles it has, and its problems if it cannot be read."""
    encoder, shards = _loaded(sent)
    plan = shards.plan
    assert plan is not None
    try:
        articles = read_shard(plan.corpus, plan.shards[number])
        texts = article_texts(articles, heading_path=sent.config.heading_path)
        shards.add(number, [article.article_id for article in articles], text_hashes(texts), encoder.encode(texts))
    except CorpusError as error:
        return 0, list(map(marked, error.problems))
    except StatgraphError as error:
        return 0, [marked(error)]
    return len(articles), []


@lru_cache(maxsize=1)
def _loaded(sent: _Sent) -> tuple[ArticleEncoder, VectorShards]:
    """Return the encoder and the place of the vectors, made once in each process."""
    import ray

    with tempfile.TemporaryDirectory(prefix="statgraph-") as folder:
        for name, raw in ray.get(sent.files[0]).items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(raw)
        encoder = load_article_encoder(Path(folder), sent.config, pick_device("cuda" if sent.cuda else "cpu"))
    return encoder, VectorShards(sent.out)


def _written(run: RunFolder, what: Embedding, encoder: str, missing: Sequence[int]) -> Iterator[tuple[int, list[str]]]:
    """Yield what `_embedded_shard` returns of each shard, in the order in which they are finished."""
    import ray

    kind = "GPU" if what.device != "cpu" and ray.cluster_resources().get("GPU") else "CPU"
    if what.device == "cuda" and kind == "CPU":
        raise UsageError(f"{option('device')} cuda: no machine of the cluster has a GPU; use {option('device')} cpu")
    files = [ray.put(_packed(run.folder))]
    sent = ray.put(_Sent(encoder, located(what.out), kind == "GPU", run.config.encoder, files))
    places = {"num_gpus": 1} if kind == "GPU" else {"num_cpus": 1}
    # A process stays for the next shard (max_calls): it has the encoder.
    embedded = ray.remote(**places, max_calls=0, max_retries=_RETRIES, scheduling_strategy="SPREAD")(_embedded_shard)
    waiting = list(reversed(missing))
    pending: list[Any] = []
    try:
        while waiting or pending:
            most = what.actors or 2 * int(ray.cluster_resources().get(kind, 1))  # machines come and go
            while waiting and len(pending) < most:
                pending.append(embedded.remote(sent, waiting.pop()))
            (done,), pending = ray.wait(pending, num_returns=1)
            yield ray.get(done)
    except ray.exceptions.RayError as error:
        reason = described(getattr(error, "cause", None) or error)
        raise RunError(f"{what.out}: Ray gave up ({reason}); run the same command again to go on") from error


def _packed(run: Path) -> dict[str, bytes]:
    """Return the files of a run's encoders by their path in it; the machines of a cluster need no copy of the run."""
    paths = [path for part in _PARTS for path in sorted((run / part).rglob("*")) if path.is_file()]
    return {path.relative_to(run).as_posix(): path.read_bytes() for path in paths if path.suffix != _GRAPHS}


@contextmanager
def _cluster(address: str | None) -> Iterator[None]:
    """Run the block on a Ray cluster: the one that this process is at already, the one at an address, or one of this
    machine that ends with the block."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing leaves the machines
    import ray

    if ray.is_initialized():
        yield
        return
    where = {"address": address} if address else {"address": "local", "include_dashboard": False}
    try:
        with warnings.catch_warnings(action="ignore"):  # Ray warns twice that nobody answers
            ray.init(log_to_driver=False, logging_level=logging.ERROR, **where)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        if address is None:
            raise RunError(
                f"Ray does not start on this machine ({reason_of(error)}); name a cluster by {option('address')}"
            ) from None
        raise UsageError(
            f"{option('address')} {address}: no Ray cluster answers ({reason_of(error)}); start one with 'ray start', "
            "and set RAY_AUTH_MODE=token where it asks for its token"
        ) from None
    try:
        yield
    finally:
        ray.shutdown()
