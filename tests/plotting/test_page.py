import re

from statgraph.plotting.bars import lying_bars
from statgraph.plotting.drawing import Drawing
from statgraph.plotting.page import html_page


def test_a_page_holds_the_picture_the_words_and_the_numbers():
    figure, hovers = lying_bars(["a"], [1200], x_name="x")
    drawing = Drawing("codes", "Codes & co", "One <bar>.", figure, ("code", "articles"), (("a <b>", 1200),), hovers)
    page = html_page([drawing], "Corpus <x>")
    assert "<h1>Corpus &lt;x&gt;</h1>" in page
    assert "<h2>Codes &amp; co</h2>\n<p>One &lt;bar&gt;.</p>" in page
    assert '<tr><td>a &lt;b&gt;</td><td class="number">1,200</td></tr>' in page
    assert page.count("<svg ") == 1
    assert "prefers-color-scheme: dark" in page
    assert re.findall(r'(?:src|href)="(?!#)[^"]*"|https?:|url\((?!#)', page) == []
