import torch

from statgraph.encoders.tower import loaded_tower


def test_a_tower_with_the_pieces_of_some_texts(tiny_backbone):
    whole = loaded_tower(tiny_backbone, torch.float32)
    pruned = loaded_tower(tiny_backbone, torch.float32, ["the rent"])

    assert whole.backbone is tiny_backbone
    assert len(whole.tokenizer) == whole.model.config.vocab_size == 53
    assert len(pruned.tokenizer) == pruned.model.config.vocab_size < 53
    assert pruned.tokenizer.tokenize("the rent") == ["▁the", "▁rent"]
    with torch.no_grad():
        vectors = [
            tower.model(**tower.tokenizer("the rent", return_tensors="pt")).last_hidden_state
            for tower in (whole, pruned)
        ]
    torch.testing.assert_close(*vectors)


def test_no_texts_at_all_keep_the_special_pieces_alone(tiny_backbone):
    assert len(loaded_tower(tiny_backbone, torch.float32, []).tokenizer) < 53


def test_the_cache_belongs_to_model_pooling_and_precision(tiny_backbone, tmp_path, monkeypatch):
    monkeypatch.setenv("STATGRAPH_CACHE", str(tmp_path))
    folders = {loaded_tower(tiny_backbone, dtype).vector_cache._folder for dtype in (torch.float32, torch.bfloat16)}

    assert len(folders) == 2
    assert {folder.parent for folder in folders} == {tmp_path / "vectors"}
