import json
import shutil

import pytest

RATE = "stage2.lr: {low: 1.0e-4, high: 1.0e-2, log: true}\ngnn.layers: {choices: [1, 2]}\n"


@pytest.fixture
def space(tmp_path):
    """Return a search space of two settings."""
    path = tmp_path / "space.yaml"
    path.write_text(RATE)
    return path


def test_the_grid_of_bm25(ran, town, tmp_path):
    done = ran(
        "tune", "bm25", "--corpus", town, "--k1", "0.5,2.5", "--b", "0,0.5,1", "--set", "select_by=mAP", "--out", "grid"
    )
    lines = done.splitlines()
    assert lines[0] == "BM25 on town, dev, best 6 of 6"
    saved = json.loads((tmp_path / "grid" / "grid.json").read_text())
    assert saved["metric"] == "mAP"
    best = saved["best"]
    assert lines[-2] == f"Best: --set bm25.k1={best['k1']:g} --set bm25.b={best['b']:g}"
    assert lines[-1] == "Written: grid/grid.json, grid/grid.png"
    cells = [line.strip("│ ").replace("│", " ").split() for line in lines if line.startswith("│")]
    assert len(cells) == 6
    assert cells[0] == [f"{best['k1']:g}", f"{best['b']:g}", f"{100 * best['value']:.1f}"]
    assert (tmp_path / "grid" / "grid.png").read_bytes().startswith(b"\x89PNG")


def test_a_search_and_its_continuation(run_here, refused, town, space, set_options, tmp_path):
    command = ("tune", "qabisar", "--corpus", town, "--space", space, "--out", "study", *set_options)
    for trials in (1, 2):
        done = run_here(*command, "--trials", trials)
        assert done.returncode == 0
        (line,) = done.stderr.splitlines()
        assert line.startswith(f"trial {trials}/{trials}: dev ")
    lines = done.stdout.splitlines()
    assert lines[0] == "qabisar on town: the best of 2 trials"
    assert any(line.startswith("│ dev quality, %") for line in lines)
    assert max(map(len, lines[:-2])) <= 80
    trials = json.loads((tmp_path / "study" / "trials.json").read_text())["trials"]
    best = max(trials, key=lambda trial: trial["value"])
    assert lines[-2].startswith("Best: --set encoder.backbone=")
    assert lines[-2].endswith(" ".join(f"--set {name}={value}" for name, value in best["settings"].items()))
    assert lines[-1] == "Written: study/best.yaml, study/trials.json"
    assert refused(*command, "--seed", "7") == (
        "study/study.db: a study with other settings (seed: 0 then, 7 now); give the same ones, or choose another --out"
    )


@pytest.mark.parametrize("system", ["bm25", "qabisar"])
def test_a_corpus_without_dev_questions_is_refused(refused, town, tmp_path, system):
    shutil.copytree(town, tmp_path / "corpus")
    (tmp_path / "corpus" / "qrels" / "dev.tsv").unlink()
    assert refused("tune", system, "--corpus", "corpus", code=2) == (
        "split 'dev' of corpus 'town' has no questions; add some to qrels/dev.tsv, or choose another split"
    )
