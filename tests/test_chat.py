import pytest

from statgraph.chat import Answer, ChatEndpoint
from statgraph.errors import ChatError, UsageError
from tests.chat_fixtures import said


def test_an_answer_comes_with_its_tokens_where_they_are_counted(endpoint):
    url, sent = endpoint(body=said(" Yes.\n", total_tokens=12))
    assert ChatEndpoint(url, "llama").answer("Be brief.", "May I?", temperature=0) == Answer("Yes.", 12)
    ((path, asked, key),) = sent
    assert (path, key) == ("/v1/chat/completions", None)
    assert asked == {
        "model": "llama",
        "temperature": 0,
        "stream": False,
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "May I?"}],
    }
    assert ChatEndpoint(endpoint(body=said("Yes."))[0]).answer("", "").tokens is None


def test_a_failure_says_its_status_and_how_long_to_wait(endpoint):
    busy = {"status": 429, "Retry-After": "7"}
    for answer, status, wait in ((busy, 429, 7), ({"status": 500}, 500, None), ({"body": {}}, 200, None)):
        with pytest.raises(ChatError) as failed:
            ChatEndpoint(endpoint(**answer)[0]).answer("", "")
        assert (failed.value.status, failed.value.retry_after_s) == (status, wait)
    with pytest.raises(ChatError, match="Connection refused") as failed:
        ChatEndpoint("http://127.0.0.1:9/v1").answer("", "")
    assert failed.value.status is None


def test_a_url_with_a_password_is_refused_without_it():
    with pytest.raises(UsageError, match="put a key into OPENAI_API_KEY") as refused:
        ChatEndpoint("http://me:secret@host/v1")
    assert "secret" not in str(refused.value)
