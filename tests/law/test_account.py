import pytest

from statgraph.law.account import Account, words_of


def _balance(source, kept=(), left_out=()):
    account = Account()
    for number, line in enumerate(source, start=1):
        account.read(f"law.txt:{number}", line)
    account.keep(*kept)
    for rule, text in left_out:
        account.leave_out(rule, text)
    return account.balance()


def test_every_word_is_somewhere():
    balance = _balance(
        ["§ 1. Zweck.", "Es gilt.", "Seite 3"], ["§ 1", "Zweck", "Es gilt."], [("page heads", "Seite 3")]
    )
    assert (balance.words, balance.kept, balance.left_out, balance.lost) == (7, 5, {"page heads": 2}, [])


def test_a_paragraph_that_is_nowhere_is_lost():
    [lost] = _balance(["§ 1 Zweck", "Die Gebühr ist fällig."], ["§ 1", "Zweck"]).lost
    assert (lost.place, lost.words) == ("law.txt:2", 4)


def test_a_paragraph_that_stands_twice_must_be_kept_twice():
    twice = ["§ 1", "Die Gebühr ist fällig.", "§ 2", "Die Gebühr ist fällig."]
    assert not _balance(twice, twice).lost
    [lost] = _balance(twice, twice[:3]).lost
    assert lost.place == "law.txt:4" or lost.place == "law.txt:2"


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("A boat needs (a) a per-", ["A boat needs", "(a) a permit"]),
        ("**Bold** and [a link]", ["Bold and a link"]),
        ("soft\u00adhyphen", ["softhyphen"]),
        ("§ 5. Haftung.", ["Haftung", "§ 5"]),
        ("Art. 221 of 10-6 nk", ["Art. 22¹ of 10⁻⁶ n^k"]),
        ("Gebu\u0308hr", ["Gebühr"]),
    ],
)
def test_marks_and_order_do_not_matter(line, kept):
    assert not _balance([line], kept).lost


def test_short_words_nearby_do_not_stand_for_a_dropped_line():
    source = ["Der Halter haftet in der Nacht.", "In der Stadt ist das Boot bereit."]
    [lost] = _balance(source, source[:1]).lost
    assert lost.words == 7


def test_signs_are_counted_where_words_are_not_divided():
    assert _balance(["第一条 船は許可を受ける。"], ["第一条", "船は許可を受ける。"]).words == 11


def test_many_lost_lines_are_found_in_time():
    source = [f"Line {i} of the law says something else." for i in range(20_000)]
    assert len(_balance(source, source[::2]).lost) == 10_000


def test_the_summary_names_shares_and_places():
    balance = _balance(["one two three", "four", "five"], ["one two three"], [("notes", "four")])
    assert list(words_of(balance)) == [
        "60.0 % of 5 words are in articles and headings",
        "20.0 % left out: notes (first: law.txt:2)",
        "20.0 % lost: law.txt:3",
    ]
