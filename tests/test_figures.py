"""Figures that people write into README and docs/, against the saved values that they are of. What stands between
marks, and the differences and rankers of docs/results.md, are written from these values by the tools."""

from __future__ import annotations

import csv
import re
import statistics
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import pytest

from statgraph.artifacts import read_json
from statgraph.config import Stage2Config
from statgraph.evaluation.significance import SIGNIFICANCE_LEVEL, adjusted_p_values
from statgraph.retrieval.ranking import weighted_sum
from statgraph.retrieval.search import explaining
from statgraph.retrieval.search.hits import UNLIKELY
from statgraph.retrieval.signals import votes
from statgraph.retrieval.signals.dense import KINDS
from statgraph.retrieval.signals.lexical import CitingSignal
from statgraph.retrieval.signals.signal import FROM_LAW, SignalInfo
from statgraph.studies.summary import ALL, RowSummary
from statgraph.studies.table_files import read_values
from tests.words import GENERATED
from tools.results_page import saved_table

REPO = Path(__file__).parents[1]
RESULTS, MEASURED = REPO / "docs" / "results", REPO / "benchmarks" / "results"
FIGURE = r"\d[\d,]*(?:\.\d+)?"
METRICS = ("R@100", "mAP", "S@3", "MRR@10")
BM25, ENSEMBLE, FUSIONS = "BM25 tuned", "ensemble", ("BM25 and e5-small by RRF", "BM25 and e5-small by weighted sum")
CROSSED, RIVAL = "cross-validation", "BM25, trained encoders and votes, fused"
RANKERS = (
    *(FUSIONS[1], "best signal", "signals that have learnt, equal weights", RIVAL, "ensemble, fixed weights"),
    ENSEMBLE,
)
RIVALS = (BM25, FUSIONS[1], RIVAL, ENSEMBLE)
Value = Callable[[], float]
# Blocks, what tools write, code, the targets of links, and numbers of versions and of sections.
_NOT_SAID = re.compile(
    r"^```.*?^```|<!-- (\w+): begin -->.*?<!-- \1: end -->|`[^`]*`|\]\([^)]*\)"
    r"|\b(?:Python|section|Ntoso|DGL|torch|Safari|statgraph|capability) [\d.]+(?:, or [\d.]+)?",
    re.MULTILINE | re.DOTALL,
)
SERVED = "`statgraph serve`, 32 clients for 60 s: legi-fr, 29,115 articles, embedded:multilingual-e5-small: time"
ASKED = "one question to an ensemble: legi-fr, 29,115 articles, 3 members"


@cache
def rows_of(table: str) -> dict[str, RowSummary]:
    """Return the rows of a published table by name."""
    return {row.spec.name: row for row in saved_table(read_values(RESULTS / f"{table}.json.gz"))[1]}


def mean(table: str, metric: str, *rows: str) -> Value:
    """Return the highest mean of a metric in these rows, in per cent."""
    return lambda: max(100 * rows_of(table)[row].strata[ALL][metric].mean for row in rows)


def n_questions(table: str, stratum: str = ALL) -> Value:
    return lambda: next(iter(rows_of(table).values())).n_questions[stratum]


def p_value(table: str, row: str, metric: str) -> Value:
    """Return the p of a row's difference, adjusted for all comparisons of its table."""

    def value() -> float:
        differences = {
            (name, compared): comparison
            for name, summary in rows_of(table).items()
            for compared, comparison in summary.differences.get(ALL, {}).items()
        }
        adjusted = adjusted_p_values([comparison.p_value for comparison in differences.values()])
        return dict(zip(differences, adjusted, strict=True))[row, metric]

    return value


def gain(table: str, row: str, metric: str) -> Value:
    """Return a row's difference from the one that it is compared with, in points."""
    return lambda: 100 * rows_of(table)[row].differences[ALL][metric].difference


def measured(name: str, what: str, against: str = "") -> dict:
    """Return the row of a benchmark that begins so."""
    rows = read_json(MEASURED / f"{name}.json")["rows"]
    return next(row for row in rows if row["what"].startswith(what) and row["against"].startswith(against))


