"""sentence-transformers and FAISS: the article whose vector is nearest."""

import json

import faiss

from benchmarks.known_tools.law import Encoder


def build(law, folder):
    vectors = Encoder(law.encoder).encode(["passage: " + text for text in law.texts])
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    faiss.write_index(index, str(folder / "vectors.faiss"))
    (folder / "ids.json").write_text(json.dumps(law.ids))


def reopen(folder, law):
    model, index = Encoder(law.encoder), faiss.read_index(str(folder / "vectors.faiss"))
    ids = json.loads((folder / "ids.json").read_text())

    def search(question, k):
        _, rows = index.search(model.encode(["query: " + question]), min(k, len(ids)))
        return [ids[row] for row in rows[0]]

    return search
