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
    "errors",
    "registry",
    "settings",
    "config",
    "disk",
    "artifacts",
    "cache",
    "progress",
    "memory",
    "device",
    "distributed",
    "chat",
)
FLOORS = (
    *(
        "corpus",
        "runs",
        "graph",
        "lexical",
        "encoders",
        "inference",
        "augmentation",
        "gnn",
        "negatives",
        "evaluation",
        "index",
        "training",
        "signals",
        "ranking",
        "search",
    ),
    *("systems", "integrations", "service", "doctor", "api", "cli"),
)
HEIGHT = dict.fromkeys(GROUND_FLOOR, 0) | {name: floor for floor, name in enumerate(FLOORS, start=1)}

BUILT_ON = {"studies": ("statgraph_plots", "statgraph_tuning")}  # an extension, and the packages of those it imports

# `statgraph --help` answers in under 0.3 s because none of these is loaded.
HEAVY = ("torch", "dgl", "faiss", "transformers", "sentence_transformers", "tokenizers", "numpy", "scipy", "networkx")

# Each can run code that a file holds.
UNPICKLING_MODULES = {"pickle", "cPickle", "_pickle", "cloudpickle", "dill", "joblib", "shelve", "marshal"}
UNPICKLING_NAMES = {("torch", "load"), ("torch", "save")}

MOST_LINES, MOST_PARAMETERS = 60, 7
# autograd takes each tensor by itself, a draft each field of a record. Of a command, each parameter is an option.
MORE_PARAMETERS = {
    # What Python users and the command line call takes each option by its name.
    *(f"api.{name}" for name in ("augment", "rehearse", "serve", "train", "update")),
    "extensions.exports.statgraph_exports.command._refuse_contradictions",
    "corpus.draft.add_article",
    *(f"gnn.kernels.{kernel}_attention.forward" for kernel in ("dynamic", "separable")),
}

# Tests of more than one module: this one, the guard, those of old runs, small laws, odd questions and the docs, those
# on a fetched corpus (`make real`), the short form of `make trial`, and two of what several modules hold together.
TESTS_OF_THE_WHOLE = (
    *(f"tests/test_{name}.py" for name in ("layering", "guard", "old_runs", "site", "small_laws", "leaks")),
    "tests/test_odd_questions.py",
    *("*_real.py", "tests/gnn/test_layers.py", "tests/gnn/test_layer_rules.py", "tests/cli/test_plugins.py"),
    "tests/trials/test_short.py",
    *("tests/negatives/test_difficulty.py", "extensions/studies/tests/test_cusines_tables.py"),
)

