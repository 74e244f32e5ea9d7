"""The profiles of gazettes and services that publish regulations, consolidated texts and bills."""

from pathlib import Path

import pytest

from statgraph.corpus.acts.profile import recognised
from statgraph.corpus.acts.reader import root_of
from statgraph.corpus.importing import import_corpus

ECFR = """<DIV5 N="7" TYPE="PART"><HEAD>PART 7—KITES</HEAD><AUTH><HED>Authority:</HED></AUTH>
<DIV8 N="7.1" TYPE="SECTION" hierarchy_metadata="{&quot;path&quot;:&quot;/title-90/section-7.1&quot;}">
<HEAD>§ 7.1 Strings.</HEAD><P>(a) A kite has a <I>string</I>.</P><P>(b) It is long.</P>
<CITA TYPE="N">[90 FR 1]</CITA></DIV8>
<DIV8 N="7.2-7.9" TYPE="SECTION"><HEAD>§§ 7.2-7.9 [Reserved]</HEAD></DIV8></DIV5>"""

LEXML = """<LexML xmlns="http://www.lexml.gov.br/1.0" xmlns:xlink="http://www.w3.org/1999/xlink">
<Metadado><Identificacao URN="urn:lex:br:lei;7"/></Metadado><Norma><ParteInicial><Epigrafe>Lei 7</Epigrafe>
</ParteInicial>
<Articulacao><Capitulo><Rotulo>CAPÍTULO I</Rotulo><NomeAgrupador>DAS PIPAS</NomeAgrupador><Artigo id="art1">
<Rotulo>Art. 1º</Rotulo><Caput><p>As pipas:</p><Inciso><Rotulo>I -</Rotulo><p>voam, ver <span
xlink:href="urn:lex:br:lei;7!art2_par1">art. 2º</span>.</p></Inciso></Caput></Artigo><Artigo id="art2">
<Rotulo>Art. 2º</Rotulo>
<Caput><p>A Lei 8 passa a vigorar:</p><Alteracao><Artigo id="art9"><Rotulo>Art. 9º</Rotulo><Omissis/></Artigo>
</Alteracao>
</Caput></Artigo></Capitulo></Articulacao></Norma></LexML>"""

FORMEX = """<ACT><BIB.INSTANCE><DOCUMENT.REF FILE="L_1.doc.xml"/><DATE ISO="20240313"/><LG.DOC>EN</LG.DOC>
</BIB.INSTANCE>
<TITLE><TI><P>Kite Regulation</P></TI></TITLE><ENACTING.TERMS><DIVISION><TITLE><TI><P>Chapter 1</P></TI><STI>
<P>Kites</P></STI>
</TITLE><ARTICLE IDENTIFIER="001"><TI.ART>Article 1</TI.ART><STI.ART><P>Scope</P></STI.ART><PARAG>
<NO.PARAG>1.</NO.PARAG>
<ALINEA><P>A <QUOT.START CODE="2018"/>kite<QUOT.END CODE="2019"/><NOTE>OJ L 1</NOTE>:</P><LIST><ITEM><NP>
<NO.P>(a)</NO.P>
<TXT>flies;</TXT></NP></ITEM></LIST><QUOT.S><ARTICLE IDENTIFIER="009"><TI.ART>Article 9</TI.ART>
<ALINEA>Old.</ALINEA></ARTICLE>
</QUOT.S></ALINEA></PARAG></ARTICLE></DIVISION></ENACTING.TERMS></ACT>"""

EURLEX = """<html lang="en"><body><p class="reference">02024R0001 — EN — 01.02.2024 — 001.001</p>
<p class="title-doc-first">Kite Regulation</p><div id="cpt_I"><p class="title-division-1">CHAPTER I</p>
<p class="title-division-2">Kites</p><div id="art_1"><p class="title-article-norm">Article 1</p>
<div class="eli-title">
<p class="stitle-article-norm">Scope</p></div><p class="arrow">►M1</p><div class="norm">
<span class="no-parag">1.</span>
<div class="norm">Kites fly.</div></div></div></div><p class="title-article-norm">Article 2</p>
<p class="stitle-article-norm">Strings</p><p class="norm">Strings are long.</p><table><tr><td>(a)</td><td>red;</td>
</tr></table>
</body></html>"""

EURLEX_OLD = """<html><body><p align="right">1998F0001 — DE — 05.07.2001 — 001.001</p><table><tr><td>
<a>Drachenverordnung</a>
</td></tr></table><p>gestützt auf Artikel 3 des Vertrags</p><p>Artikel 1</p><p>Drachen fliegen.</p><p>Artikel 2</p>
<p>Schnüre sind lang.</p></body></html>"""

POLAND = """<html lang="pl"><body><h1><span class="head-type">Ustawa</span>
<span class="head-title">o latawcach</span></h1>
<section id="part_1"><div class="unit unit_chpt" id="chpt_1"><p>Rozdział 1</p><p><b>
<span class="pro-title-unit">Latawce</span>
</b></p><div class="unit unit_arti" id="chpt_1-arti_1"><h3>Art.&nbsp;1.</h3><div class="unit unit_pint"><h3>1)</h3>
<div>latawiec lata;</div></div><div class="unit unit_arti" id="arti_9"><h3>Art. 9.</h3><div>Stary.</div></div>
</div></div>
</section><section id="part_2"><div><h2>Załącznik</h2><p>Wzór latawca.</p></div></section></body></html>"""

