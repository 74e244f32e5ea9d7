import pytest

from statgraph.formats.catalogue.bsard import draft_bsard, language_of
from statgraph.law.draft import Draft

LEVELLED = (
    "id,reference,article,law_type,code,book,part,act,chapter,section,subsection,description\n"
    '1,"Art. 1, Code des lampes","Les lampes brûlent\ndès le soir.",regional,Code des lampes,Livre 1,,Titre 2,'
    'Chapitre 3,,,"Rues, places"\n'
    '2,"Art. 2, Code des lampes",Qui casse paie.,regional,Code des lampes,,,,,,,\n'
    '3,"Art. 1, Code des puits",Les puits sont couverts.,federal,Code des puits,Livre 1,Partie 2,Titre 3,'
    "Chapitre 4,Section 5,Sous-section 6,None\n"
)
DESCRIBED = (
    "id,article,code,article_no,description,law_type\n"
    '1,Les lampes brûlent.,Code des lampes,12bis,"Rues, places, Des lampes",regional\n'
    "2,Qui casse paie.,Code des lampes,13,,regional\n"
)
QUESTIONS = "id,category,subcategory,question,extra_description,article_ids\n"
# Of the training ids 1 to 40 these fall into dev: their hashes lie between 0.85 and 1.
DEV_IDS = ["5", "6", "15", "20", "31", "32"]


@pytest.fixture
def draft():
    return Draft(name="bsard", language="fr")


def write_questions(path, ids, article_ids="1"):
    rows = "".join(f'{number},Logement,Bail,Question {number} ?,en ville,"{article_ids}"\n' for number in ids)
    path.write_text(QUESTIONS + rows, encoding="utf-8")


@pytest.fixture
def source(tmp_path):
    (tmp_path / "articles_fr.csv").write_text(LEVELLED, encoding="utf-8")
    write_questions(tmp_path / "questions_fr_train.csv", range(1, 41), "1, 3")
    write_questions(tmp_path / "questions_fr_test.csv", [101, 102])
    write_questions(tmp_path / "questions_fr_synthetic.csv", [1001])
    return tmp_path


def test_levels_are_the_path_and_empty_ones_are_skipped(draft, source):
    draft_bsard(draft, source)
    articles = draft.corpus().articles
    assert [article.path for article in articles] == [
        ("Code des lampes", "Livre 1", "Titre 2", "Chapitre 3"),
        ("Code des lampes",),
        ("Code des puits", "Livre 1", "Partie 2", "Titre 3", "Chapitre 4", "Section 5", "Sous-section 6"),
    ]
    assert (articles[0].article_id, articles[0].title) == ("1", "Art. 1, Code des lampes")
    assert articles[0].text == "Les lampes brûlent\ndès le soir."
    assert articles[0].metadata == {"law_type": "regional"}


def test_older_files_have_their_description_as_one_heading(draft, source):
    (source / "articles_fr.csv").write_text(DESCRIBED, encoding="utf-8")
    for split in ("train", "test"):
        write_questions(source / f"questions_fr_{split}.csv", [1] if split == "train" else [2])
    draft_bsard(draft, source)
    assert [(article.title, article.path) for article in draft.corpus().articles] == [
        ("Art. 12bis, Code des lampes", ("Code des lampes", "Rues, places, Des lampes")),
        ("Art. 13, Code des lampes", ("Code des lampes",)),
    ]


def test_dev_is_a_fixed_part_of_train_and_synthetic_questions_stay_out(draft, source):
    draft_bsard(draft, source)
    corpus = draft.corpus()
    assert [question.question_id for question in corpus.split("dev")] == DEV_IDS
    assert len(corpus.split("train")) == 34
    assert [question.question_id for question in corpus.split("test")] == ["101", "102"]
    first = corpus.questions[0]
    assert (first.text, first.article_ids) == ("Question 1 ?", ("1", "3"))
    assert first.metadata == {"category": "Logement", "subcategory": "Bail", "extra_description": "en ville"}
    (left_out,) = draft.left_out
    assert left_out.endswith(f"augment.file={source / 'questions_fr_synthetic.csv'}")


