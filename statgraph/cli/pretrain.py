"""`statgraph pretrain`: a transformer backbone and a corpus -> the backbone adapted to the corpus's statutes."""

from __future__ import annotations

from pathlib import Path

import click

from statgraph.cli.options import corpus_option, device_option, seed_option
from statgraph.config import PretrainConfig, RunConfig


@click.command()
@corpus_option
@click.option(
    "--backbone",
    metavar="NAME",
    help="Transformer to start from: an embedded name, a folder or a hub name.  [default: the embedded one]",
)
@click.option("--out", metavar="DIR", type=click.Path(path_type=Path), required=True, help="Folder for the result.")
@click.option("--steps", metavar="N", type=int, default=PretrainConfig.steps, show_default=True, help="Batches.")
@click.option(
    "--batch-size", metavar="N", type=int, default=PretrainConfig.batch_size, show_default=True, help="Blocks of text."
)
@click.option("--set", "settings", multiple=True, metavar="PRETRAIN.B=C", help="Set one more value; repeatable.")
@seed_option
@click.option("--resume", is_flag=True, help="Go on with an interrupted pre-training (the same --out).")
@device_option
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

    The result is a folder that `statgraph train` takes as --set encoder.backbone=DIR or encoder.article_backbone=DIR.
    """
    from statgraph.artifacts import MANIFEST, read_json
    from statgraph.cli.options import chosen_corpus
    from statgraph.cli.progress import TerminalProgress
    from statgraph.device import pick_device
    from statgraph.encoders.backbones import EMBEDDED_E5
    from statgraph.errors import UsageError
    from statgraph.settings import with_settings
    from statgraph.training.pretraining import pretrain_backbone, unfinished_folder

    shorthands = (f"pretrain.steps={steps}", f"pretrain.batch_size={batch_size}")
    config = with_settings(RunConfig(), (*shorthands, *settings))
    for name in (setting.partition("=")[0].strip() for setting in settings):
        if not name.startswith("pretrain."):
            raise UsageError(f"--set: '{name}' has no bearing on pre-training; set one of pretrain.*")
    config.check()
    if resume and (out / MANIFEST).is_file():
        click.echo(f"{out} is already finished; train with: statgraph train --set encoder.backbone={out}")
        return
    records = chosen_corpus(corpus)
    start = backbone or EMBEDDED_E5
    try:
        with TerminalProgress() as progress:
            folder = pretrain_backbone(
                start,
                records,
                config.pretrain,
                out,
                seed=seed,
                device=pick_device(device),
                resume=resume,
                progress=progress.on_training,
            )
    except KeyboardInterrupt:
        if unfinished_folder(out).exists():
            click.echo("To go on with it, run the same command with: --resume", err=True)
        raise
    about = read_json(folder / MANIFEST)
    shape = f"{config.pretrain.batch_size} x {config.pretrain.max_tokens} tokens"
    click.echo(f"Pre-trained {start} on {records.name}, {config.pretrain.steps:,} steps of {shape}, seed {seed}")
    click.echo(f"  loss  {about['first_loss']:.3f} at first, {about['last_loss']:.3f} at last")
    if not about["has_mask_token"]:
        click.echo(f"  the tokenizer has no mask token: '{about['mask_token']}' hid the words in its place")
    click.echo(f"Backbone folder: {folder}")
