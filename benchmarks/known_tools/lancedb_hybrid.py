"""LanceDB's hybrid search: its full text index and vectors, joined by its reciprocal rank fusion."""

import lancedb
from lancedb.index import FTS
from lancedb.rerankers import RRFReranker

from benchmarks.known_tools.law import Encoder

LANGUAGES = {"en": "English", "fr": "French", "de": "German"}


def build(law, folder):
    vectors = Encoder(law.encoder).encode(["passage: " + text for text in law.texts])
    rows = [{"id": id_, "text": text, "vector": v} for id_, text, v in zip(law.ids, law.texts, vectors, strict=True)]
    table = lancedb.connect(str(folder)).create_table("articles", rows)
    table.create_index("text", config=FTS(language=LANGUAGES[law.language], stem=True, remove_stop_words=True))
    table.optimize()


def reopen(folder, law):
    model, table, fusion = Encoder(law.encoder), lancedb.connect(str(folder)).open_table("articles"), RRFReranker()

    def search(question, k):
        vector = model.encode(["query: " + question])[0]
        asked = table.search(query_type="hybrid").vector(vector).text(question).distance_type("dot")
        return [row["id"] for row in asked.rerank(fusion).limit(k).to_list()]

    return search
