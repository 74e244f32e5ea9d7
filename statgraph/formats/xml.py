"""Official XML of statutes: `statgraph import xml`, by the profiles of `statgraph.formats.acts`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from statgraph.errors import CorpusError, UsageError, marked, option
from statgraph.formats.acts.documents import Document, documents
from statgraph.formats.acts.drafting import ReadAct, draft_acts
from statgraph.formats.acts.profile import Profile, fitting_profile, profile_named, profile_names
from statgraph.formats.acts.reader import Act, ActArticle, ActReader, root_of
from statgraph.formats.acts.references import ArticleVersion, ReferenceIndex
from statgraph.law.draft import Draft, SourceFormat

_MAX_NAMED = 3
_MAX_CHARS = 100  # of a line of an explanation


@dataclass(slots=True)
class _LeftOut:
    """What of a source is in no article of the corpus: articles by reason, characters by file, files by reason."""

    articles: Counter[str] = field(default_factory=Counter)
    characters: Counter[str] = field(default_factory=Counter)
    files: dict[str, list[str]] = field(default_factory=dict)

    def add_file(self, why: str, name: str) -> None:
        self.files.setdefault(why, []).append(name)

    def parts(self) -> Iterator[str]:
        """Yield in words which articles and how much text is left out."""
        yield from (f"{count:,} article{'s' * (count > 1)} {why}" for why, count in self.articles.items() if count)
        if n_chars := self.characters.total():
            n_files = sum(map(bool, self.characters.values()))
            where = f" in {n_files:,} files" * (n_files > 1)
            yield f"{n_chars:,} characters in no article{where}, such as preambles; --explain lists them"

    def whole_files(self) -> Iterator[str]:
        """Yield in words which files are left out and why."""
        for why, names in self.files.items():
            if names:
                named = ", ".join(names[:_MAX_NAMED]) + ", ..." * (len(names) > _MAX_NAMED)
                yield f"{len(names):,} file{'s' * (len(names) > 1)} {why}: {named}"


def draft_xml(draft: Draft, source: Path) -> None:
    """Fill a draft from the acts of a file, folder or archive.

    Files of no known format, of another language than the corpus, and without articles are left out; the summary names
    them. Faulty files are problems.
    """
    chosen = profile_named(draft.reading.profile) if draft.reading.profile else None
    passed_over: list[str] = []
    left_out = _LeftOut(files={"with other suffixes than XML": passed_over})
    read: list[ReadAct] = []
    try:
        for document in documents(source, passed_over):
            try:
                profile = chosen or profile_of(document)
                if profile is None:
                    left_out.add_file("of no known format", document.name)
                    continue
                one = _read(draft, document, profile, left_out)
                read += [one] if one is not None else []
            except CorpusError as error:
                draft.add_problem(*_placed(error))
    except CorpusError as error:
        draft.add_problem(*_placed(error))
    if not read and not draft.problem_count:
        why = "; ".join(left_out.whole_files()) or "it is empty"
        draft.add_problem(
            source.name, f"holds no articles ({why}); name files of official XML, or a {option('profile')}"
        )
    counts = draft_acts(draft, read)
    if counts[False]:
        draft.left_out.append(f"{counts[False]:,} of {counts.total():,} references with a target, which lead elsewhere")
    draft.left_out += [*left_out.parts(), *left_out.whole_files()]


def profile_of(document: Document) -> Profile | None:
    """Return the profile that a document's root element, namespaces and beginning fit best; None if none does."""
    return fitting_profile(document.head, root_of(document.head))


def explain_xml(draft: Draft, source: Path) -> Iterator[str]:
    """Yield in lines what a profile makes of each document of a source.

    Raises:
        UsageError: if a document is of no known format.
        CorpusError: if a document cannot be read.
    """
    chosen = profile_named(draft.reading.profile) if draft.reading.profile else None
    for document in documents(source):
        profile = chosen or profile_of(document)
        if profile is None:
            raise UsageError(
                f"{document.name}: of no known format; name a profile with {option('profile')}: "
                f"{', '.join(profile_names())}, or a file"
            )
        yield from _explanation(document, profile)


