"""The order of the house: who may import whom, what loads only when needed, what is never used at all."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

REPO = Path(__file__).parents[1]
PACKAGE = REPO / "statgraph"

# From the ground up: a module imports from its own folder and from those named before it.
GROUND_FLOOR = (
    *("_version", "errors", "registry", "settings", "config", "artifacts", "extras", "cache", "progress"),
    *("device", "distributed", "chat"),
)
FLOORS = (
    *("law", "formats", "evaluation", "runs", "encoders", "graph", "augmentation", "retrieval", "training", "systems"),
    *("contrib", "studies", "service", "integrations", "doctor", "api", "cli"),
)
HEIGHT = dict.fromkeys(GROUND_FLOOR, 0) | {name: floor for floor, name in enumerate(FLOORS, start=1)}

# `statgraph --help` answers in under 0.3 s because none of these is loaded.
HEAVY = ("torch", "dgl", "faiss", "transformers", "sentence_transformers", "tokenizers", "numpy", "scipy", "networkx")

# Each can run code that a file holds.
UNPICKLING_MODULES = {"pickle", "cPickle", "_pickle", "cloudpickle", "dill", "joblib", "shelve", "marshal"}
UNPICKLING_NAMES = {("torch", "load"), ("torch", "save")}

# Tests of more than one module: this one, the guard, those of small laws, odd questions and the docs, those
# on a fetched corpus (`make real`), the short form of `make trial`, and two of what several modules hold together.
TESTS_OF_THE_WHOLE = (
    *(f"tests/test_{name}.py" for name in ("layering", "guard", "old_runs", "site", "small_laws", "leaks")),
    *(f"tests/test_{name}.py" for name in ("labelled_device", "odd_questions", "words", "figures")),
    *(
        "*_real.py",
        "tests/graph/gnn/test_layers.py",
        "tests/graph/gnn/test_layer_rules.py",
        "tests/cli/test_plugins.py",
    ),
    "tests/trials/test_short.py",
    *("tests/training/negatives/test_difficulty.py", "tests/studies/test_cusines_tables.py"),
)

MODULES = {path: path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
TESTS = sorted((REPO / "tests").rglob("test_*.py"))


parsed = cache(ast.parse)  # each module once, for all the checks; nobody changes what it returns


def short(path: Path) -> str:
    return path.relative_to(REPO).as_posix()


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(REPO).with_suffix("").parts).removesuffix(".__init__")


NAMES = {module_name(path): path for path in MODULES}
PLACE = re.compile(r"(statgraph(?:\.\w+)+)(?::\w+)?")  # of a module, or of something in it, as a text names it
REGISTRIES = {
    node.targets[0].id: sorted({value.value.partition(":")[0] for value in node.value.args[2].values})
    for node in parsed(MODULES[PACKAGE / "registry.py"]).body
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and len(node.value.args) == 3
}  # name of each registry of statgraph.registry -> the modules of its built-in entries
# The one arrow that is turned round: `SystemKind` is an interface of runs/, and its kinds, which train and rank, are
# found by name there, as those of other packages are.
del REGISTRIES["KINDS"]


def imported_modules(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield (line, dotted name) of every import, those inside functions too; `from a import b` gives a.b."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield node.lineno, f"{'.' * node.level}{node.module or ''}.{alias.name}"


def named_modules(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield (line, dotted name) of every module that a text names, as `import_module` and `load` take it, or that the
    `load` of a registry imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found = PLACE.fullmatch(node.value)
            if found and found[1] in NAMES:
                yield node.lineno, found[1]
        elif isinstance(node, ast.Attribute) and node.attr == "load" and isinstance(node.value, ast.Name):
            yield from ((node.lineno, module) for module in REGISTRIES.get(node.value.id, ()))


def uses(path: Path, tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield (line, dotted name) of all that a module imports, at its top, within functions or by a name in a text.

    The registry's own texts are a table that whoever calls its `load` imports by: the arrow is theirs.
    """
    yield from imported_modules(tree)
    if path != PACKAGE / "registry.py":
        yield from named_modules(tree)


