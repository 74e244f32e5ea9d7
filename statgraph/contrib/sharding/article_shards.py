"""Articles too many for one machine, as shards: parts of JSON Lines or Parquet files that are read one by one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from statgraph.errors import CorpusError, reason_of
from statgraph.formats.parquet import parquet_article
from statgraph.law.draft import Draft
from statgraph.law.fields import draft_article
from statgraph.law.lines import json_objects
from statgraph.law.records import Article
from statgraph.law.store import ARTICLE_NAMES

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

SHARD_KIB = 4096
LINES, PARQUET = ".jsonl", ".parquet"
_ARTICLES = "corpus"  # the table of articles in a corpus folder, `corpus.jsonl`, or in a Parquet export
_FORMATS = (LINES, PARQUET)
_PIECE = 2**16


@dataclass(frozen=True)
class ArticleShard:
    """Some articles of a file.

    Attributes:
        file: its path in the file system.
        start, stop: of JSON Lines the bytes at which the shard's lines begin, of Parquet its rows.
    """

    file: str
    start: int
    stop: int


def located(uri: str) -> str:
    """Return a URI as another process can take it: a local path is made absolute."""
    return uri if "://" in uri else str(Path(uri).absolute())


def placed(uri: str) -> tuple[FileSystem, str]:
    """Return (pyarrow file system, path there) of a local path or of a URI: s3://, gs://, hdfs://.

    S3 is reached as the AWS clients do: AWS_REGION, AWS_ENDPOINT_URL and the keys in the environment.
    """
    from pyarrow import fs

    if "://" not in uri:
        return fs.LocalFileSystem(), located(uri)
    if not uri.startswith("s3://"):
        found: tuple[FileSystem, str] = fs.FileSystem.from_uri(uri)
        return found
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""
    scheme, _, host = endpoint.rpartition("://")
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    where = {"endpoint_override": host, "scheme": scheme or "https"} if endpoint else {}
    # Otherwise an address where nobody answers is asked for minutes.
    patience = {"connect_timeout": 5, "retry_strategy": fs.AwsStandardS3RetryStrategy(max_attempts=3)}
    return fs.S3FileSystem(region=region, **where, **patience), uri.removeprefix("s3://").rstrip("/")


def shards_of(uri: str, shard_bytes: int) -> list[ArticleShard]:
    """Return the shards of a corpus: a corpus folder, the folder of a Parquet export, a folder of JSON Lines or Parquet
    files, or one such file. Only the sizes of files are read, and the footers of Parquet.

    Args:
        uri: as `placed` takes it. JSON Lines are those of `corpus.jsonl`, Parquet has the columns of `import parquet`.
        shard_bytes: about how much text one has.

    Raises:
        CorpusError: if there are no such files.
    """
    system, path = placed(uri)
    try:
        files = _files(system, path)
        shards = [shard for file in files for shard in _file_shards(system, file, shard_bytes)]
    except (OSError, ValueError) as error:
        raise CorpusError(
            f"{uri}: cannot be read ({reason_of(error)}); check the address and its permissions"
        ) from None
    if not shards:
        raise CorpusError(
            f"{uri}: no {LINES} or {PARQUET} file with articles; name a corpus folder, or the folder or file of shards"
        )
    return shards


def read_shard(uri: str, shard: ArticleShard) -> tuple[Article, ...]:
    """Return the articles of a shard; `uri` is that of the corpus.

    Raises:
        CorpusError: if one cannot be read; every problem of the shard is listed.
    """
    system, _ = placed(uri)
    name = shard.file.rpartition("/")[2]
    draft = Draft(name=name, language="und")
    try:
        if name.endswith(PARQUET):
            for place, row in _rows(system, shard, name):
                parquet_article(draft, place, row)
        else:
            for place, record in json_objects(draft, _lines(draft, system, shard, name)):
                draft_article(draft, place, record, ARTICLE_NAMES)
    except (OSError, ValueError) as error:
        raise CorpusError(f"{shard.file}: cannot be read ({reason_of(error)}); restore it") from None
    return draft.drafted_articles()


def _files(system: FileSystem, path: str) -> list[str]:
    """Return the files of articles of a corpus, by name."""
    from pyarrow.fs import FileSelector, FileType

    def within(folder: str) -> list[str]:
        entries = system.get_file_info(FileSelector(folder, allow_not_found=True))
        return sorted(each.path for each in entries if each.type == FileType.File and each.path.endswith(_FORMATS))

    if system.get_file_info(path).type == FileType.File:
        return [path] if path.endswith(_FORMATS) else []
    files = within(path)
    for ending in _FORMATS:
        if f"{path}/{_ARTICLES}{ending}" in files:
            return [f"{path}/{_ARTICLES}{ending}"]
    return within(f"{path}/{_ARTICLES}") or files


def _file_shards(system: FileSystem, file: str, shard_bytes: int) -> Iterator[ArticleShard]:
    if file.endswith(LINES):
        end, step = system.get_file_info(file).size, shard_bytes
    else:
        from pyarrow.parquet import read_metadata

        footer = read_metadata(file, filesystem=system)
        groups = [footer.row_group(number) for number in range(footer.num_row_groups)]
        row_bytes = sum(group.total_byte_size for group in groups) / max(1, footer.num_rows)
        end, step = footer.num_rows, max(1, int(shard_bytes / max(1, row_bytes)))
    for start in range(0, end, step):
        yield ArticleShard(file, start, min(end, start + step))


def _lines(draft: Draft, system: FileSystem, shard: ArticleShard, name: str) -> Iterator[tuple[str, str]]:
    """Yield (place, line) for each line that begins within a shard; a line that is not UTF-8 is a problem of the draft.

    The place is the byte at which a line begins: the lines before a shard are not counted.
    """
    with system.open_input_file(shard.file) as file:
        at = max(0, shard.start - 1)  # the byte before shows whether a line begins at the first one
        file.seek(at)
        held = file.read(shard.stop - at)
        while held and not held.endswith(b"\n") and (piece := file.read(_PIECE)):
            end = piece.find(b"\n") + 1
            held += piece[: end or None]
    if shard.start:
        begins = held.find(b"\n") + 1 or len(held)
        at, held = at + begins, held[begins:]
    for raw in held.split(b"\n"):
        place, encoding = f"{name}, byte {at}", "utf-8" if at else "utf-8-sig"
        at += len(raw) + 1
        try:
            line = raw.decode(encoding).strip()
        except UnicodeDecodeError as error:
            draft.add_problem(place, f"not UTF-8 ({reason_of(error)}); save the file as UTF-8")
            continue
        if line:
            yield place, line


def _rows(system: FileSystem, shard: ArticleShard, name: str) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield (place, values by column) for the rows of a shard; one row group is in memory at a time."""
    from pyarrow.parquet import ParquetFile

    with system.open_input_file(shard.file) as source:
        file, first = ParquetFile(source), 0
        for number in range(file.num_row_groups):
            after = first + file.metadata.row_group(number).num_rows
            start, stop = max(first, shard.start), min(after, shard.stop)
            if start < stop:
                part = file.read_row_group(number).slice(start - first, stop - start)
                for row, values in enumerate(part.to_pylist(), start=start + 1):
                    yield f"{name} row {row}", values
            first = after
