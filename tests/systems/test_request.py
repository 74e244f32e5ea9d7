import pytest

from statgraph.errors import UsageError
from statgraph.systems.request import training_request


def test_what_is_left_open_is_the_ensemble_with_seed_0():
    config = training_request().config
    assert (config.system, config.seed) == ("ensemble", 0)


@pytest.mark.parametrize(
    ("option", "given"),
    [("--system", {"system": "bm25"}), ("--fast", {"fast": True}), ("--final", {"final": "elsewhere"})],
)
def test_a_student_has_no_other_system(tmp_path, option, given):
    with pytest.raises(UsageError, match=f"^{option}: cannot be given with --teacher"):
        training_request(teacher=tmp_path, **given)


@pytest.mark.parametrize(
    ("option", "given"),
    [("--system", {"system": "bm25"}), ("--seed", {"seed": 0}), ("--set", {"settings": ("gnn.heads=2",)})],
)
def test_a_final_run_has_the_settings_of_the_other(tmp_path, option, given):
    with pytest.raises(UsageError, match=f"^{option}: a final run is trained as"):
        training_request(final=tmp_path, **given)
