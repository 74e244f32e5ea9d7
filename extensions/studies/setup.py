"""What pyproject.toml cannot say: the tables' figures are drawn, and BM25 is tuned, by the extensions that lie beside
this one in a checkout. A distribution names them as the package indexes know them, since they refuse paths."""

import sys
from pathlib import Path

from setuptools import setup

BESIDE = Path(__file__).resolve().parents[1]


def beside(name: str) -> str:
    """Return what pip is to install of an extension."""
    known = (BESIDE / name).is_dir() and "sdist" not in sys.argv
    return f"statgraph-{name}" + (f" @ {(BESIDE / name).as_uri()}" if known else "")


setup(install_requires=["statgraph", beside("plots"), beside("tuning")])
