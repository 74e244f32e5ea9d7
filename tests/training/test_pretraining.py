import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch.nn import functional

from statgraph.config import PretrainConfig, RunConfig
from statgraph.encoders.backbones import resolve_backbone
from statgraph.encoders.loading import load_backbone
from statgraph.errors import ModelError, RunError, UsageError
from statgraph.training import pretraining
from statgraph.training.pretraining import (
    NO_LABEL,
    NO_PIECE,
    TokenBlocks,
    adapted_backbone,
    cut_to_pieces,
    masked_loss,
    masking_of,
    pretrain,
    put_pieces_back,
    token_blocks,
    unfinished_folder,
)

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


def test_the_article_backbone_is_the_one_that_is_adapted(adapt, backbone, quick_backbone):
    folder = adapt(backbone=str(quick_backbone), article_backbone=str(backbone))

    assert manifest_of(folder)["backbone"] == str(backbone)
    with pytest.raises(UsageError, match="token vectors"):
        adapt(backbone=str(quick_backbone))


def test_a_static_backbone_adapts_the_model_behind_it(adapt, monkeypatch, statgraph_cache):
    asked = []
    monkeypatch.setenv("STATGRAPH_CACHE", str(statgraph_cache))
    monkeypatch.setattr(pretraining, "_write_adapted", lambda folder, corpus, config, name, *rest: asked.append(name))
    adapt(backbone="embedded:static")

    assert asked == ["embedded:multilingual-e5-small"]


@pytest.fixture
def tokenizer(tiny_backbone):
    return load_backbone(tiny_backbone)[0]


def blocks_of(tokenizer, *texts: str, block_tokens: int) -> TokenBlocks:
    return token_blocks(tokenizer, texts, replace(CONFIG, max_tokens=block_tokens))


def test_texts_are_packed_end_to_end(tokenizer):
    blocks = blocks_of(tokenizer, "the tenant pays the rent", "work", "the child", block_tokens=6)

    assert [[blocks.tokens[piece] for piece in row if piece != NO_PIECE] for row in blocks.ids] == [
        ["<s>", "▁the", "▁tenant", "▁pays", "▁the", "</s>"],
        ["<s>", "▁rent", "</s>", "▁work", "</s>", "</s>"],
        ["<s>", "▁the", "▁child", "</s>"],
    ]
    assert blocks.ids[2].tolist()[4:] == [NO_PIECE, NO_PIECE]
    # <s>, </s>, <unk> as the mask, then the, tenant, pays, rent, work, child, in the tokenizer's own order
    assert blocks.piece_ids.tolist() == [0, 2, 3, 6, 7, 9, 10, 11, 12]
    assert blocks.special.tolist() == [True, True, True, *[False] * 6]


def test_the_mask_token(tokenizer, e5_folder):
    from transformers import AutoTokenizer

    assert blocks_of(tokenizer, "rent", block_tokens=8).mask_token == "<unk>"
    blocks = blocks_of(AutoTokenizer.from_pretrained(e5_folder), "Le loyer", block_tokens=8)
    assert (blocks.mask_token, blocks.tokens[-1], blocks.piece_ids[-1]) == ("<mask>", "<mask>", 250001)
    assert blocks.special[-1]
    tokenizer.unk_token, tokenizer.name_or_path = None, "mine"
    with pytest.raises(ModelError, match=r"^mine: .*neither a mask token nor an unknown one"):
        blocks_of(tokenizer, "rent", block_tokens=8)


def test_tokens_are_hidden_by_the_share_and_shown_as_pieces_of_the_texts():
    pieces = torch.arange(43)
    blocks = TokenBlocks(pieces[3:].repeat(500, 1), pieces, [f"piece {n}" for n in range(43)], pieces < 3, "piece 2")
    torch.manual_seed(0)
    shown, labels = masking_of(blocks, 0.15).torch_mask_tokens(blocks.ids.clone(), blocks.special[blocks.ids])

    hidden = labels != NO_LABEL
    assert hidden.float().mean() == pytest.approx(0.15, abs=0.01)  # of 20,000
    assert torch.equal(labels[hidden], blocks.ids[hidden])
    assert torch.equal(shown[~hidden], blocks.ids[~hidden])
    assert (shown[hidden] == 2).float().mean() == pytest.approx(0.8, abs=0.03)
    assert (shown[hidden] == labels[hidden]).float().mean() == pytest.approx(0.1, abs=0.03)
    assert torch.isin(shown, pieces).all()


SIZES = {
    "vocab_size": 53, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64,
    "max_position_embeddings": 64, "pad_token_id": 1,
}  # fmt: skip
PIECES = torch.tensor([0, 2, 5, 7, 9, 11, 30])
IDS = torch.tensor([[0, 2, 3, 6, 1], [0, 4, 5, 1, NO_PIECE]])
LABELS = torch.tensor([[NO_LABEL, 5, NO_LABEL, 6, NO_LABEL], [NO_LABEL, 4, NO_LABEL, NO_LABEL, NO_LABEL]])


def masked_model(family: str):
    import transformers

    sizes = SIZES
    if family == "DistilBert":
        sizes = {"vocab_size": 53, "dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64}
    torch.manual_seed(0)
    config = getattr(transformers, f"{family}Config")(**sizes)
    model = getattr(transformers, f"{family}ForMaskedLM")(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.05 * torch.randn_like(parameter))
    return model.eval()


@pytest.mark.parametrize("family", ["Bert", "Camembert", "DistilBert"])
def test_the_loss_is_the_whole_models_over_these_pieces(family):
    model = masked_model(family)
    ids = PIECES[IDS.clamp(min=0)]
    ids[1, 4] = 1  # the padding piece
    with torch.no_grad():
        logits = model(input_ids=ids, attention_mask=(IDS != NO_PIECE).long()).logits[..., PIECES]
        cut_to_pieces(model, PIECES)
        ours = masked_loss(model, IDS, LABELS)

    torch.testing.assert_close(ours, functional.cross_entropy(logits.flatten(0, 1), LABELS.flatten()))
    assert masked_loss(model, IDS, torch.full_like(LABELS, NO_LABEL)) == 0


def test_the_trained_pieces_go_back_into_the_whole_table():
    model = masked_model("Bert")
    before = model.get_input_embeddings().weight.detach().clone()
    cut_to_pieces(model, PIECES)
    with torch.no_grad():
        model.get_input_embeddings().weight.add_(1)
    put_pieces_back(model, PIECES, before.clone())

    expected = before.clone()
    expected[PIECES] += 1
    torch.testing.assert_close(model.base_model.embeddings.word_embeddings.weight, expected)
    assert model.base_model.config.vocab_size == 53
