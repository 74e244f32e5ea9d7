import pytest

from tools.material import BEGIN, END, with_tables


def test_what_people_wrote_around_the_tables_stays(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"Head.\n{BEGIN}\nold\n{END}\nTail.\n", encoding="utf-8")
    assert with_tables(page, ["a", "b"]) == f"Head.\n{BEGIN}\n\na\nb\n\n{END}\nTail.\n"
    page.write_text("Head.\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"page\.md: no '<!-- tables: begin -->'"):
        with_tables(page, [])
