"""statgraph, trained on questions and texts that cite the law, which the others cannot use."""

from statgraph import Retriever, corpus_from_dicts, train


def build(law, folder, fast=False):
    corpus = corpus_from_dicts(law.articles, law.questions, language=law.language, citing=law.citing)
    train(corpus, fast=fast, device="cpu", out=folder / "run")


def reopen(folder, law):
    retriever = Retriever.load(folder / "run", device="cpu")
    return lambda question, k: [hit.article_id for hit in retriever.search(question, k)]
