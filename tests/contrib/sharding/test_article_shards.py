import json

import pytest

from statgraph.errors import CorpusError
from statgraph.law.store import read_corpus, write_corpus

pytest.importorskip("pyarrow", reason="needs the libraries of the extension")

from statgraph.contrib.sharding.article_shards import ArticleShard, read_shard, shards_of


def texts(articles) -> dict[str, tuple]:
    return {article.article_id: (article.text, article.path) for article in articles}


def lines(folder, *records, name="part.jsonl", end="\n"):
    folder.mkdir(exist_ok=True)
    raw = end.join(json.dumps(record, ensure_ascii=False) for record in records)
    (folder / name).write_bytes(raw.encode())
    return folder


def record(article_id, text="Text."):
    return {"_id": article_id, "text": text, "metadata": {"path": ["Code"]}}


@pytest.mark.parametrize("shard_bytes", [1, 150, 151, 200, 10**6])
def test_shards_of_a_corpus_folder_hold_every_article_once(tmp_path, town_corpus, shard_bytes):
    write_corpus(town_corpus, tmp_path / "town")
    shards = shards_of(str(tmp_path / "town"), shard_bytes)
    read = [article for shard in shards for article in read_shard(str(tmp_path / "town"), shard)]
    assert len(read) == 16
    assert texts(read) == texts(read_corpus(tmp_path / "town").articles)


def test_a_line_is_of_the_shard_in_which_it_begins(tmp_path):
    folder = lines(tmp_path / "law", record("a"), record("b", "é" * 100), record("c"), end="\r\n")
    first = len(json.dumps(record("a"))) + 2  # where the second line begins
    assert shard_ids(folder, 0, first) == ["a"]
    assert shard_ids(folder, 0, first + 1) == ["a", "b"]
    assert shard_ids(folder, first, first + 1) == ["b"]
    assert shard_ids(folder, first + 1, first + 100) == []
    assert shard_ids(folder, first + 1, 10**6) == ["c"]


def shard_ids(folder, start, stop) -> list[str]:
    shard = ArticleShard(str(folder / "part.jsonl"), start, stop)
    return [article.article_id for article in read_shard(str(folder), shard)]


@pytest.mark.parametrize("shard_bytes", [1, 400, 10**6])
def test_shards_of_a_parquet_export(tmp_path, town_corpus, shard_bytes):
    from pyarrow import parquet

    from statgraph.formats.parquet import write_parquet

    write_parquet(town_corpus, tmp_path)
    table = parquet.read_table(tmp_path / "corpus.parquet")
    parquet.write_table(table, tmp_path / "corpus.parquet", row_group_size=5)
    shards = shards_of(str(tmp_path), shard_bytes)
    assert [(shard.start, shard.stop) for shard in shards][:: len(shards) - 1 or 1] == {
        1: [(0, 1), (15, 16)], 400: [(0, shards[0].stop), (shards[-1].start, 16)], 10**6: [(0, 16)],
    }[shard_bytes]  # fmt: skip
    read = [article for shard in shards for article in read_shard(str(tmp_path), shard)]
    assert texts(read) == texts(town_corpus.articles)
    assert len(read) == 16


def test_every_problem_of_a_shard_is_named_with_its_place(tmp_path):
    folder = lines(tmp_path, record("a"), {"_id": "b", "text": ""}, record("a"))
    (folder / "part.jsonl").write_bytes((folder / "part.jsonl").read_bytes() + b"\n{broken\n\xff")
    with pytest.raises(CorpusError) as raised:
        read_shard(str(folder), shards_of(str(folder), 10**6)[0])
    second = len(json.dumps(record("a"))) + 1
    assert f"part.jsonl, byte {second}: article 'b' has an empty text" in str(raised.value)
    assert len(raised.value.problems) == 5
    assert all(problem.startswith("part.jsonl, byte ") for problem in raised.value.problems)


@pytest.mark.parametrize("place", ["gone", "empty"])
def test_a_place_without_articles(tmp_path, place):
    (tmp_path / "empty").mkdir()
    with pytest.raises(CorpusError, match=f"{place}: no .jsonl or .parquet"):
        shards_of(str(tmp_path / place), 100)
