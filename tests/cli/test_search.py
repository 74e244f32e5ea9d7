import io
import json
import os
import shutil
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from statgraph import Retriever, corpus_from_dicts, train
from statgraph.cli.main import cli
from statgraph.law.store import write_corpus
from statgraph.retrieval.search.hits import Hit
from statgraph.runs.article_store import write_article_dates

CLI = Path(__file__).parents[2] / "cli.py"
QUESTION = "Who taxes my fences?"


@pytest.fixture
def asked(tmp_path):
    """Return a file of two questions."""
    path = tmp_path / "asked.jsonl"
    path.write_text('{"_id": "q1", "text": "Who taxes my fences?"}\n{"_id": "q2", "text": "lamps by day ¿…?"}\n')
    return path


@pytest.fixture
def answer(tmp_path, monkeypatch):
    """Return a function that searches in this process, in the test's own folder: starting Python takes a second."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(cli, ["search", *map(str, arguments)], catch_exceptions=False)


@pytest.fixture
def judged(monkeypatch):
    """Return a function that gives the hits of a search these probabilities."""
    search = Retriever.search

    def give(*probabilities):
        def judged_search(self, *arguments, **options):
            found = zip(search(self, *arguments, **options), probabilities, strict=False)
            return [replace(hit, probability=probability) for hit, probability in found]

        monkeypatch.setattr(Retriever, "search", judged_search)

    return give


def test_hits_that_are_not_probable_enough_are_left_out(answer, judged, bm25_run):
    judged(0.62, 0.07)
    told = answer(QUESTION, "--run", bm25_run, "-k", 2).output.splitlines()
    assert [line[11:17] for line in told if line[:3].strip()] == ["  62% ", "   7% "]

    told = answer(QUESTION, "--run", bm25_run, "-k", 2, "--min-probability", 0.1).output.splitlines()
    assert told[0] == "1 of 2 hits left out: each answers with a probability below 0.1"
    assert [line[11:17] for line in told if line[:3].strip().isdigit()] == ["  62% "]


def test_where_nothing_fits_that_comes_first(answer, judged, bm25_run):
    judged(0.04, 0.01)
    told = answer(QUESTION, "--run", bm25_run, "-k", 2, "--min-probability", 0.2).output.splitlines()
    assert told == [
        "Probably nothing here answers this",
        "2 of 2 hits left out: each answers with a probability below 0.2",
    ]
    printed = answer(QUESTION, "--run", bm25_run, "-k", 2, "--json")
    assert [hit["probability"] for hit in json.loads(printed.stdout)] == [0.04, 0.01]
    assert printed.stderr == "Probably nothing here answers this\n"


def test_hits_in_a_terminal_are_as_wide_as_it(monkeypatch, bm25_run):
    from statgraph.cli.search import _print_hits
    from statgraph.retrieval.search.explanation_lines import explanation_lines

    written = io.StringIO()
    monkeypatch.setattr("rich.console.Console", lambda highlight: Console(file=written, width=34, highlight=highlight))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    retriever = Retriever.load(bm25_run)
    hits = retriever.search(QUESTION, k=1)
    _print_hits(hits, map(explanation_lines, retriever.explain(QUESTION, hits)), dated=False)

    lines = [line.rstrip() for line in written.getvalue().splitlines()]
    assert lines[:6] == [
        "rank score article",
        "",
        f"   1 {hits[0].score:.3f} Art. 2 on fences",
        "           Town Code > Book II.",
        "           Duties",
        "           Fences are taxed.",
    ]
    assert (lines[6][:19], max(map(len, lines)) <= 34) == ("           BM25: fe", True)


def test_hits_to_read(ran, bm25_run):
    done = ran("search", QUESTION, "--run", bm25_run, "-k", 2)
    first, second = Retriever.load(bm25_run).search(QUESTION, k=2)
    assert done == (
        f"  1 {first.score:7.3f}  Art. 2 on fences\n"
        "             Town Code > Book II. Duties\n"
        "             Fences are taxed.\n"
        f"  2 {second.score:7.3f}  {second.title}\n"
        f"             {' > '.join(second.path)}\n"
        f"             {second.text}\n"
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Zebras  are\n" + "allowed " * 40, "Zebras are " + "allowed " * 18 + "..."),
        ("Nothing is said here. " * 10 + "Zebras  are\nallowed. No more.", "... Zebras are allowed. No more."),
    ],
)
def test_a_long_article_is_shown_from_its_passage_on_and_cut_at_a_word(run_here, tmp_path, town, text, shown):
    shutil.copytree(town, tmp_path / "long")
    articles = [json.loads(line) for line in (town / "corpus.jsonl").read_text().splitlines()]
    articles[0]["text"] = text
    (tmp_path / "long" / "corpus.jsonl").write_text("".join(json.dumps(article) + "\n" for article in articles))
    assert run_here("train", "--corpus", "long", "--system", "bm25", "--out", "run").returncode == 0
    assert run_here("search", "zebras", "-k", 1, "--run", "run").stdout.splitlines()[2].strip() == shown


def test_explained_hits(run_here, ran, dense_run, bm25_run):
    done = ran("search", QUESTION, "--run", dense_run, "-k", 2, "--explain")
    lines = [line.strip() for line in done.splitlines()]
    assert sum(line.endswith("by the graph") or "by the graph (" in line for line in lines) == 2
    assert sum(line.endswith("itself") for line in lines) == 2
    assert sum(line.startswith("BM25: ") for line in lines) == 2

    (hit,) = json.loads(run_here("search", QUESTION, "--run", bm25_run, "-k", 1, "--explain", "--json").stdout)
    why = hit["explanation"]
    assert sum(term["weight"] for term in why["terms"]) == pytest.approx(hit["score"], abs=1e-6)
    assert (why["own_text_score"], why["neighbours"]) == (None, [])


def test_json_is_what_python_gives(ran, dense_run):
    done = ran("search", QUESTION, "--run", dense_run, "-k", 3, "--json", "--device", "cpu")
    printed = json.loads(done)
    hits = Retriever.load(dense_run, device="cpu").search(QUESTION, k=3)
    assert [list(hit) for hit in printed] == [[field.name for field in fields(Hit)]] * 3
    for hit, expected in zip(printed, hits, strict=True):
        assert hit.pop("score") == pytest.approx(expected.score, abs=1e-6)
        assert (hit["article_id"], hit["rank"], tuple(hit["path"])) == (
            expected.article_id, expected.rank, expected.path,
        )  # fmt: skip


def test_where_no_word_is_shared_it_says_so(answer, bm25_run, tmp_path):
    ask = ["xylophone", "--run", bm25_run]
    for options in ([], ["--explain"]):
        done = answer(*ask, *options)
        assert (done.exit_code, done.stdout) == (
            0,
            "No article shares a word with the question; use other words, or a run with a dense retriever (--run)\n",
        )
    assert json.loads(answer(*ask, "--json").stdout) == []
    (tmp_path / "asked.jsonl").write_text('{"_id": "q1", "text": "xylophone"}\n')
    many = ["--questions", "asked.jsonl", "--run", bm25_run]
    assert json.loads(answer(*many).stdout) == {"_id": "q1", "hits": []}
    assert len(answer(*many, "--trec").stdout.splitlines()) == 10


@pytest.mark.parametrize(
    ("question", "line", "facts"),
    [
        ("lamps, article 99", "No article is numbered 99\n", {"unknown_articles": ["99"]}),
        (
            "lmaps and dosg",
            "Searched for: lamps, dogs (not in the law: lmaps, dosg)\n",
            {"corrected": {"lmaps": "lamps", "dosg": "dogs"}},
        ),
    ],
)
def test_what_a_reader_should_know_comes_before_the_hits(answer, bm25_run, tmp_path, question, line, facts):
    asked = [question, "--run", bm25_run]
    assert answer(*asked).stdout.startswith(f"{line}  1 ")
    told = answer(*asked, "--json")
    assert (told.stderr, json.loads(told.stdout)[0]["rank"]) == (line, 1)
    (tmp_path / "asked.txt").write_text(f"{question}\nlamps, article\n")
    many = ["--questions", "asked.txt", "--run", bm25_run]
    first, second = map(json.loads, answer(*many).stdout.splitlines())
    assert ({**first, **facts}, second.keys()) == (first, {"_id", "hits"})
    told = answer(*many, "--trec")
    assert (told.stderr, told.stdout[:5]) == (f"1: {line}", "1 Q0 ")


def test_hits_of_some_codes_and_under_a_heading(answer, bm25_run, asked):
    ask = ["Are lamps taxed?", "--run", bm25_run, "--json"]
    rights = answer(*ask, "--heading", "Town Code > Book I. Rights", "--explain").stdout
    assert {hit["path"][1] for hit in json.loads(rights)} == {"Book I. Rights"}
    assert answer(*ask, "--code", "Town Code").stdout == answer(*ask).stdout
    many = ["--questions", asked, "--run", bm25_run, "--heading", "Town Code > Book I. Rights"]
    found = [hit["article_id"] for line in answer(*many).stdout.splitlines() for hit in json.loads(line)["hits"]]
    assert {article_id[-1] for article_id in found} == {"1"}
    assert answer("xylophone", "--run", bm25_run, "--code", "Town Code").stdout == (
        "No article under --code shares a word with the question; use other words, or a run with a dense retriever "
        "(--run)\n"
    )


def test_a_day_of_a_corpus_without_dates_is_told_to_mean_nothing(answer, bm25_run, asked):
    note = "Note: this corpus has no dates, so every article counts as in force on 2015-06-01\n"
    ask = [QUESTION, "--run", bm25_run]
    plain, dated = answer(*ask), answer(*ask, "--as-of", "2015-06-01")
    assert (dated.exit_code, dated.stdout, dated.stderr, plain.stderr) == (0, plain.stdout, note, "")
    many = ["--questions", asked, "--run", bm25_run]
    for arguments in ([*ask, "--json"], many, [*many, "--trec"]):
        assert answer(*arguments, "--as-of", "2015-06-01").stderr == ""
    assert answer(*ask, "--as-of", "always").stderr == ""


def test_a_day_of_a_corpus_with_dates_needs_no_note(answer, bm25_run, town_corpus, tmp_path):
    folder = shutil.copytree(bm25_run, tmp_path / "dated")
    dates = [{"valid_to": "2015-06-01"} if "fences" in a.article_id else {} for a in town_corpus.articles]
    dated = [replace(article, metadata=of) for article, of in zip(town_corpus.articles, dates, strict=True)]
    write_article_dates(dated, folder)
    done = answer("fences", "--run", folder, "--as-of", "2015-06-01")
    assert (done.exit_code, done.stderr) == (0, "")
    words = "shares a word with the question; use other words, or a run with a dense retriever (--run)"
    assert done.stdout == f"No article in force (--as-of 2015-06-01) {words}, or another --as-of\n"
    assert answer("xylophone", "--run", folder, "--as-of", "always").stdout == f"No article {words}\n"


@pytest.mark.parametrize(("encoding", "how"), [("cp437", ()), ("latin-1", ("--json",))])
def test_a_law_that_the_terminal_cannot_write_is_printed(tmp_path, encoding, how):
    rows = [{"id": "ł", "text": "łódź, βάρκα: § 3 lamps", "path": ["Kodeks łodzi"]}]
    train(corpus_from_dicts(rows, language="xx", name="boats"), "bm25", out=tmp_path / "run")
    command = [sys.executable, CLI, "search", "lamps", "--run", tmp_path / "run", *how]
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    done = subprocess.run(command, env=environment, capture_output=True, encoding=encoding, check=False)
    assert (done.returncode, "bug" in done.stderr) == (0, False)
    assert r"\u0142ód\u017a" in done.stdout


def test_a_trec_run(ran, bm25_run, asked):
    done = ran("search", "--questions", asked, "--run", bm25_run, "-k", 3, "--trec")
    lines = [line.split(" ") for line in done.splitlines()]
    assert [(line[0], line[1], line[3], line[5]) for line in lines] == [
        (question_id, "Q0", str(rank), "statgraph") for question_id in ("q1", "q2") for rank in (1, 2, 3)
    ]
    hits = Retriever.load(bm25_run).search(QUESTION, k=3)
    assert [line[2] for line in lines[:3]] == [hit.article_id for hit in hits]
    assert [float(line[4]) for line in lines[:3]] == pytest.approx([hit.score for hit in hits])


def test_a_reader_that_leaves_is_no_error(bm25_run, tmp_path):
    lines = "".join(json.dumps({"_id": f"q{number}", "text": QUESTION}) + "\n" for number in range(3000))
    (tmp_path / "many.jsonl").write_text(lines)
    command = f"{sys.executable} {CLI} search --questions many.jsonl --run {bm25_run} -k 16 --trec | head -n 1"
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.stdout.split(" ")[0], done.stderr) == ("q0", "")


BY_WORDS = (
    "Nothing was trained: articles are found by words, headings and citations alone; "
    "'statgraph train --corpus {}' adds vectors, which find other words of the same meaning\n"
)


def test_a_large_corpus_is_searched_without_training_by_words(answer, town, tmp_path, monkeypatch):
    monkeypatch.setenv("STATGRAPH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("statgraph.systems.pipeline.EMBEDDED_MOST", 15)  # the town has 16 articles
    first = answer(QUESTION, "--corpus", town, "-k", 1)
    assert (first.exit_code, first.stderr) == (0, BY_WORDS.format(town))
    assert first.stdout.splitlines()[0].endswith("Art. 2 on fences")
    (kept,) = (tmp_path / "cache" / "untrained").glob("*/run")
    written = (kept / "manifest.json").stat().st_mtime_ns
    assert answer("xylophone", "--corpus", town).stdout.startswith("No article shares a word with the question; ")
    again = answer(QUESTION, "--corpus", town, "-k", 1)
    assert (again.stdout, again.stderr) == (first.stdout, first.stderr)
    assert (kept / "manifest.json").stat().st_mtime_ns == written


def test_what_a_terminal_would_obey_and_what_would_flood_it(run_here, refused, town_corpus, tmp_path, monkeypatch):
    monkeypatch.setattr("statgraph.systems.pipeline.EMBEDDED_MOST", 0)
    first, *others = town_corpus.articles
    odd = replace(first, title="T" * 100_000, text="Lamps \x1b[31m burn.\x07")
    write_corpus(replace(town_corpus, articles=(odd, *others), questions=()), tmp_path / "odd")
    shown = run_here("search", "burn", "--corpus", "odd", "-k", 1).stdout
    assert "Lamps \\x1b[31m burn.\\x07" in shown
    assert f" {'T' * 299}…\n" in shown
    (tmp_path / "odd.csv").write_text("id,\x1b[31mred\n1,2\n")
    assert "(found: id, \\x1b[31mred)" in refused("import", "csv", "odd.csv", "--language", "en", "--out", "out")


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        (
            "manifest.json",
            "run: an unfinished run; go on with the 'statgraph train' that began it, with --out run --resume",
        ),
        (
            "articles.jsonl",
            "run: not readable ([Errno 2] No such file or directory: 'run/articles.jsonl'); train the run again",
        ),
    ],
)
def test_a_damaged_run_is_refused(refused, dense_run, tmp_path, missing, message):
    (Path(shutil.copytree(dense_run, tmp_path / "run")) / missing).unlink()
    assert refused("search", "Who?", "--run", "run") == message


def test_a_question_is_also_searched_in_the_laws_words(run_here, bm25_run, monkeypatch):
    from statgraph.retrieval.search.rewriting import Rewriter

    monkeypatch.setattr(Rewriter, "rewrite", lambda rewriter, question: f"{rewriter.model} {question[:4]} wells2")
    asked = ["search", "dogs", "--run", bm25_run, "-k", 2, "--rewrite", "http://localhost/v1"]
    code, stdout, stderr = run_here(*asked, "--rewrite-model", "carts", "--json")
    assert (code, stderr) == (0, "Also searched: carts dogs wells2\n")
    hits = json.loads(stdout)
    # Both wordings find the dogs: 1/61 + 1/61 or less, where what one of them finds has 1/61 at most.
    assert [hit["article_id"][:-1] for hit in hits] == ["dogs", "dogs"]
    assert all(1 / 61 < hit["score"] <= 2 / 61 for hit in hits)


def test_without_its_endpoint_a_question_is_searched_as_it_stands(run_here, bm25_run):
    plain = run_here("search", "dogs", "--run", bm25_run, "--json")
    code, stdout, stderr = run_here("search", "dogs", "--run", bm25_run, "--json", "--rewrite", "http://127.0.0.1:9/v1")
    assert (code, stdout) == plain[:2]
    assert stderr == (
        "Warning: http://127.0.0.1:9/v1: the question was not rewritten ([Errno 111] Connection refused); only its own "
        "words are searched\n"
    )
