"""For all tests: no model hub, a cache of the checkout's own, and the command line in a process of its own."""

from __future__ import annotations

import ast
import asyncio
import fcntl
import gc
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import settings

pytest_plugins = (
    "tests.chat_fixtures",
    "tests.corpus_fixtures",
    "tests.encoder_fixtures",
    "tests.engine_fixtures",
    "tests.law_fixtures",
    "tests.run_fixtures",
)

REPO = Path(__file__).parent
# A busy machine is no failure, and nothing is kept between runs.
settings.register_profile("statgraph", deadline=None, max_examples=50, database=None)
settings.load_profile("statgraph")
COMMAND_TIMEOUT_S = 300

# The hub's client reads these once, when it is imported: before any test module is.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_OFFLINE"] = "1"
# The models here are too small for more threads, which would only wait for one another.
os.environ.setdefault("OMP_NUM_THREADS", "1")


class CommandResult(NamedTuple):
    """What a run of the command line leaves."""

    returncode: int
    stdout: str
    stderr: str


# The longest file, and rooms with slow files: first, so that no worker is left alone with one at the end.
_FIRST = ("test_guard.py", "trials", "cli", "studies", "service", "systems", "benchmarks", "training")


def pytest_collection_modifyitems(items):
    rooms = [*_FIRST, ""]

    def place(item):
        room = item.path.relative_to(REPO).parts[1]  # of tests/ROOM
        return rooms.index(room if room in _FIRST else "")

    items.sort(key=place)


