"""Keeping the text libraries' own progress bars and notices off the terminal: ours say what is going on."""

from __future__ import annotations


def quiet_transformers() -> None:
    """Switch off the text libraries' progress bars and what they log below an error.

    Call it before a model is loaded or saved ("Loading weights", "Writing model shards"); calling it again is harmless.
    """
    import logging

    import huggingface_hub.utils
    import transformers.utils.logging

    transformers.utils.logging.disable_progress_bar()
    transformers.utils.logging.set_verbosity_error()
    huggingface_hub.utils.disable_progress_bars()
    huggingface_hub.utils.logging.set_verbosity_error()
    logging.getLogger("sentence_transformers").setLevel(logging.ERROR)
