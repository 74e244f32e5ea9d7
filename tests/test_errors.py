import pytest

from statgraph import errors
from statgraph.errors import CorpusError, StatgraphError, UsageError


def test_every_error_is_a_statgraph_error_with_an_exit_code():
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]

    assert len(kinds) == 11
    assert all(issubclass(kind, StatgraphError) for kind in kinds)
    assert {kind.__name__: kind.exit_code for kind in kinds if kind.exit_code != 1} == {"UsageError": 2}
    assert UsageError.exit_code == 2


@pytest.mark.parametrize(
    ("n_problems", "last"), [(1, "p0"), (20, "p19"), (21, "... and 1 more problem"), (25, "... and 5 more problems")]
)
def test_the_first_twenty_problems_are_listed(n_problems, last):
    error = CorpusError(*[f"p{n}" for n in range(n_problems)])

    lines = str(error).splitlines()
    assert lines[: min(n_problems, 20)] == [f"p{n}" for n in range(min(n_problems, 20))]
    assert lines[-1] == last
    assert len(lines) == min(n_problems, 21)
    assert len(error.problems) == n_problems


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("--set: 'a' is not a setting", "settings: 'a' is not a setting"),
        ("x; choose another --out, or add --keep-test", "x; choose another out, or add keep_test"),
        ("name its folder ('--from DIR')", "name its folder ('from_folder DIR')"),
        ("go on with 'statgraph train --out x', --resume", "go on with 'statgraph train --out x', resume"),
        ("write it with `statgraph quicken --run x`", "write it with `statgraph quicken --run x`"),
        ("run: pip install --force-reinstall x", "run: pip install --force-reinstall x"),
        ("'a--b' is no --c", "'a--b' is no c"),
    ],
)
def test_a_text_names_the_option_on_the_command_line_and_elsewhere_the_argument(text, called):
    assert str(errors.UsageError(text)) == errors.CorpusError(text).problems[0] == called
    with errors.command_line():
        assert str(errors.UsageError(text)) == errors.CorpusError(text).problems[0] == text
