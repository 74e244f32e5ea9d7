from pathlib import Path

import pytest

from tools.fidelity_page import VALUES, page
from tools.material import read_yaml

PAGE = Path(__file__).parents[2] / "docs" / "fidelity.md"


def values(**row) -> dict:
    """Return the values of one paper that says one thing of BM25, with the reason `own` for what differs."""
    part = {"title": "Words", "system": "bm25", "rows": [{"what": "k1", "read in": "table 1", **row}]}
    papers = [{"name": "Paper", "citation": "Somebody 2020", "parts": [part]}]
    return {"papers": papers, "reasons": {"own": "Chosen so."} if row.get("because") else {}, "missing": ["A GPU."]}


def row_of(**row) -> str:
    return next(line for line in page(values(**row)).splitlines() if line.startswith("| k1"))


def everywhere(reason: str) -> dict[str, str]:
    return dict.fromkeys(("paper", "full", "head", "static"), reason)


def test_the_page_is_what_the_presets_are():
    assert PAGE.read_text(encoding="utf-8") == page(read_yaml(VALUES)), (
        "docs/fidelity.md is out of date; run 'make docs'"
    )


def test_a_static_encoder_has_no_chunks_and_the_codes_values_are_those_of_the_regime():
    text = PAGE.read_text(encoding="utf-8")
    row = next(line for line in text.splitlines() if line.startswith("| layers over the chunks"))
    assert row.split(" | ")[-2:] == ["2", row.split(" | ")[-1]]
    assert row.split(" | ")[-1].startswith("none [[")
    read = {"what": "heads", "file": "gnn.py", "setting": "gnn.heads", "is": 1, "paper": "not said"}
    given = values(setting="bm25.k1", paper=2.5)
    assert "| heads (`gnn.heads`) | `gnn.py` | 1 | not said | 8 | 1 |" in page(given | {"code": [read]})
    with pytest.raises(ValueError, match=r"gdsr, paper-code: gnn\.heads is 1, the code's 2"):
        page(given | {"code": [read | {"is": 2}]})
    unset = {"what": "roots", "file": "graph.py", "code": "types of law", "paper": "not said", "ours": "codes"}
    assert "| roots | `graph.py` | types of law | not said | codes | not reproduced |" in page(
        given | {"code": [unset]}
    )


def test_another_value_has_a_reason():
    row = row_of(setting="bm25.k1", paper=0.9, because=everywhere("own"))
    assert row == "| k1 (`bm25.k1`) | 0.9 (table 1) |" + " 2.5 [[1]](#reasons) |" * 4
    assert row_of(setting="bm25.k1", paper=0.9, because="own") == row
    end = "## Reasons\n\n1. Chosen so.\n\n## What is missing\n\n- A GPU.\n"
    assert page(values(setting="bm25.k1", paper=0.9, because="own")).endswith(end)


def test_words_that_hold_for_every_regime_are_written_once():
    row = row_of(paper="two", ours="one", because="own")
    assert row == "| k1 | two (table 1) | one [[1]](#reasons) | same | same | same |"


def test_what_is_alike_in_every_regime_is_below_the_table():
    agreed = page(values(setting="bm25.k1", paper=2.5))
    assert "**As in the paper, in every regime.** k1 (`bm25.k1`): 2.5 (table 1).\n\n## Reasons" in agreed
    assert "| what |" not in agreed
    assert "**Not said; in every regime.** k1 (`bm25.k1`): 2.5.\n" in page(values(setting="bm25.k1", paper=None))


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"setting": "bm25.k1", "paper": 0.9}, "say why"),
        ({"setting": "bm25.k1", "paper": 0.9, "because": {"full": "own"}}, "bm25, paper: bm25.k1 is 2.5"),
        ({"setting": "bm25.k1", "paper": 2.5, "because": everywhere("own")}, "remove the reason 'own'"),
        ({"setting": "bm25.k1", "paper": 0.9, "because": everywhere("other")}, "'other' is no reason"),
    ],
)
def test_drift_is_noticed(row, words):
    with pytest.raises(ValueError, match=words):
        page(values(**row))


def test_a_reason_for_nothing_is_noticed():
    with pytest.raises(ValueError, match="'idle'"):
        page(values(setting="bm25.k1", paper=2.5) | {"reasons": {"idle": "Once it was so."}})
