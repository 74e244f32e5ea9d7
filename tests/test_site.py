"""The site of docs/: its navigation names every page once, its links lead somewhere, and its example runs."""

from __future__ import annotations

import gzip
import html
import importlib
import re
import shlex
import shutil
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
import yaml

from statgraph.formats.acts.profile import profile_names
from statgraph.law.store import read_corpus
from statgraph.studies.table_files import markdown_beside

REPO = Path(__file__).parents[1]
DOCS = REPO / "docs"
# `make docs` writes a page beside the values of each table.
TABLES = {markdown_beside(path) for path in (DOCS / "results").glob("*.json.gz")}
PAGES = sorted({*DOCS.rglob("*.md")} - TABLES)
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[\w-]*)?\)")


def pages_of(nav: object) -> list[str]:
    """Return the pages that a navigation names."""
    if isinstance(nav, str):
        return [nav]
    entries = nav.values() if isinstance(nav, dict) else nav
    return [page for entry in entries for page in pages_of(entry)]


def short(path: Path) -> str:
    return path.relative_to(DOCS).as_posix()


def first_heading(page: Path) -> str:
    return re.search(r"^# (.+)$", FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE).group(1)


def words_of(text: str) -> str:
    """Return a heading without its markup and the sign of its permanent link."""
    return re.sub(r"<[^>]*>|[`*¶]|&para;", "", html.unescape(text)).strip()


