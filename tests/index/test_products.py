import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from statgraph.index import products
from statgraph.index.products import inner_products, products_by_row

REPO = Path(__file__).parents[2]
VECTORS = np.array([[1, 2, 3], [4, 5, 6]], dtype=np.float32)


@pytest.fixture
def routine(monkeypatch):
    """Return a function that names the routine that multiplied."""
    torch = pytest.importorskip("torch")
    taken = []
    loop, from_numpy = products._by_loop, torch.from_numpy
    monkeypatch.setattr(products, "_by_loop", lambda *given: taken.append("loop") or loop(*given))
    monkeypatch.setattr(torch, "from_numpy", lambda array: taken.append("torch") or from_numpy(array))
    return lambda: taken[0] if taken else "numpy"


@pytest.mark.parametrize(
    ("n_queries", "few_values", "loaded", "expected"),
    [
        (1, 6, True, "loop"),
        (50, 6, False, "loop"),
        (1, 5, True, "torch"),
        (50, 5, True, "torch"),
        (19, 5, False, "loop"),
        (20, 5, False, "numpy"),
    ],
)
def test_every_routine_multiplies(monkeypatch, routine, n_queries, few_values, loaded, expected):
    monkeypatch.setattr(products, "_FEW_VALUES", few_values)
    if not loaded:
        monkeypatch.setitem(sys.modules, "torch", None)
    queries = np.tile(np.array([[1, 0, 2]], dtype=np.float32), (n_queries, 1))
    assert inner_products(queries, VECTORS).tolist() == [[7.0, 16.0]] * n_queries
    assert routine() == expected


def test_no_query_gives_no_products():
    assert inner_products(np.empty((0, 3), dtype=np.float32), VECTORS).shape == (0, 2)


def test_products_with_some_rows():
    queries = np.array([[1, 0, 2], [0, 0, 0], [0, 1, 0]], dtype=np.float32)[::2]
    rows = np.array([[1, 9, 0, 1], [0, 9, 1, 1]])[:, [0, 2, 3]]
    assert products_by_row(queries, VECTORS, rows).tolist() == [[16, 7, 16], [2, 5, 5]]
    assert products_by_row(queries, VECTORS, rows[:, :0]).shape == (2, 0)


IMPORTED_MEANWHILE = """
import sys, threading, time
import numpy as np
from statgraph.index import products
products._FEW_VALUES = 0
threading.Thread(target=lambda: __import__("torch")).start()
while "torch" not in sys.modules:
    time.sleep(0.001)
ones = np.ones((1, 3), dtype=np.float32)
print(products.inner_products(ones, ones), hasattr(sys.modules["torch"], "finished"))
"""


def test_torch_that_another_thread_is_importing_is_waited_for(tmp_path):
    slow = "import time\ntime.sleep(0.5)\nimport contextlib, numpy\nno_grad = contextlib.nullcontext\n"
    slow += "class Array(numpy.ndarray):\n    numpy = lambda self: self\n"
    slow += "tensor = from_numpy = lambda array: array.view(Array)\nfinished = True\n"
    (tmp_path / "torch.py").write_text(slow)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(REPO)])}
    command = [sys.executable, "-c", IMPORTED_MEANWHILE]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert (done.stdout, done.stderr) == ("[[3.]] True\n", "")
