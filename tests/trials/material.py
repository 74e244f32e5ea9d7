"""What campaigns work on: small laws in every format, a backbone of random vectors, and finished runs."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from statgraph.formats.parquet import write_parquet
from statgraph.law.catalogue import sample_folder
from statgraph.law.records import CitingText, Corpus
from statgraph.law.store import read_corpus, write_corpus
from tests.town import town
from tests.trials.child import command

WIDTH = 16
STAGES = [f"{stage}.{value}" for stage in ("stage1", "stage2") for value in ("min_epoch_steps=0", "batch_size=16")]
SHORT = ("stage1.epochs=2", "stage2.epochs=2", "gnn.heads=2")


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
    def backbone(self) -> Path:
        """Return a sentence-transformers folder of random vectors for the words of both laws."""
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.sentence_transformer.modules import StaticEmbedding
        from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

        laws = [read_corpus(folder) for folder in (self.town, sample_folder())]
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
            f"ensemble.members=qabisar@{self.backbone},zero-shot@{self.backbone}",
        )  # fmt: skip
        values = () if system == "bm25" else (*own, *STAGES, *SHORT, *settings)
        chosen = [word for value in values for word in ("--set", value)]
        return ["train", "--corpus", str(corpus), "--system", system, "--device", "cpu", *chosen]

    def run(self, system: str, *, amended: bool = False) -> Path:
        """Return a finished run of a system on the town, or on it after its amendment."""
        folder = self.folder / "runs" / f"{system}{'-amended' * amended}"
        if not folder.is_dir():
            folder.parent.mkdir(parents=True, exist_ok=True)
            corpus = self.amended_town if amended else self.town
            done = command([*self.training(system, corpus), "--out", folder], self.folder)
            if done.code:
                raise RuntimeError(f"{folder.name}: not trained ({done.end})")
        return folder

    def source(self, format_name: str) -> Path:
        """Return a source of the town's law in a format of `statgraph import`."""
        folder = self.folder / "sources" / format_name
        if not folder.is_dir():
            folder.mkdir(parents=True)
            if writer := {"beir": write_corpus, "parquet": write_parquet}.get(format_name):
                writer(cited(town()), folder)
                return folder
            for name, text in _SOURCES[format_name].items():
                lines = text.splitlines(keepends=True)
                repeated = [line.replace("{n}", str(n)) for line in lines for n in range(8 if "{n}" in line else 1)]
                (folder / name).write_text("".join(repeated), encoding="utf-8")
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


_BSARD_COLUMNS = "id,category,subcategory,question,extra_description,article_ids\n"
_LEGI = [
    {"type": "article", "data": {"id": f"a{n}", "num": f"L{n}", "texteHtml": f"<p>Rule {n}.</p>", "etat": "VIGUEUR"}}
    for n in range(3)
]
_LEGI_CODE = {
    "type": "code",
    "data": {"title": "Town Code"},
    "children": [{"type": "section", "data": {"id": "S1", "title": "Book I"}, "children": _LEGI}],
}
# Format -> its files; a "{n}" in a line makes eight of it.
_SOURCES = {
    "jsonl": {
        "articles.jsonl": '{"id": "a{n}", "title": "Art. {n}", "text": "Lamp {n} is taxed.", '
        '"path": ["Town Code", "Book I"], "valid_from": "2001-01-01"}\n',
        "questions.jsonl": '{"id": "q{n}", "text": "Who pays for lamp {n}?", "articles": ["a{n}"], "split": "train"}\n',
        "citing.jsonl": '{"id": "c{n}", "title": "Guide", "text": "Lamp {n}.", "cites": ["a{n}"], "part": "section"}\n',
    },
    "csv": {
        "headings.csv": "id,title,parent\ncode,Town Code,\nh{n},Book {n},code\n",
        "articles.csv": "id,title,text,heading\na{n},Art. {n},Lamp {n} is taxed.,h{n}\n",
        "questions.csv": "id,text,articles,split\nq{n},Who pays for lamp {n}?,a{n},train\n",
    },
    "bsard": {
        "articles_fr.csv": "id,article,code,article_no,description,law_type\n"
        '{n},Lamp {n} is taxed.,Town Code,{n},"Town Code, Book I",local\n',
        "questions_fr_train.csv": f"{_BSARD_COLUMNS}{{n}},Town,Life,Who pays for lamp {{n}}?,,{{n}}\n",
        "questions_fr_test.csv": f'{_BSARD_COLUMNS}10{{n}},Town,Life,Who taxes lamps?,,"1, 2"\n',
    },
    "legi": {"LEGITEXT1.json": json.dumps(_LEGI_CODE)},
    "feedback": {
        "feedback.jsonl": '{"time": "2026-01-31T12:00:00+00:00", "question": "Who has lamp {n}?", '
        '"article_id": "lamps1", "right": true}\n',
    },
    "questions": {
        "questions.jsonl": '{"id": "q{n}", "text": "May I keep lamp {n}?"}\n',
        "questions.csv": "id,question\nq{n},May I keep lamp {n}?\n",
    },
}
