"""References in made-up sentences, language by language, each with the articles that it names.

`-> 3 B5 C7` are article 3 of the law that the sentence is in, article 5 of the second and article 7 of the third.
"""

import re

import pytest

from statgraph.law.citations.references import ReferenceFinder

# The three laws of a language, the title of each of their articles 1 to 60, and more articles of the first by label.
LAWS = {
    "de": (
        ("Mietgesetz", "Gartenordnung (GartO)", "Bürgerliches Hausbuch (BHB)"),
        "§ {}",
        {"12a": "§ 12a", "12b": "§ 12b", "Anlage1": "Anlage 1", "Anlage2": "Anlage 2"},
    ),
    "en": (
        ("Rent Act", "Garden Act 1990", "Market Rules (MR)"),
        "Section {}",
        {"12A": "Section 12A", "14A": "Section 14A", "19ZA": "Section 19ZA"}
        | {"Sch1": "Schedule 1", "Sch2": "Schedule 2"},
    ),
    "es": (
        ("Ley de Alquileres", "Código de Jardines", "Ley 7/2015, de 3 de mayo, de Mercados Locales (LML)"),
        "Art. {}",
        {
            "3bis": "Art. 3 bis",
            "DA1": "Disposición adicional primera",
            "DA2": "Disposición adicional segunda",
            "DA13": "Disposición adicional decimotercera",
            "DA32": "Disposición adicional trigésima segunda",
            "DA123": "Disposición adicional centésima vigésima tercera",
            "DF1": "Disposición final única",
        },
    ),
    "fr": (
        ("Code des loyers", "Code des jardins et des parcs", "Loi n° 78-17 du 3 mai 1978"),
        "Art. {}",
        {
            "3bis": "Art. 3 bis",
            "44sexies": "Art. 44 sexies-0 A",
            "45quaterB": "Art. 45 quater B",
            "45quaterBter": "Art. 45 quater B ter",
            "A1": "Annexe I",
            "A2": "Annexe II",
        },
    ),
    "it": (
        ("Legge sugli affitti", "Codice dei giardini", "Legge 3 maggio 1941, n. 7"),
        "Art. {}",
        {"3bis": "Art. 3-bis", "3ter": "Art. 3-ter"},
    ),
    "nl": (("Huurwet", "Tuinwet", "Burgerlijk Marktboek"), "Artikel {}", {"7:201": "Artikel 7:201"}),
    "pl": (
        ("Ustawa o najmie", "Kodeks ogrodowy", "Prawo targowe"),
        "Art. {}",
        {"12a": "Art. 12a", "12b": "Art. 12b", "5^1": "Art. 5¹", "Z1": "Załącznik nr 1", "Z2": "Załącznik nr 2"},
    ),
    "pt": (
        ("Lei do Inquilinato", "Código dos Jardins", "Lei n.º 7/2015, de 3 de maio (Lei dos Mercados)"),
        "Artigo {}.º",
        {"3A": "Artigo 3.º-A", "A1": "Anexo I", "A2": "Anexo II"},
    ),
    "zh": (
        ("租赁法", "中华人民共和国花园法", "市场管理条例"),
        "第{}条",
        {"103": "第一百零三条", "103-1": "第103條之一"},
    ),
    "ja": (("賃貸借法", "庭園法", "市場規則"), "第{}条", {"103": "第百三条", "103-2": "第百三条の二"}),
}

