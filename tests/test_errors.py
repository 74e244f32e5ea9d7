import pickle

import pytest

from statgraph.errors import (
    CorpusError,
    RunError,
    Text,
    UsageError,
    marked,
    on_command_line,
    option,
    reason_of,
)


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
    ("text", "called", "typed"),
    [
        (f"{option('set')}: 'a' is no setting", "settings: 'a' is no setting", "--set: 'a' is no setting"),
        (
            f"x; choose another {option('out')}, or add {option('keep-test')}",
            "x; choose another out, or add keep_test",
            "x; choose another --out, or add --keep-test",
        ),
        (f"name it ('{option('from')} DIR')", "name it ('from_folder DIR')", "name it ('--from DIR')"),
        ("run 'statgraph train --out x', a--b", *["run 'statgraph train --out x', a--b"] * 2),
    ],
)
def test_a_text_names_the_option_on_the_command_line_and_elsewhere_the_argument(text, called, typed):
    error = UsageError(text)

    assert str(error) == str(Text(text)) == CorpusError(text).problems[0] == called
    assert on_command_line(error) == on_command_line(Text(text)) == typed
    assert on_command_line(CorpusError("a", text)) == f"a\n{typed}"
    assert "\\u" not in repr(error)


def test_an_error_about_another_keeps_the_option():
    within = RunError(f"runs/x: damaged ({reason_of(UsageError(option('keep-test')))})")
    copied = pickle.loads(pickle.dumps(CorpusError(marked(within))))

    assert str(copied) == copied.problems[0] == "runs/x: damaged (keep_test)"
    assert on_command_line(copied) == on_command_line(copied.problems[0]) == "runs/x: damaged (--keep-test)"
