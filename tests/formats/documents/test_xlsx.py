from datetime import date, datetime

import openpyxl
import pytest

from statgraph.formats.documents.xlsx import draft_xlsx
from statgraph.law.draft import Draft, Reading

SPANISH = [
    ["Ley de Perros", None, None],
    ["Nº ", "TÍTULO", "Texto"],
    ["TÍTULO I. De los perros"],
    [1, "Ladrar", "Ladran."],
    [2.0, "Morder", "No muerden."],
    [None, "TÍTULO II. De los gatos", None],
    [None, "CAPÍTULO I", None],
    ["3 bis", "Maullar", "Maúllan."],
]
COLUMNS = {"nº": ("id", "number"), " título": "rubric", "texto": "text"}


@pytest.fixture
def imported(tmp_path):
    """Return a function that writes sheets to a workbook and returns the draft of it."""

    def run(sheets, language="es", name="law.xlsx", hidden=(), **reading):
        workbook = openpyxl.Workbook()
        workbook.remove(workbook.active)
        for title, rows in sheets.items():
            sheet = workbook.create_sheet(title)
            sheet.sheet_state = "hidden" if title in hidden else "visible"
            for row in rows:
                sheet.append(row)
        workbook.save(tmp_path / name)
        draft = Draft(name="law", language=language, reading=Reading(**reading), counts_cells=True)
        draft_xlsx(draft, tmp_path / name)
        return draft

    return run


def test_rows_with_one_cell_are_headings_and_the_title_of_the_code(imported):
    articles = imported({"Hoja1": SPANISH}, columns=COLUMNS).corpus().articles
    code = "Ley de Perros"
    assert [
        (article.article_id, article.number, article.rubric, article.text, article.path) for article in articles
    ] == [
        ("1", "1", "Ladrar", "Ladran.", (code, "TÍTULO I. De los perros")),
        ("2", "2", "Morder", "No muerden.", (code, "TÍTULO I. De los perros")),
        ("3 bis", "3 bis", "Maullar", "Maúllan.", (code, "TÍTULO II. De los gatos", "CAPÍTULO I")),
    ]


def test_sheets_with_the_names_of_tables_are_those(imported):
    articles = [["id", "text", "path"], ["d1", "Dogs bark.", "Dog Act"]]
    questions = [["id", "text", "articles"], [7, "Who barks?", "d1"]]
    draft = imported({"Notes": [["x"]], " Questions": questions, "ARTICLES": articles}, "en")
    corpus = draft.corpus()
    assert [article.path for article in corpus.articles] == [("Dog Act",)]
    assert [(question.question_id, question.article_ids) for question in corpus.questions] == [("7", ("d1",))]


def test_other_sheets_are_left_out_and_named(imported):
    draft = imported({"Law": [["id", "text"], ["d1", "Dogs bark."]], "Notes": [["x"], ["y"]]}, "en", code="Dog Act")
    assert [article.path for article in draft.corpus().articles] == [("Dog Act",)]
    assert draft.left_out == ["sheet 'Notes' (2 rows)"]


def test_dates_are_written_as_days(imported):
    rows = [
        ["id", "text", "path", "valid_from", "seen"],
        ["d1", "Bark.", "Act", date(2031, 5, 1), datetime(2031, 5, 1, 8)],
    ]
    (article,) = imported({"a": rows}, "en").corpus().articles
    assert article.metadata == {"valid_from": "2031-05-01", "seen": "2031-05-01T08:00:00"}


@pytest.mark.parametrize(
    ("sheets", "problem"),
    [
        ({"a": []}, "law.xlsx: holds no filled cell; name the columns on its first row"),
        (
            {"a": [["Nr", "Wortlaut"], [1, "Hunde."]]},
            "law.xlsx:1: no column id or _id or number, text, path or heading (found: Nr, Wortlaut); ",
        ),
        (
            {"a": [["id", "text", "path"], [1, None, "Act"]], "b": [["x"]]},
            "law.xlsx[a]:2: article '1' has an empty text",
        ),
    ],
)
def test_problems_name_their_row(imported, problems_of, sheets, problem):
    assert problems_of(imported(sheets, "de"))[0].startswith(problem)


def test_a_folder_has_a_file_for_each_table(imported, tmp_path):
    imported({"a": [["id", "text", "articles"], ["q", "Who?", "d1"]]}, name="questions.xlsx", language="en")
    imported({"a": [["id", "text", "path"], ["d1", "Dogs.", "Act"]]}, name="articles.xlsx", language="en")
    draft = Draft(name="law", language="en")
    draft_xlsx(draft, tmp_path)
    assert [question.article_ids for question in draft.corpus().questions] == [("d1",)]


def test_a_damaged_sheet_is_one_line(imported, damage, tmp_path, problems_of):
    imported({"a": [["id"]]})
    damage(tmp_path / "law.xlsx", "sheet1.xml", tmp_path / "bad.xlsx")
    draft = Draft(name="law", language="en")
    draft_xlsx(draft, tmp_path / "bad.xlsx")
    assert problems_of(draft)[0].startswith("bad.xlsx: cannot be read as .xlsx (")


def test_cells_of_hidden_and_other_sheets_are_left_out_by_a_rule(imported):
    sheets = {"Ley": SPANISH, "viejo": [["un texto viejo"]], "notas": [["por hacer"]]}
    draft = imported(sheets, hidden=("viejo",), columns=COLUMNS)
    draft.settle_cells()
    assert draft.report.balance.left_out == {"hidden sheets": 3, "sheets without a table": 2}
    assert draft.report.balance.lost == []
    assert draft.report.balance.kept > 25
