"""Official XML of statutes: `statgraph import xml`, by the profiles of `statgraph.formats.acts`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from statgraph.errors import CorpusError, marked, option
from statgraph.formats.acts.documents import Document, documents
from statgraph.formats.acts.drafting import ReadAct, draft_acts
from statgraph.formats.acts.profile import Profile, fitting_profile, profile_named, profile_names
from statgraph.formats.acts.reader import Act, ActReader, parsed, root_of
from statgraph.formats.acts.selectors import local_name
from statgraph.formats.acts.walk import count_page, count_xml, decoded
from statgraph.law.account import Account
from statgraph.law.draft import Draft, SourceFormat
from statgraph.law.html_text import with_xml_characters

_MAX_NAMED = 3


def draft_xml(draft: Draft, source: Path) -> None:
    """Fill a draft from the acts of a file, folder or archive.

    Files of no known format, of another language than the corpus, and without articles are left out; the summary names
    them. Faulty files are problems.
    """
    chosen = profile_named(draft.reading.profile) if draft.reading.profile else None
    passed_over: list[str] = []
    left_out = {"with other suffixes than XML": passed_over}
    read: list[ReadAct] = []
    try:
        for document in documents(source, passed_over):
            try:
                profile = chosen or profile_of(document)
                if profile is None:
                    left_out.setdefault("of no known format", []).append(document.name)
                    continue
                read += _read(draft, document, profile, left_out)
            except CorpusError as error:
                draft.add_problem(*_placed(error))
    except CorpusError as error:
        draft.add_problem(*_placed(error))
    if not read and not draft.problem_count:
        why = "; ".join(_named(left_out)) or "it is empty"
        draft.add_problem(
            source.name,
            f"holds no articles ({why}); name files of official XML, or a {option('profile')}: "
            f"{', '.join(profile_names())}, or a YAML file of your own that says what its elements are",
        )
    counts = draft_acts(draft, read)
    if read:
        draft.report.remarks.append(
            f"references with a target: {counts.total():,}, of which to an article here {counts[True]:,}"
        )
    if counts[False]:
        draft.left_out.append(f"{counts[False]:,} of {counts.total():,} references with a target, which lead elsewhere")
    draft.left_out += _named(left_out)


def profile_of(document: Document) -> Profile | None:
    """Return the profile that a document's root element, namespaces and beginning fit best; None if none does."""
    return fitting_profile(document.head, root_of(document.head))


def _named(files: Mapping[str, list[str]]) -> Iterator[str]:
    """Yield in words which files are left out, by why."""
    for why, names in files.items():
        if names:
            named = ", ".join(names[:_MAX_NAMED]) + ", ..." * (len(names) > _MAX_NAMED)
            yield f"{len(names):,} file{'s' * (len(names) > 1)} {why}: {named}"


def _read(draft: Draft, document: Document, profile: Profile, left_out: dict[str, list[str]]) -> Iterator[ReadAct]:
    """Yield the act of a document, unless it has no articles or is in another language than the corpus; say in the
    draft what became of its words."""
    account, syntax = Account(), profile.settings.syntax
    if syntax == "html":
        page = decoded(document.name, document.read())
        root = parsed(with_xml_characters(page).encode(), syntax, document.name)
        count_page(document.name, page, account)
    else:
        root = parsed(document.read(), syntax, document.name)
        count_xml(document.name, root, account)
    names = set(map(local_name, root.iter())) if Path(profile.name).suffix else set()  # for a user's own profile
    reader = ActReader(root, profile, document.name, account)
    act = reader.act
    draft.report.remarks.append(f"{document.name}: profile {profile.name}, {profile.settings.summary}".rstrip(", "))
    draft.report.remarks += [f"  {name:<9} {getattr(act, name) or '(not said)'}" for name in Act.__slots__]
    running = sorted(reader.text.running - profile.named)
    draft.report.remarks.append(f"  read as running text, for no key names them: {', '.join(running) or 'nothing'}")
    if names:
        absent = sorted(profile.named - names)
        draft.report.remarks.append(f"  named by the profile and not in this file: {', '.join(absent) or 'nothing'}")
    for line, title in reader.headings:
        draft.report.recognise(f"{document.name}:{line}", "heading", title)
    if not reader.articles:
        left_out.setdefault("without articles", []).append(document.name)
    draft.learn(language=act.language, licence=act.licence)
    if reader.articles and act.language and act.language != draft.language:
        left_out.setdefault(f"in another language than {draft.language}", []).append(document.name)
        return
    draft.report.settle(account)
    if reader.articles:
        yield ReadAct(act, tuple(reader.articles), profile, document.name)


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
