import json

import pytest

from statgraph.formats.catalogue.fact_sheets import REFERENCES, draft_fact_sheets
from statgraph.formats.catalogue.legi import LegiIndex
from statgraph.law.draft import Draft
from statgraph.law.records import MAIN_SET, CitingText
from statgraph.law.splitting import split_of

CODE = "Code du vélo"


def element(name, *children, **attributes):
    return {"type": "element", "name": name, "attributes": attributes, "children": list(children)}


def text(value):
    return {"type": "text", "text": value}


def reference(words, complement="L9-9"):
    parts = (element("Titre", text(words)), element("Complement", text(complement)))
    return element("Reference", *parts, URL="https://law.example/")


def paragraph(words):
    return element("Paragraphe", text(words))


def section(name, title, *children):
    return element(name, element("Titre", paragraph(title)), *children)


def main_questions(corpus):
    return [question for question in corpus.questions if question.question_set == MAIN_SET]


def sheet(sheet_id, title, *more, sheet_type="Question-réponse"):
    parts = (
        element("dc:title", text(title)),
        element("dc:description", text("Le  résumé.")),
        element("dc:type", text(sheet_type)),
        element("Theme", element("Titre", text("Transports"))),
    )
    return {"id": sheet_id, "children": [element("Publication", *parts, *more, ID=sheet_id, type="Fiche")]}


@pytest.fixture
def read(tmp_path, codes):
    """Return a function that reads sheets, a list for each audience that has some, into a corpus."""

    def read_sheets(*particuliers, associations=(), professionnels=(), index=codes, **options):
        audiences = {"particuliers": particuliers, "associations": associations, "professionnels": professionnels}
        for audience, sheets in audiences.items():
            (tmp_path / audience).mkdir()
            for content in sheets:
                path = tmp_path / audience / f"{content['id']}.json"
                path.write_text(json.dumps(content), encoding="utf-8")
        draft = Draft(name="sheets", language="fr", **options)
        for title, order in index.order.items():
            for article_id in order:
                draft.add_article("codes", article_id=article_id, title=article_id, text="Texte.", path=(title,))
        draft_fact_sheets(draft, tmp_path, index)
        return draft.corpus()

    return read_sheets


def test_a_question_has_its_sheets_title_labels_and_metadata(read):
    corpus = read(
        sheet(
            "F1",
            "Faut-il  un casque ?",
            reference("Code du vélo : articles L1-2 et L1-1"),
            reference("Code du vélo : article L1-1"),
            reference("Code de l'eau : article L1-1"),
            reference("Code civil : article 1"),
        )
    )
    (question,) = main_questions(corpus)
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
        sheet("F1", "Casque", cites, sheet_type="Fiche pratique"),
        sheet("F2", "Je perds un casque", cites, sheet_type="Comment faire si..."),
        sheet("F3", "Où trouver un casque", cites, sheet_type="Recherche guidée"),
        sheet("F4", "Un casque ?", cites),
    )
    assert [(q.question_id, q.metadata["kind"]) for q in main_questions(corpus)] == [
        ("F1", "topic"),
        ("F2", "topic"),
        ("F4", "question"),
    ]


def test_references_of_a_defined_term_are_no_labels(read):
    definition = element("Definition", element("Titre", text("Casque")), reference("Code du vélo : article L1-2"))
    cites = reference("Code du vélo : article L1-1")
    corpus = read(associations=[sheet("F1", "Un casque ?", definition, cites)])
    assert corpus.questions[0].article_ids == ("V L1-1",)


def test_doubles_are_one_question_with_all_labels(read):
    corpus = read(
        sheet("F20", "Faut-il un casque ?", reference("Code du vélo : article L1-1")),
        associations=[
            sheet("F3", "CASQUE, au travail", reference("Code du vélo : article L1-4")),
            sheet("F21", "Et les gants ?", reference("Code du vélo : article L1-4")),
        ],
        professionnels=[sheet("F20", "Casque au travail ?", reference("Code du vélo : article L1-2"))],
    )
    assert [(q.question_id, q.text, q.article_ids, q.metadata["sheets"]) for q in main_questions(corpus)] == [
        ("F3", "CASQUE, au travail", ("V L1-1", "V L1-2", "V L1-4"), ["F3", "F20"]),
        ("F21", "Et les gants ?", ("V L1-4",), ["F21"]),
    ]


LONG_CODE = {f"L1-{number}": f"A{number}" for number in range(1, 53)}
OF_LONG_CODE = LegiIndex(order={CODE: list(LONG_CODE.values())}, numbers={CODE: LONG_CODE})


def test_questions_without_an_article_or_with_more_than_fifty_are_left_out(read):
    words = {"F1": "articles L1-1 à L1-50", "F2": "articles L1-1 à L1-51", "F3": "article L8"}
    sheets = (sheet(of, f"Question {of} ?", reference(f"{CODE} : {said}")) for of, said in words.items())
    corpus = read(*sheets, index=OF_LONG_CODE)
    assert [(q.question_id, len(q.article_ids)) for q in main_questions(corpus)] == [("F1", 50)]
    # Nor is the reference of 51 articles a question, or a text that would say anything of one of them.
    assert [text.citing_id for text in corpus.citing] == ["F1-reference-1"]
    assert [question.question_id for question in corpus.split("test", REFERENCES)] == ["F1-reference-1"]


