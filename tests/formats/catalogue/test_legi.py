import json

import pytest

from statgraph.formats.catalogue.legi import draft_legi
from statgraph.law.citations.numbers import article_number
from statgraph.law.draft import Draft


def article(article_id, num, html="<p>Texte.</p>", **data):
    return {"type": "article", "data": {"id": article_id, "num": num, "texteHtml": html, "etat": "VIGUEUR", **data}}


def section(section_id, title, *children, **data):
    return {"type": "section", "data": {"id": section_id, "title": title, **data}, "children": list(children)}


def code(title, *children, **data):
    return {"type": "code", "data": {"title": title, **data}, "children": list(children)}


@pytest.fixture
def read(tmp_path):
    """Return a function that reads codes, one file each, into a draft and an index."""

    def read_codes(*roots):
        for number, root in enumerate(roots):
            (tmp_path / f"LEGITEXT{number}.json").write_text(json.dumps(root), encoding="utf-8")
        draft = Draft(name="codes", language="fr")
        return draft, draft_legi(draft, tmp_path)

    return read_codes


def test_articles_keep_their_path_order_and_metadata(read):
    draft, _ = read(
        code(
            "Code du vélo",
            section(
                "S1",
                " Livre Ier :\n la selle ",
                article("A1", "L1-1 ", cid="C1"),
                section("S2", "Titre II : le rail", article("A2", "R*1-2 A")),
                article("A3", "Annexe I"),
            ),
            section("S3", "Livre II : la roue", article("A4", "160-17-2")),
        )
    )
    articles = draft.corpus().articles
    assert [(a.article_id, a.title, a.path, a.order) for a in articles] == [
        ("A1", "Art. L1-1, Code du vélo", ("Code du vélo", "Livre Ier : la selle"), 1),
        ("A2", "Art. R*1-2 A, Code du vélo", ("Code du vélo", "Livre Ier : la selle", "Titre II : le rail"), 2),
        ("A3", "Annexe I, Code du vélo", ("Code du vélo", "Livre Ier : la selle"), 3),
        ("A4", "Art. 160-17-2, Code du vélo", ("Code du vélo", "Livre II : la roue"), 4),
    ]
    assert [article.number for article in articles[1:3]] == ["Art. R*1-2 A", "Annexe I"]
    assert articles[0].metadata == {"cid": "C1", "etat": "VIGUEUR"}


def test_codes_come_in_the_order_of_their_files_each_with_its_own_order(read):
    draft, index = read(code("Code B", article("B1", "L1")), code("Code A", article("A1", "L1"), article("A2", "L2")))
    assert [(a.code, a.order) for a in draft.corpus().articles] == [("Code B", 1), ("Code A", 1), ("Code A", 2)]
    assert index.numbers == {"Code B": {"L1": "B1"}, "Code A": {"L1": "A1", "L2": "A2"}}


@pytest.mark.parametrize(
    ("etat", "starts", "ends", "kept"),
    [
        ("VIGUEUR", None, None, True),
        ("VIGUEUR_DIFF", None, None, True),
        ("ABROGE_DIFF", None, None, True),
        ("ABROGE", None, None, False),
        ("MODIFIE", None, None, False),
        (None, None, None, True),
        # The code is of 2 January 1970, 86,400,000 ms after the epoch.
        ("MODIFIE", 0, 86_400_001, True),
        ("MODIFIE", 0, 86_400_000, False),
        (None, 86_400_000, 99_000_000, True),
        (None, 86_400_001, 99_000_000, False),
    ],
)
def test_an_article_is_in_force_by_its_state_or_else_by_its_dates(read, etat, starts, ends, kept):
    dates = {} if starts is None else {"dateDebut": starts, "dateFin": ends}
    draft, _ = read(
        code("C", article("A1", "L1"), article("A2", "L2", **dates | {"etat": etat}), dateDebutVersion="1970-01-02")
    )
    assert [a.article_id for a in draft.corpus().articles] == (["A1", "A2"] if kept else ["A1"])


def test_plain_text_replaces_missing_html_and_an_article_without_text_is_left_out(read):
    plain = article("A1", "L1", "", texte="Une  selle\npar vélo. ")
    draft, _ = read(code("C", plain, article("A2", "L2", "<p> </p><br/>")))
    assert [(a.article_id, a.text) for a in draft.corpus().articles] == [("A1", "Une selle par vélo.")]


