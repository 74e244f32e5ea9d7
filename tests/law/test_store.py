import json
import shutil
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statgraph import artifacts
from statgraph.errors import CorpusError
from statgraph.law import CitingText, Question, read_corpus, write_corpus
from statgraph.law.draft import Draft
from statgraph.law.records import SPLITS
from statgraph.law.store import draft_beir, held_for_writing

ARTICLE = {"_id": "L1", "title": "Art. 1", "text": "Lamps burn.", "metadata": {"path": ["Lamp Code"], "order": 1}}
QUESTION = {"_id": "q1", "text": "When do lamps burn?"}
LABEL_HEADER = "query-id\tcorpus-id\tscore\n"
LABELS = LABEL_HEADER + "q1\tL1\t1\n"


@pytest.fixture
def folder(tmp_path, write_jsonl):
    """A corpus folder of one article and one question, to be spoilt by a test."""
    folder = tmp_path / "town"
    write_jsonl(folder / "corpus.jsonl", ARTICLE)
    write_jsonl(folder / "queries.jsonl", QUESTION)
    (folder / "qrels").mkdir()
    (folder / "qrels" / "train.tsv").write_text(LABELS)
    (folder / "manifest.json").write_text('{"name": "town", "language": "en"}')
    return folder


def problems_in(folder):
    with pytest.raises(CorpusError) as caught:
        read_corpus(folder)
    return list(caught.value.problems)


def test_what_is_written_is_read_back(town, tmp_path):
    town = replace(town, articles=(*town.articles[:2], replace(town.articles[2], number="Art. 1", rubric="Wells")))
    write_corpus(town, tmp_path / "new" / "town")
    back = read_corpus(tmp_path / "new" / "town")
    assert back == town
    assert back.content_hash == town.content_hash
    assert back.articles[0].metadata == {"in_force": True}
    assert back.questions[0].metadata == {"asked": 3}


def test_folder_is_one_that_beir_tools_read(town, tmp_path):
    write_corpus(town, tmp_path / "town")
    assert sorted(str(path.relative_to(tmp_path / "town")) for path in (tmp_path / "town").rglob("*")) == [
        "corpus.jsonl", "manifest.json", "qrels", "qrels/dev.tsv", "qrels/test.tsv", "qrels/train.tsv", "queries.jsonl",
    ]  # fmt: skip
    assert (tmp_path / "town" / "qrels" / "test.tsv").read_text() == (
        "query-id\tcorpus-id\tscore\nq2\tL1\t1\nq2\tW1\t1\n"
    )
    assert (tmp_path / "town" / "qrels" / "dev.tsv").read_text() == "query-id\tcorpus-id\tscore\n"
    first = (tmp_path / "town" / "corpus.jsonl").read_text(encoding="utf-8").splitlines()[0]
    assert json.loads(first) == {
        "_id": "L1",
        "title": "Art. 1, Lamp Code",
        "text": "Lamps burn from dusk.",
        "metadata": {"in_force": True, "path": ["Lamp Code", "Book I. Streets"], "order": 1},
    }


def test_manifest_counts_what_the_folder_holds(town, tmp_path):
    write_corpus(town, tmp_path / "town")
    assert json.loads((tmp_path / "town" / "manifest.json").read_text()) == {
        "name": "town",
        "language": "en",
        "licence": "CC0",
        "source": "written for the tests",
        "counts": {"articles": 3, "headings": 3, "questions": {"train": 1, "dev": 0, "test": 1}, "labels": 3},
        "content_hash": town.content_hash,
    }


def test_citing_texts_and_question_sets_are_written_counted_and_read_back(town, tmp_path):
    title = Question("t1", "Lamps", "dev", ("L1", "L2"), {"set": "titles"})
    citing = (CitingText("c1", "Guide", "Who pays.", ("L2",), "q1", "section"), CitingText("2", "", "x", ("L1",)))
    town = replace(town, questions=(*town.questions, title), citing=citing)
    write_corpus(town, tmp_path / "town")
    assert [json.loads(line) for line in (tmp_path / "town" / "citing.jsonl").read_text().splitlines()] == [
        {
            "_id": "c1",
            "title": "Guide",
            "text": "Who pays.",
            "cites": ["L2"],
            "question_id": "q1",
            "part": "section",
        },
        {"_id": "2", "title": "", "text": "x", "cites": ["L1"]},
    ]
    assert json.loads((tmp_path / "town" / "manifest.json").read_text())["counts"] == {
        "articles": 3,
        "headings": 3,
        "questions": {"train": 1, "dev": 0, "test": 1},
        "labels": 3,
        "question_sets": {"titles": {"questions": {"train": 0, "dev": 1, "test": 0}, "labels": 2}},
        "citing": 2,
    }
    back = read_corpus(tmp_path / "town")
    assert (back, back.content_hash) == (town, town.content_hash)
    assert [question.question_id for question in back.split("dev", "titles")] == ["t1"]


