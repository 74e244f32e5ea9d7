"""Public sets, on files of ours with the shape of theirs."""

import json
from dataclasses import replace

import pytest

from statgraph.errors import CorpusError
from statgraph.formats.catalogue.catalogue import CATALOGUE, corpus_named, fetch_corpus
from statgraph.formats.catalogue.public_sets import draft_stard
from statgraph.formats.catalogue.sources import WebFiles

STARD = {
    "corpus.jsonl": [
        {"id": 0, "name": "中华人民共和国路灯法第十二条", "content": "天黑后点亮路灯。\\n打碎路灯的，应当赔偿。\n"},
        {"id": 1, "name": "水井条例第三条之一", "content": "水井应当加盖。"},
        {"id": 2, "name": "水井条例附则", "content": ""},
    ],
    "queries.json": [
        {"query_id": 0, "问题": "打碎路灯怎么办？", "相关法规": {}, "match_id": [0], "match_name": []},
        {"query_id": 1, "问题": "水井和路灯谁管？", "相关法规": {}, "match_id": [1, 0], "match_name": []},
    ],
    "qrels.train.tsv": "0\t0\t0\t1\n",
    "qrels.dev.tsv": "1\t1\n1\t0\n",
}
GERLAYQA = {
    "bgb.json": [
        {"id": "§ 1", "content": "Laternen. (1) Laternen brennen ab der Dämmerung. (2) Nachts auch."},
        {"id": "§ 573b", "content": "Brunnen und Zisternen. Brunnen werden abgedeckt."},
        {"id": "§ 2000", "content": "(weggefallen)"},
    ],
    "bgb_train.json": [
        {"Question_text": " ", "Paragraphs": ["§ 1"]},
        {"Question_text": "Wer zahlt die Laterne?", "Paragraphs": ["§ 1", "§ 999"]},
    ],
    "bgb_dev.json": [{"Question_text": "Muss der Brunnen zu sein?", "Paragraphs": ["§ 573b", "§ 1"]}],
    "bgb_eval.json": [{"Question_text": "Und nachts?", "Paragraphs": ["§ 1"]}],
}
AILA = {
    "corpus.jsonl": [
        {"_id": "aX1", "title": "", "text": "Title: Breaking of lamps\nDesc: Whoever breaks a lamp\nshall pay."},
        {"_id": "bY2", "title": "Wells", "text": "Wells are covered."},
    ],
    "queries.jsonl": [{"_id": "00000", "text": "The appellant broke a lamp."}],
    "qrels/test.jsonl": [
        {"query-id": "00000", "corpus-id": "aX1", "score": 1},
        {"query-id": "00000", "corpus-id": "bY2", "score": 0},
    ],
}
LEGALQA = {
    "corpus": [
        {"id": "7", "title": "", "text": "Lampenwet, Hoofdstuk 1, Straten, Artikel 2\nLampen branden."},
        {"id": "8", "title": "", "text": "Putten zijn gedekt."},
    ],
    "queries": [{"id": "1", "text": "Wanneer branden lampen?"}],
    "qrels/test": [{"query-id": "1", "corpus-id": "7", "score": 1}],
}
ZALO = {
    "corpus.jsonl": [
        {"_id": "47/2011/tt-den+7", "title": "Điều 7. Đèn đường", "text": "Đèn đường được thắp sáng."},
        {"_id": "47/2011/tt-den+8", "title": "Điều 8. Giếng phải có nắp.", "text": ""},
    ],
    "queries.jsonl": [
        {"_id": "q1", "text": "Khi nào thắp đèn?"},
        {"_id": "q1", "text": "Khi nào thắp đèn?"},
        {"_id": "q2", "text": "Giếng có nắp không?"},
    ],
    "qrels/train.jsonl": [
        {"query-id": "q1", "corpus-id": "47/2011/tt-den+8", "score": 1.0},
        {"query-id": "q2", "corpus-id": "47/2011/tt-den+8", "score": 1.0},
    ],
    "qrels/test.jsonl": [{"query-id": "q1", "corpus-id": "47/2011/tt-den+7", "score": 1.0}],
}


@pytest.fixture
def write_files(tmp_path, write_jsonl):
    """Return a function that writes the files of a set, tables in the form that their names say."""

    def write(files, folder=tmp_path / "files"):
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, str):
                path.write_text(content, encoding="utf-8")
            elif path.suffix == ".jsonl":
                write_jsonl(path, *content)
            elif path.suffix == ".parquet":
                pytest.importorskip("pyarrow")
                from pyarrow import Table, parquet

                parquet.write_table(Table.from_pylist(content), path)
            else:
                path.write_text(json.dumps(content), encoding="utf-8")
        return folder

    return write


@pytest.fixture
def fetched(write_files, tmp_path):
    """Return a function that fetches a corpus of the catalogue from the files of a set."""
    return lambda name, files: fetch_corpus(name, tmp_path / "out", write_files(files))


def articles_of(corpus):
    return [(article.article_id, article.title, article.text, article.path) for article in corpus.articles]


def labels_of(corpus):
    return [(question.question_id, question.split, question.article_ids) for question in corpus.questions]


