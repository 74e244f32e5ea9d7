import pytest

from statgraph.formats.repealed import is_repealed


@pytest.mark.parametrize(
    "text",
    ["(weggefallen)", "[Repealed]", "(Abrogé)", "Derogado.", "*(aufgehoben)*", "Mülga", "(dihapus)",
     "(Repealed by Act 5 of 2001)", "[Revoked (No. 3).]", "Утратил силу.", "删除"],
)  # fmt: skip
def test_a_mark_alone_is_no_text(text):
    assert is_repealed(text)


@pytest.mark.parametrize(
    "text",
    ["Repealed are the Acts of the schedule.", "(Repealed) The rest stays.", "The lamp is deleted.", "(1) Lamps burn.",
     "Aufgehoben wird das Lampengesetz.", "Omittedly"],
)  # fmt: skip
def test_a_sentence_is_a_text(text):
    assert not is_repealed(text)