def test_own_dev_file_is_dev(draft, source):
    write_questions(source / "questions_fr_dev.csv", [200])
    draft_bsard(draft, source)
    assert [question.question_id for question in draft.corpus().split("dev")] == ["200"]
    assert len(draft.corpus().split("train")) == 40


@pytest.mark.parametrize(
    ("articles", "questions"),
    [
        ("articles_fr_detailed.csv", "questions_fr_{}.csv"),
        ("articles.csv", "questions_{}.csv"),
        ("corpus.csv", "{}.csv"),
    ],
)
def test_published_file_names_are_known(draft, tmp_path, articles, questions):
    (tmp_path / articles).write_text(LEVELLED, encoding="utf-8")
    write_questions(tmp_path / questions.format("train"), [1])
    write_questions(tmp_path / questions.format("test"), [2])
    draft_bsard(draft, tmp_path)
    assert (len(draft.corpus().articles), len(draft.corpus().questions)) == (3, 2)
    assert draft.left_out == []


def test_language_is_read_off_the_names(tmp_path, source):
    assert language_of(source) == "fr"
    assert language_of(tmp_path / "nl") == "nl"
    (source / "nl").mkdir()
    assert language_of(source) is None
    (source / "nl" / "corpus.csv").write_text("")
    assert language_of(source / "nl") == "nl"


@pytest.mark.parametrize(
    ("gone", "problem"),
    [
        (
            ["questions_fr_test.csv", "articles_fr.csv"],
            "holds none of articles_fr_detailed.csv, articles_fr.csv, articles.csv, corpus_fr.csv, corpus.csv "
            "(found: questions_fr_synthetic.csv, questions_fr_train.csv); ",
        ),
        (["questions_fr_test.csv"], "holds none of questions_fr_test.csv, questions_test.csv, test.csv "),
    ],
)
def test_missing_files_name_what_is_expected_and_found(draft, source, problems_of, gone, problem):
    for name in gone:
        (source / name).unlink()
    draft_bsard(draft, source)
    (only,) = problems_of(draft)
    assert only.startswith(f"{source}: {problem}")


def test_what_is_no_folder_and_a_file_without_articles_are_one_problem(draft, source, problems_of):
    draft_bsard(draft, source / "questions_fr_test.csv")
    (source / "articles_fr.csv").write_text(DESCRIBED.partition("\n")[0] + "\n")
    draft_bsard(draft, source)
    no_folder, no_articles = problems_of(draft)
    assert no_folder.startswith(f"{source / 'questions_fr_test.csv'}: is a file; ")
    assert no_articles == "articles_fr.csv: holds no articles; a corpus needs at least one"


def test_missing_columns_name_those_found(draft, source, problems_of):
    (source / "articles_fr.csv").write_text("id,text,code\n1,x,y\n")
    (source / "questions_fr_test.csv").write_text("id,question\n101,Pourquoi ?\n")
    draft_bsard(draft, source)
    articles, questions, *_ = problems_of(draft)
    assert articles.startswith("articles_fr.csv:1: no column article, reference or article_no, book or description ")
    assert questions.startswith("questions_fr_test.csv:1: no column article_ids (found: id, question)")


def test_bad_rows_name_their_lines(draft, source, problems_of):
    (source / "articles_fr.csv").write_text("id,article,code,reference,book\n1,Lampes.,Code,Art. 1,\n4,x,,Art. 4,A\n")
    write_questions(source / "questions_fr_test.csv", [101, 5], "9")
    draft_bsard(draft, source)
    assert [problem.partition(";")[0] for problem in problems_of(draft)][:3] == [
        "articles_fr.csv:3: article '4' has an empty path",
        "questions_fr_test.csv:3: question id '5' appears twice (first on questions_fr_train.csv:6)",
        "questions_fr_test.csv:3: question '5' is in split 'test' and in 'dev' (questions_fr_train.csv:6)",
    ]


def test_columns_that_are_not_read_are_left_out_by_a_rule(source):
    draft = Draft(name="bsard", language="fr", counts_cells=True)
    draft_bsard(draft, source)
    draft.settle_cells()
    assert draft.report.balance.left_out == {"columns that are not read": 2}  # the description of article 1
    assert draft.report.balance.lost == []