def reached(name: str, what: str, place: int, against: str = "") -> Value:
    """Return the figure at this place of what a benchmark reached."""
    return lambda: float(re.findall(FIGURE, measured(name, what, against)["reached"])[place].replace(",", ""))


def median(name: str, what: str, key: str) -> Value:
    return lambda: statistics.median(measured(name, what)["figures"][key])


def of_tool(name: str, metric: str, *others: str) -> Value:
    """Return the highest value of a metric on French law among these tools."""
    return lambda: max(measured("known_tools_law", "legi-fr", other)["figures"][metric] for other in (name, *others))


def gained(idea: str, law: str, metric: str) -> Value:
    """Return how much an idea of docs/tried.csv gained."""

    def value() -> float:
        with (REPO / "docs" / "tried.csv").open(encoding="utf-8", newline="") as file:
            rows = {(row["idea"], row["law"], row["metric"]): row for row in csv.DictReader(file)}
        row = rows[idea, law, metric]
        return float(row["with it"]) - float(row["without it"])

    return value


def of_readme(table: str, metric: str, *rows: str | Sequence[str]) -> list[Value]:
    """Return the values of a line of README's table."""
    return [mean(table, metric, *([row] if isinstance(row, str) else row)) for row in rows]


def of_rankers(table: str) -> list[Value]:
    """Return the number of questions of a table, and S@3 and mAP of each of `RANKERS`."""
    return [n_questions(table), *(mean(table, metric, row) for row in RANKERS for metric in ("S@3", "mAP"))]


def setting(value: float) -> list[Value]:
    return [lambda: value]


