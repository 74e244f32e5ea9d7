from statgraph.corpus import Article, CitingText
from statgraph.corpus.citations.citing import cited_articles

LAMP = Article("L1", "Art. 1, Lamp Code", "Lamps burn.", ("Lamp Code",), 1)
LAMP2 = Article("L2", "Art. 2, Lamp Code", "Who breaks a lamp pays.", ("Lamp Code",), 2)
WELL = Article("W1", "Art. 1, Well Code", "Wells are covered.", ("Well Code",), 1)


def cited(title, text, *articles):
    (found,) = cited_articles([CitingText("c", title, text, ())], articles or (LAMP, LAMP2, WELL))
    return found


def test_numbers_with_their_code_are_found_in_title_and_text():
    assert cited("Article 2 of the Lamp Code", "See article 1 of the Well Code.") == ("L2", "W1")


def test_a_number_alone_is_of_the_code_that_the_title_names():
    assert cited("The well code in short", "Article 1 says that wells are covered.") == ("W1",)
    assert cited("A guide", "Article 1 says that wells are covered.") == ()


def test_a_number_alone_is_of_the_only_code():
    assert cited("A guide", "Articles 1 and 2.", LAMP, LAMP2) == ("L1", "L2")


def test_no_texts_need_no_search():
    assert cited_articles([], ()) == []
