"""What pyproject.toml cannot say: the tables' figures are drawn by the extension that lies beside this one in a
checkout. A distribution names it as the package indexes know it, since they refuse paths."""

import sys
from pathlib import Path

from setuptools import setup

PLOTS = Path(__file__).resolve().parents[1] / "plots"
beside = f" @ {PLOTS.as_uri()}" if PLOTS.is_dir() and "sdist" not in sys.argv else ""
setup(install_requires=["statgraph", f"statgraph-plots{beside}"])