MODULES = {path: path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
OUTSIDE = {
    path: path.read_text(encoding="utf-8") for path in sorted(REPO.glob("extensions/*/statgraph_*/**/*.py"))
}  # of the extensions
TESTS = sorted((*(REPO / "tests").rglob("test_*.py"), *REPO.glob("extensions/*/tests/**/test_*.py")))


parsed = cache(ast.parse)  # each module once, for all the checks; nobody changes what it returns


def short(path: Path) -> str:
    return path.relative_to(REPO).as_posix()


def imported_modules(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield (line, dotted name) of every import, those inside functions too; `from a import b` gives a.b."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield node.lineno, f"{'.' * node.level}{node.module or ''}.{alias.name}"


def floor_of(path: Path) -> str:
    """Return the name of the folder under statgraph/ that a module stands in, or its own if it stands in none."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def misplaced_imports(path: Path, source: str) -> list[str]:
    """Return one line for each import that does not stand lower in the house."""
    here = floor_of(path)
    wrong = []
    for line, name in imported_modules(parsed(source)):
        place = f"{short(path)}:{line}: imports {name}"
        if name.startswith("."):
            wrong.append(f"{place}; write the whole name")
        if name.startswith("statgraph_"):
            wrong.append(f"{place}; name it in statgraph.registry or in COMMANDS")
        if not name.startswith("statgraph.") or name == "statgraph.__version__":
            continue
        there = name.split(".")[1]
        if there not in HEIGHT:
            wrong.append(f"{place}; not in the order of tests/test_layering.py")
        elif there not in (here, *GROUND_FLOOR) and HEIGHT[there] >= HEIGHT[here]:
            wrong.append(f"{place}; {there} does not stand below {here}")
    return wrong


def imported_extensions(path: Path, source: str) -> list[str]:
    """Return one line for each import of another extension than those of BUILT_ON."""
    own = path.relative_to(REPO / "extensions").parts[0]
    return [
        f"{short(path)}:{line}: imports {name}; BUILT_ON in tests/test_layering.py does not say so"
        for line, name in imported_modules(parsed(source))
        if name.startswith("statgraph_") and name.split(".")[0] not in (f"statgraph_{own}", *BUILT_ON.get(own, ()))
    ]


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


def test_the_picture_shows_every_room():
    picture = (REPO / "docs" / "images" / "architecture.svg").read_text(encoding="utf-8")
    assert " · ".join(GROUND_FLOOR) in picture
    rooms = re.findall(r'class="name"[^>]*>([a-z]+)<', picture)
    assert sorted(rooms) == sorted((*FLOORS, "hit"))


def imports_between_files() -> dict[str, set[str]]:
    """Return the modules of ours that each imports when it runs: within functions too, for types alone not."""
    every, names = MODULES | OUTSIDE, {}
    for path in every:
        parts = path.relative_to(REPO).with_suffix("").parts
        names[path] = ".".join(parts[2 if path in OUTSIDE else 0 :]).removesuffix(".__init__")
    known = set(names.values())
    graph = {}
    for path, source in every.items():
        tree = ast.parse(source)
        for node in ast.walk(tree):
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                node.body = []
        found = {name if name in known else name.rpartition(".")[0] for _, name in imported_modules(tree)}
        graph[names[path]] = (found & known) - {names[path], "statgraph"}
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
    assert cycles_of(imports_between_files()) == []


def test_a_cycle_is_seen():
    assert cycles_of({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]


def test_every_folder_has_its_place():
    assert sorted({floor_of(path) for path in MODULES} - {"__init__"} - set(HEIGHT)) == []


def test_modules_import_only_from_below():
    root = PACKAGE / "__init__.py"  # stands outside the house: it hands out what the floors hold, when asked
    assert [line for path, source in MODULES.items() if path != root for line in misplaced_imports(path, source)] == []


@pytest.mark.parametrize(
    ("path", "source", "wrong"),
    [
        ("graph/build.py", "from statgraph.corpus.records import Article", []),
        ("graph/build.py", "import statgraph.corpus.tree, statgraph.errors", []),
        (
            "graph/build.py",
            "def f():\n    import statgraph.encoders.static",
            ["2: imports statgraph.encoders.static; encoders"],
        ),
        ("doctor.py", "from statgraph.cli import main", ["1: imports statgraph.cli.main; cli does not stand below"]),
        ("device.py", "from statgraph.errors import UsageError", []),
        ("device.py", "from statgraph.corpus import store", ["1: imports statgraph.corpus.store; corpus does not"]),
        ("cli/main.py", "from statgraph import __version__", []),
        ("cli/main.py", "from statgraph import nowhere", ["1: imports statgraph.nowhere; not in the order"]),
        ("graph/build.py", "from .hierarchy import x", ["1: imports .hierarchy.x; write the whole name"]),
        ("cli/main.py", "import statgraph_x.y", ["1: imports statgraph_x.y; name it in statgraph.registry"]),
    ],
)
def test_the_check_itself(path, source, wrong):
    found = misplaced_imports(PACKAGE / path, source)
    assert len(found) == len(wrong)
    for line, start in zip(found, wrong, strict=True):
        assert line.startswith(f"statgraph/{path}:{start}")


def test_extensions_do_not_import_one_another():
    assert [line for path, source in OUTSIDE.items() for line in imported_extensions(path, source)] == []


def test_nothing_is_unpickled():
    assert [line for path, source in (MODULES | OUTSIDE).items() for line in unpickling(path, source)] == []


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


def test_only_usable_citing_texts_leave_the_corpus_room():
    others = {path: source for path, source in MODULES.items() if floor_of(path) not in ("corpus", "cli")}
    assert [place for path, source in (others | OUTSIDE).items() for place in direct_citing(path, source)] == []


@pytest.mark.parametrize("source", ["corpus.citing", "job.corpus.citing", "for text in town_corpus.citing: text"])
def test_taking_all_citing_texts_is_seen(source):
    assert direct_citing(PACKAGE / "training" / "pairs.py", source) == ["statgraph/training/pairs.py:1"]
    assert direct_citing(PACKAGE / "training" / "pairs.py", source.replace(".citing", ".usable_citing()")) == []


def test_dgl_is_never_imported_but_by_its_loader():
    assert [
        f"{short(path)}:{line}: imports {name}; call statgraph.graph.dgl_loader.load_dgl() instead"
        for path, source in (MODULES | OUTSIDE).items()
        for line, name in imported_modules(parsed(source))
        if name.split(".")[0] == "dgl"
    ] == []


@pytest.mark.parametrize("module", ["statgraph", "statgraph.cli.main"])
def test_import_loads_nothing_heavy(module):
    code = f"import sys, {module}; print(*sorted(set({HEAVY!r}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=REPO, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_every_folder_is_a_package():
    folders = {path.parent for path in (*MODULES, *OUTSIDE)}
    assert sorted(short(folder) for folder in folders if not (folder / "__init__.py").is_file()) == []


def sizes(source: str) -> Iterator[tuple[str, int, int]]:
    """Yield each function of a module with its number of lines, and of parameters beside self; a command has none."""
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
            names = {parameter.arg for parameter in given if parameter is not None} - {"self", "cls"}
            command = any(ast.unparse(decorator).startswith("click.command(") for decorator in node.decorator_list)
            yield node.name, node.end_lineno - node.lineno + 1, 0 if command else len(names)


def test_functions_are_short_and_pass_one_object_for_one_thing():
    found = [
        (f"{short(path.with_suffix('')).removeprefix('statgraph/').replace('/', '.')}.{name}", n_lines, n_parameters)
        for path, source in (MODULES | OUTSIDE).items()
        for name, n_lines, n_parameters in sizes(source)
    ]
    assert [name for name, n_lines, _ in found if n_lines > MOST_LINES] == []
    assert {name for name, _, n_parameters in found if n_parameters > MOST_PARAMETERS} == MORE_PARAMETERS


def test_sizes_are_counted():
    source = "def f(self, a, *b, c, **d):\n    pass\n\n@click.command()\ndef g(a):\n    pass\n"
    assert list(sizes(source)) == [("f", 2, 4), ("g", 2, 0)]


def test_every_test_mirrors_a_module():
    assert [
        f"{short(path)}: no such module under statgraph/, benchmarks/, tools/ or its extension"
        for path in TESTS
        if not any(path.match(pattern) for pattern in TESTS_OF_THE_WHOLE) and not mirrors_a_module(path)
    ] == []


def mirrors_a_module(test: Path) -> bool:
    """Return whether tests/x/test_y.py has its statgraph/x/y.py, or y_.py where y is a keyword of Python's, __y__.py
    where it is what Python runs; tests of benchmarks/ and tools/ have theirs there, a test of the page its js/y.js,
    extensions/e/tests/test_y.py its extensions/e/statgraph_e/y.py."""
    first, own, *_ = test.relative_to(REPO).parts
    if first == "extensions":
        tests, house = REPO / first / own / "tests", REPO / first / own / f"statgraph_{own}"
    else:
        tests, house = REPO / "tests", REPO if own in ("benchmarks", "tools") else PACKAGE
    folder, name = house / test.relative_to(tests).parent, test.stem.removeprefix("test_")
    modules = (f"{name}.py", f"{name}_.py", f"__{name}__.py", f"js/{name}.js")
    return any((folder / module).is_file() for module in modules)


def test_no_init_files_among_the_tests():
    assert [*(REPO / "tests").rglob("__init__.py"), *REPO.glob("extensions/*/tests/**/__init__.py")] == []
