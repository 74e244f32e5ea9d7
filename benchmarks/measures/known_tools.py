"""statgraph beside the tools that people know, each as a program of a few lines: what it finds, takes and needs.

Without --corpus on the embedded sample and a law of the tests' own; with it on that law too. `pip install lancedb
haystack-ai` brings the two that statgraph does not need.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import tempfile
from pathlib import Path

from benchmarks.known_tools.law import VECTORS
from benchmarks.known_tools.one import read_law
from benchmarks.measuring import Row, Settings, output_of
from statgraph.law.catalogue import sample_folder

OWN_LAW = Path(__file__).parents[2] / "tests" / "laws" / "household-services"
# The name in the table, and the package without which it cannot be measured.
TOOLS = {
    "statgraph_run": ("statgraph, trained", "statgraph"),
    "statgraph_run-fast": ("statgraph --fast, trained", "statgraph"),
    "statgraph_run-articles": ("statgraph, articles alone", "statgraph"),
    "lancedb_hybrid": ("LanceDB, hybrid", "lancedb"),
    "haystack_pipeline": ("Haystack, BM25 + e5-small", "haystack"),
    "bm25_and_faiss": ("bm25s + FAISS", "bm25s"),
    "faiss_vectors": ("sentence-transformers + FAISS", "faiss"),
    "meilisearch": ("Meilisearch", ""),
}
_NO_SERVER = "a server in Rust, in no package index that is reached here"


def measure(settings: Settings) -> list[Row]:
    """Return a row for each tool on each law; those that learn only where there are questions to learn from."""
    laws = [*{folder.resolve(): folder for folder in (settings.corpus, sample_folder(), OWN_LAW)}.values()]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for law in laws[-1:] if settings.quick else laws:
            corpus = read_law(law)
            what = f"{corpus.name}, {len(corpus.articles):,} articles, {len(corpus.split('test'))} questions"
            learns = any(question.split == "train" for question in corpus.questions)
            for tool, (name, package) in TOOLS.items():
                if tool in ("statgraph_run", "statgraph_run-fast") and not learns:
                    continue
                if not package or importlib.util.find_spec(package) is None:
                    why = _NO_SERVER if not package else f"pip install {package} first"
                    rows.append(Row(what, name, note=f"not installed here: {why}"))
                    continue
                rows.append(_row(what, name, measured(tool, law, Path(folder))))
                print(f"  {what}: {name}: {rows[-1].reached}", flush=True)
    return rows


def measured(tool: str, law: Path, folder: Path) -> dict[str, float]:
    """Return the figures of a tool on a law: built in one process, measured in another, without statgraph's cache."""
    place = folder / f"{law.name}-{tool}"
    place.mkdir()
    variables = {VECTORS: str(folder), "STATGRAPH_CACHE": str(folder / f"cache-{tool}-{law.name}")}
    figures: dict[str, float] = {}
    for step in ("build", "reopen"):
        command = [sys.executable, "-m", "benchmarks.known_tools.one", tool, str(law), str(place), step]
        figures |= json.loads(output_of(command, **variables).splitlines()[-1])
    return figures


def _row(what: str, tool: str, figures: dict[str, float]) -> Row:
    quality = ", ".join(f"{name} {figures[name]:.1f}" for name in ("S@1", "S@3", "R@100"))
    reached = (
        f"{quality}; first answer {figures['first_s']:,.1f} s, after a restart {figures['again_s']:.1f} s, a question "
        f"{figures['question_ms']:,.1f} ms, memory {figures['memory_mb']:,.0f} MB, disk {figures['disk_mb']:,.1f} MB, "
        f"{figures['lines']:.0f} lines"
    )
    return Row(what, tool, reached=reached, figures=figures)
