"""`python -m statgraph.cli ...` is `statgraph ...`: torchrun starts modules, not commands."""

from statgraph.cli.main import main

if __name__ == "__main__":
    main()
