"""The tables of words: their keys, and a table of the user's."""

import os
import re
from importlib import import_module
from pathlib import Path

import pytest

from statgraph.errors import UsageError
from statgraph.law.citations import tables as module
from statgraph.law.citations.named_articles import NamedArticles
from statgraph.law.citations.references import ReferenceFinder
from statgraph.law.citations.tables import VARIABLE, read_table, tables

PAGE = (Path(__file__).parents[3] / "docs" / "languages.md").read_text("utf-8")
KOREAN, TURKISH = re.findall(r"^```yaml title=.*?\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def own_tables(tmp_path, monkeypatch):
    """Return a function that names tables, by language, in the environment."""
    names = ("tables", "grammar", "numbering", "code_mentions", "cited_texts", "numbers")
    modules = [import_module(f"statgraph.law.citations.{name}") for name in names]
    caches = [one for of in modules for one in vars(of).values() if hasattr(one, "cache_clear")]

    def name_tables(**texts):
        files = [tmp_path / f"{language}.yaml" for language in texts]
        for file, text in zip(files, texts.values(), strict=True):
            file.write_text(text, encoding="utf-8")
        monkeypatch.setenv(VARIABLE, os.pathsep.join(map(str, files)))
        for cached in caches:
            cached.cache_clear()

    yield name_tables
    monkeypatch.delenv(VARIABLE, raising=False)
    for cached in caches:
        cached.cache_clear()


def test_every_known_key_is_explained_and_used_by_a_language():
    explained = (Path(module.__file__).parent / "languages" / "en.yaml").read_text("utf-8")
    known = set(module._KINDS)
    used = {key for table in tables().values() for key in table}
    assert used == known
    of_numbers_first = {"before_number", "branch", "digits", "units", "state"}  # see zh.yaml
    assert [key for key in known - of_numbers_first if not re.search(rf"^#.*\b{key}\b", explained, re.MULTILINE)] == []


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("제10조부터 제12조까지", [1, 2, 3]),
        ("제10조 및 제12조의2제1항", [1, 4]),
        ("이 법 제1조, 민법 제10조", [0, 6]),
        ("「민법」 제1조, 「상법」 제1조", [5]),
        ("제99조", []),
    ],
)
def test_a_table_of_ones_own_gives_references(own_tables, text, rows):
    own_tables(ko=KOREAN)
    titles = ["제1조", "제10조(보증금)", "제11조", "제12조", "제12조의2", "제1조", "제10조"]
    assert ReferenceFinder(titles, ["임대차보호법"] * 5 + ["민법"] * 2).find(text, "임대차보호법") == rows


def test_a_table_of_ones_own_gives_look_up(own_tables):
    own_tables(ko=KOREAN, tr=TURKISH)
    korean = NamedArticles(["제1조", "제10조의2"], [("민법",)] * 2)
    assert [korean.rows(question).tolist() for question in ("민법 제10조의2", "민법 1조", "10조 3개월")] == [
        [1],
        [0],
        [],
    ]
    turkish = NamedArticles(["Madde 1 – Amaç", "Madde 2 – Kapsam", "Madde 3 – Tanım"], [("Kira Kanunu",)] * 3)
    assert turkish.rows("madde 1 ve 3").tolist() == [0, 2]
    assert korean.unknown("제99조") == ["99"]


def test_a_table_takes_the_place_of_the_one_of_its_name(own_tables):
    built_in = tables()["nl"]
    own_tables(nl="article: [regel]", ko=KOREAN)
    assert list(tables())[-1] == "ko"
    assert tables()["nl"] == {"article": ["regel"]} != built_in


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("artical: [madde]", "no words for an article"),
        ("- madde", "no words for an article"),
        ("article: []", "no words for an article"),
        ("article: [madde]\nordinal: [birinci]", "unknown key 'ordinal'; write 'ordinals'"),
        ("article: [madde]\nxyzzy: [a]", "unknown key 'xyzzy'; write one of before_number, state,"),
        ("article: madde", "article is not a list of words"),
        ("article: [madde]\nand: [ve, '']", "and is not a list of words"),
        ("article: [madde]\nothers: [ek]", "others is not a list of lists of words"),
        ("article: [조]\nbefore_number: [제]", "before_number is not a word"),
        ("article: [조]\nbefore_number: 제\nunits: {십: ten}", "units is not signs with numbers"),
        ("article: [조]\nbefore_number: 제\nunits: {십: 10}\nand: []", "before_number needs branch, digits, to, part,"),
        ("article: [madde", "cannot be read"),
        (None, "cannot be read"),
    ],
)
def test_a_table_that_is_none_is_one_line(tmp_path, text, problem):
    file = tmp_path / "tr.yaml"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as error:
        read_table(file)
    assert str(error.value).startswith(f"{file}: {problem}")
    assert "\n" not in str(error.value)


def test_a_word_that_yaml_takes_for_a_truth_value_stays_a_word():
    assert "no" in tables()["en"]["number_sign"]
    assert "y" in tables()["es"]["and"]
