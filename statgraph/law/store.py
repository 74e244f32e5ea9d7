"""Corpus folders on disk, in the layout of BEIR with the path and order of each article in its metadata."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from statgraph import artifacts
from statgraph.errors import CorpusError, option, readable
from statgraph.law.account import Balance
from statgraph.law.draft import Draft, SourceFormat
from statgraph.law.fields import (
    LABEL_COLUMNS,
    FieldNames,
    draft_article,
    draft_citing,
    draft_label,
    draft_question,
)
from statgraph.law.lines import all_lines, csv_rows, json_lines, json_type
from statgraph.law.records import MAIN_SET, SPLITS, Article, CitingText, Corpus, Question
from statgraph.law.tree import tree_of

CORPUS_FILES = (
    artifacts.CORPUS_ARTICLES,
    artifacts.CORPUS_QUESTIONS,
    artifacts.CORPUS_LABELS,
    artifacts.CORPUS_CITING,
    artifacts.SYNONYMS,
    artifacts.MANIFEST,
)
LABEL_FILES = {f"{split}.tsv": split for split in SPLITS}
BEIR_SPLITS = {**{split: split for split in SPLITS}, "validation": "dev"}  # by what some BEIR folders call them
# MTEB's labels are JSON lines.
BEIR_LABEL_FILES = {f"{name}{end}": split for name, split in BEIR_SPLITS.items() for end in (".tsv", ".jsonl")}
ARTICLE_NAMES = FieldNames(
    id=("_id",), title="title", number="number", rubric="rubric", path="path", order="order", within="metadata"
)
QUESTION_NAMES = FieldNames(id=("_id",), within="metadata")
# None: the manifest must say it.
ABOUT_DEFAULTS = {"name": None, "language": None, "licence": "unknown", "source": "unknown"}


def write_corpus(corpus: Corpus, folder: Path, balance: Balance | None = None, doubts: Sequence[str] = ()) -> None:
    """Write a corpus folder whole: `corpus.jsonl`, `queries.jsonl`, `qrels/*.tsv`, `manifest.json`; `citing.jsonl`
    where there are citing texts, `synonyms.txt` where there are synonyms. A folder's own `synonyms.txt` stays if the
    corpus has none. The manifest holds the balance and the doubts of an import.

    Raises:
        CorpusError: if the folder contains anything but a corpus, or cannot be written. Its contents then stay.
    """
    folder = Path(folder)
    _refuse_folder(folder, replace=True)
    try:
        with artifacts.replaced_folder(folder) as staging:
            if not corpus.synonyms and (folder / artifacts.SYNONYMS).is_file():
                shutil.copy(folder / artifacts.SYNONYMS, staging)
            write_corpus_files(corpus, staging, balance, doubts)
    except OSError as error:
        raise _not_writable(folder, error) from None


@contextmanager
def held_for_writing(folder: Path, *, replace: bool) -> Iterator[None]:
    """Hold a folder for a corpus until the block ends: no other process writes one there meanwhile.

    Raises:
        CorpusError: if it contains anything but a corpus, or one that is not to be replaced; if another process holds
            it, or it cannot be written.
    """
    _refuse_folder(folder, replace=replace)
    with ExitStack() as stack:
        try:
            is_free = stack.enter_context(artifacts.held_folder(folder))
        except OSError as error:
            raise _not_writable(folder, error) from None
        if not is_free:
            raise CorpusError(
                f"{folder}: another process is writing it; wait until it has ended, or choose another folder"
            )
        _refuse_folder(folder, replace=replace)  # of what another has written meanwhile
        yield


def _refuse_folder(folder: Path, *, replace: bool) -> None:
    """Raise CorpusError for a folder that contains anything but a corpus, or one that is not to be replaced."""
    try:
        if folder.exists() and not folder.is_dir():
            raise CorpusError(f"{folder}: is a file; choose a new folder")
        names = sorted(path.name for path in folder.iterdir()) if folder.exists() else []
    except OSError as error:
        raise _not_writable(folder, error) from None
    foreign = [name for name in names if name not in CORPUS_FILES]
    if foreign:
        raise CorpusError(f"{folder}: contains '{foreign[0]}', which is not a corpus file; choose a new folder")
    if names and artifacts.MANIFEST not in names:
        raise CorpusError(f"{folder}: holds no {artifacts.MANIFEST}, so it is not a corpus folder; choose a new folder")
    if names and not replace:
        raise CorpusError(
            f"{folder}: holds a corpus already; add {option('force')} to replace it, or choose a new folder"
        )


def read_corpus(folder: Path) -> Corpus:
    """Return the corpus in a folder.

    Raises:
        CorpusError: if a file is missing or inconsistent; every problem is listed.
    """
    folder = Path(folder)
    with readable(folder):
        if not folder.is_dir():
            problem = "is a file, not a corpus folder" if folder.exists() else "no such corpus folder"
            raise CorpusError(f"{folder}: {problem}; make one with 'statgraph import' or 'statgraph fetch'")
        about = _about(folder)
        draft = Draft(name=about["name"], language=about["language"], licence=about["licence"], source=about["source"])
        draft_beir_folder(draft, folder)
        return draft.corpus()


def draft_beir_folder(
    draft: Draft, folder: Path, *, label_files: Mapping[str, str] = LABEL_FILES, default_path: Sequence[str] = ()
) -> None:
    """Fill a draft from the `corpus.jsonl` of a folder, and from its `queries.jsonl`, `qrels`, `citing.jsonl` and
    `synonyms.txt` where they exist.

    `label_files` maps the names of label files to splits; `default_path` is the path of articles without one.
    """
    articles = folder / artifacts.CORPUS_ARTICLES
    if not articles.exists():
        return draft.add_problem(
            str(folder), f"holds no {artifacts.CORPUS_ARTICLES}; a corpus folder needs one line per article there"
        )
    with draft.articles_from(articles.name):
        for place, record in json_lines(draft, articles, articles.name):
            draft_article(draft, place, record, ARTICLE_NAMES, default_path=default_path)
    draft_named = partial(draft_question, names=QUESTION_NAMES)
    for name, draft_record in ((artifacts.CORPUS_QUESTIONS, draft_named), (artifacts.CORPUS_CITING, draft_citing)):
        if (folder / name).exists():
            for place, record in json_lines(draft, folder / name, name):
                draft_record(draft, place, record)
    synonyms = folder / artifacts.SYNONYMS
    if synonyms.exists():
        lines = (f"{line}\n" for _, line in all_lines(draft, synonyms, synonyms.name))
        draft.add_synonyms(synonyms.name, "".join(lines))
    labels = folder / artifacts.CORPUS_LABELS
    if labels.exists() and not labels.is_dir():
        return draft.add_problem(artifacts.CORPUS_LABELS, f"is a file; make it a folder of {', '.join(label_files)}")
    for file_name, split in label_files.items():
        path, name = labels / file_name, f"{labels.name}/{file_name}"
        if path.exists():
            rows: Iterator[tuple[str, Mapping[str, object]]] = (
                json_lines(draft, path, name)
                if path.suffix == ".jsonl"
                else csv_rows(draft, path, name, needed=LABEL_COLUMNS, delimiter="\t", missing=())
            )
            for place, row in rows:
                draft_label(draft, place, row, split)
    return None


def draft_beir(draft: Draft, source: Path) -> None:
    """Fill a draft from any BEIR folder.

    BEIR has no hierarchy: an article without `metadata.path` gets one heading, the name of the corpus. Questions
    without a label, which are common in BEIR folders, can neither train nor test and are left out.
    """
    if not source.is_dir():
        return draft.add_problem(str(source), "is a file; name the folder that holds corpus.jsonl")
    return draft_beir_folder(draft, source, label_files=BEIR_LABEL_FILES, default_path=(draft.name,))


BEIR = SourceFormat(
    "corpus.jsonl, queries.jsonl, qrels/*.tsv or .jsonl", draft_beir, files=(artifacts.CORPUS_ARTICLES,)
)


def read_manifest(folder: Path) -> dict[str, object]:
    """Return the `manifest.json` of a folder, {} where there is none.

    Raises:
        CorpusError: if it is not a JSON object.
    """
    path = Path(folder) / artifacts.MANIFEST
    if not path.exists():
        return {}
    try:
        manifest = artifacts.read_json(path)
    except (ValueError, RecursionError) as error:
        raise CorpusError(f"{path}: invalid JSON ({error}); import the corpus again") from None
    if not isinstance(manifest, dict):
        raise CorpusError(f"{path}: holds {json_type(manifest)}, not an object; import the corpus again")
    return manifest


def _about(folder: Path) -> dict[str, str]:
    if not (folder / artifacts.MANIFEST).exists():
        raise CorpusError(
            f"{folder}: holds no {artifacts.MANIFEST}; convert the files with 'statgraph import {folder} --out DIR'"
        )
    manifest = read_manifest(folder)
    if "config" in manifest and not (folder / artifacts.CORPUS_ARTICLES).exists():
        raise CorpusError(f"{folder}: a run, not a corpus; name it with {option('run')}, or name its corpus folder")
    about = {}
    for key, default in ABOUT_DEFAULTS.items():
        value = manifest.get(key, default)
        if not isinstance(value, str):
            raise CorpusError(f"{folder / artifacts.MANIFEST}: '{key}' is {json_type(value)}; give it as a string")
        about[key] = value
    return about


def write_corpus_files(
    corpus: Corpus, folder: Path, balance: Balance | None = None, doubts: Sequence[str] = ()
) -> None:
    """Write the files of a corpus to an empty folder."""
    artifacts.write_json_lines(folder / artifacts.CORPUS_ARTICLES, map(article_record, corpus.articles))
    artifacts.write_json_lines(folder / artifacts.CORPUS_QUESTIONS, map(question_record, corpus.questions))
    (folder / artifacts.CORPUS_LABELS).mkdir()
    for file_name, split in LABEL_FILES.items():
        with (folder / artifacts.CORPUS_LABELS / file_name).open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file, delimiter="\t", lineterminator="\n")
            rows.writerow(LABEL_COLUMNS)
            rows.writerows(label_rows(corpus, split))
    if corpus.synonyms:
        (folder / artifacts.SYNONYMS).write_text(corpus.synonyms, encoding="utf-8")
    if corpus.citing:
        artifacts.write_json_lines(folder / artifacts.CORPUS_CITING, map(citing_record, corpus.citing))
    artifacts.write_json(folder / artifacts.MANIFEST, _manifest(corpus, balance, doubts))


def article_record(article: Article) -> dict[str, object]:
    """Return an article as `corpus.jsonl` holds it."""
    known = {"number": article.number, "rubric": article.rubric}
    named = {key: value for key, value in known.items() if value}
    metadata = {**article.metadata, "path": list(article.path), "order": article.order, **named}
    return {"_id": article.article_id, "title": article.title, "text": article.text, "metadata": metadata}


def question_record(question: Question) -> dict[str, object]:
    """Return a question as `queries.jsonl` holds it."""
    return {"_id": question.question_id, "text": question.text, "metadata": dict(question.metadata)}


def citing_record(text: CitingText) -> dict[str, object]:
    """Return a citing text as `citing.jsonl` holds it."""
    optional = {"question_id": text.question_id, "part": text.part}
    given = {key: value for key, value in optional.items() if value}
    return {"_id": text.citing_id, "title": text.title, "text": text.text, "cites": list(text.article_ids), **given}


def label_rows(corpus: Corpus, split: str) -> Iterator[tuple[str, str, int]]:
    """Yield the values of `LABEL_COLUMNS` for each label of a split."""
    questions = (question for question in corpus.questions if question.split == split)
    return ((question.question_id, article_id, 1) for question in questions for article_id in question.article_ids)


def _manifest(corpus: Corpus, balance: Balance | None, doubts: Sequence[str]) -> dict[str, object]:
    counts: dict[str, object] = {
        "articles": len(corpus.articles),
        "headings": len(tree_of(corpus.articles).headings),
        **_question_counts(corpus, MAIN_SET),
    }
    others = {name: _question_counts(corpus, name) for name in corpus.question_sets if name != MAIN_SET}
    if others:
        counts["question_sets"] = others
    if corpus.citing:
        counts["citing"] = len(corpus.citing)
    return {
        "name": corpus.name,
        "language": corpus.language,
        "licence": corpus.licence,
        "source": corpus.source,
        "counts": counts,
        "content_hash": corpus.content_hash,
        **({"words": balance.record} if balance is not None and balance.words else {}),
        **({"doubts": list(doubts)} if doubts else {}),
    }


def _question_counts(corpus: Corpus, question_set: str) -> dict[str, object]:
    splits = {split: corpus.split(split, question_set) for split in SPLITS}
    return {
        "questions": {split: len(questions) for split, questions in splits.items()},
        "labels": sum(len(question.article_ids) for questions in splits.values() for question in questions),
    }


def _not_writable(folder: Path, error: OSError) -> CorpusError:
    return CorpusError(f"{folder}: cannot be written ({error.strerror}); choose a writable folder with enough space")
