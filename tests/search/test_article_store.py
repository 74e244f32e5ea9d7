import numpy as np
import pytest

from statgraph.errors import RunError
from statgraph.search.article_store import ArticleStore, StoredArticle, write_article_store


@pytest.fixture
def folder(tmp_path, corpus):
    write_article_store(corpus.articles, tmp_path)
    return tmp_path


def refusal(folder, rows=(0,)) -> str:
    with pytest.raises(RunError) as refused:
        ArticleStore(folder).read(rows)
    return str(refused.value)


def test_articles_come_back_in_the_order_asked_for(folder):
    path = ("Rent Code", "Book I. Leases")
    assert ArticleStore(folder).read([2, 1]) == [
        StoredArticle("X1", "Art. 3", "Keys are handed back.", path),
        StoredArticle("N1", "Art. 2", "Notice is given in writing.\nIts length: “three months” €", path),
    ]


def test_all_articles_in_row_order(folder):
    store = ArticleStore(folder)
    assert [article.article_id for article in store.read_all()] == ["D1", "N1", "X1"]
    assert (len(store), store.read([])) == (3, [])


def test_an_opened_store_goes_on_with_its_articles_when_a_new_run_takes_the_place(folder, tmp_path, corpus):
    store = ArticleStore(folder)
    newer = tmp_path / "newer"
    newer.mkdir()
    write_article_store(corpus.articles[::-1], newer)
    for path in newer.iterdir():
        path.replace(folder / path.name)
    assert [article.article_id for article in store.read([0, 2])] == ["D1", "X1"]
    assert [article.article_id for article in ArticleStore(folder).read([0, 2])] == ["X1", "D1"]


def test_offsets_are_those_of_the_lines(folder):
    lines = (folder / "articles.jsonl").read_bytes().splitlines(keepends=True)
    ends = np.cumsum([len(line) for line in lines]).tolist()
    assert np.load(folder / "articles.offsets.npy").tolist() == [0, *ends]


def test_a_file_of_another_length_is_refused(folder):
    path = folder / "articles.jsonl"
    size = path.stat().st_size
    with path.open("ab") as file:
        file.write(b"more\n")
    assert refusal(folder) == f"{path}: {size + 5} bytes where {size} were written; train the run again"


def test_a_damaged_line_is_named(folder):
    path = folder / "articles.jsonl"
    path.write_bytes(path.read_bytes().replace(b'["N1"', b'{"N1"'))
    assert ArticleStore(folder).read([0])[0].article_id == "D1"
    assert refusal(folder, [1]) == f"{path}:2: damaged; train the run again"


@pytest.mark.parametrize("name", ["articles.jsonl", "articles.offsets.npy"])
def test_a_missing_file_is_refused(folder, name):
    (folder / name).unlink()
    message = refusal(folder)
    assert message.startswith(
        f"{folder}: the articles of the run are not readable ([Errno 2] No such file or directory"
    )
    assert message.endswith("; train it again")


@pytest.mark.parametrize("kept", [0, 5, 90, -3])
def test_cut_off_offsets_are_refused(folder, kept):
    path = folder / "articles.offsets.npy"
    path.write_bytes(path.read_bytes()[:kept])
    assert refusal(folder).startswith(f"{folder}: the articles of the run are not readable (")


@pytest.mark.parametrize("values", [np.zeros(0, np.int64), np.zeros((2, 2), np.int64), np.zeros(4)])
def test_another_array_is_refused(folder, values):
    path = folder / "articles.offsets.npy"
    np.save(path, values)
    assert refusal(folder) == f"{path}: not the offsets of articles; train the run again"
