"""What a table shows of its runs: metrics of all question sets, and rows as means over seeds and differences."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

import numpy as np

from statgraph.evaluation.metrics import QuestionMetrics
from statgraph.evaluation.significance import Comparison, Estimate, compare, mean_estimate
from statgraph.law.citations.named_articles import NamedArticles
from statgraph.law.query import Ranks
from statgraph.law.records import MAIN_SET, Corpus, Question
from statgraph.retrieval.search.evaluating import SplitMetrics, sets_of_split, split_metrics
from statgraph.studies.spec import RowSpec, TableSpec
from statgraph.studies.store import RunResult

COMPARED = ("R@100", "R@200", "mAP")
PARTS = ("seen", "unseen")  # compared apart: a graph of training questions could live on memory alone
COMPARED_BY_SET = ("R@100", "mAP", "MRR@10", "S@3")  # in tables by question set, and with signals alone
ALL, _KIND = "all", "kind: "
GIVEN_AWAY, NOT_GIVEN_AWAY = "given away", "not given away"


@dataclass(frozen=True, slots=True)
class SeedSummary:
    """The mean over seeds and the sample standard deviation (n - 1), which is None for one seed."""

    mean: float
    sd: float | None
    n_seeds: int

    @classmethod
    def of(cls, values: Sequence[float]) -> SeedSummary:
        """Return the summary of one value per seed."""
        return cls(float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else None, len(values))


@dataclass(frozen=True)
class RowSummary:
    """A row: `results` by seed, `strata[stratum][metric]` over seeds (strata without a question are left out), and
    `differences[stratum][metric]` from the row `against`, over all questions and over each of `PARTS` (empty where that
    row has no run yet).

    A table by question set adds, for all questions of each set, its `PARTS` and its kinds of questions, `intervals`
    over the questions, and `best_signals`: an ensemble's best signal alone, and the ensemble's difference from it."""

    spec: RowSpec
    results: Mapping[int, RunResult]
    strata: Mapping[str, Mapping[str, SeedSummary]]
    n_questions: Mapping[str, int]
    against: str
    differences: Mapping[str, Mapping[str, Comparison]]
    intervals: Mapping[str, Mapping[str, Estimate]] = field(default_factory=dict)
    best_signals: Mapping[str, Mapping[str, tuple[str, Comparison]]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, object]:
        """Return JSON values, the runs' own left out."""
        plain = asdict(replace(self, results={}))
        return {
            **plain["spec"],
            "seeds": sorted(self.results),
            "against": self.against,
            "differences": plain["differences"],
            **{name: plain[name] for name in ("intervals", "best_signals") if plain[name]},
            "strata": {
                stratum: {"n_questions": self.n_questions[stratum], "metrics": metrics}
                for stratum, metrics in plain["strata"].items()
            },
        }


def summaries(spec: TableSpec, results: Mapping[str, Mapping[int, RunResult]]) -> list[RowSummary]:
    """Return the rows of a table that have a run, in its order.

    Args:
        results: row name -> seed -> result.
    """
    return [_summary(row, spec, results) for row in spec.rows if results.get(row.name)]


class GivenAway:
    """Finds the questions of a corpus that an ensemble need not understand.

    A question is given away if it names an article by number or title, or if its last words are the whole text of a
    citing text that may be trained on and cites one of the question's articles, ignoring case and spaces.
    """

    def __init__(self, corpus: Corpus):
        articles = corpus.articles
        titles, numbers = ([getattr(each, name) for each in articles] for name in ("title", "number"))
        numbers = [number or title for number, title in zip(numbers, titles, strict=True)]
        self._named = NamedArticles(titles, [each.path for each in articles], numbers)
        self._texts: defaultdict[str, list[str]] = defaultdict(list)
        for text in corpus.usable_citing():
            for article_id in text.article_ids:
                self._texts[article_id].append(_folded(text.text))

    def masks(self, questions: Sequence[Question]) -> dict[str, np.ndarray]:
        """Return for both strata which of some questions they hold, (questions,) bool each; none where one is empty."""
        given = np.array([self._is_given(question) for question in questions], dtype=bool)
        return {GIVEN_AWAY: given, NOT_GIVEN_AWAY: ~given} if given.any() and not given.all() else {}

    def _is_given(self, question: Question) -> bool:
        asked = _folded(question.text)
        repeated = (asked.endswith(text) for key in question.article_ids for text in self._texts.get(key, ()) if text)
        return any(repeated) or len(self._named.rows(question.text)) > 0


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def metrics_of_sets(retriever: Ranks, corpus: Corpus, split: str, given_away: GivenAway) -> SplitMetrics:
    """Return the metrics of a retriever for every question of a split, set by set, the main set first.

    The strata, those of `given_away` among them, have their own names in the main set, so that "all" is all of the main
    set; those of another set have its name in front, as in "references: all".
    """
    by_set = {}
    for name in sets_of_split(corpus, split):
        part = split_metrics(retriever, corpus, split, name)
        by_set[name] = replace(part, masks={**part.masks, **given_away.masks(corpus.split(split, name))})
    parts = list(by_set.values())
    ids = tuple(question_id for part in parts for question_id in part.question_ids)
    values = {name: np.concatenate([part.metrics[name] for part in parts]) for name in parts[0].metrics.values}
    masks, start = {}, 0
    for set_name, part in by_set.items():
        end = start + len(part.question_ids)
        for stratum, held in part.masks.items():
            name = stratum if set_name == MAIN_SET else f"{set_name}: {stratum}"
            masks[name] = np.pad(held, (start, len(ids) - end))
        start = end
    return SplitMetrics(ids, QuestionMetrics(values), masks)


