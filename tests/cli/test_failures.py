"""What each command refuses, in refusals.txt: command lines, and below them the exit code and what is said."""

import re
import shlex
from pathlib import Path

import pytest

BLOCKS = Path(__file__).with_name("refusals.txt").read_text(encoding="utf-8").strip().split("\n\n")
REFUSALS = [
    (command.removeprefix("$ "), said) for *commands, said in map(str.splitlines, BLOCKS) for command in commands
]


@pytest.mark.parametrize(("command", "said"), REFUSALS, ids=[command for command, _ in REFUSALS])
def test_a_refusal_is_one_line_and_leaves_no_file(request, refused, tmp_path, command, said):
    places = {name: request.getfixturevalue(name) for name in re.findall(r"{(\w+)}", command)}
    code, message = said.format(**places).split(" ", 1)
    found = refused(*shlex.split(command.format(**places)), code=int(code))
    if message.endswith(" ..."):
        assert found.startswith(message.removesuffix("..."))
    else:
        assert found == message
    assert not any(path.is_file() for path in tmp_path.rglob("*"))
