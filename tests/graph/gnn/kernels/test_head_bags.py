import dataclasses

import pytest

from statgraph.graph.gnn.kernels.head_bags import head_bags


@pytest.fixture
def block(block_of):
    """Return a block of inputs 0 to 2 whose outputs 0 and 1 are the inputs 2 and 0; output 1 gets two edges."""
    return block_of([(2, 1, 5), (0, 1, 6)], n_inputs=3, own_inputs=[2, 0])


@pytest.mark.parametrize("looped", [False, True])
def test_edges_worked_by_hand(block, looped):
    bags = head_bags(block, 2, looped=looped)
    assert bags.targets.tolist() == [0, 1, 1, 1]
    assert bags.logit_inputs.tolist() == [2, 0, 2, 0]
    assert bags.edge_types.tolist() == [-1, -1, 5, 6]


def test_worked_by_hand(block):
    # The table holds the inputs as rows 0 to 2 and what the outputs give to themselves as rows 3 and 4.
    bags = head_bags(block, 2)
    assert bags.own_edges.tolist() == [0, 1]
    # Row r is 2 r for head 0 and 2 r + 1 for head 1; each output's bag of head 0 stands before that of head 1.
    assert bags.incoming.rows.tolist() == [6, 7, 8, 4, 0, 9, 5, 1]
    assert bags.incoming.starts.tolist() == [0, 1, 2, 5]
    assert bags.incoming.slots.tolist() == [[0, 1], [2, 5], [3, 6], [4, 7]]
    # Input 0 sends to output 1 by the fourth incoming edge, input 1 sends nothing, input 2 to output 1 by the third.
    assert bags.outgoing_edges.tolist() == [3, 2]
    assert bags.outgoing.rows.tolist() == [2, 3, 2, 3]
    assert bags.outgoing.starts.tolist() == [0, 1, 2, 2, 2, 3]
    assert bags.outgoing.bounds.tolist() == [0, 1, 1, 2]


def test_looped_worked_by_hand(block):
    # The same block; an own edge takes the row of its own input, and goes out from there. Inputs 0 and 2 are outputs.
    bags = head_bags(block, 2, looped=True)
    assert bags.incoming.rows.tolist() == [4, 5, 0, 4, 0, 1, 5, 1]
    assert bags.incoming.starts.tolist() == [0, 1, 2, 5]
    # Input 0 sends to output 1 by its own edge and by the last; input 2 to output 0 by its own and to output 1.
    assert bags.outgoing_edges.tolist() == [1, 3, 0, 2]
    assert bags.outgoing.rows.tolist() == [2, 2, 3, 3, 0, 2, 1, 3]
    assert bags.outgoing.bounds.tolist() == [0, 2, 2, 4]
    assert head_bags(block, 2, looped=True) is bags
    assert head_bags(block, 2) is not bags


def test_made_once_for_each_number_of_heads_and_block(random_block):
    block = random_block()
    assert head_bags(block, 2) is head_bags(block, 2)
    assert head_bags(block, 1) is not head_bags(block, 2)
    changed = dataclasses.replace(block, edge_types=block.edge_types + 1)
    assert head_bags(changed, 2).edge_types.sum() == head_bags(block, 2).edge_types.sum() + 16
