"""Small laws as people have them, with the numbers and rubrics that are right."""

import pytest

from statgraph.formats.importing import import_corpus


def numbers(tmp_path, text, language, suffix="txt"):
    path = tmp_path / f"law.{suffix}"
    path.write_text(text, encoding="utf-8")
    return import_corpus(path, language=language).articles


def found(articles):
    return [f"{article.number}|{article.rubric}" for article in articles]


RUBRICS = {
    "below, same level": "# Act\n## Article 1\n## Scope\nBoats.\n## Article 2\n## Fees\nFive.",
    "below, deeper": "# Act\n## Article 1\n### Scope\nBoats.\n## Article 2\n### Fees\nFive.",
    "below, in chapters": "# Act\n## Chapter 1\n### Boats\n#### Article 1\n##### Scope\nBoats.\n#### Article 2\n"
    "##### Fees\nFive.",
    "above": "# Act\n## Scope\n## Article 1\nBoats.\n## Fees\n## Article 2\nFive.",
    "on the line": "# Act\n## Article 1 Scope\nBoats.\n## Article 2 - Fees\nFive.",
    "bold line": "# Act\n## Article 1\n**Scope**\n\nBoats.\n## Article 2\n**Fees**\n\nFive.",
}


@pytest.mark.parametrize("form", RUBRICS)
def test_rubrics_as_headings(tmp_path, form):
    articles = numbers(tmp_path, RUBRICS[form].replace("\n", "\n\n"), "en", "md")
    assert found(articles) == ["Article 1|Scope", "Article 2|Fees"]
    assert [article.text for article in articles] == ["Boats.", "Five."]


def test_numbers_alone_in_a_heading_style_begin_articles(tmp_path):
    rubrics = [f"{i}. Boats {i}" for i in (1, 2, 3)] + ["Section 4. Ships"]
    parts = [f"<h3>{rubric}</h3><p>They pay {i} coins.</p>" for i, rubric in enumerate(rubrics, start=1)]
    articles = numbers(tmp_path, f"<html><h1>Act</h1>{''.join(parts)}</html>", "en", "html")  # all on one line
    assert found(articles) == ["1|Boats 1", "2|Boats 2", "3|Boats 3", "Section 4|Ships"]
    assert articles[2].text == "They pay 3 coins."


def test_subheadings_in_an_article_are_text(tmp_path):
    text = "# Act\n\n## § 1 Scope\n\n### Boats\n\nAll.\n\n### Rafts\n\nNone.\n\n## § 2 Fees\n\nFive."
    first, _ = numbers(tmp_path, text, "en", "md")
    assert first.text == "Boats\nAll.\nRafts\nNone."


REFERENCES = {
    "de": (
        "§ {}",
        [
            "§ 278 BGB bleibt unberührt.",
            "§§ 366, 367 BGB gelten.",
            "Anlage 2 zu diesem Gesetz gilt.",
            "Art. 14 GG wird eingeschränkt.",
            "§ 5 Abs. 2 Satz 1 HGB gilt.",
        ],
    ),
    "en": (
        "Article {}",
        [
            "Article 218(9) TFEU applies.",
            "Articles 3 and 4 of the Boat Act apply.",
            "Annex II to the Regulation applies.",
            "Section 12 of the Act applies.",
        ],
    ),
    "es": (
        "Artículo {}",
        [
            "Artículo 24 CE será de aplicación.",
            "Artículos 3 y 4 de la Ley 5/2000 se aplican.",
            "Anexo II de la ley se aplica.",
            "Disposición adicional primera de la ley se aplica.",
        ],
    ),
    "fr": (
        "Article {}",
        [
            "Article 5 du code civil est applicable.",
            "Articles 3 et 4 de la loi sont applicables.",
            "Annexe II du règlement est applicable.",
            "Article 49 TFUE est applicable.",
        ],
    ),
    "it": (
        "Art. {}",
        [
            "Art. 2043 c.c. si applica.",
            "Artt. 3 e 4 del codice si applicano.",
            "Allegato II del regolamento si applica.",
            "Art. 117 TUEL si applica.",
        ],
    ),
    "nl": (
        "Artikel {}",
        [
            "Artikel 6 van de wet is van toepassing.",
            "Artikelen 3 en 4 van de wet gelden.",
            "Bijlage 2 bij deze wet geldt.",
            "Artikel 49 VWEU is van toepassing.",
        ],
    ),
    "pt": (
        "Artigo {}",
        [
            "Artigo 24 da Lei aplica-se.",
            "Artigos 3 e 4 da Lei aplicam-se.",
            "Anexo II da lei aplica-se.",
            "Artigo 49 TFUE é aplicável.",
        ],
    ),
    "pl": (
        "Art. {}",
        ["Art. 24 ustawy stosuje się.", "Załącznik nr 2 do ustawy stosuje się.", "Art. 49 TFUE stosuje się."],
    ),
}


