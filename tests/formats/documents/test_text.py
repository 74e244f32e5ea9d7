import pytest

from statgraph.formats.documents import text
from statgraph.formats.documents.text import read_text, walk_text
from statgraph.registry import FORMATS


@pytest.fixture
def texts(draft, tmp_path):
    """Return a function that writes a text file and returns its (place, text)."""

    def read(content):
        path = tmp_path / "law.txt"
        path.write_bytes(content.encode())
        return [(line.place, line.text) for line in read_text(draft, path, path.name).lines]

    return read


def test_places_are_lines(texts):
    assert texts("\ufeffAct\r\n\r\nArticle 1\n") == [
        ("law.txt:1", "Act"),
        ("law.txt:2", ""),
        ("law.txt:3", "Article 1"),
    ]


def test_letters_are_composed(texts):
    assert texts("Cafe\u0301") == [("law.txt:1", "Café")]


def test_pages_lose_what_heads_and_foots_them(texts):
    pages = "\f".join(f"Dog Gazette {page}\n\nLine {page} of\n\n- {page} -\n" for page in (1, 2, 3))
    assert [text for _, text in texts(pages)] == ["Line 1 of", "Line 2 of", "Line 3 of"]


def test_numbers_and_lines_within_a_page_stay(texts):
    assert [text for _, text in texts("Act\n5\nBark\n\fBite\n7\nEnd\n")] == ["Act", "5", "Bark", "Bite", "7", "End"]


@pytest.mark.parametrize("name", ["txt", "md"])
def test_bytes_that_are_not_utf_8_are_reported_once(draft, recorded, tmp_path, name):
    (tmp_path / f"law.{name}").write_bytes("Section 1 Straße\nDogs".encode("cp1252"))
    FORMATS.load(name).fill(draft, tmp_path / f"law.{name}")
    (said,) = recorded()
    assert said.startswith(f"law.{name}:1: byte 0xdf is not UTF-8")


def test_a_paragraph_that_the_reader_drops_is_missed(tmp_path, without_lines):
    (tmp_path / "law.txt").write_text(
        "Dog Act\nSection 1 Barking\nDogs bark.\n\nGazette 1\n\fGazette 2\nThey bite.\n\n- 2 -\n\fGazette 3\nEnd.\n"
    )
    corpus = without_lines(text, read_text, walk_text, tmp_path / "law.txt", "bite", "law.txt:7")
    assert corpus.articles[0].text == "Dogs bark.\nEnd."
