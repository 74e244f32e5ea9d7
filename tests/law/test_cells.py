import pytest

from statgraph.law.cells import CellAccount, cells_of


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


def test_a_cell_counts_once_for_each_time_it_was_kept():
    account = CellAccount()
    for row in (1, 2, 3):
        account.read(f"law.csv:{row}", ["Lamps burn.", "", "old"])
    account.keep(["Lamps burn.", "Lamps burn."])
    account.leave_out("notes", ["old", "old", "old"])
    balance = account.balance()
    assert (balance.words, balance.kept, balance.left_out) == (9, 4, {"notes": 3})
    assert [(lost.place, lost.text, lost.words) for lost in balance.lost] == [("law.csv:3", "Lamps burn", 2)]


def test_a_cell_that_is_kept_in_another_form_is_searched_for():
    account = CellAccount()
    account.read("law.csv:1", ["Art.  1", " Lamps burn. ", "Book I"])
    account.keep(["Art. 1", "Lamps burn.", "Lamp Code > Book I"])
    assert (account.balance().kept, account.balance().lost) == (6, [])
