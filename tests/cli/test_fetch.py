import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from statgraph.corpus.catalogue import LEGI_DATA

LAUNCHER = Path(__file__).parents[2] / "cli.py"


@pytest.fixture
def statgraph(tmp_path):
    """Return a function that runs the command line in a folder of its own with an `npm` of the given Python body."""

    def run(*arguments, npm=None):
        programs = tmp_path / "bin"
        programs.mkdir(exist_ok=True)
        if npm is not None:
            (programs / "npm").write_text(f"#!{sys.executable}\nimport pathlib, sys\n{npm}\n", encoding="utf-8")
            (programs / "npm").chmod(0o755)
        return subprocess.run(
            [sys.executable, str(LAUNCHER), *arguments],
            cwd=tmp_path,
            env={**os.environ, "PATH": str(programs), "COLUMNS": "120"},
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )

    return run


def test_a_corpus_is_fetched_and_summed_up(statgraph, tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    (source / "articles_fr.csv").write_text(
        "id,article,code,article_no,description,law_type\n"
        "7,Le vélo roule.,Code du vélo,1,Livre I,national\n"
        "8,Le casque protège.,Code du vélo,2,Livre I,national\n",
        encoding="utf-8",
    )
    columns = "id,category,subcategory,question,extra_description,article_ids\n"
    (source / "questions_fr_train.csv").write_text(columns, encoding="utf-8")
    (source / "questions_fr_test.csv").write_text(columns + '1,Vélo,,Faut-il un casque ?,,"7,8"\n', encoding="utf-8")
    finished = statgraph("fetch", "bsard", "--from", "source")
    assert (finished.returncode, finished.stderr) == (0, "")
    assert finished.stdout == (
        "corpora/bsard: corpus 'bsard' (fr)\n"
        "  articles   2\n"
        "  headings   2, up to 2 levels\n"
        "  questions  train 0, dev 0, test 1\n"
        "  labels     2\n"
        "Next: statgraph build-graph corpora/bsard\n"
    )
    assert (tmp_path / "corpora/bsard/manifest.json").is_file()


def test_an_unknown_name_exits_with_2_and_lists_the_choices(statgraph):
    finished = statgraph("fetch", "legi-de")
    assert finished.returncode == 2
    assert finished.stderr == (
        "Error: corpus 'legi-de': not in the catalogue; use one of legi-fr, bsard, bbsard-fr, bbsard-nl\n"
    )


def test_without_npm_it_exits_with_1_and_one_line(statgraph, tmp_path):
    finished = statgraph("fetch", "legi-fr", "--out", "out")
    assert finished.returncode == 1
    assert finished.stderr == (
        "Error: npm: not on the PATH, and @socialgouv/legi-data@2.513.0 comes through it; install Node.js, or run "
        "'npm pack @socialgouv/legi-data@2.513.0' on another machine and add '--from DIR' with the folder of "
        "socialgouv-legi-data-2.513.0.tgz\n"
    )
    assert not (tmp_path / "out").exists()


def test_without_a_network_it_quotes_npm(statgraph):
    finished = statgraph("fetch", "legi-fr", npm='sys.stderr.write("npm error code ENOTFOUND\\n")\nsys.exit(1)')
    assert finished.returncode == 1
    assert finished.stderr == (
        "Error: npm pack @socialgouv/legi-data@2.513.0: exit code 1 (npm error code ENOTFOUND); "
        "check the network and npm's registry setting, then try again\n"
    )


def test_a_wrong_checksum_names_both(statgraph):
    npm = (
        'folder = pathlib.Path(sys.argv[sys.argv.index("--pack-destination") + 1])\n'
        '(folder / "socialgouv-legi-data-2.513.0.tgz").write_bytes(b"tampered")'
    )
    finished = statgraph("fetch", "legi-fr", npm=npm)
    assert finished.returncode == 1
    assert finished.stderr == (
        f"Error: socialgouv-legi-data-2.513.0.tgz: sha512 {hashlib.sha512(b'tampered').hexdigest()}, "
        f"expected {LEGI_DATA.sha512}; delete it and fetch @socialgouv/legi-data@2.513.0 again\n"
    )


def test_the_help_names_every_corpus(statgraph):
    finished = statgraph("fetch", "--help")
    assert finished.returncode == 0
    for name in ("legi-fr", "bsard", "bbsard-fr", "bbsard-nl", "[default: corpora/NAME]"):
        assert name in finished.stdout
