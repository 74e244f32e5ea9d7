"""Adapting a transformer backbone to statutes by masked-language modelling (G-DSR, section 4, row 6).

Of transformers it takes the model and the masking; its `Trainer` would need accelerate.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from statgraph._version import __version__
from statgraph.artifacts import MANIFEST, as_json, read_object, replaced_folder, write_json
from statgraph.cache import place_of
from statgraph.config import PretrainConfig, RunConfig
from statgraph.device import pick_device
from statgraph.encoders.article_text import article_text
from statgraph.encoders.backbone import EMBEDDED_E5, EMBEDDED_STATIC, Backbone
from statgraph.encoders.backbones import backbone_fingerprint, resolve_backbone
from statgraph.encoders.biencoder import save_transformer
from statgraph.encoders.loading import load_backbone, most_tokens
from statgraph.errors import RunError, UsageError, option
from statgraph.law.records import Corpus, checked_corpus
from statgraph.progress import Progress, TrainingStep, resumable, silent
from statgraph.runs.folders import refuse_full_folder
from statgraph.settings import changed_settings
from statgraph.training.checkpoints import load_progress, load_steps, load_weights, save_checkpoint
from statgraph.training.loop import rate_share
from statgraph.training.masking import (
    NO_PIECE,
    TokenBlocks,
    cut_to_pieces,
    masked_loss,
    masking_of,
    put_pieces_back,
    token_blocks,
)
from statgraph.training.seeding import derived_seed, seed_everything
from statgraph.training.steps import OptimizerSteps

if TYPE_CHECKING:
    from transformers import PreTrainedModel

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
    """Write a transformer adapted to the statutes of a corpus, for the setting `encoder.backbone`.

        pretrain(corpus, "backbones/mine").about["last_loss"]

    It is a sentence-transformers folder with the backbone's pooling and prefixes, and a manifest of its origin; it is
    written at the end, whole or not at all. Every `checkpoint_steps` the state is saved beside it, in
    `unfinished_folder`: with `resume` a killed pre-training continues there and ends, on a CPU, with the same bits.

    Args:
        corpus: the corpus.
        out: the folder to write.
        config: of which `pretrain` and the seed count.
        backbone: an embedded name, a folder, or a name of the hub.
        device: auto, cpu or cuda.
        resume: whether to go on with an interrupted one.
        progress: called with every step.

    Raises:
        UsageError: if the backbone is static, or a setting leaves nothing to train on.
        ModelError: if the backbone cannot be loaded.
        RunError: if the folder is in use, there is nothing to resume or other settings were, or a loss is not finite.
    """
    config.check()
    folder = Path(out)
    was_finished = resume and (folder / MANIFEST).is_file()
    if not was_finished:
        with resumable(f"with: {option('resume')}", unfinished_folder(folder).exists):
            _write_adapted(folder, checked_corpus(corpus), config, backbone, pick_device(device), resume, progress)
    return Pretrained(folder, read_object(folder / MANIFEST, remedy="pre-train into another folder"), was_finished)


def adapted_backbone(config: RunConfig, corpus: Corpus, device: torch.device, progress: Progress = silent) -> str:
    """Return the folder of the configuration's backbone after pre-training on the corpus (`encoder.adapted`).

    It is cached by the backbone, the corpus, the settings and the seed; an interrupted one continues.

    Raises:
        UsageError: if the backbone is a folder of token vectors, which has no model to adapt.
        ModelError, RunError: as `pretrain`.
    """
    name = config.encoder.backbone
    name = EMBEDDED_E5 if name == EMBEDDED_STATIC else name  # the model that the static one is distilled from
    deciding = [
        backbone_fingerprint(_transformer(name)), corpus.content_hash, _deciding(config.pretrain), config.seed,
    ]  # fmt: skip
    folder = place_of("adapted", deciding)
    if not (folder / MANIFEST).is_file():
        begun = (unfinished_folder(folder) / BEGUN).is_file()
        _write_adapted(folder, corpus, config, name, device, begun, progress)
    return str(folder)


def _write_adapted(
    folder: Path, corpus: Corpus, config: RunConfig, name: str, device: torch.device, resume: bool, progress: Progress
) -> None:
    about = {"name": corpus.name, "content_hash": corpus.content_hash}
    origin = as_json({"backbone": name, "corpus": about, NAME: _deciding(config.pretrain), "seed": config.seed})
    unfinished = unfinished_folder(folder)
    _check_folder(folder, unfinished, origin, resume=resume)
    backbone = _transformer(name)
    seed_everything(derived_seed(config.seed, NAME, "head"))  # which a checkpoint may lack
    tokenizer, model = load_backbone(backbone, masked=True)
    longest = most_tokens(tokenizer, model)
    if config.pretrain.max_tokens > longest:
        raise UsageError(
            f"pretrain.max_tokens: backbone '{name}' takes {longest} at most (got {config.pretrain.max_tokens})"
        )
    blocks = token_blocks(tokenizer, [article_text(article) for article in corpus.articles], config.pretrain)
    whole_table = model.get_input_embeddings().weight.detach().clone()  # (vocabulary, width)
    cut_to_pieces(model, blocks.piece_ids)
    if not resume:
        unfinished.mkdir(parents=True, exist_ok=True)
        write_json(unfinished / BEGUN, origin)
    losses = _train(model.to(device), blocks, config, unfinished / CHECKPOINT, device=device, progress=progress)
    outcome = {
        "mask_token": blocks.mask_token,
        "has_mask_token": tokenizer.mask_token is not None,
        "pieces": len(blocks.piece_ids),
        "blocks": len(blocks.ids),
        "first_loss": losses[0],
        "last_loss": losses[1],
        "statgraph": __version__,
    }
    with replaced_folder(folder) as staging:
        put_pieces_back(model.cpu(), blocks.piece_ids, whole_table)
        torch.manual_seed(0)  # of the pooler, which nothing uses and a checkpoint may lack: equal weights, equal file
        pooling, prompts = backbone.pooling, backbone.prompts
        save_transformer(model.base_model, tokenizer, staging, max_tokens=longest, pooling=pooling, prompts=prompts)
        write_json(staging / MANIFEST, {**origin, **outcome})
    shutil.rmtree(unfinished, ignore_errors=True)


def _deciding(config: PretrainConfig) -> dict[str, object]:
    """Return the settings that decide the weights."""
    return {name: value for name, value in asdict(config).items() if name != "checkpoint_steps"}


def _check_folder(folder: Path, unfinished: Path, origin: Mapping[str, object], *, resume: bool) -> None:
    refuse_full_folder(folder)
    begun = unfinished / BEGUN
    if not resume:
        if unfinished.exists():
            raise RunError(
                f"{unfinished}: holds an unfinished pre-training; add {option('resume')} to continue it, delete it, "
                f"or choose another {option('out')}"
            )
        return
    if not begun.is_file():
        raise RunError(f"{folder}: no pre-training to resume; start it without {option('resume')}")
    changed = changed_settings(read_object(begun, remedy=f"delete {unfinished} and start again"), origin)
    if changed:
        raise RunError(
            f"{folder}: was started with other settings ({changed}); resume with the same, "
            f"or choose another {option('out')}"
        )


def _transformer(name: str) -> Backbone:
    backbone = resolve_backbone(name)
    if backbone.kind == "static":
        raise UsageError(
            f"backbone '{name}' is a table of token vectors, which has no model to pre-train; name a transformer"
        )
    return backbone


def _train(
    model: PreTrainedModel,
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
    config, seed, n_blocks = run.pretrain, run.seed, len(blocks.ids)
    masking = masking_of(blocks, config.mask_share)
    parameters = dict(model.named_parameters())
    groups = [
        {"params": [p for p in parameters.values() if p.ndim > 1], "weight_decay": config.weight_decay},
        {"params": [p for p in parameters.values() if p.ndim <= 1], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=config.lr, fused=True)
    steps = OptimizerSteps(optimizer, list(parameters.values()), device, clip=MAX_GRADIENT_NORM)
    done = load_progress(folder) or {"step": 0, "first_loss": None, "last_loss": None}
    if done["step"]:
        model.load_state_dict(load_weights(folder), strict=False)
        load_steps(folder, steps)
    first, last = done["first_loss"], done["last_loss"]
    epochs = math.ceil(config.steps * config.batch_size / n_blocks)
    model.train()
    for step in range(done["step"] + 1, config.steps + 1):
        seed_everything(derived_seed(seed, NAME, step))
        rows = _block_rows(step, config.batch_size, n_blocks, seed=seed)
        for group in optimizer.param_groups:
            group["lr"] = config.lr * rate_share(step, config.steps, config.warmup, end=config.steps + 1)
        ids = blocks.ids[rows]
        shown, labels = masking.torch_mask_tokens(ids, blocks.special[ids] | (ids == NO_PIECE))
        last = steps.take(partial(masked_loss, model, shown, labels))
        first = last if first is None else first
        if not math.isfinite(last):
            raise RunError(
                f"pretrain, step {step}: the loss is {last}; lower the rate ({option('set')} pretrain.lr=...)"
            )
        epoch = math.ceil(step * config.batch_size / n_blocks)
        progress(TrainingStep(NAME, step, config.steps, epoch, epochs, last))
        if step % config.checkpoint_steps == 0 and step < config.steps:
            save_checkpoint(folder, parameters, {"step": step, "first_loss": first, "last_loss": last}, steps)
    model.eval()
    return first, last


def _block_rows(step: int, batch_size: int, n_blocks: int, *, seed: int) -> np.ndarray:
    """Return the blocks of a step (from 1), (batch,) int64: the next ones of epochs each shuffled on its own."""
    places = np.arange((step - 1) * batch_size, step * batch_size)
    rows = np.empty(batch_size, dtype=np.int64)
    for epoch in np.unique(places // n_blocks):
        order = np.random.default_rng(derived_seed(seed, NAME, "order", int(epoch))).permutation(n_blocks)
        here = places // n_blocks == epoch
        rows[here] = order[places[here] % n_blocks]
    return rows
