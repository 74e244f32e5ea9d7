"""statgraph, of the articles alone: what the others have."""

from statgraph import Retriever, corpus_from_dicts, train


def build(law, folder):
    train(corpus_from_dicts(law.articles, language=law.language), device="cpu", out=folder / "run")


def reopen(folder, law):
    retriever = Retriever.load(folder / "run", device="cpu")
    return lambda question, k: [hit.article_id for hit in retriever.search(question, k)]
