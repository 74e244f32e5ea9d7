import json

import pytest

from statgraph.law.store import read_corpus, write_corpus
from tests.chat_fixtures import said


@pytest.fixture
def town(town_corpus, tmp_path):
    write_corpus(town_corpus, tmp_path / "town")
    return tmp_path / "town"


def test_the_command_says_what_it_will_cost_and_what_became_of_it(endpoint, run_here, town, tmp_path, monkeypatch):
    monkeypatch.setenv("STATGRAPH_CHAT_KEY", "secret-key")
    questions = json.dumps({"short": "Who taxes my fences?", "long": "My fence was taxed. By whom?"})
    url, sent = endpoint(body=said(questions, total_tokens=50))
    out = tmp_path / "q.jsonl"
    given = ("augment", "--corpus", town, "--generator", "chat", "--url", url, "--model", "m", "--out", out)
    done = run_here(*given, "--limit", 2, "--round-trip", 0)
    assert done.returncode == 0
    assert done.stderr.startswith(f"2 calls to {url}, about ")
    assert done.stdout.splitlines()[1:] == [
        "  generator  chat:m, seed 0",
        "  answers    2, of which 0 declined, 0 malformed; 100 tokens",
        "  questions  2 of 2",
        "  articles   2 of 16",
    ]
    assert {key for _, _, key in sent} == {"Bearer secret-key"}
    assert "secret-key" not in done.stdout + done.stderr + out.read_text()


def test_the_questions_become_training_questions_of_a_corpus(endpoint, run_here, town, town_corpus, tmp_path):
    test_question = town_corpus.split("test")[0].text  # one that is there already is left out
    url, _ = endpoint(body=said(json.dumps({"short": test_question.upper(), "long": "My fence was taxed."})))
    given = ("augment", "--corpus", town, "--generator", "chat", "--url", url, "--out", tmp_path / "q.jsonl")
    done = run_here(*given, "--limit", 2, "--round-trip", 0, "--corpus-out", tmp_path / "more")
    assert done.stdout.splitlines()[-1] == f"Corpus town with 1 more training question: {tmp_path / 'more'}"
    written = read_corpus(tmp_path / "more")
    assert written.questions[:-1] == town_corpus.questions
    added = written.questions[-1]
    assert (added.question_id, added.text, added.split) == ("chat-1", "My fence was taxed.", "train")
    assert set(added.article_ids) == {article.article_id for article in town_corpus.articles[:2]}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--generator", "chat"], "--generator chat: needs an endpoint; add --url http://127.0.0.1:8080/v1"),
        (["--url", "http://127.0.0.1:9/v1"], "--url, --model and --corpus-out: only for --generator chat"),
        (["--generator", "chat", "--url", "127.0.0.1:9"], "--url 127.0.0.1:9: not a URL; write it like "
         "http://127.0.0.1:8080/v1"),
        (["--generator", "chat", "--url", "http://h/v1", "--round-trip", "0", "--run", "r"], "--run r: only used for a "
         "round trip; leave out --round-trip 0, or omit --run"),
    ],
)  # fmt: skip
def test_options_that_do_not_fit_are_refused(refused, town, tmp_path, options, message):
    assert refused("augment", "--corpus", town, "--out", tmp_path / "q.jsonl", *options, code=2) == message