def test_the_index_finds_articles_by_number_section_and_version(read):
    versions = [{"id": "A0"}, {"id": "A1"}]
    draft, index = read(
        code(
            "C",
            section(
                "S1",
                "Livre",
                article("A1", "L. 1-1", cid="C1", articleVersions=versions),
                section("S2", "Titre", article("A2", "R**2-1 A"), cid="S2-CID"),
            ),
            section("S3", "Livre", article("A3", "Annexe I"), article("A4", "Annexe I"), article("A5", "Annexe I")),
        )
    )
    assert index.order == {"C": ["A1", "A2", "A3", "A4", "A5"]}
    # A number that names several articles names none, and sections with equal titles are one heading.
    assert {a.path for a in draft.corpus().articles} == {("C", "Livre"), ("C", "Livre", "Titre")}
    assert index.numbers == {"C": {"L1-1": "A1", "R2-1A": "A2"}}
    assert index.sections == {"S1": ["A1", "A2"], "S2": ["A2"], "S2-CID": ["A2"], "S3": ["A3", "A4", "A5"]}
    own = {article_id: article_id for article_id in index.order["C"]}
    assert index.versions == {"C1": "A1", "A0": "A1", **own}


def test_article_numbers_compare_without_stars_spaces_and_dots_but_those_between_digits():
    assert article_number(" R. *123-4 a") == "R123-4A"
    assert [article_number(number) for number in ("1.12.", "11.2", "L.1.2")] == ["1.12", "11.2", "L1.2"]


@pytest.mark.parametrize(
    ("root", "problem"),
    [
        (
            code("C", section("S1", "Livre", {"type": "alinea", "data": {}})),
            "type 'alinea' and title '' where a section",
        ),
        (code("C", "text"), "TypeError"),
        ({"type": "code", "data": {"title": "C"}, "children": {"a": 1}}, "TypeError"),
        (code("C", section("S1", " ", article("A1", "L1"))), "type 'section' and title '' where a section belongs"),
        (code("C", {"type": "article", "data": {"num": "L1"}}), "'id' is missing"),
        (code(""), "type 'code' and title '' where a code belongs"),
        (section("S1", "Livre"), "type 'section' and title 'Livre' where a code belongs"),
        ([], "TypeError"),
    ],
)
def test_a_broken_tree_is_a_problem_with_its_place(read, problems_of, root, problem):
    draft, _ = read(root)
    first = problems_of(draft)[0]
    assert first.startswith("LEGITEXT0.json: is not the tree of a code (")
    assert problem in first


def test_a_code_in_two_files_is_a_problem(read, problems_of):
    draft, _ = read(code("C", article("A1", "L1")), code("C", article("A2", "L2")))
    (problem,) = problems_of(draft)
    assert problem.startswith("LEGITEXT1.json: is not the tree of a code (ValueError: 'C' is in another file too)")


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (b'{"type":\n', "line 2 column 1"),
        (b'{\n"title": "\xe9t\xe9"}', "byte 0xe9"),
        (b"[" * 100_000, "RecursionError"),
        (rb'{"title": "\ud800"}', "surrogates"),
        (b'{"title": ' + b"9" * 5000 + b"}", "Exceeds the limit"),
    ],
)
def test_an_unreadable_file_is_a_problem_with_its_place(draft, tmp_path, problems_of, raw, problem):
    (tmp_path / "LEGITEXT0.json").write_bytes(raw)
    draft_legi(draft, tmp_path)
    (only,) = problems_of(draft)
    assert only.startswith("LEGITEXT0.json: is not the tree of a code (")
    assert problem in only


def test_a_folder_without_codes_is_a_problem(draft, tmp_path, problems_of):
    draft_legi(draft, tmp_path)
    assert problems_of(draft)[0].startswith(f"{tmp_path}: holds no LEGITEXT*.json")


def test_articles_keep_when_they_are_in_force(read):
    ends = {"dateDebut": 1209600000000, "dateFin": 1735689600000}  # 1 May 2008, 1 January 2025
    open_ended = {"dateDebut": 1209600000000, "dateFin": 32472144000000}  # 1 January 2999
    unknown = {"dateDebut": 32472144000000, "dateFin": 32472144000000}  # as of what is not in force yet
    articles = (article("A1", "L1", **ends), article("A2", "L2", **open_ended), article("A3", "L3"))
    draft, _ = read(code("C", *articles, article("A4", "L4", etat="VIGUEUR_DIFF", **unknown)))
    dates = [
        {key: value for key, value in a.metadata.items() if key.startswith("valid")} for a in draft.corpus().articles
    ]
    assert dates == [
        {"valid_from": "2008-05-01", "valid_to": "2025-01-01"}, {"valid_from": "2008-05-01"}, {},
        {"valid_from": "2999-01-01"},
    ]  # fmt: skip


def test_what_is_not_in_force_is_left_out_by_a_rule(tmp_path):
    old = article("A2", "L2", "<p><b>Ancien</b> texte.</p>", etat="ABROGE")
    root = code("Code", section("S1", "Livre Ier", article("A1", "L1", "<p>Texte&nbsp;neuf.</p>"), old))
    (tmp_path / "LEGITEXT0.json").write_text(json.dumps(root), encoding="utf-8")
    draft = Draft(name="codes", language="fr", counts_cells=True)
    draft_legi(draft, tmp_path)
    draft.settle_cells()
    assert (draft.report.balance.left_out, draft.report.balance.kept, draft.report.balance.lost) == (
        {"not in force": 3},
        6,
        [],
    )
