"""The records that all parts of the toolkit exchange: articles, headings, questions, citing texts, and their corpus."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

from statgraph.errors import checked

SPLITS = ("train", "dev", "test")
UNSEEN_SPLITS = ("dev", "test")

SET_KEY = "set"
# What `metadata.set` of a question calls the set that is trained and chosen on; blank means the same.
MAIN_SET = "questions"

PATH_SEPARATOR = " > "  # between the headings of a path that is one text

# What part of its document a citing text can be.
PARTS = ("reference", "section", "paragraph")
# Shorter citing texts ("Conditions", "How to apply") occur in many documents, and do not distinguish them.
LONG_TEXT_CHARS = 40


REFERENCES_ELSEWHERE = "references_elsewhere"  # in an article's metadata: targets that are not in the corpus


@dataclass(frozen=True, slots=True)
class Article:
    """One article of law: the unit that is retrieved.

    `title` is how it is cited ("Art. 36, Rent Code"), `number` its number as its code writes it ("Art. 36", "§ 573b"),
    `rubric` its own heading ("Deposit"); the last two are "" where they are not known. `path` holds the headings above
    it, from the code down to its own section; `order` is its place within its code. `metadata` is whatever else the
    source says about it (JSON values), kept but unused, except for when it is in force (`statgraph.law.validity`).
    """

    article_id: str
    title: str
    text: str
    path: tuple[str, ...]
    order: int
    metadata: Mapping[str, object] = field(default_factory=dict, compare=False)
    number: str = ""
    rubric: str = ""

    @property
    def code(self) -> str:
        """Return the title of the code that the article belongs to."""
        return self.path[0]

    @property
    def addresses(self) -> list[str]:
        """Return the web addresses of what the article refers to outside the corpus, as its source has them."""
        targets = self.metadata.get(REFERENCES_ELSEWHERE)
        texts = [target for target in targets if isinstance(target, str)] if isinstance(targets, (list, tuple)) else []
        return [target for target in texts if target.startswith(("https://", "http://"))]


class AnyArticle(Protocol):
    """What is known of an article everywhere: in a corpus, in a run, in an answer."""

    @property
    def title(self) -> str: ...

    @property
    def text(self) -> str: ...

    @property
    def path(self) -> tuple[str, ...]: ...

    @property
    def number(self) -> str: ...

    @property
    def rubric(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Heading:
    """One heading of the table of contents. Its identity is its whole path: two codes can hold equal titles."""

    path: tuple[str, ...]

    @property
    def title(self) -> str:
        """Return the heading's own title, the last of its path."""
        return self.path[-1]

    @property
    def depth(self) -> int:
        """Return the heading's level; a code has depth 1."""
        return len(self.path)

    @property
    def parent(self) -> Heading | None:
        """Return the heading above, or None for a code."""
        return Heading(self.path[:-1]) if len(self.path) > 1 else None


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the articles that answer it, in one split (`train`, `dev` or `test`)."""

    question_id: str
    text: str
    split: str
    article_ids: tuple[str, ...]
    metadata: Mapping[str, object] = field(default_factory=dict, compare=False)

    @property
    def question_set(self) -> str:
        """Return the set that the question belongs to, `metadata.set`; `MAIN_SET` where that is blank."""
        return str(self.metadata.get(SET_KEY) or "").strip() or MAIN_SET


@dataclass(frozen=True, slots=True)
class CitingText:
    """A passage beside the law that cites articles, such as a paragraph of a guide: readers' words for them.

    `title` is that of its document, `part` what it is there (one of `PARTS`, or ""). `question_id` names
    the question that the document answers, whose split it follows; "" where it belongs to none.
    """

    citing_id: str
    title: str
    text: str
    article_ids: tuple[str, ...]
    question_id: str = ""
    part: str = ""


@dataclass(frozen=True)
class Corpus:
    """Articles in the order of their codes, the labelled questions about them, and the texts that cite them.

    `language` is an ISO 639-1 code ("fr", "en"). `questions` holds the questions of every set and split, `citing` the
    citing texts of every split: what trains or is indexed takes them from `usable_citing` alone. `synonyms` is the text
    of the user's `synonyms.txt`. Build one through a `statgraph.law.draft.Draft`, which refuses inconsistent data.
    """

    name: str
    language: str
    licence: str
    source: str
    articles: tuple[Article, ...]
    questions: tuple[Question, ...]
    citing: tuple[CitingText, ...] = ()
    synonyms: str = ""

    @cached_property
    def article_rows(self) -> dict[str, int]:
        """Return the position in `articles` of each article id."""
        return {article.article_id: row for row, article in enumerate(self.articles)}

    @cached_property
    def content_hash(self) -> str:
        """Return the SHA-256 (hex) of all articles, questions and citing texts: equal content, equal hash, whatever the
        folder. Published tables and finished runs name their corpora by it, so that its fields stay as they are."""
        digest = hashlib.sha256()
        for article in self.articles:
            # Where the title holds number and rubric, it says all that there is to say.
            fields = [article.article_id, article.title, article.text, list(article.path), article.order]
            if article.rubric not in article.title or article.number not in article.title:
                fields += [article.number, article.rubric]
            _add_fields(digest, "a", *fields)
        for question in self.questions:
            named = () if question.question_set == MAIN_SET else (question.question_set,)
            labels = list(question.article_ids)
            _add_fields(digest, "q", question.question_id, question.text, question.split, labels, *named)
        for text in self.citing:
            cited = list(text.article_ids)
            _add_fields(digest, "c", text.citing_id, text.title, text.text, cited, text.question_id, text.part)
        return digest.hexdigest()

    @cached_property
    def question_sets(self) -> tuple[str, ...]:
        """Return the names of the sets that have questions, the main set first, the others by first appearance."""
        names = dict.fromkeys(question.question_set for question in self.questions)
        return tuple(sorted(names, key=lambda name: name != MAIN_SET))

    def split(self, name: str, question_set: str = MAIN_SET) -> tuple[Question, ...]:
        """Return the questions of one split and one set, in corpus order."""
        return tuple(
            question for question in self.questions if question.split == name and question.question_set == question_set
        )

    def all_in_train(self, *, exclude_test: bool = False) -> Corpus:
        """Return the corpus with every question in the training split, or every one but those of test: what a final run
        is trained on."""
        train, _, test = SPLITS
        kept = test if exclude_test else train
        return replace(
            self,
            questions=tuple(
                question if question.split == kept else replace(question, split=train) for question in self.questions
            ),
        )

    def usable_citing(self) -> tuple[CitingText, ...]:
        """Return the citing texts that may be trained on or indexed, in corpus order: the only way to them.

        A text is left out if its question is in one of `UNSEEN_SPLITS`, or if it is in other words the text of one that
        is: equal, but for case and punctuation, to an unseen question, or to a citing text of one
        (`LONG_TEXT_CHARS` or more characters alone, shorter ones with their titles).
        """
        unseen = {question.question_id for question in self.questions if question.split in UNSEEN_SPLITS}
        known = {"", *(question.question_id for question in self.questions)} - unseen
        words = {_words(question.text) for question in self.questions if question.question_id in unseen}
        passages = {key for text in self.citing if text.question_id in unseen for key in _passages(text)}
        return tuple(
            text
            for text in self.citing
            if text.question_id in known
            and words.isdisjoint((_words(text.title), _words(text.text), _words(f"{text.title} {text.text}")))
            and passages.isdisjoint(_passages(text))
        )

    def label_rows(self, questions: Iterable[Question]) -> list[list[int]]:
        """Return for each question the rows in `articles` of the articles that answer it."""
        rows = self.article_rows
        return [[rows[article_id] for article_id in question.article_ids] for question in questions]


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _passages(text: CitingText) -> tuple[str, ...]:
    """Return in comparable form what distinguishes a citing text from those of other documents."""
    whole = _words(f"{text.title} {text.text}")
    return (whole, _words(text.text)) if len(text.text) >= LONG_TEXT_CHARS else (whole,)


def _add_fields(digest: hashlib._Hash, *values: object) -> None:
    digest.update(json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode("utf-8"))
    digest.update(b"\n")


def checked_corpus(corpus: Corpus) -> Corpus:
    """Return the argument if it is a corpus.

    Raises:
        UsageError: if it is anything else.
    """
    return checked("corpus", corpus, (Corpus,), "a Corpus, such as import_corpus(...) or read_corpus(...) returns")
