import os
from pathlib import Path

import pytest
import torch

from statgraph.errors import UsageError
from statgraph.runs.kind import kind_of
from statgraph.systems.presets import resolve_config, system_names
from statgraph.systems.rehearsal import rehearsed

# Of the recipes those that train; `dpr` is the backbone as it comes, the others are BM25's.
RECIPES = {
    "cusines-dsr": ["stage1"],
    "cusines-gdsr": ["stage1", "stage2"],
    "dpr": [],
    "dsr": ["stage1"],
    "dsr-adapted": ["stage1"],
    "dsr-augmented": ["stage1"],
    "dsr-flat": ["stage1"],
    "gdsr": ["stage1", "stage2"],
    "qabisar": ["stage1", "stage2"],
}


@pytest.mark.parametrize("system", RECIPES)
def test_a_step_of_each_paper_recipe(system, town_corpus, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = resolve_config(system, ("regime=paper", "device=cpu", "stage1.lr=0.001", "stage2.lr=0.001"))
    before = os.environ.get("STATGRAPH_CACHE")
    steps = rehearsed(town_corpus, config)
    assert [step.stage for step in steps] == RECIPES[system]
    assert all(step.second_loss != step.first_loss > 0 for step in steps)
    assert list(Path(tmp_path).iterdir()) == []
    assert os.environ.get("STATGRAPH_CACHE") == before


def test_every_recipe_is_rehearsed():
    def has_recipe(system):
        try:
            return kind_of(resolve_config(system, ("regime=paper", "device=cpu"))).has_encoder
        except UsageError:
            return False

    assert {system for system in system_names() if has_recipe(system)} == set(RECIPES)


@pytest.mark.parametrize(
    ("system", "along", "dtype"), [("qabisar", "both", torch.float16), ("gdsr", "none", torch.bfloat16)]
)
def test_a_step_in_16_bits_and_slices_as_on_cuda(system, along, dtype, town_corpus, monkeypatch):
    for module in ("training.steps", "encoders.biencoder"):
        monkeypatch.setattr(f"statgraph.{module}.training_dtype", lambda device: dtype)
    monkeypatch.setattr("statgraph.gnn.message_passing.runs_here", lambda nodes, block: False)
    settings = ("device=cpu", f"stage2.train_encoders={along}", "encoder.slice_tokens=32", "encoder.adapted=false")
    steps = rehearsed(town_corpus, resolve_config(system, ("regime=paper", *settings)))
    assert [step.stage for step in steps] == ["stage1", "stage2"]
