"""The model card of a run: what it was trained on, how well it does, what it is for and what it is not.

Everything in it is read from the run's manifest and report. What they do not say is said to be missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from statgraph import artifacts
from statgraph.corpus.records import SPLITS, Corpus, headings_of
from statgraph.encoders.backbones import is_static
from statgraph.errors import RunError
from statgraph.evaluation.report import Report
from statgraph.evaluation.strata import STRATA

MISSING = "not recorded"
_DEV = "dev"


def corpus_entry(corpus: Corpus) -> dict[str, object]:
    """Return what a manifest says of the data beyond the name, language and hash of the corpus."""
    return {
        "licence": corpus.licence,
        "source": corpus.source,
        "headings": sum(1 for _ in headings_of(corpus.articles)),
        "questions": {split: len(corpus.split(split)) for split in SPLITS},
        "labels": {split: sum(len(question.article_ids) for question in corpus.split(split)) for split in SPLITS},
    }


def write_model_cards(folder: Path, manifest: Mapping, report: Report | None) -> None:
    """Write the card of a run to its folder and, of its query encoder, to that one's."""
    encoder = folder / artifacts.RUN_QUERY_ENCODER
    _write(folder / artifacts.MODEL_CARD, model_card(manifest, report))
    if encoder.is_dir() and not encoder.is_symlink():  # a link leads to what may be another run's
        _write(encoder / artifacts.MODEL_CARD, model_card(manifest, report, part=artifacts.RUN_QUERY_ENCODER))


def read_run_report(folder: Path) -> Report | None:
    """Return the report of a run, None where it has none.

    Raises:
        RunError: if it is damaged.
    """
    path = folder / artifacts.RUN_REPORT
    if not path.is_file():
        return None
    try:
        return Report.from_dict(artifacts.read_json(path))
    except (ValueError, TypeError) as error:
        raise RunError(f"{path}: not readable ({error}); evaluate or train the run again") from None
    except RunError as error:
        raise RunError(f"{path}: {error}") from None


def model_card(
    manifest: Mapping,
    report: Report | None,
    *,
    part: str = "",
    library: str = "sentence-transformers",
    loading: str = "",
) -> str:
    """Return the card as Markdown, with the YAML header that model hubs read.

    Args:
        manifest: of a run; one from before there were cards lacks some of what a card says.
        report: on dev; None where there is none.
        part: `query_encoder` for the card of that folder, blank for the run's.
        library: what loads the query encoder, in the words of the Hugging Face hub.
        loading: how, as Markdown, where that is another library.
    """
    of_encoder = part == artifacts.RUN_QUERY_ENCODER
    title = f"{manifest['config']['system']} on {_line(manifest['corpus']['name'])}"
    what = "The query encoder of a retriever" if of_encoder else "A retriever"
    sections = [
        ("Data", _data(manifest)),
        ("System and training", _training(manifest)),
        ("Metrics", _metrics(manifest, report)),
        ("Intended use", _INTENDED),
        ("Limits", _limits(manifest)),
        ("How to load it", _loading(manifest, of_encoder=of_encoder, by_other_means=loading)),
        ("Licences", _licences(manifest)),
        ("Versions", [f"- {name} {version}" for name, version in manifest.get("versions", {}).items()] or [MISSING]),
    ]  # fmt: skip
    lines = [
        f"---\n{_header(manifest, report, title, library)}---",
        "",
        f"# {title}",
        "",
        f"{what} of articles of law, trained with statgraph: a question in everyday words in, the articles that answer",
        "it out. **It gives no legal advice.**",
    ]
    for heading, body in sections:
        lines += ["", f"## {heading}", "", *body]
    return "\n".join(lines) + "\n"


_INTENDED = [
    "Finding the articles to read: for lawyers, students and editors, and as the first stage of tools that show their",
    "sources. It ranks articles by how likely they bear on a question; it neither interprets nor applies them.",
    "It is not meant to decide a person's case, and its results must not be passed on as advice: a lawyer reads the",
    "articles in force.",
]


