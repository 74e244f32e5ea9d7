"""Adapting a transformer backbone to statutes by masked-language modelling (G-DSR, section 4, row 6)."""

from __future__ import annotations

import math
import shutil
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.nn import functional

from statgraph._version import __version__
from statgraph.artifacts import MANIFEST, as_json, read_object, replaced_folder, write_json
from statgraph.cache import place_of
from statgraph.config import PretrainConfig, RunConfig
from statgraph.device import pick_device
from statgraph.encoders.article_text import article_text
from statgraph.encoders.backbone import EMBEDDED_E5, EMBEDDED_STATIC, Backbone
from statgraph.encoders.backbones import backbone_fingerprint, resolve_backbone
from statgraph.encoders.biencoder import save_transformer
from statgraph.encoders.loading import load_masked_model, most_tokens
from statgraph.errors import RunError, UsageError
from statgraph.law.records import Corpus, checked_corpus
from statgraph.progress import Progress, TrainingStep, resumable, silent
from statgraph.runs.folders import refuse_full_folder
from statgraph.settings import changed_settings, check_settings
from statgraph.training.checkpoints import load_optimizer, load_progress, load_weights, save_checkpoint
from statgraph.training.loop import rate_share
from statgraph.training.masking import MaskedBatch, MaskedLanguageModel, TokenBlocks, masked_batch, token_blocks
from statgraph.training.seeding import derived_seed, seed_everything
from statgraph.training.steps import OptimizerSteps

NAME = "pretrain"
BEGUN, CHECKPOINT = "begun.json", "last"
MAX_GRADIENT_NORM = 1.0


def unfinished_folder(folder: Path) -> Path:
    """Return where a pre-training that is to end in `folder` keeps its checkpoints until then."""
    return folder.with_name(f"{folder.name}.unfinished")


class Pretrained(NamedTuple):
    """A backbone that was adapted: its folder, what its manifest says (the backbone before, the losses, the mask
    token), and whether it was finished before."""

    folder: Path
    about: Mapping[str, Any]
    was_finished: bool


def pretrain(
    corpus: Corpus,
    out: Path | str,
    config: RunConfig = RunConfig(),
    *,
    backbone: str = EMBEDDED_E5,
    device: str = "auto",
    resume: bool = False,
    progress: Progress = silent,
) -> Pretrained:
    """Write a transformer adapted to the statutes of a corpus, for the setting `encoder.backbone`, as
    `pretrain_backbone` does, which raises the same.

        pretrain(corpus, "backbones/mine").about["last_loss"]

    Args:
        corpus: the corpus.
        out: the folder to write.
        config: of which `pretrain` and the seed count.
        backbone: an embedded name, a folder, or a name of the hub.
        device: auto, cpu or cuda.
        resume: whether to go on with an interrupted one.
        progress: called with every step.
    """
    config.check()
    folder = Path(out)
    was_finished = resume and (folder / MANIFEST).is_file()
    if not was_finished:
        with resumable("with: --resume", unfinished_folder(folder).exists):
            pretrain_backbone(
                backbone,
                checked_corpus(corpus),
                config,
                folder,
                device=pick_device(device),
                resume=resume,
                progress=progress,
            )
    return Pretrained(folder, read_object(folder / MANIFEST, remedy="pre-train into another folder"), was_finished)