def _explanation(document: Document, profile: Profile) -> Iterator[str]:
    """Yield what a profile makes of a document: the act, its headings and articles with their lines, what is left out,
    the text in no article, the references resolved within it.

    Raises:
        CorpusError: if the document is not well-formed.
    """
    reader = ActReader(document, profile, document.name)
    articles = list(reader)
    act = reader.act_or(Path(document.name).name.partition(".")[0])
    yield f"{document.name}: profile {profile.name}, {profile.settings.summary}".rstrip(", ")
    for name in Act.__slots__:
        yield f"  {name:<9} {getattr(act, name) or '(not said)'}"
    depth = max((heading.depth for heading in reader.headings), default=0)
    yield f"headings  {len(reader.headings):,}, depth {depth}"
    yield from (_cut(f"  line {one.line:>6}  {'  ' * (one.depth - 1)}{one.title}") for one in reader.headings)
    yield f"articles  {len(articles):,}"
    for one in articles:
        where = f" in annex {one.annex}" if one.annex else ""
        since, until = f" from {one.valid_from}" * bool(one.valid_from), f" to {one.valid_to}" * bool(one.valid_to)
        dates = f", in force{since}{until}" * bool(since or until)
        yield _cut(f"  line {one.line:>6}  {one.number or '(no number)'}: {one.rubric or '(no rubric)'}")
        yield f"               id {one.local_id}{where}, {len(one.text):,} characters{dates}"
        yield _cut(f"               {one.text.partition(chr(10))[0]}")
    yield "left out"
    yield f"  articles without text: {reader.repealed:,}; articles quoted, as text: {reader.quoted:,}"
    yield from (f"  {count:>6,}  {name}" for name, count in reader.left_out.most_common())
    yield from _outside(reader)
    yield from _references(reader, articles, act, profile)
    running = set(filter(None, reader.text.running)) - profile.named
    yield f"read as running text, for no key names them: {', '.join(sorted(running)) or 'nothing'}"


def _outside(reader: ActReader) -> Iterator[str]:
    yield f"in no article  {reader.outside.n_chars:,} characters of text"
    for name, place in sorted(reader.outside.places.items(), key=lambda item: -item[1].n_chars):
        times = f", {place.n_elements:,} times" * (place.n_elements > 1)
        yield f"  line {place.line:>6}  {name}: {place.n_chars:,} characters{times}"


def _references(reader: ActReader, articles: list[ActArticle], act: Act, profile: Profile) -> Iterator[str]:
    index = ReferenceIndex()
    for one in articles:
        index.add(act.act_id, one.local_id, one.number, [ArticleVersion(one.local_id)])
    patterns = profile.patterns("references.pattern")
    targets = Counter(target for one in articles for target in one.targets)
    found = {target: index.find(target, act.act_id, patterns) for target in targets}
    inside = sum(count for target, count in targets.items() if found[target])
    yield (
        f"references {reader.text.n_references:,}, of which with a target {reader.text.n_targets:,}; "
        f"different targets of an article {targets.total():,}, of which in this file {inside:,}"
    )
    for target, count in targets.most_common():
        yield _cut(f"  {count:>6,}  {target} -> {found[target] or 'elsewhere'}")


def _cut(line: str) -> str:
    return line if len(line) <= _MAX_CHARS else f"{line[: _MAX_CHARS - 3]}..."


def _read(draft: Draft, document: Document, profile: Profile, left_out: _LeftOut) -> ReadAct | None:
    """Return the act of a document; None if it has no articles or is in another language than the corpus."""

    reader = ActReader(document, profile, document.name)
    found = tuple(reader)
    act = reader.act_or(Path(document.name).name.partition(".")[0])
    if not found:
        left_out.add_file("without articles", document.name)
        return None
    draft.learn(language=act.language, licence=act.licence)
    if act.language and act.language != draft.language:
        left_out.add_file(f"in another language than {draft.language}", document.name)
        return None
    left_out.articles["without text, repealed"] += reader.repealed
    left_out.articles["quoted, as part of the text around them"] += reader.quoted
    left_out.characters[document.name] = reader.outside.n_chars
    return ReadAct(act, found, profile, document.name)


def _placed(error: CorpusError) -> tuple[str, str]:
    place, _, problem = marked(error).partition(": ")
    return place, problem


FORMAT = SourceFormat(
    "official XML: Akoma Ntoso, USLM and others, by profile",
    draft_xml,
    learns=True,
    takes=("profile",),
    suffixes=(".xml", ".akn"),
)
