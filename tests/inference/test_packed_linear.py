import math

import pytest
import torch

from statgraph.inference import packed_linear as module
from statgraph.inference.packed_linear import packed_linear

WEIGHT, BIAS = torch.tensor([[1.0, 2.0], [0.0, 1.0], [0.0, 0.0]]), torch.tensor([0.0, 0.5, -1.0])
ROWS = torch.tensor([[3.0, 4.0], [-1.0, 0.0]])


@pytest.fixture(params=["packed", "plain"])
def layout(request, monkeypatch):
    if request.param == "plain":
        monkeypatch.setattr(module, "_has_onednn", lambda: False)
    elif not module._has_onednn():
        pytest.skip("this torch has no oneDNN")


@pytest.mark.usefixtures("layout")
def test_the_map():
    assert packed_linear(WEIGHT, BIAS)(ROWS).tolist() == [[11.0, 4.5, -1.0], [-1.0, 0.5, -1.0]]


@pytest.mark.usefixtures("layout")
def test_gelu_behind_the_map():
    # GELU(-1) is -1 times the normal distribution's P(X <= -1); its tanh approximation would be 1.5e-4 off.
    share = (1 + math.erf(-1 / math.sqrt(2))) / 2
    mapped = packed_linear(WEIGHT, BIAS, gelu=True)(ROWS)
    assert mapped[:, 2].tolist() == pytest.approx([-share, -share], abs=1e-6)
    assert mapped[0, 0].item() == pytest.approx(11.0, abs=1e-5)


@pytest.mark.usefixtures("layout")
def test_the_precision_is_the_weight_s():
    mapped = packed_linear(WEIGHT.bfloat16(), BIAS.bfloat16())(ROWS.bfloat16())
    assert (mapped.dtype, mapped.tolist()) == (torch.bfloat16, [[11.0, 4.5, -1.0], [-1.0, 0.5, -1.0]])
