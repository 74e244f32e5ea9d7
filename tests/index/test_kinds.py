from statgraph.config import INDEX_KINDS
from statgraph.index.kinds import KINDS


def test_every_kind_that_is_offered_is_there():
    assert ("auto", *KINDS) == INDEX_KINDS
