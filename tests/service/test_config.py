"""What a page calls itself, in the page that is served, and what it cannot be."""

import pytest

from statgraph.errors import UsageError
from statgraph.service.app import PAGE
from statgraph.service.config import LANGUAGES, MOST_OF_A_LOGO, PageConfig

PIXEL = b"\x89PNG\r\n\x1a\n"


def test_each_language_has_its_file():
    assert sorted(path.stem for path in (PAGE / "words").glob("*.js")) == sorted(LANGUAGES)


def test_the_page_as_it_comes(client):
    page = client.get("/").text
    assert "<title>statgraph</title>" in page
    assert '<html lang="en">' in page
    assert 'class="contact"' not in page
    assert client.get("/logo").status_code == 404


def test_the_page_with_a_name_logo_contact_and_language(make_client, tmp_path):
    logo = tmp_path / "Arms.PNG"
    logo.write_bytes(PIXEL)
    client = make_client(token="secret", page=PageConfig("R&D <law>", logo, "https://town.example/?a=1&b=2", "nl"))
    page = client.get("/").text
    assert "<title>R&amp;D &lt;law&gt;</title>" in page
    assert '<html lang="en" data-language="nl">' in page
    assert '<a href="https://town.example/?a=1&amp;b=2" rel="noreferrer">' in page
    assert 'src="logo"' in page
    logo.unlink()  # it was read at the start
    answer = client.get("/logo")  # open like the page, whatever the token
    assert (answer.status_code, answer.content) == (200, PIXEL)
    assert (answer.headers["content-type"], answer.headers["cache-control"]) == ("image/png", "no-cache")


@pytest.mark.parametrize(
    ("contact", "link"),
    [("law@town.example", "mailto:law@town.example"), ("http://town.example", "http://town.example"), ("", "")],
)
def test_where_the_contact_leads(contact, link):
    assert PageConfig(contact=contact).contact_link == link


@pytest.mark.parametrize("contact", ["the mayor", "javascript:alert(1)", "https://", "a@b", "x:law@town.example"])
def test_a_contact_that_is_no_address_is_refused(contact):
    with pytest.raises(UsageError, match=r"^contact .*: neither an e-mail address nor a web address; give"):
        PageConfig(contact=contact)


@pytest.mark.parametrize(("name", "language"), [("", None), (" ", None), ("a\nb", None), ("x" * 81, None), ("x", "pl")])
def test_a_name_or_language_that_cannot_be_is_refused(name, language):
    with pytest.raises(UsageError, match="must be"):
        PageConfig(name, language=language)


def test_a_logo_that_is_none_is_refused(tmp_path):
    text, large = tmp_path / "logo.txt", tmp_path / "logo.png"
    text.write_text("logo")
    large.write_bytes(bytes(MOST_OF_A_LOGO + 1))
    with pytest.raises(UsageError, match=r"logo\.txt: not one of \.svg, \.png"):
        PageConfig(logo=text)
    with pytest.raises(UsageError, match=r"logo\.png: 1,048,577 bytes; at most 1,048,576"):
        PageConfig(logo=large)
    with pytest.raises(UsageError, match=r"gone\.svg: No such file or directory; name an image file"):
        PageConfig(logo=tmp_path / "gone.svg")
