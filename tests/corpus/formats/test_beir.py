import pytest

from statgraph.corpus.formats.beir import draft_beir

HEADER = "query-id\tcorpus-id\tscore\n"


@pytest.fixture
def source(tmp_path, write_jsonl):
    """A BEIR folder as its tools leave it: no hierarchy, most questions without a label."""
    write_jsonl(
        tmp_path / "corpus.jsonl",
        {"_id": "d1", "title": "On lamps", "text": "Lamps burn.", "metadata": {"url": "http://lamps.example"}},
        {"_id": "d2", "title": "", "text": "Wells are covered."},
    )
    write_jsonl(tmp_path / "queries.jsonl", *({"_id": f"q{n}", "text": f"Question {n}?"} for n in range(1, 6)))
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text(HEADER + "q2\td1\t2\nq2\td2\t0\n")
    return tmp_path


def test_articles_without_a_path_stand_under_the_name_of_the_corpus(draft, source):
    draft_beir(draft, source)
    corpus = draft.corpus()
    assert [(article.article_id, article.title, article.path, article.order) for article in corpus.articles] == [
        ("d1", "On lamps", ("town",), 1),
        ("d2", "d2", ("town",), 2),
    ]
    assert corpus.articles[0].metadata == {"url": "http://lamps.example"}


def test_questions_without_a_label_are_left_out(draft, source):
    draft_beir(draft, source)
    assert [(question.question_id, question.article_ids) for question in draft.corpus().questions] == [("q2", ("d1",))]
    assert draft.unlabelled_questions == ("q1", "q3", "q4", "q5")


@pytest.mark.parametrize("file_name", ["dev.tsv", "validation.tsv"])
def test_dev_labels_go_by_two_names(draft, source, file_name):
    (source / "qrels" / file_name).write_text(HEADER + "q1\td2\t1\n")
    draft_beir(draft, source)
    assert [question.question_id for question in draft.corpus().split("dev")] == ["q1"]


def test_file_in_place_of_the_folder_is_refused(draft, source, problems_of):
    draft_beir(draft, source / "corpus.jsonl")
    assert problems_of(draft) == [f"{source / 'corpus.jsonl'}: is a file; name the folder that holds corpus.jsonl"]
