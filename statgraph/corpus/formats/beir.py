"""Any folder in the layout of BEIR: `corpus.jsonl`, `queries.jsonl`, `qrels/{train,dev,test}.tsv`.

BEIR has no hierarchy: an article without `metadata.path` gets one heading, the name of the corpus. Questions without
a label, which are common in BEIR folders, can neither train nor test and are left out.
"""

from __future__ import annotations

from pathlib import Path

from statgraph.corpus.draft import Draft, SourceFormat
from statgraph.corpus.store import LABEL_FILES, draft_beir_folder

# Some BEIR folders call the dev labels "validation".
BEIR_LABEL_FILES = {**LABEL_FILES, "validation.tsv": "dev"}


def draft_beir(draft: Draft, source: Path) -> None:
    """Fill a draft from a BEIR folder."""
    if not source.is_dir():
        return draft.add_problem(str(source), "is a file; name the folder that holds corpus.jsonl")
    return draft_beir_folder(draft, source, label_files=BEIR_LABEL_FILES, default_path=(draft.name,))


FORMAT = SourceFormat("corpus.jsonl, queries.jsonl, qrels/*.tsv", draft_beir)
