import pytest

from statgraph.corpus.records import Question
from statgraph.ranking.long_questions import is_long
from tools.letters import in_letters, letter


@pytest.mark.parametrize("language", ["en", "fr"])
def test_a_letter_holds_the_question_among_other_sentences(language):
    text = letter("Who keeps the dog?", language)
    assert text == letter("Who keeps the dog?", language)
    assert " Who keeps the dog? " in text
    assert 120 < len(text.split()) < 220
    assert is_long(text)


def test_the_questions_of_a_corpus_stand_in_letters(town_corpus):
    first, *_ = in_letters(town_corpus).questions
    assert isinstance(first, Question)
    assert town_corpus.questions[0].text in first.text
    assert first.article_ids == town_corpus.questions[0].article_ids
