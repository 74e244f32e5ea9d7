import json

import pytest

from statgraph.law.store import read_corpus, write_corpus
from tests.chat_fixtures import said


def test_headings_of_the_sample(ran, tmp_path):
    done = ran("augment", "--out", "q.jsonl")
    first, *lines = done.splitlines()
    assert first.startswith("Generated questions about valmere in ")
    assert first.endswith(" s: q.jsonl")
    assert lines == ["  generator  headings, seed 0", "  questions  172", "  articles   321 of 321"]
    assert [path.name for path in tmp_path.iterdir()] == ["q.jsonl"]


def test_a_round_trip_over_a_run(ran, town, bm25_run):
    # Of each of two books two articles are drawn. BM25 ranks equal scores by row: a book's best is its first.
    options = ("--corpus", town, "--articles-per-heading", 2, "--seed", 3, "--round-trip", 1, "--run", bm25_run)
    done = ran("augment", *options, "--out", "kept.jsonl")
    assert done.splitlines()[1:] == [
        "  generator  headings, seed 3", "  questions  2 of 4", "  articles   2 of 16",
    ]  # fmt: skip


def test_a_file_trains_a_run(run_here, ran, town, tmp_path):
    run_here("augment", "--corpus", town, "--out", "q.jsonl")
    done = ran("train", "--system", "doct5query", "--corpus", town, "--out", "run", "--set", "augment.file=q.jsonl")
    assert done.splitlines()[0] == "Trained doct5query on town, seed 0"
    lines = [(tmp_path / name).read_text().splitlines()[1:] for name in ("q.jsonl", "run/synthetic.jsonl")]
    assert lines[0] == lines[1] != []


def test_an_interrupted_generation_says_how_to_go_on(run_here, monkeypatch, town, tmp_path):
    def interrupted(*arguments, **options):
        (tmp_path / "q.jsonl.partial").write_text("begun")
        raise KeyboardInterrupt

    monkeypatch.setattr("statgraph.augmentation.synthetic.write_generated", interrupted)
    code, stdout, stderr = run_here("augment", "--corpus", town, "--out", "q.jsonl")
    assert (code, stdout) == (130, "")
    assert [line for line in stderr.splitlines() if line] == ["To resume, run the same command again", "Interrupted"]


@pytest.fixture
def small_bert(save_tiny_as, tmp_path_factory):
    """Return a folder with a random BERT, 32 wide, whose tokenizer has no mask token."""
    return save_tiny_as(tmp_path_factory.mktemp("small_bert") / "tiny")


@pytest.fixture
def pretraining(town, small_bert):
    return (
        "--corpus", town, "--backbone", small_bert, "--out", "adapted", "--device", "cpu",
        "--steps", 3, "--batch-size", 2, "--set", "pretrain.max_tokens=16",
    )  # fmt: skip


def test_from_a_backbone_to_one_that_trains(run_here, ran, pretraining, tmp_path, town, small_bert):
    done = ran("pretrain", *pretraining, "--seed", 4)
    about = json.loads((tmp_path / "adapted" / "manifest.json").read_text())
    assert done.splitlines() == [
        f"Pre-trained {small_bert} on town, 3 steps of 2 x 16 tokens, seed 4",
        f"  loss  {about['first_loss']:.3f} at the start, {about['last_loss']:.3f} at the end",
        "  the tokenizer has no mask token; used '<unk>' instead",
        "Backbone folder: adapted",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["adapted"]

    again = run_here("pretrain", *pretraining, "--resume")
    assert again == (
        0, "adapted is already finished; train with: statgraph train --set encoder.backbone=adapted\n", "",
    )  # fmt: skip
    settings = ("backbone=adapted", "train=none", "chunk_tokens=16", "max_tokens=16", "article_heads=2")
    named = [word for setting in settings for word in ("--set", f"encoder.{setting}")]
    ran("train", "--system", "dpr", "--corpus", town, "--device", "cpu", *named)


@pytest.fixture
def written_town(town_corpus, tmp_path):
    write_corpus(town_corpus, tmp_path / "town")
    return tmp_path / "town"


def test_the_command_says_its_cost_and_what_became_of_it(endpoint, run_here, written_town, tmp_path, monkeypatch):
    monkeypatch.setenv("STATGRAPH_CHAT_KEY", "secret-key")
    questions = json.dumps({"short": "Who taxes my fences?", "long": "My fence was taxed. By whom?"})
    url, sent = endpoint(body=said(questions, total_tokens=50))
    out = tmp_path / "q.jsonl"
    given = ("augment", "--corpus", written_town, "--generator", "chat", "--url", url, "--model", "m", "--out", out)
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


def test_the_questions_become_training_questions_of_a_corpus(endpoint, run_here, written_town, town_corpus, tmp_path):
    test_question = town_corpus.split("test")[0].text  # one that is there already is left out
    url, _ = endpoint(body=said(json.dumps({"short": test_question.upper(), "long": "My fence was taxed."})))
    given = ("augment", "--corpus", written_town, "--generator", "chat", "--url", url, "--out", tmp_path / "q.jsonl")
    done = run_here(*given, "--limit", 2, "--round-trip", 0, "--corpus-out", tmp_path / "more")
    assert done.stdout.splitlines()[-1] == f"Corpus town with 1 more training question: {tmp_path / 'more'}"
    written = read_corpus(tmp_path / "more")
    assert written.questions[:-1] == town_corpus.questions
    added = written.questions[-1]
    assert (added.question_id, added.text, added.split) == ("chat-1", "My fence was taxed.", "train")
    assert set(added.article_ids) == {article.article_id for article in town_corpus.articles[:2]}