def test_stard_has_the_law_of_each_article_and_its_own_splits(fetched):
    corpus = fetched("stard", STARD)
    lamps, wells = "中华人民共和国路灯法", "水井条例"
    assert articles_of(corpus) == [
        ("0", f"{lamps}第十二条", "天黑后点亮路灯。\n打碎路灯的，应当赔偿。", (lamps,)),
        ("1", f"{wells}第三条之一", "水井应当加盖。", (wells,)),
        ("2", f"{wells}附则", f"{wells}附则", (f"{wells}附则",)),
    ]
    assert labels_of(corpus) == [("0", "train", ("0",)), ("1", "dev", ("1", "0"))]
    assert corpus.questions[0].text == "打碎路灯怎么办？"


def test_stard_comes_from_its_addresses(serve_folder, write_files, tmp_path, monkeypatch):
    entry = corpus_named("stard")
    paths = [path for path, _ in entry.source.files]
    folder = write_files({path: STARD[path.rpartition("/")[2]] for path in paths})
    source = WebFiles(entry.source.page, serve_folder(folder), tuple((path, "") for path in paths))
    monkeypatch.setitem(CATALOGUE, "stard", replace(entry, source=source))
    corpus = fetch_corpus("stard", tmp_path / "out")
    assert len(corpus.articles) == 3
    assert "; corpus.jsonl sha256 " in corpus.source


def test_gerlayqa_has_rubrics_books_and_posts(fetched):
    corpus = fetched("gerlayqa", GERLAYQA)
    code, (first, second, third) = "Bürgerliches Gesetzbuch", corpus.articles
    assert [(article.number, article.rubric) for article in corpus.articles] == [
        ("§ 1", "Laternen"),
        ("§ 573b", "Brunnen und Zisternen"),
        ("§ 2000", ""),
    ]
    assert first.text == "(1) Laternen brennen ab der Dämmerung. (2) Nachts auch."
    assert (second.article_id, second.title) == ("573b", "§ 573b BGB")
    assert second.path == (code, "Buch 2. Recht der Schuldverhältnisse")
    assert (third.text, third.path) == ("(weggefallen)", (code, "Buch 5. Erbrecht"))
    assert labels_of(corpus) == [
        ("train-2", "train", ("1",)),
        ("dev-1", "dev", ("573b", "1")),
        ("test-1", "test", ("1",)),
    ]


def test_aila_has_titles_and_test_questions_alone(fetched):
    corpus = fetched("aila-statutes", AILA)
    assert articles_of(corpus) == [
        ("aX1", "Breaking of lamps", "Whoever breaks a lamp\nshall pay.", ("aila-statutes",)),
        ("bY2", "Wells", "Wells are covered.", ("aila-statutes",)),
    ]
    assert labels_of(corpus) == [("00000", "test", ("aX1",))]


@pytest.mark.parametrize("shape", ["{}.jsonl", "{}.parquet", "{}/part-0.parquet", "{}-00000-of-00001.parquet"])
def test_legalqa_from_json_lines_and_parquet(shape, write_files, tmp_path):
    files = {shape.format(name): rows for name, rows in LEGALQA.items()}
    corpus = fetch_corpus("legalqa-nl", tmp_path / "out", write_files(files))
    head = "Lampenwet, Hoofdstuk 1, Straten, Artikel 2"
    assert articles_of(corpus) == [
        ("7", head, "Lampen branden.", ("Lampenwet",)),
        ("8", "8", "Putten zijn gedekt.", ("legalqa-nl",)),
    ]
    assert labels_of(corpus) == [("1", "test", ("7",))]


def test_zalo_has_a_question_once_and_in_one_split(fetched):
    corpus = fetched("zalo-legal", ZALO)
    assert articles_of(corpus) == [
        ("47/2011/tt-den+7", "Điều 7. Đèn đường", "Đèn đường được thắp sáng.", ("47/2011/TT-DEN",)),
        ("47/2011/tt-den+8", "Điều 8. Giếng phải có nắp.", "Điều 8. Giếng phải có nắp.", ("47/2011/TT-DEN",)),
    ]
    assert labels_of(corpus) == [
        ("q1", "test", ("47/2011/tt-den+7",)),
        ("q2", "train", ("47/2011/tt-den+8",)),
    ]


@pytest.mark.parametrize(
    ("name", "files", "problem"),
    [
        ("stard", {**STARD, "queries.json": {}}, r"^queries.json: holds an object, not a list; "),
        ("stard", {**STARD, "queries.json": "["}, r"^queries.json: cannot be read as JSON \(.*line 1"),
        ("gerlayqa", {**GERLAYQA, "bgb_dev.json": [3]}, r"^bgb_dev.json\[0\]: is a number, not an object; "),
        ("aila-statutes", {"corpus.jsonl": AILA["corpus.jsonl"]}, r"holds no queries.jsonl, no queries.parquet, "),
        (
            "aila-statutes",
            {**AILA, "qrels/test.jsonl": [{"query-id": "00000"}]},
            r"^qrels/test.jsonl:1: score None is not",
        ),
    ],
)
def test_a_file_of_another_shape_is_named(fetched, tmp_path, name, files, problem):
    with pytest.raises(CorpusError, match=problem):
        fetched(name, files)
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_missing_is_named(draft, problems_of, write_files):
    draft_stard(draft, write_files({"corpus.jsonl": STARD["corpus.jsonl"], "queries.json": []}))
    assert [problem.partition(":")[0] for problem in problems_of(draft)] == ["qrels.train.tsv", "qrels.dev.tsv"]
