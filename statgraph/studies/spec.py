"""What a table is made of, read from its YAML file under `specs/`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from statgraph.errors import UsageError, option, unknown_name
from statgraph.law.records import SPLITS

SPECS = Path(__file__).parent / "specs"
# Figures that need no training: statgraph/studies/analyses.py.
SIMILARITY, GRID = "article-similarity", "bm25-grid"
_SHOWN = ("R@100", "R@200", "R@500", "mAP", "mRP")


@dataclass(frozen=True)
class RowSpec:
    """A row: a system with `a.b=c` settings on top of its preset.

    `regimes` are further settings by regime (static, head or full). A row that is not `seeded` has nothing random, so
    it is run once. `against`: the row that it is compared with; blank for the table's baseline. `backbone`: its own in
    place of the table's. `paper`: the paper's figures on BSARD, in percent.

    `tuned`: with the k1 and b of BM25 that are best on the dev split. `fast`: an ensemble without its transformers.
    `without_questions`: trained on the law alone, without the corpus's questions and their citing texts.
    `retrained`: trained again on train and dev, for the epochs that dev chose; test alone measures it.
    `without`: the part that the ranking of a trained ensemble does without (statgraph/studies/ablation.py).
    `baseline`: what ranks over what the system has trained, in its place (statgraph.studies/baselines.py).
    """

    name: str
    system: str
    settings: tuple[str, ...] = ()
    regimes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    seeded: bool = True
    against: str = ""
    backbone: str = ""
    paper: Mapping[str, float] = field(default_factory=dict)
    tuned: bool = False
    fast: bool = False
    without_questions: bool = False
    without: str = ""
    retrained: bool = False
    baseline: str = ""


@dataclass(frozen=True)
class TableSpec:
    """A table. `source`: the paper and its table; `paper_read_in`: where the paper's figures in the rows were read;
    `figure`: the metrics of its bar chart; `backbones`: every row is run with each of them, where there are any;
    `analysis`: what is shown in place of rows; `by_set`: by question set and stratum, with intervals, and ensembles
    beside their best signal; `ablation`: a trained ensemble without each of its parts, which are its rows; `folds`:
    into how many a cross-validation deals the questions of all splits, 0 for the corpus's splits."""

    name: str
    title: str
    source: str
    baseline: str = ""
    metrics: tuple[str, ...] = _SHOWN
    rows: tuple[RowSpec, ...] = ()
    figure: tuple[str, ...] = ()
    backbones: tuple[str, ...] = ()
    analysis: str = ""
    paper_read_in: str = ""
    by_set: bool = False
    ablation: bool = False
    folds: int = 0

    def against(self, row: RowSpec) -> str:
        """Return the name of the row that a row is compared with; blank for none."""
        other = row.against or self.baseline
        return "" if other == row.name else other


Spec = TypeVar("Spec", RowSpec, TableSpec)


def table_names() -> tuple[str, ...]:
    """Return the tables that can be made, by name."""
    return tuple(sorted(path.stem for path in SPECS.glob("*.yaml")))


def read_table(name: str) -> TableSpec:
    """Return the spec of a table.

    Raises:
        UsageError: if there is no such table.
        ValueError: if its file has an unknown key.
    """
    if name not in table_names():
        raise unknown_name("table", name, table_names())
    import yaml

    path = SPECS / f"{name}.yaml"
    return table_of(name, yaml.safe_load(path.read_text(encoding="utf-8")))


def measurable_on(spec: TableSpec, split: str) -> TableSpec:
    """Return the table without the rows that are trained on a split."""
    return replace(spec, rows=tuple(row for row in spec.rows if not row.retrained or split == SPLITS[-1]))


def with_backbones(spec: TableSpec, backbones: tuple[str, ...]) -> TableSpec:
    """Return the table with a copy of every row for each of the backbones (blank: for the table's own); a table that
    is not about backbones is returned as it is.

    Raises:
        UsageError: if backbones are given to a table that is not about them.
    """
    if not spec.backbones:
        if backbones:
            raise UsageError(
                f"{option('backbones')}: {spec.name} has one backbone for all rows; name it with {option('backbone')}"
            )
        return spec
    chosen = backbones or spec.backbones

    def copy(row_name: str, backbone: str) -> str:
        return row_name and f"{row_name}, {short_name(backbone)}"

    rows = [
        replace(row, name=copy(row.name, backbone), backbone=backbone, against=copy(row.against, backbone))
        for row in spec.rows
        for backbone in chosen
    ]
    return replace(spec, rows=tuple(rows), baseline=copy(spec.baseline, chosen[0]))


def short_name(backbone: str) -> str:
    """Return the last part of a backbone's name: of a folder, a hub name or `embedded:NAME`."""
    return Path(backbone.rpartition(":")[2]).name


def table_of(name: str, values: Mapping[str, Any]) -> TableSpec:
    """Return the spec that a mapping of its fields holds, its rows as mappings of theirs.

    Raises:
        ValueError: for an unknown key.
    """
    values = dict(values)
    values["rows"] = tuple(row_of(row) for row in values.get("rows") or ())
    return _filled(TableSpec, {"name": name, **values})


def row_of(values: Mapping[str, Any]) -> RowSpec:
    """Return the spec of a row that a mapping of its fields holds.

    Raises:
        ValueError: for an unknown key.
    """
    values = dict(values)
    by_regime = values.get("regimes") or {}
    values["regimes"] = {regime: tuple(settings or ()) for regime, settings in by_regime.items()}
    return _filled(RowSpec, values)


def _filled(kind: type[Spec], values: Mapping[str, Any]) -> Spec:
    unknown = sorted(values.keys() - {item.name for item in fields(kind)})
    if unknown:
        raise ValueError(
            f"{kind.__name__}: '{unknown[0]}' is not a key; it has {', '.join(f.name for f in fields(kind))}"
        )
    filled: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in values.items()}
    return kind(**filled)
