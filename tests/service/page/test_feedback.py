"""A reader's marks reach the service."""

import json

WHAT_IS_STORED = "Your mark is stored together with your question"
QUESTION = "May the landlord keep my deposit?"


def test_marks_are_stored_and_stay_pressed(open_page, service, feedback_file, expect):
    page = open_page(f"/?q={QUESTION}")
    marks = page.locator(".feedback")
    expect(marks.first.get_by_role("button", name="Answers it")).to_have_attribute("title", WHAT_IS_STORED)
    marks.first.get_by_role("button", name="Answers it").click()
    expect(marks.first).to_contain_text("noted with your question")
    marks.nth(1).get_by_role("button", name="Does not").click()
    expect(marks.nth(1).get_by_role("button", name="Does not")).to_have_attribute("aria-pressed", "true")
    expect(marks.nth(1).get_by_role("button", name="Does not")).to_be_focused()
    lines = [json.loads(line) for line in feedback_file.read_text(encoding="utf-8").splitlines()]
    stored = [(line["question"], line["article_id"], line["right"]) for line in lines if line["question"] == QUESTION]
    first, second, *_ = service.search(QUESTION)
    assert stored == [(QUESTION, first["article_id"], True), (QUESTION, second["article_id"], False)]
    # Shown again, by going to the codes and back.
    page.locator("#brand").click()
    page.go_back()
    expect(marks.first.get_by_role("button", name="Answers it")).to_have_attribute("aria-pressed", "true")


def test_a_mark_is_taken_back_by_a_second_click(open_page, feedback_file, expect):
    page = open_page(f"/?q={QUESTION}")
    marks = page.locator(".feedback").nth(2)
    button = marks.get_by_role("button", name="Answers it")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    button.click()
    expect(marks).to_contain_text("Taken back.")
    expect(button).to_have_attribute("aria-pressed", "false")
    last = json.loads(feedback_file.read_text(encoding="utf-8").splitlines()[-1])
    assert (last["question"], last["right"]) == (QUESTION, None)


def test_a_mark_that_is_refused_is_told(open_page, answers, expect):
    full = answers(503, title="Service Unavailable", detail="the feedback file is full")
    page = open_page(f"/?q={QUESTION}", before=lambda page: page.route("**/api/feedback", full))
    page.locator(".feedback").first.get_by_role("button", name="Answers it").click()
    expect(page.locator(".feedback").first).to_contain_text("Service Unavailable: the feedback file is full")
    expect(page.locator(".feedback [aria-pressed=true]")).to_have_count(0)