def strata_by_set(strata: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return for each question set which of these strata a table by question set shows: name in the set -> name."""
    strata = list(strata)
    others = [name.removesuffix(f": {ALL}") for name in strata if name.endswith(f": {ALL}")]
    shown: dict[str, dict[str, str]] = {}
    for name, prefix in ((MAIN_SET, ""), *((other, f"{other}: ") for other in others)):
        parts = {stratum.removeprefix(prefix): stratum for stratum in strata if stratum.startswith(prefix)}
        shown[name] = {
            part: stratum
            for part, stratum in parts.items()
            if part in (ALL, *PARTS, NOT_GIVEN_AWAY) or part.startswith(_KIND)
        }
    return shown


def _summary(row: RowSpec, spec: TableSpec, results: Mapping[str, Mapping[int, RunResult]]) -> RowSummary:
    runs, against = _by_seed(results[row.name]), spec.against(row)
    counts = {stratum: int(mask.sum()) for stratum, mask in runs[0].metrics.masks.items()}
    measured = runs[0].metrics.metrics.values  # a small corpus lacks some
    strata = {
        stratum: {metric: SeedSummary.of([run.mean(metric, stratum) for run in runs]) for metric in measured}
        for stratum, count in counts.items()
        if count
    }
    by_set = [stratum for parts in strata_by_set(strata).values() for stratum in parts.values()]
    differences, intervals, best = {}, {}, {}
    if results.get(against):
        baseline = _by_seed(results[against])
        compared = [metric for metric in (COMPARED_BY_SET if spec.by_set else COMPARED) if metric in measured]
        differences = {
            stratum: {metric: _comparison(baseline, runs, metric, stratum) for metric in compared}
            for stratum in (by_set if spec.by_set else (ALL, *PARTS))
            if counts.get(stratum)
        }
    if spec.by_set:
        intervals = {
            stratum: {metric: _interval(runs, metric, stratum) for metric in spec.metrics} for stratum in by_set
        }
    if spec.by_set and all(run.signals for run in runs):
        beside = [metric for metric in COMPARED_BY_SET if metric in spec.metrics]
        best = {
            stratum: {metric: _beside_best_signal(runs, metric, stratum) for metric in beside} for stratum in by_set
        }
    return RowSummary(row, results[row.name], strata, counts, against, differences, intervals, best)


def _by_seed(results: Mapping[int, RunResult]) -> list[RunResult]:
    return [results[seed] for seed in sorted(results)]


# A generator for each, so that a row's interval does not depend on which other rows there are.
def _interval(runs: Sequence[RunResult], metric: str, stratum: str) -> Estimate:
    found = [run.of(stratum) for run in runs]
    means = np.mean([values[metric] for values in found], axis=0)
    return mean_estimate(means, np.random.default_rng(0), found[0].clusters)


def _beside_best_signal(runs: Sequence[RunResult], metric: str, stratum: str) -> tuple[str, Comparison]:
    """Return the signal with the best mean over seeds, and the ensemble's difference from it."""
    names = [name for name in runs[0].signals if all(name in run.signals for run in runs)]
    alone = {name: [RunResult(run.signals[name], {}) for run in runs] for name in names}
    best = max(names, key=lambda name: np.mean([run.mean(metric, stratum) for run in alone[name]]))
    return best, _comparison(alone[best], runs, metric, stratum)


def _comparison(baseline: Sequence[RunResult], runs: Sequence[RunResult], metric: str, stratum: str) -> Comparison:
    before, after = ([run.of(stratum) for run in side] for side in (baseline, runs))
    return compare(before, after, metric, np.random.default_rng(0))
