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


def test_the_page_of_formats_has_the_figures_of_the_ten_acts():
    together = re.search(r"/ (\d+) of 80 \| \d+ / (\d+) of 80", (DOCS / "official-acts.md").read_text(encoding="utf-8"))
    bm25, ensemble = together.groups()
    assert f"{ensemble} times of 80 (BM25 {bm25})" in (DOCS / "formats.md").read_text(encoding="utf-8")


def test_the_example_of_your_own_statutes_runs_as_it_stands(run_here, tmp_path):
    said = {}
    for command in example_of("your-own-statutes.md", tmp_path):
        done = run_here(*shlex.split(command))
        untrained = command.startswith("search") and "--corpus" in command
        notes = [line for line in done.stderr.splitlines() if not line.startswith("Embedding 6 articles once")]
        assert (done.returncode, [line[:19] for line in notes]) == (0, ["Nothing was trained"] * untrained), command
        said[command.split()[0]] = done.stdout
    assert list(said) == ["import", "build-graph", "plot", "search", "train"]
    assert said["search"].split()[0] == "1"
    assert "Art. 1, Harbour Code" in said["search"].splitlines()[0]


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


SCRIPTS = {  # letters of the languages that are not written in Latin, Greek or Cyrillic
    "ar": "عقد",
    "fa": "عقد",
    "hi": "नगर",
    "ne": "नगर",
    "ta": "நகர",
    "yi": "שטאט",
    "hy": "քաղաք",
    "ja": "都市",
    "ko": "도시",
    "zh": "都市",
}


def language_rows() -> dict[str, tuple[bool, ...]]:
    """Return what the code has for each language, as the columns of docs/languages.md."""
    from statgraph.artifacts import read_table
    from statgraph.formats import law_words
    from statgraph.law.citations.tables import tables
    from statgraph.retrieval.lexical.analysis import STEMMERS, STOP_WORDS
    from statgraph.retrieval.lexical.compounds import LINKS
    from statgraph.retrieval.lexical.spelling import Spelling

    page = {path.stem for path in (REPO / "statgraph" / "service" / "page" / "words").glob("*.js")}
    read = {row["language"] for row in read_table(Path(law_words.__file__).with_suffix(".tsv"))}

    def is_corrected(language: str) -> bool:
        word = SCRIPTS.get(language, "town") * 2
        return Spelling(lambda: [word], lambda _: 1, lambda _: False).correction(word) is not None

    columns = (read, tables(), STEMMERS, STOP_WORDS, LINKS)
    languages = sorted({*page, *(language for column in columns for language in column)})
    return {
        language: (*(language in column for column in columns), is_corrected(language), language in page)
        for language in languages
    }


def test_the_page_of_languages_says_what_each_has():
    text = (DOCS / "languages.md").read_text(encoding="utf-8")
    lines = [re.split(r"\s*\|\s*", line)[1:-1] for line in text.splitlines() if line.startswith("| `")]
    said = {code.strip("`"): tuple(mark == "yes" for mark in marks) for code, _, *marks in lines}
    assert said == language_rows()
