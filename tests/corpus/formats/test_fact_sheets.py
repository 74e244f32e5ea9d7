import json

import pytest

from statgraph.corpus.draft import Draft
from statgraph.corpus.formats.fact_sheets import CitationResolver, cited_numbers, comparable_title, draft_fact_sheets
from statgraph.corpus.formats.legi import LegiIndex

CODE = "Code du vélo"
OTHER_CODE = "Code de l'eau"
NUMBERS = ["L1-1", "L1-1-1", "L1-2", "L1-4", "L2-1A", "L2-1", "R1-1", "D1-2", "R1-3", "ANNEXEÀL'ARTICLER1-3"]
SECTION = "LEGISCTA000000000001"
EARLIER_VERSION = "LEGIARTI000000000099"


def index_of_codes():
    """An index of two codes whose article ids are their numbers, with the code's initial in front."""
    numbers = {CODE: {number: f"V {number}" for number in NUMBERS}, OTHER_CODE: {"L1-1": "E L1-1"}}
    return LegiIndex(
        order={title: list(ids.values()) for title, ids in numbers.items()},
        numbers=numbers,
        sections={SECTION: ["V L2-1A", "V L2-1"]},
        versions={EARLIER_VERSION: "V L1-4"},
    )


def resolved(words, link=""):
    ids = CitationResolver(index_of_codes()).resolve(words, link)
    return " ".join(article_id.removeprefix("V ") for article_id in ids)


def element(name, *children, **attributes):
    return {"type": "element", "name": name, "attributes": attributes, "children": list(children)}


def text(value):
    return {"type": "text", "text": value}


def reference(words, link="https://law.example/"):
    return element("Reference", element("Titre", text(words)), element("Complement", text("L9-9")), URL=link)


def sheet(sheet_id, title, *more, sheet_type="Question-réponse"):
    parts = (
        element("dc:title", text(title)),
        element("dc:description", text("Le  résumé.")),
        element("dc:type", text(sheet_type)),
        element("Theme", element("Titre", text("Transports"))),
    )
    return {"id": sheet_id, "children": [element("Publication", *parts, *more, ID=sheet_id, type="Fiche")]}


@pytest.fixture
def read(tmp_path):
    """Return a function that reads sheets, given as {place: sheet}, into a corpus."""

    def read_sheets(sheets):
        for place, content in sheets.items():
            (tmp_path / place).parent.mkdir(exist_ok=True)
            (tmp_path / place).write_text(json.dumps(content), encoding="utf-8")
        draft = Draft(name="sheets", language="fr")
        index = index_of_codes()
        for title, order in index.order.items():
            for article_id in order:
                draft.add_article("codes", article_id=article_id, title=article_id, text="Texte.", path=(title,))
        draft_fact_sheets(draft, tmp_path, index)
        return draft.corpus()

    return read_sheets


@pytest.mark.parametrize(
    ("words", "spans"),
    [
        ("article L1234-1", [("L1234-1", "L1234-1")]),
        ("articles L1234-1 à L1234-5", [("L1234-1", "L1234-5")]),
        ("articles R4222-4 à 4222-9", [("R4222-4", "R4222-9")]),
        ("articles L1, L2 et L3", [("L1", "L1"), ("L2", "L2"), ("L3", "L3")]),
        ("articles L1 à L3 et R. 4", [("L1", "L3"), ("R4", "R4")]),
        ("articles R. *123-4 ou R**5", [("R123-4", "R123-4"), ("R5", "R5")]),
        ("article L 5121-1 et suivants", [("L5121-1", "L5121-1")]),
        ("article L161-22-1 A", [("L161-22-1A", "L161-22-1A")]),
        ("article LO111-3 (alinéa 2)", [("LO111-3", "LO111-3")]),
        ("articles 371 à 371-6", [("371", "371-6")]),
        ("les tableaux des maladies", []),
    ],
)
def test_cited_numbers(words, spans):
    assert cited_numbers(words) == spans


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("Code du vélo : article L1-2", "L1-2"),
        ("CODE DU VELO\xa0: article L. 1-2", "L1-2"),
        ("Code du vélo : articles L1-1 à L1-4", "L1-1 L1-1-1 L1-2 L1-4"),
        ("Code du vélo : articles L1-1 et L1-4", "L1-1 L1-4"),
        # One end is gone: L1-3 is not in the code, the range reaches its last article before it.
        ("Code du vélo : articles L1-1-1 à L1-3", "L1-1-1 L1-2"),
        # Both ends are gone, one article between them is left.
        ("Code du vélo : articles L1-3 à L1-9", "L1-4"),
        # L2-1 A stands before L2-1.
        ("Code du vélo : articles L2-1 A à L2-9", "L2-1A L2-1"),
        # Between two R stands a D; where the range names R alone it still comes with it.
        ("Code du vélo : articles R1-1 à R1-9", "R1-1 D1-2 R1-3"),
        # A D range does not reach for the R articles around it.
        ("Code du vélo : articles D1-1 à D1-9", "D1-2"),
    ],
)
def test_words_that_name_articles_in_force_decide(words, found):
    assert resolved(words, SECTION) == found


