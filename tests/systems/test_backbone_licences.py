import pytest

from statgraph.config import EncoderConfig, RunConfig
from statgraph.systems.backbone_licences import backbone_licences


def licences(**encoder: str) -> dict:
    return backbone_licences(RunConfig(encoder=EncoderConfig(**encoder)))


def test_the_embedded_models_are_known_and_the_hub_is_not_asked():
    embedded, hub = "embedded:multilingual-e5-small", "almanach/camembert-base"
    assert licences(backbone=hub, article_backbone=embedded) == {hub: None, embedded: "MIT"}
    assert licences(backbone="embedded:static") == {"embedded:static": "MIT"}
    assert backbone_licences(RunConfig(retriever="bm25")) == {}


@pytest.mark.parametrize(
    ("readme", "licence"),
    [
        ("---\nlanguage: fr\nlicense: apache-2.0\n---\n# A model\nlicense: mine\n", "apache-2.0"),
        ("# A model\n---\nlicense: mit\n---\n", None),
        ("---\nlicense: [\n---\n", None),
        ("---\n- license\n---\n", None),
        ("---\nlicense: mit\n", None),
        ("", None),
    ],
)
def test_a_folder_says_its_own(tmp_path, readme, licence):
    (tmp_path / "README.md").write_text(readme)
    assert licences(backbone=str(tmp_path)) == {str(tmp_path): licence}
