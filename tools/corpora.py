"""Public repositories of laws, imported and held against a count of their articles that knows nothing of statgraph.

    python -m tools.corpora bundestag/gesetze=GITDIR LawRefBook/Laws=GITDIR ...

GITDIR is the git directory of a clone; `tools/corpora.yaml` says which files of it are read, and how a line begins that
is an article's. Writes the table of docs/repositories.md.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import click

from statgraph.artifacts import write_text
from statgraph.errors import StatgraphError
from statgraph.formats.importing import About, draft_source
from statgraph.law.draft import Draft, Reading
from statgraph.law.records import Article
from statgraph.studies.rendering import table
from tools.material import DOCS, read_yaml, with_tables

PAGE = DOCS / "repositories.md"
REPOSITORIES = Path(__file__).with_suffix(".yaml")
_CUT = 0.7  # of the words of an article in the file; with fewer it is cut, says the page too
_MIN_WORDS = 3  # of an article that is counted: others are repealed, or a title
_WORD = re.compile(r"[\u3040-\u9fff]|\w+")
_COLUMNS = ("files", "without articles", "words", "left out", "lost", "counted", "missing", "cut", "false")
_SHARES = ("left out", "lost")  # of the words


@dataclass
class Result:
    """What an import makes of the files of a repository."""

    counts: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)

    def row(self) -> list[str]:
        """Return the cells of its figures."""
        shares = {key: f"{100 * self.counts[key] / max(1, self.counts['words']):.2f} %" for key in _SHARES}
        return [shares.get(key, f"{self.counts[key]:,}") for key in _COLUMNS]


def sections(text: str, article: re.Pattern[str], end: re.Pattern[str]) -> Iterator[tuple[str, int]]:
    """Yield the number of each article of a Markdown file, as its line has it, and its words up to the next article or
    heading; those on its own line count if it is no heading."""
    number, n_words = "", 0
    for line in text.splitlines():
        found = article.match(line)
        if found or line.startswith("#") or end.match(line):
            if number:
                yield number, n_words
            number = found[1] if found else ""
            n_words = len(_WORD.findall(line[found.end() :])) if found and not line.startswith("#") else 0
        else:
            n_words += len(_WORD.findall(line))
    if number:
        yield number, n_words


def compare(result: Result, name: str, draft: Draft, text: str, counted: Iterable[tuple[str, int]]) -> None:
    """Count what became of a file's words, and of its articles by an independent count."""
    counts, balance = result.counts, draft.report.balance
    counts.update({"words": balance.words, "lost": balance.words_lost})
    counts["left out"] += balance.left_out.total()
    articles = draft.drafted_articles()
    counts["without articles"] += not articles
    found: dict[str, list[int]] = {}
    for one in articles:
        found.setdefault(_key(one.number), []).append(_n_words(one))
    for number, n_words in counted:
        if n_words < _MIN_WORDS:
            continue
        counts["counted"] += 1
        candidates = found.get(_key(number), [])
        nearest = min(candidates, key=lambda count: abs(count - n_words), default=None)
        if nearest is None:
            counts["missing"] += 1
            result.examples.append(f"{name}: {number} is missing")
            continue
        candidates.remove(nearest)
        if nearest < _CUT * n_words:
            counts["cut"] += 1
            result.examples.append(f"{name}: {number} has {nearest:,} of {n_words:,} words")
    lines = _key(text)
    for one in articles:
        if one.number and _key(one.number) not in lines:
            counts["false"] += 1
            result.examples.append(f"{name}: {one.number} is no article")


def _key(number: str) -> str:
    plain = unicodedata.normalize("NFKC", re.sub(r"</?sup>|[\s.*_ºª°^]+", "", number))
    return plain.casefold().replace("artikel", "art")


def _n_words(article: Article) -> int:
    return len(_WORD.findall(f"{article.rubric} {article.text}"))


def read_repository(git_dir: Path, about: Mapping[str, object]) -> Result:
    """Return what an import makes of a repository."""
    article = re.compile(str(about["article"]))
    end, beside = (re.compile(str(about.get(key, "(?!)"))) for key in ("end", "beside"))
    names = _git(git_dir, "-c", "core.quotepath=off", "ls-tree", "-r", "-z", "--name-only", "HEAD").split("\0")
    laws = [name for name in names if name.endswith(".md") and not beside.search(name)]
    result = Result()
    with tempfile.TemporaryDirectory() as folder:
        for name in laws[:: int(str(about["every"]))]:
            path = Path(folder) / "law.md"
            text = _git(git_dir, "show", f"HEAD:{name}")
            path.write_text(text, encoding="utf-8")
            result.counts["files"] += 1
            try:
                said = About(language=str(about["language"]))
                draft = draft_source("md", path, said, reading=Reading(allow_lost=True))
                compare(result, name, draft, text, sections(text, article, end))
            except StatgraphError:
                result.counts["without articles"] += 1
    return result


def _git(git_dir: Path, *arguments: str) -> str:
    command = ["git", f"--git-dir={git_dir}", *arguments]
    return subprocess.run(command, check=True, capture_output=True).stdout.decode("utf-8", errors="replace")


def tables(
    results: Mapping[str, Result], commits: Mapping[str, str], about: Mapping[str, Mapping[str, object]]
) -> list[str]:
    """Return the table of the repositories."""
    rows = [
        [
            f"[{name}](https://github.com/{name}/tree/{commits[name][:8]})",
            f"{about[name]['about']}, one of {about[name]['every']} files",
            *result.row(),
        ]
        for name, result in results.items()
    ]
    return table(["repository", "what", *_COLUMNS], rows)


@click.command(help=__doc__)
@click.argument("repositories", nargs=-1, required=True, metavar="NAME=GITDIR...")
@click.option("--examples", default=0, help="Print so many of the articles that are missing, cut or false.")
def main(repositories: tuple[str, ...], examples: int) -> None:
    """Import the repositories and write the page."""
    about = read_yaml(REPOSITORIES)
    folders = {name: Path(git_dir) for name, _, git_dir in (given.partition("=") for given in repositories)}
    if unknown := set(folders) - set(about):
        raise click.UsageError(f"{min(unknown)}: not in {REPOSITORIES.name}; add it there")
    results = {name: read_repository(git_dir, about[name]) for name, git_dir in folders.items()}
    for result in results.values():
        click.echo("\n".join(result.examples[:examples]), nl=bool(examples))
    commits = {name: _git(git_dir, "rev-parse", "HEAD") for name, git_dir in folders.items()}
    write_text(PAGE, with_tables(PAGE, tables(results, commits, about)))


if __name__ == "__main__":
    main()
