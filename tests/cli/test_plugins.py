"""The package that docs/extending.md walks through, built and installed as a user would."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from statgraph import registry
from statgraph.registry import LAYERS

GUIDE = Path(__file__).parents[2] / "docs" / "extending.md"


def install(source: Path, target: Path) -> None:
    """Build a package and install it into a folder, offline; `make` constrains pip by a path relative to its folder."""
    options = ("--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--target", str(target))
    environment = {name: value for name, value in os.environ.items() if name != "PIP_CONSTRAINT"}
    command = [sys.executable, "-m", "pip", "install", *options, str(source)]
    subprocess.run(command, check=True, cwd=source, env=environment)


@pytest.fixture(scope="module")
def blocks():
    """Return the guide's blocks by their language, in order."""
    found = re.findall(r"```(\w+)\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    return {language: [text for kind, text in found if kind == language] for language in ("toml", "python", "sh")}


@pytest.fixture(scope="module")
def installed(blocks, quick_backbone, tmp_path_factory):
    """Return the folder that the guide's package is installed in."""
    folder = tmp_path_factory.mktemp("guide")
    package = folder / "town-law" / "town_law"
    layer, _, negatives, backbone, text_files, titles = blocks["python"]
    package.mkdir(parents=True)
    (package.parent / "pyproject.toml").write_text(blocks["toml"][0])
    (package / "__init__.py").touch()
    for name, text in {
        "layer": layer, "negatives": negatives, "backbone": backbone, "text_files": text_files,
        "titles": titles,
    }.items():  # fmt: skip
        (package / f"{name}.py").write_text(text)
    shutil.copytree(quick_backbone, package / "model")
    install(package.parent, folder / "site")
    return folder / "site"


def _forget_packages() -> None:
    registry.installed.cache_clear()
    sys.modules.pop("statgraph.cli.corpora", None)  # whose help lists the formats


@pytest.fixture
def run_with(run_here):
    """Return a function (folder of packages, *arguments) that runs the command line with these packages installed."""
    import statgraph.cli.corpora  # noqa: F401  its help lists the packages of the moment when it is first imported

    def run(packages: Path, *arguments):
        with pytest.MonkeyPatch.context() as patch:
            patch.syspath_prepend(packages)
            _forget_packages()
            done = run_here(*arguments)
        _forget_packages()
        return done

    return run


def test_the_guides_package_trains(run_with, installed, town, tmp_path, set_options):
    wanted = ("gnn.layer=maximum", "stage1.negatives=random", "encoder.backbone=town", "stage1.epochs=1")
    options = [*set_options, *(word for setting in wanted for word in ("--set", setting))]
    done = run_with(installed, "train", "--corpus", town, "--system", "qabisar", "--out", "run", *options)
    assert (done.returncode, done.stderr) == (0, "")
    assert ", town (full), " in done.stdout
    gnn = json.loads((tmp_path / "run" / "manifest.json").read_text())["config"]["gnn"]
    assert gnn["layer"] == "maximum"
    assert run_with(installed, "search", "lamps", "--run", "run", "-k", 1).returncode == 0


def test_a_layer_of_a_module_that_is_no_package(
    run_here, ran, refused, blocks, town, tmp_path, set_options, monkeypatch
):
    (tmp_path / "my_layers").mkdir()
    (tmp_path / "my_layers" / "largest.py").write_text(f"{blocks['python'][0]}print('imported')\n")
    name = "my_layers.largest:MaximumLayer"
    wanted = (f"gnn.layer={name}", "stage1.epochs=0", "stage2.epochs=1")
    options = [*set_options, *(word for setting in wanted for word in ("--set", setting))]
    with pytest.MonkeyPatch.context() as typed:
        typed.syspath_prepend(tmp_path)
        typed.setattr(LAYERS, "_allowed", set())
        done = run_here("train", "--corpus", town, "--system", "qabisar", "--out", "run", *options)
    assert (done.returncode, done.stderr) == (0, "")
    assert f" (full), layer {name}, seed 0\n" in done.stdout
    monkeypatch.delitem(sys.modules, "my_layers.largest")
    assert f"2 layers of `{name}`, 2 heads" in (tmp_path / "run" / "README.md").read_text()
    # Here nobody has typed the layer, and its module cannot even be found: nothing of it is needed to search.
    ran("search", "lamps", "--run", "run", "-k", 1)
    remedy = (
        f"run: graph layer '{name}': not imported just because a run names it; if you trust that module, set "
        "STATGRAPH_LAYERS=my_layers.largest"
    )
    assert f" {remedy}\n" in run_here("search", "lamps", "--run", "run", "-k", 1, "--explain").stdout
    assert refused("update", "--run", "run", "--corpus", town) == remedy
    assert refused("train", "--corpus", town, "--final", "run") == remedy
    allowed = {"PYTHONPATH": str(tmp_path), "STATGRAPH_LAYERS": "my_layers.largest"}
    with pytest.MonkeyPatch.context() as patch:
        for variable, value in allowed.items():
            patch.setenv(variable, value)
        patch.syspath_prepend(tmp_path)
        assert run_here("update", "--run", "run", "--corpus", town).stdout.startswith("imported\n")


def test_a_layer_that_cannot_be_used_is_refused_before_any_work(refused, town, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "odd_layers.py").write_text(
        "from torch import nn\n"
        "class Narrow(nn.Module):\n"
        "    def __init__(self, width): super().__init__()\n"
        "class Same(nn.Module):\n"
        "    def __init__(self, width, *, n_heads, n_edge_types): super().__init__()\n"
        "    def forward(self, nodes, block): return nodes[:1]\n"
    )

    def say(layer, *more, code=2):
        return refused("train", "--system", "gdsr", "--corpus", town, "--set", f"gnn.layer={layer}", *more, code=code)

    there = "docs/extending.md says what a layer is"
    assert say("odd_layers:Narrow") == (
        "gnn.layer: 'odd_layers:Narrow' failed when it was tried (TypeError: Narrow.__init__() got an unexpected "
        f"keyword argument 'n_heads'); {there}"
    )
    assert (
        say("odd_layers:Same") == f"gnn.layer: 'odd_layers:Same' gave vectors of shape (1, 384), not (2, 384); {there}"
    )
    wider = say("odd_layers:Same", "--set", "gnn.residual=false", "--set", "gnn.expansion=2")
    assert "unexpected keyword argument 'out_width'" in wider
    assert say("odd_layers:None_") == (
        "graph layer 'odd_layers:None_': None_ of module odd_layers is not there; docs/extending.md has one"
    )
    assert say("no_layers:Same", code=1) == (
        "graph layer 'no_layers:Same': module no_layers cannot be imported (No module named 'no_layers'); install its "
        "package, or add its folder to PYTHONPATH"
    )
    assert say("odd_layers.Same") == (
        "gnn.layer: must be one of qabisar, qabisar-v2, gatv2, gat, gcn, graphsage, k-gnn, or a class as "
        "package.module:Class (got 'odd_layers.Same'). Graph layer."
    )


def test_the_guides_ranking_and_format(run_with, installed, town, tmp_path, set_options, run_cli):
    wanted = ("stage1.negatives=cusines", "negatives.rankings=semantic,length", "stage1.epochs=1", "stage2.epochs=0")
    options = [*set_options, *(word for setting in wanted for word in ("--set", setting))]
    assert run_with(installed, "train", "--corpus", town, "--system", "qabisar", "--out", "run", *options).stderr == ""
    (tmp_path / "harbour.txt").write_text("Art. 1\nBoats moor here.\n\nArt. 2\nAnchors hold.\n")
    done = run_with(installed, "import", "town", "harbour.txt", "--out", "harbour")
    assert done.stdout.splitlines()[:2] == ["harbour: corpus 'harbour' (en)", "  articles   2"]
    shown = run_cli("import", "--help", env={"PYTHONPATH": str(installed)}).stdout  # read when the process starts
    assert re.search(r"^ +town +from an installed package$", shown, re.MULTILINE)


def test_the_guides_signal(run_with, installed, town, tmp_path):
    settings = ("ensemble.members=none", "ranker.learnt=false", "ensemble.signals=bm25,titles")
    options = [word for setting in settings for word in ("--set", setting)]
    done = run_with(installed, "train", "--corpus", town, "--out", "run", *options)
    assert (done.returncode, done.stderr) == (0, "")
    weights = json.loads((tmp_path / "run" / "ranker.json").read_text())["signals"]
    assert weights.keys() == {"bm25", "titles"}
    # No text has the word "art.", each title has; "2" is in the titles of the second articles alone.
    found = run_with(installed, "search", "art. 2 on lamps", "--run", "run", "-k", 1, "--explain")
    assert found.stdout.splitlines()[0].endswith("Art. 2 on lamps")
    assert re.search(r"^ +\+0\.231  titles \(1st\)$", found.stdout, re.MULTILINE)
    without = run_with(tmp_path, "search", "art. 2 on lamps", "--run", "run")
    assert (without.returncode, without.stderr.count("\n")) == (2, 1)
    assert "titles" in without.stderr


def test_the_guides_layer_alone(blocks, installed, capsys):
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(installed)
        _forget_packages()
        exec(compile(blocks["python"][1], str(GUIDE), "exec"), {})
    _forget_packages()
    # (1, 0) + max((1, 0), (0, 1)) = (2, 1), then unit length; the other node is by itself: (0, 1) + (0, 1).
    found = [round(float(number), 3) for number in re.findall(r"\d\.\d*", capsys.readouterr().out)[:4]]
    assert found == [0.894, 0.447, 0, 1]