def floor_of(path: Path) -> str:
    """Return the name of the folder under statgraph/ that a module stands in, or its own if it stands in none."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def misplaced_imports(path: Path, source: str) -> list[str]:
    """Return one line for each import that does not stand lower in the house."""
    here = floor_of(path)
    wrong = []
    for line, name in uses(path, parsed(source)):
        place = f"{short(path)}:{line}: imports {name}"
        if name.startswith("."):
            wrong.append(f"{place}; write the whole name")
        if not name.startswith("statgraph."):
            continue
        there = name.split(".")[1]
        if there not in HEIGHT:
            wrong.append(f"{place}; not in the order of tests/test_layering.py")
        elif there not in (here, *GROUND_FLOOR) and HEIGHT[there] >= HEIGHT[here]:
            wrong.append(f"{place}; {there} does not stand below {here}")
    return wrong


def unpickling(path: Path, source: str) -> list[str]:
    """Return one line for each use of something that can run code from a file."""
    tree = parsed(source)
    names = list(imported_modules(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            names.append((node.lineno, f"{node.value.id}.{node.attr}"))
        elif isinstance(node, ast.keyword) and node.arg == "allow_pickle" and getattr(node.value, "value", True):
            names.append((node.value.lineno, "allow_pickle"))
    return [
        f"{short(path)}:{line}: {name}; save tensors with safetensors and the rest as JSON"
        for line, name in names
        if name.split(".")[0] in UNPICKLING_MODULES
        or tuple(name.split(".")) in UNPICKLING_NAMES
        or name == "allow_pickle"
    ]


def test_the_docs_list_the_folders_in_this_order():
    page = (REPO / "docs" / "architecture.md").read_text(encoding="utf-8").partition("## Where to add")[0]
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    named = [[name.rstrip("/").removesuffix(".py") for name in re.findall(r"`([^`]+)`", row)] for row in rows]
    assert named == [list(GROUND_FLOOR), *([floor] for floor in FLOORS)]


def imports_between_files(modules: dict[Path, str]) -> dict[str, set[str]]:
    """Return the modules of ours that each imports when it runs; for types alone not."""
    graph = {}
    for path, source in modules.items():
        tree = ast.parse(source)  # not `parsed`, whose trees nobody changes
        for node in ast.walk(tree):
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                node.body = [ast.Pass()]
        found = {name if name in NAMES else name.rpartition(".")[0] for _, name in uses(path, tree)}
        graph[module_name(path)] = (found & set(NAMES)) - {module_name(path), "statgraph"}
    return graph


def cycles_of(graph: dict[str, set[str]]) -> list[list[str]]:
    """Return the sets of modules that import one another, directly or through others."""
    reached = {}
    for start in graph:
        seen, waiting = set(), [start]
        while waiting:
            new = graph[waiting.pop()] - seen
            seen |= new
            waiting += new
        reached[start] = seen
    cycles = {tuple(sorted({a} | {b for b in reached[a] if a in reached[b]})) for a in graph if a in reached[a]}
    return [list(cycle) for cycle in sorted(cycles)]


def test_no_files_import_each_other():
    assert cycles_of(imports_between_files(MODULES)) == []


def test_a_cycle_is_seen():
    assert cycles_of({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]


@pytest.mark.parametrize(
    "planted",
    [
        "from statgraph.law import store",
        "def f():\n    from statgraph.law.store import read_corpus",
        'def f():\n    importlib.import_module("statgraph.law.store")',
        'READER = "statgraph.law.store:read_corpus"',
    ],
    ids=["top", "lazy", "import_module", "place"],
)
def test_a_planted_cycle_is_seen(planted):
    records, store = PACKAGE / "law" / "records.py", PACKAGE / "law" / "store.py"
    graph = imports_between_files({records: planted, store: "from statgraph.law.records import Corpus"})
    assert cycles_of(graph) == [["statgraph.law.records", "statgraph.law.store"]]


def test_a_registry_is_an_arrow_of_whoever_loads_from_it():
    planted = {PACKAGE / "graph" / "gnn" / "gat.py": "from statgraph.registry import LAYERS\nLAYERS.load('gcn')"}
    assert "statgraph.graph.gnn.gcn" in imports_between_files(planted)["statgraph.graph.gnn.gat"]


def test_every_folder_has_its_place():
    assert sorted({floor_of(path) for path in MODULES} - {"__init__"} - set(HEIGHT)) == []


def test_modules_import_only_from_below():
    root = PACKAGE / "__init__.py"  # stands outside the house: it hands out what the floors hold, when asked
    assert [line for path, source in MODULES.items() if path != root for line in misplaced_imports(path, source)] == []


@pytest.mark.parametrize(
    ("path", "source", "wrong"),
    [
        ("graph/build.py", "from statgraph.law.records import Article", []),
        ("graph/build.py", "import statgraph.law.tree, statgraph.errors", []),
        (
            "graph/build.py",
            "def f():\n    import statgraph.training.loop",
            ["2: imports statgraph.training.loop; training"],
        ),
        ("doctor.py", "from statgraph.cli import main", ["1: imports statgraph.cli.main; cli does not stand below"]),
        ("device.py", "from statgraph.errors import UsageError", []),
        ("device.py", "from statgraph.law import store", ["1: imports statgraph.law.store; law does not"]),
        ("cli/main.py", "from statgraph._version import __version__", []),
        ("graph/build.py", 'PLACE = "statgraph.cli.main:main"', ["1: imports statgraph.cli.main; cli does not"]),
        (
            "law/tree.py",
            "LAYERS.load('gcn')",
            [
                f"1: imports statgraph.graph.gnn.{name}; graph does not"
                for name in ("gat", "gatv2", "gcn", "k_gnn", "qabisar")
            ],
        ),
        ("cli/main.py", "from statgraph import nowhere", ["1: imports statgraph.nowhere; not in the order"]),
        ("graph/build.py", "from .hierarchy import x", ["1: imports .hierarchy.x; write the whole name"]),
    ],
)
def test_the_check_itself(path, source, wrong):
    found = misplaced_imports(PACKAGE / path, source)
    assert len(found) == len(wrong)
    for line, start in zip(found, wrong, strict=True):
        assert line.startswith(f"statgraph/{path}:{start}")


def test_nothing_is_unpickled():
    assert [line for path, source in MODULES.items() for line in unpickling(path, source)] == []


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "from pickle import loads",
        "from torch import load",
        "torch.load(path)",
        "np.load(path, allow_pickle=True)",
    ],
)
def test_unpickling_is_seen(source):
    assert len(unpickling(PACKAGE / "gnn" / "encoder.py", source)) == 1


def test_harmless_loading_is_let_through():
    source = "import json\njson.load(file)\nnp.load(path, allow_pickle=False)\nsafetensors.torch.load_file(path)"
    assert unpickling(PACKAGE / "gnn" / "encoder.py", source) == []


def direct_citing(path: Path, source: str) -> list[str]:
    """Return where a module takes a corpus's citing texts of all splits, and not those of `usable_citing`."""
    return [
        f"{short(path)}:{node.lineno}"
        for node in ast.walk(parsed(source))
        if isinstance(node, ast.Attribute)
        and node.attr == "citing"
        and re.search(r"corpus$|records$", name_of(node.value))
    ]