def _data(manifest: Mapping) -> list[str]:
    corpus, data = manifest["corpus"], manifest.get("data", {})
    articles, headings = corpus.get("articles"), data.get("headings")
    rows = {
        "Corpus": f"{_line(corpus['name'])} (content hash {corpus['content_hash'][:12]})",
        "Language": corpus["language"],
        "Source": _line(data.get("source", MISSING)),
        "Licence": _line(data.get("licence", MISSING)),
        "Articles": MISSING if articles is None else f"{articles:,}",
        "Headings": MISSING if headings is None else f"{headings:,}",
        "Questions": _per_split(data.get("questions")),
        "Labels": _per_split(data.get("labels")),
    }
    updated = manifest.get("updates")
    if updated:
        rows["Updates"] = f"{len(updated)}, without training: the training data were those of an earlier version"
    return _table(rows)


def _training(manifest: Mapping) -> list[str]:
    config = manifest["config"]
    rows = {"System": f"`{config['system']}`", "Seed": config.get("seed", MISSING)}
    if config.get("retriever") == "bm25":
        rows |= {"Retriever": "BM25, no vectors", **{name: config["bm25"][name] for name in ("k1", "b", "expansion")}}
    else:
        encoder, gnn = config["encoder"], config["gnn"]
        rows["Backbone"] = f"`{_line(encoder['backbone'])}` (trained: {encoder['train']})"
        if encoder["article_backbone"]:
            rows["Backbone of the articles"] = f"`{_line(encoder['article_backbone'])}`"
        rows["Similarity"] = encoder["similarity"]
        rows["Stage 1, text encoders"] = _stage(config["stage1"], ("synthetic",))
        rows["Stage 2, graph encoder"] = _stage(config["stage2"], ())
        if config["stage2"]["epochs"]:
            rows["Graph encoder"] = f"{gnn['layers']} layers of `{gnn['layer']}`, {gnn['heads']} heads"
            rows["Graph"] = ", ".join(config["graph"]["relations"]) or "no relations"
    rows["Processes"] = manifest.get("processes", MISSING)
    note = "Every setting is in `manifest.json` of the run."
    if _trains(config):
        note += " Of the questions, only those of the train split train the weights."
    return [*_table(rows), "", note]


def _trains(config: Mapping) -> bool:
    """Return whether a run's weights come from training: not those of BM25, nor of encoders taken as they are."""
    return config.get("retriever") != "bm25" and bool(config["stage1"]["epochs"] or config["stage2"]["epochs"])


def _stage(stage: Mapping, sources: tuple[str, ...]) -> str:
    """Return the settings of a stage of training in words."""
    if not stage["epochs"]:
        return "none"
    weights = ", ".join(f"{name} {stage[name]:g}" for name in ("gold", "headings", *sources) if name in stage)
    return (
        f"{stage['epochs']} epochs at most, {stage['batch_size']} pairs a batch (weights: {weights}), learning rate "
        f"{stage['lr']:g}, negatives: {stage['negatives']}"
    )


def _metrics(manifest: Mapping, report: Report | None) -> list[str]:
    if report is None:
        why = "it was updated to other law since" if manifest.get("updates") else "the run has no report"
        return [f"Not measured: {why}. `statgraph evaluate --run DIR --corpus DIR` measures it."]
    strata = {name: report.strata[name] for name in STRATA if name in report.strata and report.strata[name].metrics}
    names = list(dict.fromkeys(name for stratum in strata.values() for name in stratum.metrics))
    heads = [f"{name} ({stratum.n_questions})" for name, stratum in strata.items()]
    lines = [
        f"On the questions of {report.split} (in brackets how many), in per cent, with {report.confidence:.0%} "
        "bootstrap intervals over questions:",
        "",
        f"| | {' | '.join(heads)} |",
        f"| --- |{' --- |' * len(heads)}",
    ]
    for name in names:
        cells = [_estimate(stratum.metrics.get(name)) for stratum in strata.values()]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += [
        "",
        "Seen: a training question cites one of the articles that answer. `report.json` of the run has more parts.",
    ]
    if report.split == _DEV and _trains(manifest["config"]):
        lines += [
            "",
            "Training kept the epoch that did best on dev, so these figures are somewhat high: see a test split.",
        ]
    return lines


