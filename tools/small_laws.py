"""The small laws that are asked in everyday words: two and six of the tests, and ten official acts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import yaml

from statgraph import Corpus, import_corpus
from statgraph.law.records import Question
from tools.official_acts import QUESTIONS, is_answer

_LAWS = Path(__file__).parents[1] / "tests" / "laws"
_WRITTEN = "household-services", "vereine"


def small_laws(acts: Path) -> Iterator[Corpus]:
    """Yield the laws, with their questions as dev.

    Args:
        acts: the folder with the files of the ten acts, which are not part of the project.
    """
    for name in _WRITTEN:
        law = import_corpus(_LAWS / name, "jsonl")
        yield replace(law, questions=tuple(replace(question, split="dev") for question in law.questions))
    official = _LAWS / "official_acts"
    for name, asked in yaml.safe_load((official / "questions.yaml").read_text(encoding="utf-8")).items():
        yield _with_questions(import_corpus(official / f"{name}.xml"), asked)
    for entry in yaml.safe_load(QUESTIONS.read_text(encoding="utf-8")):
        yield _with_questions(import_corpus(acts / entry["file"], "xml"), entry["questions"])


def _with_questions(law: Corpus, asked: Sequence[tuple[str, Sequence[str]]]) -> Corpus:
    questions = [
        Question(
            question_id=f"q{place}",
            text=text,
            article_ids=tuple(article.article_id for article in law.articles if is_answer(article, numbers)),
            split="dev",
        )
        for place, (text, numbers) in enumerate(asked)
    ]
    return replace(law, questions=tuple(questions))
