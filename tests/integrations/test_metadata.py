import json

from statgraph.integrations.metadata import hit_metadata
from statgraph.search.hits import Hit


def test_it_is_what_json_holds():
    about = hit_metadata(Hit(1, 0.5, "D1", "Art. 1", ("Rent Code", "The lease"), "The deposit is returned."))
    assert about == json.loads(json.dumps(about))
    assert about == {
        "article_id": "D1", "title": "Art. 1", "path": ["Rent Code", "The lease"], "score": 0.5, "rank": 1,
    }  # fmt: skip