# A page, what it says with # for each figure, and the value of each.
SENTENCES: list[tuple[str, str, list[Value]]] = [
    ("README.md", "29,115 articles, # questions: first three", [n_questions(CROSSED)]),
    ("README.md", "first three | # | # | # | **#** | | the same", of_readme(CROSSED, "S@3", *RIVALS)),
    ("README.md", "average precision | # | # | # | **#** |", of_readme(CROSSED, "mAP", *RIVALS)),
    ("README.md", "first hundred | # | # | # | **#** |", of_readme(CROSSED, "R@100", *RIVALS)),
    (
        "README.md",
        "321 articles, # questions: first three | # | # | | **#** |",
        [n_questions("ranking-sample"), *of_readme("ranking-sample", "S@3", BM25, FUSIONS, ENSEMBLE)],
    ),
    (
        "README.md",
        "beside the trained parts (+#, p #)",
        [gain(CROSSED, ENSEMBLE, "S@3"), p_value(CROSSED, ENSEMBLE, "S@3")],
    ),
    ("docs/results.md", "29,115 articles, # test questions", [n_questions("ranking")]),
    ("docs/results.md", "its second set, # questions", [n_questions("ranking", "references: all")]),
    ("docs/results.md", "321 articles, # test questions", [n_questions("ranking-sample")]),
    ("docs/results.md", "stard's dev, # questions", [n_questions("second-law-stard")]),
    ("docs/results.md", "gerlayqa's dev, # posts", [n_questions("ranking-gerlayqa")]),
    ("docs/results.md", "**Seen** questions, #, have", [n_questions("ranking", "seen")]),
    ("docs/results.md", "**unseen** ones, #, have", [n_questions("ranking", "unseen")]),
    (
        "docs/results.md",
        "Of the # references, # name their article",
        [n_questions("ranking", "references: all"), n_questions("ranking", "references: given away")],
    ),
    ("docs/results.md", "Of the German posts, # ask", [n_questions("ranking-gerlayqa", "seen")]),
    ("docs/performance.md", "a question takes # ms on", [reached("query_static", "one question", 0)]),
    ("docs/performance.md", "with `--fast` #", [reached("ensemble_query_fast", "one question", 0)]),
    (
        "docs/performance.md",
        "sentence-transformers takes # times as long as ONNX",
        [reached("query", "one question", 0, "SentenceTransformer")],
    ),
    (
        "docs/performance.md",
        "a million take # ms a question at a recall of #",
        [reached("index_kinds", "index of 1,000,000 articles", place) for place in (4, 0)],
    ),
    (
        "docs/performance.md",
        "it takes # s with e5-small, a full re-index #",
        [median("updating", "update", key) for key in ("seconds", "full_seconds")],
    ),
    (
        "docs/performance.md",
        "A letter takes # times as long",
        [reached("ensemble_query", f"{ASKED}: inside a letter", 0)],
    ),
    ("docs/performance.md", "a service on two cores answers # questions a second", [reached("serving", SERVED, 0)]),
    (
        "docs/other-tools.md",
        "French law statgraph's R@100 is #, that of others at most #",
        [of_tool("statgraph", "R@100"), of_tool("LanceDB", "R@100", "Haystack", "bm25s", "sentence-transformers")],
    ),
    (
        "docs/other-tools.md",
        "sample's S@3 is #, without training #",
        [mean("ranking-sample", "S@3", row) for row in (ENSEMBLE, "ensemble without any question")],
    ),
    (
        "docs/tried.md",
        "R@100 is # points lower without them",
        [gained("trees over hand-made weights", "legi-fr --fast, dev", "R@100")],
    ),
    ("docs/ranking.md", "softmax(cosine / #)", setting(votes.TEMPERATURE)),
    ("docs/probabilities.md", "no hit reaches #,", setting(UNLIKELY)),
    ("docs/explaining.md", "off by more than #,", setting(explaining._MAX_INDEX_ERROR)),
    ("docs/extending.md", "(# by default)", setting(SignalInfo().weight)),
    (
        "docs/how-it-works.md",
        "loss is # contrastive and # distillation",
        [*setting(Stage2Config().contrastive_weight), *setting(Stage2Config().distillation_weight)],
    ),
    ("docs/plan.md", "p-value is below #", setting(SIGNIFICANCE_LEVEL)),
    *(
        ("docs/learnt-sum.md", f"| {law}, # " + "| # (#) " * len(RANKERS) + "|", of_rankers(table))
        for law, table in {
            "Indonesian, other topics": "ranking-kuhperdata-by-topics",
            "Indonesian, same topics": "ranking-kuhperdata",
            "German posts, other topics": "ranking-gerlayqa-by-topics",
            "Chinese, other topics": "ranking-stard-by-topics",
            "Chinese, same topics": "ranking-stard",
        }.items()
    ),
    ("docs/learnt-sum.md", "| `votes`, `wording` | # n /", setting(votes.VotesSignal.info.weight)),
    ("docs/learnt-sum.md", "| `citing` | #", setting(CitingSignal.info.weight)),
    ("docs/learnt-sum.md", "| `structure` | #", setting(KINDS[FROM_LAW].weight)),
    ("docs/learnt-sum.md", "the same heading | #", setting(weighted_sum._AROUND[weighted_sum.SECTION])),
    ("docs/learnt-sum.md", "that it cites | # each", setting(weighted_sum._AROUND[weighted_sum.CITES])),
]
# A page, a published table, and the row of it by the line that has its metrics.
TABLES = [
    (
        "docs/systems.md",
        "ranking",
        {
            r"a law and no questions": "ensemble without any question",
            r"questions and minutes": "ensemble --fast",
            r"questions and half an hour.*": ENSEMBLE,
            r"\(tuned BM25\)": BM25,
        },
    ),
    (
        "docs/learnt-sum.md",
        "ranking-sample",
        {
            r"BM25, tuned": BM25,
            r"BM25 and e5-small, fused.*": FUSIONS[1],
            r"nothing trained": "ensemble without any question",
            r"(the )?prior, trained|members trained, prior": "ensemble, fixed weights",
            r"the sum|(members trained, )?learnt( weights)?": ENSEMBLE,
        },
    ),
    (
        "docs/long-questions.md",
        "ranking-gerlayqa",
        {r"nothing trained, by sentence": "ensemble without any question", r"trained on 1,600 posts.*": ENSEMBLE},
    ),
]
# What no command saves: docs/measured.csv says by what it was measured.
MEASURED_BY_HAND = REPO / "docs" / "measured.csv"
# All that people write, but for the findings, whose figures tools/findings_page.py writes.
PAGES = sorted({"README.md", *(f"docs/{page.name}" for page in (REPO / "docs").glob("*.md"))})
WHOLE = [page for page in PAGES if Path(page).name not in (*GENERATED, "results.md")]