def test_corpus_is_replaced_whole(town, folder):
    write_corpus(town, folder)
    assert read_corpus(folder) == town
    assert [path.name for path in folder.parent.iterdir()] == ["town"]


def test_failed_write_leaves_the_old_corpus_and_nothing_else(town, folder, monkeypatch):
    before = read_corpus(folder)

    def fail(path, value):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("statgraph.artifacts.write_json", fail)
    with pytest.raises(CorpusError, match=r"town: cannot be written \(No space left on device\)"):
        write_corpus(town, folder)
    assert read_corpus(folder) == before
    assert [path.name for path in folder.parent.iterdir()] == ["town"]


def test_corpus_goes_only_where_nothing_else_is_lost(town, folder, tmp_path):
    (tmp_path / "empty").mkdir()
    write_corpus(town, tmp_path / "empty")
    (folder / "thesis.odt").write_text("years of work")
    with pytest.raises(CorpusError, match=r"town: contains 'thesis.odt'"):
        write_corpus(town, folder)
    assert (folder / "thesis.odt").read_text() == "years of work"
    with pytest.raises(CorpusError, match="is a file"):
        write_corpus(town, folder / "thesis.odt")


def hold(folder, *, replace_it):
    with held_for_writing(folder, replace=replace_it):
        return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("replace_it", [True, False])
def test_one_process_writes_a_folder_at_a_time(town, tmp_path, replace_it):
    new = tmp_path / "new"
    with held_for_writing(new, replace=replace_it):
        with pytest.raises(CorpusError, match="another process"):
            hold(new, replace_it=replace_it)
        write_corpus(town, new)
    assert "corpus.jsonl" in hold(new, replace_it=True)
    with pytest.raises(CorpusError, match="add force to"):
        hold(new, replace_it=False)


def test_a_corpus_written_while_the_folder_was_waited_for_is_not_replaced(town, tmp_path, monkeypatch):
    held = artifacts.held_folder

    def after_another(folder):
        write_corpus(town, folder)
        return held(folder)

    monkeypatch.setattr(artifacts, "held_folder", after_another)
    with pytest.raises(CorpusError, match="add force to"):
        hold(tmp_path / "new", replace_it=False)


def test_a_refused_import_leaves_no_folder(tmp_path):
    assert hold(tmp_path / "new", replace_it=False) == []
    assert list(tmp_path.iterdir()) == []


def test_beir_folder_without_a_manifest_is_not_overwritten(town, folder):
    (folder / "manifest.json").unlink()
    with pytest.raises(CorpusError, match=r"town: holds no manifest.json"):
        write_corpus(town, folder)


def test_labels_and_questions_are_optional(folder):
    shutil.rmtree(folder / "qrels")
    assert read_corpus(folder).questions == ()
    (folder / "queries.jsonl").unlink()
    assert [article.article_id for article in read_corpus(folder).articles] == ["L1"]


def test_scores_of_zero_are_no_labels(folder, write_jsonl):
    write_jsonl(folder / "corpus.jsonl", ARTICLE, {**ARTICLE, "_id": "L2"})
    (folder / "qrels" / "train.tsv").write_text("query-id\tcorpus-id\tscore\nq1\tL1\t0\nq1\tL2\t2\nq1\tL9\t-1\n")
    assert read_corpus(folder).questions[0].article_ids == ("L2",)


