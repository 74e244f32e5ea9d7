import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from statgraph.config import PretrainConfig, RunConfig
from statgraph.encoders.backbones import resolve_backbone
from statgraph.encoders.loading import load_backbone
from statgraph.errors import RunError, UsageError
from statgraph.training import pretraining
from statgraph.training.pretraining import adapted_backbone, pretrain, unfinished_folder

CPU = torch.device("cpu")
CONFIG = PretrainConfig(steps=6, batch_size=3, max_tokens=16, lr=1e-3, checkpoint_steps=2)


@pytest.fixture
def backbone(tmp_path, vocabulary, word_level, save_random_bert, save_modules) -> Path:
    """Return a sentence-transformers folder: a random BERT over the village's words, mean-pooled, with prefixes."""
    from tokenizers import processors

    special = {"cls": "[CLS]", "sep": "[SEP]", "pad": "[PAD]", "mask": "[MASK]", "unk": "?"}
    tokenizer = word_level([*vocabulary, "rarely", "[CLS]", "[SEP]", "[PAD]", "[MASK]"], lower=True)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[(token, tokenizer.token_to_id(token)) for token in ("[CLS]", "[SEP]")]
    )
    sizes = {"num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32, "max_position_embeddings": 32}
    plain = save_random_bert(tmp_path / "plain", tokenizer, special, **sizes)
    return save_modules(tmp_path / "start", plain, pooling="mean", prompts={"query": "q: ", "document": "p: "})


@pytest.fixture
def pretrained(backbone, village, tmp_path):
    """Return a function that pre-trains the small backbone into a folder of this name."""

    def run(name: str = "out", config: PretrainConfig = CONFIG, **options) -> Path:
        run_config = RunConfig(pretrain=config, seed=options.pop("seed", 1))
        return pretrain(village, tmp_path / name, run_config, backbone=str(backbone), device="cpu", **options).folder

    return run


@pytest.fixture
def killed_after(pretrained):
    """Return a function that pre-trains into `out` and is killed once so many steps are done."""

    def run(n_steps: int, **options) -> None:
        def kill(progress) -> None:
            if progress.done == n_steps:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            pretrained(progress=kill, **options)

    return run


def weights_of(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "model.safetensors")


def manifest_of(folder: Path) -> dict:
    return json.loads((folder / "manifest.json").read_text())


def test_the_result_is_a_backbone_like_the_one_it_came_from(pretrained, backbone):
    before, after = resolve_backbone(str(backbone)), resolve_backbone(str(pretrained()))
    assert replace(after, name=before.name, location=before.location) == before
    assert (after.pooling, after.query_prefix, after.passage_prefix) == ("mean", "q: ", "p: ")

    (old_tokenizer, old), (tokenizer, new) = load_backbone(before), load_backbone(after)
    assert tokenizer.get_vocab() == old_tokenizer.get_vocab()
    assert {name: tensor.shape for name, tensor in new.state_dict().items()} == {
        name: tensor.shape for name, tensor in old.state_dict().items()
    }
    changed = (new.get_input_embeddings().weight != old.get_input_embeddings().weight).any(dim=1)
    ids = tokenizer.convert_tokens_to_ids(["lamp", "[MASK]", "rarely", "bad", "[PAD]"])
    assert changed[ids].tolist() == [True, True, False, False, False]  # the articles do not say "bad"
    assert not torch.equal(new.encoder.layer[0].output.dense.weight, old.encoder.layer[0].output.dense.weight)


def test_the_manifest_says_how_it_came_to_be(pretrained, backbone, village):
    seen = []
    folder = pretrained(progress=seen.append)
    about = manifest_of(folder)

    assert about["backbone"] == str(backbone)
    assert about["corpus"] == {"name": "village", "content_hash": village.content_hash}
    assert about["pretrain"] == {
        "steps": 6, "batch_size": 3, "max_tokens": 16, "lr": 1e-3, "warmup": 0.06, "weight_decay": 0.01,
        "mask_share": 0.15,
    }  # fmt: skip
    assert (about["seed"], about["mask_token"], about["has_mask_token"]) == (1, "[MASK]", True)
    assert (about["first_loss"], about["last_loss"]) == (seen[0].loss, seen[-1].loss)
    assert [(progress.done, progress.total) for progress in seen] == [(step, 6) for step in range(1, 7)]
    assert not unfinished_folder(folder).exists()


@pytest.mark.parametrize("n_steps", [1, 4])
def test_a_killed_one_goes_on_to_the_same_bits(pretrained, killed_after, n_steps):
    whole = pretrained("whole")
    killed_after(n_steps)
    seen = []
    resumed = pretrained(resume=True, progress=lambda progress: seen.append(progress.done))

    # Kept at steps 2 and 4; the kill comes before the checkpoint of its own step.
    assert seen == list(range({1: 1, 4: 3, 5: 5}[n_steps], 7))
    expected, found = weights_of(whole), weights_of(resumed)
    assert expected.keys() == found.keys()
    assert all(torch.equal(expected[name], found[name]) for name in expected)
    assert manifest_of(whole) == manifest_of(resumed)


def test_other_settings_do_not_resume(pretrained, killed_after, tmp_path):
    killed_after(3)
    with pytest.raises(RunError, match=r"out: .* \(seed: 1 then, 2 now\)"):
        pretrained(resume=True, seed=2)
    pretrained(resume=True, config=replace(CONFIG, checkpoint_steps=5))  # decides no weight


def test_a_folder_in_use(pretrained, killed_after, tmp_path):
    killed_after(1)
    with pytest.raises(RunError, match=r"out.unfinished: .* add resume"):
        pretrained()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with pytest.raises(RunError, match=r"mine: not empty"):
        pretrained("mine")
    with pytest.raises(RunError, match=r"notes.txt: is a file"):
        pretrained("mine/notes.txt")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"max_tokens": 33}, "pretrain.max_tokens: .* 32 at most .got 33"),
        ({"max_tokens": 2}, r"pretrain.max_tokens: 2 leaves no room .* 3 or more"),
        ({"mask_share": 0.0}, "pretrain.mask_share: .*0.0"),
    ],
)
def test_settings_that_leave_nothing_to_train_on(pretrained, tmp_path, changes, message):
    with pytest.raises(UsageError, match=message):
        pretrained(config=replace(CONFIG, **changes))
    assert not (tmp_path / "out.unfinished").exists()


