"""Questions by a chat endpoint, here a server of a few lines that quotes the article it is sent."""

import json

import numpy as np
import pytest

from statgraph.artifacts import partial_beside
from statgraph.augmentation.store import synthetic_of
from statgraph.chat import ChatEndpoint
from statgraph.contrib.chat_questions import ChatOptions, write_chat_questions
from statgraph.errors import ChatError, CorpusError
from tests.chat_fixtures import said

ALL = ChatOptions(round_trip=0)


@pytest.fixture(autouse=True)
def by_words(monkeypatch, tmp_path):
    """The untrained ensemble without its transformer, in a cache of its own."""
    monkeypatch.setenv("STATGRAPH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("statgraph.systems.pipeline.EMBEDDED_MOST", 0)


@pytest.fixture
def waits(monkeypatch):
    slept = []
    monkeypatch.setattr("statgraph.contrib.chat_questions.time.sleep", slept.append)
    return slept


def quoting(asked, tokens=100):
    """Return an answer that asks about the last line of the article."""
    line = asked["messages"][-1]["content"].splitlines()[-1]
    questions = {"short": f"What of {line}?", "long": f"Dear all,\n\nmy neighbour spoke of {line}."}
    return 200, said(f"<think>{{}}</think>\n```json\n{json.dumps(questions)}\n```", total_tokens=tokens), {}


def test_each_article_gets_a_short_question_and_a_letter_that_find_it(endpoint, town_corpus, tmp_path):
    url, sent = endpoint(answer=quoting)
    out, said_first = tmp_path / "questions.jsonl", []
    options = ChatOptions(round_trip=5)
    written = write_chat_questions(town_corpus, out, ChatEndpoint(url, "m"), options, announce=said_first.append)
    assert said_first[0].startswith(f"16 calls to {url}, about ")
    assert said_first[0].endswith(" tokens; stops at 1,000,000 (--max-tokens)")
    assert (written.answers, written.tokens, written.made, written.kept) == (16, 1600, 32, 32)
    questions = synthetic_of(out, town_corpus)
    assert {question.generator for question in questions} == {"chat:m"}
    assert {article_id for question in questions for article_id in question.article_ids} == {
        article.article_id for article in town_corpus.articles
    }
    assert any(question.text.startswith("Dear all, my neighbour spoke of ") for question in questions)
    train = [question.text for question in town_corpus.split("train")]
    examples = [line[2:] for line in sent[0][1]["messages"][-1]["content"].splitlines() if line.startswith("- ")]
    assert len(examples) == 4
    assert set(examples) <= set(train)
    assert not partial_beside(out).exists()
    with pytest.raises(CorpusError, match="already exists"):
        write_chat_questions(town_corpus, out, ChatEndpoint(url, "m"))


def test_a_question_that_does_not_find_its_article_is_dropped(endpoint, town_corpus, tmp_path):
    other = json.dumps({"short": "Where do unicorns graze?", "long": "Dear unicorns, goodbye."})
    url, _ = endpoint(body=said(other))
    written = write_chat_questions(town_corpus, tmp_path / "q.jsonl", ChatEndpoint(url), ChatOptions(round_trip=1))
    assert (written.made, written.kept) == (2, 0)  # the same two for all articles


@pytest.mark.parametrize(
    ("content", "counted"),
    [
        ("{}", (0, 1)),
        ("I cannot help.", (1, 0)),
        ('{"short": "Who?"}', (1, 0)),
        ('{"short": "Who?", "long": " "}', (1, 0)),
        ('["short"]', (1, 0)),
        (None, (1, 0)),
    ],
)
def test_what_is_declined_or_malformed_is_counted_and_skipped(endpoint, town_corpus, tmp_path, content, counted):
    bodies = iter([said(content)])
    url, _ = endpoint(answer=lambda asked: (200, body, {}) if (body := next(bodies, None)) else quoting(asked))
    written = write_chat_questions(town_corpus, tmp_path / "q.jsonl", ChatEndpoint(url), ALL)
    assert (written.malformed, written.declined) == counted
    assert written.made == 30


def test_a_model_that_never_answers_as_asked_is_left_after_16_answers(endpoint, town_corpus, tmp_path):
    url, _ = endpoint(body=said("Hello!"))
    with pytest.raises(ChatError, match="none of 16 answers was the JSON"):
        write_chat_questions(town_corpus, tmp_path / "q.jsonl", ChatEndpoint(url), ALL)


def test_what_was_interrupted_goes_on_where_it_was_with_what_it_has_cost(endpoint, town_corpus, tmp_path, waits):
    answered = []

    def failing(asked):
        answered.append(asked)
        return quoting(asked) if len(answered) <= 8 else (401, {}, {})

    url, _ = endpoint(answer=failing)
    out = tmp_path / "q.jsonl"
    with pytest.raises(ChatError, match=r"refuses the key \(status 401\); put one into OPENAI_API_KEY"):
        write_chat_questions(town_corpus, out, ChatEndpoint(url), ALL)
    assert not out.exists()
    again, sent = endpoint(answer=quoting)
    announced = []
    written = write_chat_questions(town_corpus, out, ChatEndpoint(again), ALL, announce=announced.append)
    assert (len(sent), written.answers, written.tokens, written.made) == (8, 16, 1600, 32)
    assert announced[0].startswith(f"8 calls to {again}, ")
    assert announced[0].endswith("; 8 answers are there, of 800 tokens")


def test_the_cap_ends_it_with_what_there_is(endpoint, town_corpus, tmp_path):
    url, sent = endpoint(answer=lambda asked: quoting(asked, 900))
    out = tmp_path / "q.jsonl"
    capped = ChatOptions(round_trip=0, max_tokens=7200)  # 8 calls are expected to take some 5,500
    written = write_chat_questions(town_corpus, out, ChatEndpoint(url), capped)
    assert (len(sent), written.is_capped, written.made) == (8, True, 16)
    assert partial_beside(out).exists()
    out.unlink()
    assert write_chat_questions(town_corpus, out, ChatEndpoint(url), ALL).made == 32
    assert len(sent) == 16


def test_a_busy_endpoint_is_asked_again_a_few_times(endpoint, town_corpus, tmp_path, waits):
    busy = iter([(429, {}, {"Retry-After": "7"}), (503, {}, {}), (429, {}, {"Retry-After": "3600"})])
    url, _ = endpoint(answer=lambda asked: next(busy, None) or quoting(asked))
    one = ChatOptions(round_trip=0, limit=1)
    assert write_chat_questions(town_corpus, tmp_path / "q.jsonl", ChatEndpoint(url), one).made == 2
    assert waits == [7, 2, 60]
    always, sent = endpoint(status=429)
    with pytest.raises(ChatError, match=r"did not answer in 6 attempts \(status 429\)"):
        write_chat_questions(town_corpus, tmp_path / "other.jsonl", ChatEndpoint(always), one)
    assert (len(sent), waits[3:]) == (6, [1, 2, 4, 8, 16])


def test_an_endpoint_that_is_away_is_told_at_once(town_corpus, tmp_path, waits):
    with pytest.raises(ChatError, match=r"cannot be reached \(.*Connection refused\)"):
        write_chat_questions(town_corpus, tmp_path / "q.jsonl", ChatEndpoint("http://127.0.0.1:9/v1"), ALL)
    assert waits == []


def test_a_seed_decides_examples_and_order(endpoint, town_corpus, tmp_path):
    first = []
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        url, sent = endpoint(answer=quoting)
        write_chat_questions(town_corpus, tmp_path / name, ChatEndpoint(url), ChatOptions(round_trip=0, seed=seed))
        first.append(sorted(asked["messages"][-1]["content"] for _, asked, _ in sent[:8]))
    assert first[0] == first[1] != first[2]
    assert np.unique(first[0]).size == 8
