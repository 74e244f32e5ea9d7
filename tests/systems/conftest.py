"""Configurations that train within a second."""

from __future__ import annotations

import pytest
import torch

from statgraph.systems.presets import resolve_config


@pytest.fixture(autouse=True)
def one_thread():
    """Compute on one thread: on vectors this small several wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def quick_config(quick_settings):
    """Return a function that gives the configuration of a system with quick settings and more."""
    return lambda system="qabisar", *settings: resolve_config(system, (*quick_settings, *settings))