def pretrain_backbone(
    backbone_name: str,
    corpus: Corpus,
    config: RunConfig,
    folder: Path,
    *,
    device: torch.device,
    resume: bool = False,
    progress: Progress = silent,
) -> Path:
    """Write the backbone after masked-language modelling on the corpus's articles into a folder, and return the folder.

    It is a sentence-transformers folder with the backbone's pooling and prefixes, and a manifest of its origin; it is
    written at the end, whole or not at all. Every `checkpoint_steps` the state is saved beside it, in
    `unfinished_folder`: with `resume` a killed pre-training continues there and ends, on a CPU, with the same bits. Of
    the configuration it takes `pretrain` and the seed.

    Raises:
        UsageError: if the backbone is static, or a setting leaves nothing to train on.
        ModelError: if the backbone cannot be loaded.
        RunError: if the folder is in use, there is nothing to resume or other settings were, or a loss is not finite.
    """
    wanted = _origin(backbone_name, corpus, config)
    check_settings(config.pretrain, NAME)
    unfinished = unfinished_folder(folder)
    _check_folder(folder, unfinished, wanted, resume=resume)
    backbone = _transformer(backbone_name)
    seed_everything(derived_seed(config.seed, NAME, "head"))  # which a checkpoint may lack
    tokenizer, masked_model = load_masked_model(backbone)
    longest = most_tokens(tokenizer, masked_model)
    block_tokens = config.pretrain.max_tokens
    if block_tokens > longest:
        raise UsageError(
            f"pretrain.max_tokens: backbone '{backbone_name}' takes {longest} at most (got {block_tokens})"
        )
    blocks = token_blocks(tokenizer, map(article_text, corpus.articles), block_tokens=block_tokens)
    model = MaskedLanguageModel(masked_model, blocks.piece_ids).to(device)
    if not resume:
        unfinished.mkdir(parents=True, exist_ok=True)
        write_json(unfinished / BEGUN, wanted)
    losses = _trained(model, blocks, config, unfinished / CHECKPOINT, device=device, progress=progress)
    outcome = {
        "mask_token": blocks.mask_token,
        "has_mask_token": tokenizer.mask_token is not None,
        "pieces": len(blocks.piece_ids),
        "blocks": len(blocks),
        "first_loss": losses[0],
        "last_loss": losses[1],
        "statgraph": __version__,
    }
    with replaced_folder(folder) as staging:
        encoder = model.trained_encoder()
        torch.manual_seed(0)  # of the pooler, which nothing uses and a checkpoint may lack: equal weights, equal file
        save_transformer(
            encoder, tokenizer, staging, max_tokens=longest, pooling=backbone.pooling, prompts=backbone.prompts
        )
        write_json(staging / MANIFEST, {**wanted, **outcome})
    shutil.rmtree(unfinished, ignore_errors=True)
    return folder


def adapted_backbone(config: RunConfig, corpus: Corpus, device: torch.device, progress: Progress = silent) -> str:
    """Return the folder of the configuration's article backbone after pre-training on the corpus (`encoder.adapted`).

    It is cached by the backbone, the corpus, the settings and the seed; an interrupted one continues.

    Raises:
        UsageError: if the backbone is a folder of token vectors, which has no model to adapt.
        ModelError, RunError: as `pretrain_backbone`.
    """
    name = config.encoder.article_backbone or config.encoder.backbone
    name = EMBEDDED_E5 if name == EMBEDDED_STATIC else name  # the model that the static one is distilled from
    deciding = [
        backbone_fingerprint(_transformer(name)), corpus.content_hash, _deciding(config.pretrain), config.seed,
    ]  # fmt: skip
    folder = place_of("adapted", deciding)
    if not (folder / MANIFEST).is_file():
        begun = (unfinished_folder(folder) / BEGUN).is_file()
        pretrain_backbone(name, corpus, config, folder, device=device, resume=begun, progress=progress)
    return str(folder)


def _origin(backbone_name: str, corpus: Corpus, config: RunConfig) -> object:
    """Return what decides the result, as JSON has it."""
    about = {"name": corpus.name, "content_hash": corpus.content_hash}
    return as_json({"backbone": backbone_name, "corpus": about, NAME: _deciding(config.pretrain), "seed": config.seed})


def _deciding(config: PretrainConfig) -> dict[str, object]:
    """Return the settings that decide the weights."""
    return {name: value for name, value in asdict(config).items() if name != "checkpoint_steps"}


