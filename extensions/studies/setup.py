"""What pyproject.toml cannot say: the tables' figures are drawn by the extension that lies beside this one."""

from pathlib import Path

from setuptools import setup

PLOTS = Path(__file__).resolve().parents[1] / "plots"
setup(install_requires=["statgraph", f"statgraph-plots @ {PLOTS.as_uri()}"])
