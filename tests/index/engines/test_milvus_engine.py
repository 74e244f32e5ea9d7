from statgraph.corpus.allowed_rows import ANYWHERE, Where
from statgraph.index.engines.milvus_engine import condition_expression


def test_conditions_as_expressions():
    assert condition_expression(ANYWHERE) == ""
    where = Where(('Code "A"', "B"), ("B", "I"), 7, ("x", "y"))
    assert condition_expression(where) == (
        'code in ["Code \\"A\\"", "B"] and path >= "B\x1fI\x1f" and path < "B\x1fI\x20" '
        'and valid_from <= 7 and valid_to > 7 and id in ["x", "y"]'
    )
