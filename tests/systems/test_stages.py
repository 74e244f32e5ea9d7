from types import SimpleNamespace

import pytest
import torch

from statgraph.config import RunConfig
from statgraph.settings import with_settings
from statgraph.systems.stages import Stage1Cache


class Weights:
    """Stands for a stage: one tensor."""

    def __init__(self, value: float):
        self.value = {"w": torch.full((2,), value)}
        self.training = True

    def weights(self):
        return self.value

    def load_weights(self, weights):
        self.value = dict(weights)

    def set_training(self, on):
        self.training = on


def cache(folder, *settings, corpus="c1", device="cpu") -> Stage1Cache:
    config, corpus = with_settings(RunConfig(), settings), SimpleNamespace(content_hash=corpus)
    return Stage1Cache(folder, SimpleNamespace(config=config, corpus=corpus, device=torch.device(device)))


def test_kept_weights_come_back(tmp_path):
    assert cache(tmp_path).load_into(Weights(0)) is None
    cache(tmp_path).keep(Weights(3), {"stage": "stage1", "epoch": 2})
    stage = Weights(0)
    assert cache(tmp_path).load_into(stage) == {"stage": "stage1", "epoch": 2}
    assert stage.value["w"].tolist() == [3, 3]
    assert not stage.training


@pytest.mark.parametrize(
    ("settings", "about", "same"),
    [
        (("gnn.layers=4",), {}, True),
        (("stage2.epochs=1",), {}, True),
        (("seed=1",), {}, False),
        (("stage1.lr=0.1",), {}, False),
        (("encoder.max_tokens=64",), {}, False),
        (("negatives.buckets=4",), {}, False),
        ((), {"corpus": "c2"}, False),
        ((), {"device": "cuda"}, False),
    ],
)
def test_only_what_the_weights_depend_on_counts(tmp_path, settings, about, same):
    cache(tmp_path).keep(Weights(3), {"epoch": 2})
    assert (cache(tmp_path, *settings, **about).load_into(Weights(0)) is not None) == same


def test_damaged_weights_are_trained_again(tmp_path):
    cache(tmp_path).keep(Weights(3), {"epoch": 2})
    (file,) = tmp_path.glob("*/weights.safetensors")
    file.write_bytes(b"nothing")
    stage = Weights(0)
    assert cache(tmp_path).load_into(stage) is None
    assert stage.value["w"].tolist() == [0, 0]
