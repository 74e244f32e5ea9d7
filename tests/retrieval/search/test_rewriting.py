"""Questions rewritten by a chat endpoint, here a server of a few lines, and the fusion of what they find."""

import socket

import pytest

from statgraph.errors import RewritingError, UsageError
from statgraph.law.query import Query
from statgraph.retrieval.search.hits import Hit
from statgraph.retrieval.search.rewriting import Rewriter, fused
from tests.chat_fixtures import said


def test_a_question_comes_back_in_the_laws_words(endpoint, monkeypatch):
    url, sent = endpoint(body=said(" Restitution of the\nsecurity deposit? "))
    assert Rewriter(f"{url}/").rewrite("Who gets the deposit back?") == "Restitution of the security deposit?"
    ((path, asked, key),) = sent
    assert (path, key, "model" in asked) == ("/v1/chat/completions", None, False)
    assert asked["messages"][-1] == {"role": "user", "content": "Who gets the deposit back?"}
    monkeypatch.setenv("OPENAI_API_KEY", "general")
    Rewriter(url, "llama").rewrite("Who?")
    monkeypatch.setenv("STATGRAPH_REWRITE_KEY", "own")
    Rewriter(url, "llama").rewrite("Who?")
    assert [(asked["model"], key) for _, asked, key in sent[1:]] == [
        ("llama", "Bearer general"),
        ("llama", "Bearer own"),
    ]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"status": 401, "body": {"error": "secret-key is wrong"}}, "status 401"),
        ({"body": b"<html>"}, "not the answer of a chat endpoint"),
        ({"body": {"choices": []}}, "not the answer of a chat endpoint"),
        ({"body": said(None)}, "not the answer of a chat endpoint"),
        ({"body": said(" \n")}, "a blank answer"),
    ],
)
def test_what_cannot_be_used_is_told_in_one_line_without_the_key(endpoint, monkeypatch, answer, reason):
    monkeypatch.setenv("STATGRAPH_REWRITE_KEY", "secret-key")
    url, _ = endpoint(**answer)
    with pytest.raises(RewritingError) as failed:
        Rewriter(url).rewrite("Who?")
    assert str(failed.value).startswith(f"{url}: the question was not rewritten ({reason}")
    assert "secret-key" not in str(failed.value)


def test_half_a_character_of_an_answer_is_replaced(endpoint):
    url, _ = endpoint(body=said("Who pays \ud83d?"))
    assert Query(Rewriter(url).rewrite("Who?")).text == "Who pays ??"


def test_the_key_does_not_follow_a_redirect(endpoint, monkeypatch):
    monkeypatch.setenv("STATGRAPH_REWRITE_KEY", "secret")
    elsewhere, sent = endpoint(body=said("taken"))
    url, _ = endpoint(status=307, Location=f"{elsewhere}/chat/completions")
    with pytest.raises(RewritingError, match="status 307"):
        Rewriter(url).rewrite("Who?")
    assert sent == []


def test_an_endpoint_that_is_away_or_too_slow_is_told():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        with pytest.raises(RewritingError, match="timed out"):
            Rewriter(url, timeout_s=0.05).rewrite("Who?")
    with pytest.raises(RewritingError, match="Connection refused"):
        Rewriter(url).rewrite("Who?")


@pytest.mark.parametrize(
    "url",
    [
        "127.0.0.1:8080",
        "ftp://host/v1",
        "http:///v1",
        "http://[::1/v1",
        "http://me:secret@host/v1",
        "http://host/v1?key=secret",
    ],
)
def test_what_is_no_url_is_refused(url):
    with pytest.raises(UsageError, match=r"^rewrite") as refused:
        Rewriter(url)
    assert "secret" not in str(refused.value)


def ranking(*article_ids):
    return [Hit(rank, 0.5, article_id, "", (), "") for rank, article_id in enumerate(article_ids, start=1)]


def test_ranks_are_fused():
    found = fused([ranking("A", "B", "C"), ranking("C", "D")], 3)
    # 1/63 + 1/61, 1/61, 1/62 twice: the first ranking's B before the second's D.
    assert [(hit.rank, hit.article_id) for hit in found] == [(1, "C"), (2, "A"), (3, "B")]
    assert [hit.score for hit in found] == pytest.approx([0.0322664, 0.0163934, 0.0161290], abs=1e-7)
    assert fused([ranking(), ranking()], 3) == []