@pytest.mark.parametrize(
    ("words", "link", "found"),
    [
        ("Code du vélo : articles L8-1 à L7-9", f"https://law.example/codes/id/{SECTION}/", "L2-1A L2-1"),
        ("Code du vélo : article L9-9", f"https://law.example/?idArticle={EARLIER_VERSION}&x=1", "L1-4"),
        ("Code vélo : article L1-1", f"https://law.example/codes/article_lc/{EARLIER_VERSION}", "L1-4"),
        ("Code du vélo : annexe à l'article R1-3", f"https://law.example/{EARLIER_VERSION}", "L1-4"),
        ("Code du vélo : L9-9", f"https://law.example/?a={EARLIER_VERSION}&s={SECTION}&t={SECTION}", "L1-4 L2-1A L2-1"),
    ],
)
def test_the_link_decides_where_the_words_do_not(words, link, found):
    assert resolved(words, link) == found


@pytest.mark.parametrize(
    "words",
    [
        "Code civil : article 12",
        "Décret n°2015-860 du 15 juillet 2015 relatif aux selles : article L1-1",
        "Code du vélo : article L9-9",
        "Code du vélo : articles L8-1 à L7-9",
        "Code du vélo : les tableaux",
    ],
)
def test_references_without_articles(words):
    assert resolved(words, "https://law.example/codes/id/LEGISCTA000000000404") == ""


def test_a_range_beyond_fifty_articles_gives_way_to_a_narrower_link():
    ids = [f"LEGIARTI{number:012}" for number in range(1, 61)]
    index = LegiIndex(
        order={CODE: ids},
        numbers={CODE: {f"L1-{row}": article_id for row, article_id in enumerate(ids, start=1)}},
        sections={SECTION: ids[:3]},
    )
    resolver = CitationResolver(index)
    assert resolver.resolve("Code du vélo : articles L1-1 à L1-51", SECTION) == ids[:3]
    assert resolver.resolve("Code du vélo : articles L1-1 à L1-50", SECTION) == ids[:50]
    assert resolver.resolve("Code du vélo : articles L1-1 à L1-51", "") == ids[:51]


def test_titles_compare_without_case_accents_punctuation_and_spaces():
    assert comparable_title("  Un « Élève-cycliste »\xa0: quel cœur ?") == "un eleve cycliste quel coeur"


def test_a_question_has_its_sheets_title_labels_and_metadata(read):
    corpus = read(
        {
            "particuliers/F1.json": sheet(
                "F1",
                "Faut-il  un casque ?",
                reference("Code du vélo : articles L1-2 et L1-1"),
                reference("Code du vélo : article L1-1"),
                reference("Code de l'eau : article L1-1"),
                reference("Code civil : article 1"),
            )
        }
    )
    (question,) = corpus.questions
    # sha256("F1") begins with 0xde, 0.87 of the whole: beyond 0.75, so "test".
    assert (question.question_id, question.text, question.split) == ("F1", "Faut-il un casque ?", "test")
    assert question.article_ids == ("V L1-1", "V L1-2", "E L1-1")
    assert question.metadata == {
        "kind": "question",
        "topic": "Transports",
        "description": "Le résumé.",
        "sheets": ["F1"],
    }