@pytest.fixture
def adapt(backbone, village, tmp_path, monkeypatch):
    """Return a function that adapts the small backbone under a cache of the test's own."""
    monkeypatch.setenv("STATGRAPH_CACHE", str(tmp_path / "cache"))

    def run(progress=lambda progress: None, corpus=village, seed=0, pretrain=CONFIG, **encoder) -> Path:
        config = RunConfig(seed=seed, pretrain=pretrain)
        encoder = {"backbone": str(backbone), "adapted": True} | encoder
        config = replace(config, encoder=replace(config.encoder, **encoder))
        return Path(adapted_backbone(config, corpus, CPU, progress))

    return run


def test_an_adapted_backbone_is_made_once(adapt, tmp_path, village):
    folder = adapt()
    assert folder.parent == tmp_path / "cache" / "adapted"
    assert manifest_of(folder)["pretrain"]["steps"] == 6

    seen = []
    assert adapt(seen.append) == folder
    assert adapt(seen.append, pretrain=replace(CONFIG, checkpoint_steps=1)) == folder
    assert seen == []
    others = {
        adapt(seed=1), adapt(pretrain=replace(CONFIG, lr=1e-4)), adapt(corpus=replace(village, questions=())),
    }  # fmt: skip
    assert len(others | {folder}) == 4


def test_a_folder_of_token_vectors_cannot_be_adapted(adapt, quick_backbone):
    with pytest.raises(UsageError, match="token vectors"):
        adapt(backbone=str(quick_backbone))


def test_a_static_backbone_adapts_the_model_behind_it(adapt, monkeypatch, statgraph_cache):
    asked = []
    monkeypatch.setenv("STATGRAPH_CACHE", str(statgraph_cache))
    monkeypatch.setattr(pretraining, "_write_adapted", lambda folder, corpus, config, name, *rest: asked.append(name))
    adapt(backbone="embedded:static")

    assert asked == ["embedded:multilingual-e5-small"]
