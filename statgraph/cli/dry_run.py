"""What `statgraph train --dry-run` says: a run's shapes, its memory, and one step of each stage with a tiny model."""

from __future__ import annotations

import click

from statgraph.config import RunConfig
from statgraph.corpus.records import Corpus
from statgraph.errors import UsageError

_GIB = 2**30
_WITHOUT_A_GPU = 24 * _GIB
# The driver, cuDNN's and cuBLAS's buffers, and what is lost between tensors.
_USABLE = 0.9


def say_dry_run(corpus: Corpus, config: RunConfig) -> None:
    """Print the plan of a run, and take its steps.

    Raises:
        UsageError: if the run is of several systems or has no vectors.
    """
    if not config.has_vectors or config.student.epochs:
        raise UsageError(
            f"--dry-run: '{config.system}' is no system of its own transformer; name one, such as --system qabisar"
        )
    from statgraph.device import device_memory, pick_device
    from statgraph.systems.memory_plan import memory_plan
    from statgraph.systems.rehearsal import rehearsed

    device = pick_device(config.device)
    memory = device_memory(device) if device.type == "cuda" else _WITHOUT_A_GPU
    plan = memory_plan(corpus, config, memory=memory)
    click.echo(f"{config.system} on {corpus.name}, {config.encoder.backbone} ({config.encoder.train})")
    missing = "" if device.type == "cuda" else "; this machine has none"
    click.echo(f"A CUDA device of {memory / _GIB:.1f} GiB{missing}. At most, in GiB:")
    click.echo(f"  {'':<10}  {'trained':>8}  weights   tokens    graph   scores     peak")
    for stage in plan:
        parts = (stage.weights, stage.tokens, stage.graph, stage.scores, stage.peak)
        figures = "  ".join(f"{part / _GIB:7.2f}" for part in parts)
        click.echo(f"  {stage.stage:<10}  {stage.n_trained / 1e6:7.1f}M  {figures}")
    for stage in plan:
        slices = f"; more than {stage.slice_tokens:,} tokens in slices" if stage.slice_tokens else ""
        click.echo(f"  {stage.stage}: {stage.batch}{slices}")
    peak = max((stage.peak for stage in plan), default=0)
    if peak <= _USABLE * memory:
        click.echo(f"It fits: {peak / _GIB:.1f} GiB.")
    else:
        click.echo(
            f"It does not fit: {peak / _GIB:.1f} GiB, and {_USABLE * memory / _GIB:.1f} are usable; lower "
            "encoder.slice_tokens, the stage's batch_size, or pretrain.batch_size"
        )
    for step in rehearsed(corpus, config):
        losses = f"loss {step.first_loss:.4f}, then {step.second_loss:.4f}"
        click.echo(f"A step of {step.stage} with a tiny model: {losses} ({step.seconds:.1f} s)")
    click.echo("Nothing was written.")
