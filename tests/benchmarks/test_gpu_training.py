import json
import sys

from benchmarks import gpu_training
from statgraph.corpus.store import write_corpus
from statgraph.encoders.tiny import write_tiny_backbone


def test_a_system_is_trained_measured_and_not_trained_again(town_corpus, tmp_path, monkeypatch, own_cache):
    write_corpus(town_corpus, tmp_path / "town")
    tiny = write_tiny_backbone(tmp_path / "tiny", [article.text for article in town_corpus.articles])
    command = ("dsr", "--corpus", tmp_path / "town", "--backbone", tiny, "--out", tmp_path / "out", "--quick")
    monkeypatch.setattr(sys, "argv", ["gpu_training", *map(str, command)])
    assert gpu_training.main() == 0
    result = json.loads((tmp_path / "out" / "dsr.json").read_text())
    assert (result["system"], result["config"]["encoder"]["train"], result["most_cuda_bytes"]) == ("dsr", "full", None)
    assert set(result["reports"]) == {"dev", "test"}
    assert list(result["planned_bytes"]) == ["stage 1"]
    monkeypatch.setattr(gpu_training, "train_run", lambda *arguments: None)
    assert gpu_training.main() == 0
    assert json.loads((tmp_path / "out" / "dsr.json").read_text())["reports"] == result["reports"]
