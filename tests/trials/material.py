"""What campaigns work on: small laws in every format, a backbone of random vectors, and finished runs."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from statgraph.law.catalogue import sample_folder
from statgraph.law.records import CitingText, Corpus
from statgraph.law.store import read_corpus, write_corpus
from tests.town import town
from tests.trials.child import command

WIDTH = 16
STAGES = [f"{stage}.{value}" for stage in ("stage1", "stage2") for value in ("min_epoch_steps=0", "batch_size=16")]
SHORT = ("stage1.epochs=2", "stage2.epochs=2", "gnn.heads=2")
FEW_TREES = ("ranker.learn_from=cross-fit", "ranker.folds=2", "ranker.trees=20", "ranker.leaf_size=1")


@dataclass(frozen=True)
class Material:
    """Files that no case changes, each made when it is first asked for.

    Attributes:
        folder: where they lie.
    """

    folder: Path

    @cached_property
    def town(self) -> Path:
        """Return the corpus folder of the town."""
        return self._corpus("town", cited(town()))

    @cached_property
    def amended_town(self) -> Path:
        """Return the corpus folder of the town's law after an amendment: an article less, one more, one other."""
        law = cited(town())
        changed = replace(law.articles[0], text="Lamps burn until midnight.")
        added = replace(law.articles[2], article_id="wells3", title="Art. 3 on wells", text="Wells are covered.")
        questions = tuple(question for question in law.questions if "fences2" not in question.article_ids)
        citing = tuple(text for text in law.citing if "fences2" not in text.article_ids)
        articles = (changed, *law.articles[1:-1], added)
        return self._corpus("amended", replace(law, articles=articles, questions=questions, citing=citing))

    @cached_property
    def sample(self) -> Path:
        """Return the corpus folder of the embedded sample."""
        return sample_folder()

    @cached_property
    def backbone(self) -> Path:
        """Return a sentence-transformers folder of random vectors for the words of both laws."""
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.sentence_transformer.modules import StaticEmbedding
        from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

        laws = [read_corpus(folder) for folder in (self.town, self.sample)]
        texts = [record.text for law in laws for record in (*law.articles, *law.questions)]
        words = ["[UNK]", *sorted({word for text in texts for word in re.findall(r"\w+", text.lower())})]
        tokenizer = Tokenizer(models.WordLevel({word: row for row, word in enumerate(words)}, unk_token="[UNK]"))
        tokenizer.pre_tokenizer, tokenizer.normalizer = pre_tokenizers.Whitespace(), normalizers.Lowercase()
        vectors = np.random.default_rng(0).standard_normal((len(words), WIDTH)).astype(np.float32)
        modules = [StaticEmbedding(tokenizer, embedding_weights=vectors)]
        SentenceTransformer(modules=modules, device="cpu").save(str(self.folder / "backbone"), create_model_card=False)
        return self.folder / "backbone"

    def training(self, system: str, corpus: Path, *settings: str) -> list[str]:
        """Return the arguments of a short training, without the run's folder."""
        own = (f"encoder.backbone={self.backbone}",) if system != "ensemble" else (
            f"ensemble.members=qabisar@{self.backbone},zero-shot@{self.backbone}", *FEW_TREES,
        )  # fmt: skip
        values = () if system == "bm25" else (*own, *STAGES, *SHORT, *settings)
        chosen = [word for value in values for word in ("--set", value)]
        return ["train", "--corpus", str(corpus), "--system", system, "--device", "cpu", *chosen]

    def run(self, system: str) -> Path:
        """Return a finished run of a system on the town."""
        folder = self.folder / "runs" / system
        if not folder.is_dir():
            folder.parent.mkdir(parents=True, exist_ok=True)
            done = command([*self.training(system, self.town), "--out", folder], self.folder)
            if done.code:
                raise RuntimeError(f"{system}: not trained ({done.end})")
        return folder

    def source(self, format_name: str) -> Path:
        """Return a source of the town's law in a format of `statgraph import`."""
        folder = self.folder / "sources" / format_name
        if not folder.is_dir():
            folder.mkdir(parents=True)
            _SOURCES[format_name](cited(town()), folder)
        return folder

    def _corpus(self, name: str, corpus: Corpus) -> Path:
        folder = self.folder / "corpora" / name
        if not folder.is_dir():
            write_corpus(corpus, folder)
        return folder