@pytest.mark.parametrize(
    ("file_name", "record", "problem"),
    [
        ("corpus.jsonl", {**ARTICLE, "text": None}, "article 'L1' has an empty text"),
        ("corpus.jsonl", {**ARTICLE, "metadata": None}, "article 'L1' has an empty path"),
        ("corpus.jsonl", {**ARTICLE, "metadata": {"path": "A"}}, "'metadata.path' is not a list of strings"),
        ("corpus.jsonl", {**ARTICLE, "metadata": {"path": ["A"], "order": "2"}}, "metadata.order '2' is not a whole"),
        ("queries.jsonl", {**QUESTION, "metadata": ["asked"]}, "'metadata' is a list"),
    ],
)
def test_bad_record_is_one_problem(folder, write_jsonl, file_name, record, problem):
    write_jsonl(folder / file_name, record)
    (only,) = problems_in(folder)
    assert only.startswith(f"{file_name}:1: {problem}")


@pytest.mark.parametrize(
    ("labels", "problem"),
    [
        ("query-id\tcorpus-id\nq1\tL1\n", "1: no column score"),
        (f"{LABEL_HEADER}q1\tL1\tyes\n", "2: score 'yes' is not a number"),
    ],
)
def test_bad_labels_are_one_problem(folder, labels, problem):
    (folder / "qrels" / "train.tsv").write_text(labels)
    (only,) = problems_in(folder)
    assert only.startswith(f"qrels/train.tsv:{problem}")


def test_every_problem_of_a_folder_is_found_in_one_pass(folder, write_jsonl):
    write_jsonl(folder / "corpus.jsonl", ARTICLE, ARTICLE, {**ARTICLE, "_id": "L2", "text": ""})
    with (folder / "corpus.jsonl").open("ab") as file:
        file.write(b'{"_id": "L3"\n' + '{"_id": "L4", "text": "é"}\n'.encode("latin-1"))
    write_jsonl(folder / "queries.jsonl", QUESTION, {"text": "No id?"})
    (folder / "qrels" / "train.tsv").write_text(LABELS + "q1\tL9\t1\nq9\tL1\t1\n")
    (folder / "qrels" / "test.tsv").write_text(LABELS)
    assert [problem.partition(";")[0].partition(" (")[0] for problem in problems_in(folder)] == [
        "corpus.jsonl:2: article id 'L1' appears twice",
        "corpus.jsonl:3: article 'L2' has an empty text",
        "corpus.jsonl:4: invalid JSON at column 13",
        "corpus.jsonl:5: article 'L4' has an empty path",
        "corpus.jsonl:5: byte 0xe9 is not UTF-8",
        "queries.jsonl:2: question has no id",
        "qrels/test.tsv:2: question 'q1' is in split 'test' and in 'train'",
        "qrels/train.tsv:3: label of question 'q1' names article 'L9', which does not exist",
        "qrels/train.tsv:4: label names question 'q9', which does not exist",
    ]


@pytest.mark.parametrize(("name", "problem"), [("gone", "no such corpus folder"), ("town/corpus.jsonl", "is a file")])
def test_what_is_not_a_folder_says_how_to_make_one(folder, tmp_path, name, problem):
    (only,) = problems_in(tmp_path / name)
    assert only.startswith(f"{tmp_path / name}: {problem}")
    assert "'statgraph import'" in only


def test_files_that_are_no_corpus_are_to_be_imported(tmp_path):
    (tmp_path / "articles.csv").touch()
    assert problems_in(tmp_path) == [
        f"{tmp_path}: holds no manifest.json; convert the files with 'statgraph import {tmp_path} --out DIR'"
    ]


def test_a_run_is_no_corpus(tmp_path):
    (tmp_path / "manifest.json").write_text('{"format": 2, "config": {}}')
    assert problems_in(tmp_path) == [f"{tmp_path}: a run, not a corpus; name it with run, or name its corpus folder"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[]", "holds a list, not an object"),
        ("{", "invalid JSON ("),
        ('{"name": "town"}', "'language' is null"),
        ('{"name": "town", "language": "en", "licence": {}}', "'licence' is an object"),
    ],
)
def test_broken_manifest_is_one_problem(folder, text, problem):
    (folder / "manifest.json").write_text(text)
    (only,) = problems_in(folder)
    assert only.startswith(f"{folder / 'manifest.json'}: {problem}")


