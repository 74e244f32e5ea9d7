"""Launcher for a checkout: `python cli.py ...` is `statgraph ...`, with the extensions that lie beside it."""

import sys
from pathlib import Path

from statgraph.cli.main import main

if __name__ == "__main__":
    sys.path.extend(map(str, Path(__file__).resolve().parent.glob("extensions/*/")))
    main()
