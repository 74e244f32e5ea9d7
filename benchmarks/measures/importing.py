"""`statgraph import xml` of a large act: bytes a second and peak memory, in a process of its own."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measuring import Row, Settings, Spread, peak_of

MB = 10**6
_TITLE = "/us/usc/t99"
_HEAD = (
    f'<uscDoc xmlns="http://xml.house.gov/schemas/uslm/1.0" xml:lang="en" identifier="{_TITLE}"><meta><docNumber>99'
    f'</docNumber></meta><main><title identifier="{_TITLE}"><num value="99">Title 99—</num><heading>HARBORS</heading>\n'
)
_TAIL = "</title></main></uscDoc>\n"
_SYLLABLES = ("ha", "ber", "lo", "ti", "ma", "ren", "so", "ve", "qui", "dan", "per", "o", "fe", "cu", "ly", "stra")


def measure(settings: Settings) -> list[Row]:
    """Return the row of 100 MB in USLM."""
    n_bytes, rounds = (MB // 10, 1) if settings.quick else (100 * MB, 3)
    with tempfile.TemporaryDirectory() as folder:
        act = Path(folder) / "usc99.xml"
        n_sections = write_act(act, n_bytes)
        command = ["import", "xml", str(act), "--out", str(Path(folder) / "corpus"), "--force"]
        taken = [peak_of(command) for _ in range(rounds)]
        megabytes = act.stat().st_size / MB
    speed, peak_mib = Spread.of([megabytes / seconds for seconds, _ in taken]), taken[0][1]
    what = f"`import xml`: {megabytes:,.0f} MB, {n_sections:,} sections in USLM"
    reached = f"{speed.median:.1f} MB a second [{speed.low:.1f} to {speed.high:.1f}], {peak_mib:,} MiB"
    note = "One thread, with Python's start and writing. Articles' text is 48 % of the file, 29 % of title 17."
    return [Row(what, "", reached, {"mb_a_second": speed.median, "peak_mib": peak_mib}, note)]


def write_act(path: Path, n_bytes: int) -> int:
    """Write an act of about so many bytes, and return how many sections it has."""
    rng, n_sections = random.Random(0), 0
    with path.open("w", encoding="utf-8") as file:
        file.write(_HEAD)
        while file.tell() < n_bytes:
            n_sections += 1
            file.write("\n".join(_section(rng, n_sections)))
        file.write(_TAIL)
    return n_sections


def _section(rng: random.Random, number: int) -> Iterator[str]:
    """Yield the lines of a section of 14 kB, as title 17 has them: subsections, paragraphs, and notes below."""
    place = f"{_TITLE}/s{number}"
    yield f'<section id="id{rng.getrandbits(128):032x}" identifier="{place}"><num value="{number}">§ {number}.</num>'
    yield f"<heading> {_words(rng, 6)}</heading>"
    for letter in "abcd":
        yield f'<subsection class="indent0" id="id{rng.getrandbits(128):032x}" identifier="{place}/{letter}">'
        yield f'<num value="{letter}">({letter})</num><chapeau> {_words(rng, 50)}—</chapeau>'
        for item in range(1, 4):
            yield f'<paragraph class="indent1" id="id{rng.getrandbits(128):032x}" identifier="{place}/{letter}/{item}">'
            cited = rng.randrange(1, number + 1)
            link = f'<ref href="{_TITLE}/s{cited}/a">section {cited}(a)</ref>'
            yield f'<num value="{item}">({item})</num><content> {_words(rng, 50)}, {link};</content></paragraph>'
        yield "</subsection>"
    yield f"<sourceCredit>({_words(rng, 30)}.)</sourceCredit><notes>"
    for _ in range(3):
        link = f'<ref href="/us/pl/94/{rng.randrange(999)}">Pub. L. 94-{rng.randrange(999)}</ref>'
        yield f'<note topic="amendments"><heading>Amendments</heading><p>{_words(rng, 150)} {link}</p></note>'
    yield "</notes></section>"


def _words(rng: random.Random, count: int) -> str:
    return " ".join("".join(rng.choices(_SYLLABLES, k=2 + at % 3)) for at in range(count))