def text_of(page: str) -> str:
    return (REPO / page).read_text(encoding="utf-8")


def found_in(page: str, says: str) -> re.Match[str]:
    """Return where a page says this, line breaks aside."""
    pattern = re.escape(says).replace(r"\#", f"({FIGURE})")
    found = re.search(pattern, " ".join(text_of(page).split()))
    assert found, f"{page} no longer says '{says}'; change it here too"
    return found


def by_hand() -> list[dict[str, str]]:
    """Return the rows of docs/measured.csv."""
    with MEASURED_BY_HAND.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def holds(said: str, value: float, *, at_most: bool = False) -> bool:
    decimals = len(said.partition(".")[2])
    return value < float(said) if at_most else f"{value:,.{decimals}f}" == said


@pytest.mark.parametrize(("page", "says", "values"), SENTENCES, ids=[f"{page}: {says}" for page, says, _ in SENTENCES])
def test_a_sentence_has_the_saved_values(page, says, values):
    found = found_in(page, says)
    for place, value in enumerate(values, start=1):
        at_most = found.string[: found.start(place)].endswith("< ")
        assert holds(found[place], value(), at_most=at_most), f"{page}: '{says}' has {found[place]}; saved: {value()}"


def rows_on(page: str) -> list[list[dict[str, str]]]:
    """Return the tables of a page: a dictionary a line, by the title of its column; the first is ""."""
    tables = []
    for block in re.findall(r"(?:^\|.*\n)+", text_of(page), re.MULTILINE):
        header, _, *lines = [[cell.strip(" *`") for cell in line.strip("|").split("|")] for line in block.splitlines()]
        tables.append([dict(zip(["", *header[1:]], line, strict=True)) for line in lines])
    return tables


@pytest.mark.parametrize(("page", "table", "rows"), TABLES, ids=[page for page, *_ in TABLES])
def test_a_table_has_the_saved_values(page, table, rows):
    for lines in rows_on(page):
        named = [(name, line) for label, name in rows.items() for line in lines if re.fullmatch(label, line[""])]
        if len(named) == len(rows):
            break
    else:
        pytest.fail(f"{page}: no table has lines for {', '.join(rows)}; change them here too")
    for name, line in named:
        said = {metric: line[metric] for metric in METRICS if metric in line}
        assert said
        assert {metric: f"{mean(table, metric, name)():.1f}" for metric in said} == said, f"{page}: {line['']}"


@pytest.mark.parametrize("page", WHOLE)
def test_every_figure_with_decimals_is_held(page):
    prose = _NOT_SAID.sub(" ", text_of(page))
    in_blocks = re.findall(FIGURE, " ".join(re.findall(r"^```.*?^```", text_of(page), re.MULTILINE | re.DOTALL)))
    held = {figure for at, says, _ in SENTENCES if at == page for figure in found_in(page, says).groups()}
    held |= {figure for row in by_hand() if row["page"] == page for figure in row["figures"].split()}
    for at, table, rows in TABLES:
        if at == page:
            found = [rows_of(table)[row].strata[ALL] for row in rows.values()]
            held |= {f"{100 * one[metric].mean:.1f}" for one in found for metric in METRICS if metric in one}
    said = re.findall(r"(?<![\w.,@-])\d[\d,]*\.\d+(?!\.?\d)", prose)
    assert [figure for figure in said if figure not in held and figure not in in_blocks] == []


def test_what_was_measured_by_hand_is_still_said():
    said = {page: re.findall(FIGURE, text_of(page)) for page in PAGES}
    assert [row for row in by_hand() if not set(row["figures"].split()) <= set(said[row["page"]])] == []
