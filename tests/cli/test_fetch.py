"""`statgraph fetch` as users run it: exit code, standard output and error, files."""

import io
import json
from dataclasses import replace

import pytest

from statgraph.formats.catalogue.catalogue import CATALOGUE


@pytest.fixture
def fetching(run_here, tmp_path, monkeypatch):
    """Return a function that runs `statgraph` where there is no other program."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "120")
    return run_here


def test_a_corpus_is_fetched_and_summed_up(fetching, tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    (source / "articles_fr.csv").write_text(
        "id,article,code,article_no,description,law_type\n"
        "7,Le vélo roule.,Code du vélo,1,Livre I,national\n"
        "8,Le casque protège.,Code du vélo,2,Livre I,national\n",
        encoding="utf-8",
    )
    columns = "id,category,subcategory,question,extra_description,article_ids\n"
    (source / "questions_fr_train.csv").write_text(columns, encoding="utf-8")
    (source / "questions_fr_test.csv").write_text(columns + '1,Vélo,,Faut-il un casque ?,,"7,8"\n', encoding="utf-8")
    finished = fetching("fetch", "bsard", "--from", "source")
    assert finished.returncode == 0
    assert finished.stderr == (
        "bsard: Belgian statutes with citizens' questions, in French\n"
        "  licence    CC BY-NC-SA 4.0: no commercial use; credit the authors; share alike what you make of it\n"
        "  from       https://huggingface.co/datasets/maastrichtlawtech/bsard\n"
    )
    assert finished.stdout == (
        "corpora/bsard: corpus 'bsard' (fr)\n"
        "  articles   2\n"
        "  headings   2, up to 2 levels\n"
        "  questions  train 0, dev 0, test 1\n"
        "  labels     2\n"
        "Next: statgraph train --corpus corpora/bsard\n"
    )
    assert (tmp_path / "corpora/bsard/manifest.json").is_file()


@pytest.mark.parametrize(
    ("corpus", "code", "message"),
    [
        ("legi-de", 2, f"unknown corpus 'legi-de'; choose from {', '.join(CATALOGUE)}"),
        (
            "gerlayqa",
            2,
            "gerlayqa: research only (no commercial use; scientific research; the posts belong to their authors); "
            "if you accept these terms, add --accept-terms, in Python accept_terms=True",
        ),
        (
            "legi-fr",
            1,
            "npm: not on the PATH, but needed to download @socialgouv/legi-data@2.513.0; install Node.js, or run "
            "'npm pack @socialgouv/legi-data@2.513.0' on another machine and add '--from DIR' with the folder of "
            "socialgouv-legi-data-2.513.0.tgz",
        ),
    ],
    ids=["unknown", "research only", "no npm"],
)
def test_what_cannot_be_fetched_is_one_line(fetching, tmp_path, corpus, code, message):
    finished = fetching("fetch", corpus, "--out", "out")
    about, error, _ = finished.stderr.rpartition(f"Error: {message}\n")
    assert (finished.returncode, bool(error)) == (code, True)
    assert ("  licence    " in about) == (corpus in CATALOGUE)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("answer", "error"),
    [("y", "Error: http://127.0.0.1:1/bgb.json: cannot be"), ("n", "Error: gerlayqa: research")],
)
def test_a_reader_is_asked_to_accept_terms(run_here, monkeypatch, answer, error):
    entry = CATALOGUE["gerlayqa"]
    nowhere = replace(entry, source=replace(entry.source, base="http://127.0.0.1:1/"))
    monkeypatch.setitem(CATALOGUE, "gerlayqa", nowhere)
    terminal = io.StringIO(f"{answer}\n")
    terminal.isatty = lambda: True
    monkeypatch.setattr("sys.stdin", terminal)
    done = run_here("fetch", "gerlayqa")
    assert "Do you accept these terms? [y/N]: " in done.stderr
    assert error in done.stderr


def test_the_catalogue_as_a_table_and_as_json(run_here):
    head, *rows = run_here("fetch", "--list").stdout.splitlines()
    assert head.split() == ["name", "articles", "questions", "language", "licence"]
    assert [row.split()[0] for row in rows] == list(CATALOGUE)
    assert rows[1].split() == ["bsard", "22,633", "1,108", "fr", "CC", "BY-NC-SA", "4.0"]
    entries = json.loads(run_here("fetch", "--list", "--json").stdout)
    assert [entry["name"] for entry in entries] == list(CATALOGUE)
    assert [entry["name"] for entry in entries if entry["licence"]["research_only"]] == ["gerlayqa"]
    assert {entry["licence"]["name"] for entry in entries} >= {"MIT", "CC BY 4.0"}
