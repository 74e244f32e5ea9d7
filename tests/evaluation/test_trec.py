import io

import ir_measures
import numpy as np

from statgraph.evaluation.trec import write_trec_run
from statgraph.law.query import Ranked

ARTICLE_IDS = ["A", "B", "C"]


def run_of(question_ids=("q1",), rows=((2, 0),), scores=((0.5, 0.25),), article_ids=ARTICLE_IDS, **options) -> str:
    stream = io.StringIO()
    rankings = [Ranked(*ranking) for ranking in zip(np.array(rows), np.array(scores, dtype=np.float32), strict=True)]
    write_trec_run(stream, question_ids, rankings, article_ids, **options)
    return stream.getvalue()


def test_run_has_one_line_per_hit_with_ranks_from_one():
    assert run_of() == "q1 Q0 C 1 0.5 statgraph\nq1 Q0 A 2 0.25 statgraph\n"


def test_scores_one_float32_apart_stay_apart():
    score = np.float32(0.7)
    lines = run_of(scores=[(np.nextafter(score, np.float32(1)), score)]).splitlines()
    assert [np.float32(line.split()[4]) for line in lines] == [np.nextafter(score, np.float32(1)), score]


def test_ir_measures_reads_the_run():
    hits = list(ir_measures.read_trec_run(io.StringIO(run_of())))
    assert [(hit.query_id, hit.doc_id, hit.score) for hit in hits] == [("q1", "C", 0.5), ("q1", "A", 0.25)]


def test_white_space_in_ids_is_written_as_in_addresses():
    run = run_of(question_ids=["q\t1"], article_ids=["A", "B", "Art. 3\u00a0%20"])
    (hit, _) = ir_measures.read_trec_run(io.StringIO(run))
    assert (hit.query_id, hit.doc_id) == ("q%091", "Art.%203%C2%A0%20")
