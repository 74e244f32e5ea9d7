"""Launcher for a checkout: `python cli.py ...` is `statgraph ...`."""

from statgraph.cli.main import main

if __name__ == "__main__":
    main()