def pytest_collection_finish(session):
    """Keep what the tests have imported, over half a million objects, from being looked through whenever garbage is
    collected: 0.3 seconds at the end of each training, and wherever a service lets go of a run."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def statgraph_cache(request: pytest.FixtureRequest) -> Iterator[Path]:
    """Point STATGRAPH_CACHE at `.pytest_cache/d/statgraph`, and yield that folder.

    It outlives the session, since unpacking the embedded encoder takes seconds; `pytest --cache-clear` empties it. The
    user's own cache is neither read nor filled, and a STATGRAPH_CACHE that is set already is left as it is.
    """
    with pytest.MonkeyPatch.context() as patch:
        if not os.environ.get("STATGRAPH_CACHE"):
            patch.setenv("STATGRAPH_CACHE", str(request.config.cache.mkdir("statgraph")))
        yield Path(os.environ["STATGRAPH_CACHE"])


@pytest.fixture
def run_cli(tmp_path: Path) -> Callable[..., CommandResult]:
    """Return a function that runs `statgraph ARGS...` from this checkout, by default in the test's own folder.

    `env` is added to this process's environment.
    """

    def run(*args: object, cwd: Path | None = None, env: dict[str, str] | None = None) -> CommandResult:
        done = subprocess.run(
            [sys.executable, str(REPO / "cli.py"), *map(str, args)],
            cwd=cwd or tmp_path,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=COMMAND_TIMEOUT_S,
        )
        return CommandResult(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def run_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture
) -> Callable[..., CommandResult]:
    """Return a function that runs `statgraph ARGS...` in this process, by default in the test's own folder. Starting
    Python for each would take minutes; `run_cli` is for what depends on the process or its environment."""
    from statgraph.cli.main import main

    def run(*args: object, cwd: Path | None = None) -> CommandResult:
        monkeypatch.chdir(cwd or tmp_path)
        monkeypatch.setattr(sys, "argv", ["statgraph", *map(str, args)])
        capfd.readouterr()
        with pytest.raises(SystemExit) as exit_:
            main()
        return CommandResult(exit_.value.code or 0, *capfd.readouterr())

    return run


@pytest.fixture
def refused(run_here: Callable[..., CommandResult]) -> Callable[..., str]:
    """Return a function that runs a command that must fail, and returns what it says after "Error: "."""

    def run(*arguments: object, code: int = 1) -> str:
        status, stdout, stderr = run_here(*arguments)
        assert (status, stdout) == (code, "")
        before, _, message = stderr.partition("Error: ")
        assert before == "" or before.startswith("Usage: statgraph ")
        return message.removesuffix("\n")

    return run


@pytest.fixture(scope="session")
def doc_example() -> Callable[[str, str], dict[str, object]]:
    """Return a function that runs the Python example in a section of a page of docs/, `await` included, and returns the
    names that it leaves."""

    def run(page: str, section: str) -> dict[str, object]:
        text = (REPO / "docs" / page).read_text(encoding="utf-8").partition(f"\n## {section}\n")[2]
        example = re.search(r"^```python\n(.*?)^```", text.partition("\n## ")[0], re.MULTILINE | re.DOTALL)[1]
        names: dict[str, object] = {}
        done = eval(compile(example, f"{page}: {section}", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
        if asyncio.iscoroutine(done):
            asyncio.run(done)
        return names

    return run


@pytest.fixture(scope="session")
def legi_fr_folder() -> Path:
    """Return the folder of the French corpus, which `-m real` needs."""
    folder = Path(os.environ.get("STATGRAPH_LEGI_FR", REPO / "corpora" / "legi-fr"))
    if not folder.is_dir():
        pytest.skip(f"{folder}: no corpus; run 'statgraph fetch legi-fr', or name its folder in STATGRAPH_LEGI_FR")
    return folder


@pytest.fixture(scope="session")
def run_processes() -> Callable[..., list[CommandResult]]:
    """Return a function that runs `python ARGS...` in so many processes at once, each with its rank in the environment
    as torchrun would put it there, and returns what each of them leaves."""

    def run(size: int, *args: object, env: dict[str, str] | None = None) -> list[CommandResult]:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        place = {"WORLD_SIZE": str(size), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "OMP_NUM_THREADS": "1"}
        processes = [
            subprocess.Popen(
                [sys.executable, *map(str, args)],
                cwd=REPO,
                env={**os.environ, **(env or {}), **place, "RANK": str(rank), "LOCAL_RANK": str(rank)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
            )
            for rank in range(size)
        ]
        try:
            said = [process.communicate(timeout=COMMAND_TIMEOUT_S) for process in processes]
        finally:
            for process in processes:
                process.kill()
        return [CommandResult(process.returncode, *streams) for process, streams in zip(processes, said, strict=True)]

    return run


@pytest.fixture(scope="session")
def sample_run(tmp_path_factory: pytest.TempPathFactory, statgraph_cache: Path):
    """Return the run of QABISAR on the embedded sample: static encoder, two epochs. Where several processes share the
    session's tests, the first that needs it trains it for all: look, do not touch."""
    from statgraph.law.catalogue import sample_folder
    from statgraph.law.store import read_corpus
    from statgraph.runs.run import RunFolder
    from statgraph.systems.pipeline import train_run
    from statgraph.systems.presets import resolve_config

    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = shared / "sample-run"
    with (shared / "sample-run.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            settings = ("encoder.backbone=embedded:static", "stage2.epochs=2", "stage2.min_epoch_steps=0")
            train_run(read_corpus(sample_folder()), resolve_config("qabisar", ("device=cpu", *settings)), folder)
    return RunFolder.read(folder)


@pytest.fixture(scope="session")
def write_run() -> Callable[..., Path]:
    """Return a function that makes a folder of what every finished run holds: its articles, its manifest, and BM25's
    index; with so many headings, also the inputs of a graph, all of them zero."""
    import numpy as np

    from statgraph.graph.gnn.graph_inputs import GraphInputs, write_graph_inputs
    from statgraph.retrieval.search.ranker import write_lexical_index
    from statgraph.runs import parts
    from statgraph.runs.article_store import write_article_store
    from statgraph.runs.run import CorpusFacts, RunFolder

    def write(folder: Path, corpus, config, n_headings: int = 0) -> Path:
        folder.mkdir(exist_ok=True)
        write_article_store(corpus.articles, folder)
        run = RunFolder(folder, config, CorpusFacts.of(corpus))
        if config.retriever == "bm25":
            write_lexical_index(run, corpus.articles)
        run.write()
        if n_headings:
            questions = corpus.split("train")
            counts = {"article": len(corpus.articles), "heading": n_headings, "question": len(questions)}
            vectors = {kind: np.zeros((count, 2), dtype=np.float32) for kind, count in counts.items()}
            hashes = {kind: np.zeros((count, 16), dtype=np.uint8) for kind, count in counts.items()}
            write_graph_inputs(GraphInputs(vectors, hashes, questions), folder / parts.GRAPH_INPUTS)
        return folder

    return write


@pytest.fixture(scope="session")
def town_corpus():
    """Return a corpus that trains within a second: 16 articles under two books, 8 training questions, 4 dev, 4 test."""
    from tests.town import town

    return town()


@pytest.fixture(scope="session")
def town(tmp_path_factory: pytest.TempPathFactory, town_corpus) -> Path:
    """Return the corpus folder of `town_corpus`."""
    from statgraph.law.store import write_corpus

    folder = tmp_path_factory.mktemp("corpora") / "town"
    write_corpus(town_corpus, folder)
    return folder


@pytest.fixture(scope="session")
def referring_town(town_corpus):
    """Return the town's law with a number of its own for each article, where four of the texts name others: dogs1 names
    wells1 twice and itself, carts1 dogs1, carts2 dogs1 and wells1, fences2 an article 17 that is not there."""
    from dataclasses import replace

    named = {
        "dogs1": "By article 3 and, at night, by articles 3 and 5.",
        "carts1": "See article 5.",
        "carts2": "See articles 5 and 3.",
        "fences2": "See article 17.",
    }

    def now(article):
        number, text = f"Art. {article.order}", f"{article.text} {named.get(article.article_id, '')}"
        return replace(article, title=f"{number} {article.rubric}", number=number, text=text.strip())

    return replace(town_corpus, articles=tuple(map(now, town_corpus.articles)))


@pytest.fixture(scope="session")
def cited_town(town_corpus):
    """Return the town's law with texts that cite it: of a training question, of none, of a dev and of a test question,
    and one that asks a dev question in its own words."""
    from dataclasses import replace

    from statgraph.law.records import CitingText

    citing = (
        CitingText("guide-1", "Lamps", "Lamps may burn all day.", ("lamps1", "lamps2"), "train-lamps", "paragraph"),
        CitingText("guide-2", "Dogs", "Dogs are taxed.", ("dogs2",)),
        CitingText("dev", "Wells", "Whoever has a well pays the well tax in May.", ("wells2",), "dev-wells"),
        CitingText("test", "Fences", "A fence costs one crown a yard each year.", ("fences2",), "test-fences"),
        CitingText("copy", "Carts", "What do I pay for my carts?", ("carts2",), "train-carts"),
    )
    return replace(town_corpus, citing=citing)


@pytest.fixture(scope="session")
def quick_backbone(tmp_path_factory: pytest.TempPathFactory, town_corpus, word_level, save_modules) -> Path:
    """Return a sentence-transformers folder of random token vectors, 16 wide, for the words of `town_corpus`."""
    import numpy as np

    texts = [record.text for record in (*town_corpus.articles, *town_corpus.questions)]
    words = ["[UNK]", *sorted({word for text in texts for word in re.findall(r"\w+", text.lower())})]
    vectors = np.random.default_rng(0).standard_normal((len(words), 16)).astype(np.float32)
    return save_modules(tmp_path_factory.mktemp("backbone"), word_level(words, lower=True), vectors=vectors)


@pytest.fixture(scope="session")
def quick_settings(quick_backbone: Path) -> tuple[str, ...]:
    """Return the `a.b=c` settings that train on `town_corpus` within a second."""
    stages = (
        f"{stage}.{setting}" for stage in ("stage1", "stage2") for setting in ("min_epoch_steps=0", "batch_size=16")
    )
    return ("device=cpu", f"encoder.backbone={quick_backbone}", *stages, "stage2.epochs=2", "gnn.heads=2")


@pytest.fixture
def set_options(quick_settings) -> list[str]:
    """Return `--set a.b=c` options that train on the town within a second."""
    return [word for setting in quick_settings for word in ("--set", setting)]


@pytest.fixture(scope="session")
def train_town(tmp_path_factory: pytest.TempPathFactory, town_corpus, quick_settings) -> Callable[..., Path]:
    """Return a function that trains a system on the town, or another corpus, each only once, and returns the run
    folder: look, do not touch."""
    from statgraph.systems.pipeline import train_run
    from statgraph.systems.presets import resolve_config

    folders: dict[tuple[str, ...], Path] = {}

    def train(system: str, *settings: str, corpus=town_corpus) -> Path:
        key = (corpus.content_hash, system, *settings)
        if key not in folders:
            config = resolve_config(system, (*quick_settings, "stage1.epochs=1", *settings))
            folders[key] = train_run(corpus, config, tmp_path_factory.mktemp("runs") / "run").folder
        return folders[key]

    return train
