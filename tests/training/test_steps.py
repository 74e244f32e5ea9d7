import pytest
import torch

from statgraph.errors import RunError
from statgraph.training import steps
from statgraph.training.steps import OptimizerSteps

CPU = torch.device("cpu")


@pytest.fixture
def half(monkeypatch):
    """Let the CPU train as a CUDA device without bfloat16 does."""
    monkeypatch.setattr(steps, "training_dtype", lambda device: torch.float16)


def taking(weight: torch.nn.Parameter, *, lr=0.1, clip=0.0) -> OptimizerSteps:
    optimizer = torch.optim.AdamW([weight], lr=lr, weight_decay=0.0, fused=True)
    return OptimizerSteps(optimizer, [weight], CPU, clip=clip)


def weights(*values: float) -> torch.nn.Parameter:
    return torch.nn.Parameter(torch.tensor(values))


def test_in_float16_products_are_half_and_the_loss_falls(half):
    weight, seen = torch.nn.Parameter(torch.full((1, 3), 2.0)), []

    def loss():
        out = torch.nn.functional.linear(torch.ones(2, 3), weight)
        seen.append(out.dtype)
        return out.float().square().mean()

    own = taking(weight)
    losses = [own.take(loss) for _ in range(24)]
    assert set(seen) == {torch.float16}
    assert losses[0] == 36  # as it is, not scaled
    assert losses[-1] < 0.1 * losses[0]
    # Each weight's gradient is 12, and 12 * 4096 the first product with a power of two that float16 holds.
    assert losses[:5] == [36] * 5 != losses[1:6]
    assert own.state()["scale"] == 4096


def test_a_gradient_too_small_for_float16_counts(half, monkeypatch):
    def moved() -> bool:
        weight = torch.nn.Parameter(torch.ones(1, 3))
        taking(weight, lr=1.0).take(lambda: 1e-8 * torch.nn.functional.linear(torch.ones(2, 3), weight).float().sum())
        return bool((weight != 1).all())

    assert moved()
    unscaled = torch.amp.GradScaler
    monkeypatch.setattr(torch.amp, "GradScaler", lambda device, enabled: unscaled(device, init_scale=1.0))
    assert not moved()


def test_a_step_that_overflows_is_left_out(half):
    weight = weights(0.0, 1.0)
    own = taking(weight)
    assert own.take(lambda: weight.abs().sqrt().sum()) == 1  # the gradient of a root at 0 is infinite
    assert weight.tolist() == [0, 1]
    assert own.state()["scale"] == 32768
    own.take(lambda: weight.sum())
    assert weight.tolist() == pytest.approx([-0.1, 0.9])  # AdamW's first step is the rate
    again = taking(weights(0.0))
    again.load_state(own.state())
    again.load_state({})
    assert again.state() == own.state()


def test_gradients_that_no_scale_makes_finite(half):
    weight = weights(0.0)
    own = taking(weight)

    def take_all():
        for _ in range(40):
            own.take(lambda: weight.abs().sqrt().sum())

    with pytest.raises(RunError, match="not finite"):
        take_all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_the_gradient_is_clipped_and_not_its_scaled_self(monkeypatch, dtype):
    monkeypatch.setattr(steps, "training_dtype", lambda device: dtype)
    lengths = []

    class Measured(torch.optim.SGD):
        def step(self, closure=None):
            lengths.append(weight.grad.norm().item())

    for factor in (30.0, 0.1):
        weight = weights(3.0, 4.0)
        own = OptimizerSteps(Measured([weight], lr=0.1), [weight], CPU, clip=1.0)
        own.take(lambda weight=weight, factor=factor: factor * weight.sum())
    assert lengths == pytest.approx([1.0, 0.1 * 2**0.5], rel=1e-4)


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_float16_on_cuda(half):
    device = torch.device("cuda")
    weight = torch.nn.Parameter(torch.zeros(2, device=device))
    optimizer = torch.optim.AdamW([weight], lr=0.1, weight_decay=0.0, fused=True)
    own = OptimizerSteps(optimizer, [weight], device, clip=1.0)
    own.take(lambda: weight.abs().sqrt().sum())
    assert (weight.tolist(), own.state()["scale"]) == ([0, 0], 32768)
    own.take(lambda: weight.sum())
    assert weight.tolist() == pytest.approx([-0.1, -0.1], abs=1e-4)