@pytest.mark.parametrize("suffix", ["txt", "md"])
@pytest.mark.parametrize("language", REFERENCES)
def test_lines_that_begin_with_a_reference_are_text(tmp_path, language, suffix):
    number, lines = REFERENCES[language]
    act = ["Act", f"{number.format(1)} Boats", "All boats.", f"{number.format(2)} Fees", "Five.", *lines]
    act += [f"{number.format(3)} End", "It ends."]
    articles = numbers(tmp_path, ("\n\n" if suffix == "md" else "\n").join(act), language, suffix)
    assert [article.number for article in articles] == [number.format(i) for i in (1, 2, 3)]
    assert articles[1].text == "\n".join(["Five.", *lines])


@pytest.mark.parametrize(
    ("language", "text", "right"),
    [
        ("fr", "Article 5\nOui.\nArticles 6 à 9 (abrogés)\nArticle 10\nNon.", ["Article 5", "Article 10"]),
        ("it", "Art. 5\nSì.\nArtt. 6-9 (abrogati)\nArt. 10\nNo.", ["Art. 5", "Art. 10"]),
        ("nl", "Artikel 5\nJa.\nArtikelen 6 tot en met 9 (vervallen)\nArtikel 10\nNee.", ["Artikel 5", "Artikel 10"]),
        ("de", "§ 5\nJa.\n§§ 6–9 (weggefallen)\n§ 10\nNein.", ["§ 5", "§ 10"]),
        ("pt", "Art. 5\nSim.\nArts. 6 a 9 (Revogados)\nArt. 10\nNão.", ["Art. 5", "Art. 10"]),
        ("pl", "Art. 5\nTak.\nArt. 6–9. (uchylone)\nArt. 10\nNie.", ["Art. 5", "Art. 10"]),
        ("en", "Section 5\nYes.\nSections 6 to 9. Repealed.\nSection 10\nNo.", ["Section 5", "Section 10"]),
        (
            "en",
            "§ 5-1-1. Boats.\nYes.\n§§ 5-1-2 through 5-1-9. Reserved.\n§ 5-1-10. Fees.\nNo.",
            ["§ 5-1-1", "§ 5-1-10"],
        ),
        ("de", "§ 5\nJa.\n§ 6\n(weggefallen)\n§ 7 (aufgehoben durch G v. 1.1.2020)\n§ 10\nNein.", ["§ 5", "§ 10"]),
        ("sv", "5 §\nJa.\n6 § Upphävd genom lag (2010:1).\n7 § har upphävts.\n10 §\nNej.", ["5 §", "10 §"]),
    ],
)
def test_repealed_articles_and_ranges_are_left_out(tmp_path, language, text, right):
    assert [article.number for article in numbers(tmp_path, f"Act\n{text}", language)] == right


@pytest.mark.parametrize(
    ("language", "numbers_"),
    [
        ("es", ["Artículo 3 bis", "Artículo 3 ter", "Artículo 3 quáter", "Artículo 4-A", "Artículo 5 Bis 1"]),
        (
            "fr",
            [
                "Article R. 123-4",
                "Article L. 123-4-1",
                "Article D.* 5",
                "Article 12 bis A",
                "Article 199 terdecies-0 A",
            ],
        ),
        ("it", ["Art. 3-bis", "Art. 3-bis.1", "Art. 3-ter", "Art. 4 bis", "Art. 314-quinquiesdecies"]),
        ("de", ["§ 3a", "§ 3 b", "§ 20.01", "§ 1600d", "Art. 12a"]),
        ("nl", ["Artikel 7:658a", "Artikel 3.1", "Artikel 3a.1", "Artikel 8bis"]),
        ("pl", ["Art. 22¹", "Art. 22²", "Art. 22a", "Art. 231"]),
        ("pt", ["Art. 3º", "Art. 3º-A", "Art. 4.º", "Art. 103-B", "Art. 1.029"]),
        ("en", ["Section 3A", "Section 3AA", "Section 12.1", "Section 1a"]),
        ("en", ["§ 1395w-4", "§ 78aaa", "§ 1.401(a)-1", "§ 240.10b-5"]),
        ("zh", ["第三条", "第三条之一", "第一百二十条之二", "第190条"]),
        ("ja", ["第三条", "第三条の二", "第三条の二の三"]),
    ],
)
def test_numbers_are_whole(tmp_path, language, numbers_):
    text = "\n".join(f"{number}\nBoats pay {i} coins." for i, number in enumerate(numbers_))
    assert [article.number for article in numbers(tmp_path, f"Act\n{text}", language)] == numbers_


