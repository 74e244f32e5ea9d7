import pytest

from statgraph.corpus.formats.tables import HeadingRow, heading_paths


def rows(*headings):
    return [HeadingRow(f"headings.csv:{line}", *heading) for line, heading in enumerate(headings, start=2)]


def test_path_runs_from_the_code_down_whatever_the_order_of_the_rows(draft, recorded):
    paths = heading_paths(draft, rows(("s", "Section 1", "b"), ("c", "Lamp Code", ""), ("b", "Book I", "c")))
    assert paths == {
        "s": ("Lamp Code", "Book I", "Section 1"),
        "b": ("Lamp Code", "Book I"),
        "c": ("Lamp Code",),
    }
    assert recorded() == []


def test_equal_titles_in_two_codes_stay_two_headings(draft):
    paths = heading_paths(draft, rows(("a", "A", ""), ("b", "B", ""), ("a1", "Book I", "a"), ("b1", "Book I", "b")))
    assert paths["a1"] != paths["b1"]


def test_tree_deeper_than_the_recursion_limit_is_read(draft, recorded):
    chain = rows(*((str(level), f"T{level}", str(level + 1)) for level in range(3000)), ("3000", "Code", ""))
    assert len(heading_paths(draft, chain)["0"]) == 3001
    assert recorded() == []


@pytest.mark.parametrize(
    ("headings", "problem"),
    [
        ([("a", "A", "a")], "2: heading 'a' is its own ancestor (a under a)"),
        (
            [("below", "X", "b"), ("b", "B", "c"), ("c", "C", "d"), ("d", "D", "b")],
            "3: heading 'b' is its own ancestor (b under c under d under b)",
        ),
        (
            [(str(number), "T", str((number + 1) % 50)) for number in range(50)],
            "2: heading '0' is its own ancestor (0 under 1 under 2 under 3 under 4 under 5 under ... under 0)",
        ),
    ],
)
def test_heading_above_itself_is_one_problem_a_round(draft, recorded, headings, problem):
    assert set(heading_paths(draft, rows(*headings))) == {heading[0] for heading in headings}
    assert recorded() == [f"headings.csv:{problem}; correct one of these parents so that the headings form a tree"]


def test_bad_headings_are_problems(draft, recorded):
    headings = rows(("c", "Code", ""), ("", "No id", "c"), ("c", "Again", ""), ("e", "", "c"), ("o", "Orphan", "gone"))
    heading_paths(draft, headings)
    assert recorded() == [
        "headings.csv:3: heading has no id; give every heading a unique 'id'",
        "headings.csv:4: heading id 'c' appears twice (first on line 2); ids must be unique",
        "headings.csv:5: heading 'e' has an empty title; fill it or remove the heading",
        "headings.csv:6: heading 'o' has the parent 'gone', which does not exist; "
        "add that heading or leave the parent empty",
    ]
