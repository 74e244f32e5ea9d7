import os
import sys
from types import SimpleNamespace

import pytest

from benchmarks import gpu_hour
from benchmarks.gpu_hour import Item, check_machine, encoder_at_hand, main, plan, work_off
from statgraph.artifacts import read_json
from statgraph.encoders.backbones import EMBEDDED_E5
from statgraph.errors import CorpusError, ModelError, UsageError


@pytest.fixture
def item(tmp_path):
    """Return a function that makes an item of a line of Python."""
    return lambda name, code: Item(name, (sys.executable, "-S", "-c", code), tmp_path / f"{name}.json")


def test_the_order_of_value(tmp_path):
    items = plan(tmp_path / "law", "models/large", tmp_path / "out", quick=False)
    assert [item.name for item in items] == ["tests", "benchmarks", "qabisar", "gdsr", "dsr"]
    tests, benchmarks, *trainings = (" ".join(item.command[1:]) for item in items)
    assert tests.startswith("-m pytest -q -m cuda tests/benchmarks/")
    assert "tests/gnn/test_layer_rules.py" in tests
    assert benchmarks == f"-m benchmarks on_gpu --corpus {tmp_path / 'law'}"
    assert [line.split()[2] for line in trainings] == ["qabisar", "gdsr", "dsr"]
    assert all("--backbone models/large" in line and "--quick" not in line for line in trainings)
    assert all(item.command[-1] == "--quick" for item in plan(tmp_path, "tiny", tmp_path, quick=True)[1:])


def test_each_result_is_written_and_what_is_done_is_left(item, tmp_path, capsys):
    items = [item("first", "print('measured')"), item("second", "raise SystemExit(3)"), item("third", "")]
    assert work_off(items, seconds=60, env=os.environ) == 1
    assert read_json(tmp_path / "first.json")["output"] == ["measured"]
    assert sorted(path.name for path in tmp_path.glob("*.json")) == ["first.json", "third.json"]
    capsys.readouterr()
    work_off([item("first", "raise SystemExit(3)"), item("second", "")], seconds=60, env=os.environ)
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("first: done before")
    assert said[2].startswith("second: done in")


def test_a_result_that_the_command_wrote_itself_stays(item, tmp_path):
    own = item("own", f"open({str(tmp_path / 'own.json')!r}, 'w').write('[1]')")
    assert work_off([own], seconds=60, env=os.environ) == 0
    assert (tmp_path / "own.json").read_text() == "[1]"


def test_the_time_is_kept_and_what_runs_is_interrupted_as_by_ctrl_c(item, tmp_path, capsys):
    code = "import time\ntry: time.sleep(60)\nexcept KeyboardInterrupt: print('saved', flush=True); raise SystemExit(2)"
    assert work_off([item("long", code), item("next", "")], seconds=0.5, env=os.environ) == 0
    assert list(tmp_path.glob("*.json")) == []
    assert (tmp_path / "long.log").read_text() == "saved\n"
    said = capsys.readouterr().out
    assert "long: interrupted" in said
    assert "next: no time left" in said


def test_what_is_missing_is_one_line(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(UsageError, match="make gpu DRY=1"):
        check_machine(tmp_path)
    assert main([]) == 1
    assert capsys.readouterr().err.startswith("Error: torch ")
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    with pytest.raises(CorpusError, match="statgraph fetch legi-fr"):
        check_machine(tmp_path / "legi-fr")


def test_the_encoder_is_the_one_named_or_the_largest_that_reads_french(monkeypatch, tmp_path):
    about = {
        "almanach/camembert-base": ("camembert", 12, 768),
        "almanach/camembert-large": ("camembert", 24, 1024),
        "bert-huge": ("bert", 48, 2048),
        "xlm-roberta-xl-cut-short": ("xlm-roberta", 36, 2560),
    }
    repositories = [SimpleNamespace(repo_type="model", repo_id=name) for name in about]
    repositories.append(SimpleNamespace(repo_type="dataset", repo_id="law"))

    def config_of(name, local_files_only):
        family, layers, width = about[name]
        return SimpleNamespace(model_type=family, num_hidden_layers=layers, hidden_size=width)

    monkeypatch.setattr("huggingface_hub.scan_cache_dir", lambda: SimpleNamespace(repos=repositories))
    monkeypatch.setattr("transformers.AutoConfig.from_pretrained", config_of)
    monkeypatch.setattr("statgraph.encoders.loading.is_cached", lambda name: name in about and "cut" not in name)
    assert encoder_at_hand() == "almanach/camembert-large"
    assert encoder_at_hand("bert-huge") == "bert-huge"
    (tmp_path / "config.json").touch()
    assert encoder_at_hand(str(tmp_path)) == str(tmp_path)
    with pytest.raises(ModelError, match="missing"):
        encoder_at_hand("missing")
    monkeypatch.setattr(gpu_hour, "_cached_encoders", dict)
    assert encoder_at_hand() == EMBEDDED_E5
