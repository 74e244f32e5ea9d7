"""Loading a transformer backbone: its tokenizer and weights, from a folder, the hub's cache or the hub."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from statgraph.device import inference_dtype
from statgraph.encoders.backbone import Backbone
from statgraph.encoders.frozen import Tower
from statgraph.encoders.vocabulary import prune_model
from statgraph.errors import ModelError, reason_of

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase, PreTrainedTokenizerFast
    from transformers.models.auto.auto_factory import _BaseAutoModelClass

HUB_TIMEOUT_S = 10


def loaded_tower(backbone: Backbone, device: torch.device, kept_texts: Sequence[str] | None = None) -> Tower:
    """Return a loaded backbone to run on a device, with only the word pieces of `kept_texts` where they are given.

    Raises:
        ModelError: if it cannot be loaded or its vocabulary cannot be pruned.
    """
    tokenizer, model = load_backbone(backbone)
    if kept_texts is not None:
        tokenizer = prune_model(tokenizer, model, kept_texts)
    return Tower(backbone, tokenizer, model, device, inference_dtype(device))


def load_backbone(backbone: Backbone, *, masked: bool = False) -> tuple[PreTrainedTokenizerFast, PreTrainedModel]:
    """Return (fast tokenizer, float32 model in evaluation mode) of a transformer backbone; `masked`, with a
    masked-language head, a random one where the backbone has none of its own, such as E5.

    Raises:
        ModelError: if it cannot be loaded, where the hub does not answer, within seconds; or is of a family that has no
            such head.
    """
    from transformers import AutoModel, AutoModelForMaskedLM

    what, remedy = f"backbone '{backbone.name}'", "name a local folder or an embedded backbone"
    auto_class = AutoModelForMaskedLM if masked else AutoModel
    tokenizer, model = loaded_pair(backbone.location, auto_class, what=what, remedy=remedy)
    if not getattr(tokenizer, "is_fast", False):
        raise ModelError(f"backbone '{backbone.name}' has no fast tokenizer (tokenizer.json); name another backbone")
    settings = Path(backbone.location) / "sentence_bert_config.json"
    if settings.is_file():
        longest = json.loads(settings.read_text(encoding="utf-8")).get("max_seq_length")
        tokenizer.model_max_length = min(tokenizer.model_max_length, longest or tokenizer.model_max_length)
    if not masked:
        # The pooler is not used and, where a checkpoint lacks it, random: it would make each load a different model.
        model.pooler = None
    return tokenizer, model.eval()


def loaded_pair(
    location: str, auto_class: type[_BaseAutoModelClass], *, what: str, remedy: str
) -> tuple[PreTrainedTokenizerBase, PreTrainedModel]:
    """Return (tokenizer, float32 model) of a folder or hub name; `what` and `remedy` are for the message.

    Raises:
        ModelError: if it cannot be loaded; where the hub does not answer, within seconds.
    """
    from transformers import AutoTokenizer

    quiet_transformers()
    try:
        local = Path(location).is_dir() or is_cached(location)
        if not local:
            ask_hub(location)
        tokenizer = AutoTokenizer.from_pretrained(location, local_files_only=local)
        return tokenizer, auto_class.from_pretrained(location, local_files_only=local, dtype=torch.float32)
    except Exception as error:  # the loaders raise their own errors, their transport's and the system's
        raise ModelError(f"{what} cannot be loaded ({reason_of(error).rstrip('.:')}); {remedy}") from error


def most_tokens(tokenizer: PreTrainedTokenizerBase, model: PreTrainedModel) -> int:
    """Return the longest text that a backbone takes, in tokens, special ones included; 512 at most."""
    positions = getattr(model.config, "max_position_embeddings", None) or 512
    return min(int(tokenizer.model_max_length), int(positions), 512)


def is_cached(name: str) -> bool:
    """Return whether the hub's cache on this machine holds the model's weights."""
    from huggingface_hub import try_to_load_from_cache

    if _is_path(name):  # which the hub's client refuses at length
        return False
    files = ("model.safetensors", "model.safetensors.index.json", "pytorch_model.bin")
    return any(isinstance(try_to_load_from_cache(name, file), str) for file in files)


def _is_path(name: str) -> bool:
    return name.startswith((".", "/", "~")) or name.count("/") > 1


def ask_hub(name: str) -> None:
    """Ask the hub for the model once: its client would try each of the files again and again, for a minute or more.

    Raises:
        OSError: if the name is that of a folder, or the hub does not have it or does not answer.
    """
    if _is_path(name):
        raise OSError("no such folder")
    from huggingface_hub import HfApi
    from huggingface_hub.errors import OfflineModeIsEnabled, RepositoryNotFoundError

    try:
        HfApi().model_info(name, timeout=HUB_TIMEOUT_S)
    except RepositoryNotFoundError:
        raise OSError("no such folder, and no such model on the hub") from None
    except OfflineModeIsEnabled:
        raise OSError("not in the hub's cache on this machine, and HF_HUB_OFFLINE is set") from None
    except Exception as error:  # of the client's transport
        raise OSError(f"no answer from the hub: {error}") from error


def quiet_transformers() -> None:
    """Switch off the text libraries' progress bars ("Loading weights", "Writing model shards") and what they log below
    an error: ours report what is going on."""
    import logging

    import huggingface_hub.utils
    import transformers.utils.logging

    transformers.utils.logging.disable_progress_bar()
    transformers.utils.logging.set_verbosity_error()
    huggingface_hub.utils.disable_progress_bars()
    huggingface_hub.utils.logging.set_verbosity_error()
    logging.getLogger("sentence_transformers").setLevel(logging.ERROR)