BOE = """<response><data><texto><bloque id="ti" tipo="encabezado"><version fecha_vigencia="20000101">
<p class="titulo_num">TÍTULO I
</p><p class="titulo_tit">Cometas</p></version></bloque><bloque id="a1" tipo="precepto" titulo="Artículo 1">
<version id_norma="BOE-A-2000-1" fecha_vigencia="20000101"><p class="articulo">Artículo 1. Vuelo.</p><p>Vuelan.</p>
</version>
<version id_norma="BOE-A-2020-1" fecha_vigencia="20200101"><p class="articulo">Artículo 1. Vuelo.</p>
<p>Vuelan alto.</p>
<blockquote><p class="nota_pie">Se modifica.</p></blockquote></version></bloque></texto></data></response>"""

RIS = """<risdok xmlns="http://www.bka.gv.at"><nutzdaten><abschnitt><ueberschrift typ="titel">Kurztitel</ueberschrift>
<absatz typ="erltext" ct="kurztitel">Drachengesetz</absatz><absatz typ="erltext" ct="artikel_anlage">§ 1</absatz>
<absatz typ="erltext" ct="ikra">01.01.2000</absatz><absatz typ="erltext" ct="akra">31.12.2019</absatz>
<absatz typ="erltext" ct="gesnr">77</absatz><absatz typ="abs" ct="text"><gldsym>§ 1.</gldsym> Drachen:</absatz><liste>
<listelem><symbol>a)</symbol>fliegen.</listelem></liste></abschnitt></nutzdaten></risdok>"""

KITES = {
    "ecfr": (ECFR, [("§ 7.1", "Strings", "PART 7—KITES", "(a) A kite has a string.\n(b) It is long.")]),
    "lexml": (
        LEXML,
        [
            ("Art. 1º", "", "CAPÍTULO I DAS PIPAS", "As pipas:\nI - voam, ver art. 2º."),
            ("Art. 2º", "", "CAPÍTULO I DAS PIPAS", "A Lei 8 passa a vigorar:\nArt. 9º (...)"),
        ],
    ),
    "formex": (FORMEX, [("Article 1", "Scope", "Chapter 1 Kites", "1. A ‘kite’:\n(a) flies;\nArticle 9\nOld.")]),
    "eurlex": (
        EURLEX,
        [
            ("Article 1", "Scope", "CHAPTER I Kites", "1. Kites fly."),
            ("Article 2", "Strings", None, "Strings are long.\n(a) red;"),
        ],
    ),
    "eurlex-old": (
        EURLEX_OLD,
        [("Artikel 1", "", None, "Drachen fliegen."), ("Artikel 2", "", None, "Schnüre sind lang.")],
    ),
    "poland": (
        POLAND,
        [("Art. 1", "", "Rozdział 1 Latawce", "1) latawiec lata;\nArt. 9. Stary."), ("", "", None, "Wzór latawca.")],
    ),
    "boe": (
        BOE,
        [
            ("Artículo 1", "Vuelo", "TÍTULO I Cometas", "Vuelan."),
            ("Artículo 1", "Vuelo", "TÍTULO I Cometas", "Vuelan alto."),
        ],
    ),
    "ris": (RIS, [("§ 1", "", None, "Drachen:\na) fliegen.")]),
}


@pytest.mark.parametrize("name", KITES)
def test_a_file_is_recognised_and_read(tmp_path: Path, name):
    text, expected = KITES[name]
    assert recognised(text.encode(), root_of(text.encode())).name == name
    (tmp_path / "act.xml").write_text(text, encoding="utf-8")
    articles = import_corpus(tmp_path / "act.xml", "xml").articles
    found = [(one.number, one.rubric, one.path[1] if one.path[1:] else None, one.text) for one in articles]
    assert found == expected


@pytest.fixture
def article_dates(tmp_path: Path):
    """Return a function from the text of a file to the dates of its articles by id."""

    def read(text: str) -> dict[str, tuple[object, object]]:
        (tmp_path / "act.xml").write_text(text, encoding="utf-8")
        articles = import_corpus(tmp_path / "act.xml", "xml").articles
        return {one.article_id: (one.metadata.get("valid_from"), one.metadata.get("valid_to")) for one in articles}

    return read


def test_versions_side_by_side_end_where_the_next_begins(article_dates):
    assert article_dates(BOE) == {
        "BOE-A-2000-1#a1@2000-01-01": ("2000-01-01", "2020-01-01"),
        "BOE-A-2000-1#a1": ("2020-01-01", None),
    }


def test_a_last_day_in_force_becomes_the_day_after(article_dates):
    assert article_dates(RIS) == {"77#§_1": ("2000-01-01", "2020-01-01")}


def test_a_reference_leads_to_the_article_of_its_id(tmp_path: Path):
    (tmp_path / "act.xml").write_text(LEXML, encoding="utf-8")
    first, second = import_corpus(tmp_path / "act.xml", "xml").articles
    assert first.metadata["references"] == [second.article_id]
