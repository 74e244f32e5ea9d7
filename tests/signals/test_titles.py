from statgraph.config import RunConfig
from statgraph.corpus.records import Article
from statgraph.registry import SIGNALS
from statgraph.signals.signal import SignalSource
from statgraph.signals.titles import TitlesSignal


def test_a_title_is_searched_without_its_text():
    article = Article("a", "Art. 1 Deposit", "Keys.", ("Code",), 0)
    assert TitlesSignal.texts(SignalSource([article], "en", RunConfig())) == ["Art. 1 Deposit"]
    assert SIGNALS.load("titles") is TitlesSignal
