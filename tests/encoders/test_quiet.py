import logging

from huggingface_hub.utils import are_progress_bars_disabled
from transformers import BertModel
from transformers.utils import logging as transformers_logging

from statgraph.encoders.quiet import quiet_transformers


def test_saving_and_loading_a_model_say_nothing(tiny_folder, tmp_path, capfd):
    quiet_transformers()
    quiet_transformers()
    capfd.readouterr()
    model = BertModel.from_pretrained(tiny_folder)  # with a pooling layer, whose weights the file lacks
    model.save_pretrained(tmp_path / "copy")

    assert capfd.readouterr() == ("", "")
    assert not transformers_logging.is_progress_bar_enabled()
    assert are_progress_bars_disabled()


def test_sentence_transformers_keeps_to_errors(caplog):
    quiet_transformers()
    logging.getLogger("sentence_transformers.base.model").warning("a notice")
    logging.getLogger("sentence_transformers.base.model").error("an error")

    assert [record.message for record in caplog.records] == ["an error"]
