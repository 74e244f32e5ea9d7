"""statgraph, trained on questions and texts that cite the law, which the others cannot use."""

from statgraph import Retriever, train


def build(law, folder, fast=False):
    train(law.corpus, fast=fast, device="cpu", out=folder / "run")


def reopen(folder, law):
    retriever = Retriever.load(folder / "run", device="cpu")
    return lambda question, k: [hit.article_id for hit in retriever.search(question, k)]
