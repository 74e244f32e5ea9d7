"""`statgraph pretrain`: transformer backbone and corpus -> backbone adapted to the statutes."""

from __future__ import annotations

from pathlib import Path

import click

from statgraph.cli import options
from statgraph.cli.terminal import TerminalProgress
from statgraph.config import PretrainConfig, RunConfig
from statgraph.errors import UsageError


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
    resume: bool,
    device: str,
) -> None:
    """Adapt a transformer to statutes by masked-language modelling.

    `statgraph train` takes the resulting folder as --set encoder.backbone=DIR or encoder.article_backbone=DIR.
    """
    from statgraph.artifacts import MANIFEST, read_json
    from statgraph.device import pick_device
    from statgraph.encoders.backbones import EMBEDDED_E5
    from statgraph.settings import with_settings
    from statgraph.training.pretraining import pretrain_backbone, unfinished_folder

    shorthands = (f"seed={seed}", f"pretrain.steps={steps}", f"pretrain.batch_size={batch_size}")
    config = with_settings(RunConfig(), (*shorthands, *settings))
    for name in (setting.partition("=")[0].strip() for setting in settings):
        if not name.startswith("pretrain."):
            raise UsageError(f"--set: '{name}' does not apply to pre-training; use a setting of pretrain.*")
    config.check()
    if resume and (out / MANIFEST).is_file():
        click.echo(f"{out} is already finished; train with: statgraph train --set encoder.backbone={out}")
        return
    records = options.chosen_corpus(corpus)
    start = backbone or EMBEDDED_E5
    with options.resume_hint("with: --resume", unfinished_folder(out).exists), TerminalProgress() as progress:
        folder = pretrain_backbone(
            start,
            records,
            config,
            out,
            device=pick_device(device),
            resume=resume,
            progress=progress,
        )
    about = read_json(folder / MANIFEST)
    shape = f"{config.pretrain.batch_size} x {config.pretrain.max_tokens} tokens"
    click.echo(f"Pre-trained {start} on {records.name}, {config.pretrain.steps:,} steps of {shape}, seed {seed}")
    click.echo(f"  loss  {about['first_loss']:.3f} at the start, {about['last_loss']:.3f} at the end")
    if not about["has_mask_token"]:
        click.echo(f"  the tokenizer has no mask token; used '{about['mask_token']}' instead")
    click.echo(f"Backbone folder: {folder}")
