"""Drafts of a corpus: every source format fills one, and only a draft without problems becomes a corpus."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from statgraph.errors import CorpusError, option
from statgraph.law.citations.named_articles import NamedArticles
from statgraph.law.citations.numbers import article_number
from statgraph.law.citations.references import cited_articles
from statgraph.law.html_text import has_html, plain_text
from statgraph.law.normal_text import comparable_question, normal_heading
from statgraph.law.records import (
    MAIN_SET,
    PARTS,
    PATH_SEPARATOR,
    SET_KEY,
    SPLITS,
    Article,
    CitingText,
    Corpus,
    Question,
)
from statgraph.law.source_report import REPEALED, SourceReport
from statgraph.law.splitting import HASH, SPLITTINGS
from statgraph.law.synonyms import parse_synonyms
from statgraph.law.titles import with_title_parts
from statgraph.law.validity import LAST_DAY, validity_problem

# Of the tables of a user's own statutes.
COLUMNS = (
    *("id", "title", "text", "number", "rubric", "path", "heading", "valid_from", "valid_to", LAST_DAY),  # of articles
    *("parent", "articles", "split", "set", "cites", "question_id", "part"),
)
MADE_ID = "q-"  # begins the id of a question that came without one
_NEAR = 70  # how alike a label and a title are, from 0 to 100, for one to be meant
_LANGUAGE = re.compile(r"[a-z]{2,3}")
_NO_ARTICLES = "holds no articles; a corpus needs at least one"
_NO_TEXTS = f"no article has a text; name the column or key that holds it with {option('column')} text=YOURS"


@dataclass(frozen=True)
class Reading:
    """How the files of a source are read.

    Attributes:
        encoding: of text files.
        columns: of tables, the name that statgraph has for a column, or several, by the one that the files have.
        strip_html: whether texts, titles and headings that hold HTML are reduced to their plain text.
        code: the code of articles that have neither path nor heading, or of a document.
        profile: of official XML, the name or file of its profile; "" to recognise it.
        article_pattern, heading_patterns: of documents, regular expressions of the lines that begin articles and of
            headings, the highest first.
        questions: a table of questions about the articles, beside those of the source and one called `questions` that
            lies beside a file.
        allow_lost: whether a source is imported although more of it would be lost than `source_report.MOST_LOST`.
    """

    encoding: str = "utf-8"
    columns: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    strip_html: bool = False
    code: str = ""
    profile: str = ""
    article_pattern: str = ""
    heading_patterns: tuple[str, ...] = ()
    questions: Path | None = None
    allow_lost: bool = False

    def plain(self, text: str) -> str:
        """Return a text, without its HTML if that is not wanted."""
        return plain_text(text) if self.strip_html and has_html(text) else text


AS_IT_STANDS = Reading()


@dataclass(frozen=True)
class _Labels:
    """The labels of a question: its split with the place that names it first, the question whose split it follows, and
    the place of each label by the article's id."""

    split: str | None
    place: str
    follows: str
    places: dict[str, str] = field(default_factory=dict)


