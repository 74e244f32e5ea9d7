"""The programs that statgraph is compared with: what each of them is counted and measured by."""

import importlib

import numpy as np
import pytest

from benchmarks.known_tools import law as module
from benchmarks.known_tools.law import Law
from benchmarks.measures.known_tools import TOOLS, code_lines
from statgraph.formats.importing import import_corpus
from tests.law_fixtures import LAWS

WORDS = ("price", "bill", "cancel", "door")


class Encoder:
    """Vectors of four words, in place of a transformer's."""

    saved_s = 0.0

    def __init__(self, folder):
        pass

    def encode(self, texts):
        counts = np.array([[text.lower().count(word) + 0.01 for word in WORDS] for text in texts], dtype=np.float32)
        return counts / np.linalg.norm(counts, axis=1, keepdims=True)


@pytest.fixture
def law(tmp_path):
    return Law.of(import_corpus(LAWS / "household-services", "jsonl"), tmp_path)


def test_a_law_is_given_without_its_test_questions(law):
    assert (law.language, len(law.ids), law.corpus.questions, law.corpus.citing) == ("en", 84, (), ())
    path = "Household Services and Repairs Act > Part 1. Preliminary"
    assert law.texts[0].startswith(f"{path}\nPurpose\nThis Act regulates ")


@pytest.mark.parametrize("tool", ["faiss_vectors", "bm25_and_faiss", "haystack_pipeline", "lancedb_hybrid"])
def test_a_program_answers_from_what_it_left(law, tool, tmp_path, monkeypatch):
    pytest.importorskip(TOOLS[tool][1])
    program = importlib.import_module(f"benchmarks.known_tools.{tool}")
    monkeypatch.setattr(program, "Encoder", Encoder)
    program.build(law, tmp_path)
    found = program.reopen(tmp_path, law)("May I cancel a contract made at my door?", 3)
    assert (len(found), len({*found} & {*law.ids})) == (3, 3)


def test_lines_of_code_are_those_that_a_user_writes(tmp_path):
    (tmp_path / "program.py").write_text('"""A\nB."""\n\nimport json\n\n\ndef build():\n    return json\n')
    assert code_lines(str(tmp_path / "program.py")) == 3


def test_vectors_wait_for_the_next_program(tmp_path, monkeypatch):
    monkeypatch.setattr(module.Encoder, "kept_in", tmp_path)
    monkeypatch.setattr(module.Encoder, "saved_s", 0.0)
    encoder, asked = object.__new__(module.Encoder), []
    encoder.model = type(
        "Model", (), {"encode": lambda _, texts, **__: asked.append(texts) or np.ones((len(texts), 2))}
    )()
    assert encoder.encode(["a", "b"]).tolist() == encoder.encode(["a", "b"]).tolist()
    encoder.encode(["a"])
    assert asked == [["a", "b"], ["a"]]
    assert module.Encoder.saved_s > 0
