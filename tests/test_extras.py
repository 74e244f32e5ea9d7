import configparser
import re
from pathlib import Path

import pytest

from statgraph.errors import DependencyError
from statgraph.extras import EXTRAS, Extra, install_command, missing, require

REPO = Path(__file__).parents[1]
# What a requirement is imported as, where the two differ by more than a dash.
IMPORTED = {"haystack_ai": "haystack", "llama_index_core": "llama_index", "markdown_it_py": "markdown_it"}
IMPORTED |= {"python_docx": "docx"}
FOR_OTHERS = {"all", "gpu", "docs", "dev"}  # all of them, another FAISS, and what develops statgraph


def metadata() -> dict[str, list[str]]:
    """Return the requirements of each extra of setup.cfg, without what follows their names."""
    config = configparser.ConfigParser()
    config.read(REPO / "setup.cfg")
    return {
        name: [re.split(r"[><=;]", line)[0] for line in lines.splitlines() if line and not line.startswith("#")]
        for name, lines in config["options.extras_require"].items()
    }


def test_the_table_is_the_extras_of_the_metadata():
    offered = {name: lines for name, lines in metadata().items() if name not in FOR_OTHERS}
    assert set(EXTRAS) == set(offered)
    for name, lines in offered.items():
        names = [re.sub(r"\[.*", "", line).replace("-", "_") for line in lines]
        assert sorted(EXTRAS[name].modules) == sorted(IMPORTED.get(name, name) for name in names)


def test_all_brings_every_extra():
    (line,) = metadata()["all"]
    assert sorted(re.fullmatch(r"statgraph\[(.*)\]", line)[1].split(",")) == sorted(EXTRAS)


def test_what_is_missing_is_one_line_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(EXTRAS, "maps", Extra("statgraph map", ("json", "no_such_package", "nor_this")))
    require("maps", "json")
    wanting = r"^no_such_package: not installed; run in statgraph's checkout: pip install '\.\[maps\]'$"
    with pytest.raises(DependencyError, match=wanting):
        require("maps")
    assert str(missing("x", "maps")).endswith(install_command("maps"))
