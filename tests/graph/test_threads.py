import pytest
import torch

from statgraph.graph.dgl_loader import load_dgl
from statgraph.graph.threads import single_threaded


def test_one_thread_within_and_as_many_as_before_after():
    pools = (torch, load_dgl().utils)
    before = [pool.get_num_threads() for pool in pools]
    with single_threaded():
        assert [pool.get_num_threads() for pool in pools] == [1, 1]
    assert [pool.get_num_threads() for pool in pools] == before


def test_an_error_within_gives_the_threads_back():
    before = torch.get_num_threads()
    with pytest.raises(KeyError), single_threaded():
        raise KeyError
    assert torch.get_num_threads() == before
