import pytest

from statgraph.law.source_report import SourceReport, cells_of


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        ("a", ["a"]),
        (["Code", "Book I"], ["Code > Book I"]),
        ({"x": 3, "y": ["a"], "z": None, "w": True}, ["3", "a"]),
        ([1, {"x": "b"}], ["1", "b"]),
    ],
)
def test_the_texts_of_a_value(value, texts):
    assert list(cells_of(value)) == texts


@pytest.fixture
def report():
    return SourceReport(counts_cells=True)


def test_a_cell_counts_once_for_each_time_it_was_kept(report):
    for row in (1, 2, 3):
        report.read_cells(f"law.csv:{row}", ["Lamps burn.", "", "old"])
    report.keep_cells(["Lamps burn.", "Lamps burn."])
    report.leave_out_cells("notes", ["old", "old", "old"])
    report.settle_cells()
    balance = report.balance
    assert (balance.words, balance.kept, balance.left_out) == (9, 4, {"notes": 3})
    assert [(lost.place, lost.text, lost.words) for lost in balance.lost] == [("law.csv:3", "Lamps burn", 2)]


def test_a_cell_that_is_kept_in_another_form_is_searched_for(report):
    report.read_cells("law.csv:1", ["Art.  1", " Lamps burn. ", "Book I"])
    report.keep_cells(["Art. 1", "Lamps burn.", "Lamp Code > Book I"])
    report.settle_cells()
    assert (report.balance.kept, report.balance.lost) == (6, [])
