"""Where corpora are that have a name: the embedded sample, and those that `statgraph fetch` has downloaded."""

from __future__ import annotations

import site
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from statgraph import artifacts
from statgraph.errors import CorpusError

SAMPLE = "sample"
CORPORA = Path("corpora")  # where `statgraph fetch` writes

# Under the root of a checkout, and where setup.cfg's data_files puts it under the root of an installation.
CHECKOUT_PLACE = Path("data", "sample")
INSTALLED_PLACE = Path("share", "statgraph", "sample")


def sample_folder() -> Path:
    """Return the corpus folder of the sample, in this checkout or else as installed.

    Raises:
        CorpusError: if it is in neither; the text lists the folders searched.
    """
    folders = list(dict.fromkeys(_candidates()))
    for folder in folders:
        if (folder / artifacts.MANIFEST).is_file():
            return folder
    looked = ", ".join(map(str, folders))
    raise CorpusError(f"sample corpus: not found in {looked}; reinstall statgraph, or name a corpus")


def _candidates() -> Iterator[Path]:
    package_parent = Path(__file__).resolve().parents[2]
    yield package_parent / CHECKOUT_PLACE
    yield Path(sys.prefix) / INSTALLED_PLACE
    yield Path(sysconfig.get_path("data")) / INSTALLED_PLACE  # differs from the prefix on Debian's own Python
    yield Path(site.getuserbase()) / INSTALLED_PLACE  # pip install --user
    yield package_parent / INSTALLED_PLACE  # pip install --target
