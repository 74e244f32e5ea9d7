"""Drawings and their numbers on one HTML page that needs no other file."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from statgraph.plotting.drawing import Drawing
from statgraph.plotting.svg import inline_svg

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1b1f; --paper: #ffffff; --faint: #8e8e93; --line: #d5d5da; }
@media (prefers-color-scheme: dark) { :root { --ink: #ececf0; --paper: #17171b; --faint: #85858c; --line: #3a3a42; } }
body { color: var(--ink); background: var(--paper); font: 16px/1.5 system-ui, sans-serif; margin: 0 auto;
  max-width: 76rem; padding: 1.5rem; }
p, h1, h2 { max-width: 46rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin: 2.5rem 0 0.3rem; }
svg { display: block; width: 100%; min-width: 34rem; height: auto; margin: 0.5rem 0; }
table { border-collapse: collapse; font-size: 0.9rem; margin: 0.5rem 0; }
th, td { border-bottom: 1px solid var(--line); padding: 0.15rem 1rem 0.15rem 0; text-align: left; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
summary { cursor: pointer; } summary:focus-visible { outline: 2px solid currentColor; }
div.wide { overflow-x: auto; }
"""


def html_page(drawings: Sequence[Drawing], heading: str) -> str:
    """Return the page: every drawing under its title, with its description and a table of its numbers; light or dark as
    the reader's system is."""
    sections = "\n".join(map(_section, drawings))
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{escape(heading)}</title>\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{escape(heading)}</h1>\n{sections}\n</main>\n"
        "</body>\n</html>\n"
    )


def _section(drawing: Drawing) -> str:
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in drawing.columns)
    body = "\n".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in drawing.rows)
    return (
        f'<section id="{drawing.name}">\n<h2>{escape(drawing.title)}</h2>\n<p>{escape(drawing.description)}</p>\n'
        f'<div class="wide" role="group" aria-label="{escape(drawing.title)}" tabindex="0">\n{inline_svg(drawing)}\n'
        "</div>\n"
        "<details>\n<summary>The numbers</summary>\n"
        f'<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>\n'
        "</details>\n</section>"
    )


def _cell(value: object) -> str:
    if isinstance(value, int):
        return f'<td class="number">{value:,}</td>'
    return f"<td>{escape(str(value))}</td>"