def cited(law: Corpus) -> Corpus:
    """Return the town's law with texts that cite it."""
    texts = (
        CitingText("guide-1", "Lamps", "Lamps may burn all day.", ("lamps1", "lamps2"), "train-lamps", "paragraph"),
        CitingText("guide-2", "Dogs", "Dogs are taxed.", ("dogs2",)),
        CitingText("fence", "Fences", "A fence costs one crown a yard.", ("fences2",), "test-fences"),
    )
    return replace(law, citing=texts)


def _write_jsonl(law: Corpus, folder: Path) -> None:
    tables = {
        "articles": [
            {"id": a.article_id, "title": a.title, "text": a.text, "path": list(a.path), "valid_from": "2001-01-01"}
            for a in law.articles
        ],
        "questions": [
            {"id": q.question_id, "text": q.text, "articles": list(q.article_ids), "split": q.split}
            for q in law.questions
        ],
        "citing": [
            {"id": c.citing_id, "title": c.title, "text": c.text, "cites": list(c.article_ids), "part": c.part}
            for c in law.citing
        ],
    }
    for name, rows in tables.items():
        _json_lines(folder / f"{name}.jsonl", rows)


def _write_csv(law: Corpus, folder: Path) -> None:
    ids = {a.path: f"h{number}" for number, a in enumerate(law.articles)}
    headings = [("code", "Town Code", ""), *((ids[path], path[-1], "code") for path in ids)]
    articles = [(a.article_id, a.title, a.text, ids[a.path]) for a in law.articles]
    questions = [(q.question_id, q.text, ",".join(q.article_ids), q.split) for q in law.questions]
    _table(folder / "headings.csv", ("id", "title", "parent"), headings)
    _table(folder / "articles.csv", ("id", "title", "text", "heading"), articles)
    _table(folder / "questions.csv", ("id", "text", "articles", "split"), questions)


def _write_bsard(law: Corpus, folder: Path) -> None:
    rows = {article.article_id: number for number, article in enumerate(law.articles, start=1)}
    articles = [
        (rows[a.article_id], a.text, a.path[0], rows[a.article_id], ", ".join(a.path), "local") for a in law.articles
    ]
    header = ("id", "article", "code", "article_no", "description", "law_type")
    _table(folder / "articles_fr.csv", header, articles)
    header = ("id", "category", "subcategory", "question", "extra_description", "article_ids")
    for split, first in (("train", 1), ("test", 100)):
        questions = [q for q in law.questions if (q.split == "test") == (split == "test")]
        table = [
            (number, "Town", "Life", q.text, "", ", ".join(str(rows[i]) for i in q.article_ids))
            for number, q in enumerate(questions, start=first)
        ]
        _table(folder / f"questions_fr_{split}.csv", header, table)


def _write_legi(law: Corpus, folder: Path) -> None:
    sections: dict[str, list] = {}
    for number, a in enumerate(law.articles, start=1):
        data = {"id": a.article_id, "num": f"L{number}", "texteHtml": f"<p>{a.text}</p>", "etat": "VIGUEUR"}
        sections.setdefault(a.path[1], []).append({"type": "article", "data": data})
    children = [
        {"type": "section", "data": {"id": f"S{number}", "title": title}, "children": articles}
        for number, (title, articles) in enumerate(sections.items())
    ]
    code = {"type": "code", "data": {"title": "Town Code"}, "children": children}
    (folder / "LEGITEXT1.json").write_text(json.dumps(code), encoding="utf-8")


def _write_parquet(law: Corpus, folder: Path) -> None:
    from statgraph.formats.parquet import write_parquet

    write_parquet(law, folder)


def _write_feedback(law: Corpus, folder: Path) -> None:
    mark = {"time": "2026-01-31T12:00:00+00:00"}
    marks = [
        {**mark, "question": f"Who has {a.article_id}?", "article_id": a.article_id, "right": bool(number % 3)}
        for number, a in enumerate(law.articles)
    ]
    _json_lines(folder / "feedback.jsonl", marks)


def _write_questions(law: Corpus, folder: Path) -> None:
    _json_lines(folder / "questions.jsonl", [{"id": q.question_id, "text": q.text} for q in law.questions])
    _table(folder / "questions.csv", ("id", "question"), [(q.question_id, q.text) for q in law.questions])


def _json_lines(path: Path, rows: Iterable[dict]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def _table(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])


_SOURCES = {
    "jsonl": _write_jsonl,
    "csv": _write_csv,
    "beir": write_corpus,
    "bsard": _write_bsard,
    "legi": _write_legi,
    "parquet": _write_parquet,
    "feedback": _write_feedback,
    "questions": _write_questions,
}
