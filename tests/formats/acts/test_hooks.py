from statgraph.formats.acts.hooks import last_day
from statgraph.formats.acts.reader import ActArticle


def test_a_last_day_in_force_becomes_the_day_after():
    article = ActArticle("§ 1", "", "Kites fly.", (), "1", valid_to="2019-12-31")
    assert last_day(article, None).valid_to == "2020-01-01"
    assert last_day(ActArticle("§ 1", "", "Kites fly.", (), "1"), None).valid_to == ""
