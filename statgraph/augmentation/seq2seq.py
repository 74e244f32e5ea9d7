"""Questions by a doc2query model (Nogueira and Lin 2019): read an article, sample what it could answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from statgraph.augmentation.store import PartialFile, SyntheticQuestion
from statgraph.device import inference_dtype
from statgraph.encoders.article_text import article_texts
from statgraph.errors import option
from statgraph.law.records import Article
from statgraph.progress import Progress, Step

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

SEQ2SEQ = "seq2seq"
STEP = "synthetic questions"
# Nogueira and Lin 2019 sample from the ten likeliest tokens.
TOP_K = 10
MOST_QUESTION_TOKENS = 64
ARTICLES_PER_BATCH = 16


def seq2seq_questions(
    articles: Sequence[Article],
    model_name: str,
    *,
    per_article: int,
    seed: int,
    device: torch.device,
    progress: Progress,
    partial: PartialFile | None = None,
) -> list[SyntheticQuestion]:
    """Return the questions that a model samples for each article's text, at most `per_article` different ones.

    The headings are left out: such models have learnt on passages. A text is cut at the model's longest. Equal
    questions of several articles are one. Each batch has a seed of its own, so a generation that goes on from its
    partial file ends as if it had never stopped.

    Raises:
        ModelError: if the model cannot be loaded.
    """
    # Of equal length in a batch, so that little is padding; the longest first, so that memory runs out at once or not.
    rows = sorted(range(len(articles)), key=lambda row: -len(articles[row].text))
    batches = [rows[start : start + ARTICLES_PER_BATCH] for start in range(0, len(rows), ARTICLES_PER_BATCH)]
    made: list[dict[str, list[str]]] = list(partial.batches) if partial else []
    if len(made) < len(batches):
        sample = _sampler(model_name, per_article=per_article, device=device)
        for number in range(len(made), len(batches)):
            progress(Step(STEP, number * ARTICLES_PER_BATCH, len(articles)))
            batch = [articles[row] for row in batches[number]]
            batch_seed = int(np.random.SeedSequence((seed, number)).generate_state(1)[0])
            texts = sample(article_texts(batch, heading_path=False), batch_seed)
            questions = {article.article_id: sampled for article, sampled in zip(batch, texts, strict=True)}
            if partial:
                partial.append(questions)
            made.append(questions)
    progress(Step(STEP, len(articles), len(articles)))
    by_article = {article_id: texts for questions in made for article_id, texts in questions.items()}
    answers: dict[str, list[str]] = {}
    for article in articles:
        for text in by_article[article.article_id]:
            answers.setdefault(text, []).append(article.article_id)
    generator = f"{SEQ2SEQ}:{model_name}"
    return [SyntheticQuestion(text, tuple(article_ids), generator) for text, article_ids in answers.items()]


def load_seq2seq(model_name: str) -> tuple[PreTrainedTokenizerBase, PreTrainedModel]:
    """Return (tokenizer, model in evaluation mode) of a folder or hub name.

    Raises:
        ModelError: if it cannot be loaded; where the hub does not answer, within seconds.
    """
    from transformers import AutoModelForSeq2SeqLM

    from statgraph.encoders.loading import loaded_pair

    remedy = f"name the folder or hub name of a doc2query model, or use {option('generator')} headings"
    what = f"generator '{SEQ2SEQ}:{model_name}'"
    tokenizer, model = loaded_pair(model_name, AutoModelForSeq2SeqLM, what=what, remedy=remedy)
    return tokenizer, model.eval()


def _sampler(
    model_name: str, *, per_article: int, device: torch.device
) -> Callable[[Sequence[str], int], list[list[str]]]:
    """Return the function (texts, seed) -> different questions of each text."""
    import torch

    from statgraph.encoders.loading import most_tokens

    tokenizer, model = load_seq2seq(model_name)
    longest = most_tokens(tokenizer, model)
    model = model.to(device=device, dtype=inference_dtype(device))

    def sample(texts: Sequence[str], seed: int) -> list[list[str]]:
        inputs = tokenizer(list(texts), truncation=True, max_length=longest, padding=True, return_tensors="pt")
        inputs = inputs.to(device)
        # The caller's own random numbers go on as if nothing had been drawn.
        with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []), torch.inference_mode():
            torch.manual_seed(seed)
            tokens = model.generate(
                input_ids=inputs["input_ids"],
                attention_mask=inputs["attention_mask"],
                do_sample=True,
                num_beams=1,
                top_k=TOP_K,
                max_new_tokens=MOST_QUESTION_TOKENS,
                num_return_sequences=per_article,
            )  # (texts * per_article, tokens)
        cleaned = [" ".join(text.split()) for text in tokenizer.batch_decode(tokens, skip_special_tokens=True)]
        by_text = [cleaned[start : start + per_article] for start in range(0, len(cleaned), per_article)]
        return [list(dict.fromkeys(filter(None, questions))) for questions in by_text]

    return sample
