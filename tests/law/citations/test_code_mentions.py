"""Codes that a question mentions: by title, by a shorter form, and what is another text's name."""

import pytest

from statgraph.law.citations.code_mentions import CodeMentions

FRENCH = ("Code du travail", "Code rural et de la pêche maritime", "Code de la sécurité sociale")
OTHERS = (
    "Housing Code",
    "Dog Act 2006",
    "Bürgerliches Gesetzbuch (BGB)",
    "Hundegesetz",
    "中华人民共和国民法典",
    "劳动法",
)
LABOUR, RURAL, SOCIAL = FRENCH


def mentioned(question):
    return [code for mention in CodeMentions((*FRENCH, *OTHERS)).find(question) for code in mention.codes]


@pytest.mark.parametrize(
    ("question", "codes"),
    [
        ("le code du travail prévoit quoi ?", [LABOUR]),
        ("CODE TRAVAIL", [LABOUR]),
        ("L. 1 C. trav. et L. 2 CSS", [LABOUR, SOCIAL]),
        ("code rural", [RURAL]),
        ("code de la securite sociale", [SOCIAL]),
        ("code de la sécurité intérieure", []),
        ("un code", []),
        ("css", []),
        ("does the housing code say so?", ["Housing Code"]),
        ("the Dog Act", ["Dog Act 2006"]),
        ("the Housing Code 1996", []),
        ("the Housing Code Regulations", []),
        ("was sagt das BGB", ["Bürgerliches Gesetzbuch (BGB)"]),
        ("nach dem Bürgerlichen Gesetzbuch", ["Bürgerliches Gesetzbuch (BGB)"]),
        ("des Hundegesetzes", ["Hundegesetz"]),
        ("根据民法典和劳动法", ["中华人民共和国民法典", "劳动法"]),
        ("", []),
    ],
)
def test_mentions(question, codes):
    assert mentioned(question) == codes


def test_a_mention_has_its_place():
    (mention,) = CodeMentions(["Housing Code"]).find("In the Housing Code, art. 5")
    assert (mention.start, mention.end) == (7, 19)


def test_codes_that_share_a_short_form_are_all_mentioned():
    (mention,) = CodeMentions(["Dog Act 1996", "Dog Act 2006"]).find("Dog Act")
    assert mention.codes == ("Dog Act 1996", "Dog Act 2006")