def test_the_kind_of_a_question_is_that_of_its_sheet(read):
    cites = reference("Code du vélo : article L1-1")
    corpus = read(
        {
            "particuliers/F1.json": sheet("F1", "Casque", cites, sheet_type="Fiche pratique"),
            "particuliers/F2.json": sheet("F2", "Je perds un casque", cites, sheet_type="Comment faire si..."),
            "particuliers/F3.json": sheet("F3", "Où trouver un casque", cites, sheet_type="Recherche guidée"),
            "particuliers/F4.json": sheet("F4", "Un casque ?", cites),
        }
    )
    assert [(q.question_id, q.metadata["kind"]) for q in corpus.questions] == [
        ("F1", "topic"),
        ("F2", "topic"),
        ("F4", "question"),
    ]


def test_references_of_a_defined_term_are_no_labels(read):
    definition = element("Definition", element("Titre", text("Casque")), reference("Code du vélo : article L1-2"))
    corpus = read(
        {"associations/F1.json": sheet("F1", "Un casque ?", definition, reference("Code du vélo : article L1-1"))}
    )
    assert corpus.questions[0].article_ids == ("V L1-1",)


def test_doubles_are_one_question_with_all_labels(read):
    corpus = read(
        {
            "particuliers/F20.json": sheet("F20", "Faut-il un casque ?", reference("Code du vélo : article L1-1")),
            "professionnels/F20.json": sheet("F20", "Casque au travail ?", reference("Code du vélo : article L1-2")),
            "associations/F3.json": sheet("F3", "CASQUE, au travail", reference("Code du vélo : article L1-4")),
            "associations/F21.json": sheet("F21", "Et les gants ?", reference("Code du vélo : article L1-4")),
        }
    )
    assert [(q.question_id, q.text, q.article_ids, q.metadata["sheets"]) for q in corpus.questions] == [
        ("F3", "CASQUE, au travail", ("V L1-1", "V L1-2", "V L1-4"), ["F3", "F20"]),
        ("F21", "Et les gants ?", ("V L1-4",), ["F21"]),
    ]


def test_questions_without_an_article_or_with_more_than_fifty_are_left_out(tmp_path):
    ids = [f"A{number}" for number in range(1, 52)]
    index = LegiIndex(order={CODE: ids}, numbers={CODE: {f"L1-{number}": f"A{number}" for number in range(1, 52)}})
    draft = Draft(name="sheets", language="fr")
    for article_id in ids:
        draft.add_article("codes", article_id=article_id, title="", text="Texte.", path=(CODE,))
    (tmp_path / "particuliers").mkdir()
    for sheet_id, words in {"F1": "articles L1-1 à L1-50", "F2": "articles L1-1 à L1-51", "F3": "article L8"}.items():
        content = sheet(sheet_id, f"Question {sheet_id} ?", reference(f"Code du vélo : {words}"))
        (tmp_path / "particuliers" / f"{sheet_id}.json").write_text(json.dumps(content), encoding="utf-8")
    draft_fact_sheets(draft, tmp_path, index)
    assert [(q.question_id, len(q.article_ids)) for q in draft.corpus().questions] == [("F1", 50)]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        ("{}", "KeyError: 'children'"),
        (json.dumps(sheet("X1", "Un casque ?")), "ValueError: id 'X1' is not F and a number"),
    ],
)
def test_a_broken_sheet_is_a_problem_with_its_place(tmp_path, problems_of, content, problem):
    (tmp_path / "particuliers").mkdir()
    (tmp_path / "particuliers" / "F1.json").write_text(content, encoding="utf-8")
    draft = Draft(name="sheets", language="fr")
    draft_fact_sheets(draft, tmp_path, index_of_codes())
    assert f"particuliers/F1.json: is not a fact sheet ({problem}); fetch it again" in problems_of(draft)


def test_a_folder_without_sheets_is_a_problem(tmp_path, problems_of):
    draft = Draft(name="sheets", language="fr")
    draft_fact_sheets(draft, tmp_path, index_of_codes())
    assert (
        f"{tmp_path}: holds no F*.json under particuliers, professionnels, associations; "
        "name the data folder of the fact sheets"
    ) in problems_of(draft)
