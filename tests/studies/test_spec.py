import pytest

from statgraph.errors import UsageError
from statgraph.evaluation.metrics import METRICS
from statgraph.studies import spec as spec_module
from statgraph.studies.analyses import ANALYSES
from statgraph.studies.running import planned_runs
from statgraph.studies.spec import measurable_on, read_table, table_names, with_backbones

BACKBONES = {"static": "embedded:static", "head": "embedded:multilingual-e5-small"}


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Return a function that reads a table from YAML text."""
    monkeypatch.setattr(spec_module, "SPECS", tmp_path)

    def read(text):
        (tmp_path / "t.yaml").write_text(f"title: T\nsource: P\n{text}")
        return read_table("t")

    return read


@pytest.mark.parametrize("regime", ["static", "head"])
@pytest.mark.parametrize("name", table_names())
def test_every_row_can_be_run(name, regime):
    spec = with_backbones(read_table(name), ())
    runs = planned_runs(spec, seeds=1, backbone=BACKBONES[regime], settings=["device=cpu"])
    assert [run.row.name for run in runs] == [row.name for row in spec.rows]
    assert bool(runs) != bool(spec.analysis)
    if not spec.backbones and not spec.by_set:
        assert {run.config.encoder.backbone for run in runs if run.config.retriever == "dense"} <= {BACKBONES[regime]}
    tuned = [row.tuned for row in spec.rows]  # when the table is made, not when it is planned
    same = {
        (str(run.config), run.row.without_questions, run.row.without, run.row.baseline, run.row.retrained, later)
        for run, later in zip(runs, tuned, strict=True)
    }
    assert len(same) == len(runs)  # no two rows are the same run


@pytest.mark.parametrize("name", table_names())
def test_a_table_names_only_what_exists(name):
    spec = read_table(name)
    names = [row.name for row in spec.rows]
    assert len(set(names)) == len(names)
    assert {spec.baseline, *(row.against for row in spec.rows)} <= {"", *names}
    assert {regime for row in spec.rows for regime in row.regimes} <= set(BACKBONES) | {"full"}
    assert {*spec.metrics, *spec.figure, *(metric for row in spec.rows for metric in row.paper)} <= set(METRICS)
    assert {spec.analysis} <= {"", *ANALYSES}
    assert any(row.paper for row in spec.rows) == bool(spec.paper_read_in)


def test_dev_measures_no_row_that_it_has_trained():
    spec = read_table("gdsr-table2")
    assert measurable_on(spec, "test") == spec
    left = [row.name for row in measurable_on(spec, "dev").rows]
    assert [row.name for row in spec.rows] == [*left, "G-DSR, retrained on train and dev"]


def test_a_file_is_read_whole(written):
    spec = written(
        "baseline: a\npaper_read_in: a book\nmetrics: [mAP]\nfigure: [R@100]\nrows:\n"
        "  - {name: a, system: bm25, seeded: false, paper: {mAP: 12.5}}\n"
        "  - {name: b, system: dsr, settings: ['x.y=a,b'], regimes: {head: [p=1]}, against: a}\n"
    )
    first, second = spec.rows
    assert (spec.name, spec.title, spec.metrics, spec.figure) == ("t", "T", ("mAP",), ("R@100",))
    assert (first.seeded, dict(first.paper), spec.against(first)) == (False, {"mAP": 12.5}, "")
    assert (second.settings, dict(second.regimes), spec.against(second)) == (("x.y=a,b",), {"head": ("p=1",)}, "a")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("colour: red", "TableSpec: 'colour' is not a key"),
        ("rows: [{name: a, system: bm25, seed: 1}]", "RowSpec: 'seed' is not a key"),
    ],
)
def test_a_wrong_file_is_refused(written, text, message):
    with pytest.raises(ValueError, match=message):
        written(text)


def test_every_row_on_every_backbone(written):
    spec = written("baseline: a\nbackbones: [embedded:static, m/e5]\nrows: [{name: a, system: dsr}]")
    spread = with_backbones(spec, ())
    assert [(row.name, row.backbone) for row in spread.rows] == [("a, static", "embedded:static"), ("a, e5", "m/e5")]
    assert [spread.against(row) for row in spread.rows] == ["", "a, static"]
    assert [row.name for row in with_backbones(spec, ("x/y/z",)).rows] == ["a, z"]


def test_backbones_are_for_tables_about_them(written):
    spec = written("rows: [{name: a, system: dsr}]")
    assert with_backbones(spec, ()) is spec
    with pytest.raises(UsageError, match=r"^backbones: t has one backbone for all rows; name it with backbone"):
        with_backbones(spec, ("m/e5",))