@pytest.fixture
def beir_folder(tmp_path, write_jsonl):
    """A BEIR folder as its tools leave it: no hierarchy, most questions without a label."""
    write_jsonl(
        tmp_path / "corpus.jsonl",
        {"_id": "d1", "title": "On lamps", "text": "Lamps burn.", "metadata": {"url": "http://lamps.example"}},
        {"_id": "d2", "title": "", "text": "Wells are covered."},
    )
    write_jsonl(tmp_path / "queries.jsonl", *({"_id": f"q{n}", "text": f"Question {n}?"} for n in range(1, 6)))
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text(LABEL_HEADER + "q2\td1\t2\nq2\td2\t0\n")
    return tmp_path


def test_articles_without_a_path_stand_under_the_name_of_the_corpus(draft, beir_folder):
    draft_beir(draft, beir_folder)
    corpus = draft.corpus()
    assert [(article.article_id, article.title, article.path, article.order) for article in corpus.articles] == [
        ("d1", "On lamps", ("town",), 1),
        ("d2", "d2", ("town",), 2),
    ]
    assert corpus.articles[0].metadata == {"url": "http://lamps.example"}


def test_the_order_and_what_is_beside_the_metadata_are_kept(beir_folder, write_jsonl):
    write_jsonl(beir_folder / "corpus.jsonl", {**ARTICLE, "url": "http://lamps.example"})
    draft = Draft(name="town", language="en", counts_cells=True)
    draft_beir(draft, beir_folder)
    draft.settle_cells()
    (article,) = draft.drafted_articles()
    assert (article.order, article.metadata) == (1, {"url": "http://lamps.example"})
    assert draft.report.balance.lost == []


def test_labels_can_be_json_lines(draft, beir_folder, write_jsonl, recorded):
    rows = [{"query-id": "q1", "corpus-id": "d1", "score": 1.0}, {"query-id": "q1", "corpus-id": "d2", "score": 0}]
    write_jsonl(beir_folder / "qrels" / "train.jsonl", *rows)
    draft_beir(draft, beir_folder)
    assert [question.article_ids for question in draft.corpus().split("train")] == [("d1",)]


def test_file_in_place_of_the_folder_is_refused(draft, beir_folder, problems_of):
    draft_beir(draft, beir_folder / "corpus.jsonl")
    assert problems_of(draft) == [f"{beir_folder / 'corpus.jsonl'}: is a file; name the folder that holds corpus.jsonl"]


words = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=12).filter(str.strip)
ids = st.lists(words.map(str.strip), min_size=1, max_size=5, unique=True)


@given(data=st.data(), article_ids=ids, question_ids=ids)
def test_any_draft_becomes_a_folder_and_the_same_corpus(data, tmp_path_factory, article_ids, question_ids):
    draft = Draft(name=data.draw(words), language="fr", licence=data.draw(words), source=data.draw(words))
    for number, article_id in enumerate(article_ids):
        draft.add_article(
            f"a:{number}", article_id=article_id, title=data.draw(st.one_of(st.just(""), words)), text=data.draw(words),
            path=data.draw(st.lists(words, min_size=1, max_size=3)), order=data.draw(st.none() | st.integers(0, 9)),
        )  # fmt: skip
    for number, question_id in enumerate(question_ids):
        draft.add_question(f"q:{number}", question_id=question_id, text=data.draw(words))
        split = data.draw(st.sampled_from(SPLITS))
        for article_id in data.draw(st.lists(st.sampled_from(article_ids), max_size=3)):
            draft.add_label(f"l:{number}", question_id=question_id, article_id=article_id, split=split)
    corpus = draft.corpus()
    assert {article.article_id for article in corpus.articles} == set(article_ids)
    labelled = {question.question_id for question in corpus.questions}
    assert labelled | set(draft.unlabelled_questions) == set(question_ids)
    folder = tmp_path_factory.mktemp("drafted") / "corpus"
    write_corpus(corpus, folder)
    assert read_corpus(folder) == corpus
    assert read_corpus(folder).content_hash == corpus.content_hash


def test_ids_that_read_like_an_empty_cell_are_ids(tmp_path):
    draft = Draft(name="town", language="fr")
    draft.add_article("a:1", article_id="nan", text="A lamp.", path=("Code",))
    draft.add_question("q:1", question_id="None", text="Who?")
    draft.add_label("l:1", question_id="None", article_id="nan", split="train")
    write_corpus(draft.corpus(), tmp_path / "town")
    assert read_corpus(tmp_path / "town") == draft.corpus()
