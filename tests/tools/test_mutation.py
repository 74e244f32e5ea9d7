import pytest

from tools.mutation import REPO, TARGETS


@pytest.mark.parametrize("name", TARGETS)
def test_what_is_mutated_and_the_tests_that_must_notice_are_there(name):
    modules, tests = TARGETS[name]
    paths = [*(REPO / "statgraph" / path for path in modules), *(REPO / "tests" / path for path in tests)]
    assert [str(path) for path in paths if not path.exists()] == []