class Draft:
    """Collects articles, questions, labels and citing texts with the place each was read from, and every problem met.

    A place is what a user can open: `corpus.jsonl:17`, `articles_fr.csv:3`, `LEGITEXT000006072050.json`. `name` is that
    of the corpus, `language` its ISO 639 code, `splits` how questions without a split get one (of `SPLITTINGS`).
    `left_out` takes what of the source is no part of a corpus, in words, and `report` the accounts of its words.

    `is_repealed` says of an article's text whether it is only a mark such as "(repealed)": such articles are left out,
    and so are those with a blank text. Without it a blank text is a problem, and a mark a text. `counts_cells` says
    whether there is an account of tables; `settle_cells` completes it.
    """

    def __init__(
        self,
        *,
        name: str,
        language: str,
        licence: str = "unknown",
        source: str = "unknown",
        splits: str = HASH,
        reading: Reading = AS_IT_STANDS,
        is_repealed: Callable[[str], bool] | None = None,
        counts_cells: bool = False,
    ):
        self.name, self.language, self.licence = name, language, licence
        self.source = source if splits == HASH else f"{source}; splits {splits}"
        self.reading = reading
        self.left_out: list[str] = []
        self._repealed: dict[str, str] = {}  # the places of articles without text by id
        self.report = SourceReport(counts_cells=counts_cells, plain=reading.plain if reading.strip_html else None)
        self._columns_met: dict[tuple[str, ...], list[tuple[str, ...]]] = {}  # of a table to their names
        self._problems: list[str] = []
        self._refused: set[str] = set()
        self._places: dict[tuple[str, str], str] = {}  # by kind and id
        self._articles: dict[str, Article] = {}
        self._questions: dict[str, tuple[str, Mapping[str, object]]] = {}
        self._ids_by_text: dict[tuple[str, str], str] = {}  # of questions, by their comparable form and set
        self._labels: dict[str, _Labels] = {}
        self._splitting, self._is_repealed = splits, is_repealed
        self._split_conflicts: set[tuple[str, str | None]] = set()
        self._orders: dict[str, int] = {}
        self._citing: dict[str, CitingText] = {}
        self._synonyms = ""

    @property
    def problem_count(self) -> int:
        return len(self._problems)

    def add_problem(self, place: str, problem: str, *, refused: Iterable[str] = ()) -> None:
        """Record what is wrong at a place and how to correct it; `corpus()` will refuse the draft.

        `refused`: the fields of a row that is left out because of it. One may be an id, and labels that name it are
        not reported as well.
        """
        self._problems.append(f"{place}: {problem}")
        self._refused.update(field.strip() for field in refused)

    def named_columns(self, columns: tuple[str, ...]) -> list[tuple[str, ...]]:
        """Return statgraph's names for each column of a table: its own, or those that the reading gives it.

        Columns are the same without regard to case and surrounding blanks.
        """
        if columns not in self._columns_met:
            given = {_plain(yours): ours for yours, ours in self.reading.columns.items()}
            own = {column: _plain(column) for column in columns if _plain(column) in set(COLUMNS) - set(columns)}
            names = [given.get(_plain(column)) or own.get(column, column.strip()) for column in columns]
            self._columns_met[columns] = [(name,) if isinstance(name, str) else name for name in names]
        return self._columns_met[columns]

    @property
    def columns_missed(self) -> tuple[str, ...]:
        """Return the columns that were to be read under another name and are in no file."""
        met = {_plain(column) for columns in self._columns_met for column in columns}
        return tuple(column for column in self.reading.columns if _plain(column) not in met)

    def learn(self, *, language: str = "", licence: str = "") -> None:
        """Take over what a source says of its statutes, where neither the user nor a file before has said it."""
        self.language = self.language or language
        if self.licence == "unknown" and licence:
            self.licence = licence

    @contextmanager
    def articles_from(self, name: str) -> Iterator[None]:
        """Record a problem if the code in this context reads no articles from a file and reports nothing else."""
        repealed, before = len(self._repealed), (len(self._articles.keys() - self._repealed), self.problem_count)
        yield
        if (len(self._articles.keys() - self._repealed), self.problem_count) == before:
            self.add_problem(name, _NO_TEXTS if len(self._repealed) > repealed else _NO_ARTICLES)

    def add_article(
        self,
        place: str,
        *,
        article_id: str,
        title: str = "",
        text: str,
        path: Sequence[str],
        order: int | None = None,
        metadata: Mapping[str, object] | None = None,
        number: str = "",
        rubric: str = "",
    ) -> None:
        """Add one article.

        Without a `title` it is cited by number and code, or by its id; without an `order` it comes after the articles
        of its code that were added before.
        """
        article_id = article_id.strip()
        title, text = self.reading.plain(title).strip(), self.reading.plain(text)
        number, rubric = (" ".join(self.reading.plain(part).split()) for part in (number, rubric))
        is_repealed = self._is_repealed is not None and (not text.strip() or self._is_repealed(text))
        if not self.is_new("article", article_id, place, **({} if is_repealed else {"text": text})):
            return
        if is_repealed:
            self._repealed[article_id] = place
            self.report.leave_out_cells(REPEALED, (article_id, number, rubric, title, text, list(path), metadata))
            if not text.strip():
                return
        problem = validity_problem(metadata or {})
        if problem:
            self.add_problem(place, f"article '{article_id}' {problem}")
        path = tuple(normal_heading(self.reading.plain(heading)) for heading in path)
        if not path and self.reading.code:
            path = (normal_heading(self.reading.code),)
        if not path or not all(path):
            self.add_problem(
                place, f"article '{article_id}' has an empty path; name the headings above it, from the code down"
            )
            path = ("",)
        if order is None:
            order = self._orders.get(path[0], 0) + 1
        self._orders[path[0]] = max(order, self._orders.get(path[0], 0))
        title = title or (f"{number}, {path[0]}" if number else article_id)
        self._articles[article_id] = Article(article_id, title, text, path, order, metadata or {}, number, rubric)

    @property
    def article_ids(self) -> Collection[str]:
        """Return the ids of the articles that were added so far."""
        return self._articles.keys()

    @property
    def article_names(self) -> set[str]:
        """Return what labels may call the articles that were added so far: their ids and numbers."""
        return {*self._articles, *(article.number for article in self._articles.values())} - {""}

    @property
    def repealed(self) -> dict[str, str]:
        """Return the places of the articles that `corpus()` leaves out as repealed, by id. One with a mark for a text
        stays where a label or a citing text names it."""
        if not self._repealed:
            return {}
        named = {article_id for labels in self._labels.values() for article_id in labels.places}
        named.update(article_id for text in self._citing.values() for article_id in text.article_ids)
        kept = named & self._articles.keys()
        return {article_id: place for article_id, place in self._repealed.items() if article_id not in kept}

    def add_question(
        self, place: str, *, question_id: str, text: str, metadata: Mapping[str, object] | None = None
    ) -> None:
        """Add one question; its labels come by `add_label`, before or after."""
        question_id, text = question_id.strip(), self.reading.plain(text)
        if not self.is_new("question", question_id, place, text=text):
            return
        if not isinstance((metadata or {}).get(SET_KEY) or "", str):
            self.add_problem(place, f"question '{question_id}' has a '{SET_KEY}' that is not a string; name its set")
        self._questions[question_id] = (text.strip(), metadata or {})
        question_set = str((metadata or {}).get(SET_KEY) or MAIN_SET)
        self._ids_by_text.setdefault((comparable_question(text), question_set), question_id)

    def question_with(self, text: str, question_set: str) -> str:
        """Return the id of the question of a set with a text, in whatever case and spacing; blank without one."""
        return self._ids_by_text.get((comparable_question(self.reading.plain(text)), question_set), "")

    def split_of(self, question_id: str) -> str | None:
        """Return the split in which the labels of a question came, None where it has none."""
        return self._labels[question_id].split if question_id in self._labels else None

    def is_from(self, question_id: str, place: str) -> bool:
        """Return whether a question was read from the file of a place."""
        return self._places["question", question_id].rpartition(":")[0] == place.rpartition(":")[0]

    def is_new(self, kind: str, identifier: str, place: str, **needed: str) -> bool:
        """Return whether an id is given and new, and remember its place; record the problem if not, or if one of the
        needed values of the record is blank."""
        first = self._places.get((kind, identifier))
        if not identifier:
            self.add_problem(place, f"{kind} has no id; give every {kind} a unique id")
        elif first is not None:
            in_file, file = first.rpartition(":"), place.rpartition(":")[0]
            first = f"line {in_file[2]}" if file and in_file[0] == file else first
            self.add_problem(place, f"{kind} id '{identifier}' appears twice (first on {first}); ids must be unique")
        else:
            self._places[kind, identifier] = place
            for name in (name for name, value in needed.items() if not value.strip()):
                self.add_problem(place, f"{kind} '{identifier}' has an empty {name}; fill it or remove the {kind}")
            return True
        return False

    def add_label(
        self, place: str, *, question_id: str, article_id: str, split: str | None = None, follows: str = ""
    ) -> None:
        """Record that an article answers a question of a split; repeated labels count once.

        Without a split, `corpus()` gives the question one: that of the question which it `follows`, if any.
        """
        if split not in (None, *SPLITS):
            return self.add_problem(place, f"unknown split '{split}'; use one of {', '.join(SPLITS)}")
        question_id, article_id = question_id.strip(), article_id.strip()
        if not question_id or not article_id:
            return self.add_problem(place, "label lacks an id; name one question and one article on each line")
        labels = self._labels.setdefault(question_id, _Labels(split, place, follows or question_id))
        if labels.split == split:
            labels.places.setdefault(article_id, place)
        elif (question_id, split) not in self._split_conflicts:
            self._split_conflicts.add((question_id, split))
            self.add_problem(
                place,
                f"question '{question_id}' is in split '{split}' and in '{labels.split}' ({labels.place}); "
                "keep it in one split, or its answer leaks",
            )
        return None

    def add_citing(
        self,
        place: str,
        *,
        citing_id: str,
        title: str,
        text: str,
        article_ids: Sequence[str] = (),
        question_id: str = "",
        part: str = "",
    ) -> None:
        """Add one citing text. Without `article_ids`, those that its title and text name by number are looked up."""
        citing_id, part = citing_id.strip(), part.strip()
        title, text = self.reading.plain(title), self.reading.plain(text)
        if not self.is_new("citing text", citing_id, place, text=text):
            return
        if part and part not in PARTS:
            self.add_problem(place, f"unknown part '{part}'; use one of {', '.join(PARTS)}, or none")
        cited = tuple(dict.fromkeys(article_id.strip() for article_id in article_ids))
        self._citing[citing_id] = CitingText(citing_id, title.strip(), text.strip(), cited, question_id.strip(), part)

    def check(self) -> None:
        """Raise a CorpusError with every problem found, if there is one."""
        if self._problems:
            raise CorpusError(*self._problems)

    def questions(self) -> list[tuple[str, str]]:
        """Return (id, text) of every question, labelled or not.

        Raises:
            CorpusError: as `check` does.
        """
        self.check()
        return [(question_id, text) for question_id, (text, _) in self._questions.items()]

    @property
    def article_places(self) -> dict[str, str]:
        """Return where each article was read, by its id."""
        return {article_id: self._places["article", article_id] for article_id in self._articles}

    @property
    def unlabelled_questions(self) -> tuple[str, ...]:
        """Return the ids of questions without a label, which `corpus()` leaves out: they can neither train nor test."""
        return tuple(question_id for question_id in self._questions if question_id not in self._labels)

    @cached_property
    def looked_up(self) -> dict[str, tuple[str, ...]]:
        """Return the articles that citing texts which came without any name by number, by the text's id; `corpus()`
        leaves out texts that name none. Read it once all is added."""
        bare = [text for text in self._citing.values() if not text.article_ids]
        found = cited_articles(bare, self._kept_articles())
        return {text.citing_id: article_ids for text, article_ids in zip(bare, found, strict=True)}

    def _kept_articles(self) -> list[Article]:
        repealed = self.repealed
        return [article for article_id, article in self._articles.items() if article_id not in repealed]

    def settle_cells(self) -> None:
        """Complete the account of tables with all that the draft holds."""
        if not self.report.has_cells:
            return
        for one in self._kept_articles():
            path = PATH_SEPARATOR.join(one.path)
            self.report.keep_cells((one.article_id, one.number, one.rubric, one.title, one.text, path, one.metadata))
        for question_id, (words, metadata) in self._questions.items():
            labels = self._labels.get(question_id)
            question = (question_id, words, metadata)
            if labels is None:
                self.report.leave_out_cells("questions that no article answers", question)
            else:
                self.report.keep_cells((*question, *_as_lists(tuple(labels.places))))
        for citing_id, text in self._citing.items():
            citing = (citing_id, text.title, text.text, text.question_id, text.part)
            if text.article_ids or self.looked_up[citing_id]:
                self.report.keep_cells((*citing, *_as_lists(text.article_ids)))
            else:
                self.report.leave_out_cells("citing texts without an article", citing)
        self.report.settle_cells()

    def listed(self) -> Iterator[str]:
        """Yield in lines what became of the source, as its report says."""
        return self.report.lines((self._places["article", one.article_id], one) for one in self._kept_articles())

    def drafted_articles(self) -> tuple[Article, ...]:
        """Return the articles as they were added: part of a corpus, or none.

        Raises:
            CorpusError: as `check` does.
        """
        self.check()
        return tuple(self._articles.values())

    def add_synonyms(self, place: str, text: str) -> None:
        """Take the text of a file of synonyms."""
        self._synonyms = text
        for line, problem in parse_synonyms(text, place)[1]:
            self.add_problem(line, problem)

    def corpus(self) -> Corpus:
        """Return the corpus, articles code by code in their order, with the numbers and rubrics that their titles hold.

        A citing text of a question without a label, which is left out, belongs to no question.

        Raises:
            CorpusError: with every problem found, if there is one.
        """
        self._name_by_ids()
        problems = [*self._problems, *self._label_problems(), *self._citing_problems(), *self._split_problems()]
        if not self._articles and not self._problems:
            problems.insert(0, f"{self.name}: {_NO_ARTICLES}")
        if not _LANGUAGE.fullmatch(self.language) and (self.language or not problems):
            problems.append(
                f"{self.name}: language '{self.language}' is not an ISO 639 code; write it like 'fr' or 'en'"
            )
        if problems:
            raise CorpusError(*problems)
        code_rank = {code: rank for rank, code in enumerate(self._orders)}
        articles = with_title_parts(self._kept_articles())
        articles.sort(key=lambda article: (code_rank[article.code], article.order))
        splits = self._made_splits()
        questions = (
            Question(question_id, text, splits[question_id], tuple(self._labels[question_id].places), metadata)
            for question_id, (text, metadata) in self._questions.items()
            if question_id in self._labels
        )
        citing = []
        for text in self._citing.values():
            question_id = text.question_id if text.question_id in self._labels else ""
            if article_ids := text.article_ids or self.looked_up[text.citing_id]:
                citing.append(replace(text, article_ids=article_ids, question_id=question_id))
        about = (self.name, self.language, self.licence, self.source)
        return Corpus(*about, tuple(articles), tuple(questions), tuple(citing), self._synonyms)

    def _name_by_ids(self) -> None:
        """Replace in labels and citing texts what people call articles by their ids: the number, where it is one
        article's alone, or a citation such as "§ 79 PS" or "Art. 1 and 2, Housing Code"."""
        given = {article_id for labels in self._labels.values() for article_id in labels.places}
        given.update(article_id for text in self._citing.values() for article_id in text.article_ids)
        if given <= self._articles.keys():
            return
        ids: dict[str, list[str]] = {}
        for article in self._articles.values():
            ids.setdefault(article_number(article.number), []).append(article.article_id)

        def ids_of(label: str) -> tuple[str, ...]:
            """Return the ids that a label names; itself where that is not clear."""
            if label in self._articles or label in self._repealed:
                return (label,)
            if len(same := ids.get(article_number(label), [])) == 1:
                return (same[0],)
            meant = self._meant(label)
            if meant and all(len({article.code for article in articles}) == 1 for articles in meant):
                return tuple(article.article_id for articles in meant for article in articles)
            is_of_ids = all(word in self._articles for word in label.split())
            parts = label.split() if is_of_ids else re.split(r"\s*,\s*", label)
            named = [ids_of(part) for part in parts] if len(parts) > 1 else []
            is_list = any(ids != (part,) or part in self._articles for part, ids in zip(parts, named, strict=False))
            return tuple(each for ids in named for each in ids) if is_list else (label,)

        named = {label: ids_of(label) for label in given}
        for question_id, labels in self._labels.items():
            places = {each: place for label, place in labels.places.items() for each in named[label]}
            self._labels[question_id] = replace(labels, places=places)
        for citing_id, text in self._citing.items():
            article_ids = tuple(dict.fromkeys(each for label in text.article_ids for each in named[label]))
            self._citing[citing_id] = replace(text, article_ids=article_ids)

    def _meant(self, label: str) -> list[list[Article]]:
        """Return the articles that each number in a label may mean, those of all codes where it names none."""
        articles, names = self._names
        return [[articles[row] for row in rows] for rows in names.meant(label)]

    @cached_property
    def _names(self) -> tuple[list[Article], NamedArticles]:
        """Return the articles, and what finds them by number; read once all is added."""
        articles = with_title_parts(self._kept_articles())
        titles, paths, numbers = ([getattr(each, name) for each in articles] for name in ("title", "path", "number"))
        known = [number or title for number, title in zip(numbers, titles, strict=True)]
        return articles, NamedArticles(titles, paths, known)

    def _hint(self, label: str) -> str:
        """Return in brackets what may be wrong with a label that names no article, or blank."""
        if codes := sorted({each.code for articles in self._meant(label) for each in articles}):
            return f" (it is in {len(codes)} codes, {' and '.join(codes[:2])} among them: name the code too)"
        from rapidfuzz import fuzz, process

        titles = [article.title for article in self._articles.values()]
        found = process.extract(label, titles, scorer=fuzz.ratio, score_cutoff=_NEAR, limit=2)
        near = [title for title, _, _ in found]
        is_one_code = len({article.code for article in self._articles.values()}) == 1
        for number in re.findall(r"\d+\w?", label) if is_one_code else ():  # "5. madde": no references are read
            near = near or [title for title in titles if re.search(rf"(?<!\w){number}(?!\w)", title)][:2]
        return f" (nearest: {' and '.join(map(repr, near))})" if near else ""

    def _made_splits(self) -> dict[str, str]:
        """Return the split of each labelled question, given or made."""
        leaders = {labels.follows for labels in self._labels.values() if not labels.split}
        cited = {leader: self._labels[leader].places if leader in self._labels else () for leader in leaders}
        texts = {leader: self._questions[leader][0] for leader in leaders if leader in self._questions}
        made = SPLITTINGS[self._splitting](cited, texts)
        return {question_id: labels.split or made[labels.follows] for question_id, labels in self._labels.items()}

    def _label_problems(self) -> Iterator[str]:
        repealed = self.repealed
        for question_id, labels in self._labels.items():
            if self._misses(self._questions, question_id):
                yield f"{labels.place}: label names question '{question_id}', which does not exist; add the question"
            is_made = question_id.startswith(MADE_ID) and question_id in self._questions
            called = self._questions[question_id][0] if is_made else question_id
            for article_id, place in labels.places.items():
                named = f"{place}: label of question '{called}' names article '{article_id}', which"
                if article_id in repealed:
                    yield f"{named} has no text ({repealed[article_id]}); add the text or remove the label"
                elif self._misses(self._articles, article_id):
                    yield f"{named} does not exist{self._hint(article_id)}; add the article or remove the label"

    def _citing_problems(self) -> Iterator[str]:
        repealed = self.repealed
        for citing_id, text in self._citing.items():
            where = f"{self._places['citing text', citing_id]}: citing text '{citing_id}'"
            if text.question_id and self._misses(self._questions, text.question_id):
                yield f"{where} belongs to question '{text.question_id}', which does not exist; add the question"
            for article_id in text.article_ids:
                if article_id in repealed:
                    place = repealed[article_id]
                    yield f"{where} cites article '{article_id}', which has no text ({place}); add it or leave it out"
                elif self._misses(self._articles, article_id):
                    yield f"{where} cites article '{article_id}', which does not exist; add the article or leave it out"

    def _misses(self, known: Collection[str], identifier: str) -> bool:
        """Return whether what an id names does not exist, unless that follows from another problem: a table that holds
        nothing or could not be read, or a refused row."""
        is_read = known or (self._articles and not self._problems)
        return bool(is_read) and identifier not in known and identifier not in self._refused

    def _split_problems(self) -> Iterator[str]:
        given = next(((question_id, labels) for question_id, labels in self._labels.items() if labels.split), None)
        if given and self._splitting != HASH:
            question_id, labels = given
            yield (
                f"{labels.place}: question '{question_id}' comes in split '{labels.split}'; "
                f"{option('splits')} {self._splitting} makes splits where the source has none, so leave either out"
            )


@dataclass(frozen=True)
class SourceFormat:
    """A format that `statgraph import` reads.

    `summary`: what its files are, for --help. `fill`: fills a draft from a source and records every problem there.
    `language`: the fixed language code of the format, or a function that finds it in a source or returns None.
    `learns`: whether `fill` finds the language in the files, which learns it. `takes`: the fields of a `Reading` that
    can be chosen, beside `strip_html` and `allow_lost`. `suffixes` of its files and `files`, patterns of the names in a
    folder: what it is recognised by.
    """

    summary: str
    fill: Callable[[Draft, Path], object]
    language: str | Callable[[Path], str | None] | None = None
    learns: bool = False
    takes: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    def language_of(self, source: Path) -> str | None:
        """Return the language of the format or of its files; None if neither states one."""
        return self.language(source) if callable(self.language) else self.language


def _plain(column: str) -> str:
    return column.strip().casefold()


def _as_lists(ids: tuple[str, ...]) -> tuple[object, ...]:
    """Return how a cell can hold several ids."""
    return *ids, ids, ",".join(ids)
