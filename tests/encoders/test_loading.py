import socket
import time

import huggingface_hub
import pytest
import torch
from huggingface_hub.utils import are_progress_bars_disabled
from transformers import BertConfig, BertModel, T5Config
from transformers.utils import logging as transformers_logging

from statgraph.encoders import loading
from statgraph.encoders.backbone import Backbone
from statgraph.encoders.loading import load_backbone, most_tokens, quiet_transformers
from statgraph.errors import ModelError

HUB_NAME = "nobody-at-all/no-such-model"


def load(folder):
    return load_backbone(Backbone("mine", "transformer", str(folder), "mean"))


def refused(location, why: str = "") -> None:
    """Check that what lies there cannot be loaded, for this reason, and that one line says so."""
    started = time.perf_counter()
    with pytest.raises(ModelError, match=rf"^backbone 'mine' cannot be loaded \({why}.*\); name a local") as error:
        load(location)
    assert "\n" not in str(error.value)
    assert time.perf_counter() - started < 10


def test_a_folder(tiny_folder):
    tokenizer, model = load(tiny_folder)

    assert tokenizer.tokenize("rent") == ["▁rent"]
    assert not model.training
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}
    assert most_tokens(tokenizer, model) == 64
    model.config.max_position_embeddings = 8192
    assert most_tokens(tokenizer, model) == 512
    tokenizer.model_max_length = 100
    assert most_tokens(tokenizer, model) == 100


@pytest.mark.parametrize("damage", ["no weights", "cut weights", "no tokenizer", "other shapes", "no json"])
def test_a_folder_that_does_not_load(tiny_folder, damage):
    if damage == "no weights":
        (tiny_folder / "model.safetensors").unlink()
    elif damage == "cut weights":
        (tiny_folder / "model.safetensors").write_bytes(b"cut")
    elif damage == "no tokenizer":
        (tiny_folder / "tokenizer.json").unlink()
    elif damage == "other shapes":
        BertConfig(vocab_size=53, hidden_size=16, num_attention_heads=2).save_pretrained(tiny_folder)
    else:
        (tiny_folder / "config.json").write_text("{")
    refused(tiny_folder)


@pytest.fixture
def hub_at(monkeypatch):
    """Return a function that puts the hub at a port of this machine."""

    def put(port: int) -> None:
        endpoint = f"http://127.0.0.1:{port}"
        monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(huggingface_hub, "HfApi", lambda: huggingface_hub.hf_api.HfApi(endpoint=endpoint))

    return put


def test_a_hub_that_does_not_answer(hub_at, monkeypatch):
    refused(HUB_NAME, "not in the hub's cache .*HF_HUB_OFFLINE is set")
    monkeypatch.setattr(loading, "HUB_TIMEOUT_S", 0.2)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        hub_at(silent.getsockname()[1])
        refused(HUB_NAME, "no answer from the hub: .*Connection refused")
        silent.listen()
        refused(HUB_NAME, "no answer from the hub: timed out")


def test_a_model_that_the_hub_does_not_have(monkeypatch):
    class Hub:
        def model_info(self, name, timeout):
            missing = huggingface_hub.errors.RepositoryNotFoundError
            raise missing.__new__(missing)  # made without the response that it would describe

    monkeypatch.setattr(huggingface_hub, "HfApi", Hub)
    refused(HUB_NAME, "no such folder, and no such model on the hub")


def test_a_cached_model_needs_no_hub(tiny_folder, monkeypatch):
    asked = []
    monkeypatch.setattr(huggingface_hub, "try_to_load_from_cache", lambda name, file: str(tiny_folder / file))
    monkeypatch.setattr(loading, "ask_hub", asked.append)

    refused(HUB_NAME)  # its tokenizer is not in the cache: still no question to the hub
    assert asked == []


def test_a_tokenizer_that_is_not_fast(tiny_folder, monkeypatch):
    import transformers

    class Slow:
        is_fast = False

    monkeypatch.setattr(transformers.AutoTokenizer, "from_pretrained", lambda *args, **kwargs: Slow())

    with pytest.raises(ModelError, match="'mine' has no fast tokenizer"):
        load(tiny_folder)


def test_a_family_without_a_head(tiny_backbone):
    T5Config(vocab_size=53).save_pretrained(tiny_backbone.location)
    with pytest.raises(ModelError, match=r"^backbone 'mine' cannot be loaded \(.+\); name a local folder"):
        load_backbone(tiny_backbone, masked=True)


def test_saving_and_loading_a_model_say_nothing(tiny_folder, tmp_path, capfd):
    quiet_transformers()
    quiet_transformers()
    capfd.readouterr()
    model = BertModel.from_pretrained(tiny_folder)  # with a pooling layer, whose weights the file lacks
    model.save_pretrained(tmp_path / "copy")

    assert capfd.readouterr() == ("", "")
    assert not transformers_logging.is_progress_bar_enabled()
    assert are_progress_bars_disabled()
