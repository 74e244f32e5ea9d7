"""An explanation as lines to read."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

MOST_SHOWN = 6
LONGEST_TITLE = 90


def explanation_lines(explanation) -> list[str]:
    """Return the lines of a `statgraph.search.hits.Explanation`."""
    return [*_score_lines(explanation), *_neighbour_lines(explanation), *_term_lines(explanation), *_note(explanation)]


def folded(lines: Iterable[str], width: int) -> list[str]:
    """Return lines that are cut at words to a width; what goes on is set in by two more than its line."""
    parts = []
    for line in lines:
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        parts += textwrap.wrap(line, width, subsequent_indent=indent, break_on_hyphens=False)
    return parts


def _score_lines(explanation) -> list[str]:
    own, without = explanation.own_text_score, explanation.without_questions_score
    if own is None:
        return []
    if own == explanation.score:
        return [f"score {explanation.score:.3f}: by its own text"]
    line = f"score {explanation.score:.3f}: {own:.3f} by its own text, {explanation.score - own:+.3f} by the graph"
    return [line if without is None else f"{line} ({without:.3f} without the training questions that cite it)"]


def _neighbour_lines(explanation) -> list[str]:
    neighbours = explanation.neighbours
    if not neighbours:
        return []
    lines = ["attention of the last layer (mean over the heads, least and most):"]
    for neighbour in neighbours[:MOST_SHOWN]:
        shares = f"{neighbour.weight:6.1%} ({neighbour.least:.1%} to {neighbour.most:.1%})"
        named = "itself" if neighbour.relation == "itself" else f"{neighbour.kind}: {_shortened(neighbour.title)}"
        lines.append(f"  {shares}  {named}")
    others = neighbours[MOST_SHOWN:]
    if others:
        rest = sum(neighbour.weight for neighbour in others)
        lines.append(f"  {rest:6.1%} {len(others)} {'others' if len(others) > 1 else 'other'}")
    return lines


def _term_lines(explanation) -> list[str]:
    if not explanation.terms:
        return ["BM25: no word of the question"]
    terms = " + ".join(f"{term.term} {term.weight:.2f}" for term in explanation.terms)
    return [f"BM25: {terms} = {explanation.bm25_score:.2f}"]


def _note(explanation) -> list[str]:
    return [f"note: {explanation.note}"] if explanation.note else []


def _shortened(title: str) -> str:
    line = " ".join(title.split())
    return line if len(line) <= LONGEST_TITLE else line[: LONGEST_TITLE - 3].rstrip() + "..."