def test_references_are_questions_of_their_own_set_and_citing_texts(read):
    corpus = read(
        sheet(
            "F1",
            "Faut-il un casque ?",
            reference("Code du vélo : article L1-2", "Enfants"),
            reference("Code du vélo : article L1-1", "ENFANTS."),
            reference("Code de l'eau : article L1-1", "Plage"),
            reference("Code du vélo : article L1-4", ""),
            reference("Code civil : article 1", "Amendes"),
        )
    )
    # They stand in the split of F1, "test", whatever their own ids hash to.
    questions = corpus.split("test", REFERENCES)
    assert [(question.question_id, question.text, question.article_ids) for question in questions] == [
        ("F1-reference-1", "Faut-il un casque ? : Enfants", ("V L1-1", "V L1-2")),
        ("F1-reference-2", "Faut-il un casque ? : Plage", ("E L1-1",)),
    ]
    assert questions[0].metadata == {"set": REFERENCES, "topic": "Transports", "sheets": ["F1"]}
    assert corpus.citing == (
        CitingText(
            "F1-reference-1", "Faut-il un casque ?", "Enfants", ("V L1-1", "V L1-2"), question_id="F1", part="reference"
        ),
        CitingText("F1-reference-2", "Faut-il un casque ?", "Plage", ("E L1-1",), question_id="F1", part="reference"),
    )


def test_titles_of_sections_and_paragraphs_cite_what_the_sheet_cites(read):
    long = "Le casque est obligatoire pour les enfants de moins de douze ans."
    body = element(
        "Texte",
        section(
            "Chapitre",
            "Enfants",
            paragraph(long),
            paragraph("Trop court."),
            element("Liste", element("Item", paragraph("Le casque est attaché sous le menton, à tout moment."))),
            element("OuSAdresser", element("Texte", paragraph("Adressez-vous à la mairie de votre domicile."))),
            section("SousChapitre", "À la plage"),
        ),
        section("Chapitre", "ENFANTS", paragraph(long)),
    )
    corpus = read(sheet("F1", "Faut-il un casque ?", body, reference("Code du vélo : articles L1-1 à L1-2", "")))
    assert [(text.citing_id, text.part, text.text) for text in corpus.citing] == [
        ("F1-section-1", "section", "Enfants"),
        ("F1-paragraph-1", "paragraph", long),
        ("F1-paragraph-2", "paragraph", "Le casque est attaché sous le menton, à tout moment."),
        ("F1-section-2", "section", "À la plage"),
    ]
    assert {(text.title, text.article_ids, text.question_id) for text in corpus.citing} == {
        ("Faut-il un casque ?", ("V L1-1", "V L1-1-1", "V L1-2"), "F1")
    }


def test_texts_of_a_double_belong_to_the_question_that_it_was_merged_into(read):
    # F1 is in "test"; F20 alone would be in "train", as sha256("F20") begins with 0x4c.
    assert split_of("F20") == "train"
    body = element("Texte", section("Chapitre", "Au travail"))
    corpus = read(
        sheet("F1", "Un casque ?", reference("Code du vélo : article L1-1", "")),
        associations=[sheet("F20", "UN CASQUE", body, reference("Code du vélo : article L1-2", "Gants"))],
    )
    assert {text.citing_id: text.question_id for text in corpus.citing} == {
        "F1-reference-1": "F1",
        "F1-section-1": "F1",
    }
    assert corpus.usable_citing() == ()
    assert corpus.split("train", REFERENCES) == ()


@pytest.mark.parametrize(("splits", "split", "usable"), [("hash", "train", 2), ("by-labels", "test", 0)])
def test_split_by_labels_a_sheets_references_and_texts_follow_its_question(read, splits, split, usable):
    # By their ids F1 is in "test" and F20 in "train"; they cite the same two articles, each under its own words.
    words = "Code du vélo : articles L1-1 et L1-2"
    corpus = read(
        sheet("F1", "Un casque ?", reference(words, "Enfants")),
        sheet("F20", "Et moi ?", element("Texte", section("Chapitre", "Au travail")), reference(words, "Gants")),
        splits=splits,
    )
    assert {question.question_id: question.split for question in corpus.questions} == {
        "F1": "test", "F1-reference-1": "test", "F20": split, "F20-reference-1": split,
    }  # fmt: skip
    assert len(corpus.usable_citing()) == usable


def test_texts_of_a_sheet_with_too_many_articles_for_a_question_follow_their_reference(read):
    body = element("Texte", section("Chapitre", "Au travail"))
    references = (
        reference(f"{CODE} : articles {of}", to) for of, to in (("L1-1 à L1-50", "Gants"), ("L1-51 à L1-52", "Bottes"))
    )
    corpus = read(sheet("F20", "Un casque ?", body, *references), index=OF_LONG_CODE)
    assert main_questions(corpus) == []
    assert [(text.citing_id, text.question_id) for text in corpus.usable_citing()] == [
        ("F20-reference-1", "F20-reference-1"),
        ("F20-reference-2", "F20-reference-2"),
    ]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        ("{}", "'children' is missing"),
        (json.dumps(sheet("X1", "Un casque ?")), "ValueError: id 'X1' is not F and a number"),
    ],
)
def test_a_broken_sheet_is_a_problem_with_its_place(tmp_path, codes, problems_of, content, problem):
    (tmp_path / "particuliers").mkdir()
    (tmp_path / "particuliers" / "F1.json").write_text(content, encoding="utf-8")
    draft = Draft(name="sheets", language="fr")
    draft_fact_sheets(draft, tmp_path, codes)
    assert f"particuliers/F1.json: is not a fact sheet ({problem}); fetch it again" in problems_of(draft)


def test_a_folder_without_sheets_is_a_problem(tmp_path, codes, problems_of):
    draft = Draft(name="sheets", language="fr")
    draft_fact_sheets(draft, tmp_path, codes)
    assert (
        f"{tmp_path}: holds no F*.json under particuliers, professionnels, associations; "
        "name the data folder of the fact sheets"
    ) in problems_of(draft)
