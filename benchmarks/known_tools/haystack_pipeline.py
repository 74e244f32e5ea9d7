"""A Haystack pipeline: its BM25 and its vectors in memory, joined by its reciprocal rank fusion."""

from haystack import Document, Pipeline
from haystack.components.joiners import DocumentJoiner
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

from benchmarks.known_tools.law import Encoder

DEPTH = 200


def build(law, folder):
    vectors = Encoder(law.encoder).encode(["passage: " + text for text in law.texts])
    store = InMemoryDocumentStore(embedding_similarity_function="dot_product")
    store.write_documents(
        [
            Document(id=id_, content=text, embedding=vector.tolist())
            for id_, text, vector in zip(law.ids, law.texts, vectors, strict=True)
        ]
    )
    store.save_to_disk(str(folder / "store.json"))


def reopen(folder, law):
    model, store = Encoder(law.encoder), InMemoryDocumentStore.load_from_disk(str(folder / "store.json"))
    pipeline = Pipeline()
    pipeline.add_component("words", InMemoryBM25Retriever(store, top_k=DEPTH))
    pipeline.add_component("meaning", InMemoryEmbeddingRetriever(store, top_k=DEPTH))
    pipeline.add_component("join", DocumentJoiner(join_mode="reciprocal_rank_fusion"))
    pipeline.connect("words", "join")
    pipeline.connect("meaning", "join")

    def search(question, k):
        vector = model.encode(["query: " + question])[0].tolist()
        asked = {"words": {"query": question}, "meaning": {"query_embedding": vector}, "join": {"top_k": k}}
        return [document.id for document in pipeline.run(asked)["join"]["documents"]]

    return search
