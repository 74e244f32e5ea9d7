import numpy as np
import pytest

from statgraph.inference.byte_codes import row_codes, smoothing


def test_a_row_s_largest_value_has_the_largest_code():
    codes, scales = row_codes(np.array([[1.27, -0.01, 0.004], [0.0, 0.0, 0.0], [-2.54, 0.03, 1.0]], dtype=np.float32))
    assert codes.dtype == np.int8
    assert codes.tolist() == [[127, -1, 0], [0, 0, 0], [-127, 2, 50]]  # 0.03 / 0.02 rounds to the even 2
    np.testing.assert_allclose(scales, [0.01, 1.0, 0.02], rtol=1e-6)


def test_values_come_back_to_half_a_scale():
    weight = np.random.default_rng(0).standard_normal((8, 40)).astype(np.float32)
    codes, scales = row_codes(weight)
    assert (abs(codes * scales[:, None] - weight) <= 0.5001 * scales[:, None]).all()


def test_smoothing_by_hand():
    # 16^0.7 / 1^0.3 and 1^0.7 / 0.5^0.3
    found = smoothing(np.array([16.0, 1.0]), np.array([[1.0, -0.5], [0.25, 0.5]]))
    assert found == pytest.approx([6.9644, 1.2311], rel=1e-4)


def test_smoothing_makes_the_columns_of_an_input_alike():
    rng = np.random.default_rng(1)
    inputs, weight = rng.standard_normal((50, 6)), rng.standard_normal((4, 6))
    inputs[:, 2] *= 100
    shares = smoothing(abs(inputs).max(axis=0), weight)
    smooth = abs(inputs / shares).max(axis=0)
    np.testing.assert_allclose((inputs / shares) @ (weight * shares).T, inputs @ weight.T)
    assert smooth.max() / smooth.min() < 10 < 50 < abs(inputs).max() / abs(inputs).max(axis=0).min()


def test_columns_of_zeros_stay_finite():
    shares = smoothing(np.zeros(2), np.zeros((3, 2)))
    assert np.isfinite(shares).all()
    assert (shares > 0).all()
