import pytest

from statgraph.config import INDEX_KINDS, IndexConfig, IvfPqConfig
from statgraph.errors import RunError, UsageError
from statgraph.index.kinds import KINDS, chosen_index


def test_every_kind_that_is_offered_exists():
    assert ("auto", *KINDS) == INDEX_KINDS


@pytest.mark.parametrize(
    ("n_articles", "kind"), [(1, "flat"), (29_115, "flat"), (200_000, "flat"), (200_001, "ivf-pq"), (10**7, "ivf-pq")]
)
def test_auto_goes_by_the_number_of_articles(n_articles, kind):
    assert chosen_index(IndexConfig(), n_articles, 384).kind == kind


def test_auto_is_flat_where_nothing_else_can_be():
    assert chosen_index(IndexConfig(flat_most=0), 16, 384).kind == "flat"
    assert chosen_index(IndexConfig(flat_most=0), 17, 384).kind == "ivf-pq"


@pytest.mark.parametrize("kind", INDEX_KINDS[1:])
def test_a_kind_that_is_named_is_taken(kind):
    assert chosen_index(IndexConfig(kind=kind), 50, 8).kind == kind


@pytest.mark.parametrize(
    ("n_articles", "width", "lists", "probes", "code_bytes"),
    [
        (10**6, 384, 1024, 128, 96),  # 2 * 1000 = 2000, and 1024 is the power of two below; 1024 / 8; 384 / 4
        (10**7, 384, 4096, 512, 96),  # 2 * 3162.3 = 6324
        (29_115, 384, 256, 64, 96),  # 2 * 170.6 = 341
        (16, 385, 8, 8, 97),  # 97 bytes have 194 halves for 385 components
    ],
)
def test_sizes_of_ivf_pq(n_articles, width, lists, probes, code_bytes):
    chosen = chosen_index(IndexConfig(kind="ivf-pq"), n_articles, width)
    assert chosen.ivf_pq == IvfPqConfig(lists, probes, code_bytes)


def test_what_is_given_stays():
    given = IvfPqConfig(lists=10, probes=3, code_bytes=2, rerank=50, precision="float16")
    assert chosen_index(IndexConfig("ivf-pq", ivf_pq=given), 1000, 8).ivf_pq == given


@pytest.mark.parametrize(
    ("config", "place", "bound"),
    [
        (IndexConfig("annoy"), "kind", "flat"),
        (IndexConfig("ivf-pq", ivf_pq=IvfPqConfig(probes=-1)), "ivf_pq.probes", "at least 0"),
        (IndexConfig("ivf-pq", ivf_pq=IvfPqConfig(rerank=0)), "ivf_pq.rerank", "at least 1"),
        (IndexConfig("ivf-pq", ivf_pq=IvfPqConfig(lists=101)), "ivf_pq.lists", "at most 100"),
        (IndexConfig("ivf-pq", ivf_pq=IvfPqConfig(code_bytes=5)), "ivf_pq.code_bytes", "at most 4"),
        (IndexConfig("ivf-pq", ivf_pq=IvfPqConfig(precision="int8")), "ivf_pq.precision", "float16"),
    ],
)
def test_settings_out_of_range_are_refused(config, place, bound):
    with pytest.raises(UsageError, match=rf"{place}.*{bound}"):
        chosen_index(config, 100, 8)


def test_too_few_articles_for_codes_are_refused():
    with pytest.raises(RunError, match=r"^index: ivf-pq needs at least 16 articles .*15"):
        chosen_index(IndexConfig("ivf-pq"), 15, 8)
