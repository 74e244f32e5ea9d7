"""What campaigns work on: small laws in every format, a backbone of random vectors, and finished runs."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from statgraph.corpus.catalogue import sample_folder
from statgraph.corpus.records import CitingText, Corpus
from statgraph.corpus.store import read_corpus, write_corpus
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

        texts = [
            record.text for law in (self.town, self.sample) for record in (*_read(law).articles, *_read(law).questions)
        ]
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


def _read(folder: Path) -> Corpus:
    return read_corpus(folder)


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
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")


def _write_csv(law: Corpus, folder: Path) -> None:
    ids = {a.path: f"h{number}" for number, a in enumerate(law.articles)}
    headings = [("id", "title", "parent"), ("code", "Town Code", ""), *((ids[p], p[-1], "code") for p in ids)]
    articles = [
        ("id", "title", "text", "heading"),
        *((a.article_id, a.title, a.text, ids[a.path]) for a in law.articles),
    ]
    questions = [
        ("id", "text", "articles", "split"),
        *((q.question_id, q.text, ",".join(q.article_ids), q.split) for q in law.questions),
    ]
    for name, rows in (("headings", headings), ("articles", articles), ("questions", questions)):
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(rows)


def _write_bsard(law: Corpus, folder: Path) -> None:
    rows = {article.article_id: number for number, article in enumerate(law.articles, start=1)}
    articles = [("id", "article", "code", "article_no", "description", "law_type")]
    articles += [
        (rows[a.article_id], a.text, a.path[0], rows[a.article_id], ", ".join(a.path), "local") for a in law.articles
    ]
    with (folder / "articles_fr.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(articles)
    header = ("id", "category", "subcategory", "question", "extra_description", "article_ids")
    for split, name in (("train", "train"), ("test", "test")):
        asked = [q for q in law.questions if (q.split == "test") == (split == "test")]
        with (folder / f"questions_fr_{name}.csv").open("w", encoding="utf-8", newline="") as file:
            out = csv.writer(file)
            out.writerow(header)
            for number, q in enumerate(asked, start=1 if split == "train" else 100):
                out.writerow((number, "Town", "Life", q.text, "", ", ".join(str(rows[i]) for i in q.article_ids)))


def _write_legi(law: Corpus, folder: Path) -> None:
    sections: dict[str, list] = {}
    for number, article in enumerate(law.articles, start=1):
        about = {
            "id": article.article_id,
            "num": f"L{number}",
            "texteHtml": f"<p>{article.text}</p>",
            "etat": "VIGUEUR",
        }
        sections.setdefault(article.path[1], []).append({"type": "article", "data": about})
    children = [
        {"type": "section", "data": {"id": f"S{number}", "title": title}, "children": held}
        for number, (title, held) in enumerate(sections.items())
    ]
    code = {"type": "code", "data": {"title": "Town Code"}, "children": children}
    (folder / "LEGITEXT1.json").write_text(json.dumps(code), encoding="utf-8")


def _write_parquet(law: Corpus, folder: Path) -> None:
    from statgraph.corpus.formats.parquet import write_parquet

    write_parquet(law, folder)


def _write_feedback(law: Corpus, folder: Path) -> None:
    marks = [
        {
            "time": "2026-01-31T12:00:00+00:00",
            "question": f"Who has {a.article_id}?",
            "article_id": a.article_id,
            "right": bool(number % 3),
        }
        for number, a in enumerate(law.articles)
    ]
    (folder / "feedback.jsonl").write_text("".join(json.dumps(mark) + "\n" for mark in marks), encoding="utf-8")


def _write_questions(law: Corpus, folder: Path) -> None:
    text = "".join(json.dumps({"id": q.question_id, "text": q.text}) + "\n" for q in law.questions)
    (folder / "questions.jsonl").write_text(text, encoding="utf-8")
    rows = [("id", "question"), *((q.question_id, q.text) for q in law.questions)]
    with (folder / "questions.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


_SOURCES = {
    "jsonl": _write_jsonl,
    "csv": _write_csv,
    "beir": lambda law, folder: write_corpus(law, folder),
    "bsard": _write_bsard,
    "legi": _write_legi,
    "parquet": _write_parquet,
    "feedback": _write_feedback,
    "questions": _write_questions,
}
