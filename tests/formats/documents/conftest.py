"""Readers of documents that lose something, against which the account of the words is held."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import statgraph
from statgraph.errors import CorpusError
from statgraph.formats.documents.drafting import document_format
from statgraph.law import Corpus
from statgraph.law.draft import Reading


@pytest.fixture
def without_lines(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Corpus]:
    """Return a function that imports a document with a reader which drops each line that holds a word: it asserts that
    the import is refused with the place of the first, and returns what is imported all the same."""

    def imported(module, read, walk, source, word: str, place: str) -> Corpus:
        def planted(draft, path, name):
            document = read(draft, path, name)
            return document._replace(lines=[line for line in document.lines if word not in line.text])

        assert statgraph.import_corpus(source, language="en")
        monkeypatch.setattr(module, "FORMAT", document_format("", module.FORMAT.suffixes, planted, walk))
        with pytest.raises(CorpusError) as refused:
            statgraph.import_corpus(source, language="en")
        (problem,) = refused.value.problems
        assert problem.startswith(f"{place}: ")
        return statgraph.import_corpus(source, language="en", reading=Reading(allow_lost=True))

    return imported


@pytest.fixture
def damage() -> Callable[[Path, str, Path], None]:
    """Return a function that copies an office file with one part of it broken."""

    def copy(good: Path, part: str, bad: Path) -> None:
        with zipfile.ZipFile(good) as read, zipfile.ZipFile(bad, "w") as write:
            for name in read.namelist():
                write.writestr(name, b"<broken" if name.endswith(part) else read.read(name))

    return copy
