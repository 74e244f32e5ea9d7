import importlib
import sys

import pytest

from statgraph.cli.main import COMMANDS
from statgraph.errors import DependencyError, UsageError
from statgraph.registry import LAYERS

MODULE = "town_layers"
SOURCE = """
import torch
from torch import nn

class Own(nn.Module):
    pass

def build(width):
    return Own()
"""


@pytest.fixture
def no_module_allowed(monkeypatch):
    monkeypatch.setattr(LAYERS, "_allowed", set())
    monkeypatch.delenv(LAYERS.VARIABLE, raising=False)


@pytest.fixture
def module(tmp_path, monkeypatch, no_module_allowed):
    """Return a function that writes a module outside the package."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(source=SOURCE):
        (tmp_path / f"{MODULE}.py").write_text(source)

    yield write
    sys.modules.pop(MODULE, None)


def test_a_path_that_nobody_typed_imports_nothing(module, monkeypatch):
    module("raise SystemExit('imported')")
    with pytest.raises(UsageError, match=r"not imported.* set STATGRAPH_LAYERS=town_layers$"):
        LAYERS.load(f"{MODULE}:Own")
    monkeypatch.setenv(LAYERS.VARIABLE, "others, town_layers.inner")
    with pytest.raises(UsageError, match=r"STATGRAPH_LAYERS=others,town_layers\.inner,town_layers$"):
        LAYERS.load(f"{MODULE}:Own")
    assert MODULE not in sys.modules


def test_a_path_that_is_typed_or_in_the_variable_is_imported(module, monkeypatch):
    module()
    with monkeypatch.context() as patch:
        patch.setenv(LAYERS.VARIABLE, f"others, {MODULE}")
        assert LAYERS.load(f"{MODULE}:Own").__name__ == "Own"
    with pytest.raises(UsageError):
        LAYERS.load(f"{MODULE}:Own")
    LAYERS.allow(["gcn", f"{MODULE}:Own"])
    assert LAYERS.load(f"{MODULE}:Own").__name__ == "Own"


@pytest.mark.parametrize(
    ("name", "said"), [("build", "not a torch.nn.Module class"), ("torch", "not a torch"), ("Other", "not there")]
)
def test_what_is_no_layer_class(name, said, module):
    module()
    LAYERS.allow([f"{MODULE}:{name}"])
    with pytest.raises(UsageError, match=f"'{MODULE}:{name}': {name} of module {MODULE} is {said}"):
        LAYERS.load(f"{MODULE}:{name}")


@pytest.mark.parametrize(
    ("source", "reason"),
    [("raise ValueError('no\\nlicence')", "no"), ("raise SystemExit(3)", "3"), ("class Own(:", "invalid syntax")],
)
def test_a_module_that_cannot_be_imported(source, reason, module):
    module(source)
    LAYERS.allow([f"{MODULE}:Own"])
    with pytest.raises(DependencyError, match=rf"module {MODULE} cannot be imported \({reason}.*; install") as refused:
        LAYERS.load(f"{MODULE}:Own")
    assert "\n" not in str(refused.value)


def test_a_module_that_is_not_there(no_module_allowed):
    LAYERS.allow(["no.such.module:Own"])
    with pytest.raises(DependencyError, match=r"No module named 'no'.*PYTHONPATH"):
        LAYERS.load("no.such.module:Own")


def test_what_has_the_form_of_a_path():
    assert "my_package.layers:MyLayer" in LAYERS
    assert "layers:MyLayer" in LAYERS
    for name in (
        "my_package.layers.MyLayer",
        ":MyLayer",
        "layers:",
        "a b:C",
        "a.:C",
        "../a:C",
        "a:b:c",
        "1a:C",
        "a:C.d",
    ):
        assert name not in LAYERS


def test_every_command_is_there():
    for name, (module, function, _) in COMMANDS.items():
        assert callable(getattr(importlib.import_module(module), function)), name
