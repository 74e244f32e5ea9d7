"""The measure of references on a made-up act of four articles; 1, 2 and 3 have marks."""

import gzip
import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from tools import citations
from tools.citations import Counts, labelled, marked, marked_acts, percent, read_act, rows_listed
from tools.material import BEGIN, END

ACT = "law-formats/made-up/dogs.xml"
XML = """<akomaNtoso xmlns="http://docs.oasis-open.org/legaldocml/ns/akn/3.0"><act>
<meta><identification><FRBRExpression><FRBRlanguage language="eng"/></FRBRExpression></identification></meta>
<preface><longTitle><p><docTitle>Dog Act</docTitle></p></longTitle></preface><body>
<article eId="art_1"><num>Article 1</num><content><p>See <ref href="#art_2">article 2</ref> and article 3.</p></content></article>
<article eId="art_2"><num>Article 2</num><content><p>As <ref href="#art_4">that rule</ref> says.</p></content></article>
<article eId="art_3"><num>Article 3</num><content><p>As <ref href="/akn/xx/act/cats#art_5">article 5 of the Cat Act</ref>.</p>
</content></article><article eId="art_4"><num>Article 4</num><content><p>See articles 1 to 3.</p></content></article>
</body></act></akomaNtoso>"""  # noqa: E501


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    file = tmp_path / ACT
    file.parent.mkdir(parents=True)
    file.write_text(XML, encoding="utf-8")
    (file.parent / "README.txt").write_text("no law", encoding="utf-8")
    (file.parent / "broken.xml").write_text("<act>", encoding="utf-8")
    articles = [("c1", "第一条", "依照第二条。"), ("c2", "第二条", "无")]
    records = [{"_id": i, "title": t, "text": said, "metadata": {"path": ["法"]}} for i, t, said in articles]
    with gzip.open(tmp_path / "cn.jsonl.gz", "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps(record) + "\n" for record in records)
    return tmp_path


def test_labels_are_the_truth_of_the_articles_read_by_eye(folder, capsys):
    listed = {ACT: {"1": "2", "2": "4", "4": "1..3"}, "gone.xml": {"1": ""}}
    counts = labelled(folder, {"en": listed, "zh": {"cn.jsonl.gz": {"c1": "2"}}})
    assert counts == {"en": Counts(3, 5, 5, 4, [(ACT, "2", "4")], {(ACT, "1", "3")}), "zh": Counts(1, 1, 1, 1)}
    assert capsys.readouterr().out == f"gone.xml: not in {folder}; not measured\n"


def test_a_range_lists_no_reference_to_the_article_itself(folder):
    act = read_act(folder, ACT)
    assert rows_listed(act, 1, "1..3 4") == {0, 2, 3}


def test_a_label_for_another_language_is_refused(folder):
    with pytest.raises(SystemExit, match=r"is in 'en' and labelled as 'fr'"):
        labelled(folder, {"fr": {ACT: {"1": "2"}}})


def test_marks_are_the_truth_of_every_act_that_can_be_read(folder):
    counts, elsewhere = marked(marked_acts(folder))
    assert counts == {"en": Counts(2, 2, 2, 1, [(ACT, "2", "4")], {(ACT, "1", "3")})}
    assert elsewhere == {"en": {"marks": 1, "read": 1, "other": 1}}


@pytest.mark.parametrize(("part", "whole", "text"), [(1, 2, "50.0 (9 to 91)"), (3, 3, "100.0 (44 to 100)"), (0, 0, "")])
def test_percent_has_its_wilson_interval(part, whole, text):
    assert percent(part, whole) == text


def test_the_page_gets_the_tables(folder, monkeypatch):
    page, labels = folder / "page.md", folder / "labels.yaml"
    page.write_text(f"Head.\n{BEGIN}\nold\n{END}\nTail.\n", encoding="utf-8")
    labels.write_text(yaml.dump({"labelled": {"en": {ACT: {"2": "4"}}}, "judged": {f"{ACT}/1/3": "right"}}))
    monkeypatch.setattr(citations, "PAGE", page)
    monkeypatch.setattr(citations, "LABELS", labels)
    assert CliRunner().invoke(citations.main, [str(folder)]).exit_code == 0
    text = page.read_text(encoding="utf-8")
    assert "| en | 1 | 1 | 0 | 0.0 (0 to 79) |  |" in text
    assert "| en | 2 | 1 | 50.0 (9 to 91) | 1 | 1 of 1 |" in text
    listed = CliRunner().invoke(citations.main, [str(folder), "--list", "en"])
    assert listed.output.splitlines() == [
        f"missed {ACT} 2 4",
        f"missed {ACT} 2 4",
        f"beyond {ACT} 1 3",
    ]


def test_a_folder_without_acts_is_refused_and_the_page_is_kept(tmp_path, monkeypatch):
    page = tmp_path / "citations.md"
    page.write_text("measured\n", encoding="utf-8")
    monkeypatch.setattr(citations, "PAGE", page)
    refused = CliRunner().invoke(citations.main, [str(tmp_path)])
    assert refused.exit_code == 2
    assert f"{tmp_path}: no folder 'law-formats' in it" in refused.output
    assert page.read_text(encoding="utf-8") == "measured\n"
