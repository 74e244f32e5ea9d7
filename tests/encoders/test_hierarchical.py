import numpy as np
import pytest
import torch

from statgraph.encoders.hierarchical import ChunkEncoder

OFFSETS = np.array([0, 3, 4, 6])


def chunk_encoder(*, pooling="mean", width=12, n_heads=4, trained=False, **others) -> ChunkEncoder:
    sizes = {"max_chunks": 4, "n_layers": 2, "dropout": 0.1} | others
    torch.manual_seed(0)
    encoder = ChunkEncoder(width, n_heads=n_heads, pooling=pooling, **sizes)
    if trained:
        with torch.no_grad():
            for parameter in encoder.parameters():
                parameter.add_(0.3 * torch.randn_like(parameter))
    return encoder.eval()


@pytest.fixture
def vectors() -> torch.Tensor:
    return torch.randn(6, 12, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("pooling", ["mean", "max"])
def test_it_starts_as_plain_pooling(vectors, pooling):
    found = chunk_encoder(pooling=pooling)(vectors, OFFSETS)

    for row, chunks in enumerate((vectors[0:3], vectors[3:4], vectors[4:6])):
        torch.testing.assert_close(found[row], chunks.mean(dim=0) if pooling == "mean" else chunks.amax(dim=0))


def test_a_random_start_is_of_sinusoidal_positions_and_a_norm_behind_the_last_layer(vectors):
    encoder = chunk_encoder(start="random", width=4, n_heads=2, max_chunks=2)
    rates = torch.tensor([1.0, 1e-4])
    places = torch.tensor([[1.0], [2.0]])
    torch.testing.assert_close(encoder.positions.data, torch.cat([(places * rates).sin(), (places * rates).cos()], 1))
    vector = encoder(torch.ones(1, 4), np.array([0, 1]))  # of one chunk, so that pooling changes nothing
    torch.testing.assert_close(vector.mean(), torch.tensor(0.0), atol=1e-6, rtol=0)
    torch.testing.assert_close(vector.pow(2).mean(), torch.tensor(1.0), atol=1e-3, rtol=0)
    assert not encoder.layers[0].norm_first
    assert chunk_encoder(start="random", n_layers=0).positions.abs().sum() == 0


@pytest.mark.parametrize("pooling", ["mean", "max"])
@pytest.mark.parametrize("gradients", [True, False])
def test_padding_does_not_matter(vectors, pooling, gradients):
    encoder = chunk_encoder(pooling=pooling, trained=True)
    with torch.set_grad_enabled(gradients):  # torch takes another path without gradients
        together = encoder(vectors, OFFSETS)
        alone = [encoder(vectors[start:end], np.array([0, end - start])) for start, end in ((0, 3), (3, 4), (4, 6))]

    torch.testing.assert_close(together, torch.cat(alone), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(("width", "asked", "used"), [(12, 12, 12), (32, 12, 8), (7, 4, 1), (384, 12, 12)])
def test_heads_fall_back_to_a_divisor(width, asked, used):
    encoder = chunk_encoder(width=width, n_heads=asked, n_layers=1)

    assert encoder.layers[0].self_attn.num_heads == used