SENTENCES = {
    "es": """
según los artículos 21, 22, 23 y 26 -> 21 22 23 26
los artículos 36 y 38 -> 36 38
el articulo 36 -> 36
ARTÍCULO 36 -> 36
ARTICULOS 36 Y 38 -> 36 38
el art. 36 -> 36
los arts. 36 a 38 -> 36 37 38
los artículos 5 al 8 -> 5 6 7 8
del artículo 5 al 8 -> 5 6 7 8
del artículo 5 al artículo 7 -> 5 6 7
los artículos 36, 38 o 40 -> 36 38 40
el artículo 7 u 8 -> 7 8
el artículo 36.2 -> 36
los artículos 21.1 y 22.3 -> 21 22
el artículo 36, apartado 2, letra a) -> 36
el artículo 36.2.a) -> 36
los artículos 21, apartado 1, y 22 -> 21 22
los apartados 1 y 2 del artículo 36 -> 36
el artículo 36, apartados 1 y 2 -> 36
los artículos 36, párrafo segundo, y 38 -> 36 38
el artículo 3 bis -> 3bis
los artículos 3 bis y 4 -> 3bis 4
el artículo 3 ter ->
el artículo primero -> 1
el artículo 5.º -> 5
el artículo 5º -> 5
los artículos 1.º a 3.º -> 1 2 3
el artículo 36 de esta ley -> 36
el artículo 36 de la presente Ley -> 36
el artículo 5 del Código de Jardines -> B5
los artículos 5 y 6 del Código de jardines -> B5 B6
el artículo 5, apartado 1, del Codigo de Jardines -> B5
el art. 5 CJ -> B5
el art. 5 C.J. -> B5
el artículo 3 de la Ley 7/2015 -> C3
el artículo 3 de la Ley 7/2015, de 3 de mayo -> C3
el artículo 3 de la Ley de Mercados Locales -> C3
el artículo 3 LML -> C3
el artículo 3 de la Ley 29/1994, de 24 de noviembre ->
el artículo 3 del Real Decreto 5/2001 ->
el artículo 3 de la Constitución ->
el artículo 36 CC ->
el artículo 5 del Código de Jardines y el artículo 6 del mismo Código -> B5 B6
el artículo 36 del contrato -> 36
los artículos 36 y siguientes -> 36
los artículos 12 a 14, 20, apartado 2, y 25 -> 12 13 14 20 25
los artículos 38, apartados 1 y 2, 40 y 42 a 44 -> 38 40 42 43 44
los artículos 12 a 14, 20, apartado 2, y 25 del Código de Jardines -> B12 B13 B14 B20 B25
los artículos 5 a 7, ambos inclusive, y 9 -> 5 6 7 9
el artículo 5 en relación con el artículo 7 -> 5 7
el artículo 36, en un plazo de 3 días -> 36
el artículo 99 ->
en el plazo de 36 días ->
el apartado 36 ->
la disposición adicional primera -> DA1
las disposiciones adicionales primera y segunda -> DA1 DA2
la disposicion adicional 2.ª -> DA2
la disposición final única -> DF1
la disposición adicional trigésima segunda -> DA32
la disposición adicional trigesimosegunda -> DA32
las disposiciones adicionales décima tercera y trigésima segunda -> DA13 DA32
la disposición adicional decimotercera -> DA13
la disposición adicional trigésima ->
la disposición adicional centésima vigésima tercera -> DA123
el artículo vigésimo primero -> 21
""",
    "pt": """
os artigos 21.º, 22.º, 23.º e 26.º -> 21 22 23 26
os artigos 36 e 38 -> 36 38
o artigo 36.º -> 36
o artigo 36º -> 36
o art. 36° -> 36
o art. 36 -> 36
ARTIGO 36 -> 36
os arts. 36 a 38 -> 36 37 38
os artigos 5.º a 8.º -> 5 6 7 8
do artigo 5.º ao artigo 7.º -> 5 6 7
os artigos 5 ao 7 -> 5 6 7
o artigo 36.º, n.º 2 -> 36
o n.º 2 do artigo 36.º -> 36
o artigo 36.º, n.os 1 e 2 -> 36
o artigo 36.º, alínea a) -> 36
o artigo 36.º, alinea a), e o artigo 38.º -> 36 38
o art. 36, § 1º, inciso II -> 36
o art. 5º, I, da Lei dos Mercados -> C5
o § 1º do art. 36 -> 36
o artigo 3.º-A -> 3A
os artigos 3.º-A e 4.º -> 3A 4
o art. 3-A -> 3A
o artigo 36.º desta lei -> 36
o artigo 36.º da presente lei -> 36
o artigo 36.º deste Código -> 36
o artigo 5.º do Código dos Jardins -> B5
os artigos 5.º e 6.º do Código dos Jardins -> B5 B6
o artigo 5.º, n.º 1, do Codigo dos Jardins -> B5
o art. 5 CJ -> B5
o artigo 3.º da Lei n.º 7/2015 -> C3
o artigo 3.º da Lei n.º 8/2001 ->
o artigo 3.º do Decreto-Lei n.º 5/2001 ->
o artigo 3.º da Constituição ->
o artigo 5.º do Código dos Jardins e o artigo 6.º do mesmo Código -> B5 B6
o artigo 36.º do contrato -> 36
os artigos 36.º e seguintes -> 36
os artigos 12.º a 14.º, 20.º, n.º 2, e 25.º -> 12 13 14 20 25
os artigos 38, incisos I e II, 40 e 42 a 44 -> 38 40 42 43 44
os artigos 12 a 14, 20, n.º 2, e 25 do Código dos Jardins -> B12 B13 B14 B20 B25
o artigo vigésimo primeiro -> 21
o artigo décimo segundo -> 12
o artigo trigésimo -> 30
o artigo 99.º ->
no prazo de 36 dias ->
o artigo primeiro -> 1
o art. 5º ou art. 7º -> 5 7
os artigos 5.º ou 7.º -> 5 7
os arts. 5º, 7º e 9º -> 5 7 9
o artigo 36.º, no prazo de 3 dias -> 36
o caput do art. 36 -> 36
os artigos 21.º, n.º 1, e 22.º -> 21 22
os artigos 5.º e 6.º, n.º 2 -> 5 6
o anexo II -> A2
""",
    "pl": """
w art. 36 -> 36
Art. 36 -> 36
artykuł 36 -> 36
artykul 36 -> 36
ARTYKUŁ 36 -> 36
na podstawie artykułu 36 -> 36
artykuły 36 i 38 -> 36 38
art. 21, 22, 23 i 26 -> 21 22 23 26
art. 36 i 38 -> 36 38
art. 36 lub 38 -> 36 38
art. 36 oraz art. 38 -> 36 38
art. 6-8 -> 6 7 8
art. 6–8 -> 6 7 8
od art. 6 do art. 8 -> 6 7 8
art. 36 ust. 2 -> 36
art. 36 ust. 2 pkt 3 lit. a -> 36
art. 36 ust. 1 i 2 -> 36
art. 36 ust. 1-3 -> 36
art. 36 ust. 1 i art. 38 -> 36 38
art. 21 ust. 1, art. 22 i art. 23 -> 21 22 23
art. 36 § 2 -> 36
art. 36 zdanie drugie -> 36
art. 12a -> 12a
art. 12a i 12b -> 12a 12b
art. 5¹ -> 5^1
art. 5^1 -> 5^1
art. 5 Kodeksu ogrodowego -> B5
art. 5 § 1 Kodeksu ogrodowego -> B5
art. 5 i 6 Kodeksu ogrodowego -> B5 B6
art. 5 ust. 1 kodeksu ogrodowego -> B5
art. 5 k.o. -> B5
art. 5 KO -> B5
art. 5 Prawa targowego -> C5
art. 5 ustawy – Prawo targowe -> C5
art. 5 ustawy z dnia 3 maja 2001 r. o zwierzętach ->
art. 5 ustawy o zwierzętach ->
art. 5 ust. 2 rozporządzenia ->
art. 5 Konstytucji ->
art. 5 k.c. ->
art. 36 niniejszej ustawy -> 36
art. 36 ustawy o najmie -> 36
art. 36 umowy najmu -> 36
art. 5 Kodeksu ogrodowego i art. 6 tego kodeksu -> B5 B6
art. 36 i następne -> 36
art. 14-16, 20 ust. 2 i 25 -> 14 15 16 20 25
art. 14‑16 -> 14 15 16
art. 14–16, 20 ust. 2 i 25 Kodeksu ogrodowego -> B14 B15 B16 B20 B25
artykułów 38 ust. 1 i 2, 40 oraz 42-44 -> 38 40 42 43 44
art. 99 ->
w terminie 36 dni ->
ust. 36 ->
załącznik nr 2 -> Z2
załącznika nr 1 -> Z1
""",
    "de": """
§ 36 -> 36
§36 -> 36
§§ 21, 22, 23 und 26 -> 21 22 23 26
§§ 5 bis 9 -> 5 6 7 8 9
§ 5 bis § 9 -> 5 6 7 8 9
von § 5 bis § 7 -> 5 6 7
die §§ 5 bis 7 und 9 -> 5 6 7 9
§§ 5–7 -> 5 6 7
§§ 5-7 -> 5 6 7
§ 12a -> 12a
§ 12 a -> 12a
§§ 12a und 12b -> 12a 12b
§§ 12 bis 12b -> 12 12a 12b
§ 36 Abs. 2 Satz 1 -> 36
§ 36 Absatz 2 Satz 1 Nummer 3 Buchstabe a -> 36
§ 36 Abs. 2 S. 1 Nr. 3 lit. b -> 36
§ 36 Abs. 1 und 2 -> 36
§ 36 Absätze 1 und 2 -> 36
§ 36 Absaetze 1 und 2 -> 36
§ 36 Abs. 1 und § 38 -> 36 38
§ 4 Abs. 1, § 5 Abs. 2 und § 7 -> 4 5 7
§§ 4 Abs. 1, 5 Abs. 2 und 7 Abs. 3 -> 4 5 7
§§ 4, 5 Abs. 2, §§ 7 bis 9 -> 4 5 7 8 9
§ 36 f. -> 36
§§ 36 ff. -> 36
§ 36f. gilt -> 36
§ 36 I 2 -> 36
§ 36 Nr. 2 -> 36
§ 4 oder 5 -> 4 5
§ 4 sowie § 6 -> 4 6
§ 4 i. V. m. § 6 -> 4 6
im Sinne des § 36 -> 36
§ 36 dieses Gesetzes -> 36
§ 36 des Mietgesetzes -> 36
§ 36 Mietgesetz -> 36
§ 5 der Gartenordnung -> B5
§ 5 GartO -> B5
§ 5 Abs. 1 GartO -> B5
§§ 5 und 6 der Gartenordnung -> B5 B6
§ 5 des Ersten Abschnitts der Gartenordnung -> B5
§ 5 im Ersten Abschnitt -> 5
§ 5 des Bürgerlichen Hausbuchs -> C5
§ 5 BHB -> C5
§ 5 des Strafgesetzbuchs ->
§ 5 StGB ->
§ 5 des Bundes-Hausgesetzes ->
(BGBl. I S. 36) ->
Artikel 5 der Verordnung (EU) 2016/679 ->
§ 5 der Gartenordnung und § 6 derselben Ordnung -> B5 B6
§ 36 des Vertrags -> 36
§§ 5 bis 7, 12 Abs. 2 und 12a -> 5 6 7 12 12a
§§ 14 bis 16, 20 Abs. 2 und 25 BHB -> C14 C15 C16 C20 C25
§§ 38 Abs. 1 Nr. 2 bis 4, 40 und 42 bis 44 -> 38 40 42 43 44
§§ 2 Abs. 1, 4 und 6 -> 2 4 6
§§ 2, 3 Abs. 1, 4 und 6 -> 2 3
§ 38 Abs. 1 Nr. 2 bis 4, 40 und 42 -> 38
§§ 38 Abs. 1 (Satz 1 und 40) -> 38
§ 99 ->
in 36 Tagen ->
Absatz 36 ->
Anlage 2 -> Anlage2
die Anlagen 1 und 2 -> Anlage1 Anlage2
""",
    "it": """
gli articoli 21, 22, 23 e 26 -> 21 22 23 26
gli articoli 36 e 38 -> 36 38
l'articolo 36 e l'articolo 38 -> 36 38
gli artt. 36 e 38 -> 36 38
gli articoli da 5 a 8 -> 5 6 7 8
dall'articolo 5 all'articolo 7 -> 5 6 7
gli articoli 5 o 7 -> 5 7
all'articolo 36, comma 2 -> 36
all'articolo 36, commi 1 e 2 -> 36
gli articoli 21, comma 1, e 22 -> 21 22
il comma 2 dell'articolo 36 -> 36
l'articolo 36, primo comma, -> 36
l'articolo 36, lettera a) -> 36
l'articolo 3-bis -> 3bis
l'articolo 3 bis -> 3bis
gli articoli 3-bis e 3-ter -> 3bis 3ter
l'articolo 3-bis, comma 1-ter -> 3bis
l'articolo 36 della presente legge -> 36
l'articolo 5 del codice dei giardini -> B5
l'articolo 5, comma 1, del codice dei giardini -> B5
l'art. 5 c.g. -> B5
l'articolo 3 della legge 3 maggio 1941, n. 7 -> C3
l'articolo 5 della legge 22 aprile 1999, n. 633 ->
l'articolo 5 del decreto legislativo 5 maggio 2001, n. 3 ->
l'art. 5 c.c. ->
l'articolo 5 del codice dei giardini e l'articolo 6 del medesimo codice -> B5 B6
gli articoli 36 e seguenti -> 36
gli articoli da 12 a 14, 20, comma 2, e 25 -> 12 13 14 20 25
gli articoli 38, commi 1 e 2, 40 e 42 -> 38 40 42
gli articoli da 12 a 14, 20, comma 2, e 25 del codice dei giardini -> B12 B13 B14 B20 B25
l'articolo 36 del contratto -> 36
l'articolo 99 ->
entro 36 giorni ->
""",
    "nl": """
de artikelen 21, 22, 23 en 26 -> 21 22 23 26
artikelen 36 of 38 -> 36 38
artikel 8 tot en met 10 -> 8 9 10
artikel 5 tot en met artikel 7 -> 5 6 7
de artikelen 5 t/m 7 -> 5 6 7
artikel 7:201 -> 7:201
artikel 36, tweede lid, onder a -> 36
artikel 36 lid 2 -> 36
artikel 36, eerste lid, en 38 -> 36 38
de artikelen 36, eerste en tweede lid, en 38, derde lid -> 36 38
artikel 36, § 2 -> 36
artikel 36 van deze wet -> 36
artikel 5 van de Tuinwet -> B5
artikel 5 Burgerlijk Marktboek -> C5
artikel 5 BM -> C5
artikel 5 BW ->
artikel 5 van de Algemene wet bestuursrecht ->
artikel 5 van de Tuinwet en artikel 6 van die wet -> B5 B6
artikel 36 e.v. -> 36
de artikelen 12 tot en met 14, 20, tweede lid, en 25 -> 12 13 14 20 25
de artikelen 38, leden 1 en 2, 40 en 42 -> 38 40 42
de artikelen 12 t/m 14, 20 lid 2 en 25 van de Tuinwet -> B12 B13 B14 B20 B25
artikel 99 ->
""",
    "fr": """
les articles 21, 22, 23 et 26 -> 21 22 23 26
ARTICLE 36 -> 36
les articles 5 à 8 -> 5 6 7 8
les articles 5 a 7 -> 5 6 7
prévu à l'article 5, à l'article 7 -> 5 7
de l'article 5 à l'article 7 -> 5 6 7
l'article 3 bis -> 3bis
les articles 3 bis et 4 -> 3bis 4
l'article premier -> 1
l'article 1er -> 1
l'article 36, alinéa 2, -> 36
l'article 36, alinea 2, et l'article 38 -> 36 38
les articles 21, alinéa 1, et 22 -> 21 22
l'article 36, § 2, -> 36
l'article 36 de la presente loi -> 36
l'article 5 du code des jardins -> B5
l'article 5 CJP -> B5
l'article 5 de la loi n° 78-17 -> C5
l'article 5 de la loi n° 83-634 ->
l'annexe II -> A2
les articles 12 à 14, 20, alinéa 2, et 25 -> 12 13 14 20 25
les articles 38, alinéas 1 et 2, 40 et 42 -> 38 40 42
les articles 12 à 14, 20, alinéa 2, et 25 du code des jardins -> B12 B13 B14 B20 B25
l'article 44 sexies-0 A -> 44sexies
les articles 45 quater B ter et 45 quater B -> 45quaterBter 45quaterB
les articles 44 sexies‑0 A, 44 sexies-0 B et 3 bis -> 44sexies 3bis
""",
    "en": """
sections 21, 22, 23 and 26 -> 21 22 23 26
SECTION 36 -> 36
sections 12 to 14A -> 12 12A 13 14 14A
sections 5 through 7 -> 5 6 7
sections 5 to 7 inclusive and 9 -> 5 6 7 9
section 5 to section 7 -> 5 6 7
section 19ZA -> 19ZA
section 36(2)(a) and (b) -> 36
sections 36(2), 38 and 40(1) -> 36 38 40
section 36, subsection (2) -> 36
subsection 36(2) -> 36
s. 36 and ss. 38 and 40 -> 36 38 40
section 36 of this Act -> 36
section 5 of the Garden Act 1990 -> B5
section 5 of the Garden Act -> B5
section 5 of the Garden Act 1875 ->
section 5 MR -> C5
Article 36 of the Treaty ->
Article 36 ->
section 99 ->
Schedule 2 -> Sch2
Schedules 1 and 2 -> Sch1 Sch2
section 5 of Schedule 9 ->
sections 15 to 18, 20(2) and 25 -> 15 16 17 18 20 25
sections 38, paragraphs 1 and 2, 40 and 42 -> 38 40 42
sections 15–18, 20(2) and 25 of the Garden Act -> B15 B16 B17 B18 B20 B25
section 5 of Title 2 -> 5
section 5 of Title 2 of the Garden Act -> B5
section 5 of title 2, United States Code ->
section 5 and 2 U.S.C. 6 -> 5
""",
    "zh": """
第十二条 -> 12
第12条 -> 12
第十、十二条 -> 10 12
第十条、第十二条和第十五条 -> 10 12 15
第十条至第十二条 -> 10 11 12
第一百零三条第二款 -> 103
第 12 條 -> 12
第１２条 -> 12
第一百零三條之一、第 103-1 條第二項、第103条 -> 103-1 103
本法第十二條至第十四條 -> 12 13 14
第十二条第一款第（二）项、第十三条 -> 12 13
本法第十二条 -> 12
《花园法》第五条 -> B5
花园法第五条 -> B5
《中华人民共和国花园法》第五条和第六条 -> B5 B6
依照《市场管理条例》第五条 -> C5
《刑法》第五条 ->
第十二章 ->
十二条狗 ->
""",
    "ja": """
第十二条 -> 12
第12条第2項 -> 12
第百三条の二第一項第三号 -> 103-2
第103条の2及び第103条 -> 103-2 103
第十条から第十二条まで -> 10 11 12
この法律第十二条の規定 -> 12
庭園法第五条又は第六条 -> B5 B6
市場規則第五条、同規則第六条 -> C5 C6
刑法第五条 ->
十二条 ->
""",
}
CASES = [
    pytest.param(language, *line.split("->"), id=f"{language}: {line.split(' ->')[0]}")
    for language, lines in SENTENCES.items()
    for line in lines.strip().splitlines()
]


def titles_of(language):
    """Return (label, title, code) of every article of a language's three laws."""
    codes, title, special = LAWS[language]
    own = [(str(number), title.format(number)) for number in range(1, 61)]
    own = sorted([*own, *special.items()], key=lambda row: int((re.match(r"\d+", row[0]) or [61])[0]))
    others = [(prefix, number) for prefix in "BC" for number in range(1, 61)]
    return [(label, name, codes[0]) for label, name in own] + [
        (f"{prefix}{number}", title.format(number), codes["ABC".index(prefix)]) for prefix, number in others
    ]


@pytest.fixture(scope="module")
def finders():
    return {
        language: ReferenceFinder([title for _, title, _ in rows], [code for *_, code in rows])
        for language, rows in ((language, titles_of(language)) for language in LAWS)
    }


@pytest.mark.parametrize(("language", "sentence", "named"), CASES)
def test_references(finders, language, sentence, named):
    rows, own = titles_of(language), LAWS[language][0][0]
    assert [rows[row][0] for row in finders[language].find(sentence.strip(), own)] == named.split()