@pytest.mark.parametrize(
    ("language", "text", "right"),
    [
        (
            "es",
            "Artículo 1. Uno.\nSí.\nDISPOSICIONES TRANSITORIAS\nPrimera. Vale.\nSegunda. También.",
            ["Artículo 1", "Primera", "Segunda"],
        ),
        ("es", "Artículo 1. Uno.\nSí.\nDISPOSICIÓN FINAL\nÚNICA.- Entra mañana.", ["Artículo 1", "ÚNICA"]),
        (
            "es",
            "ARTÍCULO 1.- Uno.\nARTÍCULO 2.- Dos.\nARTÍCULOS TRANSITORIOS\nARTÍCULO PRIMERO.- Vale.",
            ["ARTÍCULO 1", "ARTÍCULO 2", "ARTÍCULO PRIMERO"],
        ),
        (
            "sv",
            "1 § Båtar.\n2 § Flottar.\nÖvergångsbestämmelser\n1. Denna lag träder i kraft i dag.\n2. Äldre gäller.",
            ["1 §", "2 §", "Övergångsbestämmelser"],
        ),
        (
            "ja",
            "第一条　船。\n第二条　筏。\n附　則\n１　この法律は、公布の日から施行する。",
            ["第一条", "第二条", "附則"],
        ),
        (
            "ja",
            "第一条　船。\n第二条　筏。\n附則\n（期日）\n第一条　公布の日から施行する。",
            ["第一条", "第二条", "第一条"],
        ),
        (
            "pt",
            "Art. 1º Barcos.\nArt. 2º Jangadas.\nDISPOSIÇÕES TRANSITÓRIAS\nArt. 1º Vale.",
            ["Art. 1º", "Art. 2º", "Art. 1º"],
        ),
    ],
)
def test_transitional_provisions_stand_apart(tmp_path, language, text, right):
    assert [article.number for article in numbers(tmp_path, f"Act\n{text}", language)] == right


CONTENTS = {
    "en": "Contents\nSection 1 Boats\nSection 2 Fees\nSection 1 Boats\nAll.\nSection 2 Fees\nFive.",
    "de": "Inhalt\nTeil 1 Boote ..... 1\n"
    "§ 1 Boote ..... 2\n§ 2 Gebühr ..... 3\nTeil 1 Boote\n§ 1 Boote\nAlle.\n§ 2 Gebühr\n5.",
    "es": "ÍNDICE\nTÍTULO I. BARCOS\n"
    "Artículo 1. Barcos\nArtículo 2. Tasas\nTÍTULO I. Barcos\nArtículo 1. Barcos.\nTodos.\n"
    "Artículo 2. Tasas.\nCinco.",
    "fr": "SOMMAIRE\nArticle 1er - Bateaux\nArticle 2 - Droits\nArticle 1er\nBateaux\nTous.\nArticle 2\nDroits\nCinq.",
}


@pytest.mark.parametrize("language", CONTENTS)
def test_contents_are_no_articles(tmp_path, language):
    articles = numbers(tmp_path, f"Act\n{CONTENTS[language]}", language)
    lines = CONTENTS[language].split("\n")
    assert [article.text for article in articles] == [lines[-4 if language == "fr" else -3], lines[-1]]


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("1. Boats.—All.\n1[1A. Rafts.—None.]\n2. Fees.—Five.\n3. End.—Now.", ["1", "1A", "2", "3"]),
        ("1 Boats\nAll.\n[F121A Rafts\nNone.]\n2 Fees\nFive.\n3 End\nNow.", ["1", "1A", "2", "3"]),
        (
            "Section 1. Boats.\nAll.\n[Section 1A. Rafts.\nNone.]\n*Section 2. Fees.\nFive.",
            ["Section 1", "Section 1A", "Section 2"],
        ),
    ],
)
def test_marks_of_insertion_do_not_hide_articles(tmp_path, text, right):
    assert [article.number for article in numbers(tmp_path, f"Act\n{text}", "en")] == right
