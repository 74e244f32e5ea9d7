"""What a profile makes of a file, in lines: for whoever writes one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from statgraph.formats.acts.documents import Document
from statgraph.formats.acts.profile import Profile
from statgraph.formats.acts.reader import Act, ActArticle, ActReader
from statgraph.formats.acts.references import ArticleVersion, ReferenceIndex

_MAX_CHARS = 100


def explanation(document: Document, profile: Profile) -> Iterator[str]:
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