def _limits(manifest: Mapping) -> list[str]:
    corpus, config = manifest["corpus"], manifest["config"]
    lines = [
        f"- It knows the {_count(corpus.get('articles'))}articles of its corpus as they were, and no other law.",
        f"- Text and training questions are in one language (`{corpus['language']}`); no other was trained on here.",
        "- It always returns articles, for questions too that none of them answers.",
        "- Questions unlike those it was trained on are likely to fare worse than the metrics say.",
    ]
    backbone = config["encoder"]["backbone"]
    if config.get("retriever") != "bm25" and is_static(backbone):
        lines.append(
            "- A question is the bag of its words: their order says nothing, and words unseen in training little."
        )
    return lines


def _loading(manifest: Mapping, *, of_encoder: bool, by_other_means: str) -> list[str]:
    run = [
        "```python",
        "from statgraph import Retriever",
        "",
        'hits = Retriever.load("path/of/the/run").search("...", k=10)',
        "```",
    ]
    if manifest["config"].get("retriever") == "bm25":
        return run
    encoder = [
        "```python",
        "from sentence_transformers import SentenceTransformer",
        "",
        f'encoder = SentenceTransformer("{"path/of/this/folder" if of_encoder else "path/of/the/run/query_encoder"}")',
        'vectors = encoder.encode(["..."])',
        "```",
    ]
    if of_encoder:
        note = "It encodes questions. The articles' vectors are in the index of its run, and scored by inner product:"
        return [*([by_other_means] if by_other_means else encoder), "", note, "", *run]
    return [*run, "", "Its query encoder is a sentence-transformers folder of its own:", "", *encoder]


def _licences(manifest: Mapping) -> list[str]:
    rows = {"Corpus": _line(manifest.get("data", {}).get("licence", MISSING))}
    if manifest["config"].get("retriever") != "bm25":
        encoder, known = manifest["config"]["encoder"], manifest.get("backbone_licences", {})
        for name in filter(None, (encoder["backbone"], encoder["article_backbone"])):
            rows[f"Backbone `{_line(name)}`"] = _line(known.get(name) or "not known")
    note = (
        "The weights come from these, and their terms hold for whoever passes them on. statgraph itself is Apache-2.0."
    )
    return [*_table(rows), "", note]


def _header(manifest: Mapping, report: Report | None, title: str, library: str) -> str:
    """Return the YAML header of a card, in the words of the Hugging Face hub."""
    import yaml

    dense = manifest["config"].get("retriever") != "bm25"
    header: dict[str, object] = {
        "language": [manifest["corpus"]["language"]],
        "license": "other",
        "license_name": "see-the-licences-below",
        "library_name": library if dense else "statgraph",
        "tags": ["statgraph", "legal", "statutory-article-retrieval", *(["sentence-similarity"] if dense else [])],
    }
    if report is not None and report.strata.get("all") is not None and report.strata["all"].metrics:
        metrics = report.strata["all"].metrics
        result = {
            "task": {"type": "text-retrieval", "name": "Statutory article retrieval"},
            "dataset": {"type": "statutes", "name": manifest["corpus"]["name"], "split": report.split},
            "metrics": [{"type": name, "value": round(100 * of.mean, 1)} for name, of in metrics.items()],
        }
        header["model-index"] = [{"name": title, "results": [result]}]
    return yaml.safe_dump(header, sort_keys=False, allow_unicode=True)


def _table(rows: Mapping[str, object]) -> list[str]:
    return ["| | |", "| --- | --- |", *(f"| {name} | {value} |" for name, value in rows.items())]


def _per_split(counts: Mapping[str, int] | None) -> str:
    return MISSING if counts is None else ", ".join(f"{split} {count:,}" for split, count in counts.items())


def _estimate(estimate) -> str:
    if estimate is None:
        return ""
    return f"{100 * estimate.mean:.1f} [{100 * estimate.low:.1f}, {100 * estimate.high:.1f}]"


def _count(number: int | None) -> str:
    return "" if number is None else f"{number:,} "


def _line(text: object) -> str:
    """Return a text as it stands in one cell of a table."""
    return " ".join(str(text).split()).replace("|", "\\|")


def _write(path: Path, text: str) -> None:
    with artifacts.replaced_file(path) as staging:
        staging.write_text(text, encoding="utf-8")
