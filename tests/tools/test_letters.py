import dataclasses
import subprocess
import sys

import pytest
from click.testing import CliRunner
from rapidfuzz.distance import OSA

from statgraph.law.records import Question
from statgraph.law.store import write_corpus
from statgraph.retrieval.ranking.long_questions import is_long
from tools.letters import TYPED, in_letters, letter, main, misspelt


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


@pytest.mark.parametrize(
    ("kind", "typed"),
    [
        ("in letters", "Dear Sir, I rent. May he?"),
        ("wrapped at 72 columns", "Dear Sir, I rent. May he?"),
        ("with commas for full stops", "Dear Sir, I rent, May he?"),
        ("in small letters, without marks", "dear sir i rent may he"),
        ("in capitals", "DEAR SIR, I RENT. MAY HE?"),
    ],
)
def test_a_letter_is_typed_as_people_do(kind, typed):
    assert TYPED[kind]("Dear Sir, I rent. May he?") == typed
    assert max(map(len, TYPED["wrapped at 72 columns"]("a word " * 50).splitlines())) <= 72


def test_one_or_two_long_words_are_misspelt():
    questions = [f"Who keeps the {word} of the tenants?" for word in ("garden", "deposit", "furniture", "money")]
    for question in questions:
        typed = misspelt(question)
        assert typed == misspelt(question)
        changed = [pair for pair in zip(question.split(), typed.split(), strict=True) if pair[0] != pair[1]]
        assert 1 <= len(changed) <= 2
        assert all(OSA.distance(*pair) == 1 for pair in changed)
    assert misspelt("May I go?") == "May I go?"


def test_a_language_without_letters_is_refused(town_corpus, tmp_path):
    write_corpus(dataclasses.replace(town_corpus, language="zh"), tmp_path / "law")
    refused = CliRunner().invoke(main, [f"run={tmp_path / 'law'}"])
    assert refused.exit_code == 2
    assert f"{tmp_path / 'law'}: in 'zh'; there are letters in en, fr" in refused.output


def test_a_wrong_folder_is_named_in_one_line(tmp_path):
    command = [sys.executable, "-m", "tools.letters", f"{tmp_path / 'none'}={tmp_path / 'none'}"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert (
        done.stderr
        == f"Error: {tmp_path / 'none'}: no such corpus folder; make one with 'statgraph import' or 'statgraph fetch'\n"
    )
