"""Official XML of statutes: `statgraph import xml`, by the profiles of `statgraph.formats.acts`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from statgraph.errors import CorpusError, UsageError
from statgraph.law.draft import Draft, SourceFormat

if TYPE_CHECKING:
    from statgraph.formats.acts.documents import Document
    from statgraph.formats.acts.drafting import ReadAct
    from statgraph.formats.acts.profile import Profile

_MAX_NAMED = 3


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
    from statgraph.formats.acts.documents import documents
    from statgraph.formats.acts.drafting import draft_acts
    from statgraph.formats.acts.profile import profile_named

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
        draft.add_problem(source.name, f"holds no articles ({why}); name files of official XML, or a --profile")
    counts = draft_acts(draft, read)
    all_counts = counts.resolved + counts.elsewhere
    if counts.elsewhere:
        draft.left_out.append(f"{counts.elsewhere:,} of {all_counts:,} references with a target, which lead elsewhere")
    draft.left_out += [*left_out.parts(), *left_out.whole_files()]


def profile_of(document: Document) -> Profile | None:
    """Return the profile that a document's root element, namespaces and beginning fit best; None if none does."""
    from statgraph.formats.acts.profile import recognised
    from statgraph.formats.acts.reader import root_of

    return recognised(document.head, root_of(document.head))


def explain_xml(draft: Draft, source: Path) -> Iterator[str]:
    """Yield in lines what a profile makes of each document of a source.

    Raises:
        UsageError: if a document is of no known format.
        CorpusError: if a document cannot be read.
    """
    from statgraph.formats.acts.documents import documents
    from statgraph.formats.acts.explaining import explanation
    from statgraph.formats.acts.profile import profile_named, profile_names

    chosen = profile_named(draft.reading.profile) if draft.reading.profile else None
    for document in documents(source):
        profile = chosen or profile_of(document)
        if profile is None:
            raise UsageError(
                f"{document.name}: of no known format; name a profile with --profile: "
                f"{', '.join(profile_names())}, or a file"
            )
        yield from explanation(document, profile)


def _read(draft: Draft, document: Document, profile: Profile, left_out: _LeftOut) -> ReadAct | None:
    """Return the act of a document; None if it has no articles or is in another language than the corpus."""
    from statgraph.formats.acts.drafting import ReadAct
    from statgraph.formats.acts.reader import ActReader

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
    place, _, problem = str(error).partition(": ")
    return place, problem


FORMAT = SourceFormat(
    "official XML: Akoma Ntoso, USLM and others, by profile",
    draft_xml,
    learns=True,
    takes=("profile",),
    suffixes=(".xml", ".akn"),
    explain=explain_xml,
)
