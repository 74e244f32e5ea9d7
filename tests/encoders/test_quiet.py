import logging

from huggingface_hub.utils import are_progress_bars_disabled
from transformers import BertConfig, BertModel
from transformers.utils import logging as transformers_logging

from statgraph.encoders.quiet import quiet_transformers


def test_saving_and_loading_a_model_say_nothing(tmp_path, capfd):
    quiet_transformers()
    quiet_transformers()
    config = BertConfig(
        vocab_size=8,
        hidden_size=4,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=4,
        max_position_embeddings=4,
    )
    BertModel(config, add_pooling_layer=False).save_pretrained(tmp_path)
    BertModel.from_pretrained(tmp_path)  # with a pooling layer, whose weights the file lacks

    assert capfd.readouterr() == ("", "")
    assert not transformers_logging.is_progress_bar_enabled()
    assert are_progress_bars_disabled()


def test_sentence_transformers_keeps_to_errors(caplog):
    quiet_transformers()
    logging.getLogger("sentence_transformers.base.model").warning("a notice")
    logging.getLogger("sentence_transformers.base.model").error("an error")

    assert [record.message for record in caplog.records] == ["an error"]