def _check_folder(folder: Path, unfinished: Path, wanted: Mapping[str, object], *, resume: bool) -> None:
    refuse_full_folder(folder)
    begun = unfinished / BEGUN
    if not resume:
        if unfinished.exists():
            raise RunError(
                f"{unfinished}: holds an unfinished pre-training; add --resume to continue it, delete it, or choose "
                "another --out"
            )
        return
    if not begun.is_file():
        raise RunError(f"{folder}: no pre-training to resume; start it without --resume")
    settings = read_object(begun, remedy=f"delete {unfinished} and start again")
    changed = changed_settings(settings, wanted)
    if changed:
        raise RunError(
            f"{folder}: was started with other settings ({changed}); resume with the same, or choose another --out"
        )


def _transformer(name: str) -> Backbone:
    backbone = resolve_backbone(name)
    if backbone.kind == "static":
        raise UsageError(
            f"backbone '{name}' is a table of token vectors, which has no model to pre-train; name a transformer"
        )
    return backbone


def _trained(
    model: MaskedLanguageModel,
    blocks: TokenBlocks,
    run: RunConfig,
    folder: Path,
    *,
    device: torch.device,
    progress: Progress,
) -> tuple[float, float]:
    """Train the model in place, from the checkpoint in `folder` where there is one; return the first and last loss.

    A step's blocks, masks and dropout follow from the seed and its number alone.
    """
    config, seed = run.pretrain, run.seed
    parameters = model.trained_state()
    groups = [
        {"params": [p for p in parameters.values() if p.ndim > 1], "weight_decay": config.weight_decay},
        {"params": [p for p in parameters.values() if p.ndim <= 1], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=config.lr, fused=True)
    steps = OptimizerSteps(optimizer, list(parameters.values()), device, clip=MAX_GRADIENT_NORM)
    done = load_progress(folder)
    if done:
        model.load_trained_state(load_weights(folder))
        load_optimizer(folder, optimizer)
        steps.load_state(done.get("scaling", {}))
    first, last, begun = (done["first_loss"], done["last_loss"], done["step"]) if done else (None, None, 0)
    epochs = math.ceil(config.steps * config.batch_size / len(blocks))
    model.train()
    for step in range(begun + 1, config.steps + 1):
        rng = seed_everything(derived_seed(seed, NAME, step))
        rows = _block_rows(step, config.batch_size, len(blocks), seed=seed)
        for group in optimizer.param_groups:
            group["lr"] = config.lr * rate_share(step, config.steps, config.warmup, end=config.steps + 1)
        batch = masked_batch(blocks, rows, rng, share=config.mask_share)
        last = steps.take(lambda batch=batch: _loss(model, batch, device))
        first = last if first is None else first
        if not math.isfinite(last):
            raise RunError(f"pretrain, step {step}: the loss is {last}; lower the rate (--set pretrain.lr=...)")
        epoch = math.ceil(step * config.batch_size / len(blocks))
        progress(TrainingStep(NAME, step, config.steps, epoch, epochs, last))
        if step % config.checkpoint_steps == 0 and step < config.steps:
            state = {"step": step, "first_loss": first, "last_loss": last, "scaling": steps.state()}
            save_checkpoint(folder, model.trained_state(), state, optimizer)
    model.eval()
    return first, last


def _loss(model: MaskedLanguageModel, batch: MaskedBatch, device: torch.device) -> torch.Tensor:
    ids, places, targets = (torch.from_numpy(part).to(device) for part in (batch.ids, batch.places, batch.targets))
    logits = model(ids, places)  # (hidden, pieces)
    return functional.cross_entropy(logits.float(), targets)


def _block_rows(step: int, batch_size: int, n_blocks: int, *, seed: int) -> np.ndarray:
    """Return the blocks of a step (from 1), (batch,) int64: the next ones of epochs each shuffled on its own."""
    places = np.arange((step - 1) * batch_size, step * batch_size)
    rows = np.empty(batch_size, dtype=np.int64)
    for epoch in np.unique(places // n_blocks):
        order = np.random.default_rng(derived_seed(seed, NAME, "order", int(epoch))).permutation(n_blocks)
        here = places // n_blocks == epoch
        rows[here] = order[places[here] % n_blocks]
    return rows
