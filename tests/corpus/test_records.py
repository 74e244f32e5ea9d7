from dataclasses import replace

from statgraph.corpus import Article, Heading, headings_of


def test_article_stands_in_the_code_at_the_top_of_its_path(town):
    assert [article.code for article in town.articles] == ["Lamp Code", "Lamp Code", "Well Code"]


def test_heading_knows_title_depth_and_parent():
    heading = Heading(("Lamp Code", "Book I", "Title 2"))
    assert (heading.title, heading.depth, heading.parent) == ("Title 2", 3, Heading(("Lamp Code", "Book I")))
    assert Heading(("Lamp Code",)).parent is None


def test_headings_come_once_parents_first():
    articles = [
        Article("1", "1", "x", ("A", "Title", "S"), 1),
        Article("2", "2", "x", ("A", "Title"), 2),
        Article("3", "3", "x", ("B", "Title"), 1),
    ]
    assert [heading.path for heading in headings_of(articles)] == [
        ("A",), ("A", "Title"), ("A", "Title", "S"), ("B",), ("B", "Title"),
    ]  # fmt: skip


def test_rows_and_splits(town):
    assert town.article_rows == {"L1": 0, "L2": 1, "W1": 2}
    assert [question.question_id for question in town.split("test")] == ["q2"]
    assert town.split("dev") == ()
    assert town.label_rows(town.questions) == [[1], [0, 2]]


def test_equal_content_has_an_equal_hash_whatever_name_and_metadata(town):
    assert replace(town, name="other", source="elsewhere").content_hash == town.content_hash
    same = tuple(replace(article, metadata={"note": "kept"}) for article in town.articles)
    assert replace(town, articles=same).content_hash == town.content_hash


def test_any_change_of_content_changes_the_hash(town):
    first, *others = town.articles
    changed = [
        replace(town, articles=(replace(first, text="Lamps burn from dawn."), *others)),
        replace(town, articles=(replace(first, path=("Lamp Code",)), *others)),
        replace(town, articles=(replace(first, order=9), *others)),
        replace(town, questions=(replace(town.questions[0], split="dev"), town.questions[1])),
        replace(town, questions=town.questions[:1]),
    ]
    hashes = {corpus.content_hash for corpus in (town, *changed)}
    assert len(hashes) == 6
    assert all(len(content_hash) == 64 for content_hash in hashes)
