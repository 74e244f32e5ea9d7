"""bm25s and FAISS, joined by reciprocal rank fusion: the plain program."""

import json

import bm25s
import faiss
import Stemmer

from benchmarks.known_tools.law import Encoder

STEMMERS = {"en": "english", "fr": "french", "de": "german"}
DEPTH = 200


def tokens(texts, language):
    stemmer = Stemmer.Stemmer(STEMMERS[language])
    return bm25s.tokenize(texts, stopwords=language, stemmer=stemmer, show_progress=False)


def build(law, folder):
    vectors = Encoder(law.encoder).encode(["passage: " + text for text in law.texts])
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    faiss.write_index(index, str(folder / "vectors.faiss"))
    words = bm25s.BM25()
    words.index(tokens(law.texts, law.language), show_progress=False)
    words.save(str(folder / "words"))
    (folder / "ids.json").write_text(json.dumps(law.ids))


def reopen(folder, law):
    model, index = Encoder(law.encoder), faiss.read_index(str(folder / "vectors.faiss"))
    words = bm25s.BM25.load(str(folder / "words"))
    ids = json.loads((folder / "ids.json").read_text())
    depth = min(DEPTH, len(ids))

    def search(question, k):
        _, by_meaning = index.search(model.encode(["query: " + question]), depth)
        by_words, scores = words.retrieve(tokens([question], law.language), k=depth, show_progress=False)
        fused = dict.fromkeys(range(len(ids)), 0.0)
        for rank, row in enumerate(by_meaning[0], start=1):
            fused[row] += 1 / (60 + rank)
        for rank, (row, score) in enumerate(zip(by_words[0], scores[0], strict=True), start=1):
            fused[row] += (score > 0) / (60 + rank)
        return [ids[row] for row in sorted(fused, key=fused.get, reverse=True)[:k]]

    return search
