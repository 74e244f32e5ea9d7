import pytest

from statgraph.formats.documents import drafting
from statgraph.formats.documents.blocks import Line
from statgraph.formats.documents.drafting import paragraphs
from statgraph.formats.documents.text import FORMAT as TXT
from statgraph.formats.importing import About, explained
from statgraph.formats.law_words import LinePatterns
from statgraph.law.draft import Draft, Reading

LAW = "Dog Act\nPart 1 Dogs\nSection 1 Barking\nA dog may bark.\n"


def imported(source, language="en", **reading):
    draft = Draft(name="law", language=language, reading=Reading(**reading))
    TXT.fill(draft, source)
    return draft


def test_a_document_is_a_code_named_after_its_title(tmp_path):
    (tmp_path / "dogs.txt").write_text(LAW)
    (article,) = imported(tmp_path / "dogs.txt").corpus().articles
    assert (article.article_id, article.title, article.path) == ("1", "Section 1, Dog Act", ("Dog Act", "Part 1 Dogs"))
    assert (article.number, article.rubric, article.text) == ("Section 1", "Barking", "A dog may bark.")
    (article,) = imported(tmp_path / "dogs.txt", code="Dog Law").corpus().articles
    assert article.path == ("Dog Law", "Part 1 Dogs")


def test_documents_of_a_folder_have_ids_of_their_own(tmp_path):
    for name in ("b/dogs.txt", "cats.TXT", ".hidden.txt", "notes.pdf"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(LAW.replace("Dog Act", f"{name} Act"))
    assert [(article.article_id, article.code) for article in imported(tmp_path).corpus().articles] == [
        ("dogs-1", "b/dogs.txt Act"), ("cats-1", "cats.TXT Act"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("Dogs bark.", "law.txt: no line begins an article as in language 'en'; describe one with article_pattern"),
        ("", "law.txt: holds no text"),
        ("Section 1\n", "law.txt: no line begins an article"),
    ],
)
def test_documents_without_articles_are_refused(tmp_path, problems_of, content, problem):
    (tmp_path / "law.txt").write_text(content)
    (said,) = problems_of(imported(tmp_path / "law.txt"))
    assert said.startswith(problem)


def test_a_folder_without_documents_is_refused(tmp_path, problems_of):
    assert (
        problems_of(imported(tmp_path))[0]
        == f"{tmp_path}: holds no file that ends in .txt or .text; put the statutes there"
    )


def test_files_are_read_up_to_a_size(tmp_path, problems_of, monkeypatch):
    monkeypatch.setattr(drafting, "MAX_FILE_BYTES", 1 << 20)
    (tmp_path / "law.txt").write_bytes(b"x" * (3 << 20))
    assert problems_of(imported(tmp_path / "law.txt"))[0] == "law.txt: has 3 MiB, and at most 1 are read; split it"


def test_the_users_patterns_are_used(tmp_path):
    (tmp_path / "law.txt").write_text("House rules\n== Pets\n1) Dogs\nNo dogs.\n2) Cats\nOne cat.\n")
    draft = imported(tmp_path / "law.txt", article_pattern=r"(\d+)\) (.*)", heading_patterns=("== ",))
    assert [(article.number, article.rubric, article.path) for article in draft.corpus().articles] == [
        ("1", "Dogs", ("House rules", "== Pets")), ("2", "Cats", ("House rules", "== Pets")),
    ]  # fmt: skip


def test_the_explanation_names_each_line_that_was_recognised(tmp_path):
    (tmp_path / "law.txt").write_text(f"{LAW}Section 2 (Repealed)\n")
    assert list(explained("txt", tmp_path / "law.txt", About(language="en"))) == [
        "law.txt:1  heading   Dog Act",
        "law.txt:2  heading   Part 1 Dogs",
        "law.txt:3  article   Section 1, Barking (Dog Act > Part 1 Dogs), 15 characters",
        "law.txt:5  left out  repealed: Section 2 (Repealed)",
        "80.0 % of 15 words are in articles and headings",
        "20.0 % left out: repealed (first: law.txt:5)",
    ]


WRAPPED = """A dog that lives in the harbour may bark as long as the
light-house is lit, and it may not bark at the light-
keeper.
Section 2 of the Act applies to cats that live in the same
house, boat or harbour as a dog and that do not bark at any
time
(1) a dog, and a second dog that lives in the same house as
it does;
Section 12 Bark, bite and other things that dogs do, whether
in a boat or not
Short.
dog | 5
"""


def test_lines_cut_at_a_margin_are_joined():
    lines = [Line(f"law:{number}", line) for number, line in enumerate(WRAPPED.split("\n"), start=1)]
    joined = paragraphs(lines, LinePatterns("en"), is_wrapped=True)
    assert [line.place for line in joined] == [f"law:{number}" for number in (1, 4, 7, 9, 11, 12)]
    first, second, item, article, *others = (line.text for line in joined)
    assert first.endswith("as the light-house is lit, and it may not bark at the lightkeeper.")
    assert second.endswith("in the same house, boat or harbour as a dog and that do not bark at any time")
    assert item == "(1) a dog, and a second dog that lives in the same house as it does;"
    assert article == "Section 12 Bark, bite and other things that dogs do, whether in a boat or not"
    assert others == ["Short.", "dog | 5"]


def test_a_rubric_that_fills_its_line_is_not_joined_to_the_number_below():
    text = (
        "Dogs that live in the harbour\n1 (1) A dog may bark as loud\nas it\n"
        "Cats that live in the harbour\n2 Cats may not bark\n4 Owls"
    )
    lines = [Line("", line) for line in text.split("\n")]
    joined = [line.text for line in paragraphs(lines, LinePatterns("en"), is_wrapped=True)]
    assert joined[:2] == ["Dogs that live in the harbour", "1 (1) A dog may bark as loud as it"]
    assert joined[2:] == ["Cats that live in the harbour", "2 Cats may not bark 4 Owls"]


def test_a_text_with_a_paragraph_on_each_line_keeps_its_lines():
    lines = [Line("", "a" * 130), Line("", "b" * 100), Line("", "c")]
    assert paragraphs(lines, LinePatterns("en"), is_wrapped=True) == lines


def test_a_line_behind_a_soft_break_goes_on_unless_it_begins_something():
    text = "Section 1 Dogs\nA dog\nmay bark\n(1) at\nSection 2 says.\nSection 2 Cats\nNo."
    lines = [Line("", line, goes_on=place > 0) for place, line in enumerate(text.split("\n"))]
    assert [line.text for line in paragraphs(lines, LinePatterns("en"), is_wrapped=False)] == [
        "Section 1 Dogs",
        "A dog may bark",
        "(1) at Section 2 says.",
        "Section 2 Cats",
        "No.",
    ]


def test_a_file_without_articles_is_lost_unless_its_name_says_that_it_is_no_law(tmp_path):
    for name, text in {"dogs.txt": LAW, "README.txt": "How to read this.", "empty.txt": ""}.items():
        (tmp_path / name).write_text(text)
    draft = imported(tmp_path)
    assert draft.left_out == ["2 files without articles: README.txt, empty.txt"]
    assert (draft.report.balance.words_lost, draft.report.losses()) == (0, None)
    (tmp_path / "index.txt").write_text("A law without an article that begins a line.\n")
    place, problem = imported(tmp_path).report.losses()
    assert place == "index.txt:1"
    assert problem.startswith("9 of 25 words would be lost")
