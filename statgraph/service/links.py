"""Where an answer leads, as links of the OpenAPI document: an article that was found can be read, drawn and marked."""

from __future__ import annotations

READ, DRAW = "article_api_articles__article_id__get", "graph_api_graph__article_id__get"
OPEN, MARK = "heading_api_headings__heading_id__get", "feedback_api_feedback_post"


def linked(*, article: str | None = None, heading: str | None = None, asked: bool = False) -> dict:
    """Return the part of an operation's `responses` that links its answer.

    Args:
        article: where in the answer an article's id stands, as a JSON pointer.
        heading: where a heading's id stands.
        asked: whether the request held a question, of which the article can be marked as an answer.
    """
    links = {}
    if article is not None:
        named = {"article_id": f"$response.body#{article}"}
        links |= {
            "read": {"operationId": READ, "parameters": named},
            "draw": {"operationId": DRAW, "parameters": named},
        }
        if asked:
            mark = {"question": "$request.body#/question", **named, "right": True}
            links["mark"] = {"operationId": MARK, "requestBody": mark}
    if heading is not None:
        links["open"] = {"operationId": OPEN, "parameters": {"heading_id": f"$response.body#{heading}"}}
    return {200: {"links": links}}
