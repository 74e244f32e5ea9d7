"""Five articles of two codes, the run of BM25 that holds them with two training questions, and the service over it."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the service needs the extra 'serve'")

from statgraph.config import RunConfig
from statgraph.law.records import Article, Corpus, Question
from statgraph.runs.article_store import ArticleStore, write_article_dates

LEASES = ("Housing Code", "Book I. Leases")
KEYS = (*LEASES, "Chapter 1. Keys")
WAGES = ("Work Code", "Book I. Leases")  # a title that stands in the other code too


@pytest.fixture(scope="session")
def village() -> Corpus:
    """Rows 0 to 4: H1, H2 under Book I of the Housing Code, H3 under its Chapter 1, W5 and W6 in the Work Code."""
    articles = (
        Article("H1", "Art. 1, Housing Code", "The deposit is returned within two months.", LEASES, 1),
        Article("H2", "Art. 2, Housing Code", "Notice: see article 1, and article 5 of the Work Code.", LEASES, 2),
        Article(
            "H3",
            "Art. 3, Housing Code",
            "Keys are handed back. The lessor signs for them.",
            KEYS,
            3,
            {},
            "Art. 3",
            "Handover",
        ),
        Article("W5", "Art. 5, Work Code", "Wages are paid monthly.", WAGES, 1),
        Article("W6", "Art. 6, Work Code", "Articles 5 and 6 hold for apprentices.", WAGES, 2),
    )
    questions = (
        Question("q1", "Who keeps the deposit?", "train", ("H1", "H3")),
        Question("q2", "When are wages paid?", "train", ("W5",)),
    )
    return Corpus("village", "en", "CC0", "written for the tests", articles, questions)


@pytest.fixture(scope="session")
def village_run(tmp_path_factory: pytest.TempPathFactory, write_run, village: Corpus) -> Path:
    """Return the folder of a finished run of BM25 on the village: look, do not touch."""
    config = RunConfig(system="bm25", retriever="bm25")
    return write_run(tmp_path_factory.mktemp("runs") / "village-run", village, config, n_headings=5)


@pytest.fixture(scope="session")
def linked_run(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Return a function that makes a run folder of links to the files of another, without the one named."""

    def link(run: Path, without: str = "") -> Path:
        folder = tmp_path_factory.mktemp("linked") / "run"
        folder.mkdir()
        for path in run.iterdir():
            if path.name != without:
                (folder / path.name).symlink_to(path)
        return folder

    return link


@pytest.fixture(scope="session")
def dated_run(linked_run) -> Callable[[Path, Mapping[str, dict]], Path]:
    """Return a function that makes the same run with articles that say when they are in force, by article id."""

    def make(run: Path, dates: Mapping[str, dict]) -> Path:
        folder = linked_run(run)
        dated = [
            Article(stored.article_id, stored.title, stored.text, stored.path, row, dates.get(stored.article_id, {}))
            for row, stored in enumerate(ArticleStore(run).read_all())
        ]
        write_article_dates(dated, folder)
        return folder

    return make


@pytest.fixture(scope="session")
def loaded_run(village_run: Path):
    """Return the village's run."""
    from statgraph.service.loaded_run import LoadedRun

    return LoadedRun(village_run, device="cpu")


@pytest.fixture(scope="session")
def make_client(loaded_run, tmp_path_factory: pytest.TempPathFactory) -> Callable:
    """Return a function that makes a client of a service with some settings, its run loaded or not."""
    from fastapi.testclient import TestClient

    from statgraph.service.app import create_app
    from statgraph.service.config import ServiceConfig
    from statgraph.service.laws import ServedLaw
    from statgraph.service.middleware import Metrics

    marks = tmp_path_factory.mktemp("marks") / "feedback.jsonl"

    def make(*, loaded: bool = True, feedback: Path | None = marks, **settings) -> TestClient:
        law = ServedLaw("village", ServiceConfig(**settings), Metrics(), feedback)
        if loaded:
            law.open(loaded_run)
        return TestClient(create_app([law]), raise_server_exceptions=False)

    return make


@pytest.fixture
def log() -> Iterator[list[dict]]:
    """Return the lines that the services of the test log."""
    from statgraph.service.middleware import JsonLines

    lines, logger, handler = [], logging.getLogger("statgraph.service"), logging.Handler()
    handler.emit = lambda record: lines.append(json.loads(JsonLines().format(record)))
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield lines
    logger.removeHandler(handler)


@pytest.fixture
def serve(make_client, tmp_path: Path) -> Callable:
    """Return `make_client` for one test: its feedback file is in `tmp_path`."""
    return partial(make_client, feedback=tmp_path / "feedback.jsonl")


@pytest.fixture(scope="session")
def client(make_client):
    """Return a client of the service without options, one for all tests: making the application takes time."""
    return make_client()