def name_of(node: ast.AST) -> str:
    return getattr(node, "id", getattr(node, "attr", ""))


def test_only_usable_citing_texts_leave_the_rooms_of_law():
    others = {path: source for path, source in MODULES.items() if floor_of(path) not in ("law", "formats", "cli")}
    assert [place for path, source in others.items() for place in direct_citing(path, source)] == []


@pytest.mark.parametrize("source", ["corpus.citing", "job.corpus.citing", "for text in town_corpus.citing: text"])
def test_taking_all_citing_texts_is_seen(source):
    assert direct_citing(PACKAGE / "training" / "pairs.py", source) == ["statgraph/training/pairs.py:1"]
    assert direct_citing(PACKAGE / "training" / "pairs.py", source.replace(".citing", ".usable_citing()")) == []


def test_dgl_is_never_imported_but_by_its_loader():
    assert [
        f"{short(path)}:{line}: imports {name}; call statgraph.graph.dgl_loader.load_dgl() instead"
        for path, source in MODULES.items()
        for line, name in imported_modules(parsed(source))
        if name.split(".")[0] == "dgl"
    ] == []


@pytest.mark.parametrize("module", ["statgraph", "statgraph.cli.main"])
def test_import_loads_nothing_heavy(module):
    code = f"import sys, {module}; print(*sorted(set({HEAVY!r}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=REPO, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_every_folder_is_a_package():
    folders = {path.parent for path in MODULES}
    assert sorted(short(folder) for folder in folders if not (folder / "__init__.py").is_file()) == []


def test_every_test_mirrors_a_module():
    assert [
        f"{short(path)}: no such module under statgraph/, benchmarks/ or tools/"
        for path in TESTS
        if not any(path.match(pattern) for pattern in TESTS_OF_THE_WHOLE) and not mirrors_a_module(path)
    ] == []


def mirrors_a_module(test: Path) -> bool:
    """Return whether tests/x/test_y.py has its statgraph/x/y.py, or y_.py where y is a keyword of Python's, __y__.py
    where it is what Python runs; tests of benchmarks/ and tools/ have theirs there, a test of the page its js/y.js."""
    tests, own = REPO / "tests", test.relative_to(REPO / "tests").parts[0]
    house = REPO if own in ("benchmarks", "tools") else PACKAGE
    folder, name = house / test.relative_to(tests).parent, test.stem.removeprefix("test_")
    modules = (f"{name}.py", f"{name}_.py", f"__{name}__.py", f"js/{name}.js")
    return any((folder / module).is_file() for module in modules)


def test_no_init_files_among_the_tests():
    assert [*(REPO / "tests").rglob("__init__.py")] == []
