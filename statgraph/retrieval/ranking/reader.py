"""The reader, an option and the last step of a ranking: a cross-encoder that reads a question with each top article."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from statgraph.encoders.article_text import article_texts
from statgraph.errors import ModelError, option, reason_of
from statgraph.runs.article_store import ArticleStore

_REMEDY = (
    f"name the folder or hub name of a cross-encoder with one score, or leave the reader out with {option('no-reader')}"
)
_HEADS = ("ForSequenceClassification", "ForCausalLM")  # without one the score would be of random weights


class Reader:
    """Reads the best articles of a ranking.

    Args:
        predict: scores of (question, text) pairs, (pairs,); called by one thread at a time.
        articles: the run's.
        max_articles: how many of the best articles are read.
    """

    def __init__(
        self, predict: Callable[[list[tuple[str, str]]], np.ndarray], articles: ArticleStore, max_articles: int
    ):
        self._predict = predict
        self._articles = articles
        self._max_articles = max_articles
        self._lock = threading.Lock()  # fast tokenizers refuse a second thread

    def amounts(self, question: str, rows: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """Return what reading adds to the scores of a question's articles, (articles,) float32.

        It is the reader's score, standardised over the articles read, times the standard deviation of their scores: the
        sum orders them as the mean of both standardised scores does. An article that was not read gets 0, the mean.
        """
        best = np.argsort(-scores, kind="stable")[: self._max_articles]
        amounts = np.zeros(len(scores), dtype=np.float32)
        if len(best) > 1:
            texts = article_texts(self._articles.read(rows[best].tolist()), heading_path=True)
            with self._lock:
                read = np.asarray(self._predict([(question, text) for text in texts]), dtype=np.float64)
            spread = read.std()
            if spread > 0:
                amounts[best] = (read - read.mean()) / spread * scores[best].std()
        return amounts


def load_cross_encoder(name: str, device: str = "auto") -> Callable[[Sequence[tuple[str, str]]], np.ndarray]:
    """Return the function from (question, text) pairs to scores, (pairs,) float32, of a cross-encoder.

    Args:
        name: its folder, or its name on the hub.
        device: auto, cpu or cuda.

    Raises:
        ModelError: if it cannot be loaded or has not one score; where the hub does not answer, within seconds.
    """
    from sentence_transformers import CrossEncoder
    from torch.nn import Identity

    from statgraph.device import pick_device
    from statgraph.encoders.loading import ask_hub, is_cached, quiet_transformers

    quiet_transformers()
    try:
        local = Path(name).is_dir() or is_cached(name)
        if not local:
            ask_hub(name)
        # Logits: the sigmoid that it may end with makes the best articles equal.
        device = str(pick_device(device))
        model = CrossEncoder(name, device=device, local_files_only=local, activation_fn=Identity())
    except Exception as error:  # the loaders raise their own errors, their transport's and the system's
        raise ModelError(f"reader '{name}' cannot be loaded ({reason_of(error).rstrip('.:')}); {_REMEDY}") from error
    if model.num_labels != 1 or not any(kind.endswith(_HEADS) for kind in model.config.architectures or ()):
        raise ModelError(f"reader '{name}' is no cross-encoder with one score; {_REMEDY}")
    return lambda pairs: model.predict(list(pairs), show_progress_bar=False)
