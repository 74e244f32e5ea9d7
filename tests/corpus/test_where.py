from statgraph.corpus.where import ANYWHERE, Where


def test_conditions_on_other_columns_are_one():
    of_code, on_day = Where(codes=("Rent Code",)), Where(day=738_000)
    assert of_code & on_day == Where(codes=("Rent Code",), day=738_000)
    assert of_code & ANYWHERE == of_code


def test_two_conditions_on_one_column_are_not():
    assert Where(day=1) & Where(day=2) is None
    assert Where(ids=()) & Where(ids=("a",)) is None


def test_no_ids_are_a_condition():
    assert Where(ids=()) & Where(day=1) == Where(day=1, ids=())