def anchors_of(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as Python-Markdown names the first of each text."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    plain = (unicodedata.normalize("NFKD", words_of(text)).encode("ascii", "ignore").decode() for text in headings)
    return {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", text).strip().lower()) for text in plain}


def links_of(page: Path) -> list[Path]:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    return [page.parent / link for link in LINK.findall(text) if "://" not in link]


def test_published_files_hold_no_path_of_a_machine():
    path = re.compile(r"(?<![\w.])/(?:work|root|home|tmp|Users)/\S*")
    results = sorted((REPO / "benchmarks" / "results").glob("*.json"))
    for file in (*PAGES, *DOCS.rglob("*.json"), *DOCS.rglob("*.json.gz"), *results):
        text = (gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()).decode("utf-8")
        assert path.findall(text) == [], f"{file}: write the path relative"


def test_the_navigation_names_every_page_once():
    nav = yaml.safe_load((REPO / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    assert sorted(pages_of(nav)) == sorted(map(short, (*PAGES, *TABLES)))


@pytest.mark.parametrize("page", PAGES, ids=short)
def test_links_lead_to_pages_of_the_site(page):
    links = [link.resolve() for link in links_of(page)]
    assert [str(link) for link in links if link.suffix == ".md" and link not in {*PAGES, *TABLES}] == []
    assert [str(link) for link in links if DOCS not in (link, *link.parents)] == []


@pytest.mark.parametrize("page", PAGES, ids=short)
def test_links_lead_to_headings_of_their_pages(page):
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    links = re.findall(r"\]\(((?:[\w./-]+\.md)?)#([\w-]+)\)", text)
    links = [(page.parent / link if link else page, anchor) for link, anchor in links]
    assert [f"{link}#{anchor}" for link, anchor in links if anchor not in anchors_of(link)] == []


def test_the_reference_names_what_there_is():
    names = [
        name
        for page in (DOCS / "reference").glob("*.md")
        for name in re.findall(r"^::: (\S+)$", page.read_text(), re.M)
    ]
    assert len(names) > 20
    for name in names:
        module, _, member = name.rpartition(".")
        try:
            assert hasattr(importlib.import_module(module), member) or importlib.import_module(name)
        except ImportError:
            pytest.fail(f"docs/reference: {name}: no such name")


def test_the_tests_that_the_page_of_security_names_are_there():
    named = set(re.findall(r"`([\w/]+\.py)`", (DOCS / "security.md").read_text(encoding="utf-8")))
    assert len(named) > 10
    assert [name for name in sorted(named) if not (REPO / "tests" / name).is_file()] == []


def test_every_system_is_on_its_page():
    from statgraph.systems.presets import system_names

    rows = re.findall(r"^\| `(\w[\w-]*)`", (DOCS / "systems.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(rows) == sorted(system_names())


def example_of(page: str, folder: Path) -> list[str]:
    """Write the files that a page shows to a folder, and return its commands."""
    text = (DOCS / page).read_text(encoding="utf-8")
    for name, shown in re.findall(r'^```\w+ title="([^"]+)"\n(.*?)^```', text, re.MULTILINE | re.DOTALL):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(shown, encoding="utf-8")
    return re.findall(r"^\$ statgraph (.+)$", text, re.MULTILINE)


def test_the_made_up_format_is_read_as_it_stands(run_here, tmp_path):
    commands = [command for command in example_of("formats.md", tmp_path) if "harbour" in command]
    said = [run_here(*shlex.split(command)).stdout for command in commands]
    assert "read as running text, for no key names them: nothing\n" in said[0]
    assert re.search(r"articles +3\n", said[1])
    first, second, third = read_corpus(tmp_path / "corpora" / "republic").articles
    assert f"```text\n{first.text}\n```" in (DOCS / "formats.md").read_text(encoding="utf-8")
    assert first.metadata["references"] == [second.article_id]
    assert (first.number, first.rubric, first.path) == ("Clause 1", "Registration", ("Harbour Act", "Chapter 1 Boats"))
    assert third.text == "In the Beach Act:\n9\nDogs stay away."


def test_the_page_of_formats_names_every_profile():
    page = (DOCS / "formats.md").read_text(encoding="utf-8")
    assert [name for name in profile_names() if f"`{name}`" not in page] == []


def test_the_example_of_your_own_statutes_runs_as_it_stands(run_here, tmp_path):
    docx = pytest.importorskip("docx", reason="the extra 'documents' is not installed")
    commands, word = example_of("your-own-statutes.md", tmp_path), docx.Document()
    for line in (tmp_path / "dogs.txt").read_text(encoding="utf-8").splitlines():
        word.add_paragraph(line)
    word.save(tmp_path / "dogs.docx")
    said = {}
    for command in commands:
        done = run_here(*shlex.split(command))
        assert done.returncode == 0, command
        said.setdefault(command.split()[0], []).append(done.stdout)
    assert list(said) == ["import", "search", "train"]
    assert said["search"][0].split("\n")[0].endswith("Section 2, Dog Act – Owners")
    questions, harbour = (read_corpus(tmp_path / "corpora" / name) for name in ("dogs-asked", "harbour"))
    assert [len(question.article_ids) for question in questions.questions] == [1, 1, 2]
    assert [article.title for article in harbour.articles] == [f"Art. {number}, Harbour Code" for number in (1, 2, 3)]
    assert harbour.citing[1].article_ids == ("h3",)
    assert [text.citing_id for text in harbour.usable_citing()] == ["c1", "c2"]


def test_the_site_is_built_without_a_warning_with_every_page_and_names_no_other_host(tmp_path):
    pytest.importorskip("mkdocstrings", reason="the extra 'docs' is not installed")
    docs, site = shutil.copytree(DOCS, tmp_path / "docs"), tmp_path / "site"
    for table in TABLES:  # the title alone: `make docs` takes half a minute for them
        (docs / table.relative_to(DOCS)).write_text(f"# {table.stem}\n")
    build = "import sys; from mkdocs.commands import build; from mkdocs.config import load_config; "
    build += "build.build(load_config('mkdocs.yml', docs_dir=sys.argv[1], site_dir=sys.argv[2], strict=True))"
    done = subprocess.run([sys.executable, "-c", build, str(docs), str(site)], cwd=REPO, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    built = {page.relative_to(site).as_posix(): page.read_text("utf-8") for page in site.rglob("*.html")}
    assert 'id="statgraph.retrieval.search.retriever.Retriever.search"' in built["reference/retriever.html"]
    for page in docs.rglob("*.md"):
        address = page.relative_to(docs).with_suffix(".html").as_posix().replace("README", "index")
        heading = re.search(r"<h1[^>]*>(.*?)</h1>", built[address], re.DOTALL).group(1)
        assert words_of(heading) == words_of(first_heading(page)), f"{page}: another page stands at {address}"
    loaded = re.compile(r'<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)="?(?:https?:)?//[^>]*>')
    assert {name: found for name, text in built.items() if (found := loaded.findall(text))} == {}


def language_rows() -> dict[str, tuple[bool, ...]]:
    """Return what the code has for each language, as the columns of docs/languages.md."""
    from statgraph.artifacts import read_table
    from statgraph.formats import law_words
    from statgraph.law.citations.tables import tables
    from statgraph.retrieval.lexical.analysis import STEMMERS, STOP_WORDS
    from statgraph.retrieval.lexical.compounds import LINKS

    read = {row["language"] for row in read_table(Path(law_words.__file__).with_suffix(".tsv"))}
    columns = (read, tables(), STEMMERS, STOP_WORDS, LINKS)
    languages = sorted({language for column in columns for language in column})
    return {language: tuple(language in column for column in columns) for language in languages}


def test_the_page_of_languages_says_what_each_has():
    text = (DOCS / "languages.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ((?:[^`|]+ `[a-z]{2}`)+) \|(.*)\|$", text, re.MULTILINE)
    said = [(code, marks) for named, marks in rows for code in re.findall(r"`(..)`", named)]
    assert len(said) == len(dict(said))
    assert {code: tuple(mark.strip() == "yes" for mark in marks.split("|")) for code, marks in said} == language_rows()
    page = re.search(r"^- \*\*The page\*\* .*$", text, re.MULTILINE).group()
    words = (REPO / "statgraph" / "service" / "page" / "words").glob("*.js")
    assert set(re.findall(r"`(..)`", page)) == {path.stem for path in words}


@pytest.mark.parametrize(
    ("word", "is_corrected"),
    [
        *((word, True) for word in ("towntown", "πόληπόλη", "городгород", "քաղաքքաղաք")),
        *((word, False) for word in ("عقدعقد", "नगरनगर", "நகரநகர", "שטאטשטאט", "都市都市", "도시도시")),
    ],
)
def test_typing_errors_are_corrected_in_the_scripts_of_the_page_of_languages(word, is_corrected):
    from statgraph.retrieval.lexical.spelling import Spelling

    found = Spelling(lambda: [word], lambda _: 1, lambda _: False).correction(word)
    assert (found is not None) == is_corrected
