from html.parser import HTMLParser

from statgraph.service.reference_page import reference_page


class _Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.links, self.ids = set(), [], []

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        attributes = dict(attributes)
        self.links += [attributes[name] for name in ("href", "src") if name in attributes]
        self.ids += [attributes["id"]] if "id" in attributes else []
        assert "style" not in attributes


def test_the_page_holds_every_address_and_asks_no_other_host(client):
    answer = client.get("/docs")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    page = _Links()
    page.feed(answer.text)
    for address, operations in client.get("/openapi.json").json()["paths"].items():
        for method in operations:
            assert f"<code>{method.upper()} {address}</code>" in answer.text
    assert not page.tags & {"script", "style", "img", "iframe"}
    assert {link.lstrip("#") for link in page.links if link.startswith("#")} <= set(page.ids)
    assert all(link.startswith(("#", "/")) for link in page.links)
    assert client.get("/docs/style.css").headers["content-type"] == "text/css; charset=utf-8"


def test_a_search_is_shown_as_a_command(client):
    body = "{&quot;question&quot;: &quot;Who gets the deposit back?&quot;}"
    assert f"-d '{body}'</pre>" in client.get("/docs").text


def test_what_a_document_says_is_escaped():
    document = {
        "info": {"title": "<b>", "version": "1"},
        "paths": {},
        "components": {"schemas": {"M": {"description": "<i>", "properties": {"f<": {"type": "string"}}}}},
    }
    page = reference_page(document, style="/s.css")
    assert "<b>" not in page
    assert "<i>" not in page
    assert "<code>f&lt;</code>" in page
