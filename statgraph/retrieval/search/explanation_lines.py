"""An explanation in words, as `statgraph search --explain` prints it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from statgraph.retrieval.search.hits import Contribution, Explanation

MOST_SHOWN = 6  # neighbours of an explanation, contributions
LONGEST_TITLE = 90
# What contributes beside the signals.
_SOURCES = {
    "section": "best under its heading",
    "cited_by": "articles that cite it",
    "cites": "articles that it cites",
    "reader": "the reader, question and article read together",
}
# Where another article lends it.
_LENT = {
    "section": "under the same heading as {title}",
    "cited_by": "cited by {title}",
    "cites": "cites {title}",
}
# What a neighbour is, by its relation, or by its kind; elsewhere the kind says it.
_NEIGHBOURS = {
    "precedes": "article before it",
    "follows": "article after it",
    "refers_to": "article that cites it",
    "referred_to_by": "article that it cites",
    "citing": "citing text",
}


def explanation_lines(explanation: Explanation, labels: Mapping[str, str] = MappingProxyType({})) -> list[str]:
    """Return an explanation as lines to read; `labels` are the words for an ensemble's signals, by their names."""
    note = [f"note: {explanation.note}"] if explanation.note else []
    score = _contribution_lines(explanation, labels) if explanation.contributions else _score_lines(explanation)
    return [*score, *_neighbour_lines(explanation), *_term_lines(explanation), *note]


def _contribution_lines(explanation: Explanation, labels: Mapping[str, str]) -> list[str]:
    parts = explanation.contributions
    lines = [(part.amount, _contributed(part, explanation.article_id, labels)) for part in parts[:MOST_SHOWN]]
    if rest := parts[MOST_SHOWN:]:
        lines.append((sum(part.amount for part in rest), _others(rest)))
    return [f"score {explanation.score:.3f}, the sum of:", *(f"  {amount:+7.3f}  {words}" for amount, words in lines)]


def _others(rest: Sequence[object]) -> str:
    return f"{len(rest)} other{'s' * (len(rest) > 1)}"


def _contributed(part: Contribution, article_id: str, labels: Mapping[str, str]) -> str:
    """Return what contributed to an article, in words."""
    if part.article_id is not None and part.article_id != article_id:
        lender = _LENT[part.source].format(title=_shortened(part.title))
        return lender if part.rank is None else f"{lender}, which ranks {ordinal(part.rank)}"
    words = _SOURCES.get(part.source) or labels.get(part.source, part.source)
    return words if part.rank is None or part.article_id is not None else f"{words} ({ordinal(part.rank)})"


def ordinal(number: int) -> str:
    """Return 1st, 2nd, 3rd, 4th ..."""
    teen = 10 <= number % 100 < 20
    return f"{number}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def _score_lines(explanation: Explanation) -> list[str]:
    own, without = explanation.own_text_score, explanation.without_questions_score
    if own is None:
        return []
    if own == explanation.score:
        return [f"score {explanation.score:.3f}: by its own text"]
    line = f"score {explanation.score:.3f}: {own:.3f} by its own text, {explanation.score - own:+.3f} by the graph"
    return [line if without is None else f"{line} ({without:.3f} without the training questions that cite it)"]


def _neighbour_lines(explanation: Explanation) -> list[str]:
    neighbours = explanation.neighbours
    if not neighbours:
        return []
    lines = ["attention of the last layer (mean over heads, minimum to maximum):"]
    for neighbour in neighbours[:MOST_SHOWN]:
        shares = f"{neighbour.weight:6.1%} ({neighbour.least:.1%} to {neighbour.most:.1%})"
        kind = _NEIGHBOURS.get(neighbour.relation) or _NEIGHBOURS.get(neighbour.kind, neighbour.kind)
        named = "itself" if neighbour.relation == "itself" else f"{kind}: {_shortened(neighbour.title)}"
        lines.append(f"  {shares}  {named}")
    if rest := neighbours[MOST_SHOWN:]:
        lines.append(f"  {sum(neighbour.weight for neighbour in rest):6.1%} {_others(rest)}")
    return lines


def _term_lines(explanation: Explanation) -> list[str]:
    if explanation.bm25_score is None:
        return []
    if not explanation.terms:
        return ["BM25: shares no word with the question"]
    terms = " + ".join(f"{term.term} {term.weight:.2f}" for term in explanation.terms)
    return [f"BM25: {terms} = {explanation.bm25_score:.2f}"]


def _shortened(title: str) -> str:
    line = " ".join(title.split())
    return line if len(line) <= LONGEST_TITLE else line[: LONGEST_TITLE - 3].rstrip() + "..."
