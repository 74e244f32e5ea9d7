from dataclasses import replace
from pathlib import Path

import pytest

from statgraph.config import EncoderConfig, RunConfig
from statgraph.errors import RunError
from statgraph.evaluation.report import Report, Stratum
from statgraph.evaluation.significance import Estimate
from statgraph.runs.run import CorpusFacts, RunFolder
from statgraph.systems.model_card import (
    backbone_licences,
    corpus_entry,
    model_card,
    read_run_report,
    write_model_cards,
)

REPORT = Report(
    "dev",
    {
        "all": Stratum(4, {"R@100": Estimate(0.6134, 0.5409, 0.6879), "mAP": Estimate(0.335, 0.27, 0.4)}),
        "seen": Stratum(3, {"R@100": Estimate(0.5, 0.25, 0.75)}),
        "unseen": Stratum(0, {}),
        "gold: 1": Stratum(4, {"R@100": Estimate(0.9, 0.9, 0.9)}),
    },
    29115,
)


def run_of(config: RunConfig, **more: object) -> RunFolder:
    return RunFolder(Path("run"), config, CorpusFacts("town | law", "fr", "ab" * 32, 29115), processes=1, **more)


@pytest.fixture
def dense(town_corpus) -> RunFolder:
    config = RunConfig(seed=7, encoder=EncoderConfig(backbone="embedded:static", train="full"))
    about = {
        "data": corpus_entry(town_corpus),
        "backbone_licences": {"embedded:static": "MIT"},
        "versions": {"torch": "2.13.0"},
    }
    return run_of(config, **about)


def header(card: str) -> dict:
    """Return the header as a model hub reads it."""
    from huggingface_hub import ModelCard

    return ModelCard(card).data.to_dict()


def test_it_says_what_the_run_was_trained_on(dense):
    card = model_card(dense, REPORT)
    for line in (
        "# qabisar on town | law",
        "| Corpus | town \\| law (content hash abababababab) |",
        "| Source | written for the tests |",
        "| Licence | CC0 |",
        "| Articles | 29,115 |",
        "| Headings | 3 |",
        "| Questions | train 8, dev 4, test 4 |",
        "| Labels | train 8, dev 4, test 4 |",
        "| Seed | 7 |",
        "| Backbone | `embedded:static` (trained: full) |",
        "| Graph | tree, bipartite |",
        "| Backbone `embedded:static` | MIT |",
        "- torch 2.13.0",
    ):
        assert line in card.splitlines(), line
    assert "**It gives no legal advice.**" in card
    assert "A question is the bag of its words" in card
    assert "None" not in card


def test_metrics_stand_with_their_intervals(dense):
    card = model_card(dense, REPORT)
    assert (
        "On the questions of dev (count in brackets), in per cent, with 95%\nbootstrap intervals over questions:\n\n"
        "| | all (4) | seen (3) |\n"
        "| --- | --- | --- |\n"
        "| R@100 | 61.3 [54.1, 68.8] | 50.0 [25.0, 75.0] |\n"
        "| mAP | 33.5 [27.0, 40.0] |  |\n"
    ) in card
    assert "Training kept the epoch that did best on dev" in card


def test_hubs_can_read_the_header(dense):
    about = header(model_card(dense, REPORT))
    assert (about["language"], about["license"], about["library_name"]) == (["fr"], "other", "sentence-transformers")
    (model,) = about["model-index"]
    assert model["name"] == "qabisar on town | law"
    (result,) = model["results"]
    assert result["dataset"] == {"type": "statutes", "name": "town | law", "split": "dev"}
    assert [(metric["type"], metric["value"]) for metric in result["metrics"]] == [("R@100", 61.3), ("mAP", 33.5)]


def test_bm25_has_no_encoder_to_tell_of(dense):
    card = model_card(replace(dense, config=RunConfig(system="bm25", retriever="bm25")), REPORT)
    assert "| k1 | 2.5 |" in card
    assert header(card)["library_name"] == "statgraph"
    for word in ("SentenceTransformer", "Backbone", "Training kept"):
        assert word not in card


def test_the_cards_of_a_run_and_of_its_encoder(dense, tmp_path):
    (tmp_path / "query_encoder").mkdir()
    write_model_cards(replace(dense, folder=tmp_path), REPORT)
    assert (tmp_path / "README.md").read_text() == model_card(dense, REPORT)
    encoder = (tmp_path / "query_encoder" / "README.md").read_text()
    assert encoder == model_card(dense, REPORT, part="query_encoder")
    assert 'SentenceTransformer("path/of/this/folder")' in encoder
    assert "| R@100 | 61.3 [54.1, 68.8] |" in encoder


def test_a_damaged_report_is_told(tmp_path):
    assert read_run_report(tmp_path) is None
    for text in ("{", "{}", "[]"):
        (tmp_path / "report.json").write_text(text)
        with pytest.raises(RunError, match="evaluate") as refused:
            read_run_report(tmp_path)
        assert str(refused.value).startswith(f"{tmp_path / 'report.json'}: ")


def licences(**encoder: str) -> dict:
    return backbone_licences(RunConfig(encoder=EncoderConfig(**encoder)))


@pytest.mark.parametrize(
    ("readme", "licence"),
    [
        ("---\nlanguage: fr\nlicense: apache-2.0\n---\n# A model\nlicense: mine\n", "apache-2.0"),
        ("# A model\n---\nlicense: mit\n---\n", None),
        ("---\nlicense: [\n---\n", None),
        ("---\n- license\n---\n", None),
        ("---\nlicense: mit\n", None),
        ("", None),
    ],
)
def test_a_folder_says_its_own(tmp_path, readme, licence):
    (tmp_path / "README.md").write_text(readme)
    assert licences(backbone=str(tmp_path)) == {str(tmp_path): licence}
