from dataclasses import replace

import pytest

from statgraph.law import CitingText, Question


def test_equal_content_has_an_equal_hash_whatever_name_and_metadata(town):
    assert replace(town, name="other", source="elsewhere").content_hash == town.content_hash
    # Their titles hold the numbers.
    same = tuple(replace(article, metadata={"note": "kept"}, number=article.title[:6]) for article in town.articles)
    assert replace(town, articles=same).content_hash == town.content_hash


def test_any_change_of_content_changes_the_hash(town):
    first, *others = town.articles
    text = CitingText("c1", "Lamps", "Pay for lamps.", ("L2",))
    changes = ({"text": "Pay for every lamp."}, {"article_ids": ("L1",)}, {"question_id": "q1"}, {"part": "section"})
    changed = [
        replace(town, articles=(replace(first, text="Lamps burn from dawn."), *others)),
        replace(town, articles=(replace(first, path=("Lamp Code",)), *others)),
        replace(town, articles=(replace(first, order=9), *others)),
        replace(town, articles=(replace(first, rubric="Dusk"), *others)),
        replace(town, articles=(replace(first, number="Art. 9"), *others)),
        replace(town, questions=(replace(town.questions[0], split="dev"), town.questions[1])),
        replace(town, questions=town.questions[:1]),
        replace(town, questions=tuple(replace(question, metadata={"set": "titles"}) for question in town.questions)),
        *(replace(town, citing=(one,)) for one in (text, *(replace(text, **change) for change in changes))),
    ]
    hashes = {corpus.content_hash for corpus in (town, *changed)}
    assert len(hashes) == 1 + len(changed)
    assert all(len(content_hash) == 64 for content_hash in hashes)


def test_the_hash_of_a_corpus_without_citing_texts_and_other_sets_is_that_of_its_articles_and_questions(town):
    # Published tables and finished runs name their corpora by it.
    assert town.content_hash == "2f516a0e80d120240141ff75ded0ecf4a424636787009944e966546786969462"
    main = tuple(replace(question, metadata={"set": "questions"}) for question in town.questions)
    assert replace(town, questions=main).content_hash == town.content_hash


def test_a_split_is_of_the_main_set_unless_another_is_named(town):
    titles = (
        Question("t1", "Lamps", "train", ("L1",), {"set": "titles"}),
        Question("t2", "Wells", "test", ("W1",), {"set": " titles "}),
        Question("q3", "Are wells open?", "train", ("W1",), {"set": ""}),
    )
    corpus = replace(town, questions=(*titles[:2], *town.questions, titles[2]))
    assert corpus.question_sets == ("questions", "titles")
    assert [question.question_id for question in corpus.split("train")] == ["q1", "q3"]
    assert [question.question_id for question in corpus.split("train", "titles")] == ["t1"]
    assert [question.question_id for question in corpus.split("test", "titles")] == ["t2"]


LONG = "The person who breaks a lamp in the street pays for it."


def citing_town(town, *texts):
    """The town with a question in each split and these citing texts, c1, c2...: (title, text, question id)."""
    dev = Question("q0", "Who owns the wells?", "dev", ("W1",))
    citing = (CitingText(f"c{n}", title, text, ("L1",), of) for n, (title, text, of) in enumerate(texts, start=1))
    return replace(town, questions=(*town.questions, dev), citing=tuple(citing))


def usable(corpus):
    return [text.citing_id for text in corpus.usable_citing()]


def test_only_texts_of_training_questions_or_of_none_are_usable(town):
    corpus = citing_town(town, ("A", "a", "q1"), ("B", "b", "q0"), ("C", "c", "q2"), ("D", "d", ""), ("E", "e", "gone"))
    assert usable(corpus) == ["c1", "c4"]


def test_with_every_question_in_train_every_text_is_usable(town):
    corpus = citing_town(town, ("A", "a", "q1"), ("B", "b", "q0"), ("C", "c", "q2"), ("D", "d", ""))
    whole = corpus.all_in_train()
    assert [question.question_id for question in whole.split("train")] == ["q1", "q2", "q0"]
    assert usable(whole) == ["c1", "c2", "c3", "c4"]
    assert whole.content_hash != corpus.content_hash


def test_test_questions_and_their_texts_can_be_left_out_of_train(town):
    corpus = citing_town(town, ("A", "a", "q1"), ("B", "b", "q0"), ("C", "c", "q2"), ("D", "d", ""))
    splits = {question.question_id: question.split for question in corpus.questions}
    assert sorted(splits.values()) == ["dev", "test", "train"]
    kept = corpus.all_in_train(exclude_test=True)
    held_out = [question_id for question_id, split in splits.items() if split == "test"]
    assert [question.question_id for question in kept.split("test")] == held_out
    assert (len(kept.split("train")), kept.split("dev")) == (2, ())
    texts_of = {"q1": "c1", "q0": "c2", "q2": "c3"}
    assert usable(kept) == [text for text in ("c1", "c2", "c3", "c4") if text != texts_of[held_out[0]]]
    assert kept.all_in_train(exclude_test=True) == kept
    assert len({kept.content_hash, corpus.content_hash, corpus.all_in_train().content_hash}) == 3


@pytest.mark.parametrize(
    "copy",
    [
        ("Guide", LONG.upper(), "q1"),  # a long passage of the test question's document, by itself
        ("GUIDE", "Lamps", ""),  # a short one, with its title
        ("When are lamps and wells seen to?", "Soon.", "q1"),  # the test question itself, as title
        ("FAQ", "When are lamps and wells seen to", ""),  # or as text
        ("When are lamps", "and wells seen to?", ""),  # or as both
    ],
)
def test_a_copy_of_an_unseen_text_is_not_usable_whatever_it_belongs_to(town, copy):
    held = (("Guide", LONG, "q2"), ("Guide", "Lamps", "q2"))
    assert usable(citing_town(town, *held, ("Guide", "Wells", "q1"), copy)) == ["c3"]


def test_a_short_title_of_another_document_is_no_copy(town):
    assert usable(citing_town(town, ("Lamp guide", "Costs", "q2"), ("Well guide", "Costs", "q1"))) == ["c2"]
