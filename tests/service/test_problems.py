import json

from statgraph.service.problems import problem_response


def test_a_problem_is_what_rfc_9457_says():
    answer = problem_response(503, "come back", headers={"Retry-After": "1"})
    assert (answer.status_code, answer.headers["content-type"]) == (503, "application/problem+json")
    assert answer.headers["retry-after"] == "1"
    assert json.loads(answer.body) == {
        "type": "about:blank",
        "title": "Service Unavailable",
        "status": 503,
        "detail": "come back",
    }


def test_fields_that_do_not_fit_are_listed():
    errors = [{"place": "body.k", "detail": "too large"}]
    assert json.loads(problem_response(422, "no", errors=errors).body)["errors"] == errors


def test_half_a_character_can_be_told():
    assert json.loads(problem_response(422, "code '\ud800'").body)["detail"] == "code '\ud800'"
